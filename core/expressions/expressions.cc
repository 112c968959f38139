#include "expressions/expressions.h"

#include <algorithm>
#include <limits>

namespace structag {
namespace {

constexpr std::uint32_t kFar = std::numeric_limits<std::uint32_t>::max() / 4;
std::uint32_t AddLength(std::uint64_t a, std::uint64_t b) {
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(a + b, kFar));
}

}  // namespace

std::vector<std::uint32_t> TallyCounts::After(const TallyTable::Item& item,
                                              std::uint32_t seen) const {
  std::vector<std::uint32_t> next(words.begin(), words.end());
  for (std::size_t at : {std::size_t{0}, 2 + 2 * std::size_t{item.kind}}) {
    next[at] -= next[at] > 0 ? 1 : 0;
    next[at + 1] = OneLess(next[at + 1]);
  }
  if (item.has_key) {
    next[At(item)] = seen;
    next[At(item) + 1] = OneLess(next[At(item) + 1]);
  }
  return next;
}

ExprPool::ExprPool(Meter& meter) : meter_(meter) {
  Make(Kind::kEmpty, 0);
  Make(Kind::kEpsilon, 0);
}

bool ExprPool::IsHead(ExprId id) const noexcept {
  const Expr& e = (*this)[id];
  switch (e.kind) {
    case Kind::kRepeat: return e.regular && (exprs_[e.a].nullable || exprs_[e.a].span > 0);
    case Kind::kBytes:
    case Kind::kLiteral:
    case Kind::kAnd:
    case Kind::kNot:
    case Kind::kEncoded:
    case Kind::kNoOccurrence:
    case Kind::kScan:
    case Kind::kErase:
    case Kind::kTokens: return true;
    case Kind::kKey: return ExprId{e.a} != kEpsilon;
    default: return false;
  }
}

ExprId ExprPool::Make(Kind kind, std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  const std::uint32_t key[4] = {static_cast<std::uint32_t>(kind), a, b, c};
  std::uint32_t* slot = index_.Find(HashWords(key), [&](std::uint32_t id) {
    const Expr& e = exprs_[id];
    return e.kind == kind && e.a == a && e.b == b && e.c == c;
  });
  if (*slot != InternIndex::kNone) return ExprId{*slot};
  meter_.Charge(1);
  Expr e;
  e.kind = kind;
  e.a = a;
  e.b = b;
  e.c = c;
  Describe(e);
  const std::uint32_t id = static_cast<std::uint32_t>(exprs_.size());
  exprs_.Push(e);
  index_.Commit(id);
  return ExprId{id};
}

