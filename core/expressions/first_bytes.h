// Which bytes an expression may begin with.  A superset where exactness would cost a derivative:
// good for leaving out steps that lead nowhere.
#pragma once

#include "expressions/expressions.h"
#include "expressions/short_cuts.h"
#include "storage/byte_set_pool.h"
#include "storage/hash.h"
#include "storage/ids.h"

namespace structag {

class FirstBytes {
 public:
  explicit FirstBytes(const ExprPool& pool, ShortCuts short_cuts = {})
      : pool_(pool), is_on_(short_cuts.Has(ShortCut::kFirstBytes)) {}

  // Of a regular expression or a kScan; memoised, the reference stays valid.
  const ByteSet& Of(ExprId id);
  std::size_t MemoryBytes() const noexcept { return sets_.Bytes() + index_.Bytes(); }

 private:
  ByteSet Find(ExprId id, unsigned depth);

  const ExprPool& pool_;
  const bool is_on_;
  ByteSetPool sets_;
  Memo index_;
};

}  // namespace structag
