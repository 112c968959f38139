// The unified grammar as front ends build it: a table of interned expressions over bytes,
// characters and tokens.  structag/grammar/expressions.py says what each kind means; kinds are
// numbered as in the program that the engine reads (program.h, structag/grammar/pack.py).
//
// The constructors simplify what is free to simplify (nested sequences, empty parts, neighbouring
// literals) and refuse what has no meaning.  Children come before parents, so that one pass in
// order sees them first.  A table is used by one thread at a time; what is in it never changes.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "storage/byte_set.h"
#include "storage/hash.h"

namespace structag {

using NodeRef = std::uint32_t;
using TextId = std::uint32_t;
using Words = std::vector<std::uint32_t>;

enum class NodeKind : std::uint8_t {
  kEmpty,
  kEpsilon,
  kBytes,         // 8 words of the set
  kLiteral,       // text, is a marker
  kChars,         // (first, last) code point, sorted and disjoint, without surrogates
  kSeq,           // children
  kAlt,           // children, sorted
  kRepeat,        // child, min, max or kNone
  kRule,          // index
  kAnd,           // children, sorted
  kNot,           // child
  kEncoded,       // codec, child
  kNoOccurrence,  // texts
  kScan,          // cases, excludes, cases × (text, child), excludes × text
  kErase,         // count, child
  kAssertion,     // index
  kTransparent,   // child
  kTokens,        // negated, ids
  kBudget,        // child, most tokens
  kUnordered,     // members, rest or kNone, separator, members × (child, required)
  kTally,         // kinds, min, max or kNone, separator, kinds × (child, min, max or kNone)
  kMark,          // text (the label), child
  kDistinct,      // codec or kNone, child
  kImport,        // number of a module
};
inline constexpr std::size_t kNodeKindCount = 24;
inline constexpr std::uint32_t kNone = 0xFFFFFFFFu;
inline constexpr std::uint32_t kMostCount = 0x7FFFFFFFu;
inline constexpr std::uint32_t kMaxCodePoint = 0x10FFFFu;

// Whether something derives the empty sequence; unknown where a rule or an Erase decides.
enum class Nullable : std::uint8_t { kNo, kYes, kUnknown };

struct NodeFacts {
  bool is_regular;
  bool is_text;  // certainly only valid UTF-8
  Nullable nullable;
};

// A refusal: an operand that has no meaning where it stands.
class BadOperand : public std::runtime_error {
 public:
  explicit BadOperand(const std::string& message, std::string expected = {})
      : std::runtime_error(message), expected_(std::move(expected)) {}
  const std::string& expected() const noexcept { return expected_; }

 private:
  std::string expected_;
};

struct Module;  // module.h

using CodePointRange = std::pair<std::int64_t, std::int64_t>;

class GrammarTable {
 public:
  static constexpr NodeRef kEmpty = 0;
  static constexpr NodeRef kEpsilon = 1;

  GrammarTable();

  NodeRef Bytes(const ByteSet& set);
  NodeRef Literal(std::string_view data, bool is_marker);
  NodeRef Chars(std::vector<CodePointRange> ranges);
  NodeRef Seq(std::span<const NodeRef> parts);
  NodeRef Alt(std::span<const NodeRef> parts);
  NodeRef Repeat(NodeRef child, std::uint32_t min, std::uint32_t max);
  NodeRef And(std::span<const NodeRef> parts);
  NodeRef Not(NodeRef child);
  NodeRef Encoded(std::uint32_t codec, NodeRef child);
  NodeRef Mark(std::string_view label, NodeRef child);
  // Members in order with `separator` between them, those that are not required left out or not.
  // The size is linear: around a required member a separator belongs to each optional neighbour,
  // and a list of optional members only is cut in halves that share their parts.
  struct Member {
    NodeRef ref;
    bool is_required;
  };
  NodeRef InOrder(std::span<const Member> members, NodeRef separator);
  NodeRef Rule(std::string name);
  void Define(NodeRef rule, NodeRef body);
  // `ref`, as a rule of its own if it is a long sequence, which would be copied wherever it is
  // used.
  NodeRef Sealed(NodeRef ref);
  // The language of a module, by reference.
  NodeRef Import(std::shared_ptr<const Module> module);

  // A node as it is, its children and texts being this table's; `words` are not.
  NodeRef Intern(NodeKind kind, std::span<const std::uint32_t> words);
  TextId InternText(std::string_view text);