void ExprPool::Describe(Expr& e) const {
  const auto at = [this](std::uint32_t id) -> const Expr& { return exprs_[id]; };
  const auto members = [&] { return lists_[ListId{e.a}]; };
  const auto all = [&](auto claim) {
    return std::ranges::all_of(members(), [&](std::uint32_t id) { return claim(at(id)); });
  };
  const auto regular = [](const Expr& m) { return m.regular; };
  const auto plain = [](const Expr& m) { return m.plain; };
  const auto text = [](const Expr& m) { return m.is_text; };
  const auto unmarked = [](const Expr& m) { return !m.has_marks; };
  switch (e.kind) {
    case Kind::kEmpty:
      e.productive = false;
      e.is_text = true;
      break;
    case Kind::kEpsilon: e.is_text = true; break;
    case Kind::kBytes: {
      ByteSet high;
      high.AddRange(0x80, 0xFF);
      e.is_text = !byte_sets_[e.a].Intersects(high);
      break;
    }
    case Kind::kLiteral: {
      Utf8State utf8 = kUtf8Start;
      for (std::uint32_t i = 0; i < std::min(e.b, 64u) && utf8 != kUtf8Reject; ++i) {
        utf8 = Utf8Step(utf8, static_cast<std::uint8_t>(literal_text_[e.a + i]));
      }
      e.is_text = utf8 == kUtf8Start && e.b <= 64;
      break;
    }
    case Kind::kSeq:
      e.regular = at(e.a).regular && at(e.b).regular;
      e.plain = at(e.a).plain && at(e.b).plain;
      e.is_text = at(e.a).is_text && at(e.b).is_text;
      e.has_marks = at(e.a).has_marks || at(e.b).has_marks;
      break;
    case Kind::kAlt:
      e.regular = all(regular);
      e.plain = all(plain);
      e.is_text = all(text);
      e.has_marks = !all(unmarked);
      break;
    case Kind::kRepeat:
    case Kind::kTransparent:
      e.regular = at(e.a).regular;
      e.plain = at(e.a).plain && e.kind == Kind::kRepeat;
      e.is_text = at(e.a).is_text && e.kind == Kind::kRepeat;
      e.has_marks = at(e.a).has_marks || e.kind == Kind::kTransparent;
      break;
    case Kind::kAnd:
      e.plain = false;
      e.is_text = !all([](const Expr& m) { return !m.is_text; });
      e.has_marks = !all(unmarked);
      break;
    case Kind::kNot:
      e.plain = false;
      e.is_text = e.b == kUtf8Start;
      e.has_marks = true;
      break;
    case Kind::kEncoded:
      e.plain = false;
      e.is_text = at(e.a).is_text;  // an escape lies between characters
      break;
    case Kind::kNoOccurrence:
      e.plain = false;
      e.is_text = e.c == kUtf8Start;
      break;
    case Kind::kErase: e.plain = false; break;
    case Kind::kAssertion:
      e.plain = false;
      e.has_marks = true;
      break;
    default:
      e.regular = false;
      e.plain = false;
      break;
  }
  e.span = Span(e);
  e.nullable = EvaluateNullable(e);
  if (!e.regular && sealed_) e.productive = EvaluateProductive(e);
  e.min_length = e.regular || e.kind == Kind::kScan ? MinLength(e) : 0;
  if (e.kind == Kind::kSeq) {
    e.rank = 1 + std::max(at(e.a).rank, at(e.a).nullable ? at(e.b).rank : 0);
  } else if (e.kind == Kind::kRepeat) {
    e.rank = 1 + at(e.a).rank;
  } else if (e.kind == Kind::kAlt) {
    for (std::uint32_t id : members()) e.rank = std::max(e.rank, at(id).rank + 1);
  } else if (e.kind == Kind::kImport) {
    e.rank = 1u << 29;  // before what the module opens with, which is not known yet
  } else if (e.kind == Kind::kUnordered || e.kind == Kind::kTally || e.kind == Kind::kBudget) {
    e.rank = 1u << 30;  // before everything a member may open with
  }
}

bool ExprPool::EvaluateNullable(const Expr& e) const {
  const auto at = [this](std::uint32_t id) -> const Expr& { return exprs_[id]; };
  const auto is_nullable = [&](std::uint32_t id) { return at(id).nullable; };
  switch (e.kind) {
    case Kind::kEpsilon:
    case Kind::kBudget:
    case Kind::kClose:
    case Kind::kLeave: return true;
    case Kind::kMark: return at(e.a).nullable;
    case Kind::kSeq: return at(e.a).nullable && at(e.b).nullable;
    case Kind::kAlt: return std::ranges::any_of(lists_[ListId{e.a}], is_nullable);
    case Kind::kAnd: return std::ranges::all_of(lists_[ListId{e.a}], is_nullable);
    case Kind::kRepeat: return e.b == 0 || at(e.a).nullable;
    case Kind::kRule: {
      return e.a < rule_bodies_.size() && at(Raw(rule_bodies_[e.a])).nullable;
    }
    case Kind::kNot: return e.b == kUtf8Start && !at(e.a).nullable;
    case Kind::kEncoded: return e.b == kCodecRest && at(e.a).nullable;
    case Kind::kNoOccurrence: return e.c == kUtf8Start;
    case Kind::kErase:
    case Kind::kTransparent: return at(e.a).nullable;
    case Kind::kUnordered: {
      if (e.c == kAfterSeparator) return false;
      const UnorderedTable& table = unordered_[e.a];
      const auto open = lists_[ListId{e.b}];
      for (std::size_t i = 0; i < table.members.size(); ++i) {
        if (table.required[i] && (open[i / 32] >> (i % 32) & 1)) return false;
      }
      return true;
    }
    case Kind::kTally: {
      if (e.c == kAfterSeparator) return false;
      const TallyCounts counts = CountsOf(e);
      for (std::size_t k = 0; k < counts.kinds(); ++k) {
        if (counts.min(k) > 0) return false;
      }
      return counts.min() == 0;
    }
    default: return false;
  }
}

