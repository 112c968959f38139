// What a state waits for, taken apart: one expectation for each of its terms, with the marks that
// it stands in.  For people who ask why; nothing that masks or matches needs it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "expressions/expressions.h"
#include "expressions/first_bytes.h"
#include "matching/states.h"
#include "metering/meter.h"
#include "storage/byte_set.h"
#include "vocabulary/vocabulary.h"

namespace structag {

struct Expectation {
  ByteSet bytes;                   // that may come next
  std::string rest;                // of a fixed string that is expected; empty if it is none
  std::vector<std::uint32_t> ids;  // bitset over the vocabulary: tokens read by their id, or empty
  std::vector<std::vector<std::uint32_t>>
      trails;  // labels of marks, outermost first; at most kMost
};

class ExpectationFinder {
 public:
  static constexpr std::size_t kMost = 8;

  ExpectationFinder(StatePool& states, const ExprPool& exprs, FirstBytes& first_bytes,
                    const Vocabulary& vocabulary, Meter& meter)
      : states_(states),
        exprs_(exprs),
        first_bytes_(first_bytes),
        vocabulary_(vocabulary),
        meter_(meter) {}

  std::vector<Expectation> Find(StateId state);

 private:
  // A trail is a label and the trail around it, so that deep ones cost one entry each.
  using TrailId = std::uint32_t;
  static constexpr TrailId kOutside = 0;
  struct Trail {
    std::uint32_t label;
    TrailId around;
  };
  using Trails = std::vector<TrailId>;

  ByteSet BytesOf(const Term& term);
  // Finds the trails of `id`, and before that those of everything below it.
  const Trails& TrailsOf(ContinuationId id);
  TrailId Within(std::uint32_t label, TrailId around);
  std::vector<std::uint32_t> Spelled(TrailId trail) const;

  StatePool& states_;
  const ExprPool& exprs_;
  FirstBytes& first_bytes_;
  const Vocabulary& vocabulary_;
  Meter& meter_;
  std::vector<Trail> trails_{{0, kOutside}};
  Memo trail_index_;
  std::vector<Trails> found_{1};  // the first is of no continuation
  Memo found_index_;
};

}  // namespace structag
