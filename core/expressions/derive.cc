#include "expressions/derive.h"

#include <algorithm>
#include <array>

namespace structag {

ExprId Deriver::Derive(ExprId id, std::uint32_t symbol) {
  const Expr& e = pool_[id];
  switch (e.kind) {  // too small to memoise
    case Kind::kEmpty:
    case Kind::kEpsilon: return ExprPool::kEmpty;
    case Kind::kBytes: return BeginsWith(id, symbol) ? ExprPool::kEpsilon : ExprPool::kEmpty;
    case Kind::kLiteral:
      return BeginsWith(id, symbol) ? pool_.MakeLiteral(e.a + 1, e.b - 1) : ExprPool::kEmpty;
    case Kind::kAssertion:
      return symbol == kFirstMark + e.a ? ExprPool::kEpsilon : ExprPool::kEmpty;
    case Kind::kSeq: {  // mostly one of many that begin with something else
      const Kind head = pool_[ExprId{e.a}].kind;
      if ((head == Kind::kLiteral || head == Kind::kBytes) && !BeginsWith(ExprId{e.a}, symbol)) {
        return ExprPool::kEmpty;
      }
      break;
    }
    default: break;
  }
  const std::uint64_t key = std::uint64_t{Raw(id)} << 32 | symbol;
  if (const std::uint32_t* known = memo_.Get(key)) return ExprId{*known};
  meter_.Charge(1);
  const ExprId result = Compute(e, symbol);
  memo_.Set(key, Raw(result));
  return result;
}

bool Deriver::BeginsWith(ExprId id, std::uint32_t symbol) const {
  if (symbol >= kFirstMark) return false;
  const Expr& e = pool_[id];
  return e.kind == Kind::kBytes ? pool_.Bytes(id).Has(static_cast<std::uint8_t>(symbol))
                                : static_cast<std::uint8_t>(pool_.literal_text_[e.a]) == symbol;
}

ExprId Deriver::Concat(ExprId heads, ExprId rest) {
  if (heads == ExprPool::kEmpty) return ExprPool::kEmpty;
  if (pool_[heads].kind != Kind::kAlt) return pool_.MakeSeq(heads, rest);
  const auto members = pool_.Members(heads);
  std::vector<std::uint32_t> out;
  out.reserve(members.size());
  for (std::uint32_t id : members) out.push_back(Raw(pool_.MakeSeq(ExprId{id}, rest)));
  return pool_.MakeAlt(std::move(out));
}

ExprId Deriver::Compute(const Expr& e, std::uint32_t symbol) {
  const bool is_byte = symbol < kFirstMark;
  const std::uint8_t byte = static_cast<std::uint8_t>(symbol);
  switch (e.kind) {
    case Kind::kSeq: {
      std::vector<std::uint32_t> out;
      for (const Expr* at = &e;; at = &pool_[ExprId{at->b}]) {  // on while the parts are nullable
        out.push_back(Raw(Concat(Derive(ExprId{at->a}, symbol), ExprId{at->b})));
        if (!pool_[ExprId{at->a}].nullable) break;
        if (pool_[ExprId{at->b}].kind == Kind::kSeq) continue;
        out.push_back(Raw(Derive(ExprId{at->b}, symbol)));
        break;
      }
      return pool_.MakeAlt(std::move(out));
    }
    case Kind::kAlt: {
      const auto members = pool_.lists()[ListId{e.a}];
      meter_.Charge(members.size());
      std::vector<std::uint32_t> out;
      for (std::uint32_t id : members) {
        const ExprId d = Derive(ExprId{id}, symbol);
        if (d != ExprPool::kEmpty) out.push_back(Raw(d));
      }
      return pool_.MakeAlt(std::move(out));
    }
    case Kind::kRepeat: {
      const ExprId d = Derive(ExprId{e.a}, symbol);
      if (d == ExprPool::kEmpty) return d;
      return Concat(d, pool_.MakeRepeat(ExprId{e.a}, e.b == 0 ? 0 : e.b - 1, OneLess(e.c)));
    }
    case Kind::kAnd: {
      std::vector<std::uint32_t> out;
      for (std::uint32_t id : pool_.lists()[ListId{e.a}]) {
        const ExprId d = Derive(ExprId{id}, symbol);
        if (d == ExprPool::kEmpty) return d;
        out.push_back(Raw(d));
      }
      return pool_.MakeAnd(std::move(out));
    }
    case Kind::kNot: {
      if (!is_byte) {  // marks lie between characters
        if (e.b != kUtf8Start) return ExprPool::kEmpty;
        return pool_.MakeNot(Derive(ExprId{e.a}, symbol), e.b);
      }
      const Utf8State utf8 = Utf8Step(e.b, byte);
      if (utf8 == kUtf8Reject) return ExprPool::kEmpty;
      return pool_.MakeNot(Derive(ExprId{e.a}, symbol), utf8);
    }
    case Kind::kEncoded: return is_byte ? DeriveEncoded(e, byte) : ExprPool::kEmpty;
    case Kind::kNoOccurrence: {
      if (!is_byte) return ExprPool::kEmpty;
      const Utf8State utf8 = Utf8Step(e.c, byte);
      if (utf8 == kUtf8Reject) return ExprPool::kEmpty;
      const SearchAutomaton& search = *pool_.searches_[e.a].automaton;
      const SearchAutomaton::State next = search.Step(e.b, byte);
      if (search.Completes(next)) return ExprPool::kEmpty;
      return pool_.Make(Kind::kNoOccurrence, e.a, next, utf8);
    }
    case Kind::kScan: return is_byte ? DeriveScan(e, byte) : ExprPool::kEmpty;
    case Kind::kKey: return is_byte ? DeriveKey(e, byte) : ExprPool::kEmpty;
    case Kind::kErase: {
      const std::uint32_t count = e.b;
      const ExprId d = is_byte ? Derive(ExprId{e.a}, symbol) : ExprPool::kEmpty;
      return d == ExprPool::kEmpty ? d : pool_.MakeErase(CloseUnderMarks(d, count), count);
    }
    case Kind::kTransparent:
      if (!is_byte) return pool_.MakeTransparent(ExprId{e.a});
      return pool_.MakeTransparent(Derive(ExprId{e.a}, symbol));
    default: return ExprPool::kEmpty;
  }
}

ExprId Deriver::DeriveScan(const Expr& e, std::uint8_t byte) {
  const Utf8State utf8 = Utf8Step(e.c, byte);
  if (utf8 == kUtf8Reject) return ExprPool::kEmpty;
  const ScanTable& table = pool_.scans_[e.a];
  const SearchAutomaton& search = *table.search.automaton;
  const SearchAutomaton::State next = search.Step(e.b, byte);
  if (!search.Completes(next)) return pool_.Make(Kind::kScan, e.a, next, utf8);
  bool excluded = false;
  std::vector<std::uint32_t> out;
  search.ForEachCompleted(next, [&](std::uint32_t pattern) {
    if (pattern < table.cases.size()) {
      out.push_back(Raw(table.cases[pattern]));
    } else {
      excluded = true;
    }
  });
  return excluded ? ExprPool::kEmpty : pool_.MakeAlt(std::move(out));
}

ExprId Deriver::DeriveEncoded(const Expr& e, std::uint8_t byte) {
  const Codec codec{e.c};
  const CodecMove move = CodecStep(codec, e.b, byte);
  ExprId child{e.a};
  switch (move.kind) {
    case CodecMove::Kind::kReject: return ExprPool::kEmpty;
    case CodecMove::Kind::kSilent: break;
    case CodecMove::Kind::kByte: child = Derive(child, move.output); break;
    case CodecMove::Kind::kCharacter: {
      std::array<std::uint8_t, 4> bytes{};
      const std::uint32_t size = EncodeUtf8(move.output, bytes.data());
      for (std::uint32_t i = 0; i < size; ++i) child = Derive(child, bytes[i]);
      break;
    }
  }
  return pool_.MakeEncoded(child, move.next, codec);
}

ExprId Deriver::DeriveKey(const Expr& e, std::uint8_t byte) {
  const ExprId rest = Derive(ExprId{e.a}, byte);
  if (rest == ExprPool::kEmpty) return rest;
  ExprId text{e.b};
  const auto append = [&](std::uint8_t read) {
    ByteSet set;
    set.Add(read);
    text = pool_.MakeSeq(pool_.MakeBytes(set), text);
  };
  if (!pool_.BegunBy(e).item.is_encoded) {
    append(byte);
  } else {
    const Expr& key = pool_[ExprId{e.a}];
    const CodecMove move = CodecStep(Codec{key.c}, key.b, byte);
    std::array<std::uint8_t, 4> bytes{static_cast<std::uint8_t>(move.output)};
    std::uint32_t size = move.kind == CodecMove::Kind::kByte ? 1 : 0;
    if (move.kind == CodecMove::Kind::kCharacter) size = EncodeUtf8(move.output, bytes.data());
    for (std::uint32_t i = 0; i < size; ++i) append(bytes[i]);
  }
  return pool_.Make(Kind::kKey, Raw(rest), Raw(text), e.c);
}

ExprId Deriver::CloseUnderMarks(ExprId child, std::uint32_t count) {
  std::vector<std::uint32_t> found;
  const auto add = [&](ExprId id) {
    const auto one = [&](std::uint32_t member) {
      if (std::ranges::find(found, member) == found.end()) found.push_back(member);
    };
    if (id == ExprPool::kEmpty) return;
    if (pool_[id].kind == Kind::kAlt) {
      for (std::uint32_t member : pool_.Members(id)) one(member);
    } else {
      one(Raw(id));
    }
  };
  add(child);
  for (std::size_t i = 0; i < found.size(); ++i) {
    for (std::uint32_t mark = 0; mark < count; ++mark) {
      meter_.Charge(1);
      add(Derive(ExprId{found[i]}, kFirstMark + mark));
    }
  }
  return pool_.MakeAlt(std::move(found));
}

void Deriver::AddSignature(ExprId id, std::uint64_t* signature, ByteSet& possible,
                           unsigned depth) const {
  const Expr& e = pool_[id];
  const auto all_differ = [&] {
    for (unsigned b = 0; b < 256; ++b) signature[b] += Mix(b + 1);
    possible.AddRange(0, 255);
  };
  const auto add = [&](std::uint8_t b, std::uint64_t what) {
    signature[b] += Mix(what * 0x10001 + Raw(id));
    possible.Add(b);
  };
  const auto add_text = [&](Utf8State utf8) {
    Utf8Bytes().ForEach([&](std::uint8_t b) {
      const Utf8State next = Utf8Step(utf8, b);
      if (next != kUtf8Reject) add(b, next + 1);
    });
  };
  const auto add_search = [&](const SearchAutomaton& search) {
    ByteSet distinct;
    search.AddDistinct(e.b, distinct);
    add_text(e.c);
    distinct.ForEach([&](std::uint8_t b) { add(b, 0x100u + b); });
  };
  if (depth > 400) return all_differ();
  switch (e.kind) {
    case Kind::kBytes: pool_.Bytes(id).ForEach([&](std::uint8_t b) { add(b, 1); }); break;
    case Kind::kLiteral: add(static_cast<std::uint8_t>(pool_.literal_text_[e.a]), 1); break;
    case Kind::kSeq:
      for (ExprId at = id;;) {
        const Expr& part = pool_[at];
        const bool is_seq = part.kind == Kind::kSeq;
        AddSignature(is_seq ? ExprId{part.a} : at, signature, possible, depth + 1);
        if (!is_seq || !pool_[ExprId{part.a}].nullable) break;
        at = ExprId{part.b};
      }
      break;
    case Kind::kAlt:
    case Kind::kAnd:
      for (std::uint32_t m : pool_.Members(id)) {
        AddSignature(ExprId{m}, signature, possible, depth + 1);
      }
      break;
    case Kind::kRepeat:
    case Kind::kErase:
    case Kind::kTransparent: AddSignature(ExprId{e.a}, signature, possible, depth + 1); break;
    case Kind::kNot:
      AddSignature(ExprId{e.a}, signature, possible, depth + 1);
      add_text(e.b);
      break;
    case Kind::kNoOccurrence: add_search(*pool_.searches_[e.a].automaton); break;
    case Kind::kScan: add_search(*pool_.scans_[e.a].search.automaton); break;
    case Kind::kEncoded:
      if (e.b != kCodecRest) return all_differ();
      AddSignature(ExprId{e.a}, signature, possible, depth + 1);
      for (unsigned b = 0; b < 256; ++b) {
        const CodecMove move = CodecStep(Codec{e.c}, e.b, static_cast<std::uint8_t>(b));
        if (move.kind != CodecMove::Kind::kByte) {
          add(static_cast<std::uint8_t>(b), move.kind == CodecMove::Kind::kReject ? 2u : 3u);
        }
      }
      break;
    default: break;
  }
}

Distinct Deriver::DistinctBytes(ExprId id, unsigned depth) const {
  constexpr unsigned kDeep = 400;
  Distinct out;
  const auto unite = [&](std::uint32_t part) { out.Unite(DistinctBytes(ExprId{part}, depth + 1)); };
  const auto text = [&](Utf8State utf8, const SearchAutomaton& search, std::uint32_t state) {
    out.utf8 = utf8;
    search.AddDistinct(state, out.bytes);
  };
  const Expr& e = pool_[id];
  if (depth > kDeep) {
    out.bytes.AddRange(0, 255);
    return out;
  }
  switch (e.kind) {
    case Kind::kBytes: out.bytes = pool_.Bytes(id); break;
    case Kind::kLiteral: out.bytes.Add(static_cast<std::uint8_t>(pool_.literal_text_[e.a])); break;
    case Kind::kSeq:
      for (ExprId at = id;;) {
        const Expr& part = pool_[at];
        const bool is_seq = part.kind == Kind::kSeq;
        unite(is_seq ? part.a : Raw(at));
        if (!is_seq || !pool_[ExprId{part.a}].nullable) break;
        at = ExprId{part.b};
      }
      break;
    case Kind::kAlt:
    case Kind::kAnd:
      for (std::uint32_t member : pool_.Members(id)) unite(member);
      break;
    case Kind::kRepeat:
    case Kind::kErase:
    case Kind::kTransparent: unite(e.a); break;
    case Kind::kNot:
      unite(e.a);
      out.Unite({{}, e.b});
      break;
    case Kind::kNoOccurrence: text(e.c, *pool_.searches_[e.a].automaton, e.b); break;
    case Kind::kScan: text(e.c, *pool_.scans_[e.a].search.automaton, e.b); break;
    case Kind::kEncoded:
      if (e.b != kCodecRest) {
        out.bytes.AddRange(0, 255);
        break;
      }
      unite(e.a);
      out.bytes.Unite(CodecSpecial(Codec{e.c}));
      break;
    default: break;
  }
  return out;
}

std::vector<std::uint8_t> Deriver::Representatives(ExprId id) const {
  std::array<std::uint64_t, 256> signature{};
  ByteSet possible;
  AddSignature(id, signature.data(), possible, 0);
  std::vector<std::uint8_t> bytes;
  possible.ForEach([&](std::uint8_t b) { bytes.push_back(b); });
  std::stable_sort(bytes.begin(), bytes.end(),
                   [&](std::uint8_t a, std::uint8_t b) { return signature[a] < signature[b]; });
  const auto same = [&](std::uint8_t a, std::uint8_t b) { return signature[a] == signature[b]; };
  bytes.erase(std::unique(bytes.begin(), bytes.end(), same), bytes.end());
  std::sort(bytes.begin(), bytes.end());
  return bytes;
}

}  // namespace structag
