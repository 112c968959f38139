// Summaries: what a wide unit does with every token of the vocabulary, whatever follows the unit.
//
// A token either stays inside the unit, which one bitset tells, or leaves it at some point; there
// only the rest of the token is walked, with what follows.  A summary depends on the unit alone, so
// it is shared by all states, and through the vocabulary's cache by all grammars.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "expressions.h"
#include "liveness.h"
#include "meter.h"
#include "vocabulary.h"

namespace structag {

// When to take short cuts; changed by tests only, to drive small vocabularies through them.
struct Acceleration {
  bool is_on = true;
  std::uint32_t narrow_nodes = 4000;  // walking fewer trie nodes than this needs no summary
  std::uint32_t few_exits = 4096;     // so many are walked one by one
};

struct Summary {
  std::vector<std::uint32_t> inside;  // bitset of the tokens that stay inside the unit
  // Trie nodes whose byte may be the first one after the unit, if what follows takes it: a bitset
  // over the trie, and a list when there are few.
  std::vector<std::uint32_t> exits;
  bool few = false;
  std::vector<std::uint32_t> exit_list;
  bool HasExit(std::uint32_t node) const noexcept { return exits[node / 32] >> (node % 32) & 1; }
  // Trie nodes that finish a trigger, each with the case that follows.
  std::vector<std::pair<std::uint32_t, ExprId>> landings;
  std::size_t Bytes() const noexcept {
    return (inside.capacity() + exits.capacity() + exit_list.capacity()) * sizeof(std::uint32_t) +
           sizeof(Summary);
  }
};

// Summaries by the unit's canonical form; least recently used ones go first.  Thread safe.
class SummaryCache {
 public:
  explicit SummaryCache(std::size_t most_bytes) : most_bytes_(most_bytes) {}
  std::shared_ptr<const Summary> Get(const std::string& form);
  void Put(const std::string& form, std::shared_ptr<const Summary> summary);
  std::size_t Bytes();

 private:
  using Entry = std::pair<std::string, std::shared_ptr<const Summary>>;
  std::mutex mutex_;
  std::size_t most_bytes_;
  std::size_t bytes_ = 0;
  std::list<Entry> entries_;  // latest used first
  std::unordered_map<std::string_view, std::list<Entry>::iterator> index_;
};

// Finds the summaries of one grammar's units.
class Summarizer {
 public:
  Summarizer(ExprPool& pool, Liveness& liveness, const Vocabulary& vocabulary, Meter& meter,
             const Acceleration& acceleration)
      : pool_(pool),
        liveness_(liveness),
        vocabulary_(vocabulary),
        meter_(meter),
        acceleration_(acceleration) {}

  // The summary of a unit, or nullptr if walking it costs little.
  const Summary* Find(ExprId unit);
  std::size_t MemoryBytes() const noexcept { return bytes_; }
  std::size_t built() const noexcept { return built_; }
  std::size_t reused() const noexcept { return reused_; }

 private:
  class Automaton;
  bool IsNarrow(Automaton& automaton);
  std::shared_ptr<const Summary> Build(Automaton& automaton);
  // From the summary of `base`: walks only where the two can differ.
  std::shared_ptr<const Summary> BuildFrom(const Summary& known, Automaton& base,
                                           Automaton& automaton);
  // A simpler unit that behaves alike on most tokens: counts lifted, exclusions dropped.
  ExprId Generalize(ExprId id);
  // `id` with its maxima lifted, and how many bytes it takes at least to tell the two apart.
  struct Uncounted {
    ExprId id;
    std::uint32_t slack;
  };
  Uncounted LiftMaxima(ExprId id, unsigned depth = 0);
  // A text that equal units, and only those, have in common; empty if it would be too long.
  std::string CanonicalForm(ExprId id) const;

  ExprPool& pool_;
  Liveness& liveness_;
  const Vocabulary& vocabulary_;
  Meter& meter_;
  const Acceleration acceleration_;
  std::unordered_map<std::uint32_t, std::shared_ptr<const Summary>> found_;
  std::unordered_map<std::uint32_t, Uncounted> lifted_;
  std::size_t bytes_ = 0;
  std::size_t built_ = 0;
  std::size_t reused_ = 0;
};

}  // namespace structag
