// States: interned sets of terms.  A term is a head (an expression that consumes) and the
// continuation after it; a state also says whether the grammar is complete.  A byte step is the
// union of the terms' derivatives, closed over what consumes nothing.  Steps are memoised per
// (state, byte); a dead step never makes a state.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "byte_set_pool.h"
#include "continuations.h"
#include "derive.h"
#include "expressions.h"
#include "first_bytes.h"
#include "liveness.h"
#include "meter.h"
#include "vocabulary.h"

namespace structag {

struct Term {
  ExprId head;
  ContinuationId next;
};

class StatePool {
 public:
  static constexpr StateId kDead{0};

  StatePool(ExprPool& exprs, Deriver& deriver, Liveness& liveness, FirstBytes& first_bytes,
            const Vocabulary& vocabulary, Meter& meter);

  // The state before any input; kDead if the language is empty.
  StateId Start(ExprId root);
  StateId Step(StateId state, std::uint8_t byte);
  // Every byte that Step takes, and perhaps some that it does not.
  const ByteSet& NextBytes(StateId state);
  StateId StepBytes(StateId state, std::span<const std::uint8_t> bytes);
  // After token `id` read as an id.
  StateId StepToken(StateId state, TokenId id);
  StateId Unite(StateId a, StateId b);
  // The state that expects `id` and then `next`.
  StateId Enter(ExprId id, ContinuationId next);
  // The incomplete state of just these terms.
  StateId Of(std::span<const Term> terms);
  // The state in which the next token begins: terms whose budget is used up are gone.
  StateId Tick(StateId state);
  // An equal state as far as one token's mask goes: budgets cut to what one token can tell apart.
  StateId ClipForMask(StateId state);
  // Whether something outside of every budget's region may follow.
  bool LeavesRegions(StateId state) const;

  // Whether a head is a unit of its own, so that a summary may exist.
  bool IsUnit(ExprId head) const noexcept {
    const Kind kind = exprs_[head].kind;
    return kind != Kind::kBytes && kind != Kind::kLiteral && kind != Kind::kTokens;
  }
  bool IsComplete(StateId state) const noexcept { return states_[Raw(state)].complete; }
  bool HasBudget(StateId state) const noexcept { return states_[Raw(state)].has_budget; }
  bool ReadsTokens(StateId state) const noexcept { return states_[Raw(state)].reads_tokens; }
  // The ids that the state's terms read as ids, each with the state that follows.
  struct TokenEdge {
    const std::vector<std::uint32_t>* ids;  // bitset over the vocabulary
    StateId next;
  };
  std::vector<TokenEdge> TokenEdges(StateId state);

  std::size_t TermCount(StateId state) const noexcept {
    return lists_[states_[Raw(state)].terms].size() / 2;
  }
  Term TermAt(StateId state, std::size_t i) const noexcept {
    const auto words = lists_[states_[Raw(state)].terms];
    return {ExprId{words[2 * i]}, ContinuationId{words[2 * i + 1]}};
  }
  std::size_t size() const noexcept { return states_.size(); }
  // Throws LimitReached if the grammar holds more than its limit.
  void CheckMemory() const;
  std::size_t MemoryBytes() const noexcept;

 private:
  static constexpr std::uint32_t kUnknown = 0xFFFFFFFFu;
  struct State {
    ListId terms{};
    bool complete = false;
    bool has_budget = false;
    bool reads_tokens = false;
    std::uint32_t next = kUnknown;  // index of its NextBytes
    std::uint32_t ticked = kUnknown;
    std::uint32_t clipped = kUnknown;
    std::array<std::uint32_t, 16> rows{};  // by high nibble: 0, or 1 + index of a block of edges
  };
  struct EdgeBlock {
    std::array<std::uint32_t, 16> targets;  // by low nibble
  };

  // One closure in the making.
  void Open();
  void Add(ExprId id, ContinuationId next);
  void Pop(ContinuationId next);
  void Expand(ExprId id, ContinuationId next);
  void ExpandUnordered(const Expr& e, ContinuationId next);
  void ExpandTally(const Expr& e, ContinuationId next);
  bool IsUsable(ExprId id);
  StateId Close();
  StateId Intern(std::vector<std::uint32_t>& terms, bool complete);
  ExprId Advance(ExprId head, std::uint8_t byte);
  const std::vector<std::uint32_t>& TokenBits(std::uint32_t token_set);

  ExprPool& exprs_;
  Deriver& deriver_;
  Liveness& liveness_;
  FirstBytes& first_bytes_;
  const Vocabulary& vocabulary_;
  Meter& meter_;
  ContinuationPool continuations_;
  ListPool lists_;
  StableVector<State> states_;
  StableVector<EdgeBlock> blocks_;
  InternIndex index_;
  ByteSetPool next_bytes_;
  Memo advanced_;
  Memo entered_;
  std::vector<std::vector<std::uint32_t>> token_bits_;

  // Scratch of the closure: pending expressions by rank, and everything seen with its continuation.
  struct Seen {
    ExprId id;
    ContinuationId next;      // all that was ever added
    ContinuationId expanded;  // the part that has been expanded
    bool is_queued;
  };
  std::vector<Seen> seen_;
  Memo seen_index_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> queue_;  // (rank, index in seen_): a heap
  std::vector<std::uint32_t> popped_;
  std::vector<std::uint32_t> terms_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> sorted_;
  bool complete_ = false;
};

}  // namespace structag
