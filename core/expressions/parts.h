// What an expression is made of.
#pragma once

#include "expressions/expressions.h"

namespace structag {

// Calls visit(child) for the expressions that `e` names itself, not by way of a table.
template <class Visit>
void ForEachOperand(const ExprPool& pool, const Expr& e, Visit visit) {
  switch (e.kind) {
    case Kind::kSeq:
      visit(ExprId{e.a});
      visit(ExprId{e.b});
      break;
    case Kind::kAlt:
    case Kind::kAnd:
      for (std::uint32_t id : pool.lists()[ListId{e.a}]) visit(ExprId{id});
      break;
    case Kind::kRepeat:
    case Kind::kNot:
    case Kind::kEncoded:
    case Kind::kErase:
    case Kind::kTransparent:
    case Kind::kBudget:
    case Kind::kMark: visit(ExprId{e.a}); break;
    default: break;
  }
}

// Calls visit(child) for everything that `e` is made of, a rule's body included.
template <class Visit>
void ForEachPart(const ExprPool& pool, const Expr& e, Visit visit) {
  switch (e.kind) {
    case Kind::kRule: visit(pool.rule_bodies_[e.a]); break;
    case Kind::kScan:
      for (ExprId id : pool.scans_[e.a].cases) visit(id);
      break;
    case Kind::kUnordered: {
      const UnorderedTable& table = pool.unordered_[e.a];
      for (ExprId id : table.members) visit(id);
      visit(table.rest);
      visit(table.separator);
      break;
    }
    case Kind::kTally: {
      const TallyTable& table = pool.tallies_[e.a];
      for (ExprId id : table.kinds) visit(id);
      for (const TallyTable::Item& item : table.items) {
        visit(item.before);
        visit(item.after);
      }
      visit(table.separator);
      break;
    }
    default: ForEachOperand(pool, e, visit);
  }
}

}  // namespace structag
