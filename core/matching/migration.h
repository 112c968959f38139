// Takes states of one engine over to another one of the same program: copies the residuals and
// continuations that they are made of.
#pragma once

#include <cstdint>
#include <vector>

#include "expressions/expressions.h"
#include "matching/continuations.h"
#include "matching/states.h"
#include "metering/meter.h"
#include "storage/ids.h"

namespace structag {

class Migration {
 public:
  struct Side {
    ExprPool& exprs;
    StatePool& states;
  };
  // Expressions below `common` have the same id on both sides.  What is copied was paid for when
  // it was made: the meter starts anew with each piece.
  Migration(const Side& from, const Side& to, std::uint32_t common, Meter& meter)
      : from_(from), to_(to), common_(common), meter_(meter) {}

  StateId Take(StateId state);

 private:
  ExprId Take(ExprId start);
  ContinuationId Take(ContinuationId start);
  // Calls visit(id) for what has to be copied before `id`.
  template <class Visit>
  void ForEachPiece(ExprId id, Visit visit) const;
  ExprId Copy(ExprId id);
  ExprId CopyTally(const Expr& e);
  // What a table's entry is numbered in the other engine, which may have read the modules that
  // it imports in another order.
  std::uint32_t Number(std::uint32_t of, std::uint32_t ExprPool::TableSizes::* table);
  ExprId Known(ExprId id) const { return Raw(id) < common_ ? id : ExprId{*exprs_.Get(Raw(id))}; }
  bool Knows(ExprId id) const { return Raw(id) < common_ || exprs_.Get(Raw(id)); }

  const Side from_, to_;
  const std::uint32_t common_;
  Meter& meter_;
  // By number; dense, as most of what lives is there.
  class Copies {
   public:
    const std::uint32_t* Get(std::uint32_t of) const noexcept {
      return of < copies_.size() && copies_[of] != kNone ? &copies_[of] : nullptr;
    }
    void Set(std::uint32_t of, std::uint32_t copy) {
      if (of >= copies_.size()) copies_.resize(of + 1, kNone);
      copies_[of] = copy;
    }

   private:
    static constexpr std::uint32_t kNone = 0xFFFFFFFFu;
    std::vector<std::uint32_t> copies_;
  };
  Copies exprs_;
  Copies continuations_;
};

}  // namespace structag
