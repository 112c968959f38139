// What a unit does with every token below a trie node, whatever follows the unit.
//
// A token either stays inside the unit, which one set tells, or leaves it at some point; there only
// the rest of the token is walked, with what follows.
//
// A summary may be made of others: a run of characters that leaves the unit as it is, which many
// units have in common, and what is left of the unit wherever tokens leave that run.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "storage/hash.h"
#include "storage/id_set.h"
#include "storage/ids.h"
#include "vocabulary/trie.h"

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

  const ExprId unit;  // of the library
  const Trie& trie;
  const std::uint32_t start;  // the node where the unit begins

  // The tokens that stay inside the unit, and the nodes after which it may be over, `start` apart.
  // The tokens at `start` are neither here nor there.
  IdSet inside;
  IdSet ends;

  // Set for a difference from a more general unit.  Of its ends this unit's are a part; which ones
  // is found when exits are asked for.  Unless `is_told`, the tokens inside are its own, but
  // `lost`.
  std::shared_ptr<const Summary> base;
  bool is_told = true;
  std::vector<std::uint32_t> lost;  // in ascending order
  // The base's ends that are none of this unit's, in ascending order, if that is known.
  std::optional<std::vector<std::uint32_t>> lost_ends;

  // What it is made of besides.  The tokens at a part's start are inside; the unit may be over at a
  // part's start if `may_end`, and at each end of the loop if `loop_may_end`.
  struct Part {
    std::shared_ptr<const Summary> summary;
    bool may_end;
  };
  std::shared_ptr<const Summary> loop;
  bool loop_may_end = false;
  std::vector<Part> parts;

  // Nodes that finish triggers of a kScan, and the triggers.
  struct Landing {
    std::uint32_t node;
    std::vector<std::uint32_t> triggers;
  };
  std::vector<Landing> landings;
  std::uint64_t work = 0;  // nodes visited to find this

  // By the first byte after the unit; found when first asked for.
  struct ExitTable {
    ~ExitTable() {
      for (const auto& place : places) delete place.load(std::memory_order_relaxed);
    }
    std::array<std::atomic<const Exits*>, 256> places{};
  };
  const Exits* KnownExits(std::uint8_t byte) const noexcept {
    const ExitTable* table = exits_.load(std::memory_order_acquire);
    return table ? table->places[byte].load(std::memory_order_acquire) : nullptr;
  }
  // For the library, which holds a lock: keeps `exits`.
  const Exits& SetExits(std::uint8_t byte, std::unique_ptr<const Exits> exits) const {
    if (!owned_) {
      owned_ = std::make_unique<ExitTable>();
      exits_.store(owned_.get(), std::memory_order_release);
    }
    owned_->places[byte].store(exits.get(), std::memory_order_release);
    return *exits.release();
  }

  bool IsMade() const noexcept { return loop || !parts.empty(); }
  std::size_t Bytes() const noexcept {
    return sizeof(Summary) + inside.Bytes() + ends.Bytes() +
           lost.capacity() * sizeof(std::uint32_t) + landings.capacity() * sizeof(Landing) +
           parts.capacity() * sizeof(Part);
  }

 private:
  mutable std::unique_ptr<ExitTable> owned_;
  mutable std::atomic<ExitTable*> exits_{nullptr};
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
