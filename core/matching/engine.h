// One compiled grammar: the pools it grows, and what matchers ask of them.
//
// Any number of matchers on any threads: what was found out once is read without a lock.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "expressions/first_bytes.h"
#include "grammar/analysis.h"
#include "grammar/program.h"
#include "matching/expectations.h"
#include "matching/mask.h"
#include "matching/states.h"
#include "storage/stable_vector.h"
#include "vocabulary/units.h"
#include "vocabulary/vocabulary.h"

namespace structag {

class Engine {
 public:
  // Throws BadProgram and LimitReached.  An empty language makes start() kDead.
  Engine(std::shared_ptr<const Vocabulary> vocabulary, const Program& program, const Limits& limits,
         const Acceleration& acceleration = {});

  const Vocabulary& vocabulary() const noexcept { return *vocabulary_; }
  StateId start() const noexcept { return start_; }
  // Whether the grammar needs a byte that no token spells alone: masks then look one token ahead.
  bool looks_ahead() const noexcept { return looks_ahead_; }
  const ByteSet& needed_bytes() const noexcept { return needed_; }
  // Whether it has grown by max_generation_bytes.  It goes on all the same.
  bool IsFull() const noexcept { return is_full_.load(std::memory_order_relaxed); }
  // Makes each of the states, which are of `other`, an equal one of this engine.  Both are of the
  // same program.
  void Adopt(Engine& other, std::span<StateId> states);

  bool IsComplete(StateId state) const noexcept { return states_.IsComplete(state); }
  bool ReadsTokens(StateId state) const noexcept { return states_.ReadsTokens(state); }

  // One call of a matcher.  Reads without a lock what was found out before; from the first thing
  // that was not, until its end, it holds the engine's mutex and finds out.
  class Call {
   public:
    enum class Wait : std::uint8_t { kAsNeeded, kNever };
    // With kNever it answers StatePool::kUnknownState instead of taking the mutex.
    // `work`: what the call has cost elsewhere.
    explicit Call(Engine& engine, Wait wait = Wait::kAsNeeded, std::uint64_t work = 0)
        : engine_(engine), wait_(wait), work_(work) {}
    ~Call() {
      if (lock_.owns_lock()) engine_.NoteSize();
    }
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;

    StateId Step(StateId state, std::uint8_t byte) {
      const StateId known = engine_.states_.KnownStep(state, byte);
      return IsAnswer(known) ? known : Locked().states_.Step(state, byte);
    }
    // After a token that is no stop token; kDead if it is refused.
    StateId AcceptToken(StateId state, TokenId id) {
      const StateId known = engine_.KnownToken(state, id);
      return IsAnswer(known) ? known : Locked().AcceptToken(state, id);
    }
    // After a token read as its id only.
    StateId AcceptTokenId(StateId state, TokenId id) {
      const StateId known = engine_.KnownTokenId(state, id);
      return IsAnswer(known) ? known : Locked().AcceptTokenId(state, id);
    }
    // The tokens that AcceptToken takes at `state`.  Not with kNever.
    const Mask& MaskOf(StateId state) {
      const Mask* known = engine_.KnownMask(state);
      return known ? *known : Locked().MaskOf(state);
    }
    // Of the same.  Not with kNever.
    const Digest& RowDigest(StateId state) { return Locked().MaskOf(state).RowDigest(); }
    // Every byte that Step takes, and perhaps some that it does not.  Not with kNever.
    const ByteSet& NextBytes(StateId state) { return Locked().states_.NextBytes(state); }
    // What `state` waits for; with trails if the grammar was packed with its marks.  Not with
    // kNever.
    std::vector<Expectation> Expectations(StateId state) { return Locked().Expectations(state); }
    // Whether an output can go on (or end) from `state`, token by token.  Not with kNever.
    bool IsViable(StateId state) { return Locked().IsViable(state); }
    // Whether an output may begin, or be empty.  Not with kNever.
    bool HasFirstToken() { return Locked().HasFirstToken(); }

    // Whether anything had to be found out.
    bool IsSlow() const noexcept { return lock_.owns_lock(); }
    std::uint64_t work() const noexcept {
      return lock_.owns_lock() ? engine_.meter_.work() : work_;
    }

   private:
    bool IsAnswer(StateId state) const noexcept {
      return state != StatePool::kUnknownState || wait_ == Wait::kNever;
    }
    Engine& Locked() {
      if (!lock_.owns_lock()) {
        lock_ = std::unique_lock(engine_.mutex_);
        engine_.meter_.StartCall(work_);
      }
      return engine_;
    }
    Engine& engine_;
    const Wait wait_;
    const std::uint64_t work_;
    std::unique_lock<std::mutex> lock_;
  };

