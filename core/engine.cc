#include "engine.h"

#include <algorithm>

namespace structag {

Engine::Engine(std::shared_ptr<const Vocabulary> vocabulary, std::span<const std::int32_t> program,
               std::string_view text, const Limits& limits)
    : vocabulary_(std::move(vocabulary)),
      meter_(limits),
      exprs_(meter_),
      deriver_(exprs_, meter_),
      liveness_(exprs_, deriver_, meter_),
      states_(exprs_, deriver_, liveness_, *vocabulary_, meter_) {
  const ExprId root = ReadProgram(program, text, exprs_, deriver_, meter_);
  FindNeededBytes();
  AnalyzeGrammar(exprs_, deriver_, liveness_, meter_);
  start_ = states_.Start(root);
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
  std::vector<StateId> path(vocabulary_->max_depth() + 1);
  path[0] = from;
  for (std::uint32_t i = 0; i < trie.size();) {
    const TrieNode& node = trie[i];
    meter_.Charge(1);
    const StateId next = states_.Step(path[node.depth - 1], node.byte);
    if (next == StatePool::kDead) {
      i = node.subtree_end;
      continue;
    }
    path[node.depth] = next;
    if (node.token_count > 0 && visit(vocabulary_->NodeTokens(node), next)) return true;
    ++i;
  }
  return false;
}

bool Engine::HasToken(StateId state) {
  for (const StatePool::TokenEdge& edge : states_.TokenEdges(states_.Tick(state))) {
    if (edge.next == StatePool::kDead && !states_.IsComplete(edge.next)) continue;
    const bool any = std::ranges::any_of(*edge.ids, [](std::uint32_t w) { return w != 0; });
    if (any && LeavesBudgets(edge.next)) return true;
  }
  return WalkTokens(state, [&](std::span<const TokenId>, StateId next) { return LeavesBudgets(next); });
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

void Engine::FillMask(StateId state, std::uint32_t* bits) {
  for (const StatePool::TokenEdge& edge : states_.TokenEdges(states_.Tick(state))) {
    if (!IsViable(edge.next)) continue;
    for (std::size_t i = 0; i < edge.ids->size(); ++i) bits[i] |= (*edge.ids)[i];
  }
  WalkTokens(state, [&](std::span<const TokenId> tokens, StateId next) {
    if (IsViable(next)) {
      for (TokenId id : tokens) bits[static_cast<std::size_t>(id) / 32] |= 1u << (id % 32);
    }
    return false;
  });
}

const std::uint32_t* Engine::Mask(StateId state) {
  const std::uint32_t key = Raw(states_.ClipForMask(state));
  if (const auto found = masks_.find(key); found != masks_.end()) return found->second.get();
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
  return {exprs_.size(), states_.size(), masks_.size(),
          exprs_.MemoryBytes() + deriver_.MemoryBytes() + liveness_.MemoryBytes() +
              states_.MemoryBytes() + viable_.Bytes() + mask_bytes};
}

}  // namespace structag
