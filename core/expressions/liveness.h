// Whether a residual still has a completion.  Dead residuals are dropped before they enter a state,
// so that every state a matcher can be in leads to an end.
//
// Sums and products of live parts are live; under And, Not, NoOccurrence, Erase and Scan the
// reachable residuals are searched, the ones that look nearest to an end first.  A hit marks the
// path that led to it as live, an exhausted search marks everything it saw as dead.  Never guesses:
// a search that runs out of work is a LimitReached.
#pragma once

#include <cstdint>
#include <vector>

#include "expressions/derive.h"
#include "expressions/expressions.h"

namespace structag {

class Liveness {
 public:
  Liveness(ExprPool& pool, Deriver& deriver, Meter& meter)
      : pool_(pool), deriver_(deriver), meter_(meter) {}

  // Whether the language of a regular expression, a kKey or a kScan residual is not empty.
  bool IsLive(ExprId id);

  // How many strings a regular expression derives; kUnbounded if they are `many` or more.
  std::uint32_t CountStrings(ExprId id, std::uint32_t many);

  // What is left of a head after `byte`, or kEmpty if that is nothing or dead.  A kScan whose
  // trigger completes gives its case, which need not be regular.
  ExprId LiveDerivative(ExprId head, std::uint8_t byte);

  std::size_t MemoryBytes() const noexcept {
    return known_.Bytes() + relaxed_.Bytes() + hopeless_.Bytes();
  }

 private:
  bool IsScanHit(const Expr& from, ExprId residual) const;
  bool IsPendingLive(const Expr& encoded);
  bool CanSpell(ExprId child, const Utf8Sequence& sequence, std::uint32_t at);
  bool Search(ExprId start);
  void CheckMemory(std::size_t search_bytes) const;
  // Whether an escape begun inside of `id` can no longer stand for anything; a quick test that cuts
  // short what Search would go through value by value.
  bool IsHopeless(ExprId id);
  // A superset of `id`'s language with its large counts lifted: if that is empty, so is `id`.
  ExprId Relax(ExprId id);

  ExprPool& pool_;
  Deriver& deriver_;
  Meter& meter_;
  Memo known_;  // 1: live, 0: dead
  Memo relaxed_;
  Memo hopeless_;
};

}  // namespace structag
