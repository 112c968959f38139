// The units that grammars over one vocabulary have met, and their summaries.  A unit is a regular
// piece of a grammar (a string's body, a run of digits, whitespace) or free text; what it does with
// the vocabulary depends on nothing around it, so that all grammars share it here.
//
// Thread safe.  Grows until the vocabulary starts another one, and lives as long as the grammars
// that use it.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "expressions/counts.h"
#include "expressions/derive.h"
#include "expressions/expressions.h"
#include "expressions/first_bytes.h"
#include "expressions/liveness.h"
#include "expressions/short_cuts.h"
#include "metering/meter.h"
#include "vocabulary/likeness.h"
#include "vocabulary/summary.h"
#include "vocabulary/unit_import.h"
#include "vocabulary/unit_rows.h"

namespace structag {

class Vocabulary;

class UnitLibrary {
 public:
  explicit UnitLibrary(const Vocabulary& vocabulary, ShortCuts short_cuts = {});
  static constexpr std::uint64_t kTooHard = 2'000'000;  // units of work

  // When summaries are made of others; changed by tests only.
  struct Thresholds {
    std::size_t few_exits = 4096;    // the rests after so many exits are merged
    int wide_loop = 16;              // ASCII characters of a run worth a summary of its own
    std::uint32_t many_below = 512;  // nodes below the place where it begins
    std::uint32_t roomy = 8;         // for so many bytes a count must not matter, to be lifted
    std::uint32_t worth_it = 4;      // times as many nodes as below where tokens leave the run
  };

  // To be called once, when the vocabulary is complete.
  void Open();
  // Finds what almost every grammar asks for first: the body of a JSON string, and any text.
  void Prewarm();

  struct Found {
    std::shared_ptr<const Summary> summary;
    bool is_new;
  };
  // The summary of a unit of another pool over what lies below a node of the vocabulary's trie or
  // of a merged one; nullptr if it is too hard to find, which costs its seeker kTooHard.
  Found Find(UnitImport& import, ExprId unit, const Trie& trie, std::uint32_t node,
             const Thresholds& thresholds);
  // Where the tokens go on that leave the summary's unit before `byte`, the ends of its loop and
  // parts apart; merged if they are few; nullptr if they are too hard to find.  Valid as long as
  // summary and library.
  const Exits* ExitsOf(const Summary& summary, std::uint8_t byte, const Thresholds& thresholds);
  std::size_t MemoryBytes() const;

 private:
  std::shared_ptr<const Summary> FindLocked(ExprId unit, const Trie& trie, std::uint32_t node);
  const Exits& ExitsLocked(const Summary& summary, std::uint8_t byte);
  std::vector<std::uint32_t> ExitNodes(const Summary& summary, std::uint8_t byte);
  const Trie* Merge(const Trie& trie, const std::vector<std::uint32_t>& nodes);

