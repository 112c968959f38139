// Counts of units, cut or lifted: what a single token cannot tell apart need not be told apart.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "expressions/expressions.h"
#include "storage/ids.h"

namespace structag {

class Counts {
 public:
  // `longest`: bytes of the longest token.
  Counts(ExprPool& pool, std::uint32_t longest) : pool_(pool), longest_(longest) {}

  // An equal unit as far as one token goes: counts beyond the longest token cut or lifted.
  ExprId Clip(ExprId id, unsigned depth = 0);
  // A simpler unit of a larger language that behaves alike on most tokens: counts lifted,
  // exclusions dropped.
  ExprId Generalize(ExprId id);
  // `id` with its maxima lifted, and the minima of what comes last: it takes the same bytes until
  // at least `slack` of them have been read.  It may end sooner.
  struct Lifted {
    ExprId id;
    std::uint32_t slack;
  };
  Lifted Lift(ExprId id, bool is_last = true, unsigned depth = 0);

 private:
  ExprPool& pool_;
  const std::uint32_t longest_;
  std::unordered_map<std::uint32_t, ExprId> clipped_;
  std::unordered_map<std::uint64_t, Lifted> lifted_;
};

}  // namespace structag
