#include "expressions/liveness.h"

#include <algorithm>
#include <queue>

#include "expressions/first_bytes.h"

namespace structag {
namespace {

constexpr std::uint8_t kRareByte = 0x01;  // begins hardly any text that a grammar names

}  // namespace

bool Liveness::IsLive(ExprId id) {
  const Expr& e = pool_[id];
  if (e.plain) return id != ExprPool::kEmpty;
  if (e.nullable) return true;
  if (const std::uint32_t* known = known_.Get(Raw(id))) return *known != 0;
  bool live = false;
  switch (e.kind) {
    case Kind::kAssertion: live = true; break;
    case Kind::kSeq: {
      ExprId at = id;
      live = true;
      while (live && pool_[at].kind == Kind::kSeq) {
        live = IsLive(ExprId{pool_[at].a});
        at = ExprId{pool_[at].b};
      }
      live = live && IsLive(at);
      break;
    }
    case Kind::kAlt: {
      for (std::uint32_t member : pool_.Members(id)) {
        if (IsLive(ExprId{member})) {
          live = true;
          break;
        }
      }
      break;
    }
    case Kind::kRepeat:
    case Kind::kKey:
    case Kind::kTransparent: live = IsLive(ExprId{e.a}); break;
    case Kind::kEncoded:
      // Every text can be spelled, so at rest only the text matters.
      live = e.b == kCodecRest ? IsLive(ExprId{e.a}) : IsPendingLive(e);
      break;
    case Kind::kNot:
      // A character that the operand does not begin with leads to all text.
      if (e.b == kUtf8Start && deriver_.Derive(ExprId{e.a}, kRareByte) == ExprPool::kEmpty) {
        live = true;
        break;
      }
      return Search(id);
    default: return Search(id);
  }
  known_.Set(Raw(id), live ? 1 : 0);
  return live;
}

// By length: every residual with the number of ways that lead to it.
std::uint32_t Liveness::CountStrings(ExprId start, std::uint32_t many) {
  std::uint64_t count = 0;
  std::uint32_t length = 0;
  constexpr std::uint64_t kMostSteps = 1'000'000;
  std::uint64_t steps = 0;
  FirstBytes first(pool_);
  Memo known;  // every residual that was met
  std::vector<std::pair<ExprId, std::uint64_t>> now, next;
  known.Set(Raw(start), 1);
  if (IsLive(start)) now.emplace_back(start, 1);
  for (; !now.empty(); ++length, std::swap(now, next)) {
    Memo places;  // in `next`
    next.clear();
    for (const auto& [id, ways] : now) {
      if (pool_[id].nullable) count += ways;
      if (count >= many) return kUnbounded;
      steps += 1 + (pool_[id].kind == Kind::kAlt ? pool_.Members(id).size() : 0);
      if (steps > kMostSteps) throw LimitReached(Limit::kWork, meter_.limits().max_work);
      first.Of(id).ForEach([&](std::uint8_t byte) {
        meter_.Charge(1);
        const ExprId rest = deriver_.Derive(id, byte);
        if (rest == ExprPool::kEmpty || !IsLive(rest)) return;
        if (const std::uint32_t* place = places.Get(Raw(rest))) {
          next[*place].second = std::min<std::uint64_t>(next[*place].second + ways, many);
        } else {
          known.Set(Raw(rest), 1);
          places.Set(Raw(rest), static_cast<std::uint32_t>(next.size()));
          next.emplace_back(rest, ways);
        }
      });
    }
    // A way over more residuals than there are goes in a circle.
    if (!next.empty() && length + 2 > known.size()) return kUnbounded;
  }
  return static_cast<std::uint32_t>(count);
}

ExprId Liveness::LiveDerivative(ExprId head, std::uint8_t byte) {
  const ExprId rest = deriver_.Derive(head, byte);
  const bool is_case = pool_[head].kind == Kind::kScan && pool_[rest].kind != Kind::kScan;
  return is_case || IsLive(rest) ? rest : ExprPool::kEmpty;
}

bool Liveness::IsPendingLive(const Expr& encoded) {
  const Expr& child = pool_[ExprId{encoded.a}];
  if (child.kind == Kind::kNot && ExprId{child.a} == ExprPool::kEmpty && child.b == kUtf8Start) {
    return !CodecPending(Codec{encoded.c}, encoded.b).empty();  // any character will do
  }
  for (const auto& [low, high] : CodecPending(Codec{encoded.c}, encoded.b)) {
    for (const Utf8Sequence& sequence : Utf8Sequences(low, high)) {
      if (CanSpell(ExprId{encoded.a}, sequence, 0)) return true;
    }
  }
  return false;
}

bool Liveness::CanSpell(ExprId child, const Utf8Sequence& sequence, std::uint32_t at) {
  if (child == ExprPool::kEmpty) return false;
  if (at == sequence.size) return IsLive(child);
  const ByteRange range = sequence.ranges[at];
  // Residuals repeat within a range: each distinct one is followed once.
  std::vector<ExprId> seen;
  for (unsigned b = range.low; b <= range.high; ++b) {
    meter_.Charge(1);
    const ExprId next = deriver_.Derive(child, b);
    if (std::ranges::find(seen, next) != seen.end()) continue;
    seen.push_back(next);
    if (CanSpell(next, sequence, at + 1)) return true;
  }
  return false;
}

bool Liveness::IsScanHit(const Expr& from, ExprId residual) const {
  if (from.kind != Kind::kScan || residual == ExprPool::kEmpty) return false;
  const Expr& r = pool_[residual];
  if (r.kind == Kind::kScan && r.a == from.a) return false;
  if (r.kind != Kind::kAlt) return r.productive;
  return std::ranges::any_of(pool_.Members(residual),
                             [&](std::uint32_t id) { return pool_[ExprId{id}].productive; });
}

ExprId Liveness::Relax(ExprId id) {
  constexpr std::uint32_t kLarge = 32;
  const Expr e = pool_[id];
  if (e.plain && e.kind != Kind::kRepeat && e.kind != Kind::kSeq && e.kind != Kind::kAlt) return id;
  if (const std::uint32_t* known = relaxed_.Get(Raw(id))) return ExprId{*known};
  ExprId result = id;
  const auto members = [&] {
    std::vector<std::uint32_t> out;
    for (std::uint32_t member : pool_.Members(id)) out.push_back(Raw(Relax(ExprId{member})));
    return out;
  };
  switch (e.kind) {
    case Kind::kRepeat: {
      const bool is_large = e.b > kLarge || (e.c != kUnbounded && e.c > kLarge);
      result = pool_.MakeRepeat(Relax(ExprId{e.a}), is_large ? std::min(e.b, 1u) : e.b,
                                is_large ? kUnbounded : e.c);
      break;
    }
    case Kind::kSeq: {
      std::vector<ExprId> parts;
      for (; pool_[id].kind == Kind::kSeq; id = ExprId{pool_[id].b}) {
        parts.push_back(Relax(ExprId{pool_[id].a}));
      }
      ExprId seq = Relax(id);
      for (; !parts.empty(); parts.pop_back()) seq = pool_.MakeSeq(parts.back(), seq);
      return seq;
    }
    case Kind::kAlt: result = pool_.MakeAlt(members()); break;
    case Kind::kAnd: result = pool_.MakeAnd(members()); break;
    case Kind::kErase: {
      const ExprId child = Relax(ExprId{e.a});
      result =
          child == ExprId{e.a} ? id : pool_.MakeErase(deriver_.CloseUnderMarks(child, e.b), e.b);
      break;
    }
    case Kind::kTransparent: result = pool_.MakeTransparent(Relax(ExprId{e.a})); break;
    case Kind::kEncoded: result = pool_.MakeEncoded(Relax(ExprId{e.a}), e.b, Codec{e.c}); break;
    default: break;  // under Not a larger operand means a smaller language
  }
  relaxed_.Set(Raw(id), Raw(result));
  return result;
}

bool Liveness::IsHopeless(ExprId id) {
  const Expr e = pool_[id];
  if (e.plain) return false;
  const auto is_hopeless = [this](std::uint32_t part) { return IsHopeless(ExprId{part}); };
  switch (e.kind) {
    case Kind::kErase:
    case Kind::kTransparent: return is_hopeless(e.a);
    case Kind::kAlt: return std::ranges::all_of(pool_.Members(id), is_hopeless);
    case Kind::kAnd: return std::ranges::any_of(pool_.Members(id), is_hopeless);
    case Kind::kSeq: return is_hopeless(e.a);  // only the first part can be in an escape
    case Kind::kEncoded: break;
    default: return false;
  }
  if (e.b == kCodecRest) return false;
  if (const std::uint32_t* known = hopeless_.Get(Raw(id))) return *known != 0;
  const bool hopeless = !IsPendingLive(e);
  hopeless_.Set(Raw(id), hopeless ? 1 : 0);
  return hopeless;
}

void Liveness::CheckMemory(std::size_t search_bytes) const {
  const std::uint64_t most = meter_.limits().max_memory_bytes;
  if (pool_.MemoryBytes() + deriver_.MemoryBytes() + MemoryBytes() + search_bytes > most) {
    throw LimitReached(Limit::kMemory, most);
  }
}

bool Liveness::Search(ExprId start) {
  if (const ExprId relaxed = Relax(start); relaxed != start && !IsLive(relaxed)) {
    known_.Set(Raw(start), 0);
    return false;
  }
  struct Node {
    ExprId id;
    std::uint32_t parent;
  };
  struct Entry {
    std::uint32_t far;      // at least this many bytes to an end
    std::uint64_t missing;  // the same, of all operands together
    std::uint32_t node;
    bool operator<(const Entry& o) const {  // nearest first, then the latest found
      if (far != o.far) return far > o.far;
      return missing != o.missing ? missing > o.missing : node < o.node;
    }
  };
  const auto entry = [&](ExprId id, std::size_t node) {
    std::uint64_t missing = 0;
    if (pool_[id].kind == Kind::kAnd) {
      for (std::uint32_t part : pool_.Members(id)) missing += pool_[ExprId{part}].min_length;
    }
    return Entry{pool_[id].min_length, missing, static_cast<std::uint32_t>(node)};
  };
  constexpr std::uint32_t kNoParent = 0xFFFFFFFFu;
  constexpr std::uint64_t kExpansion = 256;  // what telling bytes apart costs, in steps
  std::vector<Node> nodes{{start, kNoParent}};
  Memo seen;
  seen.Set(Raw(start), 0);
  std::priority_queue<Entry> open;
  open.push(entry(start, 0));
  const auto mark_path = [&](std::uint32_t node) {
    for (std::uint32_t n = node; n != kNoParent; n = nodes[n].parent) {
      known_.Set(Raw(nodes[n].id), 1);
    }
    return true;
  };
  while (!open.empty()) {
    const std::uint32_t node = open.top().node;
    open.pop();
    if (nodes.size() % 1024 == 0) CheckMemory(nodes.size() * (sizeof(Node) + sizeof(Entry)));
    const ExprId id = nodes[node].id;
    const Expr& e = pool_[id];
    meter_.Charge(kExpansion);
    for (std::uint8_t byte : deriver_.Representatives(id)) {
      meter_.Charge(1);
      const ExprId next = deriver_.Derive(id, byte);
      if (next == ExprPool::kEmpty) continue;
      const Expr& r = pool_[next];
      if (IsScanHit(e, next)) return mark_path(node);
      if (e.kind == Kind::kScan && !(r.kind == Kind::kScan && r.a == e.a)) continue;
      const std::uint32_t* known = known_.Get(Raw(next));
      if (r.nullable || (r.plain && next != ExprPool::kEmpty) || (known && *known)) {
        return mark_path(node);
      }
      if ((known && !*known) || seen.Get(Raw(next))) continue;
      if (IsHopeless(next)) {
        known_.Set(Raw(next), 0);
        continue;
      }
      if (r.kind == Kind::kAnd) {  // an operand that is dead by itself needs no search
        bool possible = true;
        for (std::uint32_t part : pool_.Members(next)) {
          const Expr& p = pool_[ExprId{part}];
          if (!p.plain && p.kind != Kind::kNot && !IsLive(ExprId{part})) possible = false;
        }
        if (!possible) {
          known_.Set(Raw(next), 0);
          continue;
        }
      } else if (r.kind == Kind::kSeq || r.kind == Kind::kAlt || r.kind == Kind::kEncoded) {
        if (IsLive(next)) return mark_path(node);
        continue;
      }
      seen.Set(Raw(next), 0);
      nodes.push_back({next, node});
      open.push(entry(next, nodes.size() - 1));
    }
  }
  for (const Node& node : nodes) known_.Set(Raw(node.id), 0);
  return false;
}

}  // namespace structag
