#include "matching/engine.h"

#include <algorithm>

#include "grammar/module.h"
#include "matching/migration.h"

namespace structag {

Engine::Engine(std::shared_ptr<const Vocabulary> vocabulary, const Program& program,
               const Limits& limits, const Acceleration& acceleration)
    : vocabulary_(std::move(vocabulary)),
      acceleration_(acceleration),
      meter_(limits),
      exprs_(meter_),
      deriver_(exprs_, meter_),
      liveness_(exprs_, deriver_, meter_),
      first_bytes_(exprs_, acceleration.short_cuts),
      states_(exprs_, deriver_, liveness_, first_bytes_, *vocabulary_, meter_,
              acceleration.short_cuts),
      units_(exprs_, *vocabulary_, meter_, acceleration_) {
  const ExprId root = ReadProgram(program, exprs_, deriver_, liveness_, meter_);
  needed_ = NeededBytes(exprs_);
  looks_ahead_ = needed_.Intersects(vocabulary_->missing_bytes());
  AnalyzeGrammar(exprs_, root, deriver_, liveness_, meter_);
  start_ = states_.Start(root);
  states_.CheckMemory();
  common_exprs_ = static_cast<std::uint32_t>(exprs_.size());
  full_bytes_ = MemoryBytes() + limits.max_generation_bytes;
}

void Engine::OpenFrame(const Trie& trie, std::uint32_t node, StateId state) {
  constexpr unsigned kManyChildren = 16;
  constexpr int kFewBytes = 4;
  const TrieNode& at = trie[node];
  if (at.child_count == 0) return;
  const ByteSet& next = states_.NextBytes(state);
  if (at.child_count <= kManyChildren || next.Count() > kFewBytes) {
    frames_.push_back({at.first_child, at.first_child + at.child_count, state, &next});
    return;
  }
  next.ForEach([&](std::uint8_t byte) {
    const std::uint32_t child = trie.Child(node, byte);
    if (child != Trie::kNone) frames_.push_back({child, child + 1, state, &next});
  });
}

template <class Visit>
bool Engine::Walk(const Trie& trie, std::uint32_t node, StateId state, Visit visit) {
  struct Unwind {
    explicit Unwind(std::vector<Frame>& open) : frames(open), size(open.size()) {}
    ~Unwind() { frames.resize(size); }
    std::vector<Frame>& frames;
    const std::size_t size;
  } const unwind(frames_);
  OpenFrame(trie, node, state);
  while (frames_.size() > unwind.size) {
    Frame& frame = frames_.back();
    if (frame.at == frame.end) {
      frames_.pop_back();
      continue;
    }
    const std::uint32_t child = frame.at++;
    const std::uint8_t byte = trie[child].byte;
    if (!frame.next->Has(byte)) continue;
    meter_.Charge(1);
    ++visited_;
    const StateId next = states_.Step(frame.state, byte);
    if (next == StatePool::kDead) continue;
    const Next then = visit(child, next);
    if (then == Next::kStop) return true;
    if (then == Next::kOn) OpenFrame(trie, child, next);
  }
  return false;
}

bool Engine::HasToken(StateId state) {
  const StateId from = states_.Tick(state);
  for (const StatePool::TokenEdge& edge : states_.TokenEdges(from)) {
    if (edge.next == StatePool::kDead && !states_.IsComplete(edge.next)) continue;
    const bool any = std::ranges::any_of(*edge.ids, [](std::uint32_t w) { return w != 0; });
    if (any && LeavesBudgets(edge.next)) return true;
  }
  const Trie& trie = vocabulary_->trie();
  return Walk(trie, Trie::kRoot, from, [&](std::uint32_t node, StateId next) {
    return trie[node].token_count > 0 && LeavesBudgets(next) ? Next::kStop : Next::kOn;
  });
}

// Whether some tokens lead out of every budget's region before the budget is used up.  Only inside
// of a character that is a question, so this calls itself three times at the most.
bool Engine::LeavesBudgets(StateId state) {
  if (state == StatePool::kDead || !states_.HasBudget(state)) return state != StatePool::kDead;
  return FindOut(state, StatePool::Claim::kLeavesBudgets,
                 [&] { return states_.LeavesRegions(state) || HasToken(state); });
}

bool Engine::IsViable(StateId state) {
  if (state == StatePool::kDead || !LeavesBudgets(state)) return false;
  if (!looks_ahead_ || states_.IsComplete(state)) return true;
  return FindOut(state, StatePool::Claim::kViable, [&] { return HasToken(state); });
}

bool Engine::HasFirstToken() {
  if (states_.IsComplete(start_)) return true;
  std::vector<std::uint32_t> row(vocabulary_->MaskWords());
  MaskOf(start_).Write(row.data());
  return std::ranges::any_of(row, [](std::uint32_t word) { return word != 0; });
}

template <class Find>
bool Engine::FindOut(StateId state, StatePool::Claim claim, Find find) {
  if (const std::optional<bool> known = states_.Known(state, claim)) return *known;
  const StateId clipped = states_.ClipForMask(state);
  const std::optional<bool> known = states_.Known(clipped, claim);
  const bool holds = known ? *known : find();
  states_.Learn(clipped, claim, holds);
  states_.Learn(state, claim, holds);
  return holds;
}

StateId Engine::KnownViable(StateId state) const noexcept {
  if (state == StatePool::kDead || state == StatePool::kUnknownState) return state;
  const auto test = [&](StatePool::Claim claim) {
    const std::optional<bool> known = states_.Known(state, claim);
    return !known ? StatePool::kUnknownState : *known ? state : StatePool::kDead;
  };
  StateId result = state;
  if (states_.HasBudget(state)) result = test(StatePool::Claim::kLeavesBudgets);
  if (result != state || !looks_ahead_ || states_.IsComplete(state)) return result;
  return test(StatePool::Claim::kViable);
}

StateId Engine::KnownTokenId(StateId state, TokenId id) const noexcept {
  const StateId from = states_.KnownTick(state);
  if (from == StatePool::kUnknownState) return from;
  return KnownViable(states_.KnownStepToken(from, id));
}

StateId Engine::KnownToken(StateId state, TokenId id) const noexcept {
  const StateId from = states_.KnownTick(state);
  if (from == StatePool::kUnknownState) return from;
  StateId next = StatePool::kDead;
  if (vocabulary_->ReadsAsBytes(id)) {
    next = from;
    for (std::uint8_t byte : vocabulary_->Bytes(id)) {
      next = states_.KnownStep(next, byte);
      if (next == StatePool::kUnknownState) return next;
      if (next == StatePool::kDead) break;
    }
  }
  if (vocabulary_->ReadsAsId(id) && states_.ReadsTokens(from)) {
    const StateId other = states_.KnownStepToken(from, id);
    if (next == StatePool::kDead) {
      next = other;
    } else if (other != next && other != StatePool::kDead) {
      return StatePool::kUnknownState;
    }
  }
  return KnownViable(next);
}

StateId Engine::AcceptTokenId(StateId state, TokenId id) {
  const StateId next = states_.StepToken(states_.Tick(state), id);
  return IsViable(next) ? next : StatePool::kDead;
}

StateId Engine::AcceptToken(StateId state, TokenId id) {
  const StateId from = states_.Tick(state);
  StateId next = StatePool::kDead;
  if (vocabulary_->ReadsAsBytes(id)) next = states_.StepBytes(from, vocabulary_->Bytes(id));
  if (vocabulary_->ReadsAsId(id) && states_.ReadsTokens(from)) {
    next = states_.Unite(next, states_.StepToken(from, id));
  }
  return IsViable(next) ? next : StatePool::kDead;
}

Mask Engine::MakeMask(StateId state) {
  Mask mask(vocabulary_->MaskWords());
  const StateId from = states_.Tick(state);
  for (const StatePool::TokenEdge& edge : states_.TokenEdges(from)) {
    if (!IsViable(edge.next)) continue;
    mask.AddBits(Mask::Bits(vocabulary_, edge.ids->data()));
  }
  units_.Begin();
  doubtful_.clear();
  AddBelow(vocabulary_->trie(), Trie::kRoot, from, mask);
  for (TokenId id : doubtful_) {
    if (!IsViable(states_.StepBytes(from, vocabulary_->Bytes(id)))) continue;
    mask.AddTokens(std::span(&id, 1));
  }
  if (acceleration_.short_cuts.Has(ShortCut::kPackedMasks)) {
    mask.Pack();
  } else {
    mask.Flatten();
  }
  return mask;
}

bool Engine::IsWorthSummary(const Trie& trie, std::uint32_t node, StateId state) const {
  return trie[node].below >= acceleration_.many_below &&
         acceleration_.short_cuts.Has(ShortCut::kSummaries) && !AsksAhead(state) && HasUnit(state);
}

bool Engine::HasUnit(StateId state) const {
  for (std::size_t i = 0; i < states_.TermCount(state); ++i) {
    if (states_.IsUnit(states_.TermAt(state, i).head)) return true;
  }
  return false;
}

void Engine::AddFrom(const Trie& trie, std::uint32_t node, StateId state, Mask& mask) {
  if (AddTokens(trie, node, state, mask)) AddBelow(trie, node, state, mask);
}

bool Engine::AddTokens(const Trie& trie, std::uint32_t node, StateId state, Mask& mask) {
  const bool is_doubtful = states_.IsDoubtful(state);
  if (is_doubtful) {
    AddDoubtful(trie, node);
  } else if (trie[node].token_count > 0 && (!AsksAhead(state) || IsViable(state))) {
    mask.AddTokens(trie.Tokens(node));
  }
  if (!is_doubtful && !states_.IsBeforeDoubt(state)) return true;
  std::vector<std::uint32_t> nodes{node};
  while (!nodes.empty()) {
    const TrieNode& at = trie[nodes.back()];
    nodes.pop_back();
    for (std::uint32_t child = at.first_child; child < at.first_child + at.child_count; ++child) {
      AddDoubtful(trie, child);
      nodes.push_back(child);
    }
  }
  return false;
}

void Engine::AddDoubtful(const Trie& trie, std::uint32_t node) {
  doubtful_.insert(doubtful_.end(), trie.Tokens(node).begin(), trie.Tokens(node).end());
}

void Engine::AddBelow(const Trie& trie, std::uint32_t node, StateId state, Mask& mask) {
  if (!IsWorthSummary(trie, node, state)) return AddWalk(trie, node, state, mask);
  std::vector<Term> others;
  for (std::size_t i = 0; i < states_.TermCount(state); ++i) {
    const Term term = states_.TermAt(state, i);
    const std::shared_ptr<const Summary> summary =
        states_.IsUnit(term.head) ? units_.Find(states_.UnitOf(term.head), trie, node) : nullptr;
    if (summary) {
      AddUnit(summary, term, mask);
    } else {
      others.push_back(term);
    }
  }
  if (others.size() == states_.TermCount(state)) return AddWalk(trie, node, state, mask);
  if (!others.empty()) AddWalk(trie, node, states_.Of(others), mask);
}

void Engine::AddWalk(const Trie& trie, std::uint32_t node, StateId state, Mask& mask) {
  Walk(trie, node, state, [&](std::uint32_t child, StateId next) {
    if (!AddTokens(trie, child, next, mask)) return Next::kSkip;
    const bool is_unit = IsWorthSummary(trie, child, next);
    if (is_unit) AddBelow(trie, child, next, mask);
    return is_unit ? Next::kSkip : Next::kOn;
  });
}

void Engine::AddUnit(const std::shared_ptr<const Summary>& summary, const Term& term, Mask& mask) {
  AddInside(summary, mask);
  if (!AddExits(*summary, states_.AfterUnit(term), mask)) {
    AddWalk(summary->trie, summary->start, states_.Of({&term, 1}), mask);
  }
  for (const Summary::Landing& landing : summary->landings) {
    std::vector<std::uint32_t> cases;
    for (std::uint32_t trigger : landing.triggers) {
      cases.push_back(Raw(exprs_.scans_[exprs_[term.head].a].cases[trigger]));
    }
    const StateId state = states_.Enter(exprs_.MakeAlt(std::move(cases)), term.next);
    if (state != StatePool::kDead) AddFrom(summary->trie, landing.node, state, mask);
  }
}

void Engine::AddInside(const std::shared_ptr<const Summary>& summary, Mask& mask) {
  meter_.Charge(1);
  const std::shared_ptr<const Summary>& whole = summary->is_told ? summary : summary->base;
  if (whole->inside.IsList()) {
    mask.AddTokensWithout(whole->inside.List(), summary->lost);
  } else {
    mask.AddBitsWithout(Mask::Bits(whole, whole->inside.Bits()), summary->lost);
  }
  if (summary->loop) AddInside(summary->loop, mask);
  for (const Summary::Part& part : summary->parts) {
    mask.AddTokens(part.summary->trie.Tokens(part.summary->start));
    AddInside(part.summary, mask);
  }
}

bool Engine::AddExits(const Summary& summary, StateId after, Mask& mask) {
  const Trie& trie = summary.trie;
  bool is_known = true;
  if (summary.loop && summary.loop_may_end) is_known = AddExits(*summary.loop, after, mask);
  for (const Summary::Part& part : summary.parts) {
    if (part.may_end) AddBelow(part.summary->trie, part.summary->start, after, mask);
    is_known = is_known && AddExits(*part.summary, after, mask);
  }
  if (summary.IsMade() && summary.ends.IsList() && summary.ends.List().empty()) return is_known;
  states_.NextBytes(after).ForEach([&](std::uint8_t byte) {
    const Exits* const exits = is_known ? units_.ExitsOf(summary, byte) : nullptr;
    is_known = exits != nullptr;
    if (!is_known || exits->nodes.empty()) return;
    const StateId state = states_.Step(after, byte);
    if (state == StatePool::kDead) return;
    if (exits->merged) return AddFrom(*exits->merged, Trie::kRoot, state, mask);
    for (std::uint32_t node : exits->nodes) AddFrom(trie, node, state, mask);
  });
  return is_known;
}

const Mask& Engine::MaskOf(StateId state) {
  if (const Mask* known = KnownMask(state)) return *known;
  const StateId key = states_.ClipForMask(state);
  std::uint32_t mask = states_.MaskAt(key);
  if (mask == StatePool::kNoMask) {
    CheckMemory();
    mask = static_cast<std::uint32_t>(masks_.size());
    mask_bytes_ += masks_.Push(MakeMask(key)).Bytes();
    states_.SetMask(key, mask);
  }
  states_.SetMask(state, mask);
  return masks_[mask];
}

void Engine::NoteSize() noexcept {
  // What modules take the next generation would have to read as well.
  if (MemoryBytes() > full_bytes_ + exprs_.import_bytes_)
    is_full_.store(true, std::memory_order_relaxed);
}

void Engine::Adopt(Engine& other, std::span<StateId> states) {
  const std::scoped_lock lock(mutex_, other.mutex_);
  const auto size = [&] { return MemoryBytes() - exprs_.import_bytes_; };
  const std::size_t before = size();
  Migration migration({other.exprs_, other.states_}, {exprs_, states_}, common_exprs_, meter_);
  for (StateId& state : states) state = migration.Take(state);
  full_bytes_ += size() - before;  // nothing that was discovered here
}

void Engine::CheckMemory() const {
  const std::uint64_t most = meter_.limits().max_memory_bytes;
  if (MemoryBytes() > most) throw LimitReached(Limit::kMemory, most);
}

std::size_t Engine::MemoryBytes() const noexcept {
  return exprs_.MemoryBytes() + deriver_.MemoryBytes() + liveness_.MemoryBytes() +
         first_bytes_.MemoryBytes() + states_.MemoryBytes() + mask_bytes_ + units_.MemoryBytes();
}

Engine::Stats Engine::stats() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return {exprs_.size(),   states_.size(),  masks_.size(), units_.found(), units_.built(),
          units_.reused(), units_.merged(), visited_,      MemoryBytes()};
}

}  // namespace structag
