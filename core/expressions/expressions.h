// The interned expressions of one grammar and their residuals (what is left of one after some
// input).
//
// An expression is a kind and three words.  Equal ones have one id.  The grammar's own expressions
// come first; the matcher adds residuals.  structag/grammar/expressions.py defines what each means;
// docs/architecture.md tells how they are matched.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "metering/meter.h"
#include "storage/byte_set_pool.h"
#include "storage/hash.h"
#include "storage/ids.h"
#include "storage/list_pool.h"
#include "storage/stable_vector.h"
#include "text/codec.h"
#include "text/search.h"
#include "text/utf8.h"

namespace structag {

enum class Kind : std::uint8_t {
  kEmpty,         //
  kEpsilon,       //
  kBytes,         // a: byte set
  kLiteral,       // a: offset in the literal text, b: length
  kSeq,           // a: first, b: rest (right nested; first is no kSeq)
  kAlt,           // a: list of members, sorted
  kRepeat,        // a: child, b: minimum, c: maximum or kUnbounded
  kRule,          // a: rule
  kAnd,           // a: list of operands, sorted
  kNot,           // a: child, b: UTF-8 state
  kEncoded,       // a: child, b: codec state, c: codec
  kNoOccurrence,  // a: search table, b: its state, c: UTF-8 state
  kScan,          // a: scan table, b: search state, c: UTF-8 state
  kErase,         // a: child, closed under marks, b: how many marks
  kAssertion,     // a: mark
  kTransparent,   // a: child
  kTokens,        // a: token set
  kBudget,        // a: child, b: most tokens
  kClose,         // a: tokens left; only in continuations: the end of a budget's region
  kUnordered,     // a: table, b: list of the open members as a bit set, c: Position
  kTally,         // a: table, b: list (see TallyCounts and Keys), c: Position
  kKey,           // a: the rest, b: what has been read, c: list of a tally and the item begun
  kMark,          // a: child, b: label: where it comes from
  kLeave,         // a: label; only in continuations: the end of what is marked
  kImport,        // a: import
};

// Where in a list of members an Unordered or Tally stands.
enum Position : std::uint32_t { kAtStart, kAfterMember, kAfterSeparator };

struct Expr {
  Kind kind = Kind::kEmpty;
  bool nullable = false;
  bool regular = true;
  bool plain = true;       // built from bytes alone: never empty unless it is kEmpty
  bool productive = true;  // derives something (see analysis.h for the grammar's own ones)
  bool is_text = false;    // certainly only valid UTF-8
  bool has_marks = false;  // assertion marks may occur in its strings
  std::uint8_t span = 0;   // the most bytes of a character class, 1 to 4; 0 for everything else
  std::uint32_t a = 0, b = 0, c = 0;
  std::uint32_t min_length = 0;  // a lower bound in bytes, for guidance only
  std::uint32_t rank = 0;        // over every expression it may open with; heads have 0
};

struct Module;  // module.h

struct SearchTable {
  std::shared_ptr<const SearchAutomaton> automaton;
  std::vector<std::string_view> patterns;
};
struct ScanTable {
  SearchTable search;         // the triggers, then the excludes
  std::vector<ExprId> cases;  // by trigger
};
struct UnorderedTable {
  std::vector<ExprId> members;
  std::vector<bool> required;
  ExprId rest;  // kEmpty: none
  ExprId separator;
};
struct TallyTable {
  std::vector<ExprId> kinds;
  ExprId separator;
  // What items are made of.  One with a key is a way in which no two items of its kind are alike:
  // the key's text, decoded, is another one each time.
  struct Item {
    std::uint32_t kind;
    ExprId before;  // the whole item if it has no key
    ExprId key;     // at its start
    ExprId after;
    bool has_key;
    bool is_encoded;        // the key is spelled through a codec
    std::uint32_t key_row;  // its number among the items with a key
  };
  std::vector<Item> items;
};
// What a Tally has counted so far: the list of its words.
struct TallyCounts {
  const TallyTable& table;
  std::span<const std::uint32_t> words;

  // Least and most still to come, in all and by kind.
  std::uint32_t min() const noexcept { return words[0]; }
  std::uint32_t max() const noexcept { return words[1]; }
  std::size_t kinds() const noexcept { return table.kinds.size(); }
  std::uint32_t min(std::size_t kind) const noexcept { return words[2 + 2 * kind]; }
  std::uint32_t max(std::size_t kind) const noexcept { return words[3 + 2 * kind]; }

  // Of an item with a key: the keys that have been, and how many others there are.
  static constexpr std::uint32_t kPending = 0xFFFFFFFFu;  // those that have been, and one more
  std::size_t At(const TallyTable::Item& item) const noexcept {
    return 2 + 2 * (kinds() + item.key_row);
  }
  std::uint32_t seen(const TallyTable::Item& item) const noexcept { return words[At(item)]; }
  std::uint32_t left(const TallyTable::Item& item) const noexcept { return words[At(item) + 1]; }

  // Whether the counts can be met with items of which `usable` says that they derive something.
  template <class Usable>
  bool IsFeasible(Usable usable) const;
  // After one more item; the keys of its place are then `seen`.
  std::vector<std::uint32_t> After(const TallyTable::Item& item, std::uint32_t seen) const;
};

template <class Usable>
bool TallyCounts::IsFeasible(Usable usable) const {
  std::vector<std::uint64_t> most_of(kinds());
  for (const TallyTable::Item& item : table.items) {
    if (usable(item)) most_of[item.kind] += item.has_key ? left(item) : kUnbounded;
  }
  std::uint64_t least = 0;
  std::uint64_t most = 0;
  for (std::size_t k = 0; k < kinds(); ++k) {
    most_of[k] = std::min<std::uint64_t>(most_of[k], max(k));
    if (min(k) > most_of[k]) return false;
    least += min(k);
    most += most_of[k];
  }
  return least <= max() && most >= min();
}

struct TokenSet {
  bool negated;
  std::vector<TokenId> ids;  // sorted
};

class ExprPool {
 public:
  static constexpr ExprId kEmpty{0};
  static constexpr ExprId kEpsilon{1};

