#include "matching/states.h"

#include <algorithm>

#include "grammar/module.h"

namespace structag {
namespace {

// A token that begins inside a region needs one of its budget, the rest of a character at most
// three.
constexpr std::uint32_t kClippedBudget = 4;

// Tails that only say that something ends.
bool IsZeroWidth(Kind kind) { return kind == Kind::kClose || kind == Kind::kLeave; }

// Whether Expand does anything about a head.
bool LeadsOn(const Expr& head) { return head.nullable || head.kind == Kind::kKey; }

}  // namespace

StatePool::StatePool(ExprPool& exprs, Deriver& deriver, Liveness& liveness, FirstBytes& first_bytes,
                     const Vocabulary& vocabulary, Meter& meter, ShortCuts short_cuts)
    : exprs_(exprs),
      deriver_(deriver),
      liveness_(liveness),
      first_bytes_(first_bytes),
      vocabulary_(vocabulary),
      meter_(meter),
      short_cuts_(short_cuts),
      continuations_(exprs, meter) {
  std::vector<std::uint32_t> none;
  Intern(none, false);
}

ExprId StatePool::Import(std::uint32_t number) {
  return ReadImport(number, exprs_, deriver_, liveness_, meter_);
}

StateId StatePool::Start(ExprId root) {
  Open();
  Add(root, ContinuationPool::kEnd);
  return Close();
}

void StatePool::Open() {
  seen_.clear();
  queue_.clear();
  popped_.clear();
  complete_ = false;
  doubtful_ = false;
}

bool StatePool::IsUsable(ExprId id) {
  const Expr& e = exprs_[id];
  if (!e.productive) return false;
  return e.plain || !e.regular || liveness_.IsLive(id);
}

void StatePool::Add(ExprId id, ContinuationId next) {
  if (next == ContinuationPool::kNothing) return;
  if (id == ExprPool::kEpsilon || IsZeroWidth(exprs_[id].kind)) return Pop(next);
  if (!IsUsable(id)) return;
  if (seen_at_.size() <= Raw(id)) seen_at_.resize(exprs_.size());
  std::uint32_t& at = seen_at_[Raw(id)];
  if (at >= seen_.size() || seen_[at].id != id) {
    at = static_cast<std::uint32_t>(seen_.size());
    seen_.push_back({id, next, exprs_.IsHead(id), false});
  } else {
    const ContinuationId united = continuations_.Unite(seen_[at].next, next);
    if (united == seen_[at].next) return;
    seen_[at].next = united;
  }
  if (seen_[at].is_head && !LeadsOn(exprs_[id])) return meter_.Charge(1);
  if (!seen_[at].is_queued) {
    seen_[at].is_queued = true;
    queue_.emplace_back(exprs_[id].rank, at);
    std::push_heap(queue_.begin(), queue_.end());
  }
}

void StatePool::Pop(ContinuationId next) {
  const auto once = [&](ContinuationId id) {
    if (std::ranges::find(popped_, Raw(id)) == popped_.end()) popped_.push_back(Raw(id));
  };
  std::size_t i = popped_.size();
  once(next);
  for (; i < popped_.size(); ++i) {
    const ContinuationId at{popped_[i]};
    const std::size_t count = continuations_.FrameCount(at);
    meter_.Charge(1 + count);
    complete_ = complete_ || continuations_.MayEnd(at);
    for (std::size_t f = 0; f < count; ++f) {
      const Frame frame = continuations_.FrameAt(at, f);
      if (IsZeroWidth(exprs_[frame.tail].kind)) {
        once(frame.next);
      } else {
        Add(frame.tail, frame.next);
      }
    }
  }
}

StateId StatePool::Close() {
  while (!queue_.empty()) {
    std::pop_heap(queue_.begin(), queue_.end());
    const std::uint32_t at = queue_.back().second;
    queue_.pop_back();
    seen_[at].is_queued = false;
    meter_.Charge(1);
    Expand(seen_[at].id, seen_[at].next);
  }
  terms_.clear();
  for (const Seen& seen : seen_) {
    if (!seen.is_head) continue;
    terms_.push_back(Raw(seen.id));
    terms_.push_back(Raw(seen.next));
  }
  return Intern(terms_, complete_, doubtful_);
}

void StatePool::Expand(ExprId id, ContinuationId next) {
  const Expr& e = exprs_[id];
  const auto push = [&](ExprId tail) {
    return IsUsable(tail) ? continuations_.Push(tail, next) : ContinuationPool::kNothing;
  };
  switch (e.kind) {
    case Kind::kSeq:
      Add(ExprId{e.a}, push(ExprId{e.b}));
      // Told at once, not when the first part has popped: what that opens would be expanded again.
      if (exprs_[ExprId{e.a}].nullable) Add(ExprId{e.b}, next);
      return;
    case Kind::kAlt:
      for (std::uint32_t member : exprs_.Factored(id)) Add(ExprId{member}, next);
      return;
    case Kind::kRule: return Add(exprs_.rule_bodies_[e.a], next);
    case Kind::kImport: return Add(Import(e.a), next);
    case Kind::kBudget: {
      Pop(next);
      const ExprId close = exprs_.Make(Kind::kClose, e.b);
      return Add(ExprId{e.a}, continuations_.Push(close, next));
    }
    case Kind::kMark: return Add(ExprId{e.a}, continuations_.PushMark(e.b, next));
    case Kind::kRepeat:
      if (exprs_.IsHead(id)) break;
      if (e.b == 0) Pop(next);
      return Add(ExprId{e.a},
                 push(exprs_.MakeRepeat(ExprId{e.a}, e.b == 0 ? 0 : e.b - 1, OneLess(e.c))));
    case Kind::kUnordered: return ExpandUnordered(e, next);
    case Kind::kTally: return ExpandTally(id, next);
    case Kind::kKey:
      if (!exprs_[ExprId{e.a}].nullable) return;
      if (exprs_.IsHead(id) && IsPending(id) && !HasBegun(id)) return;  // see IsBeforeDoubt
      return FinishKey(e, next);
    default: break;
  }
  if (e.nullable) Pop(next);  // a head
}

void StatePool::ExpandUnordered(const Expr& e, ContinuationId next) {
  const UnorderedTable& table = exprs_.unordered_[e.a];
  const std::span<const std::uint32_t> open = exprs_.lists()[ListId{e.b}];
  if (e.nullable) Pop(next);
  const auto then = [&](std::span<const std::uint32_t> left) {
    const ExprId tail = exprs_.MakeUnordered(e.a, left, kAfterMember);
    return IsUsable(tail) ? continuations_.Push(tail, next) : ContinuationPool::kNothing;
  };
  if (e.c == kAfterMember) {
    const ExprId tail = exprs_.MakeUnordered(e.a, open, kAfterSeparator);
    if (IsUsable(tail)) Add(table.separator, continuations_.Push(tail, next));
    return;
  }
  Add(table.rest, then(open));
  for (std::size_t i = 0; i < table.members.size(); ++i) {
    if (!(open[i / 32] >> (i % 32) & 1)) continue;
    std::vector<std::uint32_t> left(open.begin(), open.end());
    left[i / 32] &= ~(1u << (i % 32));
    Add(table.members[i], then(left));
  }
}

void StatePool::ExpandTally(ExprId id, ContinuationId next) {
  const Expr& e = exprs_[id];
  const TallyCounts counts = exprs_.CountsOf(e);
  const TallyTable& table = counts.table;
  if (e.nullable) Pop(next);
  if (counts.max() == 0) return;
  if (e.c == kAfterMember) {
    const ExprId tail = exprs_.MakeTally(e.a, counts.words, kAfterSeparator);
    if (IsUsable(tail)) Add(table.separator, continuations_.Push(tail, next));
    return;
  }
  for (std::uint32_t i = 0; i < table.items.size(); ++i) {
    const TallyTable::Item& item = table.items[i];
    if (counts.max(item.kind) == 0) continue;
    const ExprId tail =
        exprs_.MakeTally(e.a, counts.After(item, TallyCounts::kPending), kAfterMember);
    if (!IsUsable(tail)) continue;
    if (!item.has_key) {
      Add(item.before, continuations_.Push(tail, next));
    } else if (counts.left(item) > 0 && IsUsable(item.after)) {
      const ExprId key = exprs_.MakeFresh(item, counts.seen(item));
      Add(exprs_.MakeSeq(item.before, exprs_.MakeKey(key, ExprPool::kEpsilon, id, i)), next);
    }
  }
}

void StatePool::FinishKey(const Expr& e, ContinuationId next) {
  const auto& [tally, item] = exprs_.BegunBy(e);
  const TallyCounts counts = exprs_.CountsOf(tally);
  std::uint32_t seen = counts.seen(item);
  doubtful_ = doubtful_ || seen == TallyCounts::kPending;
  if (seen != TallyCounts::kPending) seen = Raw(exprs_.WithText(ExprId{seen}, ExprId{e.b}));
  const ExprId tail = exprs_.MakeTally(tally.a, counts.After(item, seen), kAfterMember);
  Add(item.after, continuations_.Push(tail, next));
}

bool StatePool::IsPending(ExprId head) const noexcept {
  if (exprs_[head].kind != Kind::kKey) return false;
  const auto& [tally, item] = exprs_.BegunBy(exprs_[head]);
  return exprs_.CountsOf(tally).seen(item) == TallyCounts::kPending;
}

bool StatePool::HasBegun(ExprId key) const noexcept {
  const Expr& e = exprs_[key];
  return ExprId{e.b} != ExprPool::kEpsilon || ExprId{e.a} != exprs_.BegunBy(e).item.key;
}

StateId StatePool::AfterUnit(const Term& term) {
  const Expr& e = exprs_[term.head];
  if (e.kind != Kind::kKey) return Enter(ExprPool::kEpsilon, term.next);
  const auto& [tally, item] = exprs_.BegunBy(e);
  const TallyCounts counts = exprs_.CountsOf(tally);
  const ExprId tail =
      exprs_.MakeTally(tally.a, counts.After(item, TallyCounts::kPending), kAfterMember);
  return Enter(item.after, continuations_.Push(tail, term.next));
}

StateId StatePool::Intern(std::vector<std::uint32_t>& terms, bool complete, bool doubtful) {
  if (terms.size() > 2) {
    sorted_.clear();
    for (std::size_t i = 0; i < terms.size(); i += 2) sorted_.emplace_back(terms[i], terms[i + 1]);
    std::sort(sorted_.begin(), sorted_.end());
    for (std::size_t i = 0; i < sorted_.size(); ++i) {
      terms[2 * i] = sorted_[i].first;
      terms[2 * i + 1] = sorted_[i].second;
    }
  }
  const ListId list = lists_.Intern(terms);
  bool before_doubt = false;
  for (std::size_t i = 0; i < terms.size(); i += 2) {
    if (!IsPending(ExprId{terms[i]})) continue;
    (HasBegun(ExprId{terms[i]}) ? doubtful : before_doubt) = true;
  }
  doubtful = doubtful && (complete || !terms.empty());  // there is one dead state
  const std::uint64_t hash =
      Mix(std::uint64_t{Raw(list)} << 2 | (doubtful ? 2 : 0) | (complete ? 1 : 0));
  std::uint32_t* slot = index_.Find(hash, [&](std::uint32_t id) {
    return states_[id].terms == list && states_[id].complete == complete &&
           states_[id].is_doubtful == doubtful;
  });
  if (*slot != InternIndex::kNone) return StateId{*slot};
  State state;
  state.terms = list;
  state.complete = complete;
  state.is_doubtful = doubtful;
  state.is_before_doubt = before_doubt;
  for (std::size_t i = 0; i < terms.size(); i += 2) {
    state.reads_tokens = state.reads_tokens || exprs_[ExprId{terms[i]}].kind == Kind::kTokens;
    state.has_budget = state.has_budget || continuations_.HasBudget(ContinuationId{terms[i + 1]});
  }
  const std::uint32_t id = static_cast<std::uint32_t>(states_.size());
  states_.Push(state);
  index_.Commit(id);
  return StateId{id};
}

ExprId StatePool::Advance(ExprId head, std::uint8_t byte) {
  const Expr& e = exprs_[head];
  if (e.plain) return deriver_.Derive(head, byte);
  const std::uint64_t key = std::uint64_t{Raw(head)} << 8 | byte;
  if (const std::uint32_t* known = advanced_.Get(key)) return ExprId{*known};
  const ExprId rest = liveness_.LiveDerivative(head, byte);
  advanced_.Set(key, Raw(rest));
  return rest;
}

const ByteSet& StatePool::NextBytes(StateId state) {
  State& at = states_[Raw(state)];
  if (at.next != kUnknown) return next_bytes_[at.next];
  ByteSet bytes;
  for (std::size_t i = 0; i < TermCount(state); ++i) {
    const ExprId head = TermAt(state, i).head;
    if (exprs_[head].kind != Kind::kTokens) bytes.Unite(first_bytes_.Of(head));
  }
  at.next = next_bytes_.Intern(bytes);
  return next_bytes_[at.next];
}

StateId StatePool::Step(StateId state, std::uint8_t byte) {
  if (const StateId known = KnownStep(state, byte); known != kUnknownState) return known;
  if (state == kDead || !NextBytes(state).Has(byte)) return kDead;
  meter_.Charge(1);
  if (states_.size() % 256 == 0) CheckMemory();
  Open();
  const std::size_t count = TermCount(state);
  for (std::size_t i = 0; i < count; ++i) {
    const Term term = TermAt(state, i);
    if (exprs_[term.head].kind == Kind::kTokens) continue;
    const ExprId rest = Advance(term.head, byte);
    if (rest != ExprPool::kEmpty) Add(rest, term.next);
  }
  const StateId target = Close();
  if (!short_cuts_.Has(ShortCut::kKnownSteps)) return target;
  Published<std::uint32_t>& row = states_[Raw(state)].rows[byte >> 4];
  if (row.Load() == 0) {
    blocks_.Push({});
    row = static_cast<std::uint32_t>(blocks_.size());
  }
  blocks_[row.Load() - 1].targets[byte & 15] = Raw(target);
  return target;
}

void StatePool::CheckMemory() const {
  const std::uint64_t most = meter_.limits().max_memory_bytes;
  const std::size_t held =
      MemoryBytes() + exprs_.MemoryBytes() + deriver_.MemoryBytes() + liveness_.MemoryBytes();
  if (held > most) throw LimitReached(Limit::kMemory, most);
}

StateId StatePool::StepBytes(StateId state, std::span<const std::uint8_t> bytes) {
  for (std::uint8_t byte : bytes) {
    if (state == kDead) break;
    state = Step(state, byte);
  }
  return state;
}

const std::vector<std::uint32_t>& StatePool::TokenBits(std::uint32_t token_set) {
  if (token_bits_.size() <= token_set) token_bits_.resize(exprs_.token_sets_.size());
  std::vector<std::uint32_t>& bits = token_bits_[token_set];
  if (bits.empty()) bits = vocabulary_.Resolve(exprs_.token_sets_[token_set]);
  return bits;
}

StateId StatePool::StepToken(StateId state, TokenId id) {
  StateId next = kDead;
  for (const TokenEdge& edge : TokenEdges(state)) {
    if (edge.Has(id)) next = Unite(next, edge.next);
  }
  return next;
}

StateId StatePool::KnownStepToken(StateId state, TokenId id) const noexcept {
  if (!ReadsTokens(state)) return kDead;
  const std::uint32_t known = states_[Raw(state)].token_edges.Load();
  if (known == kUnknown) return kUnknownState;
  StateId next = kDead;
  for (const TokenEdge& edge : token_edges_[known]) {
    if (!edge.Has(id) || edge.next == next || edge.next == kDead) continue;
    if (next != kDead) return kUnknownState;
    next = edge.next;
  }
  return next;
}

std::span<const StatePool::TokenEdge> StatePool::TokenEdges(StateId state) {
  if (!ReadsTokens(state)) return {};
  Published<std::uint32_t>& known = states_[Raw(state)].token_edges;
  if (known.Load() != kUnknown) return token_edges_[known.Load()];
  std::vector<TokenEdge> edges;
  for (std::size_t i = 0; i < TermCount(state); ++i) {
    const Term term = TermAt(state, i);
    const Expr& e = exprs_[term.head];
    if (e.kind != Kind::kTokens) continue;
    Open();
    Pop(term.next);
    edges.push_back({&TokenBits(e.a), Close()});
  }
  token_edges_.Push(std::move(edges));
  known = static_cast<std::uint32_t>(token_edges_.size() - 1);
  return token_edges_[known.Load()];
}

StateId StatePool::Unite(StateId a, StateId b) {
  if (a == b || b == kDead) return a;
  if (a == kDead) return b;
  const std::uint64_t key = std::uint64_t{Raw(a)} << 32 | Raw(b);
  if (const std::uint32_t* known = united_.Get(key)) return StateId{*known};
  std::vector<std::uint32_t> terms;
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < TermCount(a) || j < TermCount(b)) {
    const bool has_a = i < TermCount(a);
    const bool has_b = j < TermCount(b);
    const Term ta = has_a ? TermAt(a, i) : Term{};
    const Term tb = has_b ? TermAt(b, j) : Term{};
    Term term = ta;
    if (has_a && has_b && ta.head == tb.head) {
      term.next = continuations_.Unite(ta.next, tb.next);
      ++i;
      ++j;
    } else if (has_a && (!has_b || Raw(ta.head) < Raw(tb.head))) {
      ++i;
    } else {
      term = tb;
      ++j;
    }
    terms.push_back(Raw(term.head));
    terms.push_back(Raw(term.next));
  }
  const StateId both = Intern(terms, IsComplete(a) || IsComplete(b));
  united_.Set(key, Raw(both));
  return both;
}

