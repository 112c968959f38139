#include "matching/record.h"

namespace structag {

void Record::Push(std::int32_t input, Entry after) {
  if (recent_.size() == kMostRecent) recent_.erase(recent_.begin(), recent_.begin() + kKept);
  recent_.push_back(after);
  inputs_.push_back(input);
}

void Record::PushToken(TokenId id, Entry after) { Push(id, after); }

void Record::PushBytes(std::span<const std::uint8_t> bytes, Entry after) {
  for (std::uint8_t byte : bytes) text_.push_back(byte);
  Push(static_cast<std::int32_t>(-static_cast<std::int64_t>(bytes.size())), after);
}

bool Record::Pop(std::size_t count) {
  if (count >= recent_.size()) return false;
  std::size_t text_left = text_.size();
  for (std::size_t i = 0; i < count; ++i) {
    if (inputs_.back() < 0) text_left -= BytesOf(inputs_.back());
    inputs_.Cut(inputs_.size() - 1);
  }
  text_.Cut(text_left);
  recent_.resize(recent_.size() - count);
  return true;
}

void Record::Reset(StateId start) {
  inputs_.Cut(1);
  text_.Cut(1);
  recent_.assign(1, {start, false});
}

}  // namespace structag
