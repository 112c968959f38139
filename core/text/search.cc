#include "text/search.h"

#include <algorithm>
#include <numeric>

namespace structag {

SearchAutomaton::SearchAutomaton(std::span<const std::string_view> patterns)
    : next_pattern_(patterns.size(), kNone) {
  // Breadth first over the sorted patterns: a node is a range of patterns with a common prefix.
  std::vector<std::uint32_t> order(patterns.size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(),
            [&](std::uint32_t a, std::uint32_t b) { return patterns[a] < patterns[b]; });
  struct Range {
    std::size_t begin, end, depth;
  };
  std::vector<Range> ranges{{0, order.size(), 0}};
  std::vector<State> parents{0};
  nodes_.emplace_back();
  for (State s = 0; s < nodes_.size(); ++s) {
    auto [begin, end, depth] = ranges[s];
    for (; begin < end && patterns[order[begin]].size() == depth; ++begin) {
      next_pattern_[order[begin]] = nodes_[s].first_pattern;
      nodes_[s].first_pattern = order[begin];
      nodes_[s].completes = true;
    }
    nodes_[s].first_edge = static_cast<std::uint32_t>(edges_.size());
    while (begin < end) {
      const char c = patterns[order[begin]][depth];
      std::size_t stop = begin;
      while (stop < end && patterns[order[stop]][depth] == c) ++stop;
      edges_.push_back({static_cast<std::uint8_t>(c), static_cast<State>(nodes_.size())});
      ++nodes_[s].edge_count;
      nodes_.emplace_back();
      ranges.push_back({begin, stop, depth + 1});
      parents.push_back(s);
      begin = stop;
    }
  }
  // Failure links in breadth-first order: a node's link needs only shallower nodes.
  for (State s = 0; s < nodes_.size(); ++s) {
    for (std::uint32_t i = 0; i < nodes_[s].edge_count; ++i) {
      const Edge edge = edges_[nodes_[s].first_edge + i];
      Node& child = nodes_[edge.target];
      child.fail = s == 0 ? 0 : Step(nodes_[s].fail, edge.byte);
      child.completes = child.completes || nodes_[child.fail].completes;
    }
  }
  for (State s = static_cast<State>(nodes_.size()); s-- > 0;) {
    if (nodes_[s].first_pattern != kNone) nodes_[s].distance = 0;
    if (s != 0 && nodes_[s].distance != kNone) {
      Node& parent = nodes_[parents[s]];
      parent.distance = std::min(parent.distance, nodes_[s].distance + 1);
    }
  }
}

const SearchAutomaton::Edge* SearchAutomaton::FindEdge(State state,
                                                       std::uint8_t byte) const noexcept {
  const Node& node = nodes_[state];
  const Edge* first = edges_.data() + node.first_edge;
  const Edge* last = first + node.edge_count;
  const Edge* found =
      std::lower_bound(first, last, byte, [](const Edge& e, std::uint8_t b) { return e.byte < b; });
  return found != last && found->byte == byte ? found : nullptr;
}

SearchAutomaton::State SearchAutomaton::Step(State state, std::uint8_t byte) const noexcept {
  for (;; state = nodes_[state].fail) {
    if (const Edge* edge = FindEdge(state, byte)) return edge->target;
    if (state == 0) return 0;
  }
}

void SearchAutomaton::AddDistinct(State state, ByteSet& out) const noexcept {
  for (;; state = nodes_[state].fail) {
    const Node& node = nodes_[state];
    for (std::uint32_t i = 0; i < node.edge_count; ++i) out.Add(edges_[node.first_edge + i].byte);
    if (state == 0) return;
  }
}

}  // namespace structag