StateId StatePool::Enter(ExprId id, ContinuationId next) {
  const std::uint64_t key = std::uint64_t{Raw(id)} << 32 | Raw(next);
  if (const std::uint32_t* known = entered_.Get(key)) return StateId{*known};
  Open();
  Add(id, next);
  const StateId state = Close();
  entered_.Set(key, Raw(state));
  return state;
}

StateId StatePool::Of(std::span<const Term> terms, bool complete, bool doubtful) {
  std::vector<std::uint32_t> words;
  for (const Term& term : terms) {
    words.push_back(Raw(term.head));
    words.push_back(Raw(term.next));
  }
  return Intern(words, complete, doubtful);
}

StateId StatePool::Tick(StateId state) {
  if (!HasBudget(state)) return state;
  State& from = states_[Raw(state)];
  if (from.ticked.Load() != kUnknown) return StateId{from.ticked.Load()};
  std::vector<std::uint32_t> terms;
  for (std::size_t i = 0; i < TermCount(state); ++i) {
    const Term term = TermAt(state, i);
    const ContinuationId next = continuations_.Tick(term.next);
    if (next == ContinuationPool::kNothing) continue;
    terms.push_back(Raw(term.head));
    terms.push_back(Raw(next));
  }
  from.ticked = Raw(Intern(terms, from.complete));
  return StateId{from.ticked.Load()};
}

