// A set of byte values: 256 bits.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

namespace structag {

struct ByteSet {
  std::array<std::uint64_t, 4> words{};

  constexpr bool Has(std::uint8_t b) const noexcept { return (words[b >> 6] >> (b & 63)) & 1; }
  constexpr void Add(std::uint8_t b) noexcept { words[b >> 6] |= std::uint64_t{1} << (b & 63); }
  constexpr void Remove(std::uint8_t b) noexcept {
    words[b >> 6] &= ~(std::uint64_t{1} << (b & 63));
  }
  constexpr void AddRange(unsigned low, unsigned high) noexcept {
    for (unsigned b = low; b <= high; ++b) Add(static_cast<std::uint8_t>(b));
  }
  constexpr void Unite(const ByteSet& other) noexcept {
    for (std::size_t i = 0; i < 4; ++i) words[i] |= other.words[i];
  }
  constexpr void Intersect(const ByteSet& other) noexcept {
    for (std::size_t i = 0; i < 4; ++i) words[i] &= other.words[i];
  }
  constexpr void Subtract(const ByteSet& other) noexcept {
    for (std::size_t i = 0; i < 4; ++i) words[i] &= ~other.words[i];
  }
  constexpr bool Intersects(const ByteSet& other) const noexcept {
    std::uint64_t any = 0;
    for (std::size_t i = 0; i < 4; ++i) any |= words[i] & other.words[i];
    return any != 0;
  }
  constexpr bool IsEmpty() const noexcept {
    return (words[0] | words[1] | words[2] | words[3]) == 0;
  }
  constexpr int Count() const noexcept {
    int n = 0;
    for (std::uint64_t w : words) n += std::popcount(w);
    return n;
  }
  friend constexpr bool operator==(const ByteSet&, const ByteSet&) = default;

  // Calls visit(byte) for every member, in ascending order.
  template <class Visit>
  constexpr void ForEach(Visit visit) const {
    for (std::size_t i = 0; i < 4; ++i) {
      for (std::uint64_t w = words[i]; w != 0; w &= w - 1) {
        visit(static_cast<std::uint8_t>(i * 64 + static_cast<std::size_t>(std::countr_zero(w))));
      }
    }
  }
};

}  // namespace structag
