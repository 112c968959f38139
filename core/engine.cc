#include "engine.h"

#include <algorithm>

namespace structag {

Engine::Engine(std::shared_ptr<const Vocabulary> vocabulary, std::span<const std::int32_t> program,
               std::string_view text, const Limits& limits, const Acceleration& acceleration)
    : vocabulary_(std::move(vocabulary)),
      acceleration_(acceleration),
      meter_(limits),
      exprs_(meter_),
      deriver_(exprs_, meter_),
      liveness_(exprs_, deriver_, meter_),
      first_bytes_(exprs_),
      states_(exprs_, deriver_, liveness_, first_bytes_, *vocabulary_, meter_),
      summarizer_(exprs_, liveness_, first_bytes_, *vocabulary_, meter_, acceleration_) {
  const ExprId root = ReadProgram(program, text, exprs_, deriver_, meter_);
  FindNeededBytes();
  AnalyzeGrammar(exprs_, root, deriver_, liveness_, meter_);
  start_ = states_.Start(root);
  states_.CheckMemory();
}

void Engine::FindNeededBytes() {
  for (std::uint32_t i = 0; i < exprs_.size(); ++i) {
    const ExprId id{i};
    switch (exprs_[id].kind) {
      case Kind::kBytes: needed_.Unite(exprs_.Bytes(id)); break;
      case Kind::kNot:
      case Kind::kEncoded:
      case Kind::kNoOccurrence:
      case Kind::kScan: needed_.Unite(Utf8Bytes()); break;
      default: break;
    }
  }
  for (char c : exprs_.literal_text_) needed_.Add(static_cast<std::uint8_t>(c));
  looks_ahead_ = needed_.Intersects(vocabulary_->missing_bytes());
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
bool Engine::WalkBelow(const Trie& trie, std::uint32_t node, StateId state, Visit visit) {
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
    const TrieNode& at = trie[child];
    if (!frame.next->Has(at.byte)) continue;
    meter_.Charge(1);
    const StateId next = states_.Step(frame.state, at.byte);
    if (next == StatePool::kDead) continue;
    if (at.token_count > 0 && visit(trie.Tokens(child), next)) return true;
    OpenFrame(trie, child, next);
  }
  return false;
}

template <class Visit>
bool Engine::WalkFrom(const Trie& trie, std::uint32_t node, StateId state, Visit visit) {
  if (trie[node].token_count > 0 && visit(trie.Tokens(node), state)) return true;
  return WalkBelow(trie, node, state, visit);
}

bool Engine::HasToken(StateId state) {
  const StateId from = states_.Tick(state);
  for (const StatePool::TokenEdge& edge : states_.TokenEdges(from)) {
    if (edge.next == StatePool::kDead && !states_.IsComplete(edge.next)) continue;
    const bool any = std::ranges::any_of(*edge.ids, [](std::uint32_t w) { return w != 0; });
    if (any && LeavesBudgets(edge.next)) return true;
  }
  return WalkBelow(vocabulary_->trie(), Trie::kRoot, from,
                   [&](std::span<const TokenId>, StateId next) { return LeavesBudgets(next); });
}

// Whether some tokens lead out of every budget's region before the budget is used up.  Only inside
// of a character that is a question, so this calls itself three times at the most.
bool Engine::LeavesBudgets(StateId state) {
  if (state == StatePool::kDead) return false;
  if (states_.LeavesRegions(state)) return true;
  const std::uint64_t key = std::uint64_t{Raw(states_.ClipForMask(state))} << 1;
  if (const std::uint32_t* known = viable_.Get(key)) return *known != 0;
  const bool leaves = HasToken(state);
  viable_.Set(key, leaves ? 1 : 0);
  return leaves;
}

bool Engine::IsViable(StateId state) {
  if (state == StatePool::kDead || !LeavesBudgets(state)) return false;
  if (!looks_ahead_ || states_.IsComplete(state)) return true;
  const std::uint64_t key = std::uint64_t{Raw(states_.ClipForMask(state))} << 1 | 1;
  if (const std::uint32_t* known = viable_.Get(key)) return *known != 0;
  const bool viable = HasToken(state);
  viable_.Set(key, viable ? 1 : 0);
  return viable;
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
  for (const StatePool::TokenEdge& edge : states_.TokenEdges(states_.Tick(state))) {
    if (!IsViable(edge.next)) continue;
    mask.AddBits(Mask::Bits(vocabulary_, edge.ids->data()));
  }
  // A summary knows nothing of budgets and of bytes that no token spells.
  if (looks_ahead_ || states_.HasBudget(state) || !acceleration_.is_on) {
    AddWalk(state, mask);
  } else {
    std::vector<Term> others;
    for (std::size_t i = 0; i < states_.TermCount(state); ++i) {
      const Term term = states_.TermAt(state, i);
      if (states_.IsUnit(term.head)) {
        AddSummarized(summarizer_.Find(term.head), term.next, mask);
      } else {
        others.push_back(term);
      }
    }
    const bool all = others.size() == states_.TermCount(state);
    if (!others.empty()) AddWalk(all ? state : states_.Of(others), mask);
  }
  mask.Pack();
  return mask;
}

void Engine::AddWalk(StateId state, Mask& mask) {
  WalkBelow(vocabulary_->trie(), Trie::kRoot, states_.Tick(state),
            [&](std::span<const TokenId> tokens, StateId next) {
              if (IsViable(next)) mask.AddTokens(tokens);
              return false;
            });
}

void Engine::AddSummarized(const Summarizer::Found& found, ContinuationId next, Mask& mask) {
  const auto bits = [&](const std::shared_ptr<const Summary>& summary) {
    return Mask::Bits(summary, summary->inside.Bits());
  };
  const Summary& summary = *found.summary;
  if (summary.base) mask.AddBitsWithout(bits(summary.base), summary.lost);
  if (summary.inside.IsList()) {
    mask.AddTokens(summary.inside.List());
  } else {
    mask.AddBits(bits(found.summary));
  }
  const auto add = [&](std::span<const TokenId> tokens, StateId) {
    mask.AddTokens(tokens);
    return false;
  };
  for (const auto& [node, landing] : summary.landings) {
    const StateId state = states_.Enter(landing, next);
    if (state != StatePool::kDead) WalkFrom(vocabulary_->trie(), node, state, add);
  }
  const StateId after = states_.Enter(ExprPool::kEpsilon, next);
  states_.NextBytes(after).ForEach([&](std::uint8_t byte) {
    const Exits& exits = summarizer_.ExitsOf(found, byte);
    if (exits.nodes.empty()) return;
    const StateId state = states_.Step(after, byte);
    if (state == StatePool::kDead) return;
    if (exits.merged) {
      WalkFrom(*exits.merged, Trie::kRoot, state, add);
    } else {
      for (std::uint32_t node : exits.nodes) WalkFrom(vocabulary_->trie(), node, state, add);
    }
  });
}

const Mask& Engine::MaskOf(StateId state) {
  const std::uint32_t key = Raw(states_.ClipForMask(state));
  if (const auto found = masks_.find(key); found != masks_.end()) return found->second;
  states_.CheckMemory();
  Mask mask = MakeMask(StateId{key});
  mask_bytes_ += mask.Bytes();
  while (!mask_order_.empty() && mask_bytes_ > meter_.limits().max_memory_bytes / 4) {
    const auto oldest = masks_.find(mask_order_.front());
    mask_bytes_ -= oldest->second.Bytes();
    masks_.erase(oldest);
    mask_order_.pop_front();
  }
  mask_order_.push_back(key);
  return masks_.emplace(key, std::move(mask)).first->second;
}

Engine::Stats Engine::stats() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return {exprs_.size(),
          states_.size(),
          masks_.size(),
          summarizer_.built(),
          summarizer_.reused(),
          exprs_.MemoryBytes() + deriver_.MemoryBytes() + liveness_.MemoryBytes() +
              first_bytes_.MemoryBytes() + states_.MemoryBytes() + viable_.Bytes() + mask_bytes_ +
              summarizer_.MemoryBytes()};
}

}  // namespace structag
