// Summaries of units, kept by a vocabulary for all grammars that use it.
//
// A summary says what a unit does with every token, whatever follows the unit.  A token either
// stays inside the unit, which one set tells, or leaves it at some point; there only the rest of
// the token is walked, with what follows.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "form.h"
#include "id_set.h"
#include "ids.h"
#include "trie.h"

namespace structag {

// Where tokens go on after a unit has ended and one byte more: the vocabulary's nodes at that byte,
// and what lies below them, merged into one trie unless they are too many.
struct Exits {
  std::vector<std::uint32_t> nodes;
  std::shared_ptr<const Trie> merged;
};

struct Summary {
  Summary(std::size_t tokens, std::size_t nodes) : inside(tokens), ends(nodes) {}
  ~Summary();
  Summary(const Summary&) = delete;
  Summary& operator=(const Summary&) = delete;

  // A summary may be told as the difference to another one.
  std::shared_ptr<const Summary> base;
  IdSet inside;                     // the tokens that stay inside the unit (in addition to base's)
  std::vector<std::uint32_t> lost;  // tokens of base that do not
  IdSet ends;  // trie nodes after which the unit may be over, the root apart; unused with a base
  // Trie nodes that finish a trigger, each with the case that follows.
  std::vector<std::pair<std::uint32_t, ExprId>> landings;
  // By the first byte after the unit; found when first asked for.
  mutable std::array<std::atomic<const Exits*>, 256> exits{};

  std::size_t Bytes() const noexcept {
    return sizeof(Summary) + inside.Bytes() + ends.Bytes() + lost.capacity() * sizeof(lost[0]);
  }
};

// Summaries by their unit's form, and merged exits by where they begin; least recently used ones go
// first.  Thread safe.
class SummaryCache {
 public:
  explicit SummaryCache(std::size_t most_bytes) : most_bytes_(most_bytes) {}
  std::shared_ptr<const Summary> Get(const Form& form);
  void Put(const Form& form, std::shared_ptr<const Summary> summary);
  // What lies below `nodes` of `whole`.
  std::shared_ptr<const Trie> Merge(const Trie& whole, const std::vector<std::uint32_t>& nodes);
  std::size_t Bytes();

 private:
  struct Entry {
    Form form;
    std::shared_ptr<const Summary> summary;  // or
    std::shared_ptr<const Trie> trie;
    std::size_t bytes;
  };
  struct HashForm {
    std::size_t operator()(const Form& form) const noexcept { return form.a; }
  };
  const Entry* Find(const Form& form);
  void Insert(Entry entry);

  std::mutex mutex_;
  std::size_t most_bytes_;
  std::size_t bytes_ = 0;
  std::list<Entry> entries_;  // latest used first
  std::unordered_map<Form, std::list<Entry>::iterator, HashForm> index_;
};

}  // namespace structag
