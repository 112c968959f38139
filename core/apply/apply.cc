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

#include "apply/apply.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <exception>
#include <functional>
#include <limits>
#include <memory>
#include <numeric>
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

// Where no processor is idle another thread costs milliseconds until it has run, so only calls
// that are long anyway start some.  Less than this many bytes are never worth a look at the clock.
constexpr std::chrono::microseconds kWorthHelp{1000};
constexpr size_t kThreadBytes = size_t{4} << 20;

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

template <typename Lane>
void ApplyOneRow(const LogitRows& logits, const MaskRows& masks, const std::optional<TokenMap>& map,
                 Lane infinity, ApplyKernel kernel, size_t index) noexcept {
  const auto row = static_cast<ptrdiff_t>(index);
  Lane* const place = static_cast<Lane*>(logits.data) + row * logits.row_stride;
  const int32_t* const words = masks.data + row * masks.row_stride;
  if (!map.has_value()) {
    ApplyRow(place, logits.width, words, masks.word_count, infinity, kernel);
  } else if (map->is_wide) {
    const std::span tokens(static_cast<const int64_t*>(map->data), map->size);
    ApplyMappedRow(place, tokens, words, masks.word_count, infinity);
  } else {
    const std::span tokens(static_cast<const int32_t*>(map->data), map->size);
    ApplyMappedRow(place, tokens, words, masks.word_count, infinity);
  }
}

// The rows of one call, taken one by one by the threads that work on it.  The threads own it
// together and the caller waits for rows only: a thread that comes when all are taken, which is
// late on a busy machine, finds nothing to do and touches no array.
struct Job {
  std::function<void(size_t)> apply;
  std::vector<size_t> rows;
  std::atomic<size_t> next{0};
  std::atomic<size_t> done{0};

  // Applies the next row; false if there is none.
  bool ApplyNext() {
    const size_t i = next.fetch_add(1, std::memory_order_relaxed);
    if (i >= rows.size()) {
      return false;
    }
    apply(rows[i]);
    if (done.fetch_add(1, std::memory_order_acq_rel) + 1 == rows.size()) {
      done.notify_all();
    }
    return true;
  }
};

// Starts further threads once the call has proved long, if as much is still to be done.
void ApplyTogether(const std::shared_ptr<Job>& job, unsigned max_threads) noexcept {
  const auto start = std::chrono::steady_clock::now();
  bool is_decided = false;
  for (size_t taken = 1; job->ApplyNext(); ++taken) {
    const auto elapsed = std::chrono::steady_clock::now() - start;
    if (is_decided || elapsed < kWorthHelp) {
      continue;
    }
    is_decided = true;  // the caller alone has taken rows so far
    const size_t left = job->rows.size() - taken;
    if (elapsed * left < kWorthHelp * taken) {
      continue;
    }
    try {
      for (size_t i = 1; i < std::min<size_t>(max_threads, left); ++i) {
        std::thread([job] {
          while (job->ApplyNext()) {
          }
        }).detach();
      }
    } catch (const std::exception&) {  // no thread to be had: the caller does it all
    }
  }
  for (size_t done = 0; (done = job->done.load(std::memory_order_acquire)) < job->rows.size();) {
    job->done.wait(done);
  }
}

template <typename Lane>
void ApplyRows(const LogitRows& logits, const MaskRows& masks, const ApplyOptions& options,
               Lane infinity) noexcept {
  const auto apply = [logits, masks, map = options.token_map, infinity, kernel = options.kernel](
                         size_t row) { ApplyOneRow(logits, masks, map, infinity, kernel, row); };
  const size_t row_count = options.rows.has_value() ? options.rows->size() : logits.row_count;
  if (options.max_threads > 1 && row_count * logits.width * sizeof(Lane) >= kThreadBytes) {
    const auto job = std::make_shared<Job>();
    job->apply = apply;
    job->rows.resize(row_count);
    if (options.rows.has_value()) {  // each row once, or two threads might write it
      std::copy(options.rows->begin(), options.rows->end(), job->rows.begin());
      std::sort(job->rows.begin(), job->rows.end());
      job->rows.erase(std::unique(job->rows.begin(), job->rows.end()), job->rows.end());
    } else {
      std::iota(job->rows.begin(), job->rows.end(), size_t{0});
    }
    ApplyTogether(job, options.max_threads);
    return;
  }
  for (size_t i = 0; i < row_count; ++i) {
    apply(options.rows.has_value() ? static_cast<size_t>((*options.rows)[i]) : i);
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
