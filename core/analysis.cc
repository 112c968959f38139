#include "analysis.h"

#include <algorithm>
#include <vector>

#include "parts.h"
#include "program.h"

namespace structag {
namespace {

constexpr std::uint32_t kMaxRegularDepth = 1000;  // bounds the recursion in derive.cc

// Which expressions a closure may meet: the root and what it is made of, but not the operands of
// And, Not, Encoded and Erase, which live inside a unit.
std::vector<bool> FindMet(const ExprPool& pool, ExprId root) {
  std::vector<bool> met(pool.size());
  std::vector<ExprId> stack{root};
  while (!stack.empty()) {
    const ExprId id = stack.back();
    stack.pop_back();
    if (met[Raw(id)]) continue;
    met[Raw(id)] = true;
    const Expr& e = pool[id];
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

// Sets a flag to its least fixed point: evaluates everything once, then whatever a change may
// touch.
template <class Evaluate, class Flag>
void SetLeastFixedPoint(ExprPool& pool, Meter& meter, Evaluate evaluate, Flag flag) {
  const std::size_t count = pool.size();
  std::vector<std::uint32_t> first(count + 1);
  for (std::size_t i = 0; i < count; ++i) {
    ForEachPart(pool, pool[ExprId{static_cast<std::uint32_t>(i)}],
                [&](ExprId part) { ++first[Raw(part) + 1]; });
  }
  for (std::size_t i = 0; i < count; ++i) first[i + 1] += first[i];
  std::vector<std::uint32_t> parents(first[count]);
  std::vector<std::uint32_t> fill(first.begin(), first.end() - 1);
  for (std::uint32_t i = 0; i < count; ++i) {
    ForEachPart(pool, pool[ExprId{i}], [&](ExprId part) { parents[fill[Raw(part)]++] = i; });
  }
  std::vector<std::uint32_t> work;
  const auto check = [&](std::uint32_t id) {
    meter.Charge(1);
    Expr& e = pool.Mutable(ExprId{id});
    if (!(e.*flag) && evaluate(ExprId{id})) {
      e.*flag = true;
      work.push_back(id);
    }
  };
  for (std::uint32_t i = 0; i < count; ++i) {
    pool.Mutable(ExprId{i}).*flag = false;
  }
  for (std::uint32_t i = 0; i < count; ++i) {
    check(i);
    while (!work.empty()) {
      const std::uint32_t id = work.back();
      work.pop_back();
      for (std::uint32_t p = first[id]; p < first[id + 1]; ++p) check(parents[p]);
    }
  }
}

void CheckPromises(const ExprPool& pool, std::size_t count) {
  const auto require_consuming = [&](ExprId id) {
    if (pool[id].nullable) throw BadProgram("a repeated member that may be empty");
  };
  std::vector<std::uint32_t> depth(count);
  for (std::uint32_t i = 0; i < count; ++i) {
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
      depth[i] = std::max(depth[i], depth[Raw(part)] + (is_rest ? 0 : 1));
    });
    if (depth[i] > kMaxRegularDepth) throw LimitReached(Limit::kNesting, kMaxRegularDepth);
  }
}

void SetRanks(ExprPool& pool, Meter& meter, std::size_t count) {
  enum : std::uint8_t { kNew, kOpen, kDone };
  std::vector<std::uint8_t> mark(count, kNew);
  std::vector<std::uint32_t> stack;
  std::vector<std::uint32_t> corners;
  for (std::uint32_t start = 0; start < count; ++start) {
    if (mark[start] != kNew) continue;
    stack.push_back(start);
    while (!stack.empty()) {
      meter.Charge(1);
      const std::uint32_t id = stack.back();
      corners.clear();
      ForEachLeftCorner(pool, pool[ExprId{id}], [&](ExprId c) { corners.push_back(Raw(c)); });
      if (mark[id] == kNew) {
        mark[id] = kOpen;
        for (std::uint32_t c : corners) {
          if (mark[c] == kOpen) throw BadProgram("a rule that opens with itself");
          if (mark[c] == kNew) stack.push_back(c);
        }
        continue;
      }
      stack.pop_back();
      if (mark[id] == kDone) continue;
      mark[id] = kDone;
      std::uint32_t rank = 0;
      for (std::uint32_t c : corners) rank = std::max(rank, pool[ExprId{c}].rank + 1);
      pool.Mutable(ExprId{id}).rank = rank;
    }
  }
}

}  // namespace

void AnalyzeGrammar(ExprPool& pool, ExprId root, Deriver& deriver, Liveness& liveness,
                    Meter& meter) {
  const std::size_t count = pool.size();
  const std::vector<bool> met = FindMet(pool, root);
  SetLeastFixedPoint(
      pool, meter, [&](ExprId id) { return pool.EvaluateNullable(pool[id]); }, &Expr::nullable);
  CheckPromises(pool, count);
  SetLeastFixedPoint(
      pool, meter,
      [&](ExprId id) {
        const Expr& e = pool[id];
        if (!met[Raw(id)]) return true;
        if (e.kind == Kind::kScan) {  // afresh each time: its cases are still being found out
          return Liveness(pool, deriver, meter).IsLive(id);
        }
        return e.regular ? liveness.IsLive(id) : pool.EvaluateProductive(e);
      },
      &Expr::productive);
  SetRanks(pool, meter, count);
  pool.Seal();
}

}  // namespace structag
