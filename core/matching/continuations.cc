#include "matching/continuations.h"

#include <algorithm>

namespace structag {
namespace {

std::uint64_t PairKey(ContinuationId a, ContinuationId b) {
  return std::uint64_t{std::min(Raw(a), Raw(b))} << 32 | std::max(Raw(a), Raw(b));
}

}  // namespace

ContinuationPool::ContinuationPool(ExprPool& exprs, Meter& meter) : exprs_(exprs), meter_(meter) {
  std::vector<std::uint32_t> none;
  Intern(none, false);
  Intern(none, true);
}

ContinuationId ContinuationPool::Intern(std::vector<std::uint32_t>& frames, bool may_end) {
  // Of two budgets before the same continuation the larger one allows all that the other does.
  bool has_budget = false;
  for (std::size_t i = 0; i < frames.size(); i += 2) {
    const Expr& tail = exprs_[ExprId{frames[i]}];
    has_budget = has_budget || tail.kind == Kind::kClose || nodes_[frames[i + 1]].has_budget;
    if (tail.kind != Kind::kClose) continue;
    for (std::size_t j = i + 2; j < frames.size();) {
      const Expr& other = exprs_[ExprId{frames[j]}];
      if (other.kind != Kind::kClose || frames[j + 1] != frames[i + 1]) {
        j += 2;
        continue;
      }
      if (other.a > exprs_[ExprId{frames[i]}].a) frames[i] = frames[j];
      const auto at = frames.begin() + static_cast<std::ptrdiff_t>(j);
      frames.erase(at, at + 2);
    }
  }
  if (frames.size() > 2) {
    sorted_.clear();
    for (std::size_t i = 0; i < frames.size(); i += 2) {
      sorted_.emplace_back(frames[i], frames[i + 1]);
    }
    std::sort(sorted_.begin(), sorted_.end());
    for (std::size_t i = 0; i < sorted_.size(); ++i) {
      frames[2 * i] = sorted_[i].first;
      frames[2 * i + 1] = sorted_[i].second;
    }
  }
  Node node{.is_list = frames.size() != 2, .may_end = may_end, .has_budget = has_budget};
  node.a = node.is_list ? Raw(lists_.Intern(frames)) : frames[0];
  node.b = node.is_list ? 0 : frames[1];
  const std::uint32_t key[3] = {node.a, node.b, (node.is_list ? 2u : 0u) + (may_end ? 1u : 0u)};
  std::uint32_t* slot = index_.Find(HashWords(key), [&](std::uint32_t id) {
    const Node& other = nodes_[id];
    return other.a == node.a && other.b == node.b && other.is_list == node.is_list &&
           other.may_end == may_end;
  });
  if (*slot != InternIndex::kNone) return ContinuationId{*slot};
  const std::uint32_t id = static_cast<std::uint32_t>(nodes_.size());
  nodes_.Push(node);
  index_.Commit(id);
  return ContinuationId{id};
}

ContinuationId ContinuationPool::Push(ExprId tail, ContinuationId next) {
  if (tail == ExprPool::kEpsilon || next == kNothing) return next;
  meter_.Charge(1);
  const Expr& e = exprs_[tail];
  // x* x* is x*.
  if (e.kind == Kind::kRepeat && e.b == 0 && e.c == kUnbounded && !MayEnd(next) &&
      FrameCount(next) == 1 && FrameAt(next, 0).tail == tail) {
    return next;
  }
  pushed_.assign({Raw(tail), Raw(next)});
  return Intern(pushed_, false);
}

ContinuationId ContinuationPool::PushMark(std::uint32_t label, ContinuationId next) {
  const ExprId leave = exprs_.Make(Kind::kLeave, label);
  const bool is_inside = !MayEnd(next) && FrameCount(next) == 1 && FrameAt(next, 0).tail == leave;
  return is_inside ? next : Push(leave, next);
}

ContinuationId ContinuationPool::Unite(ContinuationId a, ContinuationId b) {
  struct Pair {
    ContinuationId a, b;
  };
  const auto known = [&](ContinuationId x, ContinuationId y) -> ContinuationId {
    if (x == y || y == kNothing) return x;
    if (x == kNothing) return y;
    const std::uint32_t* id = united_.Get(PairKey(x, y));
    return id ? ContinuationId{*id} : kNothing;
  };
  if (const ContinuationId id = known(a, b); id != kNothing || a == b) return id;
  std::vector<Pair> stack{{a, b}};
  std::vector<std::uint32_t> frames;
  while (!stack.empty()) {
    const Pair top = stack.back();
    meter_.Charge(1 + FrameCount(top.a) + FrameCount(top.b));
    frames.clear();
    bool ready = true;
    std::size_t i = 0;
    std::size_t j = 0;
    while (i < FrameCount(top.a) || j < FrameCount(top.b)) {
      const bool has_a = i < FrameCount(top.a);
      const bool has_b = j < FrameCount(top.b);
      const Frame fa = has_a ? FrameAt(top.a, i) : Frame{};
      const Frame fb = has_b ? FrameAt(top.b, j) : Frame{};
      ContinuationId next;
      ExprId tail = fa.tail;
      if (has_a && has_b && fa.tail == fb.tail) {
        next = known(fa.next, fb.next);
        if (next == kNothing && fa.next != fb.next) {
          stack.push_back({fa.next, fb.next});
          ready = false;
        }
        ++i;
        ++j;
      } else if (has_a && (!has_b || Raw(fa.tail) < Raw(fb.tail))) {
        next = fa.next;
        ++i;
      } else {
        tail = fb.tail;
        next = fb.next;
        ++j;
      }
      frames.push_back(Raw(tail));
      frames.push_back(Raw(next));
    }
    if (!ready) continue;
    stack.pop_back();
    const ContinuationId id = Intern(frames, MayEnd(top.a) || MayEnd(top.b));
    united_.Set(PairKey(top.a, top.b), Raw(id));
  }
  return known(a, b);
}

// Rebuilds the graph from `id` on, budgets changed by change(count) -> count or -1 to drop the
// frame.
template <class Change>
ContinuationId ContinuationPool::Rewrite(ContinuationId id, Memo& memo, std::uint32_t salt,
                                         Change change) {
  const auto key = [&](ContinuationId c) { return std::uint64_t{salt} << 32 | Raw(c); };
  const auto known = [&](ContinuationId c) -> const std::uint32_t* { return memo.Get(key(c)); };
  std::vector<ContinuationId> stack{id};
  std::vector<std::uint32_t> frames;
  while (!stack.empty()) {
    const ContinuationId top = stack.back();
    if (known(top)) {
      stack.pop_back();
      continue;
    }
    meter_.Charge(1 + FrameCount(top));
    frames.clear();
    bool ready = true;
    for (std::size_t i = 0; i < FrameCount(top); ++i) {
      Frame frame = FrameAt(top, i);
      if (HasBudget(frame.next)) {
        const std::uint32_t* next = known(frame.next);
        if (!next) {
          stack.push_back(frame.next);
          ready = false;
          continue;
        }
        frame.next = ContinuationId{*next};
      }
      const Expr& tail = exprs_[frame.tail];
      if (tail.kind == Kind::kClose) {
        const std::int64_t count = change(tail.a);
        if (count < 0) continue;
        frame.tail = exprs_.Make(Kind::kClose, static_cast<std::uint32_t>(count));
      }
      if (frame.next == kNothing) continue;
      frames.push_back(Raw(frame.tail));
      frames.push_back(Raw(frame.next));
    }
    if (!ready) continue;
    stack.pop_back();
    // Two tails may have become one (counts cut to the same): unite what follows them.
    ContinuationId result = MayEnd(top) ? kEnd : kNothing;
    if (frames.size() <= 2) {
      result = Intern(frames, MayEnd(top));
    } else {
      for (std::size_t i = 0; i < frames.size(); i += 2) {
        std::vector<std::uint32_t> one{frames[i], frames[i + 1]};
        result = Unite(result, Intern(one, false));
      }
    }
    memo.Set(key(top), Raw(result));
  }
  return ContinuationId{*known(id)};
}

ContinuationId ContinuationPool::Tick(ContinuationId id) {
  if (!HasBudget(id)) return id;
  return Rewrite(id, ticked_, 0,
                 [](std::uint32_t left) { return static_cast<std::int64_t>(left) - 1; });
}

ContinuationId ContinuationPool::ClipBudgets(ContinuationId id, std::uint32_t most) {
  if (!HasBudget(id)) return id;
  return Rewrite(id, clipped_, most, [most](std::uint32_t left) {
    return static_cast<std::int64_t>(std::min(left, most));
  });
}

bool ContinuationPool::LeavesRegions(ContinuationId id) const {
  if (!HasBudget(id)) return true;
  if (MayEnd(id)) return true;
  // A region's own frames are few: its operand is free text, or one character repeated.
  std::vector<ContinuationId> stack{id};
  std::vector<std::uint32_t> seen;
  while (!stack.empty()) {
    const ContinuationId top = stack.back();
    stack.pop_back();
    for (std::size_t i = 0; i < FrameCount(top); ++i) {
      const Frame frame = FrameAt(top, i);
      if (exprs_[frame.tail].kind == Kind::kClose) continue;
      if (MayEnd(frame.next) || !HasBudget(frame.next)) return true;
      if (std::ranges::find(seen, Raw(frame.next)) == seen.end()) {
        seen.push_back(Raw(frame.next));
        stack.push_back(frame.next);
      }
    }
  }
  return false;
}

std::size_t ContinuationPool::MemoryBytes() const noexcept {
  return lists_.Bytes() + nodes_.Bytes() + index_.Bytes() + united_.Bytes() + ticked_.Bytes() +
         clipped_.Bytes();
}

}  // namespace structag
