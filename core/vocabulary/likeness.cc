#include "vocabulary/likeness.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace structag {
namespace {

constexpr std::size_t kMostPairs = 128;
constexpr std::uint32_t kFar = 1u << 20;

std::uint64_t Key(ExprId a, ExprId b) { return std::uint64_t{Raw(a)} << 32 | Raw(b); }

}  // namespace

struct Likeness::Pair {
  std::uint32_t unit, wider;         // rows
  std::vector<std::uint32_t> after;  // pairs that one byte leads to
  std::uint32_t need = kFar;         // bytes to an end
  std::uint32_t pumped_need = kFar;  // bytes to an end past a byte that can be repeated

  // Shortest ways, by relaxation; backwards, since ways lead on to pairs that were found later.
  static void FindNeeds(std::vector<Pair>& pairs) {
    const auto relax = [&](std::uint32_t Pair::* need) {
      for (bool changed = true; changed;) {
        changed = false;
        for (auto pair = pairs.rbegin(); pair != pairs.rend(); ++pair) {
          for (std::uint32_t next : pair->after) {
            if (pairs[next].*need + 1 >= (*pair).*need) continue;
            (*pair).*need = pairs[next].*need + 1;
            changed = true;
          }
        }
      }
    };
    relax(&Pair::need);
    for (std::uint32_t i = 0; i < pairs.size(); ++i) {
      if (std::ranges::find(pairs[i].after, i) != pairs[i].after.end()) {
        pairs[i].pumped_need = pairs[i].need;
      }
    }
    relax(&Pair::pumped_need);
  }
};

// What leads to the pair at `from` is as unlike as that; all of them are as hard to tell if there
// are too many.
void Likeness::NoteUnlike(const std::vector<Pair>& pairs, std::size_t from, bool are_many) {
  std::vector<bool> is_unlike(pairs.size(), are_many);
  is_unlike[from] = true;
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t i = pairs.size(); i-- > 0;) {
      const auto leads = [&](std::uint32_t next) { return is_unlike[next]; };
      if (is_unlike[i] || std::ranges::none_of(pairs[i].after, leads)) continue;
      changed = is_unlike[i] = true;
    }
  }
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    if (is_unlike[i])
      known_.Set(Key(rows_.IdOf(pairs[i].unit), rows_.IdOf(pairs[i].wider)), kUnlike);
  }
}

std::optional<Likeness::Need> Likeness::Known(ExprId unit, ExprId wider) const {
  const std::uint32_t* known = known_.Get(Key(unit, wider));
  if (!known || *known == kUnlike) return std::nullopt;
  return Need{*known & ~kPumps, (*known & kPumps) != 0};
}

std::optional<Likeness::Need> Likeness::Find(ExprId unit, ExprId wider) {
  if (known_.Get(Key(unit, wider))) return Known(unit, wider);
  std::vector<Pair> pairs{{rows_.Of(unit), rows_.Of(wider), {}}};
  Memo places;  // of pairs
  const auto place_of = [&](std::uint32_t one, std::uint32_t other) {
    const std::uint64_t key = std::uint64_t{one} << 32 | other;
    if (const std::uint32_t* known = places.Get(key)) return *known;
    const auto place = static_cast<std::uint32_t>(places.size());
    places.Set(key, place);
    return place;
  };
  place_of(pairs[0].unit, pairs[0].wider);
  bool is_like = pairs[0].unit != UnitRows::kDead;
  std::size_t last_seen = 0;
  for (std::size_t i = 0; i < pairs.size() && is_like; ++i) {
    last_seen = i;
    const std::uint32_t one = pairs[i].unit;
    const std::uint32_t other = pairs[i].wider;
    const std::uint32_t* known = known_.Get(Key(rows_.IdOf(one), rows_.IdOf(other)));
    is_like = !known || *known != kUnlike;
    if (rows_.IsNullable(one)) pairs[i].need = 0;
    std::uint32_t last = kFar;
    rows_.FirstBytesOf(other).ForEach([&](std::uint8_t byte) {
      const std::uint32_t to = is_like ? rows_.Step(other, byte) : UnitRows::kDead;
      if (to == UnitRows::kDead) return;
      const std::uint32_t from = rows_.Step(one, byte);
      is_like = from != UnitRows::kDead;
      if (!is_like || (last != kFar && pairs[last].unit == from && pairs[last].wider == to)) return;
      last = place_of(from, to);
      if (last == pairs.size()) pairs.push_back({from, to, {}});
      pairs[i].after.push_back(last);
    });
    is_like = is_like && pairs.size() <= kMostPairs;
  }
  if (!is_like) {
    NoteUnlike(pairs, last_seen, pairs.size() > kMostPairs);
    return std::nullopt;
  }
  Pair::FindNeeds(pairs);
  // One answer for all of them: what one of them needs, those that lead to it have to allow for.
  Need most{0, true};
  for (const Pair& pair : pairs) most.pumps = most.pumps && pair.pumped_need < kFar;
  for (const Pair& pair : pairs) {
    most.bytes = std::max(most.bytes, most.pumps ? pair.pumped_need : pair.need);
  }
  const std::uint32_t packed = most.bytes | (most.pumps ? kPumps : 0);
  for (const Pair& pair : pairs) {
    known_.Set(Key(rows_.IdOf(pair.unit), rows_.IdOf(pair.wider)), packed);
  }
  return most;
}

