#include "matcher.h"

#include <algorithm>

namespace structag {

Matcher::Matcher(std::shared_ptr<Engine> engine, std::vector<TokenId> stop_tokens)
    : engine_(std::move(engine)), history_({engine_->start(), false}) {
  std::sort(stop_tokens.begin(), stop_tokens.end());
  stop_tokens_ = std::make_shared<const std::vector<TokenId>>(std::move(stop_tokens));
}

bool Matcher::IsStop(TokenId id) const noexcept {
  return std::binary_search(stop_tokens_->begin(), stop_tokens_->end(), id);
}

Matcher::Entry Matcher::After(Engine::Call& call, Entry entry, TokenId id) const {
  constexpr Entry kRefused{StatePool::kDead, false};
  if (!engine_->vocabulary().IsToken(id)) return kRefused;
  if (!IsStop(id)) {
    if (entry.terminated) return kRefused;
    return {call.AcceptToken(entry.state, id), false};
  }
  if (entry.terminated) return entry;
  if (engine_->ReadsTokens(entry.state)) {
    const StateId next = call.AcceptTokenId(entry.state, id);
    if (next == StatePool::kUnknownState) return {next, false};
    if (next != StatePool::kDead) return {next, engine_->IsComplete(next)};
  }
  return engine_->IsComplete(entry.state) ? Entry{entry.state, true} : kRefused;
}

bool Matcher::Push(Entry entry) {
  if (entry.state == StatePool::kDead) return false;
  history_.push_back(entry);
  return true;
}

bool Matcher::AcceptToken(TokenId id) {
  Engine::Call call(*engine_);
  return Push(After(call, history_.back(), id));
}

std::optional<bool> Matcher::AcceptKnownToken(TokenId id) {
  Engine::Call call(*engine_, Engine::Call::Wait::kNever);
  const Entry next = After(call, history_.back(), id);
  if (next.state == StatePool::kUnknownState) return std::nullopt;
  return Push(next);
}

bool Matcher::AcceptBytes(std::span<const std::uint8_t> bytes) {
  if (bytes.empty()) return true;
  if (history_.back().terminated) return false;
  Engine::Call call(*engine_);
  StateId state = history_.back().state;
  for (std::uint8_t byte : bytes) {
    state = call.Step(state, byte);
    if (state == StatePool::kDead) return false;
  }
  return Push({state, false});
}

std::size_t Matcher::ValidateTokens(std::span<const TokenId> ids) {
  Engine::Call call(*engine_);
  Entry entry = history_.back();
  for (std::size_t i = 0; i < ids.size(); ++i) {
    entry = After(call, entry, ids[i]);
    if (entry.state == StatePool::kDead) return i;
  }
  return ids.size();
}

bool Matcher::FillMask(std::span<std::uint32_t> row) {
  Engine::Call call(*engine_);
  const Entry entry = history_.back();
  const std::size_t words = engine_->vocabulary().MaskWords();
  if (entry.terminated) {
    std::ranges::fill(row, 0u);
  } else {
    call.MaskOf(entry.state).Write(row.data());
    std::fill(row.begin() + static_cast<std::ptrdiff_t>(words), row.end(), 0u);
  }
  for (TokenId id : *stop_tokens_) {
    if (!engine_->vocabulary().IsToken(id)) continue;
    std::uint32_t& word = row[static_cast<std::size_t>(id) / 32];
    const std::uint32_t bit = 1u << (id % 32);
    const bool allowed = After(call, entry, id).state != StatePool::kDead;
    word = allowed ? word | bit : word & ~bit;
  }
  engine_->vocabulary().fill_counter().Count(call.IsSlow());
  const std::size_t size = engine_->vocabulary().size();
  for (std::size_t i = 0; i < size / 32; ++i) {
    if (row[i] != 0xFFFFFFFFu) return true;
  }
  const std::uint32_t last = (1u << (size % 32)) - 1;
  return size % 32 != 0 && (row[size / 32] & last) != last;
}

void Matcher::FillStops(std::span<std::uint32_t> row) const noexcept {
  std::ranges::fill(row, 0u);
  for (TokenId id : *stop_tokens_) {
    if (!engine_->vocabulary().IsToken(id)) continue;
    row[static_cast<std::size_t>(id) / 32] |= 1u << (id % 32);
  }
}

std::int64_t Matcher::MaskId() {
  Engine::Call call(*engine_);
  const Entry entry = history_.back();
  Digest row = entry.terminated ? Digest{} : call.RowDigest(entry.state);
  for (TokenId id : *stop_tokens_) {
    const std::uint32_t allowed = After(call, entry, id).state != StatePool::kDead;
    const std::uint32_t stop[]{static_cast<std::uint32_t>(id), allowed};
    row = row.Then(stop);
  }
  return engine_->vocabulary().row_ids().IdOf(row);
}

bool Matcher::Rollback(std::size_t count) {
  if (count > HistorySize()) return false;
  history_.Cut(history_.size() - count);
  return true;
}

void Matcher::Reset() { history_.Cut(1); }

bool Matcher::IsComplete() const noexcept {
  return !IsTerminated() && engine_->IsComplete(history_.back().state);
}

ByteSet Matcher::AllowedBytes() {
  ByteSet allowed;
  if (IsTerminated()) return allowed;
  Engine::Call call(*engine_);
  const StateId state = history_.back().state;
  call.NextBytes(state).ForEach([&](std::uint8_t byte) {
    if (call.Step(state, byte) != StatePool::kDead) allowed.Add(byte);
  });
  return allowed;
}

std::vector<Expectation> Matcher::Expectations() {
  if (IsTerminated()) return {};
  return Engine::Call(*engine_).Expectations(history_.back().state);
}

std::string Matcher::FindJumpForward() {
  constexpr std::size_t kLongest = 1 << 16;
  std::string text;
  if (IsTerminated()) return text;
  Engine::Call call(*engine_);
  StateId state = history_.back().state;
  std::size_t boundary = 0;
  Utf8State utf8 = kUtf8Start;
  while (text.size() < kLongest && !engine_->IsComplete(state) && !engine_->ReadsTokens(state)) {
    StateId next = StatePool::kDead;
    std::uint8_t forced = 0;
    bool is_forced = true;
    call.NextBytes(state).ForEach([&](std::uint8_t byte) {
      if (!is_forced) return;
      const StateId after = call.Step(state, byte);
      if (after == StatePool::kDead) return;
      is_forced = next == StatePool::kDead;
      next = after;
      forced = byte;
    });
    if (!is_forced || next == StatePool::kDead) break;
    text.push_back(static_cast<char>(forced));
    state = next;
    utf8 = Utf8Step(utf8, forced);
    if (utf8 == kUtf8Reject) break;
    if (utf8 == kUtf8Start) boundary = text.size();
  }
  text.resize(boundary);
  return text;
}

}  // namespace structag
