// Python bindings of grammar.h: converts expressions to and from the named tuples of
// structag/grammar/expressions.py; no logic of its own.

// nanobind's own headers do not pass our warnings.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#pragma GCC diagnostic pop

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bindings/bindings_grammar.h"
#include "grammar/grammar.h"
#include "grammar/grammar_bytes.h"
#include "grammar/json_text.h"
#include "grammar/module.h"
#include "text/codec.h"

namespace nb = nanobind;

namespace structag {
namespace {

constexpr const char* kClassNames[kNodeKindCount] = {
    "Empty",        "Epsilon",   "Bytes", "Literal",   "Chars",       "Seq",
    "Alt",          "Repeat",    "Rule",  "And",       "Not",         "Encoded",
    "NoOccurrence", "Scan",      "Erase", "Assertion", "Transparent", "Tokens",
    "Budget",       "Unordered", "Tally", "Mark",      "Distinct",    "Imported"};
constexpr std::string_view kCodecs[kCodecCount] = {"json", "xml", "python_double", "python_single"};

std::uint32_t CodecOf(std::string_view name) {
  const auto* found = std::ranges::find(kCodecs, name);
  if (found != std::end(kCodecs)) return static_cast<std::uint32_t>(found - kCodecs);
  std::string expected = "one of";
  for (std::string_view codec : kCodecs) {
    expected += (codec == kCodecs[0] ? " " : ", ") + std::string(codec);
  }
  throw BadOperand("codec '" + std::string(name) + "'", expected);
}

// The classes of expressions.py, by kind.  Never freed: the interpreter outlives nothing of ours.
struct NodeClasses {
  std::array<PyObject*, kNodeKindCount> classes;
  PyObject* make;  // tuple.__new__
};

const NodeClasses& Classes() {
  static const NodeClasses found = [] {
    NodeClasses all{};
    const nb::module_ module = nb::module_::import_("structag.grammar.expressions");
    for (std::size_t i = 0; i < kNodeKindCount; ++i) {
      all.classes[i] = nb::object(module.attr(kClassNames[i])).release().ptr();
    }
    const nb::handle tuple(reinterpret_cast<PyObject*>(&PyTuple_Type));
    all.make = nb::object(tuple.attr("__new__")).release().ptr();
    return all;
  }();
  return found;
}

std::string_view View(nb::handle data) {
  if (!PyBytes_Check(data.ptr())) throw nb::type_error("expected bytes");
  return {PyBytes_AsString(data.ptr()), static_cast<std::size_t>(PyBytes_Size(data.ptr()))};
}

nb::bytes AsBytes(std::string_view text) { return nb::bytes(text.data(), text.size()); }

// -- to Python

nb::object Number(std::uint32_t value) { return nb::int_(value); }

nb::object Maximum(std::uint32_t value) { return value == kNone ? nb::none() : Number(value); }

template <class Make>
nb::tuple TupleOf(std::size_t size, Make make) {
  nb::object out = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(size)));
  for (std::size_t i = 0; i < size; ++i) {
    PyTuple_SetItem(out.ptr(), static_cast<Py_ssize_t>(i), nb::object(make(i)).release().ptr());
  }
  return nb::borrow<nb::tuple>(out);
}

nb::tuple Numbers(std::span<const std::uint32_t> words) {
  return TupleOf(words.size(), [&](std::size_t i) { return Number(words[i]); });
}

nb::object SetOfBytes(std::span<const std::uint32_t> words) {
  std::array<unsigned char, 32> bytes{};
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<unsigned char>(words[i / 4] >> (8 * (i % 4)));
  }
  const nb::handle type(reinterpret_cast<PyObject*>(&PyLong_Type));
  return type.attr("from_bytes")(nb::bytes(bytes.data(), bytes.size()), "little");
}

