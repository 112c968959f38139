#include "likeness.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace structag {
namespace {

constexpr std::size_t kMostPairs = 128;
constexpr std::uint32_t kFar = 1u << 20;

std::uint64_t Key(ExprId a, ExprId b) { return std::uint64_t{Raw(a)} << 32 | Raw(b); }

struct Pair {
  std::uint32_t unit, wider;         // rows
  std::vector<std::uint32_t> after;  // pairs that one byte leads to
  std::uint32_t need = kFar;         // bytes to an end
  std::uint32_t pumped_need = kFar;  // bytes to an end past a byte that can be repeated
};

// Shortest ways, by relaxation: the pairs are few.
void FindNeeds(std::vector<Pair>& pairs) {
  const auto relax = [&](std::uint32_t Pair::* need) {
    for (bool changed = true; changed;) {
      changed = false;
      for (Pair& pair : pairs) {
        for (std::uint32_t next : pair.after) {
          if (pairs[next].*need + 1 >= pair.*need) continue;
          pair.*need = pairs[next].*need + 1;
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

}  // namespace

std::optional<Likeness::Need> Likeness::Known(ExprId unit, ExprId wider) const {
  const std::uint32_t* known = known_.Get(Key(unit, wider));
  if (!known || *known == kUnlike) return std::nullopt;
  return Need{*known & ~kPumps, (*known & kPumps) != 0};
}

std::optional<Likeness::Need> Likeness::Find(ExprId unit, ExprId wider) {
  if (known_.Get(Key(unit, wider))) return Known(unit, wider);
  std::vector<Pair> pairs{{rows_.Of(unit), rows_.Of(wider), {}}};
  bool is_like = pairs[0].unit != UnitRows::kDead;
  for (std::size_t i = 0; i < pairs.size() && is_like; ++i) {
    const std::uint32_t one = pairs[i].unit;
    const std::uint32_t other = pairs[i].wider;
    if (rows_.IsNullable(one)) pairs[i].need = 0;
    std::uint32_t last = kFar;
    rows_.FirstBytesOf(other).ForEach([&](std::uint8_t byte) {
      const std::uint32_t to = is_like ? rows_.Step(other, byte) : UnitRows::kDead;
      if (to == UnitRows::kDead) return;
      const std::uint32_t from = rows_.Step(one, byte);
      is_like = from != UnitRows::kDead;
      if (!is_like || (last != kFar && pairs[last].unit == from && pairs[last].wider == to)) return;
      const auto found = std::ranges::find_if(
          pairs, [&](const Pair& pair) { return pair.unit == from && pair.wider == to; });
      last = static_cast<std::uint32_t>(found - pairs.begin());
      if (found == pairs.end()) pairs.push_back({from, to, {}});
      pairs[i].after.push_back(last);
    });
    is_like = is_like && pairs.size() <= kMostPairs;
  }
  if (!is_like) {
    known_.Set(Key(unit, wider), kUnlike);
    return std::nullopt;
  }
  FindNeeds(pairs);
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

std::uint32_t Likeness::Slack(const Counted& counted, const std::optional<Need>& need) noexcept {
  if (!need || (counted.min > 0 && !need->pumps)) return 0;
  if (counted.max == kUnbounded) return kUnbounded;
  return counted.max - std::min(counted.max, need->bytes);
}

}  // namespace structag
