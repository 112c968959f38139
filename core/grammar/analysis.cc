#include "grammar/analysis.h"

#include <algorithm>
#include <vector>

#include "expressions/parts.h"
#include "grammar/program.h"

namespace structag {
namespace {

constexpr std::uint32_t kMaxRegularDepth = 1000;  // bounds the recursion in derive.cc

// The expressions that are judged.  What their judging adds to the pool lies behind them, and is
// judged as it is made.
struct Range {
  std::uint32_t first, end;
};

// Which expressions of the range a closure may meet: the root and what it is made of, but not
// the operands of And, Not, Encoded and Erase, which live inside a unit.  Those before it may
// be residuals, of which only `liveness` knows whether they derive anything.
std::vector<bool> FindMet(ExprPool& pool, ExprId root, Range range, Liveness& liveness) {
  const std::uint32_t first = range.first;
  std::vector<bool> met(range.end - first);
  std::vector<ExprId> stack{root};
  while (!stack.empty()) {
    const ExprId id = stack.back();
    stack.pop_back();
    const Expr& e = pool[id];
    if (Raw(id) < first) {
      if (e.regular && !e.plain) pool.Mutable(id).productive = liveness.IsLive(id);
      continue;
    }
    if (met[Raw(id) - first]) continue;
    met[Raw(id) - first] = true;
    if (e.kind == Kind::kAnd || e.kind == Kind::kNot || e.kind == Kind::kEncoded ||
        e.kind == Kind::kErase) {
      continue;
    }
    ForEachPart(pool, e, [&](ExprId part) { stack.push_back(part); });
  }
  return met;
}

// Calls visit(child) for what `e` may open with; kUnordered and kTally open with their members.
template <class Visit>
void ForEachLeftCorner(const ExprPool& pool, const Expr& e, Visit visit) {
  if (e.kind == Kind::kScan || e.kind == Kind::kNot || e.kind == Kind::kAnd ||
      e.kind == Kind::kEncoded || e.kind == Kind::kErase) {
    return;
  }
  if (e.kind == Kind::kSeq) {
    visit(ExprId{e.a});
    if (pool[ExprId{e.a}].nullable) visit(ExprId{e.b});
    return;
  }
  if (e.kind == Kind::kUnordered && e.c != kAfterMember) {
    const UnorderedTable& table = pool.unordered_[e.a];
    for (ExprId id : table.members) visit(id);
    visit(table.rest);
    return;
  }
  if (e.kind == Kind::kTally && e.c != kAfterMember) {
    for (ExprId id : pool.tallies_[e.a].kinds) visit(id);
    return;
  }
  ForEachPart(pool, e, visit);
}

// Sets a flag of every expression of the range to its least fixed point: evaluates everything
// once, then whatever a change may touch.
template <class Evaluate, class Flag>
void SetLeastFixedPoint(ExprPool& pool, Meter& meter, Range range, Evaluate evaluate, Flag flag) {
  const std::uint32_t first = range.first;
  const std::uint32_t end = range.end;
  std::vector<std::uint32_t> starts(end - first + 1);
  const auto for_each_new_part = [&](std::uint32_t id, auto visit) {
    ForEachPart(pool, pool[ExprId{id}], [&](ExprId part) {
      if (Raw(part) >= first) visit(Raw(part) - first);
    });
  };
  for (std::uint32_t id = first; id < end; ++id) {
    for_each_new_part(id, [&](std::uint32_t part) { ++starts[part + 1]; });
  }
  for (std::size_t i = 1; i < starts.size(); ++i) starts[i] += starts[i - 1];
  std::vector<std::uint32_t> parents(starts.back());
  std::vector<std::uint32_t> fill(starts.begin(), starts.end() - 1);
  for (std::uint32_t id = first; id < end; ++id) {
    for_each_new_part(id, [&](std::uint32_t part) { parents[fill[part]++] = id; });
  }
  std::vector<std::uint32_t> work;
  const auto check = [&](std::uint32_t id) {
    meter.Charge(1);
    Expr& e = pool.Mutable(ExprId{id});
    if (!(e.*flag) && evaluate(ExprId{id})) {
      e.*flag = true;
      work.push_back(id - first);
    }
  };
  for (std::uint32_t id = first; id < end; ++id) pool.Mutable(ExprId{id}).*flag = false;
  for (std::uint32_t id = first; id < end; ++id) {
    check(id);
    while (!work.empty()) {
      const std::uint32_t part = work.back();
      work.pop_back();
      for (std::uint32_t p = starts[part]; p < starts[part + 1]; ++p) check(parents[p]);
    }
  }
}

void CheckPromises(const ExprPool& pool, Range range) {
  const std::uint32_t first = range.first;
  const auto require_consuming = [&](ExprId id) {
    if (pool[id].nullable) throw BadProgram("a repeated member that may be empty");
  };
  std::vector<std::uint32_t> depths(range.end - first);
  for (std::uint32_t i = first; i < range.end; ++i) {
    const Expr& e = pool[ExprId{i}];
    if (e.kind == Kind::kRepeat && !e.regular) require_consuming(ExprId{e.a});
    if (e.kind == Kind::kUnordered) {
      for (ExprId id : pool.unordered_[e.a].members) require_consuming(id);
      require_consuming(pool.unordered_[e.a].rest);
    }
    if (e.kind == Kind::kTally) {
      for (ExprId id : pool.tallies_[e.a].kinds) require_consuming(id);
    }
    if (!e.regular) continue;
    // The rest of a sequence is followed in a loop, everything else by recursion.
    ForEachPart(pool, e, [&](ExprId part) {
      const bool is_rest = e.kind == Kind::kSeq && part == ExprId{e.b};
      const std::uint32_t below = Raw(part) < first ? 0 : depths[Raw(part) - first];
      depths[i - first] = std::max(depths[i - first], below + (is_rest ? 0 : 1));
    });
    if (depths[i - first] > kMaxRegularDepth) throw LimitReached(Limit::kNesting, kMaxRegularDepth);
  }
}

void SetRanks(ExprPool& pool, Meter& meter, Range range) {
  const std::uint32_t first = range.first;
  enum : std::uint8_t { kNew, kOpen, kDone };
  std::vector<std::uint8_t> marks(range.end - first, kNew);
  std::vector<std::uint32_t> stack;
  std::vector<std::uint32_t> corners;
  for (std::uint32_t start = first; start < range.end; ++start) {
    if (marks[start - first] != kNew) continue;
    stack.push_back(start);
    while (!stack.empty()) {
      meter.Charge(1);
      const std::uint32_t id = stack.back();
      std::uint8_t& mark = marks[id - first];
      corners.clear();
      ForEachLeftCorner(pool, pool[ExprId{id}], [&](ExprId c) { corners.push_back(Raw(c)); });
      if (mark == kNew) {
        mark = kOpen;
        for (std::uint32_t c : corners) {
          if (c < first) continue;
          if (marks[c - first] == kOpen) throw BadProgram("a rule that opens with itself");
          if (marks[c - first] == kNew) stack.push_back(c);
        }
        continue;
      }
      stack.pop_back();
      if (mark == kDone) continue;
      mark = kDone;
      if (pool[ExprId{id}].kind == Kind::kImport) continue;  // has one
      std::uint32_t rank = 0;
      for (std::uint32_t c : corners) rank = std::max(rank, pool[ExprId{c}].rank + 1);
      pool.Mutable(ExprId{id}).rank = rank;
    }
  }
}

}  // namespace

void AnalyzeGrammar(ExprPool& pool, ExprId root, Deriver& deriver, Liveness& liveness, Meter& meter,
                    std::size_t from) {
  const Range range{static_cast<std::uint32_t>(from), static_cast<std::uint32_t>(pool.size())};
  const std::vector<bool> met = FindMet(pool, root, range, liveness);
  SetLeastFixedPoint(
      pool, meter, range, [&](ExprId id) { return pool.EvaluateNullable(pool[id]); },
      &Expr::nullable);
  CheckPromises(pool, range);
  SetLeastFixedPoint(
      pool, meter, range,
      [&](ExprId id) {
        const Expr& e = pool[id];
        if (!met[Raw(id) - range.first]) return id != ExprPool::kEmpty;
        if (e.kind == Kind::kScan) {  // afresh each time: its cases are still being found out
          return Liveness(pool, deriver, meter).IsLive(id);
        }
        return e.regular ? liveness.IsLive(id) : pool.EvaluateProductive(e);
      },
      &Expr::productive);
  SetRanks(pool, meter, range);
  pool.Seal();
}

}  // namespace structag
