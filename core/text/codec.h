// The codecs of Encoded: deterministic transducers from raw bytes to decoded text.
//
// A state is one word.  At rest (kCodecRest) a raw byte may stand for itself; inside an escape the
// state holds what has been read of it.  See structag/grammar/expressions.py for what is encoded
// how.
#pragma once

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "storage/byte_set.h"

namespace structag {

enum class Codec : std::uint32_t { kJson = 0, kXml = 1, kPythonDouble = 2, kPythonSingle = 3 };
inline constexpr std::uint32_t kCodecCount = 4;
// What find(codec) gives, for every codec.
template <class Find>
constexpr auto ForEveryCodec(Find find) {
  std::array<decltype(find(Codec{})), kCodecCount> table{};
  for (std::uint32_t codec = 0; codec < kCodecCount; ++codec) table[codec] = find(Codec{codec});
  return table;
}
using CodecState = std::uint32_t;
inline constexpr CodecState kCodecRest = 0;

struct CodecMove {
  enum class Kind { kReject, kSilent, kByte, kCharacter } kind;
  CodecState next;       // except for kReject
  std::uint32_t output;  // the raw byte, or the scalar value of a finished escape
};

CodecMove CodecStep(Codec codec, CodecState state, std::uint8_t byte) noexcept;

// The bytes that at rest do not stand for themselves.
const ByteSet& CodecSpecial(Codec codec) noexcept;

// The scalar values that an escape begun at `state` (not at rest) can still stand for.
std::vector<std::pair<std::uint32_t, std::uint32_t>> CodecPending(Codec codec, CodecState state);

}  // namespace structag
