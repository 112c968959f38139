#include "matching/matcher.h"

#include <algorithm>

namespace structag {

Matcher::Matcher(std::shared_ptr<Generations> grammar, std::vector<TokenId> stop_tokens)
    : grammar_(std::move(grammar)), engine_(grammar_->Newest()), record_(engine_->start()) {
  std::sort(stop_tokens.begin(), stop_tokens.end());
  stop_tokens_ = std::make_shared<const std::vector<TokenId>>(std::move(stop_tokens));
}

void Matcher::Renew(StateId* also) {
  if (!engine_->IsFull()) return;
  std::shared_ptr<Engine> newest = grammar_->Newest();
  if (newest == engine_) return;
  const std::span<const Entry> recent = record_.recent();
  const std::span<const Entry> kept = recent.last(std::min(Record::kKept, recent.size()));
  std::vector<StateId> states;
  for (const Entry& entry : kept) states.push_back(entry.state);
  if (also) states.push_back(*also);
  newest->Adopt(*engine_, states);
  if (also) *also = states.back();
  std::vector<Entry> entries;
  for (std::size_t i = 0; i < kept.size(); ++i) entries.push_back({states[i], kept[i].terminated});
  record_.SetRecent(std::move(entries));
  engine_ = std::move(newest);
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

bool Matcher::Push(TokenId id, Entry entry) {
  if (entry.state == StatePool::kDead) return false;
  record_.PushToken(id, entry);
  return true;
}

bool Matcher::AcceptToken(TokenId id) {
  Renew();
  Engine::Call call(*engine_);
  return Push(id, After(call, record_.last(), id));
}

std::optional<bool> Matcher::AcceptKnownToken(TokenId id) {
  if (engine_->IsFull()) return std::nullopt;
  Engine::Call call(*engine_, Engine::Call::Wait::kNever);
  const Entry next = After(call, record_.last(), id);
  if (next.state == StatePool::kUnknownState) return std::nullopt;
  return Push(id, next);
}

bool Matcher::AcceptBytes(std::span<const std::uint8_t> bytes) {
  if (bytes.empty()) return true;
  if (record_.last().terminated) return false;
  constexpr std::size_t kPiece = 4096;  // after so many bytes others may call, too
  StateId state = record_.last().state;
  std::uint64_t work = 0;
  for (std::size_t at = 0; at < bytes.size(); at += kPiece) {
    Deadline::Check();
    Interrupt::Check();
    Renew(&state);
    Engine::Call call(*engine_, Engine::Call::Wait::kAsNeeded, work);
    for (std::uint8_t byte : bytes.subspan(at, std::min(kPiece, bytes.size() - at))) {
      state = call.Step(state, byte);
      if (state == StatePool::kDead) return false;
    }
    work = call.work();
  }
  record_.PushBytes(bytes, {state, false});
  return true;
}

std::size_t Matcher::ValidateTokens(std::span<const TokenId> ids) {
  Renew();
  Engine::Call call(*engine_);
  Entry entry = record_.last();
  for (std::size_t i = 0; i < ids.size(); ++i) {
    entry = After(call, entry, ids[i]);
    if (entry.state == StatePool::kDead) return i;
  }
  return ids.size();
}

bool Matcher::FillMask(std::span<std::uint32_t> row) {
  Renew();
  Engine::Call call(*engine_);
  const Entry entry = record_.last();
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
  Renew();
  Engine::Call call(*engine_);
  const Entry entry = record_.last();
  Digest row = entry.terminated ? Digest{} : call.RowDigest(entry.state);
  for (TokenId id : *stop_tokens_) {
    const std::uint32_t allowed = After(call, entry, id).state != StatePool::kDead;
    const std::uint32_t stop[]{static_cast<std::uint32_t>(id), allowed};
    row = row.Then(stop);
  }
  return engine_->vocabulary().row_ids().IdOf(row);
}

bool Matcher::Rollback(std::size_t count) {
  if (count > record_.size()) return false;
  if (record_.Pop(count)) return true;
  Matcher again(grammar_, *stop_tokens_);
  record_.ForEachInput(
      record_.size() - count, [&](TokenId id) { again.AcceptToken(id); },
      [&](std::span<const std::uint8_t> bytes) { again.AcceptBytes(bytes); });
  *this = std::move(again);
  return true;
}

void Matcher::Reset() { record_.Reset(engine_->start()); }

bool Matcher::IsComplete() const noexcept {
  return !IsTerminated() && engine_->IsComplete(record_.last().state);
}

ByteSet Matcher::AllowedBytes() {
  ByteSet allowed;
  if (IsTerminated()) return allowed;
  Renew();
  Engine::Call call(*engine_);
  const StateId state = record_.last().state;
  call.NextBytes(state).ForEach([&](std::uint8_t byte) {
    if (call.Step(state, byte) != StatePool::kDead) allowed.Add(byte);
  });
  return allowed;
}

std::vector<Expectation> Matcher::Expectations() {
  if (IsTerminated()) return {};
  Renew();
  return Engine::Call(*engine_).Expectations(record_.last().state);
}

std::string Matcher::FindJumpForward() {
  constexpr std::size_t kLongest = 1 << 16;
  std::string text;
  if (IsTerminated()) return text;
  Renew();
  Engine::Call call(*engine_);
  StateId state = record_.last().state;
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
