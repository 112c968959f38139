// Whether a unit takes what a wider one takes, although it ends elsewhere: a search for a word, or
// a pattern beside a length, refuses no text until there is no room left for what it needs.
//
// Told by a walk over the pairs of residuals that the same text leads to; small ones only.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "expressions/expressions.h"
#include "storage/hash.h"
#include "vocabulary/unit_rows.h"

namespace structag {

class Likeness {
 public:
  Likeness(ExprPool& pool, UnitRows& rows) : pool_(pool), rows_(rows) {}

  // What a residual may still need: so many bytes at the most complete it, and if `pumps`, so do as
  // many more as one likes.
  struct Need {
    std::uint32_t bytes;
    bool pumps;
  };
  // Nothing if some text of `wider` leads from `unit` to nothing, or if that is hard to tell.
  // Remembered for every pair of residuals.
  std::optional<Need> Find(ExprId unit, ExprId wider);
  std::optional<Need> Known(ExprId unit, ExprId wider) const;

  // Whether `wider` takes all that `unit` takes; false if that is hard to tell.
  bool IsWithin(ExprId unit, ExprId wider);

  // A conjunction of a counted class of characters and more, if `unit` is one, spelled by a codec
  // or not.
  struct Counted {
    ExprId run;        // the class, repeated without bounds
    ExprId uncounted;  // the conjunction with that instead
    std::uint32_t min, max;
  };
  std::optional<Counted> AsCounted(ExprId unit);
  // Whether no item of a class begins another one, so that text tells how many items it is.
  bool IsPrefixFree(ExprId item);
  // Its run, and the bytes for which it is known to go on like that.
  Counts::Lifted Lift(const Counted& counted) const;
  // An equal unit to the conjunction without the count, and the bytes for which it surely has room.
  Counts::Lifted Uncount(const Counted& counted);
  // The bytes for which what is so counted surely has room for what it needs; 0 if none.
  static std::uint32_t Slack(const Counted& counted, const std::optional<Need>& need) noexcept;

  // The unit of all text in the same spelling.
  ExprId AnyLike(ExprId unit);

  std::size_t Bytes() const noexcept {
    return known_.Bytes() + within_.Bytes() + prefix_free_.Bytes() +
           plain_.size() * sizeof(*plain_.begin());
  }

 private:
  static constexpr std::uint32_t kPumps = 1u << 30;
  static constexpr std::uint32_t kUnlike = 0xFFFFFFFFu;

  // Bytes of the shortest text of a unit that takes only text, and the most that a residual needs.
  struct Plain {
    std::uint32_t least, need;
  };
  const std::optional<Plain>& AsPlain(ExprId unit);
  std::optional<Plain> FindPlain(ExprId unit);

  struct Pair;
  void NoteUnlike(const std::vector<Pair>& pairs, std::size_t from, bool are_many);

  ExprPool& pool_;
  UnitRows& rows_;
  Memo known_;        // by pair: Need, packed
  Memo within_;       // by pair
  Memo prefix_free_;  // by item
  std::unordered_map<ExprId, std::optional<Plain>> plain_;
};

}  // namespace structag
