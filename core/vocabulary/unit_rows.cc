#include "vocabulary/unit_rows.h"

#include "vocabulary/likeness.h"

namespace structag {
namespace {

constexpr std::size_t kMostRows = 4096;  // kept from one question to the next
constexpr std::uint64_t kRowWork = 16;   // a row is a kilobyte

}  // namespace

UnitRows::UnitRows(ExprPool& pool, Deriver& deriver, Liveness& liveness, FirstBytes& first_bytes,
                   Meter& meter, ShortCuts short_cuts)
    : pool_(pool),
      deriver_(deriver),
      liveness_(liveness),
      first_bytes_(first_bytes),
      meter_(meter),
      short_cuts_(short_cuts) {}

void UnitRows::Limit() {
  if (rows_.size() > 0 && rows_.size() <= kMostRows) return;
  rows_.Clear();
  index_ = {};
  Of(ExprPool::kEmpty);
}

std::uint32_t UnitRows::Of(ExprId id) {
  if (const std::uint32_t* known = index_.Get(Raw(id))) return *known;
  meter_.Charge(kRowWork);
  const std::uint32_t number = static_cast<std::uint32_t>(rows_.size());
  Row& row = rows_.Push({});
  row.id = id;
  row.nullable = pool_[id].nullable;
  row.first = first_bytes_.Of(id);
  row.distinct = deriver_.DistinctBytes(id);
  if (!short_cuts_.Has(ShortCut::kAlikeBytes)) row.distinct.bytes.AddRange(0, 255);
  row.next.fill(id == ExprPool::kEmpty ? kDead : kUnknown);
  index_.Set(Raw(id), number);
  return number;
}

std::uint32_t UnitRows::FindStep(std::uint32_t number, std::uint8_t byte) {
  meter_.Charge(1);
  Row& row = rows_[number];
  if (!row.first.Has(byte)) return row.next[byte] = kDead;
  const std::uint32_t next = Of(liveness_.LiveDerivative(row.id, byte));
  row.next[byte] = next;
  if (row.distinct.bytes.Has(byte)) return next;
  ByteSet alike = row.distinct.Alike(byte);
  alike.Intersect(row.first);
  alike.ForEach([&](std::uint8_t other) { row.next[other] = next; });
  return next;
}

const Counts::Lifted& UnitRows::LiftedBy(Counts& counts, Likeness& likeness, std::uint32_t number) {
  Row& row = rows_[number];
  if (row.is_lifted) return row.lifted;
  const auto counted = likeness.AsCounted(row.id);
  row.lifted = counted ? likeness.Lift(*counted) : counts.Lift(row.id);
  row.is_lifted = true;
  return row.lifted;
}

bool UnitRows::AllLeadTo(std::uint32_t row, Utf8State utf8, std::uint32_t target) {
  if (utf8 == kUtf8Start) return row == target;
  std::uint32_t last_row = kDead;
  Utf8State last_utf8 = kUtf8Reject;
  bool all = row != kDead;
  Utf8Next(utf8).ForEach([&](std::uint8_t byte) {
    if (!all) return;
    const std::uint32_t next = Step(row, byte);
    const Utf8State after = Utf8Step(utf8, byte);
    if (next == last_row && after == last_utf8) return;
    all = AllLeadTo(next, after, target);
    last_row = next;
    last_utf8 = after;
  });
  return all;
}

ByteSet UnitRows::AroundWith(std::uint32_t row, ByteSet among) {
  ByteSet around;
  among.Intersect(rows_[row].first);
  among.ForEach([&](std::uint8_t byte) {
    if (Step(row, byte) == row) around.Add(byte);
  });
  return around;
}

void UnitRows::FindLoop(std::uint32_t number) {
  Row& row = rows_[number];
  ByteSet ascii;
  ascii.AddRange(0, 0x7F);
  ByteSet loop = AroundWith(number, ascii);
  row.loop_count = loop.Count();
  bool has_others = true;  // all characters beyond ASCII
  for (unsigned lead = 0xC2; lead <= 0xF4 && has_others; ++lead) {
    const auto b = static_cast<std::uint8_t>(lead);
    has_others = AllLeadTo(Step(number, b), Utf8Step(kUtf8Start, b), number);
  }
  if (has_others) loop.AddRange(0x80, 0xFF);
  row.loop = pool_.MakeRepeat(pool_.MakeBytes(loop), 0, ~std::uint32_t{0});
  if (has_others) {
    row.loop = pool_.MakeAnd({Raw(row.loop), Raw(pool_.MakeNot(ExprPool::kEmpty, kUtf8Start))});
  }
  row.is_loop_known = true;
}

ExprId UnitRows::LoopOf(std::uint32_t number, int least) {
  Row& row = rows_[number];
  if (!row.is_loop_known) FindLoop(number);
  return row.loop_count >= least ? row.loop : ExprPool::kEmpty;
}

}  // namespace structag
