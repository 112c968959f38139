#include "expressions/first_bytes.h"

#include <array>

namespace structag {
namespace {

constexpr unsigned kDeep = 400;  // nested deeper than this, every byte is assumed

// The bytes that open an escape.
const ByteSet& Opening(Codec codec) {
  const auto find = [](Codec of) {
    ByteSet bytes;
    CodecSpecial(of).ForEach([&](std::uint8_t byte) {
      if (CodecStep(of, kCodecRest, byte).kind != CodecMove::Kind::kReject) bytes.Add(byte);
    });
    return bytes;
  };
  static const auto table = ForEveryCodec(find);
  return table[static_cast<std::size_t>(codec)];
}

ByteSet Escape(Codec codec, CodecState state) {
  ByteSet bytes;
  for (unsigned b = 0; b < 256; ++b) {
    const std::uint8_t byte = static_cast<std::uint8_t>(b);
    if (CodecStep(codec, state, byte).kind != CodecMove::Kind::kReject) bytes.Add(byte);
  }
  return bytes;
}

}  // namespace

const ByteSet& FirstBytes::Of(ExprId id) {
  if (!is_on_) {
    ByteSet all;
    all.AddRange(0, 255);
    return sets_[sets_.Intern(all)];
  }
  if (pool_[id].kind == Kind::kBytes) return pool_.Bytes(id);
  if (const std::uint32_t* known = index_.Get(Raw(id))) return sets_[*known];
  const std::uint32_t set = sets_.Intern(Find(id, 0));
  index_.Set(Raw(id), set);
  return sets_[set];
}

ByteSet FirstBytes::Find(ExprId id, unsigned depth) {
  ByteSet set;
  if (depth > kDeep) {
    set.AddRange(0, 255);
    return set;
  }
  const Expr& e = pool_[id];
  const auto of = [&](std::uint32_t part) { return Find(ExprId{part}, depth + 1); };
  switch (e.kind) {
    case Kind::kBytes: return pool_.Bytes(id);
    case Kind::kLiteral: set.Add(static_cast<std::uint8_t>(pool_.literal_text_[e.a])); return set;
    case Kind::kSeq:
      for (ExprId at = id;; at = ExprId{pool_[at].b}) {
        const Expr& part = pool_[at];
        if (part.kind != Kind::kSeq) {
          set.Unite(of(Raw(at)));
          return set;
        }
        set.Unite(of(part.a));
        if (!pool_[ExprId{part.a}].nullable) return set;
      }
    case Kind::kAlt:
      for (std::uint32_t member : pool_.Members(id)) set.Unite(of(member));
      return set;
    case Kind::kAnd:
      set.AddRange(0, 255);
      for (std::uint32_t member : pool_.Members(id)) set.Intersect(of(member));
      return set;
    case Kind::kRepeat:
    case Kind::kErase:
    case Kind::kKey:
    case Kind::kTransparent: return of(e.a);
    case Kind::kNot: return Utf8Next(e.b);
    case Kind::kNoOccurrence:
    case Kind::kScan: return Utf8Next(e.c);
    case Kind::kEncoded: {
      if (e.b != kCodecRest) return Escape(Codec{e.c}, e.b);
      set = of(e.a);
      set.Subtract(CodecSpecial(Codec{e.c}));
      set.Unite(Opening(Codec{e.c}));
      return set;
    }
    default: return set;
  }
}

}  // namespace structag
