// Python bindings of grammar.h: the table that grammars are built in, and grammars; no logic of its
// own.

#include "bindings/bindings_grammar.h"

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bindings/expression_tuples.h"
#include "bindings/nanobind.h"
#include "grammar/grammar.h"
#include "grammar/grammar_bytes.h"
#include "grammar/json_text.h"
#include "grammar/module.h"
#include "text/codec.h"

namespace structag {
namespace {

// Refs out of the arguments of a call.
Words RefsOf(const nb::args& parts) {
  Words refs;
  refs.reserve(parts.size());
  for (nb::handle part : parts) refs.push_back(Word(part));
  return refs;
}

NodeRef MakeBytes(GrammarTable& table, nb::handle values) {
  ByteSet set;
  for (nb::handle item : values) {
    const auto value = nb::cast<std::int64_t>(item);
    if (value < 0 || value > 255) throw BadOperand(std::to_string(value) + " is not a byte");
    set.Add(static_cast<std::uint8_t>(value));
  }
  return table.Bytes(set);
}

NodeRef MakeChars(GrammarTable& table, nb::handle ranges) {
  std::vector<CodePointRange> pairs;
  for (nb::handle pair : ranges) {
    pairs.emplace_back(nb::cast<std::int64_t>(nb::object(pair[0])),
                       nb::cast<std::int64_t>(nb::object(pair[1])));
  }
  return table.Chars(std::move(pairs));
}

NodeRef MakeRepeat(GrammarTable& table, NodeRef child, nb::handle min, nb::handle max) {
  const auto count = [&](nb::handle value) {
    int overflow = 0;
    const long long number = PyLong_AsLongLongAndOverflow(value.ptr(), &overflow);
    if (number == -1 && PyErr_Occurred()) throw nb::python_error();
    if (overflow > 0 || number > kMostCount) {
      throw BadOperand("a repeat count over 2,147,483,647", "at most 2^31 - 1");
    }
    return overflow < 0 ? -1 : number;
  };
  const long long low = count(min);
  const long long high = max.is_none() ? -1 : count(max);
  if (low < 0 || (!max.is_none() && high < low)) {
    throw BadOperand("a repeat from " + nb::cast<std::string>(nb::str(min)) + " to " +
                     nb::cast<std::string>(nb::str(max)));
  }
  return table.Repeat(child, static_cast<std::uint32_t>(low),
                      max.is_none() ? kNone : static_cast<std::uint32_t>(high));
}

NodeRef MakeEncoded(GrammarTable& table, std::string_view codec, NodeRef child) {
  return table.Encoded(CodecOf(codec), child);
}

NodeRef MakeQuoted(GrammarTable& table, std::string_view codec, const nb::bytes& quote,
                   NodeRef text) {
  return Quoted(table, Codec{CodecOf(codec)}, View(quote), text);
}

NodeRef MakeNumber(GrammarTable& table, bool is_integer) { return JsonNumber(table, is_integer); }

nb::tuple MakeMarks(GrammarTable& table, nb::handle max_whitespace, nb::handle separators) {
  const JsonMarks marks = MarksOf(table, max_whitespace, separators);
  return nb::make_tuple(marks.comma, marks.colon, marks.open_brace, marks.close_brace,
                        marks.open_bracket, marks.close_bracket);
}

nb::object IsNullable(GrammarTable& table, NodeRef ref) {
  const Nullable value = table.facts(table.Checked(ref)).nullable;
  if (value == Nullable::kUnknown) return nb::none();
  return nb::bool_(value == Nullable::kYes);
}

nb::object LiteralData(GrammarTable& table, NodeRef ref) {
  if (table.kind(table.Checked(ref)) != NodeKind::kLiteral) return nb::none();
  return AsBytes(table.text(table.words(ref)[0]));
}

// `call` as a method of the builder.
template <class Result, class... Arguments>
auto OnTable(Result (*call)(GrammarTable&, Arguments...)) {
  return [call](Builder& builder, Arguments... arguments) {
    return call(*builder.table, std::forward<Arguments>(arguments)...);
  };
}

template <class Result, class... Arguments>
auto OnTable(Result (GrammarTable::*call)(Arguments...)) {
  return [call](Builder& builder, Arguments... arguments) {
    return (builder.table.get()->*call)(std::forward<Arguments>(arguments)...);
  };
}

NodeRef MakeLiteral(GrammarTable& table, const nb::bytes& data, bool is_marker) {
  return table.Literal(View(data), is_marker);
}

nb::object NodeOf(GrammarTable& table, NodeRef ref) { return NodeAt(table, ref); }

NodeRef MakeAnyChar(GrammarTable& table) { return table.Chars({{0, kMaxCodePoint}}); }

NodeRef MakeAnyText(GrammarTable& table) { return table.Not(GrammarTable::kEmpty); }

NodeRef MakeSeq(GrammarTable& table, const nb::args& parts) { return table.Seq(RefsOf(parts)); }

NodeRef MakeAlt(GrammarTable& table, const nb::args& parts) { return table.Alt(RefsOf(parts)); }

NodeRef MakeAnd(GrammarTable& table, const nb::args& parts) { return table.And(RefsOf(parts)); }

NodeRef MakeWords(GrammarTable& table, nb::handle texts) {
  Words refs;
  for (nb::handle text : texts) {
    refs.push_back(table.Literal(nb::cast<std::string_view>(text), false));
  }
  return table.Alt(refs);
}

NodeRef MakeInOrder(GrammarTable& table, nb::handle members, NodeRef separator) {
  std::vector<GrammarTable::Member> list;
  for (nb::handle member : members) {
    list.push_back({Word(member[0]), nb::cast<bool>(member[1])});
  }
  return table.InOrder(list, separator);
}

NodeRef MakeOptional(GrammarTable& table, NodeRef child) { return table.Repeat(child, 0, 1); }

NodeRef MakeImport(GrammarTable& table, std::shared_ptr<Module> module) {
  return table.Import(std::move(module));
}

NodeRef Extend(GrammarTable& table, const Grammar& grammar, std::string_view prefix) {
  return CopyGrammar(grammar, table, prefix);
}

nb::list ExtendEach(GrammarTable& table, const nb::list& grammars, const nb::list& prefixes) {
  nb::list refs;
  for (std::size_t i = 0; i < grammars.size(); ++i) {
    refs.append(CopyGrammar(nb::cast<const Grammar&>(nb::object(grammars[i])), table,
                            nb::cast<std::string_view>(nb::object(prefixes[i]))));
  }
  return refs;
}

std::size_t SequenceLength(GrammarTable& table, NodeRef ref) {
  return table.kind(table.Checked(ref)) == NodeKind::kSeq ? table.words(ref).size() : 1;
}

nb::tuple Alternatives(GrammarTable& table, NodeRef ref) {
  if (table.kind(table.Checked(ref)) == NodeKind::kAlt) return Numbers(table.words(ref));
  return nb::make_tuple(ref);
}

bool IsRegular(GrammarTable& table, NodeRef ref) {
  return table.facts(table.Checked(ref)).is_regular;
}

bool IsText(GrammarTable& table, NodeRef ref) { return table.facts(table.Checked(ref)).is_text; }

nb::object UndefinedRule(GrammarTable& table) {
  for (std::uint32_t i = 0; i < table.rule_count(); ++i) {
    if (table.rule_body(i) == kNone) return nb::cast(table.rule_name(i));
  }
  return nb::none();
}

std::shared_ptr<Grammar> Snapshot(const Builder& builder, NodeRef root) {
  const GrammarTable& table = *builder.table;
  return std::make_shared<Grammar>(Grammar{builder.table, static_cast<std::uint32_t>(table.size()),
                                           static_cast<std::uint32_t>(table.rule_count()),
                                           table.Checked(root)});
}

void BindTable(nb::module_& m) {
  nb::class_<Builder>(m, "GrammarTable")
      .def(nb::init<>())
      .def_prop_ro("empty", [](const Builder&) { return GrammarTable::kEmpty; })
      .def_prop_ro("epsilon", [](const Builder&) { return GrammarTable::kEpsilon; })
      .def_prop_ro("any_char", OnTable(&MakeAnyChar))
      .def_prop_ro("any_text", OnTable(&MakeAnyText))
      .def_prop_ro("undefined_rule", OnTable(&UndefinedRule))
      .def("bytes", OnTable(&MakeBytes), nb::arg("values"))
      .def("literal", OnTable(&MakeLiteral), nb::arg("data"), nb::kw_only(),
           nb::arg("marker") = false)
      .def("chars", OnTable(&MakeChars), nb::arg("ranges"))
      .def("seq", OnTable(&MakeSeq))
      .def("alt", OnTable(&MakeAlt))
      .def("repeat", OnTable(&MakeRepeat), nb::arg("child"), nb::arg("min"),
           nb::arg("max").none() = nb::none())
      .def("optional", OnTable(&MakeOptional), nb::arg("child"))
      .def("words", OnTable(&MakeWords), nb::arg("texts"))
      .def("in_order", OnTable(&MakeInOrder), nb::arg("members"), nb::arg("separator"))
      .def("rule", OnTable(&GrammarTable::Rule), nb::arg("name"))
      .def("define", OnTable(&GrammarTable::Define), nb::arg("rule"), nb::arg("body"))
      .def("both", OnTable(&MakeAnd))
      .def("complement", OnTable(&GrammarTable::Not), nb::arg("child"))
      .def("encoded", OnTable(&MakeEncoded), nb::arg("codec"), nb::arg("child"))
      .def("quoted", OnTable(&MakeQuoted), nb::arg("codec"), nb::arg("quote"), nb::arg("text"))
      .def("json_number", OnTable(&MakeNumber), nb::kw_only(), nb::arg("integer"))
      .def("json_marks", OnTable(&MakeMarks), nb::arg("max_whitespace").none(),
           nb::arg("separators").none())
      .def("sealed", OnTable(&GrammarTable::Sealed), nb::arg("ref"))
      .def("mark", OnTable(&GrammarTable::Mark), nb::arg("label"), nb::arg("child"))
      .def("intern", OnTable(&InternNode), nb::arg("node"))
      .def("extend", OnTable(&Extend), nb::arg("grammar"), nb::arg("prefix") = "")
      .def("extend_each", OnTable(&ExtendEach), nb::arg("grammars"), nb::arg("prefixes"))
      .def("refer", OnTable(&MakeImport), nb::arg("module"))
      .def("node", OnTable(&NodeOf), nb::arg("ref"))
      .def("literal_data", OnTable(&LiteralData), nb::arg("ref"))
      .def("sequence_length", OnTable(&SequenceLength), nb::arg("ref"))
      .def("alternatives", OnTable(&Alternatives), nb::arg("ref"))
      .def("is_regular", OnTable(&IsRegular), nb::arg("ref"))
      .def("is_nullable", OnTable(&IsNullable), nb::arg("ref"))
      .def("is_text", OnTable(&IsText), nb::arg("ref"))
      .def("snapshot", &Snapshot, nb::arg("root"));
}

// -- the grammar

nb::list MarkersOf(const Grammar& grammar) {
  nb::list markers;
  for (NodeRef ref = 0; ref < grammar.node_count; ++ref) {
    const NodeKind kind = grammar.table->kind(ref);
    const auto words = grammar.table->words(ref);
    if (kind == NodeKind::kLiteral && words[1] != 0) {
      markers.append(AsBytes(grammar.table->text(words[0])));
    } else if (kind == NodeKind::kScan) {
      for (std::size_t i = 0; i < words[0]; ++i) {
        markers.append(AsBytes(grammar.table->text(words[2 + 2 * i])));
      }
    }
  }
  return markers;
}

nb::tuple Pack(const Grammar& grammar, bool keeps_marks) {
  const PackedGrammar packed = PackGrammar(grammar, keeps_marks);
  nb::list labels;
  for (const std::string& label : packed.labels) labels.append(nb::cast(label));
  nb::list modules;
  for (const std::shared_ptr<const Module>& module : packed.imports) {
    modules.append(std::const_pointer_cast<Module>(module));
  }
  return nb::make_tuple(
      nb::bytes(packed.words.data(), packed.words.size() * sizeof(packed.words[0])),
      AsBytes(packed.pool), nb::tuple(labels), modules);
}

nb::object ModuleOf(const Grammar& grammar) {
  const std::shared_ptr<const Module> module = MakeModule(grammar, Limits{});
  return module ? nb::cast(std::const_pointer_cast<Module>(module)) : nb::none();
}

void BindGrammar(nb::module_& m) {
  nb::class_<Module>(m, "Module").def_prop_ro("memory_bytes", &Module::MemoryBytes);
  nb::class_<Grammar>(m, "Grammar")
      .def_prop_ro("root", [](const Grammar& grammar) { return grammar.root; })
      .def_prop_ro("nodes",
                   [](const Grammar& grammar) {
                     return TupleOf(grammar.node_count, [&](std::size_t i) {
                       return NodeAt(*grammar.table, static_cast<NodeRef>(i));
                     });
                   })
      .def_prop_ro("rules",
                   [](const Grammar& grammar) {
                     return TupleOf(grammar.rule_count, [&](std::size_t i) {
                       const auto index = static_cast<std::uint32_t>(i);
                       return nb::make_tuple(grammar.table->rule_name(index),
                                             grammar.table->rule_body(index));
                     });
                   })
      .def_prop_ro("node_count", [](const Grammar& grammar) { return grammar.node_count; })
      .def("structure",
           [](const std::shared_ptr<Grammar>& grammar) {
             const Structure found = MeasureStructure(grammar);
             return std::pair(found.apart, found.distinct);
           })
      .def_prop_ro("markers", &MarkersOf)
      .def_prop_ro("is_simple", &IsSimple)
      .def_prop_ro("memory_bytes",
                   [](const Grammar& grammar) { return grammar.table->MemoryBytes(); })
      .def_prop_ro("inlined",
                   [](const std::shared_ptr<Grammar>& grammar) {
                     return std::const_pointer_cast<Grammar>(Inlined(grammar));
                   })
      .def("as_module", &ModuleOf)
      .def("pack", &Pack, nb::arg("keeps_marks"))
      .def("to_bytes", [](const std::shared_ptr<Grammar>& grammar) {
        return AsBytes(WriteGrammar(*Inlined(grammar)));
      });
  m.def("read_grammar", &GrammarOf, nb::arg("nodes"), nb::arg("rules"), nb::arg("root"));
  m.def(
      "grammar_of_bytes",
      [](const nb::bytes& data, std::uint64_t max_expressions) {
        return std::make_shared<Grammar>(ReadGrammar(View(data), max_expressions));
      },
      nb::arg("data"), nb::arg("max_expressions"));
}

void TranslateBadOperand(const std::exception_ptr& pointer, void*) {
  try {
    std::rethrow_exception(pointer);
  } catch (const BadOperand& e) {
    const nb::object type = nb::module_::import_("structag.errors").attr("GrammarError");
    const nb::object expected = e.expected().empty() ? nb::none() : nb::cast(e.expected());
    const nb::object error =
        type(e.what(), nb::arg("code") = "grammar-operand", nb::arg("expected") = expected);
    PyErr_SetObject(type.ptr(), error.ptr());
  }
}

void TranslateBadBytes(const std::exception_ptr& pointer, void*) {
  try {
    std::rethrow_exception(pointer);
  } catch (const BadBytes& e) {
    const nb::object type = nb::module_::import_("structag.errors").attr("FormatError");
    const nb::object error = type(e.what(), nb::arg("code") = "artefact-file");
    PyErr_SetObject(type.ptr(), error.ptr());
  }
}

}  // namespace

JsonMarks MarksOf(GrammarTable& table, nb::handle max_whitespace, nb::handle separators) {
  if (separators.is_none()) return MarksInSpace(table, MaximumWord(max_whitespace));
  return MarksAsGiven(table, nb::cast<std::string_view>(nb::object(separators[0])),
                      nb::cast<std::string_view>(nb::object(separators[1])));
}

void bind_grammar(nb::module_& m) {
  nb::register_exception_translator(TranslateBadOperand);
  nb::register_exception_translator(TranslateBadBytes);
  BindTable(m);
  BindGrammar(m);
}

}  // namespace structag
