#include "expressions/expressions.h"

#include <algorithm>

namespace structag {
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
