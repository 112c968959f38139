// Copies units of one grammar into the pool of a library, where equal ones meet.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "expressions/expressions.h"
#include "storage/hash.h"
#include "storage/ids.h"

namespace structag {

// What a library's pool holds once for all grammars.
struct SharedTables {
  std::unordered_map<std::string, std::uint32_t> texts;     // to their offset
  std::unordered_map<std::string, std::uint32_t> searches;  // by patterns, to kNoOccurrence's table
  std::unordered_map<std::string, std::uint32_t> scans;     // by patterns, to kScan's table
};

class UnitImport {
 public:
  explicit UnitImport(const ExprPool& from) : from_(from) {}

  // The same expression in `to`.  The cases of a kScan become rules without bodies, numbered like
  // the triggers.
  ExprId Import(ExprId id, ExprPool& to, SharedTables& tables);
  void Forget();

 private:
  ExprId Make(ExprId id, ExprPool& to, SharedTables& tables);
  ExprId Imported(std::uint32_t id) const noexcept { return ExprId{*known_.Get(id)}; }

  const ExprPool& from_;
  Memo known_;
  Memo searches_;
  Memo scans_;
};

}  // namespace structag
