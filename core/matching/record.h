// What a matcher has accepted: every input, and the states that the latest of them led to.  Earlier
// states are found again from the inputs, so that a long output costs four bytes for each token.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "matching/history.h"
#include "storage/ids.h"

namespace structag {

class Record {
 public:
  struct Entry {
    StateId state;
    bool terminated;
  };

  // At least so many of the latest states are kept: taking back fewer inputs finds nothing again.
  static constexpr std::size_t kKept = 1 << 10;

  explicit Record(StateId start) : recent_{{start, false}} {}

  const Entry& last() const noexcept { return recent_.back(); }
  std::size_t size() const noexcept { return inputs_.size() - 1; }  // inputs, not states

  void PushToken(TokenId id, Entry after);
  void PushBytes(std::span<const std::uint8_t> bytes, Entry after);
  // Drops the last `count` inputs; false, and nothing changes, if the state before is not kept.
  bool Pop(std::size_t count);
  void Reset(StateId start);

  // The latest entries, last one last; earlier ones may be dropped.
  std::span<const Entry> recent() const noexcept { return recent_; }
  void SetRecent(std::vector<Entry> recent) noexcept { recent_ = std::move(recent); }

  // Calls token(id) or bytes(span) for the first `count` inputs.
  template <class Token, class Bytes>
  void ForEachInput(std::size_t count, Token token, Bytes bytes) const {
    std::size_t size = 1;
    inputs_.ForEach(count + 1, [&](std::int32_t input) { size += input < 0 ? BytesOf(input) : 0; });
    std::vector<std::uint8_t> all;
    all.reserve(size);
    text_.ForEach(size, [&](std::uint8_t byte) { all.push_back(byte); });
    const std::uint8_t* text = all.data();
    bool is_start = true;
    inputs_.ForEach(count + 1, [&](std::int32_t input) {
      if (std::exchange(is_start, false)) {
        ++text;
      } else if (input >= 0) {
        token(TokenId{input});
      } else {
        bytes(std::span(text, BytesOf(input)));
        text += BytesOf(input);
      }
    });
  }

 private:
  static constexpr std::size_t kMostRecent = 2 * kKept;
  static std::size_t BytesOf(std::int32_t input) noexcept {
    return static_cast<std::size_t>(-std::int64_t{input});
  }
  void Push(std::int32_t input, Entry after);

  // Each begins with a 0 that means nothing.
  History<std::int32_t> inputs_{0};  // a token, or minus the number of bytes
  History<std::uint8_t> text_{0};    // the bytes of all inputs that are no tokens
  std::vector<Entry> recent_;        // after the latest inputs, or the start; never empty
};

}  // namespace structag
