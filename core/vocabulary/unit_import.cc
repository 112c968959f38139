#include "vocabulary/unit_import.h"

#include <span>
#include <string_view>
#include <utility>

#include "expressions/parts.h"

namespace structag {
namespace {

std::string FormOf(std::span<const std::string_view> patterns, std::size_t cases) {
  std::string form = std::to_string(cases) + ',';
  for (std::string_view pattern : patterns) {
    form += std::to_string(pattern.size()) + ',';
    form += pattern;
  }
  return form;
}

}  // namespace

void UnitImport::Forget() {
  known_ = {};
  searches_ = {};
  scans_ = {};
}

ExprId UnitImport::Import(ExprId start, ExprPool& to, SharedTables& tables) {
  std::vector<std::uint32_t> stack{Raw(start)};
  while (!stack.empty()) {
    const std::uint32_t id = stack.back();
    bool ready = true;
    if (!known_.Get(id)) {
      ForEachOperand(from_, from_[ExprId{id}], [&](ExprId part) {
        if (known_.Get(Raw(part))) return;
        stack.push_back(Raw(part));
        ready = false;
      });
      if (ready) known_.Set(id, Raw(Make(ExprId{id}, to, tables)));
    }
    if (ready) stack.pop_back();
  }
  return Imported(Raw(start));
}

ExprId UnitImport::Make(ExprId id, ExprPool& to, SharedTables& tables) {
  const Expr& e = from_[id];
  const auto members = [&] {
    std::vector<std::uint32_t> out;
    for (std::uint32_t member : from_.Members(id)) out.push_back(Raw(Imported(member)));
    return out;
  };
  switch (e.kind) {
    case Kind::kEmpty: return ExprPool::kEmpty;
    case Kind::kEpsilon: return ExprPool::kEpsilon;
    case Kind::kBytes: return to.MakeBytes(from_.Bytes(id));
    case Kind::kLiteral: {
      const auto [place, is_new] = tables.texts.try_emplace(
          std::string(from_.LiteralText(id)), static_cast<std::uint32_t>(to.literal_text_.size()));
      if (is_new) to.literal_text_ += place->first;
      return to.MakeLiteral(place->second, e.b);
    }
    case Kind::kSeq: return to.MakeSeq(Imported(e.a), Imported(e.b));
    case Kind::kAlt: return to.MakeAlt(members());
    case Kind::kRepeat: return to.MakeRepeat(Imported(e.a), e.b, e.c);
    case Kind::kAnd: return to.MakeAnd(members());
    case Kind::kNot: return to.MakeNot(Imported(e.a), e.b);
    case Kind::kEncoded: return to.MakeEncoded(Imported(e.a), e.b, Codec{e.c});
    case Kind::kErase: return to.MakeErase(Imported(e.a), e.b);
    case Kind::kAssertion: return to.Make(Kind::kAssertion, e.a);
    case Kind::kTransparent: return to.MakeTransparent(Imported(e.a));
    case Kind::kNoOccurrence: {
      if (!searches_.Get(e.a)) {
        const SearchTable& search = from_.searches_[e.a];
        const auto [place, is_new] = tables.searches.try_emplace(
            FormOf(search.patterns, 0), static_cast<std::uint32_t>(to.searches_.size()));
        if (is_new) to.searches_.push_back({search.automaton, {}});
        searches_.Set(e.a, place->second);
      }
      return to.Make(Kind::kNoOccurrence, *searches_.Get(e.a), e.b, e.c);
    }
    case Kind::kScan: {
      if (!scans_.Get(e.a)) {
        const ScanTable& scan = from_.scans_[e.a];
        const auto [place, is_new] =
            tables.scans.try_emplace(FormOf(scan.search.patterns, scan.cases.size()),
                                     static_cast<std::uint32_t>(to.scans_.size()));
        if (is_new) {
          ScanTable made{{scan.search.automaton, {}}, {}};
          for (std::uint32_t trigger = 0; trigger < scan.cases.size(); ++trigger) {
            made.cases.push_back(to.Make(Kind::kRule, trigger));
          }
          to.scans_.push_back(std::move(made));
        }
        scans_.Set(e.a, place->second);
      }
      return to.Make(Kind::kScan, *scans_.Get(e.a), e.b, e.c);
    }
    default: return ExprPool::kEmpty;  // nothing that a unit is made of
  }
}

}  // namespace structag
