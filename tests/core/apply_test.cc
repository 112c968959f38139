// Test apply.cc: every kernel against a bit-by-bit reference.

#include "apply/apply.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <vector>

namespace structag {
namespace {

void Check(bool holds, const char* claim, int line) {
  if (!holds) {
    std::fprintf(stderr, "apply_test.cc:%d: not true: %s\n", line, claim);
    std::exit(1);
  }
}
#define CHECK(claim) Check((claim), #claim, __LINE__)

uint32_t InfinityBits(LogitType type) {
  switch (type) {
    case LogitType::kFloat16: return 0xFC00;
    case LogitType::kBFloat16: return 0xFF80;
    case LogitType::kFloat32: break;
  }
  return 0xFF800000;
}

void WriteLogit(std::vector<unsigned char>& logits, LogitType type, size_t index, uint32_t bits) {
  if (LogitBytes(type) == sizeof(uint32_t)) {
    std::memcpy(&logits[index * sizeof(uint32_t)], &bits, sizeof(uint32_t));
  } else {
    const auto narrow = static_cast<uint16_t>(bits);
    std::memcpy(&logits[index * sizeof(uint16_t)], &narrow, sizeof(uint16_t));
  }
}

enum class Pattern { kEmpty, kFull, kSparse, kDense, kHalf, kRagged };

int32_t MaskWord(Pattern pattern, std::mt19937& random) {
  const auto bits = static_cast<int32_t>(random());
  const auto one = static_cast<int32_t>(1U << (random() % 32));
  switch (pattern) {
    case Pattern::kEmpty: return 0;
    case Pattern::kFull: return -1;
    case Pattern::kSparse: return random() % 8 == 0 ? one : 0;
    case Pattern::kDense: return random() % 8 == 0 ? ~one : -1;
    case Pattern::kHalf: return bits;
    case Pattern::kRagged: break;
  }
  const auto choice = random() % 3;
  return choice == 0 ? 0 : choice == 1 ? -1 : bits;
}

struct Shape {
  size_t width;
  size_t word_count;
};

// Three rows with a gap between them that must stay untouched; the middle row is left out.
void TestAgainstReference(LogitType type, ApplyKernel kernel, Pattern pattern, Shape shape) {
  std::mt19937 random(static_cast<unsigned>(shape.width * 31 + shape.word_count));
  const size_t stride = shape.width + 5;
  const size_t mask_stride = shape.word_count + 2;
  std::vector<unsigned char> logits(3 * stride * LogitBytes(type));
  for (auto& byte : logits) {
    byte = static_cast<unsigned char>(random());
  }
  std::vector<int32_t> masks(3 * mask_stride);
  for (auto& word : masks) {
    word = MaskWord(pattern, random);
  }
  std::vector<unsigned char> expected = logits;
  const std::vector<int64_t> rows{2, 0};
  for (const int64_t row : rows) {
    const auto index = static_cast<size_t>(row);
    for (size_t token = 0; token < shape.width; ++token) {
      const size_t word = token / 32;
      const bool is_allowed =
          word < shape.word_count &&
          ((static_cast<uint32_t>(masks[index * mask_stride + word]) >> (token % 32)) & 1U) != 0;
      if (!is_allowed) {
        WriteLogit(expected, type, index * stride + token, InfinityBits(type));
      }
    }
  }
  const LogitRows logit_rows{logits.data(), type, 3, shape.width, static_cast<ptrdiff_t>(stride)};
  const MaskRows mask_rows{masks.data(), 3, shape.word_count, static_cast<ptrdiff_t>(mask_stride)};
  const ApplyOptions options{.rows = rows, .kernel = kernel};
  CHECK(!CheckApply(logit_rows, mask_rows, options).has_value());
  ApplyTokenBitmask(logit_rows, mask_rows, options);
  CHECK(logits == expected);
}

// Enough rows that threads are started (at the latest where sanitizers make them slow), every other
// one named, some twice.
void TestThreadsWriteWhatOneThreadWrites() {
  constexpr size_t kRows = 400;
  constexpr size_t kWidth = 100'000;
  constexpr size_t kWords = kWidth / 32;
  std::mt19937 random(7);
  std::vector<int32_t> masks(kRows * kWords);
  for (auto& word : masks) {
    word = MaskWord(Pattern::kRagged, random);
  }
  std::vector<uint16_t> alone(kRows * kWidth, 1);
  std::vector<uint16_t> together = alone;
  std::vector<int64_t> rows;
  for (size_t row = 0; row < kRows; row += 2) {
    rows.insert(rows.end(), {static_cast<int64_t>(row), 4});
  }
  const MaskRows mask_rows{masks.data(), kRows, kWords, kWords};
  ApplyTokenBitmask(LogitRows{alone.data(), LogitType::kFloat16, kRows, kWidth, kWidth}, mask_rows,
                    ApplyOptions{.rows = rows});
  ApplyTokenBitmask(LogitRows{together.data(), LogitType::kFloat16, kRows, kWidth, kWidth},
                    mask_rows, ApplyOptions{.rows = rows, .max_threads = 5});
  CHECK(alone == together);
  CHECK(std::count(alone.begin() + kWidth, alone.begin() + 2 * kWidth, 1) == kWidth);
}

void TestTokenMap() {
  const std::vector<int32_t> mask{0b1010, 1};
  const std::vector<int64_t> wide{1, 0, 63, 32, 64, -1, 3, int64_t{1} << 40};
  const std::vector<int32_t> narrow{1, 0, 63, 32, 64, -1, 3, 1 << 30};
  const MaskRows masks{mask.data(), 1, 2, 2};
  for (const TokenMap map : {TokenMap{wide.data(), 8, true}, TokenMap{narrow.data(), 8, false}}) {
    std::vector<uint32_t> logits(8, 5);
    const LogitRows rows{logits.data(), LogitType::kFloat32, 1, 8, 8};
    const ApplyOptions options{.token_map = map};
    CHECK(!CheckApply(rows, masks, options).has_value());
    ApplyTokenBitmask(rows, masks, options);
    for (size_t i = 0; i < 8; ++i) {
      CHECK(logits[i] == (i == 0 || i == 3 || i == 6 ? 5U : 0xFF800000U));
    }
  }
  const LogitRows wider{nullptr, LogitType::kFloat32, 1, 9, 9};
  CHECK(CheckApply(wider, masks, {.token_map = TokenMap{wide.data(), 8, true}})->given ==
        "the token map has 8 tokens");
}

void TestAllKernels() {
  std::vector<ApplyKernel> kernels{ApplyKernel::kPortable};
  if (BestApplyKernel() != ApplyKernel::kPortable) {
    kernels.push_back(BestApplyKernel());
  }
  for (const auto kernel : kernels) {
    for (const auto type : {LogitType::kFloat16, LogitType::kBFloat16, LogitType::kFloat32}) {
      for (const auto pattern : {Pattern::kEmpty, Pattern::kFull, Pattern::kSparse, Pattern::kDense,
                                 Pattern::kHalf, Pattern::kRagged}) {
        for (const size_t width : {0, 1, 31, 32, 33, 127, 128, 129, 160, 500, 1000, 4097}) {
          const size_t exact = (width + 31) / 32;
          for (const size_t word_count : {exact, exact + 1, exact / 2, size_t{0}}) {
            TestAgainstReference(type, kernel, pattern, Shape{width, word_count});
          }
        }
      }
    }
  }
}

void TestNegativeAndZeroStrides() {
  std::vector<unsigned char> logits(2 * 32 * sizeof(uint32_t));
  const int32_t mask = 1;
  const LogitRows backwards{logits.data() + 32 * sizeof(uint32_t), LogitType::kFloat32, 2, 32, -32};
  ApplyTokenBitmask(backwards, MaskRows{&mask, 2, 1, 0}, {});
  for (size_t i = 0; i < 64; ++i) {
    uint32_t bits = 0;
    std::memcpy(&bits, &logits[i * sizeof(uint32_t)], sizeof(bits));
    CHECK(bits == (i % 32 == 0 ? 0U : 0xFF800000U));
  }
}

void TestMismatches() {
  const LogitRows logits{nullptr, LogitType::kFloat32, 3, 64, 64};
  const MaskRows masks{nullptr, 2, 2, 2};
  CHECK(CheckApply(logits, masks, {})->given == "the bitmask has 2 rows");
  CHECK(CheckApply(logits, masks, {})->expected == "3, one for each row of the logits");
  for (const int64_t row : {-1, 3}) {
    const std::vector<int64_t> rows{0, row};
    CHECK(CheckApply(logits, masks, {.rows = rows})->expected ==
          "0 <= index < 3, the rows of the logits");
  }
  const std::vector<int64_t> rows{2};
  CHECK(CheckApply(logits, masks, {.rows = rows})->given == "row index 2 is out of range");
  CHECK(CheckApply(logits, masks, {.rows = rows})->expected ==
        "0 <= index < 2, the rows of the bitmask");
  const LogitRows overlapping{nullptr, LogitType::kFloat32, 2, 64, 63};
  CHECK(CheckApply(overlapping, masks, {}).has_value());
}

}  // namespace
}  // namespace structag

int main() {
  structag::TestAllKernels();
  structag::TestThreadsWriteWhatOneThreadWrites();
  structag::TestTokenMap();
  structag::TestNegativeAndZeroStrides();
  structag::TestMismatches();
  std::puts("apply_test: ok");
  return 0;
}
