#include "expressions/counts.h"

#include <algorithm>

namespace structag {
namespace {

constexpr unsigned kDeep = 200;  // counts nested deeper than this stay as they are

}  // namespace

ExprId Counts::Generalize(ExprId id) {
  const Expr e = pool_[id];
  switch (e.kind) {
    case Kind::kNot: return pool_.MakeNot(ExprPool::kEmpty, e.b);
    case Kind::kRepeat: return pool_.MakeRepeat(ExprId{e.a}, 0, kUnbounded);
    case Kind::kEncoded:
      if (e.b != kCodecRest) return id;
      return pool_.MakeEncoded(Generalize(ExprId{e.a}), e.b, Codec{e.c});
    case Kind::kAnd: {
      std::vector<std::uint32_t> parts;
      for (std::uint32_t part : pool_.Members(id)) parts.push_back(Raw(Generalize(ExprId{part})));
      return pool_.MakeAnd(std::move(parts));
    }
    default: return id;
  }
}

ExprId Counts::Clip(ExprId id, unsigned depth) {
  const Expr e = pool_[id];
  if (depth > kDeep) return id;
  if (e.kind != Kind::kRepeat && e.kind != Kind::kSeq && e.kind != Kind::kAlt &&
      e.kind != Kind::kEncoded) {
    return id;  // under And and Not a count decides what is dead
  }
  if (const auto found = clipped_.find(Raw(id)); found != clipped_.end()) return found->second;
  const auto part = [&](std::uint32_t child) { return Clip(ExprId{child}, depth + 1); };
  ExprId result = id;
  switch (e.kind) {
    case Kind::kRepeat:
      result = pool_.MakeRepeat(part(e.a), std::min(e.b, longest_ + 1),
                                e.c >= longest_ ? kUnbounded : e.c);
      break;
    case Kind::kSeq: {
      const ExprId first = part(e.a);
      result = pool_.MakeSeq(first, part(e.b));
      break;
    }
    case Kind::kAlt: {
      std::vector<std::uint32_t> members;
      for (std::uint32_t member : pool_.Members(id)) members.push_back(Raw(part(member)));
      result = pool_.MakeAlt(std::move(members));
      break;
    }
    default: result = pool_.MakeEncoded(part(e.a), e.b, Codec{e.c}); break;
  }
  clipped_.emplace(Raw(id), result);
  clipped_.emplace(Raw(result), result);
  return result;
}

Counts::Lifted Counts::Lift(ExprId id, bool is_last, unsigned depth) {
  const Expr e = pool_[id];
  Lifted result{id, kUnbounded};
  const auto part = [&](std::uint32_t child, bool last) {
    const Lifted lifted = Lift(ExprId{child}, last, depth + 1);
    result.slack = std::min(result.slack, lifted.slack);
    return Raw(lifted.id);
  };
  if (depth > kDeep) return {id, 0};
  const std::uint64_t key = std::uint64_t{Raw(id)} << 1 | (is_last ? 1 : 0);
  if (const auto found = lifted_.find(key); found != lifted_.end()) return found->second;
  switch (e.kind) {
    case Kind::kRepeat: {
      const std::uint32_t child = part(e.a, false);
      const std::uint64_t least = std::max<std::uint64_t>(pool_[ExprId{e.a}].min_length, 1);
      if (e.c != kUnbounded) {
        result.slack =
            static_cast<std::uint32_t>(std::min(least * e.c, std::uint64_t{result.slack}));
      }
      result.id = pool_.MakeRepeat(ExprId{child}, is_last ? 0 : e.b, kUnbounded);
      break;
    }
    case Kind::kSeq: {
      const std::uint32_t first = part(e.a, false);
      result.id = pool_.MakeSeq(ExprId{first}, ExprId{part(e.b, is_last)});
      break;
    }
    case Kind::kAlt: {
      std::vector<std::uint32_t> members;
      for (std::uint32_t member : pool_.Members(id)) members.push_back(part(member, is_last));
      result.id = pool_.MakeAlt(std::move(members));
      break;
    }
    case Kind::kEncoded:
      result.id = pool_.MakeEncoded(ExprId{part(e.a, is_last)}, e.b, Codec{e.c});
      break;
    default: break;  // under And and Not a count decides what is dead
  }
  lifted_.emplace(key, result);
  return result;
}

}  // namespace structag