  std::size_t size() const noexcept { return nodes_.size(); }
  std::size_t text_count() const noexcept { return text_places_.size(); }
  std::size_t rule_count() const noexcept { return rule_names_.size(); }
  NodeKind kind(NodeRef ref) const noexcept { return nodes_[ref].kind; }
  const NodeFacts& facts(NodeRef ref) const noexcept { return nodes_[ref].facts; }
  std::span<const std::uint32_t> words(NodeRef ref) const noexcept {
    return {words_.data() + nodes_[ref].at, nodes_[ref].size};
  }
  std::string_view text(TextId id) const noexcept {
    return std::string_view(texts_).substr(text_places_[id].first, text_places_[id].second);
  }
  const std::string& rule_name(std::uint32_t index) const noexcept { return rule_names_[index]; }
  NodeRef rule_body(std::uint32_t index) const noexcept { return rule_bodies_[index]; }
  std::uint32_t ModuleNumber(std::shared_ptr<const Module> module);
  const std::shared_ptr<const Module>& module(std::uint32_t number) const noexcept {
    return modules_[number];
  }
  bool has_imports() const noexcept { return !modules_.empty(); }
  NodeRef Checked(NodeRef ref) const;  // throws std::out_of_range
  std::size_t MemoryBytes() const noexcept;

 private:
  struct Node {
    NodeKind kind;
    NodeFacts facts;
    std::uint32_t at;  // in words_
    std::uint32_t size;
  };
  NodeFacts Judge(NodeKind kind, std::span<const std::uint32_t> words) const;
  NodeRef SomeOf(std::span<const Member> members, NodeRef separator);
  void RequireRegular(std::span<const NodeRef> refs, const char* what) const;

  std::vector<Node> nodes_;
  Words words_;
  InternIndex index_;
  std::string texts_;
  std::vector<std::pair<std::size_t, std::size_t>> text_places_;
  InternIndex text_index_;
  std::vector<std::string> rule_names_;
  std::vector<NodeRef> rule_bodies_;  // kNone: not yet defined
  std::vector<std::shared_ptr<const Module>> modules_;
  std::unordered_map<const Module*, std::uint32_t> module_numbers_;
  std::unordered_map<NodeRef, NodeRef> sealed_;  // rules, by their bodies
};

// Calls visit(word) for every word that refers to a child, left to right, as
// structag.grammar.expressions.children has them.
template <class Word, class Visit>
void ForEachChild(NodeKind kind, std::span<Word> words, Visit visit) {
  switch (kind) {
    case NodeKind::kSeq:
    case NodeKind::kAlt:
    case NodeKind::kAnd:
      for (Word& word : words) visit(word);
      break;
    case NodeKind::kRepeat:
    case NodeKind::kNot:
    case NodeKind::kTransparent:
    case NodeKind::kBudget: visit(words[0]); break;
    case NodeKind::kEncoded:
    case NodeKind::kErase:
    case NodeKind::kDistinct:
    case NodeKind::kMark: visit(words[1]); break;
    case NodeKind::kScan:
      for (std::size_t i = 0; i < words[0]; ++i) visit(words[3 + 2 * i]);
      break;
    case NodeKind::kUnordered:
      for (std::size_t i = 0; i < words[0]; ++i) visit(words[3 + 2 * i]);
      if (words[1] != kNone) visit(words[1]);
      visit(words[2]);
      break;
    case NodeKind::kTally:
      for (std::size_t i = 0; i < words[0]; ++i) visit(words[4 + 3 * i]);
      visit(words[3]);
      break;
    default: break;
  }
}

// Calls visit(word) for every word that is a text's id.
template <class Word, class Visit>
void ForEachText(NodeKind kind, std::span<Word> words, Visit visit) {
  switch (kind) {
    case NodeKind::kLiteral:
    case NodeKind::kMark: visit(words[0]); break;
    case NodeKind::kNoOccurrence:
      for (Word& word : words) visit(word);
      break;
    case NodeKind::kScan:
      for (std::size_t i = 0; i < words[0]; ++i) visit(words[2 + 2 * i]);
      for (std::size_t i = 2 + 2 * words[0]; i < words.size(); ++i) visit(words[i]);
      break;
    default: break;
  }
}

// A grammar: the expressions of a table that were there when it was built, and where it starts.
// Immutable; shares the table with its builder.
struct Grammar {
  std::shared_ptr<const GrammarTable> table;
  std::uint32_t node_count;
  std::uint32_t rule_count;
  NodeRef root;
};

// 1 for every expression that the root refers to, directly or through rules.
std::vector<std::uint8_t> ReachableNodes(const Grammar& grammar);

// Copies what the root of `grammar` reaches into `table`, with `prefix` before the labels of marks;
// where the root went.
NodeRef CopyGrammar(const Grammar& grammar, GrammarTable& table, std::string_view prefix = {});

// The same grammar with every module copied to where it is referred to; itself if it has none.
std::shared_ptr<const Grammar> Inlined(const std::shared_ptr<const Grammar>& grammar);

// Whether the grammar certainly has the form that the engine needs (structag/grammar/simplify.py):
// everything productive, no repeat of something nullable, no left recursion.
bool IsSimple(const Grammar& grammar);

struct PackedGrammar {
  Words words;
  std::string pool;
  std::vector<std::string> labels;  // of marks, by number; empty if they were left out
  std::vector<std::shared_ptr<const Module>> imports;  // by their numbers in the program
};
PackedGrammar PackGrammar(const Grammar& grammar, bool keeps_marks = false);

}  // namespace structag