nb::tuple Fields(const GrammarTable& table, NodeKind kind, std::span<const std::uint32_t> w) {
  const auto text = [&](TextId id) { return AsBytes(table.text(id)); };
  switch (kind) {
    case NodeKind::kEmpty:
    case NodeKind::kEpsilon: return nb::make_tuple();
    case NodeKind::kBytes: return nb::make_tuple(SetOfBytes(w));
    case NodeKind::kLiteral: return nb::make_tuple(text(w[0]), w[1] != 0);
    case NodeKind::kChars:
      return nb::make_tuple(TupleOf(
          w.size() / 2, [&](std::size_t i) { return nb::make_tuple(w[2 * i], w[2 * i + 1]); }));
    case NodeKind::kSeq:
    case NodeKind::kAlt:
    case NodeKind::kAnd: return nb::make_tuple(Numbers(w));
    case NodeKind::kRepeat: return nb::make_tuple(w[0], w[1], Maximum(w[2]));
    case NodeKind::kEncoded: return nb::make_tuple(nb::str(kCodecs[w[0]].data()), w[1]);
    case NodeKind::kDistinct:
      return nb::make_tuple(
          w[0] == kNone ? nb::object(nb::none()) : nb::object(nb::str(kCodecs[w[0]].data())), w[1]);
    case NodeKind::kNoOccurrence:
      return nb::make_tuple(TupleOf(w.size(), [&](std::size_t i) { return text(w[i]); }));
    case NodeKind::kScan: {
      const std::size_t cases = w[0];
      return nb::make_tuple(
          TupleOf(cases,
                  [&](std::size_t i) { return nb::make_tuple(text(w[2 + 2 * i]), w[3 + 2 * i]); }),
          TupleOf(w[1], [&](std::size_t i) { return text(w[2 + 2 * cases + i]); }));
    }
    case NodeKind::kTokens: return nb::make_tuple(Numbers(w.subspan(1)), w[0] != 0);
    case NodeKind::kUnordered:
      return nb::make_tuple(
          TupleOf(w[0],
                  [&](std::size_t i) { return nb::make_tuple(w[3 + 2 * i], w[4 + 2 * i] != 0); }),
          Maximum(w[1]), w[2]);
    case NodeKind::kTally:
      return nb::make_tuple(TupleOf(w[0],
                                    [&](std::size_t i) {
                                      return nb::make_tuple(w[4 + 3 * i], w[5 + 3 * i],
                                                            Maximum(w[6 + 3 * i]));
                                    }),
                            w[1], Maximum(w[2]), w[3]);
    case NodeKind::kMark: {
      const std::string_view label = table.text(w[0]);
      return nb::make_tuple(nb::str(label.data(), label.size()), w[1]);
    }
    case NodeKind::kImport:
      return nb::make_tuple(std::const_pointer_cast<Module>(table.module(w[0])));
    default: return Numbers(w);  // Rule, Not, Erase, Assertion, Transparent, Budget
  }
}

nb::object NodeAt(const GrammarTable& table, NodeRef ref) {
  const NodeKind kind = table.kind(table.Checked(ref));
  const NodeClasses& classes = Classes();
  return nb::handle(classes.make)(nb::handle(classes.classes[static_cast<std::size_t>(kind)]),
                                  Fields(table, kind, table.words(ref)));
}

// -- from Python

NodeKind KindOf(nb::handle node) {
  const auto& classes = Classes().classes;
  PyObject* const type = reinterpret_cast<PyObject*>(Py_TYPE(node.ptr()));
  for (std::size_t i = 0; i < kNodeKindCount; ++i) {
    if (classes[i] == type) return static_cast<NodeKind>(i);
  }
  throw nb::type_error("not an expression");
}

std::uint32_t Word(nb::handle value) { return nb::cast<std::uint32_t>(value); }

std::uint32_t Size(nb::handle sequence) { return static_cast<std::uint32_t>(nb::len(sequence)); }

std::uint32_t MaximumWord(nb::handle value) { return value.is_none() ? kNone : Word(value); }