bool Likeness::IsWithin(ExprId unit, ExprId wider) {
  if (const std::uint32_t* known = within_.Get(Key(unit, wider))) return *known != 0;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;  // rows
  Memo seen;
  const auto see = [&](std::uint32_t one, std::uint32_t other) {
    const std::uint64_t key = std::uint64_t{one} << 32 | other;
    if (seen.Get(key)) return;
    seen.Set(key, 1);
    pairs.emplace_back(one, other);
  };
  see(rows_.Of(unit), rows_.Of(wider));
  bool is_within = true;
  for (std::size_t i = 0; i < pairs.size() && is_within; ++i) {
    const auto [one, other] = pairs[i];
    is_within = !rows_.IsNullable(one) || rows_.IsNullable(other);
    rows_.FirstBytesOf(one).ForEach([&](std::uint8_t byte) {
      const std::uint32_t from = is_within ? rows_.Step(one, byte) : UnitRows::kDead;
      if (from == UnitRows::kDead) return;
      const std::uint32_t to = rows_.Step(other, byte);
      is_within = to != UnitRows::kDead;
      if (is_within) see(from, to);
    });
    is_within = is_within && pairs.size() <= kMostPairs;
  }
  if (!is_within && pairs.size() <= kMostPairs) pairs.resize(1);  // not all of them
  for (const auto& [one, other] : pairs) {
    within_.Set(Key(rows_.IdOf(one), rows_.IdOf(other)), is_within ? 1 : 0);
  }
  return is_within;
}

bool Likeness::IsPrefixFree(ExprId item) {
  if (pool_[item].span == 0) return false;
  if (const std::uint32_t* known = prefix_free_.Get(Raw(item))) return *known != 0;
  std::vector<std::uint32_t> rows{rows_.Of(item)};  // few: a class has at most four bytes
  bool is_free = true;
  for (std::size_t i = 0; i < rows.size() && is_free; ++i) {
    const std::uint32_t from = rows[i];
    is_free = !rows_.IsNullable(from) || rows_.IdOf(from) == ExprPool::kEpsilon;
    rows_.FirstBytesOf(from).ForEach([&](std::uint8_t byte) {
      const std::uint32_t row = rows_.Step(from, byte);
      if (row != UnitRows::kDead && std::ranges::find(rows, row) == rows.end()) rows.push_back(row);
    });
  }
  prefix_free_.Set(Raw(item), is_free ? 1 : 0);
  return is_free;
}

std::optional<Likeness::Counted> Likeness::AsCounted(ExprId unit) {
  const Expr e = pool_[unit];
  if (e.kind == Kind::kEncoded) {
    if (e.b != kCodecRest) return std::nullopt;
    std::optional<Counted> counted = AsCounted(ExprId{e.a});
    if (counted) {
      counted->run = pool_.MakeEncoded(counted->run, e.b, Codec{e.c});
      counted->uncounted = pool_.MakeEncoded(counted->uncounted, e.b, Codec{e.c});
    }
    return counted;
  }
  if (e.kind != Kind::kAnd) return std::nullopt;
  std::vector<std::uint32_t> members(pool_.Members(unit).begin(), pool_.Members(unit).end());
  for (std::uint32_t& member : members) {
    const Expr part = pool_[ExprId{member}];
    if (part.kind != Kind::kRepeat || (part.b == 0 && part.c == kUnbounded)) continue;
    if (!IsPrefixFree(ExprId{part.a})) continue;
    const ExprId run = pool_.MakeRepeat(ExprId{part.a}, 0, kUnbounded);
    member = Raw(run);
    return Counted{run, pool_.MakeAnd(std::move(members)), part.b, part.c};
  }
  return std::nullopt;
}

