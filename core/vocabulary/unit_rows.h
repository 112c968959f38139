// Units as a dense automaton: a row for each residual, filled in while tries are walked with it.
#pragma once

#include <array>
#include <cstdint>

#include "expressions/counts.h"
#include "expressions/derive.h"
#include "expressions/expressions.h"
#include "expressions/first_bytes.h"
#include "expressions/liveness.h"
#include "expressions/short_cuts.h"
#include "metering/meter.h"
#include "storage/byte_set.h"
#include "storage/hash.h"
#include "storage/stable_vector.h"

namespace structag {

class Likeness;

class UnitRows {
 public:
  static constexpr std::uint32_t kDead = 0;
  static constexpr std::uint32_t kUnknown = 0xFFFFFFFFu;

  UnitRows(ExprPool& pool, Deriver& deriver, Liveness& liveness, FirstBytes& first_bytes,
           Meter& meter, ShortCuts short_cuts);

  // Forgets all rows when they are many; row numbers do not survive it.
  void Limit();

  std::uint32_t Of(ExprId id);
  std::uint32_t Step(std::uint32_t row, std::uint8_t byte) {
    const std::uint32_t known = rows_[row].next[byte];
    return known != kUnknown ? known : FindStep(row, byte);
  }
  // Where a row's bytes lead, kUnknown where that is not known yet; valid as long as the row.
  using Next = std::array<std::uint32_t, 256>;
  const Next& NextOf(std::uint32_t row) const noexcept { return rows_[row].next; }
  ExprId IdOf(std::uint32_t row) const noexcept { return rows_[row].id; }
  bool IsNullable(std::uint32_t row) const noexcept { return rows_[row].nullable; }
  // Takes no other byte.
  const ByteSet& FirstBytesOf(std::uint32_t row) const noexcept { return rows_[row].first; }
  // The unit without its counts, and the bytes for which that makes no difference.
  const Counts::Lifted& LiftedBy(Counts& counts, Likeness& likeness, std::uint32_t row);
  // The characters of `among` that lead from a row back to it.
  ByteSet AroundWith(std::uint32_t row, ByteSet among);
  // The largest run of whole characters that leads from a row back to it, as a unit of its own;
  // kEmpty if fewer than `least` ASCII characters do.
  ExprId LoopOf(std::uint32_t row, int least);

  std::size_t Bytes() const noexcept { return rows_.Bytes(); }

 private:
  struct Row {
    ExprId id;
    bool nullable = false;
    bool is_lifted = false;
    bool is_loop_known = false;
    int loop_count = 0;  // its ASCII characters
    ExprId loop = ExprPool::kEmpty;
    Counts::Lifted lifted{};
    ByteSet first;
    Distinct distinct;  // all other bytes lead to one residual, or two kinds of it
    Next next;
  };
  std::uint32_t FindStep(std::uint32_t row, std::uint8_t byte);
  void FindLoop(std::uint32_t row);
  // Whether every character that goes on from the UTF-8 state `utf8` leads from `row` to `target`.
  bool AllLeadTo(std::uint32_t row, Utf8State utf8, std::uint32_t target);

  ExprPool& pool_;
  Deriver& deriver_;
  Liveness& liveness_;
  FirstBytes& first_bytes_;
  Meter& meter_;
  const ShortCuts short_cuts_;
  StableVector<Row, 4> rows_;
  Memo index_;
};

}  // namespace structag