// The words of a named tuple; `child` says where a child went.
template <class Child>
Words WordsOf(GrammarTable& table, NodeKind kind, nb::handle node, Child child) {
  const auto text = [&](nb::handle data) { return table.InternText(View(data)); };
  Words out;
  switch (kind) {
    case NodeKind::kBytes: {
      const nb::object bytes = node[0].attr("to_bytes")(32, "little");
      const std::string_view view = View(bytes);
      out.resize(8);
      for (std::size_t i = 0; i < 32; ++i) {
        out[i / 4] |= std::uint32_t{static_cast<unsigned char>(view[i])} << (8 * (i % 4));
      }
      return out;
    }
    case NodeKind::kLiteral: return {text(node[0]), nb::cast<bool>(node[1]) ? 1u : 0u};
    case NodeKind::kChars:
      for (nb::handle pair : node[0]) {
        out.push_back(Word(pair[0]));
        out.push_back(Word(pair[1]));
      }
      return out;
    case NodeKind::kSeq:
    case NodeKind::kAlt:
    case NodeKind::kAnd:
      for (nb::handle part : node[0]) out.push_back(child(part));
      if (kind != NodeKind::kSeq) std::sort(out.begin(), out.end());
      return out;
    case NodeKind::kRepeat: return {child(node[0]), Word(node[1]), MaximumWord(node[2])};
    case NodeKind::kRule:
    case NodeKind::kAssertion: return {Word(node[0])};
    case NodeKind::kNot:
    case NodeKind::kTransparent: return {child(node[0])};
    case NodeKind::kEncoded:
      return {CodecOf(nb::cast<std::string_view>(nb::object(node[0]))), child(node[1])};
    case NodeKind::kDistinct:
      return {node[0].is_none() ? kNone : CodecOf(nb::cast<std::string_view>(nb::object(node[0]))),
              child(node[1])};
    case NodeKind::kNoOccurrence:
      for (nb::handle pattern : node[0]) out.push_back(text(pattern));
      return out;
    case NodeKind::kScan:
      out = {Size(node[0]), Size(node[1])};
      for (nb::handle item : node[0]) {
        out.push_back(text(item[0]));
        out.push_back(child(item[1]));
      }
      for (nb::handle exclude : node[1]) out.push_back(text(exclude));
      return out;
    case NodeKind::kErase: return {Word(node[0]), child(node[1])};
    case NodeKind::kTokens:
      out = {nb::cast<bool>(node[1]) ? 1u : 0u};
      for (nb::handle id : node[0]) out.push_back(Word(id));
      return out;
    case NodeKind::kBudget: return {child(node[0]), Word(node[1])};
    case NodeKind::kUnordered:
      out = {Size(node[0]), node[1].is_none() ? kNone : child(node[1]), child(node[2])};
      for (nb::handle member : node[0]) {
        out.push_back(child(member[0]));
        out.push_back(nb::cast<bool>(member[1]) ? 1u : 0u);
      }
      return out;
    case NodeKind::kTally:
      out = {Size(node[0]), Word(node[1]), MaximumWord(node[2]), child(node[3])};
      for (nb::handle item : node[0]) {
        out.push_back(child(item[0]));
        out.push_back(Word(item[1]));
        out.push_back(MaximumWord(item[2]));
      }
      return out;
    case NodeKind::kMark:
      return {table.InternText(nb::cast<std::string_view>(nb::object(node[0]))), child(node[1])};
    case NodeKind::kImport:
      return {table.ModuleNumber(nb::cast<std::shared_ptr<Module>>(nb::object(node[0])))};
    default: return out;
  }
}

NodeRef InternNode(GrammarTable& table, nb::handle node) {
  const NodeKind kind = KindOf(node);
  return table.Intern(
      kind, WordsOf(table, kind, node, [&](nb::handle ref) { return table.Checked(Word(ref)); }));
}

std::shared_ptr<Grammar> GrammarOf(const nb::tuple& nodes, const nb::tuple& rules, NodeRef root) {
  const auto table = std::make_shared<GrammarTable>();
  Words rule_places, places;
  for (nb::handle rule : rules) {
    rule_places.push_back(table->Rule(nb::cast<std::string>(nb::object(rule[0]))));
  }
  const auto place = [&](nb::handle ref) { return places.at(Word(ref)); };
  for (nb::handle node : nodes) {
    const NodeKind kind = KindOf(node);
    places.push_back(kind == NodeKind::kRule
                         ? rule_places.at(Word(node[0]))
                         : table->Intern(kind, WordsOf(*table, kind, node, place)));
  }
  std::size_t number = 0;
  for (nb::handle rule : rules) table->Define(rule_places[number++], place(rule[1]));
  return std::make_shared<Grammar>(Grammar{table, static_cast<std::uint32_t>(table->size()),
                                           static_cast<std::uint32_t>(table->rule_count()),
                                           places.at(root)});
}

// -- the table

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
