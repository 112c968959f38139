// Summaries by a walk over the trie, siblings by siblings in the order in which they lie in memory.
//
// Such a walk may visit most of a vocabulary.  What costs most there are branches that nothing
// predicts, so that the siblings that go on are told from those that do not without one.  What many
// characters lead back to is not walked at all: only where tokens leave those.
#include <array>
#include <optional>
#include <utility>

#include "vocabulary/unit_library.h"
#include "vocabulary/vocabulary.h"

namespace structag {

// Calls visit(byte, row) for what leads on from a row, but not by the characters around it.
template <class Visit>
void UnitLibrary::ForEachWayOut(std::uint32_t row, const ByteSet& around, Visit visit) {
  ByteSet bytes = rows_.FirstBytesOf(row);
  bytes.Subtract(around);
  bytes.ForEach([&](std::uint8_t byte) {
    const std::uint32_t next = rows_.Step(row, byte);
    if (next != UnitRows::kDead) visit(byte, next);
  });
}

std::shared_ptr<const Summary> UnitLibrary::Walk(ExprId unit, const Trie& trie, std::uint32_t start,
                                                 Form form) {
  const std::shared_ptr<Summary> summary = Begin(unit, trie, start);
  const bool is_scan = pool_[unit].kind == Kind::kScan;
  const bool may_have_parts = !is_scan && form == Form::kMade && !IsRun(unit);
  struct Live {
    std::uint32_t node, row;
  };
  std::array<Live, 257> live;  // siblings, and room for one that is none
  const auto visit = [&](const Live& at) {
    const TrieNode& node = trie[at.node];
    if (is_scan && pool_[rows_.IdOf(at.row)].kind != Kind::kScan) {
      summary->landings.push_back({at.node, TriggersOf(rows_.IdOf(at.row))});
      return;
    }
    if (may_have_parts && node.below >= thresholds_.many_below &&
        LoopOf(at.row) != ExprPool::kEmpty) {
      AddPart(*summary, at.row, trie, at.node);
      return;
    }
    for (TokenId token : trie.Tokens(at.node)) {
      summary->inside.Add(static_cast<std::uint32_t>(token));
    }
    if (rows_.IsNullable(at.row)) summary->ends.Add(at.node);
    if (node.child_count > 0) frames_.push_back({at.node, at.row, 0});
  };
  const std::size_t outer = frames_.size();
  const std::uint32_t first = rows_.Of(unit);
  if (const auto around = WayAround(first, trie, start)) {
    Ways::Bits within = vocabulary_.ways().Within(*around);
    summary->inside = IdSet::Of(std::move(within.tokens));
    const IdSet between = IdSet::Of(std::move(within.nodes));
    if (rows_.IsNullable(first)) summary->ends = between;
    ForEachWayOut(first, *around, [&](std::uint8_t byte, std::uint32_t row) {
      for (std::uint32_t node : vocabulary_.NodesOf(byte)) {
        meter_.Charge(1);
        const std::uint32_t above = trie.Parent(node);
        if (above != start && !between.Has(above)) continue;
        ++summary->work;
        visit({node, row});
      }
    });
  } else {
    frames_.push_back({start, first, 0});
  }
  while (frames_.size() > outer) {
    const Frame frame = frames_.back();
    frames_.pop_back();
    const TrieNode& above = trie[frame.node];
    meter_.Charge(above.child_count);
    const UnitRows::Next& next = rows_.NextOf(frame.row);
    std::size_t count = 0;
    for (std::uint32_t i = 0; i < above.child_count; ++i) {
      const std::uint32_t child = above.first_child + i;
      std::uint32_t row = next[trie[child].byte];
      if (row == UnitRows::kUnknown) row = rows_.Step(frame.row, trie[child].byte);
      live[count] = {child, row};
      count += row != UnitRows::kDead ? 1 : 0;
    }
    summary->work += count;
    while (count > 0) visit(live[--count]);  // the first will be on top
  }
  return summary;
}

// The characters that lead from a row back to it, if they are many, and only few nodes of the
// vocabulary's trie may lie where tokens leave them.
std::optional<ByteSet> UnitLibrary::WayAround(std::uint32_t row, const Trie& trie,
                                              std::uint32_t start) {
  const bool is_whole = &trie == &vocabulary_.trie() && start == Trie::kRoot;
  if (!is_whole || !short_cuts_.Has(ShortCut::kWays)) return std::nullopt;
  const ByteSet around = rows_.AroundWith(row, Ways::Characters());
  if (around.Count() < thresholds_.wide_loop) return std::nullopt;
  std::size_t out = 0;
  ForEachWayOut(row, around,
                [&](std::uint8_t byte, std::uint32_t) { out += vocabulary_.NodesOf(byte).size(); });
  if (out * thresholds_.worth_it > trie.size()) return std::nullopt;
  return around;
}

}  // namespace structag