bool ExprPool::EvaluateProductive(const Expr& e) const {
  const auto productive = [this](std::uint32_t id) { return exprs_[id].productive; };
  switch (e.kind) {
    case Kind::kEmpty: return false;
    case Kind::kSeq: return productive(e.a) && productive(e.b);
    case Kind::kAlt: return std::ranges::any_of(lists_[ListId{e.a}], productive);
    case Kind::kRepeat: return e.b == 0 || productive(e.a);
    case Kind::kMark: return productive(e.a);
    case Kind::kRule: return e.a < rule_bodies_.size() && productive(Raw(rule_bodies_[e.a]));
    case Kind::kUnordered: {
      const UnorderedTable& table = unordered_[e.a];
      const auto open = lists_[ListId{e.b}];
      std::size_t needed = 0;
      bool has_member = productive(Raw(table.rest));
      for (std::size_t i = 0; i < table.members.size(); ++i) {
        if (!(open[i / 32] >> (i % 32) & 1)) continue;
        const bool can = productive(Raw(table.members[i]));
        has_member = has_member || can;
        if (!table.required[i]) continue;
        if (!can) return false;
        ++needed;
      }
      const std::size_t separators = needed + (e.c == kAfterMember ? 1 : 0);
      if (needed > 0 && separators > 1 && !productive(Raw(table.separator))) return false;
      return e.c != kAfterSeparator || has_member;
    }
    case Kind::kTally: {
      TallyCounts counts = CountsOf(e);
      const auto usable = [&](const TallyTable::Item& item) {
        return productive(Raw(item.before)) && productive(Raw(item.after));
      };
      std::vector<std::uint32_t> words;
      if (!productive(Raw(counts.table.separator))) {
        words.assign(counts.words.begin(), counts.words.end());
        words[1] = std::min(words[1], e.c == kAfterMember ? 0u : 1u);
        counts.words = words;
      }
      if (!counts.IsFeasible(usable)) return false;
      return e.c != kAfterSeparator ||
             (counts.max() > 0 &&
              std::ranges::any_of(counts.table.items, [&](const TallyTable::Item& item) {
                return usable(item) && counts.max(item.kind) > 0 &&
                       (!item.has_key || counts.left(item) > 0);
              }));
    }
    default: return true;
  }
}

std::uint8_t ExprPool::Span(const Expr& e) const {
  switch (e.kind) {
    case Kind::kBytes: return 1;
    case Kind::kLiteral: return e.b <= kUtf8Longest ? static_cast<std::uint8_t>(e.b) : 0;
    case Kind::kSeq: {
      const unsigned sum = exprs_[e.a].span + unsigned{exprs_[e.b].span};
      const bool is_class = exprs_[e.a].span > 0 && exprs_[e.b].span > 0 && sum <= kUtf8Longest;
      return is_class ? static_cast<std::uint8_t>(sum) : 0;
    }
    case Kind::kAlt: {
      std::uint8_t most = 0;
      for (std::uint32_t id : lists_[ListId{e.a}]) {
        if (exprs_[id].span == 0) return 0;
        most = std::max(most, exprs_[id].span);
      }
      return most;
    }
    default: return 0;
  }
}

std::uint32_t ExprPool::MinLength(const Expr& e) const {
  const auto at = [this](std::uint32_t id) -> const Expr& { return exprs_[id]; };
  switch (e.kind) {
    case Kind::kEmpty: return kFar;
    case Kind::kBytes: return 1;
    case Kind::kLiteral: return std::min(e.b, kFar);
    case Kind::kSeq: return AddLength(at(e.a).min_length, at(e.b).min_length);
    case Kind::kAlt: {
      std::uint32_t least = kFar;
      for (std::uint32_t id : lists_[ListId{e.a}]) least = std::min(least, at(id).min_length);
      return least;
    }
    case Kind::kRepeat: return AddLength(std::uint64_t{at(e.a).min_length} * e.b, 0);
    case Kind::kAnd: {
      std::uint32_t most = 0;
      for (std::uint32_t id : lists_[ListId{e.a}]) most = std::max(most, at(id).min_length);
      return most;
    }
    case Kind::kNot: return std::max(Utf8Missing(e.b), at(e.a).nullable ? 1u : 0u);
    case Kind::kNoOccurrence: return Utf8Missing(e.c);
    case Kind::kScan: return scans_[e.a].search.automaton->Distance(e.b);
    case Kind::kEncoded:
    case Kind::kErase:
    case Kind::kTransparent: return at(e.a).min_length;
    default: return 0;
  }
}