StateId StatePool::ClipForMask(StateId state) {
  if (!HasBudget(state) || !short_cuts_.Has(ShortCut::kClippedBudgets)) return state;
  State& from = states_[Raw(state)];
  if (from.clipped != kUnknown) return StateId{from.clipped};
  std::vector<std::uint32_t> terms;
  for (std::size_t i = 0; i < TermCount(state); ++i) {
    const Term term = TermAt(state, i);
    terms.push_back(Raw(term.head));
    terms.push_back(Raw(continuations_.ClipBudgets(term.next, kClippedBudget)));
  }
  from.clipped = Raw(Intern(terms, from.complete));
  return StateId{from.clipped};
}

bool StatePool::LeavesRegions(StateId state) const {
  if (IsComplete(state) || !HasBudget(state)) return true;
  for (std::size_t i = 0; i < TermCount(state); ++i) {
    if (continuations_.LeavesRegions(TermAt(state, i).next)) return true;
  }
  return false;
}

std::size_t StatePool::MemoryBytes() const noexcept {
  return lists_.Bytes() + next_bytes_.Bytes() + states_.Bytes() + blocks_.Bytes() + index_.Bytes() +
         advanced_.Bytes() + entered_.Bytes() + united_.Bytes() + token_edges_.Bytes() +
         continuations_.MemoryBytes() + seen_at_.capacity() * sizeof(std::uint32_t);
}

}  // namespace structag
