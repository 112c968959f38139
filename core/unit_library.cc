#include "unit_library.h"

#include <algorithm>
#include <limits>
#include <string>

#include "vocabulary.h"

namespace structag {
namespace {

constexpr std::size_t kMostRows = 4096;  // kept from one summary to the next
constexpr std::size_t kFullBytes = std::size_t{48} << 20;
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

UnitLibrary::UnitLibrary(const Vocabulary& vocabulary)
    : vocabulary_(vocabulary),
      meter_(kLimits),
      pool_(meter_),
      deriver_(pool_, meter_),
      liveness_(pool_, deriver_, meter_),
      first_bytes_(pool_) {}

void UnitLibrary::Prewarm() {
  const std::lock_guard<std::mutex> lock(mutex_);
  const Trie& trie = vocabulary_.trie();
  Limits limits = kLimits;
  limits.max_work += kWorkPerNode * trie.size();
  meter_ = Meter(limits);
  counts_ = std::make_unique<Counts>(pool_, trie.depth());
  const ExprId text = pool_.MakeNot(ExprPool::kEmpty, kUtf8Start);
  const ExprId body = pool_.MakeEncoded(text, kCodecRest, Codec::kJson);
  const std::uint32_t quote = trie.Child(Trie::kRoot, '"');
  for (std::uint32_t node : {Trie::kRoot, quote}) {
    if (node != Trie::kNone) ExitsLocked(*FindLocked(body, trie, node), '"', kFewExits);
  }
}

std::size_t UnitLibrary::HashNodes::operator()(
    const std::vector<std::uint32_t>& nodes) const noexcept {
  return HashWords(nodes);
}

std::shared_ptr<const Summary> UnitLibrary::Find(UnitImport& import, ExprId unit, const Trie& trie,
                                                 std::uint32_t node) {
  const std::lock_guard<std::mutex> lock(mutex_);
  ExprId known = ExprPool::kEmpty;
  const auto found = WithinLimits(meter_, [&]() -> std::shared_ptr<const Summary> {
    known = counts_->Clip(import.Import(unit, pool_, tables_));
    return too_hard_.Get(Raw(known)) ? nullptr : FindLocked(known, trie, node);
  });
  if (!found && known != ExprPool::kEmpty) too_hard_.Set(Raw(known), 1);
  return found;
}

std::shared_ptr<const Summary> UnitLibrary::FindLocked(ExprId unit, const Trie& trie,
                                                       std::uint32_t node) {
  const Place place{&trie, node, unit};
  if (const auto found = summaries_.find(place); found != summaries_.end()) return found->second;
  std::shared_ptr<const Summary> summary;
  const ExprId general = counts_->Generalize(unit);
  if (general != unit) {
    const std::shared_ptr<const Summary> known = FindLocked(general, trie, node);
    if (!known->base) summary = BuildFrom(known, unit);
  }
  if (!summary) summary = Build(unit, trie, node);
  bytes_ += summary->Bytes() + sizeof(Place);
  summaries_.emplace(place, summary);
  return summary;
}

void UnitLibrary::LimitRows() {
  if (rows_.size() > 0 && rows_.size() <= kMostRows) return;
  rows_.Clear();
  row_index_ = {};
  RowOf(ExprPool::kEmpty);
}

std::uint32_t UnitLibrary::RowOf(ExprId id) {
  if (const std::uint32_t* known = row_index_.Get(Raw(id))) return *known;
  const std::uint32_t number = static_cast<std::uint32_t>(rows_.size());
  Row& row = rows_.Push({});
  row.id = id;
  row.nullable = pool_[id].nullable;
  row.first = first_bytes_.Of(id);
  row.distinct = deriver_.DistinctBytes(id);
  row.next.fill(id == ExprPool::kEmpty ? kDeadRow : kUnknown);
  row_index_.Set(Raw(id), number);
  return number;
}

std::uint32_t UnitLibrary::FindStep(std::uint32_t number, std::uint8_t byte) {
  meter_.Charge(1);
  Row& row = rows_[number];
  if (!row.first.Has(byte)) return row.next[byte] = kDeadRow;
  const std::uint32_t next = RowOf(liveness_.LiveDerivative(row.id, byte));
  row.next[byte] = next;
  if (row.distinct.bytes.Has(byte)) return next;
  ByteSet alike = row.distinct.Alike(byte);
  alike.Intersect(row.first);
  alike.ForEach([&](std::uint8_t other) { row.next[other] = next; });
  return next;
}

const Counts::Lifted& UnitLibrary::LiftedRow(std::uint32_t number) {
  Row& row = rows_[number];
  if (!row.is_lifted) {
    row.lifted = counts_->Lift(row.id);
    row.is_lifted = true;
  }
  return row.lifted;
}

std::shared_ptr<Summary> UnitLibrary::Begin(ExprId unit, const Trie& trie,
                                            std::uint32_t node) const {
  // A set over the vocabulary may become a bitset; one over a part of it stays a list.
  constexpr std::size_t kNever = std::numeric_limits<std::size_t>::max() / 2;
  const bool is_whole = &trie == &vocabulary_.trie() && node == Trie::kRoot;
  return std::make_shared<Summary>(unit, trie, node, is_whole ? vocabulary_.size() : kNever,
                                   is_whole ? trie.size() : kNever);
}

void UnitLibrary::OpenFrame(const Trie& trie, std::uint32_t node, std::uint32_t row,
                            std::uint32_t base) {
  const TrieNode& at = trie[node];
  if (at.child_count == 0) return;
  frames_.push_back({at.first_child, at.first_child + at.child_count, row, base});
}

std::vector<std::uint32_t> UnitLibrary::TriggersOf(ExprId landing) const {
  std::vector<std::uint32_t> triggers;
  const Expr& e = pool_[landing];
  if (e.kind == Kind::kRule) triggers.push_back(e.a);
  if (e.kind == Kind::kAlt) {
    for (std::uint32_t member : pool_.Members(landing)) triggers.push_back(pool_[ExprId{member}].a);
  }
  return triggers;
}

std::shared_ptr<const Summary> UnitLibrary::Build(ExprId unit, const Trie& trie,
                                                  std::uint32_t start) {
  LimitRows();
  const std::shared_ptr<Summary> summary = Begin(unit, trie, start);
  const bool is_scan = pool_[unit].kind == Kind::kScan;
  frames_.clear();
  OpenFrame(trie, start, RowOf(unit), 0);
  while (!frames_.empty()) {
    Frame& frame = frames_.back();
    if (frame.at == frame.end) {
      frames_.pop_back();
      continue;
    }
    const std::uint32_t node = frame.at++;
    const TrieNode& at = trie[node];
    const std::uint32_t row = StepRow(frame.row, at.byte);
    if (row == kDeadRow) continue;
    meter_.Charge(1);
    ++summary->work;
    const ExprId id = rows_[row].id;
    if (is_scan && pool_[id].kind != Kind::kScan) {
      summary->landings.push_back({node, TriggersOf(id)});
      continue;
    }
    for (TokenId token : trie.Tokens(node)) summary->inside.Add(static_cast<std::uint32_t>(token));
    if (rows_[row].nullable) summary->ends.Add(node);
    OpenFrame(trie, node, row, 0);
  }
  return summary;
}

std::shared_ptr<const Summary> UnitLibrary::BuildFrom(std::shared_ptr<const Summary> general,
                                                      ExprId unit) {
  constexpr std::uint32_t kTall = 255;  // heights stop counting here
  LimitRows();
  const Trie& trie = general->trie;
  const std::shared_ptr<Summary> summary = Begin(unit, trie, general->start);
  summary->base = general;
  frames_.clear();
  OpenFrame(trie, general->start, RowOf(unit), RowOf(general->unit));
  while (!frames_.empty()) {
    Frame& frame = frames_.back();
    if (frame.at == frame.end) {
      frames_.pop_back();
      continue;
    }
    const std::uint32_t node = frame.at++;
    const TrieNode& at = trie[node];
    meter_.Charge(1);
    ++summary->work;
    const std::uint32_t base = StepRow(frame.base, at.byte);
    if (base == kDeadRow) continue;  // the general unit takes all that this one does
    const std::uint32_t row = StepRow(frame.row, at.byte);
    if (row == base) continue;
    const Counts::Lifted& lifted = LiftedRow(row);
    const std::uint32_t height = at.height == kTall ? kUnbounded : at.height;
    if (lifted.id == rows_[base].id && lifted.slack >= height) continue;  // alike from here on
    if (row == kDeadRow) {
      for (TokenId id : trie.Tokens(node)) summary->lost.push_back(static_cast<std::uint32_t>(id));
    }
    OpenFrame(trie, node, row, base);
  }
  summary->is_difference =
      !general->inside.IsList() && summary->lost.size() <= vocabulary_.MaskWords() / 4;
  if (!summary->is_difference) {
    std::ranges::sort(summary->lost);
    summary->inside = general->inside;
    summary->inside.Remove(summary->lost);
    summary->lost = {};
  }
  return summary;
}

const Exits* UnitLibrary::ExitsOf(const Summary& summary, std::uint8_t byte, std::size_t few) {
  const Exits* known = summary.exits[byte].load(std::memory_order_acquire);
  if (known) return known;
  const std::lock_guard<std::mutex> lock(mutex_);
  return WithinLimits(meter_, [&] { return &ExitsLocked(summary, byte, few); });
}

const Exits& UnitLibrary::ExitsLocked(const Summary& summary, std::uint8_t byte, std::size_t few) {
  if (const Exits* known = summary.exits[byte].load(std::memory_order_relaxed)) return *known;
  auto made = std::make_unique<Exits>();
  made->nodes = ExitNodes(summary, byte, few);
  if (!made->nodes.empty() && made->nodes.size() <= few) {
    made->merged = Merge(summary.trie, made->nodes);
  }
  bytes_ += sizeof(Exits) + made->nodes.capacity() * sizeof(std::uint32_t);
  summary.exits[byte].store(made.get(), std::memory_order_release);
  return *made.release();
}

const Trie* UnitLibrary::Merge(const Trie& trie, const std::vector<std::uint32_t>& nodes) {
  std::unique_ptr<const Trie>& merged = merged_[&trie][nodes];
  if (!merged) {
    merged = std::make_unique<const Trie>(trie, nodes);
    bytes_ += merged->Bytes() + sizeof(Trie) + nodes.size() * sizeof(std::uint32_t);
  }
  return merged.get();
}

std::vector<std::uint32_t> UnitLibrary::ExitNodes(const Summary& summary, std::uint8_t byte,
                                                  std::size_t few) {
  const Trie& trie = summary.trie;
  std::vector<std::uint32_t> nodes;
  if (summary.base) {
    for (std::uint32_t node : ExitsLocked(*summary.base, byte, few).nodes) {
      if (EndsAfter(summary, trie.Parent(node))) nodes.push_back(node);
    }
  } else if (summary.ends.IsList()) {
    for (std::uint32_t end : summary.ends.List()) {
      const std::uint32_t node = trie.Child(end, byte);
      if (node != Trie::kNone) nodes.push_back(node);
    }
  } else {
    for (std::uint32_t node : vocabulary_.NodesOf(byte)) {
      if (summary.ends.Has(trie.Parent(node))) nodes.push_back(node);
    }
  }
  return nodes;
}

bool UnitLibrary::EndsAfter(const Summary& summary, std::uint32_t node) {
  LimitRows();
  text_.clear();
  for (; node != summary.start; node = summary.trie.Parent(node)) {
    text_.push_back(summary.trie[node].byte);
  }
  std::uint32_t row = RowOf(summary.unit);
  for (std::size_t i = text_.size(); i-- > 0 && row != kDeadRow;) row = StepRow(row, text_[i]);
  return rows_[row].nullable;
}

bool UnitLibrary::IsFull() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return MemoryLocked() > kFullBytes;
}

std::size_t UnitLibrary::MemoryBytes() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return MemoryLocked();
}

std::size_t UnitLibrary::MemoryLocked() const {
  return bytes_ + rows_.Bytes() + pool_.MemoryBytes() + deriver_.MemoryBytes() +
         liveness_.MemoryBytes() + first_bytes_.MemoryBytes();
}

}  // namespace structag
