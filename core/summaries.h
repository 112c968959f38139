// Finds or makes the summaries of one grammar's units; summary_cache.h says what a summary is.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "expressions.h"
#include "first_bytes.h"
#include "form.h"
#include "liveness.h"
#include "meter.h"
#include "stable_vector.h"
#include "summary_cache.h"
#include "vocabulary.h"

namespace structag {

// When to take short cuts; changed by tests only, to drive small vocabularies through them.
struct Acceleration {
  bool is_on = true;
  std::uint32_t narrow_nodes = 4000;  // a summary found by visiting fewer trie nodes is not shared
  std::uint32_t few_exits = 4096;     // the rests after so many exits are merged
};

// Finds the summaries of one grammar's units.
class Summarizer {
 public:
  Summarizer(ExprPool& pool, Liveness& liveness, FirstBytes& first_bytes,
             const Vocabulary& vocabulary, Meter& meter, const Acceleration& acceleration);

  struct Found {
    std::shared_ptr<const Summary> summary;
    ExprId unit;  // equal to the one asked for as far as one token goes
  };
  Found Find(ExprId unit);
  // Where the tokens go on that leave a unit before `byte`.  Valid as long as the summary.
  const Exits& ExitsOf(const Found& found, std::uint8_t byte);
  std::size_t MemoryBytes() const noexcept;
  std::size_t built() const noexcept { return built_; }
  std::size_t reused() const noexcept { return reused_; }

 private:
  std::shared_ptr<const Summary> Make(ExprId unit);
  std::shared_ptr<const Summary> Build(ExprId unit, bool& is_narrow);
  // From the summary of a more general unit: walks only where the two can differ.
  std::shared_ptr<const Summary> BuildFrom(const Found& general, ExprId unit);
  std::vector<std::uint32_t> ExitNodes(const Found& found, std::uint8_t byte);
  bool EndsAfter(ExprId unit, std::uint32_t node);
  // A simpler unit of a larger language that behaves alike on most tokens: counts lifted,
  // exclusions dropped.
  ExprId Generalize(ExprId id);
  // An equal unit as far as one token goes: counts beyond the longest token cut or lifted.
  ExprId ClipCounts(ExprId id, unsigned depth = 0);
  // `id` with its maxima lifted, and the minima of what comes last: it takes the same bytes until
  // at least `slack` of them have been read.  It may end sooner.
  struct Lifted {
    ExprId id;
    std::uint32_t slack;
  };
  Lifted LiftCounts(ExprId id, bool is_last, unsigned depth = 0);
  // Equal units, and only those, have equal forms; nullopt for what only this grammar can have.
  std::optional<Form> FormOf(ExprId id);

  // Units' residuals as a dense automaton, found while it is walked.
  static constexpr std::uint32_t kDeadRow = 0;
  struct Row {
    ExprId id;
    bool nullable;
    bool is_lifted;
    Lifted lifted;
    const ByteSet* first;
    std::array<std::uint32_t, 256> next;
  };
  std::uint32_t RowOf(ExprId id);
  std::uint32_t StepRow(std::uint32_t row, std::uint8_t byte) {
    const std::uint32_t known = rows_[row].next[byte];
    return known != kUnknown ? known : FindStep(row, byte);
  }
  std::uint32_t FindStep(std::uint32_t row, std::uint8_t byte);
  Lifted LiftedRow(std::uint32_t row);
  void LimitRows();  // forgets all rows when they are many; row numbers do not survive it

  static constexpr std::uint32_t kUnknown = 0xFFFFFFFFu;
  ExprPool& pool_;
  Liveness& liveness_;
  FirstBytes& first_bytes_;
  const Vocabulary& vocabulary_;
  Meter& meter_;
  const Acceleration acceleration_;
  StableVector<Row, 4> rows_;
  Memo row_index_;
  struct Frame {
    std::uint32_t at, end;  // children of a trie node still to visit
    std::uint32_t row, base;
  };
  std::vector<Frame> frames_;
  std::vector<std::uint8_t> text_;  // of a node, last byte first
  std::unordered_map<std::uint32_t, Found> found_;
  std::unordered_map<std::uint32_t, ExprId> clipped_;
  std::unordered_map<std::uint64_t, Lifted> lifted_;
  std::unordered_map<std::uint32_t, Form> forms_;
  std::size_t bytes_ = 0;
  std::size_t built_ = 0;
  std::size_t reused_ = 0;
};

}  // namespace structag
