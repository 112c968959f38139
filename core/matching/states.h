// States: interned sets of terms.  A term is a head (an expression that consumes) and the
// continuation after it; a state also says whether the grammar is complete.  A byte step is the
// union of the terms' derivatives, closed over what consumes nothing.  Steps are memoised per
// (state, byte); a dead step never makes a state.
//
// One thread at a time makes states; any thread may call the const members, for states that were
// published to it, without a lock.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "expressions/derive.h"
#include "expressions/expressions.h"
#include "expressions/first_bytes.h"
#include "expressions/liveness.h"
#include "expressions/short_cuts.h"
#include "matching/continuations.h"
#include "metering/meter.h"
#include "storage/byte_set_pool.h"
#include "storage/published.h"
#include "vocabulary/vocabulary.h"

namespace structag {

struct Term {
  ExprId head;
  ContinuationId next;
};

class StatePool {
 public:
  static constexpr StateId kDead{0};
  static constexpr StateId kUnknownState{0xFFFFFFFF};  // it has not been found out yet

  StatePool(ExprPool& exprs, Deriver& deriver, Liveness& liveness, FirstBytes& first_bytes,
            const Vocabulary& vocabulary, Meter& meter, ShortCuts short_cuts = {});

  // The state before any input; kDead if the language is empty.
  StateId Start(ExprId root);
  StateId Step(StateId state, std::uint8_t byte);
  // The same if it is known, or kUnknownState.
  StateId KnownStep(StateId state, std::uint8_t byte) const noexcept {
    const std::uint32_t row = states_[Raw(state)].rows[byte >> 4].Load();
    return row == 0 ? kUnknownState : StateId{blocks_[row - 1].targets[byte & 15].Load()};
  }
  // Every byte that Step takes, and perhaps some that it does not.
  const ByteSet& NextBytes(StateId state);
  StateId StepBytes(StateId state, std::span<const std::uint8_t> bytes);
  // After token `id` read as an id.
  StateId StepToken(StateId state, TokenId id);
  StateId Unite(StateId a, StateId b);
  // The state that expects `id` and then `next`.
  StateId Enter(ExprId id, ContinuationId next);
  // The state of just these terms.
  StateId Of(std::span<const Term> terms, bool complete = false, bool doubtful = false);
  // The state in which the next token begins: terms whose budget is used up are gone.
  StateId Tick(StateId state);
  StateId KnownTick(StateId state) const noexcept {
    return HasBudget(state) ? StateId{states_[Raw(state)].ticked.Load()} : state;
  }
  // An equal state as far as one token's mask goes: budgets cut to what one token can tell apart.
  StateId ClipForMask(StateId state);
  // Whether something outside of every budget's region may follow.
  bool LeavesRegions(StateId state) const;

  // The expression of an import, read if it has not been.
  ExprId Import(std::uint32_t number);

  // Whether a head is a unit of its own, so that a summary may exist.
  bool IsUnit(ExprId head) const noexcept {
    const Kind kind = exprs_[head].kind;
    return kind != Kind::kBytes && kind != Kind::kLiteral && kind != Kind::kTokens;
  }
  // What a head is to those who know nothing of the other items of a list.
  ExprId UnitOf(ExprId head) const noexcept {
    return exprs_[head].kind == Kind::kKey ? ExprId{exprs_[head].a} : head;
  }
  // The state once a term's head is done.  After a key it does not know which one that was: that
  // matters from the next key on, where states are doubtful.
  StateId AfterUnit(const Term& term);
  bool IsDoubtful(StateId state) const noexcept { return states_[Raw(state)].is_doubtful; }
  // Whether all states that follow may be doubtful.
  bool IsBeforeDoubt(StateId state) const noexcept { return states_[Raw(state)].is_before_doubt; }
  bool IsComplete(StateId state) const noexcept { return states_[Raw(state)].complete; }
  bool HasBudget(StateId state) const noexcept { return states_[Raw(state)].has_budget; }
  bool ReadsTokens(StateId state) const noexcept { return states_[Raw(state)].reads_tokens; }
  // The ids that the state's terms read as ids, each with the state that follows.
  struct TokenEdge {
    const std::vector<std::uint32_t>* ids;  // bitset over the vocabulary
    StateId next;
    bool Has(TokenId id) const noexcept {
      return ((*ids)[static_cast<std::size_t>(id) / 32] >> (id % 32) & 1) != 0;
    }
  };
  std::span<const TokenEdge> TokenEdges(StateId state);
  // After token `id` read as an id, if that is known, or kUnknownState.
  StateId KnownStepToken(StateId state, TokenId id) const noexcept;

