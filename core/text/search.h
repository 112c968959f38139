// Searches text for several patterns at once (Aho–Corasick), with sparse goto and failure links:
// memory is linear in the patterns' total length.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "storage/byte_set.h"

namespace structag {

class SearchAutomaton {
 public:
  using State = std::uint32_t;
  static constexpr State kStart = 0;  // no prefix of a pattern has been read

  explicit SearchAutomaton(std::span<const std::string_view> patterns);

  // The state after `byte`.  O(1) amortised over a text.
  State Step(State state, std::uint8_t byte) const noexcept;
  // Whether some pattern ends at this state.
  bool Completes(State state) const noexcept { return nodes_[state].completes; }
  // Calls visit(pattern index) for each pattern that ends here.
  template <class Visit>
  void ForEachCompleted(State state, Visit visit) const {
    for (State s = state; s != 0; s = nodes_[s].fail) {
      for (std::uint32_t p = nodes_[s].first_pattern; p != kNone; p = next_pattern_[p]) visit(p);
    }
  }
  // Bytes after which the state differs from what other bytes lead to; the rest all lead alike.
  void AddDistinct(State state, ByteSet& out) const noexcept;
  // Bytes until the nearest pattern end when the text goes straight on from here.
  std::uint32_t Distance(State state) const noexcept { return nodes_[state].distance; }

 private:
  static constexpr std::uint32_t kNone = 0xFFFFFFFFu;
  struct Edge {
    std::uint8_t byte;
    State target;
  };
  struct Node {
    std::uint32_t first_edge = 0;
    std::uint32_t edge_count = 0;
    State fail = 0;
    std::uint32_t first_pattern = kNone;
    std::uint32_t distance = kNone;
    bool completes = false;
  };
  const Edge* FindEdge(State state, std::uint8_t byte) const noexcept;

  std::vector<Node> nodes_;
  std::vector<Edge> edges_;  // of one node: contiguous, sorted by byte
  std::vector<std::uint32_t> next_pattern_;
};

}  // namespace structag