  struct Stats {
    std::size_t expressions, states, masks;
    std::size_t summaries, summaries_built, summaries_reused;  // see Units
    std::size_t exits;                                         // found for them
    std::size_t nodes;  // of tries, visited by walks for masks
    std::size_t memory_bytes;
  };
  Stats stats() const;

 private:
  // What the members below would return, if it is known: otherwise StatePool::kUnknownState or
  // nullptr.  Need no lock.
  StateId KnownToken(StateId state, TokenId id) const noexcept;
  StateId KnownTokenId(StateId state, TokenId id) const noexcept;
  const Mask* KnownMask(StateId state) const noexcept {
    const std::uint32_t mask = states_.MaskAt(state);
    return mask == StatePool::kNoMask ? nullptr : &masks_[mask];
  }

  // All of these are for the holder of the mutex.
  StateId AcceptToken(StateId state, TokenId id);
  StateId AcceptTokenId(StateId state, TokenId id);
  const Mask& MaskOf(StateId state);
  std::vector<Expectation> Expectations(StateId state) {
    return ExpectationFinder(states_, exprs_, first_bytes_, *vocabulary_, meter_).Find(state);
  }
  bool IsViable(StateId state);
  bool HasFirstToken();
  std::size_t MemoryBytes() const noexcept;
  void NoteSize() noexcept;
  void CheckMemory() const;
  enum class Next { kOn, kSkip, kStop };
  // Walks what lies below a node of a trie, beginning in the state after it, and calls
  // visit(node, state after it) -> Next where the state takes the node's byte; true if stopped.
  template <class Visit>
  bool Walk(const Trie& trie, std::uint32_t node, StateId state, Visit visit);
  void OpenFrame(const Trie& trie, std::uint32_t node, StateId state);
  bool LeavesBudgets(StateId state);
  // `state` if an output can go on from it, kDead if not, kUnknownState if that is not known.
  StateId KnownViable(StateId state) const noexcept;
  bool HasToken(StateId state);
  // Whether the claim holds: find() says so if it is not known of the state or its clipped form.
  template <class Find>
  bool FindOut(StateId state, StatePool::Claim claim, Find find);
  Mask MakeMask(StateId state);
  // Adds the tokens of a node and of what lies below it, if `state` is the one after the node.
  void AddFrom(const Trie& trie, std::uint32_t node, StateId state, Mask& mask);
  void AddBelow(const Trie& trie, std::uint32_t node, StateId state, Mask& mask);
  void AddWalk(const Trie& trie, std::uint32_t node, StateId state, Mask& mask);
  void AddUnit(const std::shared_ptr<const Summary>& summary, const Term& term, Mask& mask);
  // Adds the tokens of a node alone, `state` being the one after it; whether to go on below.
  bool AddTokens(const Trie& trie, std::uint32_t node, StateId state, Mask& mask);
  void AddDoubtful(const Trie& trie, std::uint32_t node);
  // Adds the tokens that stay inside of a summary's unit.
  void AddInside(const std::shared_ptr<const Summary>& summary, Mask& mask);
  // Adds what begins in a summary's unit and goes on after it, in the state `after`; false if the
  // library does not know.
  bool AddExits(const Summary& summary, StateId after, Mask& mask);
  // Whether a token's end has to be looked at by itself: a summary knows nothing of budgets and of
  // bytes that no token spells.
  bool AsksAhead(StateId state) const noexcept { return looks_ahead_ || states_.HasBudget(state); }
  bool HasUnit(StateId state) const;
  // Whether to ask for the summaries of a state's units below a node.
  bool IsWorthSummary(const Trie& trie, std::uint32_t node, StateId state) const;

  std::shared_ptr<const Vocabulary> vocabulary_;
  Acceleration acceleration_;
  Meter meter_;
  ExprPool exprs_;
  Deriver deriver_;
  Liveness liveness_;
  FirstBytes first_bytes_;
  StatePool states_;
  Units units_;
  StateId start_ = StatePool::kDead;
  ByteSet needed_;
  bool looks_ahead_ = false;
  struct Frame {
    std::uint32_t at, end;  // children of a trie node still to visit
    StateId state;          // after that node
    const ByteSet* next;    // the bytes it may take
  };
  std::vector<Frame> frames_;      // of the walks in progress, one within another
  std::vector<TokenId> doubtful_;  // of the mask in the making: to be tried one by one
  StableVector<Mask, 4> masks_;
  std::size_t mask_bytes_ = 0;
  std::size_t visited_ = 0;         // nodes of tries
  std::uint32_t common_exprs_ = 0;  // that every engine of the program has
  std::size_t full_bytes_ = std::numeric_limits<std::size_t>::max();
  std::atomic<bool> is_full_ = false;
  mutable std::mutex mutex_;
};

}  // namespace structag