  explicit ExprPool(Meter& meter);

  const Expr& operator[](ExprId id) const noexcept { return exprs_[Raw(id)]; }
  std::size_t size() const noexcept { return exprs_.size(); }
  std::span<const std::uint32_t> Members(ExprId id) const noexcept {
    return lists_[ListId{exprs_[Raw(id)].a}];
  }
  const ByteSet& Bytes(ExprId id) const noexcept { return byte_sets_[exprs_[Raw(id)].a]; }
  std::string_view LiteralText(ExprId id) const noexcept {
    return std::string_view(literal_text_).substr(exprs_[Raw(id)].a, exprs_[Raw(id)].b);
  }
  // What a codec spells; of anything else, itself.
  ExprId Spelled(ExprId id) const noexcept {
    const Expr& e = exprs_[Raw(id)];
    return e.kind == Kind::kEncoded ? ExprId{e.a} : id;
  }
  bool IsHead(ExprId id) const noexcept;  // consumes before anything else; see states.h

  // Constructors.  They simplify what is free to simplify.
  ExprId MakeBytes(const ByteSet& set);
  ExprId MakeLiteral(std::uint32_t offset, std::uint32_t length);
  ExprId MakeSeq(ExprId first, ExprId rest);
  ExprId MakeAlt(std::vector<std::uint32_t> members);
  ExprId MakeRepeat(ExprId child, std::uint32_t min, std::uint32_t max);
  ExprId MakeAnd(std::vector<std::uint32_t> operands);
  ExprId MakeNot(ExprId child, Utf8State utf8);
  ExprId MakeEncoded(ExprId child, CodecState state, Codec codec);
  ExprId MakeErase(ExprId closed_child, std::uint32_t marks);
  ExprId MakeTransparent(ExprId child);
  // `key` without the texts that it may not stand for: a finite set that only WithText makes.
  ExprId MakeFresh(const TallyTable::Item& item, std::uint32_t seen);
  ExprId WithText(ExprId texts, ExprId backwards);
  ExprId MakeUnordered(std::uint32_t table, std::span<const std::uint32_t> open, Position position);
  ExprId MakeTally(std::uint32_t table, std::span<const std::uint32_t> words, Position position);
  ExprId Make(Kind kind, std::uint32_t a, std::uint32_t b = 0, std::uint32_t c = 0);

  // An alternative whose members begin with literals, those that begin alike joined in a trie: the
  // same language with at most 256 of such members.  Memoised.
  std::span<const std::uint32_t> Factored(ExprId alt);

  // Tables, filled when the grammar is read.
  std::string literal_text_;
  std::vector<SearchTable> searches_;
  std::vector<ScanTable> scans_;
  std::vector<UnorderedTable> unordered_;
  std::vector<TallyTable> tallies_;
  std::vector<TokenSet> token_sets_;
  std::vector<ExprId> rule_bodies_;
  struct TableSizes {
    std::uint32_t searches = 0, scans = 0, unordered = 0, tallies = 0, token_sets = 0, rules = 0;
  };
  TableSizes table_sizes() const noexcept;
  struct Import {
    std::shared_ptr<const Module> module;
    std::size_t text_at;      // where its text begins in literal_text_
    ExprId body = ExprId{0};  // once it is read
    bool is_read = false;
    TableSizes first{}, end{};  // what it has of the tables, once it is read
  };
  std::vector<Import> imports_;
  std::unordered_map<const Module*, std::uint32_t> import_numbers_;
  std::size_t import_bytes_ = 0;  // of what has been read of them
  const ListPool& lists() const noexcept { return lists_; }
  // An item of a tally whose key is being read: what is left of the key, and what has been read of
  // it, decoded and last byte first.
  ExprId MakeKey(ExprId rest, ExprId backwards, ExprId tally, std::uint32_t item) {
    const std::uint32_t begun[2] = {Raw(tally), item};
    return Make(Kind::kKey, Raw(rest), Raw(backwards), Raw(lists_.Intern(begun)));
  }
  struct Begun {
    const Expr& tally;
    const TallyTable::Item& item;
  };
  Begun BegunBy(const Expr& key) const noexcept {
    const auto words = lists_[ListId{key.c}];
    const Expr& tally = exprs_[words[0]];
    return {tally, tallies_[tally.a].items[words[1]]};
  }

  // For analysis.h, while the grammar's own expressions are being judged.
  Expr& Mutable(ExprId id) noexcept { return exprs_[Raw(id)]; }
  bool EvaluateNullable(const Expr& e) const;
  bool EvaluateProductive(const Expr& e) const;  // of what is not regular
  void Seal() noexcept { sealed_ = true; }
  TallyCounts CountsOf(const Expr& tally) const noexcept {
    return {tallies_[tally.a], lists_[ListId{tally.b}]};
  }

  std::size_t MemoryBytes() const noexcept;

 private:
  void Describe(Expr& e) const;
  std::uint32_t MinLength(const Expr& e) const;
  std::uint8_t Span(const Expr& e) const;
  bool IsTextFrom(ExprId id, Utf8State utf8) const;

  Meter& meter_;
  StableVector<Expr> exprs_;
  InternIndex index_;
  ListPool lists_;
  ByteSetPool byte_sets_;
  Memo factored_;
  bool sealed_ = false;
};

}  // namespace structag
