#include "text/codec.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace structag {
namespace {

using Kind = CodecMove::Kind;
using Ranges = std::vector<std::pair<std::uint32_t, std::uint32_t>>;
constexpr CodecMove kReject{Kind::kReject, 0, 0};
constexpr std::uint32_t kMaxCodePoint = 0x10FFFF;

constexpr CodecMove Silent(CodecState next) { return {Kind::kSilent, next, 0}; }
constexpr CodecMove Emit(std::uint32_t code_point) {
  return {Kind::kCharacter, kCodecRest, code_point};
}
constexpr int HexValue(std::uint8_t b) {
  if (b >= '0' && b <= '9') return b - '0';
  if (b >= 'a' && b <= 'f') return b - 'a' + 10;
  if (b >= 'A' && b <= 'F') return b - 'A' + 10;
  return -1;
}
void AddScalars(std::uint32_t low, std::uint32_t high, Ranges& out) {
  high = std::min(high, kMaxCodePoint);
  if (low > high) return;
  if (low < 0xD800) out.emplace_back(low, std::min(high, 0xD7FFu));
  if (high > 0xDFFF) out.emplace_back(std::max(low, 0xE000u), high);
}

// Strings with backslashes: phase (3 bits), hex digits read (2 bits), their value (16 bits), high
// surrogate (10 bits).
enum QuotedPhase : std::uint32_t { kRest, kBackslash, kHex, kHighDone, kHighBackslash, kLowHex };
constexpr CodecState Quoted(QuotedPhase phase, std::uint32_t digits, std::uint32_t value,
                            std::uint32_t high) {
  return phase | digits << 3 | value << 5 | high << 21;
}

struct QuotedSyntax {
  std::uint8_t quote;
  std::string_view escapes;  // the letters after a backslash …
  std::string_view values;   // … and what each stands for
  bool has_pairs;            // two escaped surrogates are one character; else no surrogate is taken
  bool has_bytes;            // \xHH
};
constexpr QuotedSyntax kJsonSyntax{'"', "\"\\/bfnrt", "\"\\/\b\f\n\r\t", true, false};
constexpr std::string_view kPythonEscapes = "\"'\\abfnrtv";
constexpr std::string_view kPythonValues = "\"'\\\a\b\f\n\r\t\v";
constexpr QuotedSyntax kPythonDouble{'"', kPythonEscapes, kPythonValues, false, true};
constexpr QuotedSyntax kPythonSingle{'\'', kPythonEscapes, kPythonValues, false, true};

CodecMove QuotedStep(const QuotedSyntax& syntax, CodecState state, std::uint8_t b) {
  const std::uint32_t phase = state & 7;
  const std::uint32_t digits = (state >> 3) & 3;
  const std::uint32_t value = (state >> 5) & 0xFFFF;
  const std::uint32_t high = state >> 21;
  switch (phase) {
    case kRest:
      if (b == '\\') return Silent(Quoted(kBackslash, 0, 0, 0));
      return b < 0x20 || b == syntax.quote ? kReject : CodecMove{Kind::kByte, kCodecRest, b};
    case kBackslash: {
      if (b == 'u') return Silent(Quoted(kHex, 0, 0, 0));
      if (b == 'x' && syntax.has_bytes) return Silent(Quoted(kHex, 2, 0, 0));
      const std::size_t i = syntax.escapes.find(static_cast<char>(b));
      if (i == std::string_view::npos) return kReject;
      return Emit(static_cast<std::uint8_t>(syntax.values[i]));
    }
    case kHighDone: return b == '\\' ? Silent(Quoted(kHighBackslash, 0, 0, high)) : kReject;
    case kHighBackslash: return b == 'u' ? Silent(Quoted(kLowHex, 0, 0, high)) : kReject;
    default: break;
  }
  const int digit = HexValue(b);
  if (digit < 0) return kReject;
  const std::uint32_t grown = value << 4 | static_cast<std::uint32_t>(digit);
  if (digits < 3) return Silent(Quoted(static_cast<QuotedPhase>(phase), digits + 1, grown, high));
  const bool is_high = grown >= 0xD800 && grown < 0xDC00;
  const bool is_low = grown >= 0xDC00 && grown < 0xE000;
  if (phase == kLowHex) return is_low ? Emit(0x10000 + (high << 10) + (grown - 0xDC00)) : kReject;
  if (is_high && syntax.has_pairs) return Silent(Quoted(kHighDone, 0, 0, grown - 0xD800));
  return is_high || is_low ? kReject : Emit(grown);
}

Ranges QuotedPending(const QuotedSyntax& syntax, CodecState state) {
  const std::uint32_t phase = state & 7;
  const std::uint32_t shift = 4 * (4 - ((state >> 3) & 3));
  const std::uint32_t low = ((state >> 5) & 0xFFFF) << shift;
  const std::uint32_t top = low + (1u << shift) - 1;
  const std::uint32_t base = 0x10000 + ((state >> 21) << 10);
  Ranges out;
  if (phase == kBackslash) {
    AddScalars(0, syntax.has_pairs ? kMaxCodePoint : 0xFFFF, out);
  } else if (phase == kHighDone || phase == kHighBackslash) {
    out.emplace_back(base, base + 0x3FF);
  } else if (phase == kLowHex) {
    const std::uint32_t from = std::max(low, 0xDC00u);
    const std::uint32_t to = std::min(top, 0xDFFFu);
    if (from <= to) out.emplace_back(base + (from - 0xDC00), base + (to - 0xDC00));
  } else {
    AddScalars(low, top, out);
    if (!syntax.has_pairs) return out;
    const std::uint32_t from = std::max(low, 0xD800u);
    const std::uint32_t to = std::min(top, 0xDBFFu);
    if (from <= to) {
      out.emplace_back(0x10000 + ((from - 0xD800) << 10), 0x10000 + ((to - 0xD800) << 10) + 0x3FF);
    }
  }
  return out;
}

// XML: phase (5 bits), at least one digit read (1 bit), value (21 bits).
enum XmlPhase : std::uint32_t { kXmlRest, kNumber = 1, kDecimal, kHexadecimal, kNames };
constexpr std::array<std::string_view, 5> kEntities{"lt", "gt", "amp", "quot", "apos"};
constexpr std::array<std::uint32_t, 5> kEntityValues{'<', '>', '&', '"', '\''};
constexpr CodecState Xml(std::uint32_t phase, bool started, std::uint32_t value) {
  return phase | (started ? 32u : 0u) | value << 6;
}
// A state inside a name holds its prefix: which entity has it (the first one), and how long it is.
constexpr CodecState NamePrefix(std::size_t entity, std::size_t length) {
  return Xml(kNames, false, static_cast<std::uint32_t>(entity << 3 | length));
}

CodecMove XmlNameStep(CodecState state, std::uint8_t b) {
  const std::size_t entity = (state >> 9) & 7;
  const std::size_t length = (state >> 6) & 7;
  const std::string_view prefix = kEntities[entity].substr(0, length);
  if (length == 0 && b == '#') return Silent(Xml(kNumber, false, 0));
  for (std::size_t i = 0; i < kEntities.size(); ++i) {
    if (kEntities[i].substr(0, length) != prefix) continue;
    if (kEntities[i].size() == length) {
      if (b == ';') return Emit(kEntityValues[i]);
    } else if (kEntities[i][length] == static_cast<char>(b)) {
      return Silent(NamePrefix(i, length + 1));
    }
  }
  return kReject;
}

CodecMove XmlStep(CodecState state, std::uint8_t b) {
  const std::uint32_t phase = state & 31;
  const bool started = (state & 32) != 0;
  const std::uint32_t value = state >> 6;
  if (phase == kXmlRest) {
    if (b == '&') return Silent(NamePrefix(0, 0));
    return b == '<' ? kReject : CodecMove{Kind::kByte, kCodecRest, b};
  }
  if (phase == kNames) return XmlNameStep(state, b);
  if (phase == kNumber && b == 'x') return Silent(Xml(kHexadecimal, false, 0));
  if (b == ';') {
    const bool is_scalar = value != 0 && (value < 0xD800 || value > 0xDFFF);
    return started && is_scalar ? Emit(value) : kReject;
  }
  const std::uint32_t radix = phase == kHexadecimal ? 16 : 10;
  const int digit = HexValue(b);
  if (digit < 0 || static_cast<std::uint32_t>(digit) >= radix) return kReject;
  const std::uint32_t grown = value * radix + static_cast<std::uint32_t>(digit);
  if (grown > kMaxCodePoint) return kReject;
  return Silent(Xml(phase == kNumber ? std::uint32_t{kDecimal} : phase, true, grown));
}

Ranges XmlPending(CodecState state) {
  const std::uint32_t phase = state & 31;
  Ranges out;
  if (phase == kNames) {
    const std::string_view prefix = kEntities[(state >> 9) & 7].substr(0, (state >> 6) & 7);
    if (prefix.empty()) {
      AddScalars(1, kMaxCodePoint, out);
      return out;
    }
    for (std::size_t i = 0; i < kEntities.size(); ++i) {
      if (kEntities[i].substr(0, prefix.size()) == prefix) {
        out.emplace_back(kEntityValues[i], kEntityValues[i]);
      }
    }
    return out;
  }
  if ((state & 32) == 0 || (state >> 6) == 0) {
    AddScalars(1, kMaxCodePoint, out);
    return out;
  }
  const std::uint32_t radix = phase == kHexadecimal ? 16 : 10;
  std::uint64_t width = 1;
  for (std::uint64_t low = state >> 6; low <= kMaxCodePoint; low *= radix, width *= radix) {
    AddScalars(static_cast<std::uint32_t>(low), static_cast<std::uint32_t>(low + width - 1), out);
  }
  return out;
}

const QuotedSyntax& SyntaxOf(Codec codec) {
  if (codec == Codec::kJson) return kJsonSyntax;
  return codec == Codec::kPythonDouble ? kPythonDouble : kPythonSingle;
}

}  // namespace

CodecMove CodecStep(Codec codec, CodecState state, std::uint8_t byte) noexcept {
  return codec == Codec::kXml ? XmlStep(state, byte) : QuotedStep(SyntaxOf(codec), state, byte);
}

const ByteSet& CodecSpecial(Codec codec) noexcept {
  const auto find = [](Codec of) {
    ByteSet special;
    for (unsigned b = 0; b < 256; ++b) {
      const CodecMove move = CodecStep(of, kCodecRest, static_cast<std::uint8_t>(b));
      const bool is_plain = move.kind == CodecMove::Kind::kByte && move.output == b;
      if (!is_plain) special.Add(static_cast<std::uint8_t>(b));
    }
    return special;
  };
  static const auto table = ForEveryCodec(find);
  return table[static_cast<std::size_t>(codec)];
}

Ranges CodecPending(Codec codec, CodecState state) {
  return codec == Codec::kXml ? XmlPending(state) : QuotedPending(SyntaxOf(codec), state);
}

}  // namespace structag
