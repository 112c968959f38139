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
#include "program.h"
#include "states.h"
#include "summaries.h"
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
  // The tokens that AcceptToken takes at `state`: MaskWords() words.  Valid until the next call.
  const std::uint32_t* Mask(StateId state);
  // Whether an output can go on (or end) from `state`, token by token.
  bool IsViable(StateId state);

  struct Stats {
    std::size_t expressions, states, masks, summaries_built, summaries_reused, memory_bytes;
  };
  Stats stats() const;

 private:
  // Walk the trie, or a part of it, calling visit(tokens, state after them) where tokens end; stop
  // when that is true.  `entry` of WalkBelow is the state after `node` itself.
  template <class Visit>
  bool WalkTokens(StateId state, Visit visit);
  template <class Visit>
  bool WalkBelow(std::uint32_t node, StateId entry, Visit visit);
  bool LeavesBudgets(StateId state);
  bool HasToken(StateId state);
  void FindNeededBytes();
  void FillMask(StateId state, std::uint32_t* bits);
  void AddWalk(StateId state, std::uint32_t* bits);
  void AddSummarized(const Summary& summary, ContinuationId next, std::uint32_t* bits);

  std::shared_ptr<const Vocabulary> vocabulary_;
  Acceleration acceleration_;
  Meter meter_;
  ExprPool exprs_;
  Deriver deriver_;
  Liveness liveness_;
  StatePool states_;
  Summarizer summarizer_;
  StateId start_ = StatePool::kDead;
  ByteSet needed_;
  bool looks_ahead_ = false;
  Memo viable_;
  static constexpr std::size_t kMostWalkLevels = 8;
  std::vector<StateId> path_;  // of each walk in progress, by depth
  std::size_t walk_level_ = 0;
  std::unordered_map<std::uint32_t, std::unique_ptr<std::uint32_t[]>> masks_;
  std::deque<std::uint32_t> mask_order_;  // oldest first
  mutable std::mutex mutex_;
};

}  // namespace structag