  // summarize.cc: how a summary comes about.
  std::shared_ptr<const Summary> Summarize(ExprId unit, const Trie& trie, std::uint32_t node);
  std::shared_ptr<Summary> Begin(ExprId unit, const Trie& trie, std::uint32_t node) const;
  bool IsRun(ExprId unit) const;
  bool IsFinite(ExprId id, unsigned depth) const;
  bool IsExclusion(ExprId unit) const;
  std::shared_ptr<const Summary> SummarizeExclusion(ExprId unit, const Trie& trie,
                                                    std::uint32_t node);
  std::vector<std::uint32_t> EndsOf(ExprId words, const Trie& trie, std::uint32_t node);
  bool RefusesNothing(ExprId unit);
  std::pair<ExprId, bool> WithoutExclusions(ExprId spelled);
  ExprId LiftExclusions(ExprId unit);
  std::shared_ptr<const Summary> SummarizeCounted(const Likeness::Counted& counted, ExprId unit,
                                                  const Trie& trie, std::uint32_t node);
  enum class Form { kMade, kFlat };  // of others, where that is worth it; by itself
  std::shared_ptr<const Summary> Walk(ExprId unit, const Trie& trie, std::uint32_t node,
                                      Form form = Form::kMade);
  std::optional<ByteSet> WayAround(std::uint32_t row, const Trie& trie, std::uint32_t start);
  template <class Visit>
  void ForEachWayOut(std::uint32_t row, const ByteSet& around, Visit visit);
  const Counts::Lifted& Loosen(ExprId unit);
  std::shared_ptr<const Summary> FindSimple(ExprId unit, const Trie& trie, std::uint32_t node);
  enum class Simpler { kLifted, kLoosened };  // how the general unit comes out of this one
  std::shared_ptr<const Summary> WalkDifference(std::shared_ptr<const Summary> general, ExprId unit,
                                                Simpler simpler);
  std::shared_ptr<const Summary> MakeAround(ExprId loop, ExprId unit, const Trie& trie,
                                            std::uint32_t node);
  bool MayDiffer(const Trie& trie) const noexcept;
  // summarize_search.cc
  const SearchAutomaton& SearchOf(const Expr& e) const;
  bool IsSearch(ExprId unit) const;
  std::shared_ptr<const Summary> SummarizeSearch(ExprId unit);  // at the root of the vocabulary
  ExprId LoopOf(std::uint32_t row);
  void AddPart(Summary& summary, std::uint32_t row, const Trie& trie, std::uint32_t node);
  template <class Visit>
  void WalkBelow(const Trie& trie, std::uint32_t node, std::uint32_t row, std::uint32_t base,
                 Visit visit);
  std::vector<std::uint32_t> TriggersOf(ExprId landing) const;

  // The nodes where tokens leave a loop, by the byte that does not belong to it.
  struct Frontier {
    std::array<std::vector<std::uint32_t>, 256> nodes;
    std::array<bool, 256> known{};
  };
  const std::vector<std::uint32_t>& LeavingBefore(const Summary& loop, std::uint8_t byte);

  // The tokens inside a run, those of more items first.
  static constexpr std::uint32_t kMostItems = 256;  // more are as many
  struct Lengths {
    std::vector<std::uint32_t> tokens;
    std::array<std::uint32_t, kMostItems + 1> more{};  // by n: how many have more than n items
  };
  const Lengths& LengthsOf(const Summary& run);
  bool FindLost(Summary& summary);
  void Lose(Summary& summary, std::vector<std::uint32_t> lost) const;

  std::size_t MemoryLocked() const;

  const Vocabulary& vocabulary_;
  const ShortCuts short_cuts_;
  mutable std::mutex mutex_;
  Meter meter_;
  ExprPool pool_;
  Deriver deriver_;
  Liveness liveness_;
  FirstBytes first_bytes_;
  std::unique_ptr<Counts> counts_;
  SharedTables tables_;
  UnitRows rows_;
  Likeness likeness_;
  struct Frame {
    std::uint32_t node;  // whose children are still to be visited
    std::uint32_t row, base;
  };
  std::vector<Frame> frames_;  // of the walks in progress, one within another
  Thresholds thresholds_;      // of the call in progress
  std::unordered_map<Place, std::shared_ptr<const Summary>, HashPlace> summaries_;
  std::unordered_map<ExprId, Counts::Lifted> loosened_;
  Memo too_hard_;  // units, not to be tried once more at every node
  struct HashNodes {
    std::size_t operator()(const std::vector<std::uint32_t>& nodes) const noexcept;
  };
  using Merged =
      std::unordered_map<std::vector<std::uint32_t>, std::unique_ptr<const Trie>, HashNodes>;
  std::unordered_map<const Trie*, Merged> merged_;
  std::unordered_map<const Summary*, Frontier> frontiers_;
  std::unordered_map<const Summary*, Lengths> lengths_;
  std::size_t bytes_ = 0;
};

}  // namespace structag
