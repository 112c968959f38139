#include "matching/migration.h"

#include <utility>
#include <vector>

#include "expressions/parts.h"

namespace structag {

StateId Migration::Take(StateId state) {
  std::vector<Term> terms;
  for (std::size_t i = 0; i < from_.states.TermCount(state); ++i) {
    const Term term = from_.states.TermAt(state, i);
    terms.push_back({Take(term.head), Take(term.next)});
  }
  return to_.states.Of(terms, from_.states.IsComplete(state), from_.states.IsDoubtful(state));
}

ContinuationId Migration::Take(ContinuationId start) {
  const ContinuationPool& from = from_.states.continuations();
  for (ContinuationId id : {ContinuationPool::kNothing, ContinuationPool::kEnd}) {
    if (!continuations_.Get(Raw(id))) continuations_.Set(Raw(id), Raw(id));
  }
  std::vector<ContinuationId> stack{start};
  std::vector<std::uint32_t> frames;
  while (!stack.empty()) {
    const ContinuationId id = stack.back();
    frames.clear();
    bool ready = true;
    for (std::size_t i = 0; i < from.FrameCount(id) && !continuations_.Get(Raw(id)); ++i) {
      const Frame frame = from.FrameAt(id, i);
      if (const std::uint32_t* next = continuations_.Get(Raw(frame.next))) {
        frames.push_back(Raw(Take(frame.tail)));
        frames.push_back(*next);
      } else {
        stack.push_back(frame.next);
        ready = false;
      }
    }
    if (!ready) continue;
    stack.pop_back();
    if (continuations_.Get(Raw(id))) continue;
    meter_.StartCall();
    continuations_.Set(Raw(id), Raw(to_.states.continuations().Intern(frames, from.MayEnd(id))));
  }
  return ContinuationId{*continuations_.Get(Raw(start))};
}

ExprId Migration::Take(ExprId start) {
  std::vector<ExprId> stack{start};
  while (!stack.empty()) {
    const ExprId id = stack.back();
    bool ready = true;
    if (!Knows(id)) {
      ForEachPiece(id, [&](ExprId part) {
        if (Knows(part)) return;
        stack.push_back(part);
        ready = false;
      });
      if (!ready) continue;
      meter_.StartCall();
      exprs_.Set(Raw(id), Raw(Copy(id)));
    }
    stack.pop_back();
  }
  return Known(start);
}

template <class Visit>
void Migration::ForEachPiece(ExprId id, Visit visit) const {
  const Expr& e = from_.exprs[id];
  if (e.kind == Kind::kTally) {
    const TallyCounts counts = from_.exprs.CountsOf(e);
    for (const TallyTable::Item& item : counts.table.items) {
      if (item.has_key && counts.seen(item) != TallyCounts::kPending) {
        visit(ExprId{counts.seen(item)});
      }
    }
  } else if (e.kind == Kind::kKey) {
    visit(ExprId{e.a});
    visit(ExprId{e.b});
    visit(ExprId{from_.exprs.lists()[ListId{e.c}][0]});
  } else {
    ForEachOperand(from_.exprs, e, visit);
  }
}

std::uint32_t Migration::Number(std::uint32_t of, std::uint32_t ExprPool::TableSizes::* table) {
  for (std::uint32_t i = 0; i < from_.exprs.imports_.size(); ++i) {
    const ExprPool::Import& import = from_.exprs.imports_[i];
    if (!import.is_read || of < import.first.*table || of >= import.end.*table) continue;
    to_.states.Import(i);
    return to_.exprs.imports_[i].first.*table + (of - import.first.*table);
  }
  return of;  // the program's own
}

ExprId Migration::CopyTally(const Expr& e) {
  const TallyCounts counts = from_.exprs.CountsOf(e);
  std::vector<std::uint32_t> words(counts.words.begin(), counts.words.end());
  for (const TallyTable::Item& item : counts.table.items) {
    if (!item.has_key || counts.seen(item) == TallyCounts::kPending) continue;
    words[counts.At(item)] = Raw(Known(ExprId{counts.seen(item)}));
  }
  const std::uint32_t table = Number(e.a, &ExprPool::TableSizes::tallies);
  return to_.exprs.MakeTally(table, words, Position{e.c});
}

ExprId Migration::Copy(ExprId id) {
  const Expr& e = from_.exprs[id];
  ExprPool& to = to_.exprs;
  switch (e.kind) {
    case Kind::kEmpty:
    case Kind::kEpsilon:
    case Kind::kLiteral:  // in text that is the same
    case Kind::kScan:     // no module has one
    case Kind::kAssertion:
    case Kind::kClose:
    case Kind::kLeave:
    case Kind::kImport: return to.Make(e.kind, e.a, e.b, e.c);
    case Kind::kRule: return to.Make(e.kind, Number(e.a, &ExprPool::TableSizes::rules));
    case Kind::kTokens: return to.Make(e.kind, Number(e.a, &ExprPool::TableSizes::token_sets));
    case Kind::kNoOccurrence:
      return to.Make(e.kind, Number(e.a, &ExprPool::TableSizes::searches), e.b, e.c);
    case Kind::kBytes: return to.MakeBytes(from_.exprs.Bytes(id));
    case Kind::kSeq: return to.Make(e.kind, Raw(Known(ExprId{e.a})), Raw(Known(ExprId{e.b})));
    case Kind::kRepeat:
    case Kind::kNot:
    case Kind::kEncoded:
    case Kind::kErase:
    case Kind::kTransparent:
    case Kind::kBudget:
    case Kind::kMark: return to.Make(e.kind, Raw(Known(ExprId{e.a})), e.b, e.c);
    case Kind::kAlt:
    case Kind::kAnd: {
      std::vector<std::uint32_t> members;
      for (std::uint32_t member : from_.exprs.Members(id)) {
        members.push_back(Raw(Known(ExprId{member})));
      }
      return e.kind == Kind::kAlt ? to.MakeAlt(std::move(members)) : to.MakeAnd(std::move(members));
    }
    case Kind::kUnordered:
      return to.MakeUnordered(Number(e.a, &ExprPool::TableSizes::unordered),
                              from_.exprs.lists()[ListId{e.b}], Position{e.c});
    case Kind::kTally: return CopyTally(e);
    case Kind::kKey: {
      const auto begun = from_.exprs.lists()[ListId{e.c}];
      return to.MakeKey(Known(ExprId{e.a}), Known(ExprId{e.b}), Known(ExprId{begun[0]}), begun[1]);
    }
  }
  return ExprPool::kEmpty;
}

}  // namespace structag
