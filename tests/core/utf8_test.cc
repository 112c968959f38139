// Test utf8.cc against the definition: every code point, every short byte string.

#include "text/utf8.h"

#include "check.h"

namespace structag {
namespace {

bool IsValid(const std::uint8_t* bytes, std::uint32_t size) {
  Utf8State state = kUtf8Start;
  for (std::uint32_t i = 0; i < size && state != kUtf8Reject; ++i)
    state = Utf8Step(state, bytes[i]);
  return state == kUtf8Start;
}

void TestEveryScalarValueIsValidAndMissesWhatItShould() {
  for (std::uint32_t c = 0; c <= 0x10FFFF; ++c) {
    std::uint8_t bytes[4];
    const std::uint32_t size = EncodeUtf8(c, bytes);
    const bool is_surrogate = c >= 0xD800 && c <= 0xDFFF;
    CHECK(IsValid(bytes, size) == !is_surrogate);
    if (is_surrogate) continue;
    Utf8State state = kUtf8Start;
    for (std::uint32_t i = 0; i < size; ++i) {
      state = Utf8Step(state, bytes[i]);
      CHECK(Utf8Missing(state) == size - 1 - i);
    }
  }
}

void TestNothingLeavesTheRejectingState() {
  for (unsigned b = 0; b < 256; ++b) {
    CHECK(Utf8Step(kUtf8Reject, static_cast<std::uint8_t>(b)) == kUtf8Reject);
  }
}

void TestAsManyTwoByteStringsAreValidAsThereAreOfThem() {
  int valid = 0;
  for (unsigned a = 0; a < 256; ++a) {
    for (unsigned b = 0; b < 256; ++b) {
      const std::uint8_t bytes[2] = {static_cast<std::uint8_t>(a), static_cast<std::uint8_t>(b)};
      valid += IsValid(bytes, 2) ? 1 : 0;
    }
  }
  CHECK(valid == 128 * 128 + (0x800 - 0x80));
}

void TestSequencesSpellExactlyTheRange() {
  const std::uint32_t edges[] = {0,      1,      0x7F,   0x80,   0x7FF,   0x800,   0xFFF,
                                 0x1000, 0xD7FF, 0xE000, 0xFFFF, 0x10000, 0x3FFFF, 0x10FFFF};
  for (std::uint32_t low : edges) {
    for (std::uint32_t high : edges) {
      if (low > high) continue;
      std::uint64_t count = 0;
      for (const Utf8Sequence& s : Utf8Sequences(low, high)) {
        std::uint64_t product = 1;
        for (std::uint32_t i = 0; i < s.size; ++i)
          product *= s.ranges[i].high - s.ranges[i].low + 1u;
        count += product;
      }
      const std::uint64_t surrogates = low <= 0xD7FF && high >= 0xE000 ? 0x800 : 0;
      CHECK(count == high - low + 1 - surrogates);
    }
  }
}

}  // namespace
}  // namespace structag

int main() {
  structag::TestEveryScalarValueIsValidAndMissesWhatItShould();
  structag::TestNothingLeavesTheRejectingState();
  structag::TestAsManyTwoByteStringsAreValidAsThereAreOfThem();
  structag::TestSequencesSpellExactlyTheRange();
}
