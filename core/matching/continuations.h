// Continuations: what follows a term.  A continuation is an interned map from a tail (an expression
// to go on with) to the continuation after it, and says whether the grammar may end here.  Equal
// tails are merged, so that ambiguity makes a graph instead of exponentially many stacks
// (M. Tomita's graph-structured stack).
//
// All operations are iterative in the depth of the stack and memoised.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "expressions/expressions.h"
#include "metering/meter.h"
#include "storage/hash.h"
#include "storage/list_pool.h"

namespace structag {

struct Frame {
  ExprId tail;
  ContinuationId next;
};

class ContinuationPool {
 public:
  static constexpr ContinuationId kNothing{0};  // no way on: the empty map
  static constexpr ContinuationId kEnd{1};      // the grammar may end here, and nothing else

  ContinuationPool(ExprPool& exprs, Meter& meter);

  bool MayEnd(ContinuationId id) const noexcept { return nodes_[Raw(id)].may_end; }
  // Whether a budget's region is open somewhere below.
  bool HasBudget(ContinuationId id) const noexcept { return nodes_[Raw(id)].has_budget; }
  std::size_t FrameCount(ContinuationId id) const noexcept {
    const Node& node = nodes_[Raw(id)];
    return node.is_list ? lists_[ListId{node.a}].size() / 2 : 1;
  }
  Frame FrameAt(ContinuationId id, std::size_t i) const noexcept {
    const Node& node = nodes_[Raw(id)];
    if (!node.is_list) return {ExprId{node.a}, ContinuationId{node.b}};
    const auto words = lists_[ListId{node.a}];
    return {ExprId{words[2 * i]}, ContinuationId{words[2 * i + 1]}};
  }

  // frames: tail, next, tail, next, …; any order, equal tails not yet merged away.
  ContinuationId Intern(std::vector<std::uint32_t>& frames, bool may_end);
  // First `tail`, then `next`.
  ContinuationId Push(ExprId tail, ContinuationId next);
  // First the rest of what is marked with `label`, then `next`; a mark directly in an equal one is
  // that one, so that a rule which ends with itself does not pile up.
  ContinuationId PushMark(std::uint32_t label, ContinuationId next);
  // Either of the two.
  ContinuationId Unite(ContinuationId a, ContinuationId b);
  // One token more began inside every open region; kNothing where none was left.
  ContinuationId Tick(ContinuationId id);
  // The same with every token count above `most` cut to `most`.
  ContinuationId ClipBudgets(ContinuationId id, std::uint32_t most);
  // Whether some way on lies outside of every budget's region.
  bool LeavesRegions(ContinuationId id) const;

  std::size_t MemoryBytes() const noexcept;

 private:
  // Deep stacks are mostly of single frames, which need no list.
  struct Node {
    std::uint32_t a = 0, b = 0;  // the frame, or a list of frames
    bool is_list = false;
    bool may_end = false;
    bool has_budget = false;
  };
  template <class Change>
  ContinuationId Rewrite(ContinuationId id, Memo& memo, std::uint32_t salt, Change change);

  ExprPool& exprs_;
  Meter& meter_;
  ListPool lists_;
  StableVector<Node> nodes_;
  InternIndex index_;
  std::vector<std::uint32_t> pushed_;  // scratch
  std::vector<std::pair<std::uint32_t, std::uint32_t>> sorted_;
  Memo united_;
  Memo ticked_;
  Memo clipped_;
};

}  // namespace structag
