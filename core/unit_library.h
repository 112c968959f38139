// The units that grammars over one vocabulary have met, and their summaries.  A unit is a regular
// piece of a grammar (a string's body, a run of digits, whitespace) or free text; what it does with
// the vocabulary depends on nothing around it, so that all grammars share it here.
//
// Thread safe.  Grows until it is full; then the vocabulary starts another one, and this lives as
// long as the grammars that use it.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "counts.h"
#include "derive.h"
#include "expressions.h"
#include "first_bytes.h"
#include "liveness.h"
#include "meter.h"
#include "stable_vector.h"
#include "summary.h"
#include "unit_import.h"

namespace structag {

class Vocabulary;

class UnitLibrary {
 public:
  explicit UnitLibrary(const Vocabulary& vocabulary);
  static constexpr std::size_t kFewExits = 4096;        // are merged by default
  static constexpr std::uint64_t kTooHard = 2'000'000;  // units of work

  // To be called once, when the vocabulary is complete.  Finds what almost every grammar asks for
  // first: the body of a JSON string.
  void Prewarm();

  // The summary of a unit of another pool over what lies below a node of the vocabulary's trie or
  // of a merged one; nullptr if it is too hard to find, which costs its seeker kTooHard.
  std::shared_ptr<const Summary> Find(UnitImport& import, ExprId unit, const Trie& trie,
                                      std::uint32_t node);
  // Where the tokens go on that leave the summary's unit before `byte`; merged if they are not more
  // than `few`; nullptr if they are too hard to find.  Valid as long as summary and library.
  const Exits* ExitsOf(const Summary& summary, std::uint8_t byte, std::size_t few);
  bool IsFull() const;
  std::size_t MemoryBytes() const;

 private:
  static constexpr std::uint32_t kUnknown = 0xFFFFFFFFu;
  static constexpr std::uint32_t kDeadRow = 0;
  // A residual, and what follows it by byte: a dense automaton, found while it is walked.
  struct Row {
    ExprId id;
    bool nullable = false;
    bool is_lifted = false;
    Counts::Lifted lifted{};
    ByteSet first;      // takes no other byte
    Distinct distinct;  // all other bytes lead to one residual, or two kinds of it
    std::array<std::uint32_t, 256> next;
  };
  std::shared_ptr<const Summary> FindLocked(ExprId unit, const Trie& trie, std::uint32_t node);
  std::shared_ptr<Summary> Begin(ExprId unit, const Trie& trie, std::uint32_t node) const;
  std::shared_ptr<const Summary> Build(ExprId unit, const Trie& trie, std::uint32_t node);
  // From the summary of a more general unit: walks only where the two can differ.
  std::shared_ptr<const Summary> BuildFrom(std::shared_ptr<const Summary> general, ExprId unit);
  std::vector<std::uint32_t> ExitNodes(const Summary& summary, std::uint8_t byte, std::size_t few);
  const Exits& ExitsLocked(const Summary& summary, std::uint8_t byte, std::size_t few);
  bool EndsAfter(const Summary& summary, std::uint32_t node);
  const Trie* Merge(const Trie& trie, const std::vector<std::uint32_t>& nodes);
  void OpenFrame(const Trie& trie, std::uint32_t node, std::uint32_t row, std::uint32_t base);
  std::vector<std::uint32_t> TriggersOf(ExprId landing) const;

  std::uint32_t RowOf(ExprId id);
  std::uint32_t StepRow(std::uint32_t row, std::uint8_t byte) {
    const std::uint32_t known = rows_[row].next[byte];
    return known != kUnknown ? known : FindStep(row, byte);
  }
  std::uint32_t FindStep(std::uint32_t row, std::uint8_t byte);
  const Counts::Lifted& LiftedRow(std::uint32_t row);
  // Forgets all rows when they are many; row numbers do not survive it.
  void LimitRows();
  std::size_t MemoryLocked() const;

  const Vocabulary& vocabulary_;
  mutable std::mutex mutex_;
  Meter meter_;
  ExprPool pool_;
  Deriver deriver_;
  Liveness liveness_;
  FirstBytes first_bytes_;
  std::unique_ptr<Counts> counts_;
  SharedTables tables_;
  StableVector<Row, 4> rows_;
  Memo row_index_;
  struct Frame {
    std::uint32_t at, end;  // children of a trie node still to visit
    std::uint32_t row, base;
  };
  std::vector<Frame> frames_;
  std::vector<std::uint8_t> text_;  // on the way to a node, last byte first
  std::unordered_map<Place, std::shared_ptr<const Summary>, HashPlace> summaries_;
  Memo too_hard_;  // units, not to be tried once more at every node
  struct HashNodes {
    std::size_t operator()(const std::vector<std::uint32_t>& nodes) const noexcept;
  };
  using Merged =
      std::unordered_map<std::vector<std::uint32_t>, std::unique_ptr<const Trie>, HashNodes>;
  std::unordered_map<const Trie*, Merged> merged_;
  std::size_t bytes_ = 0;
};

}  // namespace structag