ExprId ExprPool::MakeBytes(const ByteSet& set) {
  return set.IsEmpty() ? kEmpty : Make(Kind::kBytes, byte_sets_.Intern(set));
}

ExprId ExprPool::MakeLiteral(std::uint32_t offset, std::uint32_t length) {
  return length == 0 ? kEpsilon : Make(Kind::kLiteral, offset, length);
}

ExprId ExprPool::MakeSeq(ExprId first, ExprId rest) {
  if (first == kEmpty || rest == kEmpty) return kEmpty;
  if (first == kEpsilon) return rest;
  if (rest == kEpsilon) return first;
  if ((*this)[first].kind != Kind::kSeq) return Make(Kind::kSeq, Raw(first), Raw(rest));
  // ((a b) c) d is kept as a (b (c d)): the left spine is unwound first.
  std::vector<ExprId> spine;
  while ((*this)[first].kind == Kind::kSeq) {
    const Expr& e = (*this)[first];
    spine.push_back(ExprId{e.a});
    first = ExprId{e.b};
  }
  spine.push_back(first);
  for (; !spine.empty(); spine.pop_back()) {
    rest = Make(Kind::kSeq, Raw(spine.back()), Raw(rest));
  }
  return rest;
}

bool ExprPool::IsTextFrom(ExprId id, Utf8State utf8) const {
  const Expr& e = (*this)[id];
  if (e.kind == Kind::kNot) return e.b == utf8;
  if (e.kind == Kind::kSeq && exprs_[e.a].kind == Kind::kNot) {
    return exprs_[e.a].b == utf8 && exprs_[e.b].is_text;
  }
  return utf8 == kUtf8Start && e.is_text;
}

ExprId ExprPool::MakeAlt(std::vector<std::uint32_t> members) {
  for (std::size_t i = 0; i < members.size(); ++i) {
    if ((*this)[ExprId{members[i]}].kind != Kind::kAlt) continue;
    const auto inner = Members(ExprId{members[i]});
    members[i] = inner[0];
    members.insert(members.end(), inner.begin() + 1, inner.end());
  }
  std::erase(members, Raw(kEmpty));
  std::sort(members.begin(), members.end());
  members.erase(std::unique(members.begin(), members.end()), members.end());
  if (members.size() > 1) {  // all text swallows every text
    for (std::uint32_t id : members) {
      const Expr& e = exprs_[id];
      if (e.kind != Kind::kNot || ExprId{e.a} != kEmpty) continue;
      const Utf8State utf8 = e.b;
      std::erase_if(members, [&](std::uint32_t other) {
        return other != id && IsTextFrom(ExprId{other}, utf8);
      });
      break;
    }
  }
  if (members.empty()) return kEmpty;
  if (members.size() == 1) return ExprId{members[0]};
  return Make(Kind::kAlt, Raw(lists_.Intern(members)));
}

ExprId ExprPool::MakeRepeat(ExprId child, std::uint32_t min, std::uint32_t max) {
  if (max == 0 || child == kEpsilon) return kEpsilon;
  if (child == kEmpty) return min == 0 ? kEpsilon : kEmpty;
  if (min == 1 && max == 1) return child;
  return Make(Kind::kRepeat, Raw(child), min, max);
}