Counts::Lifted Likeness::Lift(const Counted& counted) const {
  return {counted.run,
          Slack(counted, Known(pool_.Spelled(counted.uncounted), pool_.Spelled(counted.run)))};
}

Counts::Lifted Likeness::Uncount(const Counted& counted) {
  const ExprId spelled = pool_.Spelled(counted.uncounted);
  if (counted.min == 0) {
    const ExprId run = pool_.Spelled(counted.run);
    std::vector<std::uint32_t> others;
    if (pool_[spelled].kind == Kind::kAnd) {
      others.assign(pool_.Members(spelled).begin(), pool_.Members(spelled).end());
    }
    std::erase(others, Raw(run));
    const auto plain = others.size() == 1 ? AsPlain(ExprId{others[0]}) : std::nullopt;
    if (plain && IsWithin(AnyLike(run), run)) {
      const Expr e = pool_[counted.run];
      const ExprId rest{others[0]};
      const ExprId unit =
          e.kind == Kind::kEncoded ? pool_.MakeEncoded(rest, e.b, Codec{e.c}) : rest;
      return {unit, Slack(counted, Need{plain->need, false})};
    }
  }
  return {counted.uncounted, Slack(counted, Find(spelled, spelled))};
}

// Of what is built from characters by sequence, choice and repetition, its structure tells.
const std::optional<Likeness::Plain>& Likeness::AsPlain(ExprId unit) {
  if (const auto known = plain_.find(unit); known != plain_.end()) return known->second;
  return plain_.emplace(unit, FindPlain(unit)).first->second;
}

std::optional<Likeness::Plain> Likeness::FindPlain(ExprId unit) {
  const Expr e = pool_[unit];
  if (e.kind == Kind::kEpsilon) return Plain{0, 0};
  if (e.span > 0) {
    if (!IsWithin(unit, AnyLike(unit))) return std::nullopt;
    return Plain{e.min_length, e.span};
  }
  const auto part = [&](std::uint32_t id) { return AsPlain(ExprId{id}); };
  switch (e.kind) {
    case Kind::kLiteral:
      if (!IsWithin(unit, AnyLike(unit))) return std::nullopt;
      return Plain{e.b, e.b};
    case Kind::kSeq: {
      const auto first = part(e.a);
      const auto rest = first ? part(e.b) : std::nullopt;
      if (!rest) return std::nullopt;
      return Plain{first->least + rest->least, std::max(first->need + rest->least, rest->need)};
    }
    case Kind::kAlt: {
      Plain whole{kUnbounded, 0};
      const std::vector<std::uint32_t> members(pool_.Members(unit).begin(),
                                               pool_.Members(unit).end());
      for (std::uint32_t id : members) {
        const auto member = part(id);
        if (!member) return std::nullopt;
        whole = {std::min(whole.least, member->least), std::max(whole.need, member->need)};
      }
      return whole;
    }
    case Kind::kRepeat: {
      const auto item = part(e.a);
      if (!item || std::uint64_t{item->least} * e.b > kFar) return std::nullopt;
      return Plain{item->least * e.b, item->need + item->least * e.b};
    }
    default: return std::nullopt;
  }
}

ExprId Likeness::AnyLike(ExprId unit) {
  const ExprId text = pool_.MakeNot(ExprPool::kEmpty, kUtf8Start);
  const Expr e = pool_[unit];
  return e.kind == Kind::kEncoded ? pool_.MakeEncoded(text, kCodecRest, Codec{e.c}) : text;
}

std::uint32_t Likeness::Slack(const Counted& counted, const std::optional<Need>& need) noexcept {
  if (!need || (counted.min > 0 && !need->pumps)) return 0;
  if (counted.max == kUnbounded) return kUnbounded;
  return counted.max - std::min(counted.max, need->bytes);
}

}  // namespace structag
