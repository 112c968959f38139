// Applying token bitmasks to logits: disallowed logits become minus infinity, in place.
//
// Logits are treated as bit patterns (16 or 32 bits each), so that an allowed logit keeps its exact
// bits, NaN payloads included, and half-precision types need no conversion.  Bit i of word w of a
// mask row stands for token 32 * w + i; 1 = allowed.
//
// apply.cc holds the kernels and says why they look as they do; bindings_apply.cc is the Python
// side.  Nothing here locks or keeps a pointer beyond the call, and only the start of further
// threads allocates; concurrent calls are safe as long as they write different rows.

#ifndef STRUCTAG_APPLY_H_
#define STRUCTAG_APPLY_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace structag {

enum class LogitType : uint8_t {
  kFloat16,   // IEEE 754 binary16
  kBFloat16,  // the upper half of a binary32
  kFloat32,   // IEEE 754 binary32
};

// Bytes of one logit.
size_t LogitBytes(LogitType type) noexcept;

// A view of logits: `row_count` rows of `width` contiguous elements, `row_stride` elements apart.
struct LogitRows {
  void* data = nullptr;
  LogitType type = LogitType::kFloat32;
  size_t row_count = 0;
  size_t width = 0;
  ptrdiff_t row_stride = 0;  // may be negative
};

// A view of masks: `row_count` rows of `word_count` contiguous words, `row_stride` words apart.
struct MaskRows {
  const int32_t* data = nullptr;
  size_t row_count = 0;
  size_t word_count = 0;
  ptrdiff_t row_stride = 0;  // 0 = one mask for every row
};

// The tokens that the logits stand for, where these are of a smaller vocabulary than the mask's:
// logit i is token `data[i]`, int64 if `is_wide`, else int32.  Tokens that the mask does not have
// (negative ones too) are disallowed.
struct TokenMap {
  const void* data = nullptr;
  size_t size = 0;
  bool is_wide = true;
};

// Why a call was refused, as two halves of one sentence: "<given>, expected <expected>".
struct ApplyMismatch {
  std::string given;
  std::string expected;
};

// The implementations; all give the same bits.
enum class ApplyKernel : uint8_t {
  kPortable,
  kAvx2,  // x86-64 with AVX2 only
};

// The fastest kernel this processor runs.
ApplyKernel BestApplyKernel() noexcept;

// What may differ from call to call beside the arrays.
struct ApplyOptions {
  // These rows only; duplicates are harmless.
  std::optional<std::span<const int64_t>> rows = std::nullopt;
  std::optional<TokenMap> token_map = std::nullopt;
  unsigned max_threads = 1;  // the caller's included; short calls start none
  ApplyKernel kernel = BestApplyKernel();
};

// Whether the arrays fit each other; nullopt = they do.  O(|rows|).
std::optional<ApplyMismatch> CheckApply(const LogitRows& logits, const MaskRows& masks,
                                        const ApplyOptions& options);

// Writes minus infinity over every disallowed logit of the named rows: row r of `masks` applies to
// row r of `logits`.  Logits beyond the mask's last bit are disallowed.
// Requires that CheckApply found nothing.  Without a token map it reads the mask once, touches no
// logit of a block of 128 that is allowed as a whole, and reads none of one that is disallowed as a
// whole.  A row is always one thread's.
void ApplyTokenBitmask(const LogitRows& logits, const MaskRows& masks,
                       const ApplyOptions& options) noexcept;

}  // namespace structag

#endif  // STRUCTAG_APPLY_H_
