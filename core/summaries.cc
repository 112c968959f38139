#include "summaries.h"

#include <algorithm>

namespace structag {
namespace {

constexpr std::size_t kMostRows = 4096;  // kept from one summary to the next
constexpr unsigned kDeep = 200;          // counts nested deeper than this stay as they are

}  // namespace

Summarizer::Summarizer(ExprPool& pool, Liveness& liveness, FirstBytes& first_bytes,
                       const Vocabulary& vocabulary, Meter& meter, const Acceleration& acceleration)
    : pool_(pool),
      liveness_(liveness),
      first_bytes_(first_bytes),
      vocabulary_(vocabulary),
      meter_(meter),
      acceleration_(acceleration) {}

std::size_t Summarizer::MemoryBytes() const noexcept { return bytes_ + rows_.Bytes(); }

Summarizer::Found Summarizer::Find(ExprId unit) {
  if (const auto found = found_.find(Raw(unit)); found != found_.end()) return found->second;
  const ExprId clipped = ClipCounts(unit);
  const Found found = clipped == unit ? Found{Make(unit), unit} : Find(clipped);
  if (bytes_ > meter_.limits().max_memory_bytes / 8) {
    found_.clear();
    bytes_ = 0;
  }
  if (clipped == unit) bytes_ += found.summary->Bytes();
  found_.emplace(Raw(unit), found);
  return found;
}

std::shared_ptr<const Summary> Summarizer::Make(ExprId unit) {
  const std::optional<Form> form = FormOf(unit);
  if (form) {
    if (auto known = vocabulary_.summaries().Get(*form)) {
      ++reused_;
      return known;
    }
  }
  const ExprId general = Generalize(unit);
  std::shared_ptr<const Summary> summary;
  bool is_narrow = false;
  if (general != unit) {
    const Found known = Find(general);
    if (!known.summary->inside.IsList()) summary = BuildFrom(known, unit);
  }
  if (!summary) summary = Build(unit, is_narrow);
  ++built_;
  if (form && !is_narrow) vocabulary_.summaries().Put(*form, summary);
  return summary;
}

void Summarizer::LimitRows() {
  if (rows_.size() > 0 && rows_.size() <= kMostRows) return;
  rows_ = {};
  row_index_ = {};
  RowOf(ExprPool::kEmpty);
}

std::uint32_t Summarizer::RowOf(ExprId id) {
  if (const std::uint32_t* known = row_index_.Get(Raw(id))) return *known;
  const std::uint32_t row = static_cast<std::uint32_t>(rows_.size());
  Row& made = rows_.Push({id, pool_[id].nullable, false, {}, &first_bytes_.Of(id), {}});
  made.next.fill(id == ExprPool::kEmpty ? kDeadRow : kUnknown);
  row_index_.Set(Raw(id), row);
  return row;
}

std::uint32_t Summarizer::FindStep(std::uint32_t row, std::uint8_t byte) {
  meter_.Charge(1);
  const std::uint32_t next = RowOf(liveness_.LiveDerivative(rows_[row].id, byte));
  rows_[row].next[byte] = next;
  return next;
}

Summarizer::Lifted Summarizer::LiftedRow(std::uint32_t row) {
  if (!rows_[row].is_lifted) {
    rows_[row].lifted = LiftCounts(rows_[row].id, true);
    rows_[row].is_lifted = true;
  }
  return rows_[row].lifted;
}

std::shared_ptr<const Summary> Summarizer::Build(ExprId unit, bool& is_narrow) {
  LimitRows();
  const Trie& trie = vocabulary_.trie();
  auto summary = std::make_shared<Summary>(vocabulary_.size(), trie.size());
  const bool is_scan = pool_[unit].kind == Kind::kScan;
  const auto open = [&](std::uint32_t node, std::uint32_t row) {
    const TrieNode& at = trie[node];
    if (at.child_count > 0) {
      frames_.push_back({at.first_child, at.first_child + at.child_count, row, 0});
    }
  };
  std::size_t visited = 0;
  frames_.clear();
  open(Trie::kRoot, RowOf(unit));
  while (!frames_.empty()) {
    Frame& frame = frames_.back();
    if (frame.at == frame.end) {
      frames_.pop_back();
      continue;
    }
    const std::uint32_t node = frame.at++;
    const TrieNode& at = trie[node];
    if (!rows_[frame.row].first->Has(at.byte)) continue;
    const std::uint32_t row = StepRow(frame.row, at.byte);
    meter_.Charge(1);
    if (row == kDeadRow) continue;
    ++visited;
    if (is_scan && pool_[rows_[row].id].kind != Kind::kScan) {
      summary->landings.emplace_back(node, rows_[row].id);
      continue;
    }
    for (TokenId id : trie.Tokens(node)) summary->inside.Add(static_cast<std::uint32_t>(id));
    if (rows_[row].nullable) summary->ends.Add(node);
    open(node, row);
  }
  is_narrow = visited <= acceleration_.narrow_nodes;
  return summary;
}

std::shared_ptr<const Summary> Summarizer::BuildFrom(const Found& general, ExprId unit) {
  constexpr std::uint32_t kTall = 255;  // heights stop counting here
  LimitRows();
  const Trie& trie = vocabulary_.trie();
  auto summary = std::make_shared<Summary>(vocabulary_.size(), 0);
  summary->base = general.summary;
  frames_.clear();
  const auto open = [&](std::uint32_t node, std::uint32_t row, std::uint32_t base) {
    const TrieNode& at = trie[node];
    if (at.child_count > 0) {
      frames_.push_back({at.first_child, at.first_child + at.child_count, row, base});
    }
  };
  open(Trie::kRoot, RowOf(unit), RowOf(general.unit));
  while (!frames_.empty()) {
    Frame& frame = frames_.back();
    if (frame.at == frame.end) {
      frames_.pop_back();
      continue;
    }
    const std::uint32_t node = frame.at++;
    const TrieNode& at = trie[node];
    meter_.Charge(1);
    const std::uint32_t base = StepRow(frame.base, at.byte);
    if (base == kDeadRow) continue;  // the general unit takes all that this one does
    const std::uint32_t row = StepRow(frame.row, at.byte);
    const Lifted lifted = LiftedRow(row);
    const std::uint32_t height = at.height == kTall ? kUnbounded : at.height;
    if (lifted.id == rows_[base].id && lifted.slack >= height) continue;  // alike from here on
    if (row == kDeadRow) {
      for (TokenId id : trie.Tokens(node)) summary->lost.push_back(static_cast<std::uint32_t>(id));
    }
    open(node, row, base);
  }
  if (summary->lost.size() <= vocabulary_.MaskWords()) return summary;
  return nullptr;
}

const Exits& Summarizer::ExitsOf(const Found& found, std::uint8_t byte) {
  std::atomic<const Exits*>& place = found.summary->exits[byte];
  if (const Exits* known = place.load(std::memory_order_acquire)) return *known;
  auto made = std::make_unique<Exits>();
  made->nodes = ExitNodes(found, byte);
  if (!made->nodes.empty() && made->nodes.size() <= acceleration_.few_exits) {
    made->merged = vocabulary_.summaries().Merge(vocabulary_.trie(), made->nodes);
  }
  const Exits* expected = nullptr;
  if (place.compare_exchange_strong(expected, made.get(), std::memory_order_acq_rel)) {
    return *made.release();
  }
  return *expected;
}

std::vector<std::uint32_t> Summarizer::ExitNodes(const Found& found, std::uint8_t byte) {
  const Summary& summary = *found.summary;
  const Trie& trie = vocabulary_.trie();
  std::vector<std::uint32_t> nodes;
  if (summary.base) {
    const Found general = Find(Generalize(found.unit));
    for (std::uint32_t node : ExitsOf(general, byte).nodes) {
      if (EndsAfter(found.unit, vocabulary_.Parent(node))) nodes.push_back(node);
    }
  } else if (summary.ends.IsList()) {
    for (std::uint32_t end : summary.ends.List()) {
      meter_.Charge(1);
      const std::uint32_t node = trie.Child(end, byte);
      if (node != Trie::kNone) nodes.push_back(node);
    }
  } else {
    meter_.Charge(vocabulary_.NodesOf(byte).size());
    for (std::uint32_t node : vocabulary_.NodesOf(byte)) {
      if (summary.ends.Has(vocabulary_.Parent(node))) nodes.push_back(node);
    }
  }
  return nodes;
}

bool Summarizer::EndsAfter(ExprId unit, std::uint32_t node) {
  LimitRows();
  text_.clear();
  for (; node != Trie::kRoot; node = vocabulary_.Parent(node)) {
    text_.push_back(vocabulary_.trie()[node].byte);
  }
  meter_.Charge(text_.size());
  std::uint32_t row = RowOf(unit);
  for (std::size_t i = text_.size(); i-- > 0 && row != kDeadRow;) row = StepRow(row, text_[i]);
  return rows_[row].nullable;
}

ExprId Summarizer::Generalize(ExprId id) {
  const Expr e = pool_[id];
  switch (e.kind) {
    case Kind::kNot: return pool_.MakeNot(ExprPool::kEmpty, e.b);
    case Kind::kRepeat: return pool_.MakeRepeat(ExprId{e.a}, 0, kUnbounded);
    case Kind::kEncoded:
      if (e.b != kCodecRest) return id;
      return pool_.MakeEncoded(Generalize(ExprId{e.a}), e.b, Codec{e.c});
    case Kind::kAnd: {
      std::vector<std::uint32_t> parts;
      for (std::uint32_t part : pool_.Members(id)) parts.push_back(Raw(Generalize(ExprId{part})));
      return pool_.MakeAnd(std::move(parts));
    }
    default: return id;
  }
}

ExprId Summarizer::ClipCounts(ExprId id, unsigned depth) {
  const Expr e = pool_[id];
  const std::uint32_t longest = vocabulary_.trie().depth();
  if (depth > kDeep) return id;
  if (e.kind != Kind::kRepeat && e.kind != Kind::kSeq && e.kind != Kind::kAlt &&
      e.kind != Kind::kEncoded) {
    return id;  // under And and Not a count decides what is dead
  }
  if (const auto found = clipped_.find(Raw(id)); found != clipped_.end()) return found->second;
  const auto part = [&](std::uint32_t child) { return ClipCounts(ExprId{child}, depth + 1); };
  ExprId result = id;
  switch (e.kind) {
    case Kind::kRepeat:
      result = pool_.MakeRepeat(part(e.a), std::min(e.b, longest + 1),
                                e.c >= longest ? kUnbounded : e.c);
      break;
    case Kind::kSeq: {
      const ExprId first = part(e.a);
      result = pool_.MakeSeq(first, part(e.b));
      break;
    }
    case Kind::kAlt: {
      std::vector<std::uint32_t> members;
      for (std::uint32_t member : pool_.Members(id)) members.push_back(Raw(part(member)));
      result = pool_.MakeAlt(std::move(members));
      break;
    }
    default: result = pool_.MakeEncoded(part(e.a), e.b, Codec{e.c}); break;
  }
  clipped_.emplace(Raw(id), result);
  clipped_.emplace(Raw(result), result);
  return result;
}

Summarizer::Lifted Summarizer::LiftCounts(ExprId id, bool is_last, unsigned depth) {
  const Expr e = pool_[id];
  Lifted result{id, kUnbounded};
  const auto part = [&](std::uint32_t child, bool last) {
    const Lifted lifted = LiftCounts(ExprId{child}, last, depth + 1);
    result.slack = std::min(result.slack, lifted.slack);
    return Raw(lifted.id);
  };
  if (depth > kDeep) return {id, 0};
  const std::uint64_t key = std::uint64_t{Raw(id)} << 1 | (is_last ? 1 : 0);
  if (const auto found = lifted_.find(key); found != lifted_.end()) return found->second;
  switch (e.kind) {
    case Kind::kRepeat: {
      const std::uint32_t child = part(e.a, false);
      result.slack = std::min(result.slack, e.c);
      result.id = pool_.MakeRepeat(ExprId{child}, is_last ? 0 : e.b, kUnbounded);
      break;
    }
    case Kind::kSeq: {
      const std::uint32_t first = part(e.a, false);
      result.id = pool_.MakeSeq(ExprId{first}, ExprId{part(e.b, is_last)});
      break;
    }
    case Kind::kAlt: {
      std::vector<std::uint32_t> members;
      for (std::uint32_t member : pool_.Members(id)) members.push_back(part(member, is_last));
      result.id = pool_.MakeAlt(std::move(members));
      break;
    }
    case Kind::kEncoded:
      result.id = pool_.MakeEncoded(ExprId{part(e.a, is_last)}, e.b, Codec{e.c});
      break;
    default: break;  // under And and Not a count decides what is dead
  }
  lifted_.emplace(key, result);
  return result;
}

std::optional<Form> Summarizer::FormOf(ExprId start) {
  if (pool_[start].kind == Kind::kScan) return std::nullopt;  // its cases are this grammar's own
  std::vector<std::uint32_t> stack{Raw(start)};
  std::vector<std::uint32_t> parts;
  std::vector<Form> members;
  while (!stack.empty()) {
    const std::uint32_t id = stack.back();
    if (forms_.contains(id)) {
      stack.pop_back();
      continue;
    }
    const Expr& e = pool_[ExprId{id}];
    parts.clear();
    switch (e.kind) {
      case Kind::kAlt:
      case Kind::kAnd: {
        const auto list = pool_.Members(ExprId{id});
        parts.assign(list.begin(), list.end());
        break;
      }
      case Kind::kSeq: parts = {e.a, e.b}; break;
      case Kind::kRepeat:
      case Kind::kNot:
      case Kind::kEncoded:
      case Kind::kErase:
      case Kind::kTransparent: parts = {e.a}; break;
      default: break;
    }
    bool ready = true;
    for (std::uint32_t part : parts) {
      if (forms_.contains(part)) continue;
      stack.push_back(part);
      ready = false;
    }
    if (!ready) continue;
    stack.pop_back();
    FormHasher hasher(static_cast<std::uint64_t>(e.kind));
    members.clear();
    for (std::uint32_t part : parts) members.push_back(forms_.at(part));
    switch (e.kind) {
      case Kind::kBytes:
        for (std::uint64_t word : pool_.Bytes(ExprId{id}).words) hasher.Add(word);
        break;
      case Kind::kLiteral:
        hasher.Add(e.b);
        for (char c : pool_.LiteralText(ExprId{id})) hasher.Add(static_cast<std::uint8_t>(c));
        break;
      case Kind::kNoOccurrence:
        hasher.Add(pool_.search_forms_[e.a].size());
        for (char c : pool_.search_forms_[e.a]) hasher.Add(static_cast<std::uint8_t>(c));
        hasher.Add(e.b);
        hasher.Add(e.c);
        break;
      case Kind::kAssertion: hasher.Add(e.a); break;
      case Kind::kAlt:
      case Kind::kAnd: std::ranges::sort(members); [[fallthrough]];
      case Kind::kSeq: hasher.Add(members.size()); break;
      default:
        hasher.Add(e.b);
        hasher.Add(e.c);
        break;
    }
    for (const Form& member : members) hasher.Add(member);
    forms_.emplace(id, hasher.form());
  }
  return forms_.at(Raw(start));
}

}  // namespace structag