ExprId ExprPool::MakeAnd(std::vector<std::uint32_t> operands) {
  for (std::size_t i = 0; i < operands.size(); ++i) {
    if ((*this)[ExprId{operands[i]}].kind != Kind::kAnd) continue;
    const auto inner = Members(ExprId{operands[i]});
    operands[i] = inner[0];
    operands.insert(operands.end(), inner.begin() + 1, inner.end());
  }
  std::sort(operands.begin(), operands.end());
  operands.erase(std::unique(operands.begin(), operands.end()), operands.end());
  if (!operands.empty() && ExprId{operands[0]} == kEmpty) return kEmpty;
  for (std::uint32_t id : operands) {
    if (ExprId{id} != kEpsilon) continue;
    const bool all =
        std::ranges::all_of(operands, [&](std::uint32_t o) { return exprs_[o].nullable; });
    return all ? kEpsilon : kEmpty;
  }
  if (operands.size() > 1) {  // all text restricts nothing that is text
    for (std::uint32_t id : operands) {
      const Expr& e = exprs_[id];
      if (e.kind != Kind::kNot || ExprId{e.a} != kEmpty) continue;
      const Utf8State utf8 = e.b;
      const bool redundant = std::ranges::any_of(operands, [&](std::uint32_t other) {
        return other != id && IsTextFrom(ExprId{other}, utf8);
      });
      if (redundant) std::erase(operands, id);
      break;
    }
  }
  if (operands.size() == 1) return ExprId{operands[0]};
  return Make(Kind::kAnd, Raw(lists_.Intern(operands)));
}

ExprId ExprPool::MakeNot(ExprId child, Utf8State utf8) {
  const Expr& e = (*this)[child];
  if (e.kind == Kind::kNot && ExprId{e.a} == kEmpty && e.b == utf8) return kEmpty;
  return Make(Kind::kNot, Raw(child), utf8);
}

ExprId ExprPool::MakeEncoded(ExprId child, CodecState state, Codec codec) {
  if (child == kEmpty) return kEmpty;
  if (child == kEpsilon && state == kCodecRest) return kEpsilon;
  return Make(Kind::kEncoded, Raw(child), state, static_cast<std::uint32_t>(codec));
}

ExprId ExprPool::MakeErase(ExprId closed_child, std::uint32_t marks) {
  if (!(*this)[closed_child].has_marks) return closed_child;
  return Make(Kind::kErase, Raw(closed_child), marks);
}

ExprId ExprPool::MakeTransparent(ExprId child) {
  return child == kEmpty ? kEmpty : Make(Kind::kTransparent, Raw(child));
}

ExprId ExprPool::MakeUnordered(std::uint32_t table, std::span<const std::uint32_t> open,
                               Position position) {
  return Make(Kind::kUnordered, table, Raw(lists_.Intern(open)), position);
}

ExprId ExprPool::MakeTally(std::uint32_t table, std::span<const std::uint32_t> words,
                           Position position) {
  return Make(Kind::kTally, table, Raw(lists_.Intern(words)), position);
}

ExprId ExprPool::MakeFresh(const TallyTable::Item& item, std::uint32_t seen) {
  if (seen == TallyCounts::kPending || ExprId{seen} == kEmpty) return item.key;
  const ExprId other = MakeNot(ExprId{seen}, kUtf8Start);
  if (!item.is_encoded) return MakeAnd({Raw(item.key), Raw(other)});
  const Expr key = (*this)[item.key];
  return MakeEncoded(MakeAnd({key.a, Raw(other)}), key.b, Codec{key.c});
}

// The set is kept as a trie: an Alt of a byte and what follows it.
ExprId ExprPool::WithText(ExprId texts, ExprId backwards) {
  struct Branch {
    std::uint32_t byte;  // an expression
    std::vector<std::uint32_t> others;
  };
  std::vector<std::uint32_t> text;
  for (; (*this)[backwards].kind == Kind::kSeq; backwards = ExprId{(*this)[backwards].b}) {
    text.push_back((*this)[backwards].a);
  }
  if (backwards != kEpsilon) text.push_back(Raw(backwards));
  std::vector<Branch> path;
  for (; !text.empty(); text.pop_back()) {
    Branch branch{text.back(), {}};
    ExprId below = kEmpty;
    const auto visit = [&](std::uint32_t id) {
      const Expr& e = exprs_[id];
      const bool is_seq = e.kind == Kind::kSeq;
      if ((is_seq ? e.a : id) == branch.byte) {
        below = is_seq ? ExprId{e.b} : kEpsilon;
      } else {
        branch.others.push_back(id);
      }
    };
    if ((*this)[texts].kind == Kind::kAlt) {
      for (std::uint32_t id : Members(texts)) visit(id);
    } else if (texts != kEmpty) {
      visit(Raw(texts));
    }
    meter_.Charge(1 + branch.others.size());
    path.push_back(std::move(branch));
    texts = below;
  }
  texts = MakeAlt({Raw(texts), Raw(kEpsilon)});
  for (; !path.empty(); path.pop_back()) {
    Branch& branch = path.back();
    branch.others.push_back(Raw(MakeSeq(ExprId{branch.byte}, texts)));
    texts = MakeAlt(std::move(branch.others));
  }
  return texts;
}

