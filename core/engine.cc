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
      states_(exprs_, deriver_, liveness_, *vocabulary_, meter_),
      summarizer_(exprs_, liveness_, *vocabulary_, meter_, acceleration_) {
  path_.resize(kMostWalkLevels * (vocabulary_->max_depth() + std::size_t{1}));
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

template <class Visit>
bool Engine::WalkTokens(StateId state, Visit visit) {
  const StateId from = states_.Tick(state);
  const std::span<const TrieNode> trie = vocabulary_->trie();
  for (std::uint32_t i = 0; i < trie.size(); i = trie[i].subtree_end) {
    const StateId next = states_.Step(from, trie[i].byte);
    if (next != StatePool::kDead && WalkBelow(i, next, visit)) return true;
  }
  return false;
}

template <class Visit>
bool Engine::WalkBelow(std::uint32_t node, StateId entry, Visit visit) {
  const std::span<const TrieNode> trie = vocabulary_->trie();
  const std::uint32_t end = trie[node].subtree_end;
  StateId* const path = path_.data() + walk_level_ * (vocabulary_->max_depth() + std::size_t{1});
  path[trie[node].depth] = entry;
  const auto visit_node = [&](const TrieNode& at, StateId state) {
    return at.token_count > 0 && visit(vocabulary_->NodeTokens(at), state);
  };
  if (visit_node(trie[node], entry)) return true;
  for (std::uint32_t i = node + 1; i < end;) {
    const TrieNode& at = trie[i];
    meter_.Charge(1);
    const StateId next = states_.Step(path[at.depth - 1], at.byte);
    if (next == StatePool::kDead) {
      i = at.subtree_end;
      continue;
    }
    path[at.depth] = next;
    if (visit_node(at, next)) return true;
    ++i;
  }
  return false;
}

bool Engine::HasToken(StateId state) {
  // May be asked in the middle of a walk, which keeps its own path.
  struct Level {
    explicit Level(std::size_t& level) : level_(level) { ++level_; }
    ~Level() { --level_; }
    std::size_t& level_;
  } const level(walk_level_);
  for (const StatePool::TokenEdge& edge : states_.TokenEdges(states_.Tick(state))) {
    if (edge.next == StatePool::kDead && !states_.IsComplete(edge.next)) continue;
    const bool any = std::ranges::any_of(*edge.ids, [](std::uint32_t w) { return w != 0; });
    if (any && LeavesBudgets(edge.next)) return true;
  }
  return WalkTokens(state,
                    [&](std::span<const TokenId>, StateId next) { return LeavesBudgets(next); });
}

// Whether some tokens lead out of every budget's region before the budget is used up.  Only inside
// of a character that is a question, so this calls itself three times at the most
// (kMostWalkLevels).
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

void Engine::FillMask(StateId state, std::uint32_t* bits) {
  for (const StatePool::TokenEdge& edge : states_.TokenEdges(states_.Tick(state))) {
    if (!IsViable(edge.next)) continue;
    for (std::size_t i = 0; i < edge.ids->size(); ++i) bits[i] |= (*edge.ids)[i];
  }
  // A summary knows nothing of budgets and of bytes that no token spells.
  if (looks_ahead_ || states_.HasBudget(state) || !acceleration_.is_on) return AddWalk(state, bits);
  std::vector<Term> narrow;
  for (std::size_t i = 0; i < states_.TermCount(state); ++i) {
    const Term term = states_.TermAt(state, i);
    const Summary* summary = states_.IsUnit(term.head) ? summarizer_.Find(term.head) : nullptr;
    if (summary) {
      AddSummarized(*summary, term.next, bits);
    } else {
      narrow.push_back(term);
    }
  }
  if (narrow.size() == states_.TermCount(state)) return AddWalk(state, bits);
  if (!narrow.empty()) AddWalk(states_.Of(narrow), bits);
}

void Engine::AddWalk(StateId state, std::uint32_t* bits) {
  WalkTokens(state, [&](std::span<const TokenId> tokens, StateId next) {
    if (IsViable(next)) {
      for (TokenId id : tokens) bits[static_cast<std::size_t>(id) / 32] |= 1u << (id % 32);
    }
    return false;
  });
}

void Engine::AddSummarized(const Summary& summary, ContinuationId next, std::uint32_t* bits) {
  const std::span<const TrieNode> trie = vocabulary_->trie();
  for (std::size_t i = 0; i < summary.inside.size(); ++i) bits[i] |= summary.inside[i];
  const auto add = [&](std::span<const TokenId> tokens, StateId) {
    for (TokenId id : tokens) bits[static_cast<std::size_t>(id) / 32] |= 1u << (id % 32);
    return false;
  };
  for (const auto& [node, landing] : summary.landings) {
    const StateId state = states_.Enter(landing, next);
    if (state != StatePool::kDead) WalkBelow(node, state, add);
  }
  const StateId after = states_.Enter(ExprPool::kEpsilon, next);
  if (summary.few) {
    for (std::uint32_t node : summary.exit_list) {
      const StateId state = states_.Step(after, trie[node].byte);
      if (state != StatePool::kDead) WalkBelow(node, state, add);
    }
    return;
  }
  for (unsigned b = 0; b < 256; ++b) {
    const std::uint8_t byte = static_cast<std::uint8_t>(b);
    const StateId state = states_.Step(after, byte);
    if (state == StatePool::kDead) continue;
    const std::span<const std::uint32_t> nodes = vocabulary_->NodesOf(byte);
    meter_.Charge(nodes.size());
    for (std::uint32_t node : nodes) {
      if (summary.HasExit(node)) WalkBelow(node, state, add);
    }
  }
}

const std::uint32_t* Engine::Mask(StateId state) {
  const std::uint32_t key = Raw(states_.ClipForMask(state));
  if (const auto found = masks_.find(key); found != masks_.end()) return found->second.get();
  states_.CheckMemory();
  const std::size_t words = vocabulary_->MaskWords();
  auto bits = std::make_unique<std::uint32_t[]>(words);
  FillMask(StateId{key}, bits.get());
  const std::uint64_t most = meter_.limits().max_memory_bytes / 4;
  while (!mask_order_.empty() && (masks_.size() + 1) * words * sizeof(std::uint32_t) > most) {
    masks_.erase(mask_order_.front());
    mask_order_.pop_front();
  }
  mask_order_.push_back(key);
  return masks_.emplace(key, std::move(bits)).first->second.get();
}

Engine::Stats Engine::stats() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  const std::size_t mask_bytes = masks_.size() * vocabulary_->MaskWords() * sizeof(std::uint32_t);
  return {exprs_.size(),
          states_.size(),
          masks_.size(),
          summarizer_.built(),
          summarizer_.reused(),
          exprs_.MemoryBytes() + deriver_.MemoryBytes() + liveness_.MemoryBytes() +
              states_.MemoryBytes() + viable_.Bytes() + mask_bytes + summarizer_.MemoryBytes()};
}

}  // namespace structag
