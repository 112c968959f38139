// How a summary comes about: by a walk over the trie, by a walk over where a unit differs from a
// more general one, or out of other summaries.
#include <algorithm>
#include <limits>
#include <utility>

#include "vocabulary/unit_library.h"
#include "vocabulary/vocabulary.h"

namespace structag {

std::shared_ptr<const Summary> UnitLibrary::Summarize(ExprId unit, const Trie& trie,
                                                      std::uint32_t node) {
  const bool is_whole = &trie == &vocabulary_.trie() && node == Trie::kRoot;
  if (is_whole && IsSearch(unit) && MayDiffer(trie)) return SummarizeSearch(unit);
  if (pool_[unit].kind == Kind::kScan || IsRun(unit)) return Walk(unit, trie, node);
  if (IsExclusion(unit)) return SummarizeExclusion(unit, trie, node);
  const ExprId general = MayDiffer(trie) ? counts_->Generalize(unit) : unit;
  if (general != unit && IsRun(general)) {
    return WalkDifference(FindLocked(general, trie, node), unit, Simpler::kLifted);
  }
  if (trie[node].below < thresholds_.many_below) return Walk(unit, trie, node);
  const auto counted = likeness_.AsCounted(unit);
  if (counted && short_cuts_.Has(ShortCut::kCountedLikeness)) {
    if (auto summary = SummarizeCounted(*counted, unit, trie, node)) return summary;
  }
  if (short_cuts_.Has(ShortCut::kLikeness) && RefusesNothing(unit)) {
    const std::shared_ptr<Summary> summary = Begin(unit, trie, node);
    summary->base = FindLocked(likeness_.AnyLike(unit), trie, node);
    summary->is_told = false;
    summary->work = 1 + summary->base->work;
    return summary;
  }
  if (MayDiffer(trie)) {
    const Counts::Lifted& loose = Loosen(unit);
    if (loose.id != unit) {
      return WalkDifference(FindSimple(loose.id, trie, node), unit, Simpler::kLoosened);
    }
  }
  const ExprId loop = LoopOf(rows_.Of(unit));
  if (loop != ExprPool::kEmpty) {
    if (auto summary = MakeAround(loop, unit, trie, node)) return summary;
  }
  return Walk(unit, trie, node);
}

// A count that no token is long enough to notice, or one that only longer tokens notice.
std::shared_ptr<const Summary> UnitLibrary::SummarizeCounted(const Likeness::Counted& counted,
                                                             ExprId unit, const Trie& trie,
                                                             std::uint32_t node) {
  const ExprId run = pool_.Spelled(counted.run);
  const ExprId uncounted = pool_.Spelled(counted.uncounted);
  if (MayDiffer(trie) && Likeness::Slack(counted, likeness_.Find(uncounted, run)) > 0) {
    return WalkDifference(FindLocked(counted.run, trie, node), unit, Simpler::kLifted);
  }
  const Counts::Lifted lifted = likeness_.Uncount(counted);
  if (lifted.slack < trie.depth() || counted.min > 0) return nullptr;
  return FindLocked(lifted.id, trie, node);
}

// A simpler unit of a larger language, and the bytes for which it takes the same: without counts,
// and all text if nothing is refused then.
const Counts::Lifted& UnitLibrary::Loosen(ExprId unit) {
  if (const auto known = loosened_.find(unit); known != loosened_.end()) return known->second;
  Counts::Lifted result{unit, kUnbounded};
  const auto lift = [&](const Counts::Lifted& lifted) {
    if (lifted.slack < thresholds_.roomy) return;
    result = {lifted.id, std::min(result.slack, lifted.slack)};
  };
  if (short_cuts_.Has(ShortCut::kCountedLikeness)) {
    if (const auto counted = likeness_.AsCounted(unit)) lift(likeness_.Uncount(*counted));
  }
  lift(counts_->Lift(result.id));
  if (short_cuts_.Has(ShortCut::kLikeness)) {
    result.id =
        RefusesNothing(result.id) ? likeness_.AnyLike(result.id) : LiftExclusions(result.id);
  }
  bytes_ += sizeof(*loosened_.begin());
  return loosened_.emplace(unit, result).first->second;
}

ExprId UnitLibrary::LiftExclusions(ExprId unit) {
  const auto [rest, excluded] = WithoutExclusions(pool_.Spelled(unit));
  if (!excluded || rest == ExprPool::kEmpty) return unit;
  const auto need = likeness_.Find(rest, rest);
  if (!need || !need->pumps) return unit;
  const Expr e = pool_[unit];
  return e.kind == Kind::kEncoded ? pool_.MakeEncoded(rest, e.b, Codec{e.c}) : rest;
}

// A summary from which others can differ: its tokens are its own, or its base's but some.
std::shared_ptr<const Summary> UnitLibrary::FindSimple(ExprId unit, const Trie& trie,
                                                       std::uint32_t node) {
  const Place place{&trie, node, unit};
  if (summaries_.contains(place) || IsSearch(unit)) {
    std::shared_ptr<const Summary> known = FindLocked(unit, trie, node);
    if (!known->IsMade() && !(known->base && known->is_told)) return known;
  }
  const std::shared_ptr<const Summary> flat = Walk(unit, trie, node, Form::kFlat);
  bytes_ += flat->Bytes() + sizeof(Place);
  return summaries_[place] = flat;
}

// Whether every text can go on inside of the unit, wherever it may end.
bool UnitLibrary::RefusesNothing(ExprId unit) {
  if (pool_[unit].kind == Kind::kEncoded && pool_[unit].b != kCodecRest) return false;
  // What ends after so many characters refuses any more.
  const auto counted = likeness_.AsCounted(unit);
  if (counted && counted->max != kUnbounded) return false;
  const ExprId spelled = pool_.Spelled(unit);
  const auto [rest, excluded] = WithoutExclusions(spelled);
  if (rest == ExprPool::kEmpty) return false;
  const ExprId text = pool_.Spelled(likeness_.AnyLike(unit));
  const auto need = likeness_.Find(rest, text);
  return need && (!excluded || need->pumps) && likeness_.IsWithin(spelled, text);
}

// A conjunction without the finite languages it excludes, and whether there are any; kEmpty if
// there is nothing else.  Where ends are without number, a few words less are as many.
std::pair<ExprId, bool> UnitLibrary::WithoutExclusions(ExprId spelled) {
  std::vector<std::uint32_t> parts{Raw(spelled)};
  if (pool_[spelled].kind == Kind::kAnd) {
    parts.assign(pool_.Members(spelled).begin(), pool_.Members(spelled).end());
  }
  const std::size_t excluded = std::erase_if(parts, [&](std::uint32_t part) {
    const Expr& e = pool_[ExprId{part}];
    return e.kind == Kind::kNot && IsFinite(ExprId{e.a}, 0);
  });
  if (parts.empty()) return {ExprPool::kEmpty, true};
  return {pool_.MakeAnd(std::move(parts)), excluded > 0};
}

bool UnitLibrary::IsFinite(ExprId id, unsigned depth) const {
  constexpr unsigned kDeep = 16;
  const Expr& e = pool_[id];
  const auto is_finite = [&](std::uint32_t part) { return IsFinite(ExprId{part}, depth + 1); };
  if (depth > kDeep) return false;
  switch (e.kind) {
    case Kind::kEpsilon:
    case Kind::kBytes:
    case Kind::kLiteral: return true;
    case Kind::kSeq: return is_finite(e.a) && is_finite(e.b);
    case Kind::kAlt: return std::ranges::all_of(pool_.Members(id), is_finite);
    default: return false;
  }
}

// One summary for every unit that differs from such a one by counts or exclusions only, and for
// every unit that it is a loop of: never made of others, so that those can be made of it.
bool UnitLibrary::IsRun(ExprId unit) const {
  const Expr* e = &pool_[unit];
  if (e->kind == Kind::kEncoded) e = &pool_[ExprId{e->a}];
  if (e->kind == Kind::kNot) return ExprId{e->a} == ExprPool::kEmpty;
  if (e->kind == Kind::kRepeat) return e->b == 0 && e->c == kUnbounded;
  const auto is_run = [&](std::uint32_t part) { return IsRun(ExprId{part}); };
  return e->kind == Kind::kAnd && pool_[unit].kind == Kind::kAnd &&
         std::ranges::all_of(pool_.Members(unit), is_run);
}

std::shared_ptr<Summary> UnitLibrary::Begin(ExprId unit, const Trie& trie,
                                            std::uint32_t node) const {
  // A set over the vocabulary may become a bitset; one over a part of it stays a list.
  constexpr std::size_t kNever = std::numeric_limits<std::size_t>::max() / 2;
  const bool is_whole = &trie == &vocabulary_.trie() && node == Trie::kRoot;
  return std::make_shared<Summary>(unit, trie, node, is_whole ? vocabulary_.size() : kNever,
                                   is_whole ? trie.size() : kNever);
}

// Calls visit(child, row, base) -> bool for what lies below a node, which changes what goes with
// the node above it to what goes with the child, and says whether to go on below that.
template <class Visit>
void UnitLibrary::WalkBelow(const Trie& trie, std::uint32_t node, std::uint32_t row,
                            std::uint32_t base, Visit visit) {
  const std::size_t outer = frames_.size();
  frames_.push_back({node, row, base});
  while (frames_.size() > outer) {
    const Frame frame = frames_.back();
    frames_.pop_back();
    const TrieNode& at = trie[frame.node];
    meter_.Charge(at.child_count);
    const std::size_t inner = frames_.size();
    for (std::uint32_t i = 0; i < at.child_count; ++i) {
      const std::uint32_t child = at.first_child + i;
      row = frame.row;
      base = frame.base;
      if (visit(child, row, base) && trie[child].child_count > 0) {
        frames_.push_back({child, row, base});
      }
    }
    // In the order in which nodes lie in memory.
    std::reverse(frames_.begin() + static_cast<std::ptrdiff_t>(inner), frames_.end());
  }
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

// Whether a summary may be a difference.  What a unit loses at one node it may have at another.
bool UnitLibrary::MayDiffer(const Trie& trie) const noexcept {
  return short_cuts_.Has(ShortCut::kDifferences) && !trie.repeats();
}

// The run around a residual that is worth a summary of its own; kEmpty if there is none.
ExprId UnitLibrary::LoopOf(std::uint32_t row) {
  if (!short_cuts_.Has(ShortCut::kLoops)) return ExprPool::kEmpty;
  return rows_.LoopOf(row, thresholds_.wide_loop);
}

// Adds what is left of a unit at a node as a part of its own.
void UnitLibrary::AddPart(Summary& summary, std::uint32_t row, const Trie& trie,
                          std::uint32_t node) {
  const bool may_end = rows_.IsNullable(row);
  summary.parts.push_back({FindLocked(rows_.IdOf(row), trie, node), may_end});
  const Summary& part = *summary.parts.back().summary;
  summary.work += 1 + part.work;
}

std::shared_ptr<const Summary> UnitLibrary::WalkDifference(std::shared_ptr<const Summary> general,
                                                           ExprId unit, Simpler simpler) {
  constexpr std::uint32_t kTall = 255;  // heights stop counting here
  const Trie& trie = general->trie;
  const std::shared_ptr<Summary> summary = Begin(unit, trie, general->start);
  summary->base = general->base ? general->base : general;
  summary->is_told = false;
  summary->lost = general->lost;
  if (simpler == Simpler::kLifted && FindLost(*summary)) return summary;
  const auto visit = [&](std::uint32_t node, std::uint32_t& row, std::uint32_t& base) {
    const TrieNode& at = trie[node];
    ++summary->work;
    base = rows_.Step(base, at.byte);
    if (base == UnitRows::kDead) return false;  // the general unit takes all that this one does
    row = rows_.Step(row, at.byte);
    if (row == base) return false;
    const Counts::Lifted& lifted = simpler == Simpler::kLifted
                                       ? rows_.LiftedBy(*counts_, likeness_, row)
                                       : Loosen(rows_.IdOf(row));
    const std::uint32_t height = at.height == kTall ? kUnbounded : at.height;
    if (lifted.id == rows_.IdOf(base) && lifted.slack >= height)
      return false;  // alike from here on
    if (row == UnitRows::kDead) {
      for (TokenId id : trie.Tokens(node)) summary->lost.push_back(static_cast<std::uint32_t>(id));
    }
    return true;
  };
  WalkBelow(trie, general->start, rows_.Of(unit), rows_.Of(general->unit), visit);
  Lose(*summary, std::exchange(summary->lost, {}));
  return summary;
}

const UnitLibrary::Lengths& UnitLibrary::LengthsOf(const Summary& run) {
  if (const auto found = lengths_.find(&run); found != lengths_.end()) return found->second;
  const Trie& trie = run.trie;
  const std::uint32_t between = rows_.Of(run.unit);  // items
  struct Token {
    std::uint32_t id, items;
  };
  std::vector<Token> counted;
  Lengths lengths;
  const auto visit = [&](std::uint32_t node, std::uint32_t& row, std::uint32_t& items) {
    items += row == between ? 1 : 0;
    row = rows_.Step(row, trie[node].byte);
    if (row == UnitRows::kDead) return false;
    for (TokenId token : trie.Tokens(node)) {
      counted.push_back({static_cast<std::uint32_t>(token), std::min(items, kMostItems)});
      for (std::uint32_t n = 0; n < counted.back().items; ++n) ++lengths.more[n];
    }
    return true;
  };
  WalkBelow(trie, run.start, between, 0, visit);
  lengths.tokens.resize(counted.size());
  auto places = lengths.more;  // of the next token, by its items
  for (const Token& token : counted) lengths.tokens[places[token.items]++] = token.id;
  bytes_ += sizeof(Lengths) + lengths.tokens.capacity() * sizeof(std::uint32_t);
  return lengths_.emplace(&run, std::move(lengths)).first->second;
}

// The tokens that are too long for a short count, from a table; false if it is not one.
bool UnitLibrary::FindLost(Summary& summary) {
  const Summary& run = *summary.base;
  const Expr& e = pool_[pool_.Spelled(summary.unit)];
  if (!short_cuts_.Has(ShortCut::kLengths)) return false;
  if (e.kind != Kind::kRepeat || e.c >= kMostItems || !likeness_.IsPrefixFree(ExprId{e.a}))
    return false;
  const Lengths& lengths = LengthsOf(run);
  const auto lost = std::span(lengths.tokens).first(lengths.more[e.c]);
  summary.work += 1 + lost.size();
  Lose(summary, {lost.begin(), lost.end()});
  return true;
}

// Takes tokens out of what is inside of a summary's base: as a list, or for good if they are many.
void UnitLibrary::Lose(Summary& summary, std::vector<std::uint32_t> lost) const {
  const IdSet& inside = summary.base->inside;
  if (inside.IsList() || lost.size() <= vocabulary_.MaskWords() / 4) {
    std::ranges::sort(lost);
    summary.lost = std::move(lost);
  } else {
    summary.inside = inside;
    summary.inside.Remove(lost);
    summary.is_told = true;
  }
}

const std::vector<std::uint32_t>& UnitLibrary::LeavingBefore(const Summary& loop,
                                                             std::uint8_t byte) {
  const auto [place, is_new] = frontiers_.try_emplace(&loop);
  if (is_new) bytes_ += sizeof(Frontier);
  Frontier& frontier = place->second;
  if (frontier.known[byte]) return frontier.nodes[byte];
  const Trie& trie = loop.trie;
  const std::uint32_t between = rows_.Of(loop.unit);
  std::size_t count = 0;
  const auto leave = [&](std::uint32_t node) {
    frontier.nodes[trie[node].byte].push_back(node);
    ++count;
  };
  if (&trie == &vocabulary_.trie() && loop.start == Trie::kRoot && !loop.ends.IsList()) {
    frontier.known[byte] = true;
    if (rows_.Step(between, byte) == UnitRows::kDead) {
      for (std::uint32_t node : vocabulary_.NodesOf(byte)) {
        const std::uint32_t above = trie.Parent(node);
        if (above == loop.start || loop.ends.Has(above)) leave(node);
      }
    }
  } else {
    frontier.known.fill(true);
    const auto visit = [&](std::uint32_t node, std::uint32_t& row, std::uint32_t&) {
      const std::uint32_t next = rows_.Step(row, trie[node].byte);
      if (next == UnitRows::kDead && rows_.IsNullable(row)) leave(node);
      row = next;
      return next != UnitRows::kDead;
    };
    WalkBelow(trie, loop.start, between, 0, visit);
  }
  bytes_ += count * sizeof(std::uint32_t);
  return frontier.nodes[byte];
}

// The loop, and what is left of the unit wherever tokens leave it; nullptr if that is most of all.
std::shared_ptr<const Summary> UnitLibrary::MakeAround(ExprId loop, ExprId unit, const Trie& trie,
                                                       std::uint32_t start) {
  struct Way {
    std::uint32_t row;  // after the byte that does not belong to the loop
    std::vector<std::uint32_t> nodes;
  };
  std::vector<Way> ways;
  const std::shared_ptr<const Summary> run = FindLocked(loop, trie, start);
  const std::uint32_t from = rows_.Of(unit);
  std::size_t below = 0;
  rows_.FirstBytesOf(from).ForEach([&](std::uint8_t byte) {
    const std::vector<std::uint32_t>& nodes = LeavingBefore(*run, byte);
    const std::uint32_t row = nodes.empty() ? UnitRows::kDead : rows_.Step(from, byte);
    if (row == UnitRows::kDead) return;
    auto way = std::ranges::find(ways, row, &Way::row);
    if (way == ways.end()) way = ways.insert(ways.end(), {row, {}});
    way->nodes.insert(way->nodes.end(), nodes.begin(), nodes.end());
    for (std::uint32_t node : nodes) below += 1 + trie[node].below;
  });
  if (below * thresholds_.worth_it > trie[start].below) return nullptr;
  const std::shared_ptr<Summary> summary = Begin(unit, trie, start);
  summary->loop = run;
  summary->loop_may_end = rows_.IsNullable(from);
  summary->work = 1 + run->work;
  for (Way& way : ways) {
    std::ranges::sort(way.nodes);
    AddPart(*summary, way.row, *Merge(trie, way.nodes), Trie::kRoot);
  }
  return summary;
}

}  // namespace structag
