// Tells whether a grammar needs any of structag/grammar/simplify.py's rewriting.

#include <algorithm>

#include "grammar/grammar.h"

namespace structag {
namespace {

constexpr int kMostRounds = 16;  // more say that only the whole analysis can tell

// The least fixpoint of what may be empty and what derives something, by rounds over all nodes in
// order.  What an Erase decides counts as empty, which is on the safe side for all questions here.
class Judgement {
 public:
  explicit Judgement(const Grammar& grammar)
      : table_(*grammar.table),
        count_(grammar.node_count),
        root_(grammar.root),
        reachable_(ReachableNodes(grammar)),
        nullable_(count_),
        productive_(count_) {}

  bool IsSimple() {
    for (int round = 0; !Settle(); ++round) {
      if (round == kMostRounds) return false;
    }
    return AllProductive() && !AnyNullableOperand() && !IsLeftRecursive();
  }

 private:
  bool Settle();  // false: something changed
  bool NullableNow(NodeRef ref) const;
  bool ProductiveNow(NodeRef ref) const;
  bool AllProductive() const;
  bool AnyNullableOperand() const;
  bool IsLeftRecursive();
  // Calls visit(child) for what a sequence of the node may begin with.
  template <class Visit>
  void ForEachCorner(NodeRef ref, Visit visit) const;

  const GrammarTable& table_;
  std::uint32_t count_;
  NodeRef root_;
  std::vector<std::uint8_t> reachable_, nullable_, productive_;
};

bool Judgement::Settle() {
  bool is_settled = true;
  for (NodeRef ref = 0; ref < count_; ++ref) {
    if (!reachable_[ref]) continue;
    if (!nullable_[ref] && NullableNow(ref)) {
      nullable_[ref] = 1;
      is_settled = false;
    }
    if (!productive_[ref] && ProductiveNow(ref)) {
      productive_[ref] = 1;
      is_settled = false;
    }
  }
  return is_settled || table_.rule_count() == 0;
}

bool Judgement::NullableNow(NodeRef ref) const {
  const NodeFacts& facts = table_.facts(ref);
  if (facts.nullable != Nullable::kUnknown) return facts.nullable == Nullable::kYes;
  if (facts.is_regular) return true;
  const auto words = table_.words(ref);
  switch (table_.kind(ref)) {
    case NodeKind::kRule: return nullable_[table_.rule_body(words[0])];
    case NodeKind::kSeq:
      return std::ranges::all_of(words, [&](NodeRef part) { return nullable_[part] != 0; });
    case NodeKind::kAlt:
      return std::ranges::any_of(words, [&](NodeRef part) { return nullable_[part] != 0; });
    case NodeKind::kRepeat: return nullable_[words[0]];
    case NodeKind::kMark: return nullable_[words[1]];
    default: return true;
  }
}

bool Judgement::ProductiveNow(NodeRef ref) const {
  const auto words = table_.words(ref);
  const auto is_productive = [&](NodeRef part) { return productive_[part] != 0; };
  switch (table_.kind(ref)) {
    case NodeKind::kEmpty: return false;
    case NodeKind::kRule: return productive_[table_.rule_body(words[0])];
    case NodeKind::kSeq: return std::ranges::all_of(words, is_productive);
    case NodeKind::kAlt: return std::ranges::any_of(words, is_productive);
    case NodeKind::kRepeat: return words[1] == 0 || productive_[words[0]];
    case NodeKind::kMark: return productive_[words[1]];
    case NodeKind::kScan:
    case NodeKind::kUnordered:
    case NodeKind::kTally: {
      bool all = true;
      ForEachChild(table_.kind(ref), words,
                   [&](NodeRef part) { all = all && is_productive(part); });
      return all;
    }
    default: return true;  // regular ones are the core's to judge
  }
}

// Everything that is met where nothing may be unproductive.
bool Judgement::AllProductive() const {
  if (!productive_[root_]) return false;
  for (NodeRef ref = 0; ref < count_; ++ref) {
    if (!reachable_[ref] || productive_[ref]) continue;
    if (table_.kind(ref) != NodeKind::kEmpty) return false;
  }
  for (NodeRef ref = 0; ref < count_; ++ref) {
    const NodeKind kind = table_.kind(ref);
    if (!reachable_[ref] || table_.facts(ref).is_regular || kind == NodeKind::kRule) continue;
    bool all = true;
    ForEachChild(kind, table_.words(ref), [&](NodeRef part) { all = all && productive_[part]; });
    if (!all) return false;
  }
  return true;
}

bool Judgement::AnyNullableOperand() const {
  for (NodeRef ref = 0; ref < count_; ++ref) {
    if (!reachable_[ref]) continue;
    const NodeKind kind = table_.kind(ref);
    const auto words = table_.words(ref);
    if (kind == NodeKind::kRepeat && nullable_[words[0]]) return true;
    if (kind == NodeKind::kUnordered || kind == NodeKind::kTally) {
      bool any = false;
      ForEachCorner(ref, [&](NodeRef part) { any = any || nullable_[part]; });
      if (any) return true;
    }
  }
  return false;
}

template <class Visit>
void Judgement::ForEachCorner(NodeRef ref, Visit visit) const {
  const auto words = table_.words(ref);
  switch (const NodeKind kind = table_.kind(ref)) {
    case NodeKind::kSeq:
      for (NodeRef part : words) {
        visit(part);
        if (!nullable_[part]) return;
      }
      break;
    case NodeKind::kAlt:
      for (NodeRef part : words) visit(part);
      break;
    case NodeKind::kRepeat: visit(words[0]); break;
    case NodeKind::kMark: visit(words[1]); break;
    case NodeKind::kRule: visit(table_.rule_body(words[0])); break;
    case NodeKind::kUnordered:
    case NodeKind::kTally: {
      const std::size_t start = kind == NodeKind::kTally ? 4 : 3;
      const std::size_t width = kind == NodeKind::kTally ? 3 : 2;
      for (std::size_t i = 0; i < words[0]; ++i) visit(words[start + width * i]);
      if (kind == NodeKind::kUnordered && words[1] != kNone) visit(words[1]);
      break;
    }
    default: break;
  }
}

// Is there a cycle of left corners?  Only rules lead from an expression to a later one, so the
// search starts at them; depth first, with a stack of its own.
bool Judgement::IsLeftRecursive() {
  enum : std::uint8_t { kNew, kOpen, kDone };
  std::vector<std::uint8_t> colors(count_);
  std::vector<NodeRef> stack;
  for (NodeRef start = 0; start < count_; ++start) {
    if (!reachable_[start] || table_.kind(start) != NodeKind::kRule || colors[start] != kNew) {
      continue;
    }
    stack.push_back(start);
    while (!stack.empty()) {
      const NodeRef ref = stack.back();
      if (colors[ref] != kNew) {
        stack.pop_back();
        colors[ref] = kDone;
        continue;
      }
      colors[ref] = kOpen;
      bool is_cycle = false;
      ForEachCorner(ref, [&](NodeRef corner) {
        if (colors[corner] == kOpen) is_cycle = true;
        if (colors[corner] == kNew && !table_.facts(corner).is_regular) stack.push_back(corner);
      });
      if (is_cycle) return true;
    }
  }
  return false;
}

}  // namespace

bool IsSimple(const Grammar& grammar) { return Judgement(grammar).IsSimple(); }

}  // namespace structag
