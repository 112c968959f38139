// The kernels behind apply.h.
//
// A row is handled in blocks of four mask words, 128 logits:
//
//   all ones    nothing to do; the logits are not even read
//   all zeros   a plain fill
//   otherwise   a branch-free blend of logits and minus infinity by the mask bits
//
// Classifying blocks rather than words matters: with words that are at random full, empty or mixed
// a per-word branch is mispredicted every other time and costs more than the stores it saves, while
// such blocks are nearly always "otherwise".  Real masks are long runs of full or empty blocks.
//
// The blend exists twice.  The portable form is written so that compilers vectorise it; the AVX2
// form is chosen at run time, since wheels are built for the oldest x86-64.  Rejected: masked
// stores on AVX2 (microcoded on some processors, much slower than load-blend-store), streaming
// stores (the sampler reads the logits next, so they should stay in the cache).  AVX-512's masked
// stores are worth a try where they can be measured.

#include "apply.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#endif

namespace structag {
namespace {

constexpr size_t kWordBits = 32;
constexpr size_t kBlockWords = 4;
constexpr size_t kBlockLanes = kWordBits * kBlockWords;

// A thread's start costs some 20 microseconds, which is what this much takes to mask.
constexpr size_t kThreadBytes = size_t{1} << 20;

// The bit pattern of minus infinity; Lane is the unsigned integer as wide as a logit.
constexpr uint16_t kFloat16Infinity = 0xFC00;
constexpr uint16_t kBFloat16Infinity = 0xFF80;
constexpr uint32_t kFloat32Infinity = 0xFF800000;

enum class BlockKind : uint8_t { kFull, kEmpty, kMixed };

inline BlockKind Classify(const int32_t* words) noexcept {
  std::array<uint64_t, 2> halves{};
  static_assert(sizeof(halves) == kBlockWords * sizeof(int32_t));
  std::memcpy(halves.data(), words, sizeof(halves));
  if ((halves[0] & halves[1]) == std::numeric_limits<uint64_t>::max()) {
    return BlockKind::kFull;
  }
  return (halves[0] | halves[1]) == 0 ? BlockKind::kEmpty : BlockKind::kMixed;
}

// Blends `lane_count` <= 32 logits by the low bits of `word`.
template <typename Lane>
inline void BlendWord(Lane* logits, uint32_t word, size_t lane_count, Lane infinity) noexcept {
  for (size_t i = 0; i < lane_count; ++i) {
    const auto keep = static_cast<Lane>(0U - ((word >> i) & 1U));
    logits[i] = static_cast<Lane>((logits[i] & keep) | (infinity & static_cast<Lane>(~keep)));
  }
}

template <typename Lane>
void ApplyBlocksPortable(Lane* logits, const int32_t* words, size_t block_count,
                         Lane infinity) noexcept {
  for (size_t block = 0; block < block_count; ++block) {
    switch (Classify(words)) {
      case BlockKind::kFull: break;
      case BlockKind::kEmpty: std::fill_n(logits, kBlockLanes, infinity); break;
      case BlockKind::kMixed:
        for (size_t i = 0; i < kBlockWords; ++i) {
          BlendWord(logits + i * kWordBits, static_cast<uint32_t>(words[i]), kWordBits, infinity);
        }
        break;
    }
    words += kBlockWords;
    logits += kBlockLanes;
  }
}

#if defined(__x86_64__) && defined(__GNUC__)

bool HasAvx2() noexcept { return __builtin_cpu_supports("avx2") != 0; }

constexpr size_t kVectorBytes = sizeof(__m256i);

// Keeps the lanes of one vector of logits where `keep` is all ones.
__attribute__((target("avx2"))) inline void BlendVector(char* logits, __m256i keep,
                                                        __m256i infinity) noexcept {
  auto* place = reinterpret_cast<__m256i*>(logits);
  const __m256i old = _mm256_loadu_si256(place);
  _mm256_storeu_si256(place, _mm256_blendv_epi8(infinity, old, keep));
}

__attribute__((target("avx2"))) inline void BlendWordAvx2(uint32_t* logits, int32_t word,
                                                          __m256i infinity) noexcept {
  auto* place = reinterpret_cast<char*>(logits);
  // Each lane selects one bit of eight, its own token's.
  const __m256i selector = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
  for (size_t i = 0; i < 4; ++i) {
    const auto bits = static_cast<int32_t>(static_cast<uint32_t>(word) >> (8 * i));
    const __m256i spread = _mm256_set1_epi32(bits);
    const __m256i keep = _mm256_cmpeq_epi32(_mm256_and_si256(spread, selector), selector);
    BlendVector(place + i * kVectorBytes, keep, infinity);
  }
}

__attribute__((target("avx2"))) inline void BlendWordAvx2(uint16_t* logits, int32_t word,
                                                          __m256i infinity) noexcept {
  auto* place = reinterpret_cast<char*>(logits);
  const __m256i selector =
      _mm256_setr_epi16(1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384,
                        std::numeric_limits<int16_t>::min());
  for (size_t i = 0; i < 2; ++i) {
    const auto half = static_cast<uint16_t>(static_cast<uint32_t>(word) >> (16 * i));
    const __m256i spread = _mm256_set1_epi16(static_cast<int16_t>(half));
    const __m256i keep = _mm256_cmpeq_epi16(_mm256_and_si256(spread, selector), selector);
    BlendVector(place + i * kVectorBytes, keep, infinity);
  }
}

template <typename Lane>
__attribute__((target("avx2"))) void ApplyBlocksAvx2(Lane* logits, const int32_t* words,
                                                     size_t block_count, Lane infinity) noexcept {
  __m256i infinities;
  if constexpr (sizeof(Lane) == sizeof(uint32_t)) {
    infinities = _mm256_set1_epi32(static_cast<int32_t>(infinity));
  } else {
    infinities = _mm256_set1_epi16(static_cast<int16_t>(infinity));
  }
  for (size_t block = 0; block < block_count; ++block) {
    switch (Classify(words)) {
      case BlockKind::kFull: break;
      case BlockKind::kEmpty: {
        auto* place = reinterpret_cast<__m256i*>(logits);
        for (size_t i = 0; i < kBlockLanes * sizeof(Lane) / kVectorBytes; ++i) {
          _mm256_storeu_si256(place + i, infinities);
        }
        break;
      }
      case BlockKind::kMixed:
        for (size_t i = 0; i < kBlockWords; ++i) {
          BlendWordAvx2(logits + i * kWordBits, words[i], infinities);
        }
        break;
    }
    words += kBlockWords;
    logits += kBlockLanes;
  }
}

#else

bool HasAvx2() noexcept { return false; }

template <typename Lane>
void ApplyBlocksAvx2(Lane* logits, const int32_t* words, size_t block_count,
                     Lane infinity) noexcept {
  ApplyBlocksPortable(logits, words, block_count, infinity);
}

#endif

template <typename Lane>
void ApplyRow(Lane* logits, size_t width, const int32_t* words, size_t word_count, Lane infinity,
              ApplyKernel kernel) noexcept {
  const size_t covered = std::min(width, word_count * kWordBits);
  const size_t block_count = covered / kBlockLanes;
  if (kernel == ApplyKernel::kAvx2) {
    ApplyBlocksAvx2(logits, words, block_count, infinity);
  } else {
    ApplyBlocksPortable(logits, words, block_count, infinity);
  }
  size_t lane = block_count * kBlockLanes;
  for (; lane < covered; lane += kWordBits) {
    BlendWord(logits + lane, static_cast<uint32_t>(words[lane / kWordBits]),
              std::min(kWordBits, covered - lane), infinity);
  }
  std::fill(logits + covered, logits + width, infinity);
}

// One bit for each logit, from wherever its token lies in the mask.
template <typename Lane, typename Token>
void ApplyMappedRow(Lane* logits, std::span<const Token> tokens, const int32_t* words,
                    size_t word_count, Lane infinity) noexcept {
  const uint64_t bit_count = uint64_t{word_count} * kWordBits;
  for (size_t i = 0; i < tokens.size(); ++i) {
    const auto token = static_cast<uint64_t>(tokens[i]);  // negative ones become too large
    const bool is_allowed =
        token < bit_count &&
        ((static_cast<uint32_t>(words[token / kWordBits]) >> (token % kWordBits)) & 1U) != 0;
    if (!is_allowed) {
      logits[i] = infinity;
    }
  }
}

// Applies the rows r with r % share_count == share, so that no row is two threads' business.
template <typename Lane>
void ApplyShare(const LogitRows& logits, const MaskRows& masks, const ApplyOptions& options,
                Lane infinity, size_t share, size_t share_count) noexcept {
  auto* const data = static_cast<Lane*>(logits.data);
  const auto apply = [&](size_t index) {
    if (index % share_count != share) {
      return;
    }
    const auto row = static_cast<ptrdiff_t>(index);
    Lane* const place = data + row * logits.row_stride;
    const int32_t* const words = masks.data + row * masks.row_stride;
    if (!options.token_map.has_value()) {
      ApplyRow(place, logits.width, words, masks.word_count, infinity, options.kernel);
    } else if (const TokenMap& map = *options.token_map; map.is_wide) {
      const std::span tokens(static_cast<const int64_t*>(map.data), map.size);
      ApplyMappedRow(place, tokens, words, masks.word_count, infinity);
    } else {
      const std::span tokens(static_cast<const int32_t*>(map.data), map.size);
      ApplyMappedRow(place, tokens, words, masks.word_count, infinity);
    }
  };
  if (options.rows.has_value()) {
    for (const int64_t row : *options.rows) {
      apply(static_cast<size_t>(row));
    }
  } else {
    for (size_t row = 0; row < logits.row_count; ++row) {
      apply(row);
    }
  }
}

// How many threads are worth their start.
size_t ShareCount(const LogitRows& logits, const ApplyOptions& options) noexcept {
  const size_t row_count = options.rows.has_value() ? options.rows->size() : logits.row_count;
  const size_t bytes = row_count * logits.width * LogitBytes(logits.type);
  const size_t useful = std::min(row_count, bytes / kThreadBytes);
  return std::clamp<size_t>(useful, 1, std::max(options.max_threads, 1U));
}

template <typename Lane>
void ApplyRows(const LogitRows& logits, const MaskRows& masks, const ApplyOptions& options,
               Lane infinity) noexcept {
  const size_t share_count = ShareCount(logits, options);
  const auto apply = [&](size_t share) {
    ApplyShare(logits, masks, options, infinity, share, share_count);
  };
  std::vector<std::jthread> threads;
  size_t started = 1;
  try {
    for (; started < share_count; ++started) {
      threads.emplace_back(apply, started);
    }
  } catch (const std::exception&) {  // no thread to be had: the shares left are this thread's
  }
  apply(0);
  for (; started < share_count; ++started) {
    apply(started);
  }
}

bool RowsOverlap(const LogitRows& logits) noexcept {
  const auto distance =
      static_cast<size_t>(logits.row_stride < 0 ? -logits.row_stride : logits.row_stride);
  return logits.row_count > 1 && distance < logits.width;
}

std::string Rows(size_t count) { return std::to_string(count) + (count == 1 ? " row" : " rows"); }

}  // namespace

size_t LogitBytes(LogitType type) noexcept {
  return type == LogitType::kFloat32 ? sizeof(uint32_t) : sizeof(uint16_t);
}

ApplyKernel BestApplyKernel() noexcept {
  return HasAvx2() ? ApplyKernel::kAvx2 : ApplyKernel::kPortable;
}

std::optional<ApplyMismatch> CheckApply(const LogitRows& logits, const MaskRows& masks,
                                        const ApplyOptions& options) {
  if (RowsOverlap(logits)) {
    return ApplyMismatch{"rows of the logits share memory", "rows that can be written one by one"};
  }
  if (options.token_map.has_value() && options.token_map->size != logits.width) {
    return ApplyMismatch{"the token map has " + std::to_string(options.token_map->size) + " tokens",
                         std::to_string(logits.width) + ", one for each logit of a row"};
  }
  if (!options.rows.has_value()) {
    if (logits.row_count != masks.row_count) {
      return ApplyMismatch{"the bitmask has " + Rows(masks.row_count),
                           std::to_string(logits.row_count) + ", one for each row of the logits"};
    }
    return std::nullopt;
  }
  for (const int64_t row : *options.rows) {
    for (const auto& [name, count] :
         {std::pair{"logits", logits.row_count}, std::pair{"bitmask", masks.row_count}}) {
      if (row < 0 || static_cast<uint64_t>(row) >= count) {
        return ApplyMismatch{"row index " + std::to_string(row) + " is out of range",
                             "0 <= index < " + std::to_string(count) + ", the rows of the " + name};
      }
    }
  }
  return std::nullopt;
}

void ApplyTokenBitmask(const LogitRows& logits, const MaskRows& masks,
                       const ApplyOptions& options) noexcept {
  switch (logits.type) {
    case LogitType::kFloat16: ApplyRows(logits, masks, options, kFloat16Infinity); break;
    case LogitType::kBFloat16: ApplyRows(logits, masks, options, kBFloat16Infinity); break;
    case LogitType::kFloat32: ApplyRows(logits, masks, options, kFloat32Infinity); break;
  }
}

}  // namespace structag