  // What is found out about a state by looking further ahead, once.
  enum class Claim : std::uint8_t { kLeavesBudgets, kViable };
  std::optional<bool> Known(StateId state, Claim claim) const noexcept {
    const unsigned bits = states_[Raw(state)].claims.Load() >> Shift(claim);
    return bits & 1 ? std::optional((bits & 2) != 0) : std::nullopt;
  }
  void Learn(StateId state, Claim claim, bool holds) noexcept {
    if (!short_cuts_.Has(ShortCut::kKnownSteps)) return;
    State& at = states_[Raw(state)];
    const unsigned bits = (holds ? 3u : 1u) << Shift(claim);
    at.claims = static_cast<std::uint8_t>(at.claims.Load() | bits);
  }
  // A number that the owner of masks keeps with a state; kNoMask at first.
  static constexpr std::uint32_t kNoMask = 0xFFFFFFFFu;
  std::uint32_t MaskAt(StateId state) const noexcept { return states_[Raw(state)].mask.Load(); }
  void SetMask(StateId state, std::uint32_t mask) noexcept {
    if (short_cuts_.Has(ShortCut::kKnownMasks)) states_[Raw(state)].mask = mask;
  }

  std::size_t TermCount(StateId state) const noexcept {
    return lists_[states_[Raw(state)].terms].size() / 2;
  }
  Term TermAt(StateId state, std::size_t i) const noexcept {
    const auto words = lists_[states_[Raw(state)].terms];
    return {ExprId{words[2 * i]}, ContinuationId{words[2 * i + 1]}};
  }
  const ContinuationPool& continuations() const noexcept { return continuations_; }
  std::size_t size() const noexcept { return states_.size(); }
  ContinuationPool& continuations() noexcept { return continuations_; }
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
    bool is_doubtful = false;
    bool is_before_doubt = false;
    Published<std::uint8_t> claims;  // by Claim: 1 known, 2 holds
    std::uint32_t next = kUnknown;   // index of its NextBytes
    std::uint32_t clipped = kUnknown;
    Published<std::uint32_t> ticked = kUnknown;
    Published<std::uint32_t> mask = kNoMask;
    Published<std::uint32_t> token_edges = kUnknown;
    // By high nibble: 0, or 1 + index of a block of edges.
    std::array<Published<std::uint32_t>, 16> rows;
  };
  struct EdgeBlock {
    EdgeBlock() noexcept { targets.fill(kUnknown); }
    std::array<Published<std::uint32_t>, 16> targets;  // by low nibble
  };
  static constexpr unsigned Shift(Claim claim) noexcept { return 2 * static_cast<unsigned>(claim); }

  // One closure in the making.
  void Open();
  void Add(ExprId id, ContinuationId next);
  void Pop(ContinuationId next);
  void Expand(ExprId id, ContinuationId next);
  void ExpandUnordered(const Expr& e, ContinuationId next);
  void ExpandTally(ExprId id, ContinuationId next);
  void FinishKey(const Expr& e, ContinuationId next);
  bool IsUsable(ExprId id);
  // Whether a head is a key that follows an unknown one and may be equal to that.
  bool IsPending(ExprId head) const noexcept;
  bool HasBegun(ExprId key) const noexcept;
  StateId Close();
  StateId Intern(std::vector<std::uint32_t>& terms, bool complete, bool doubtful = false);
  ExprId Advance(ExprId head, std::uint8_t byte);
  const std::vector<std::uint32_t>& TokenBits(std::uint32_t token_set);

  ExprPool& exprs_;
  Deriver& deriver_;
  Liveness& liveness_;
  FirstBytes& first_bytes_;
  const Vocabulary& vocabulary_;
  Meter& meter_;
  const ShortCuts short_cuts_;
  ContinuationPool continuations_;
  ListPool lists_;
  StableVector<State> states_;
  StableVector<EdgeBlock> blocks_;
  InternIndex index_;
  ByteSetPool next_bytes_;
  Memo advanced_;
  Memo entered_;
  Memo united_;
  std::deque<std::vector<std::uint32_t>> token_bits_;  // token edges refer to them
  StableVector<std::vector<TokenEdge>, 3> token_edges_;

  // Scratch of the closure: pending expressions by rank, and everything seen with its continuation.
  struct Seen {
    ExprId id;
    ContinuationId next;  // all that was ever added
    bool is_head;
    bool is_queued;
  };
  std::vector<Seen> seen_;
  std::vector<std::uint32_t> seen_at_;  // by expression: its place in seen_, if that holds it
  std::vector<std::pair<std::uint32_t, std::uint32_t>> queue_;  // (rank, index in seen_): a heap
  std::vector<std::uint32_t> popped_;
  std::vector<std::uint32_t> terms_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> sorted_;
  bool complete_ = false;
  bool doubtful_ = false;
};

}  // namespace structag
