// UTF-8 as an automaton of eight states (Unicode 15, table 3-7), and code points as byte ranges.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "storage/byte_set.h"

namespace structag {

using Utf8State = std::uint32_t;
inline constexpr Utf8State kUtf8Start = 0;  // between characters: the accepting state
inline constexpr Utf8State kUtf8Reject = 8;
inline constexpr Utf8State kUtf8StateCount = 8;
inline constexpr std::uint32_t kUtf8Longest = 4;  // bytes of a character

// The state after `byte`, or kUtf8Reject, which nothing leaves.
Utf8State Utf8Step(Utf8State state, std::uint8_t byte) noexcept;
// Whether all of `text` is valid UTF-8.
bool IsUtf8(std::string_view text) noexcept;
// How many bytes are missing until the character is complete.
std::uint32_t Utf8Missing(Utf8State state) noexcept;
// The bytes that Utf8Step takes at `state`.
const ByteSet& Utf8Next(Utf8State state) noexcept;
// The bytes that Utf8Step takes to the same state as `byte`.
const ByteSet& Utf8Alike(Utf8State state, std::uint8_t byte) noexcept;
// Every byte that occurs in valid UTF-8.
const ByteSet& Utf8Bytes() noexcept;

struct ByteRange {
  std::uint8_t low;
  std::uint8_t high;
};
struct Utf8Sequence {
  std::array<ByteRange, 4> ranges;
  std::uint32_t size;
};
// Byte range sequences that spell exactly the scalar values of [low, high]; surrogates drop out.
std::vector<Utf8Sequence> Utf8Sequences(std::uint32_t low, std::uint32_t high);

// Writes the UTF-8 of a scalar value to out[0..3]; returns its length.
std::uint32_t EncodeUtf8(std::uint32_t code_point, std::uint8_t* out) noexcept;

}  // namespace structag
