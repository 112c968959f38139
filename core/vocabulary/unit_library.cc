#include "vocabulary/unit_library.h"

#include <algorithm>
#include <iterator>
#include <string>

#include "vocabulary/vocabulary.h"

namespace structag {
namespace {

// What one summary may cost; a grammar walks what costs more by itself, under its own limits.
constexpr std::uint64_t kWorkPerNode = 16;
constexpr Limits kLimits{.max_work = UnitLibrary::kTooHard,
                         .max_memory_bytes = std::uint64_t{256} << 20};

// What `call` returns, or a value-initialised result if it reaches the library's own limits.
template <class Call>
auto WithinLimits(Meter& meter, Call call) {
  meter.StartCall();
  try {
    return call();
  } catch (const LimitReached& e) {
    if (e.value() == 0) throw;  // injected
    return decltype(call()){};
  }
}

}  // namespace

UnitLibrary::UnitLibrary(const Vocabulary& vocabulary, ShortCuts short_cuts)
    : vocabulary_(vocabulary),
      short_cuts_(short_cuts),
      meter_(kLimits),
      pool_(meter_),
      deriver_(pool_, meter_),
      liveness_(pool_, deriver_, meter_),
      first_bytes_(pool_, short_cuts),
      rows_(pool_, deriver_, liveness_, first_bytes_, meter_, short_cuts),
      likeness_(pool_, rows_) {}

void UnitLibrary::Open() {
  const Trie& trie = vocabulary_.trie();
  Limits limits = kLimits;
  limits.max_work += kWorkPerNode * trie.size();
  meter_ = Meter(limits);
  counts_ = std::make_unique<Counts>(pool_, trie.depth());
  rows_.Limit();
}

void UnitLibrary::Prewarm() {
  const std::lock_guard<std::mutex> lock(mutex_);
  const Trie& trie = vocabulary_.trie();
  const ExprId text = pool_.MakeNot(ExprPool::kEmpty, kUtf8Start);
  const ExprId body = pool_.MakeEncoded(text, kCodecRest, Codec::kJson);
  const std::uint32_t quote = trie.Child(Trie::kRoot, '"');
  for (std::uint32_t node : {Trie::kRoot, quote}) {
    if (node != Trie::kNone) ExitsLocked(*FindLocked(body, trie, node), '"');
  }
  FindLocked(text, trie, Trie::kRoot);  // searches are differences from it
}

std::size_t UnitLibrary::HashNodes::operator()(
    const std::vector<std::uint32_t>& nodes) const noexcept {
  return HashWords(nodes);
}

UnitLibrary::Found UnitLibrary::Find(UnitImport& import, ExprId unit, const Trie& trie,
                                     std::uint32_t node, const Thresholds& thresholds) {
  const std::lock_guard<std::mutex> lock(mutex_);
  thresholds_ = thresholds;
  frames_.clear();
  rows_.Limit();
  ExprId known = ExprPool::kEmpty;
  const std::size_t before = summaries_.size();
  const auto found = WithinLimits(meter_, [&]() -> std::shared_ptr<const Summary> {
    known = import.Import(unit, pool_, tables_);
    if (short_cuts_.Has(ShortCut::kClippedCounts)) known = counts_->Clip(known);
    return too_hard_.Get(Raw(known)) ? nullptr : FindLocked(known, trie, node);
  });
  if (!found && known != ExprPool::kEmpty) too_hard_.Set(Raw(known), 1);
  return {found, summaries_.size() > before};
}

std::shared_ptr<const Summary> UnitLibrary::FindLocked(ExprId unit, const Trie& trie,
                                                       std::uint32_t node) {
  const Place place{&trie, node, unit};
  if (const auto found = summaries_.find(place); found != summaries_.end()) return found->second;
  const std::shared_ptr<const Summary> summary = Summarize(unit, trie, node);
  bytes_ += summary->Bytes() + sizeof(Place);
  summaries_.emplace(place, summary);
  return summary;
}

const Exits* UnitLibrary::ExitsOf(const Summary& summary, std::uint8_t byte,
                                  const Thresholds& thresholds) {
  if (const Exits* known = summary.KnownExits(byte)) return known;
  const std::lock_guard<std::mutex> lock(mutex_);
  thresholds_ = thresholds;
  rows_.Limit();
  return WithinLimits(meter_, [&] { return &ExitsLocked(summary, byte); });
}

const Exits& UnitLibrary::ExitsLocked(const Summary& summary, std::uint8_t byte) {
  if (const Exits* known = summary.KnownExits(byte)) return *known;
  auto made = std::make_unique<Exits>();
  made->nodes = ExitNodes(summary, byte);
  if (!made->nodes.empty() && made->nodes.size() <= thresholds_.few_exits &&
      short_cuts_.Has(ShortCut::kMergedExits)) {
    const Exits* general = summary.base ? summary.base->KnownExits(byte) : nullptr;
    const bool is_same = general && general->nodes.size() == made->nodes.size();
    made->merged = is_same ? general->merged : Merge(summary.trie, made->nodes);
  }
  bytes_ += sizeof(Exits) + made->nodes.capacity() * sizeof(std::uint32_t);
  return summary.SetExits(byte, std::move(made));
}

const Trie* UnitLibrary::Merge(const Trie& trie, const std::vector<std::uint32_t>& nodes) {
  std::unique_ptr<const Trie>& merged = merged_[&trie][nodes];
  if (!merged) {
    merged = std::make_unique<const Trie>(trie, nodes);
    bytes_ += merged->Bytes() + sizeof(Trie) + nodes.size() * sizeof(std::uint32_t);
  }
  return merged.get();
}

std::vector<std::uint32_t> UnitLibrary::ExitNodes(const Summary& summary, std::uint8_t byte) {
  const Trie& trie = summary.trie;
  std::vector<std::uint32_t> nodes;
  if (pool_[summary.unit].kind == Kind::kScan) return nodes;  // it ends in landings only
  if (summary.lost_ends) {
    std::ranges::copy_if(
        ExitsLocked(*summary.base, byte).nodes, std::back_inserter(nodes), [&](std::uint32_t node) {
          return !std::ranges::binary_search(*summary.lost_ends, trie.Parent(node));
        });
  } else if (summary.base) {
    Memo rows;  // after the nodes on the way to some node
    rows.Set(summary.start, rows_.Of(summary.unit));
    std::vector<std::uint32_t> way;
    for (std::uint32_t node : ExitsLocked(*summary.base, byte).nodes) {
      std::uint32_t at = trie.Parent(node);
      for (; !rows.Get(at); at = trie.Parent(at)) way.push_back(at);
      std::uint32_t row = *rows.Get(at);
      for (; !way.empty(); way.pop_back()) {
        row = rows_.Step(row, trie[way.back()].byte);
        rows.Set(way.back(), row);
      }
      if (rows_.IsNullable(row)) nodes.push_back(node);
    }
  } else if (summary.ends.IsList()) {
    for (std::uint32_t end : summary.ends.List()) {
      const std::uint32_t node = trie.Child(end, byte);
      if (node != Trie::kNone) nodes.push_back(node);
    }
    std::ranges::sort(nodes);
  } else {
    for (std::uint32_t node : vocabulary_.NodesOf(byte)) {
      if (summary.ends.Has(trie.Parent(node))) nodes.push_back(node);
    }
  }
  return nodes;
}

std::size_t UnitLibrary::MemoryBytes() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return MemoryLocked();
}

std::size_t UnitLibrary::MemoryLocked() const {
  return bytes_ + rows_.Bytes() + pool_.MemoryBytes() + deriver_.MemoryBytes() +
         liveness_.MemoryBytes() + first_bytes_.MemoryBytes() + likeness_.Bytes();
}

}  // namespace structag
