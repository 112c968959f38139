// What is done to find masks sooner, and could be left out: the masks are the same, bit for bit.
// All of it is on except in tests, which switch one after the other off.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace structag {

enum class ShortCut : std::uint8_t {
  kSummaries,        // what a unit does with all tokens is found once
  kSharedUnits,      // for all grammars of a vocabulary, and the commonest ones beforehand
  kWays,             // what a run of characters takes is united out of bitsets, not walked
  kLoops,            // summaries are made around those of runs of characters
  kDifferences,      // summaries are differences from those of simpler units
  kExclusions,       // text that is anything but some words differs from all text in where it ends
  kLikeness,         // units that refuse nothing have the summary of all text
  kCountedLikeness,  // so have counted ones, as far as there is room
  kLengths,          // what a short count refuses is looked up in a table
  kClippedCounts,    // counts that no token is long enough to notice are cut
  kMergedExits,      // the rests of tokens that leave a unit are walked as one trie
  kAlikeBytes,       // bytes that lead to one residual are stepped once
  kFirstBytes,       // bytes that nothing begins with are not stepped
  kClippedBudgets,   // states that differ by large budgets have one mask
  kKnownSteps,       // steps are kept, and read without a lock
  kKnownMasks,       // so are masks
  kPackedMasks,      // which are kept as what they are made of
};

inline constexpr std::array<std::string_view, 17> kShortCutNames{
    "summaries",   "shared_units",    "ways",         "loops",
    "differences", "exclusions",      "likeness",     "counted_likeness",
    "lengths",     "clipped_counts",  "merged_exits", "alike_bytes",
    "first_bytes", "clipped_budgets", "known_steps",  "known_masks",
    "packed_masks"};

class ShortCuts {
 public:
  bool Has(ShortCut which) const noexcept {
    return (off_ >> static_cast<unsigned>(which) & 1) == 0;
  }
  bool HasAll() const noexcept { return off_ == 0; }
  void Drop(ShortCut which) noexcept { off_ |= std::uint32_t{1} << static_cast<unsigned>(which); }

 private:
  std::uint32_t off_ = 0;
};

}  // namespace structag
