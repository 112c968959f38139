// What is told of an expression when it is interned: whether it may be empty, whether anything
// matches it, how long that is at least.
#include <algorithm>
#include <limits>

#include "expressions/expressions.h"

namespace structag {
namespace {

constexpr std::uint32_t kFar = std::numeric_limits<std::uint32_t>::max() / 4;
std::uint32_t AddLength(std::uint64_t a, std::uint64_t b) {
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(a + b, kFar));
}

}  // namespace

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

}  // namespace structag
