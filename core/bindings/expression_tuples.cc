#include "bindings/expression_tuples.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "grammar/module.h"
#include "text/codec.h"

namespace structag {
namespace {

constexpr const char* kClassNames[kNodeKindCount] = {
    "Empty",        "Epsilon",   "Bytes", "Literal",   "Chars",       "Seq",
    "Alt",          "Repeat",    "Rule",  "And",       "Not",         "Encoded",
    "NoOccurrence", "Scan",      "Erase", "Assertion", "Transparent", "Tokens",
    "Budget",       "Unordered", "Tally", "Mark",      "Distinct",    "Imported"};
constexpr std::string_view kCodecs[kCodecCount] = {"json", "xml", "python_double", "python_single"};

}  // namespace

std::uint32_t CodecOf(std::string_view name) {
  const auto* found = std::ranges::find(kCodecs, name);
  if (found != std::end(kCodecs)) return static_cast<std::uint32_t>(found - kCodecs);
  std::string expected = "one of";
  for (std::string_view codec : kCodecs) {
    expected += (codec == kCodecs[0] ? " " : ", ") + std::string(codec);
  }
  throw BadOperand("codec '" + std::string(name) + "'", expected);
}

namespace {

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

// -- to Python

nb::object Number(std::uint32_t value) { return nb::int_(value); }

nb::object Maximum(std::uint32_t value) { return value == kNone ? nb::none() : Number(value); }

}  // namespace

nb::tuple Numbers(std::span<const std::uint32_t> words) {
  return TupleOf(words.size(), [&](std::size_t i) { return Number(words[i]); });
}

namespace {

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

}  // namespace

nb::object NodeAt(const GrammarTable& table, NodeRef ref) {
  const NodeKind kind = table.kind(table.Checked(ref));
  const NodeClasses& classes = Classes();
  return nb::handle(classes.make)(nb::handle(classes.classes[static_cast<std::size_t>(kind)]),
                                  Fields(table, kind, table.words(ref)));
}

namespace {

// -- from Python

NodeKind KindOf(nb::handle node) {
  const auto& classes = Classes().classes;
  PyObject* const type = reinterpret_cast<PyObject*>(Py_TYPE(node.ptr()));
  for (std::size_t i = 0; i < kNodeKindCount; ++i) {
    if (classes[i] == type) return static_cast<NodeKind>(i);
  }
  throw nb::type_error("not an expression");
}

std::uint32_t Size(nb::handle sequence) { return static_cast<std::uint32_t>(nb::len(sequence)); }

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

}  // namespace

NodeRef InternNode(GrammarTable& table, nb::handle node) {
  const NodeKind kind = KindOf(node);
  return table.Intern(
      kind, WordsOf(table, kind, node, [&](nb::handle ref) { return table.Checked(Word(ref)); }));
}

namespace {}  // namespace

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

}  // namespace structag
