// Summaries of searches (kNoOccurrence, kScan): any text, but for where a pattern is being read.
//
// Most of a vocabulary has to do with no pattern, so that only nodes are visited at which the
// automaton is on its way through one: those that go on from where the unit begins, and those below
// a byte that some pattern begins with.
#include <algorithm>

#include "text/utf8.h"
#include "vocabulary/unit_library.h"
#include "vocabulary/vocabulary.h"

namespace structag {
namespace {

// Whether a character ends, and none is cut in two, on the way from the root to a node.
bool EndsCharacter(const Trie& trie, std::uint32_t node) {
  std::vector<std::uint8_t> way;
  for (std::uint32_t at = node; at != Trie::kRoot; at = trie.Parent(at)) {
    way.push_back(trie[at].byte);
  }
  Utf8State utf8 = kUtf8Start;
  for (std::size_t i = way.size(); i-- > 0;) utf8 = Utf8Step(utf8, way[i]);
  return utf8 == kUtf8Start;
}

}  // namespace

const SearchAutomaton& UnitLibrary::SearchOf(const Expr& e) const {
  return e.kind == Kind::kScan ? *pool_.scans_[e.a].search.automaton
                               : *pool_.searches_[e.a].automaton;
}

bool UnitLibrary::IsSearch(ExprId unit) const {
  const Kind kind = pool_[unit].kind;
  return (kind == Kind::kScan || kind == Kind::kNoOccurrence) && pool_[unit].c == kUtf8Start;
}

std::shared_ptr<const Summary> UnitLibrary::SummarizeSearch(ExprId unit) {
  const Trie& trie = vocabulary_.trie();
  const Expr e = pool_[unit];
  const SearchAutomaton& search = SearchOf(e);
  const std::shared_ptr<Summary> summary = Begin(unit, trie, Trie::kRoot);
  summary->base = FindLocked(likeness_.AnyLike(unit), trie, Trie::kRoot);
  summary->is_told = false;

  std::vector<bool> met(trie.size());
  const auto lose = [&](std::uint32_t top) {
    std::vector<std::uint32_t> below{top};
    while (!below.empty()) {
      const std::uint32_t node = below.back();
      below.pop_back();
      met[node] = true;
      for (TokenId id : trie.Tokens(node)) summary->lost.push_back(static_cast<std::uint32_t>(id));
      for (std::uint32_t i = 0; i < trie[node].child_count; ++i) {
        below.push_back(trie[node].first_child + i);
      }
    }
  };
  struct Visit {
    std::uint32_t node, row;  // after the node
  };
  std::vector<Visit> pending;
  const auto read = [&](std::uint32_t node, std::uint32_t before) {
    meter_.Charge(1);
    ++summary->work;
    met[node] = true;
    const std::uint32_t row = rows_.Step(before, trie[node].byte);
    if (row == UnitRows::kDead) return lose(node);
    const ExprId left = rows_.IdOf(row);
    if (pool_[left].kind != e.kind) {
      summary->landings.push_back({node, TriggersOf(left)});
      return lose(node);
    }
    if (pool_[left].b != SearchAutomaton::kStart) pending.push_back({node, row});
  };
  const auto read_on = [&] {
    while (!pending.empty()) {
      const Visit at = pending.back();
      pending.pop_back();
      ByteSet bytes;  // all others lead back to where no pattern has begun
      search.AddDistinct(pool_[rows_.IdOf(at.row)].b, bytes);
      for (std::uint32_t i = 0; i < trie[at.node].child_count; ++i) {
        const std::uint32_t child = trie[at.node].first_child + i;
        if (bytes.Has(trie[child].byte)) read(child, at.row);
      }
    }
  };
  if (e.b != SearchAutomaton::kStart) {
    pending.push_back({Trie::kRoot, rows_.Of(unit)});
    read_on();
  }
  const std::uint32_t idle = rows_.Of(pool_.Make(e.kind, e.a));
  ByteSet first;
  search.AddDistinct(SearchAutomaton::kStart, first);
  std::vector<std::uint32_t> begins;
  first.ForEach([&](std::uint8_t byte) {
    const std::span<const std::uint32_t> nodes = vocabulary_.NodesOf(byte);
    begins.insert(begins.end(), nodes.begin(), nodes.end());
  });
  std::ranges::sort(begins);  // what lies above a node is read before it
  for (std::uint32_t node : begins) {
    if (met[node] || !EndsCharacter(trie, trie.Parent(node))) continue;
    read(node, idle);
    read_on();
  }
  std::ranges::sort(summary->lost);
  return summary;
}

}  // namespace structag
