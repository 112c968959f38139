// What a unit does with every token below a trie node, whatever follows the unit.
//
// A token either stays inside the unit, which one set tells, or leaves it at some point; there only
// the rest of the token is walked, with what follows.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "hash.h"
#include "id_set.h"
#include "ids.h"
#include "trie.h"

namespace structag {

// Where tokens go on after a unit has ended and one byte more: the trie nodes at that byte, and
// what lies at and below them, merged into one trie unless they are too many.
struct Exits {
  std::vector<std::uint32_t> nodes;
  const Trie* merged = nullptr;
};

struct Summary {
  Summary(ExprId of, const Trie& over, std::uint32_t below, std::size_t tokens, std::size_t nodes)
      : unit(of), trie(over), start(below), inside(tokens), ends(nodes) {}
  ~Summary() {
    for (const auto& place : exits) delete place.load(std::memory_order_relaxed);
  }
  Summary(const Summary&) = delete;
  Summary& operator=(const Summary&) = delete;

  const ExprId unit;  // of the library
  const Trie& trie;
  const std::uint32_t start;  // the node where the unit begins
  // That of a more general unit, of whose ends this one's are a part.
  std::shared_ptr<const Summary> base;
  // The tokens that stay inside the unit: if `is_difference`, those of `base` that are not `lost`.
  IdSet inside;
  bool is_difference = false;
  std::vector<std::uint32_t> lost;
  IdSet ends;  // nodes after which the unit may be over, `start` apart; not told with a base
  // Nodes that finish triggers of a kScan, and the triggers.
  struct Landing {
    std::uint32_t node;
    std::vector<std::uint32_t> triggers;
  };
  std::vector<Landing> landings;
  std::uint64_t work = 0;  // nodes visited to find this
  // By the first byte after the unit; found when first asked for.
  mutable std::array<std::atomic<const Exits*>, 256> exits{};

  std::size_t Bytes() const noexcept {
    return sizeof(Summary) + inside.Bytes() + ends.Bytes() +
           lost.capacity() * sizeof(std::uint32_t) + landings.capacity() * sizeof(Landing);
  }
};

// What a summary is about: a unit that begins at a node of a trie.
struct Place {
  const Trie* trie;
  std::uint32_t node;
  ExprId unit;
  friend bool operator==(const Place&, const Place&) = default;
};
struct HashPlace {
  std::size_t operator()(const Place& place) const noexcept {
    const std::uint64_t where = reinterpret_cast<std::uintptr_t>(place.trie) + place.node;
    return Mix(where ^ std::uint64_t{Raw(place.unit)} << 32);
  }
};

}  // namespace structag
