#include "text/utf8.h"

#include <algorithm>

namespace structag {
namespace {

// States: 1–3 = that many continuation bytes to come; 4 after E0, 5 after ED, 6 after F0, 7 after
// F4.
constexpr Utf8State StepFrom(Utf8State state, unsigned b) {
  const auto between = [b](unsigned low, unsigned high) { return b >= low && b <= high; };
  switch (state) {
    case 0:
      if (b < 0x80) return 0;
      if (between(0xC2, 0xDF)) return 1;
      if (b == 0xE0) return 4;
      if (b == 0xED) return 5;
      if (between(0xE1, 0xEF)) return 2;
      if (b == 0xF0) return 6;
      if (b == 0xF4) return 7;
      return between(0xF1, 0xF3) ? 3 : kUtf8Reject;
    case 1: return between(0x80, 0xBF) ? 0 : kUtf8Reject;
    case 2: return between(0x80, 0xBF) ? 1 : kUtf8Reject;
    case 3: return between(0x80, 0xBF) ? 2 : kUtf8Reject;
    case 4: return between(0xA0, 0xBF) ? 1 : kUtf8Reject;
    case 5: return between(0x80, 0x9F) ? 1 : kUtf8Reject;
    case 6: return between(0x90, 0xBF) ? 2 : kUtf8Reject;
    case 7: return between(0x80, 0x8F) ? 2 : kUtf8Reject;
    default: return kUtf8Reject;
  }
}

constexpr auto MakeTable() {
  std::array<std::array<std::uint8_t, 256>, kUtf8StateCount + 1> table{};
  for (Utf8State s = 0; s <= kUtf8Reject; ++s) {
    for (unsigned b = 0; b < 256; ++b) table[s][b] = static_cast<std::uint8_t>(StepFrom(s, b));
  }
  return table;
}
constexpr auto kTable = MakeTable();

constexpr ByteSet MakeBytes() {
  ByteSet set;
  for (unsigned b = 0; b < 256; ++b) {
    for (Utf8State s = 0; s < kUtf8StateCount; ++s) {
      if (kTable[s][b] != kUtf8Reject) set.Add(static_cast<std::uint8_t>(b));
    }
  }
  return set;
}
constexpr ByteSet kBytes = MakeBytes();

// Splits [low, high], all of one encoded length, so that every byte position is one range.
void Split(std::uint32_t low, std::uint32_t high, std::vector<Utf8Sequence>& out) {
  std::array<std::uint8_t, 4> first{}, last{};
  const std::uint32_t size = EncodeUtf8(low, first.data());
  EncodeUtf8(high, last.data());
  for (std::uint32_t tail = 1; tail < size; ++tail) {  // the lowest `tail` bytes must span 80–BF
    const std::uint32_t mask = (1u << (6 * tail)) - 1;
    if ((low & ~mask) == (high & ~mask)) continue;
    if ((low & mask) != 0) {
      Split(low, low | mask, out);
      Split((low | mask) + 1, high, out);
      return;
    }
    if ((high & mask) != mask) {
      Split(low, (high & ~mask) - 1, out);
      Split(high & ~mask, high, out);
      return;
    }
  }
  Utf8Sequence sequence{};
  sequence.size = size;
  for (std::uint32_t i = 0; i < size; ++i) sequence.ranges[i] = {first[i], last[i]};
  out.push_back(sequence);
}

}  // namespace

Utf8State Utf8Step(Utf8State state, std::uint8_t byte) noexcept { return kTable[state][byte]; }

bool IsUtf8(std::string_view text) noexcept {
  Utf8State state = kUtf8Start;
  for (char c : text) {
    state = Utf8Step(state, static_cast<std::uint8_t>(c));
    if (state == kUtf8Reject) return false;
  }
  return state == kUtf8Start;
}

std::uint32_t Utf8Missing(Utf8State state) noexcept {
  constexpr std::array<std::uint32_t, kUtf8StateCount> kMissing{0, 1, 2, 3, 2, 2, 3, 3};
  return kMissing[state];
}

const ByteSet& Utf8Alike(Utf8State state, std::uint8_t byte) noexcept {
  using Row = std::array<ByteSet, kUtf8StateCount + 1>;  // by target
  static const std::array<Row, kUtf8StateCount> table = [] {
    std::array<Row, kUtf8StateCount> sets{};
    for (Utf8State from = 0; from < kUtf8StateCount; ++from) {
      for (unsigned b = 0; b < 256; ++b) {
        sets[from][Utf8Step(from, static_cast<std::uint8_t>(b))].Add(static_cast<std::uint8_t>(b));
      }
    }
    return sets;
  }();
  return table[state][Utf8Step(state, byte)];
}

const ByteSet& Utf8Next(Utf8State state) noexcept {
  static const std::array<ByteSet, kUtf8StateCount> table = [] {
    std::array<ByteSet, kUtf8StateCount> sets{};
    for (Utf8State from = 0; from < kUtf8StateCount; ++from) {
      for (unsigned b = 0; b < 256; ++b) {
        const std::uint8_t byte = static_cast<std::uint8_t>(b);
        if (Utf8Step(from, byte) != kUtf8Reject) sets[from].Add(byte);
      }
    }
    return sets;
  }();
  return table[state];
}

const ByteSet& Utf8Bytes() noexcept { return kBytes; }

std::vector<Utf8Sequence> Utf8Sequences(std::uint32_t low, std::uint32_t high) {
  constexpr std::array<std::array<std::uint32_t, 2>, 5> kBlocks{
      {{0, 0x7F}, {0x80, 0x7FF}, {0x800, 0xD7FF}, {0xE000, 0xFFFF}, {0x10000, 0x10FFFF}}};
  std::vector<Utf8Sequence> out;
  for (const auto& [base, top] : kBlocks) {
    const std::uint32_t from = std::max(low, base);
    const std::uint32_t to = std::min(high, top);
    if (from <= to) Split(from, to, out);
  }
  return out;
}

std::uint32_t EncodeUtf8(std::uint32_t c, std::uint8_t* out) noexcept {
  const auto tail = [c](unsigned shift) {
    return static_cast<std::uint8_t>(0x80 | ((c >> shift) & 0x3F));
  };
  if (c < 0x80) {
    out[0] = static_cast<std::uint8_t>(c);
    return 1;
  }
  if (c < 0x800) {
    out[0] = static_cast<std::uint8_t>(0xC0 | (c >> 6));
    out[1] = tail(0);
    return 2;
  }
  if (c < 0x10000) {
    out[0] = static_cast<std::uint8_t>(0xE0 | (c >> 12));
    out[1] = tail(6);
    out[2] = tail(0);
    return 3;
  }
  out[0] = static_cast<std::uint8_t>(0xF0 | (c >> 18));
  out[1] = tail(12);
  out[2] = tail(6);
  out[3] = tail(0);
  return 4;
}

}  // namespace structag
