// One compiled grammar: the pools it grows, and what matchers ask of them.  Any number of matchers
// on any threads; every public call takes the grammar's mutex.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analysis.h"
#include "first_bytes.h"
#include "mask.h"
#include "program.h"
#include "states.h"
#include "units.h"
#include "vocabulary.h"

namespace structag {

class Engine {
 public:
  // Throws BadProgram and LimitReached.  An empty language makes start() kDead.
  Engine(std::shared_ptr<const Vocabulary> vocabulary, std::span<const std::int32_t> program,
         std::string_view text, const Limits& limits, const Acceleration& acceleration = {});

  const Vocabulary& vocabulary() const noexcept { return *vocabulary_; }
  StateId start() const noexcept { return start_; }
  // Whether the grammar needs a byte that no token spells alone: masks then look one token ahead.
  bool looks_ahead() const noexcept { return looks_ahead_; }
  const ByteSet& needed_bytes() const noexcept { return needed_; }

  // Holds the mutex for one call; all other members are for the holder.
  class Call {
   public:
    explicit Call(Engine& engine) : lock_(engine.mutex_) { engine.meter_.StartCall(); }

   private:
    std::lock_guard<std::mutex> lock_;
  };

  bool IsComplete(StateId state) const noexcept { return states_.IsComplete(state); }
  bool ReadsTokens(StateId state) const noexcept { return states_.ReadsTokens(state); }
  StateId StepByte(StateId state, std::uint8_t byte) { return states_.Step(state, byte); }
  StateId StepBytes(StateId state, std::span<const std::uint8_t> bytes) {
    return states_.StepBytes(state, bytes);
  }
  // After a token that is no stop token; kDead if it is refused.
  StateId AcceptToken(StateId state, TokenId id);
  // After a token read as its id only.
  StateId AcceptTokenId(StateId state, TokenId id);
  // The tokens that AcceptToken takes at `state`.  Valid until the next call.
  const Mask& MaskOf(StateId state);
  // Every byte that StepByte takes, and perhaps some that it does not.
  const ByteSet& NextBytes(StateId state) { return states_.NextBytes(state); }
  // Whether an output can go on (or end) from `state`, token by token.
  bool IsViable(StateId state);

  struct Stats {
    std::size_t expressions, states, masks, summaries, memory_bytes;
  };
  Stats stats() const;

 private:
  enum class Next { kOn, kSkip, kStop };
  // Walks what lies below a node of a trie, beginning in the state after it, and calls
  // visit(node, state after it) -> Next where the state takes the node's byte; true if stopped.
  template <class Visit>
  bool Walk(const Trie& trie, std::uint32_t node, StateId state, Visit visit);
  void OpenFrame(const Trie& trie, std::uint32_t node, StateId state);
  bool LeavesBudgets(StateId state);
  bool HasToken(StateId state);
  void FindNeededBytes();
  Mask MakeMask(StateId state);
  // Adds the tokens of a node and of what lies below it, if `state` is the one after the node.
  void AddFrom(const Trie& trie, std::uint32_t node, StateId state, Mask& mask);
  void AddBelow(const Trie& trie, std::uint32_t node, StateId state, Mask& mask);
  void AddWalk(const Trie& trie, std::uint32_t node, StateId state, Mask& mask);
  void AddUnit(const std::shared_ptr<const Summary>& summary, const Term& term, Mask& mask);
  bool HasUnit(StateId state) const;

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
  Memo viable_;
  struct Frame {
    std::uint32_t at, end;  // children of a trie node still to visit
    StateId state;          // after that node
    const ByteSet* next;    // the bytes it may take
  };
  std::vector<Frame> frames_;  // of the walks in progress, one within another
  std::unordered_map<std::uint32_t, Mask> masks_;
  std::deque<std::uint32_t> mask_order_;  // oldest first
  std::size_t mask_bytes_ = 0;
  mutable std::mutex mutex_;
};

}  // namespace structag
