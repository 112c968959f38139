// Summaries of all text but some words, such as the names of an open object's other members.
//
// They differ from the summary of all text in where they end, and in nothing else: every word can
// go on to be another text.  Only the words are looked up in the trie.
#include <algorithm>

#include "vocabulary/unit_library.h"

namespace structag {

// Whether a unit is all text but some words, of which there are finitely many.
bool UnitLibrary::IsExclusion(ExprId unit) const {
  if (!short_cuts_.Has(ShortCut::kExclusions)) return false;
  if (pool_[unit].kind == Kind::kEncoded && pool_[unit].b != kCodecRest) return false;
  const Expr& e = pool_[pool_.Spelled(unit)];
  return e.kind == Kind::kNot && ExprId{e.a} != ExprPool::kEmpty && IsFinite(ExprId{e.a}, 0);
}

// Every word can go on to be another text, so that no token is lost.
std::shared_ptr<const Summary> UnitLibrary::SummarizeExclusion(ExprId unit, const Trie& trie,
                                                               std::uint32_t node) {
  const std::shared_ptr<Summary> summary = Begin(unit, trie, node);
  summary->base = FindLocked(counts_->Generalize(unit), trie, node);
  summary->is_told = false;
  const Expr e = pool_[unit];
  const ExprId words{pool_[pool_.Spelled(unit)].a};
  summary->lost_ends = EndsOf(
      e.kind == Kind::kEncoded ? pool_.MakeEncoded(words, e.b, Codec{e.c}) : words, trie, node);
  summary->work = 1 + summary->lost_ends->size();
  return summary;
}

// The nodes at which a word of a finite language ends.
std::vector<std::uint32_t> UnitLibrary::EndsOf(ExprId words, const Trie& trie,
                                               std::uint32_t start) {
  struct Visit {
    std::uint32_t node;
    ExprId left;
  };
  std::vector<Visit> pending{{start, words}};
  std::vector<std::uint32_t> ends;
  while (!pending.empty()) {
    const Visit at = pending.back();
    pending.pop_back();
    first_bytes_.Of(at.left).ForEach([&](std::uint8_t byte) {
      const std::uint32_t child = trie.Child(at.node, byte);
      if (child == Trie::kNone) return;
      meter_.Charge(1);
      const ExprId left = deriver_.Derive(at.left, byte);
      if (left == ExprPool::kEmpty) return;
      if (pool_[left].nullable) ends.push_back(child);
      pending.push_back({child, left});
    });
  }
  std::ranges::sort(ends);
  return ends;
}

}  // namespace structag