std::span<const std::uint32_t> ExprPool::Factored(ExprId alt) {
  constexpr std::size_t kWorthIt = 8;
  const auto members = Members(alt);
  if (members.size() < kWorthIt) return members;
  if (const std::uint32_t* list = factored_.Get(Raw(alt))) return lists_[ListId{*list}];
  meter_.Charge(members.size());
  struct Branch {
    ExprId member, literal, rest;
  };
  std::vector<Branch> branches;
  std::vector<std::uint32_t> result;
  for (std::uint32_t id : members) {
    const Expr& e = exprs_[id];
    const ExprId head = e.kind == Kind::kSeq ? ExprId{e.a} : ExprId{id};
    if ((*this)[head].kind == Kind::kLiteral) {
      branches.push_back({ExprId{id}, head, e.kind == Kind::kSeq ? ExprId{e.b} : kEpsilon});
    } else {
      result.push_back(id);
    }
  }
  const auto text = [&](std::size_t i) { return LiteralText(branches[i].literal); };
  std::ranges::sort(branches, {}, [&](const Branch& b) { return LiteralText(b.literal); });
  // Branches that begin alike hang on one that is as long as what they share.  Neighbours share
  // the most, so that one pass finds these; open ones are inside each other.
  struct Open {
    std::size_t length;
    ExprId literal;  // begins with what is shared
    std::vector<std::uint32_t> members;
  };
  std::vector<Open> open(1);
  const auto part = [&](ExprId literal, std::size_t from, std::size_t to) {
    return MakeLiteral((*this)[literal].a + static_cast<std::uint32_t>(from),
                       static_cast<std::uint32_t>(to - from));
  };
  for (std::size_t i = 0; i < branches.size(); ++i) {
    std::size_t shared = 0;  // with the next one
    if (i + 1 < branches.size()) {
      const auto [end, _] = std::ranges::mismatch(text(i), text(i + 1));
      shared = static_cast<std::size_t>(end - text(i).begin());
    }
    const Branch& branch = branches[i];
    if (shared > open.back().length) open.push_back({shared, branch.literal, {}});
    const std::size_t from = open.back().length;
    const ExprId left = part(branch.literal, from, text(i).size());
    open.back().members.push_back(Raw(from == 0 ? branch.member : MakeSeq(left, branch.rest)));
    while (open.back().length > shared) {
      Open done = std::move(open.back());
      open.pop_back();
      if (open.back().length < shared) open.push_back({shared, done.literal, {}});
      const ExprId left_of_it = part(done.literal, open.back().length, done.length);
      open.back().members.push_back(Raw(MakeSeq(left_of_it, MakeAlt(std::move(done.members)))));
    }
  }
  result.insert(result.end(), open[0].members.begin(), open[0].members.end());
  const ListId list = lists_.Intern(result);
  factored_.Set(Raw(alt), Raw(list));
  return lists_[list];
}

ExprPool::TableSizes ExprPool::table_sizes() const noexcept {
  const auto size = [](const auto& table) { return static_cast<std::uint32_t>(table.size()); };
  return {size(searches_), size(scans_),      size(unordered_),
          size(tallies_),  size(token_sets_), size(rule_bodies_)};
}

std::size_t ExprPool::MemoryBytes() const noexcept {
  return exprs_.Bytes() + index_.Bytes() + lists_.Bytes() + byte_sets_.Bytes() + factored_.Bytes() +
         literal_text_.capacity();
}

}  // namespace structag
