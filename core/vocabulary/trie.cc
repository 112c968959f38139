#include "vocabulary/trie.h"

#include <algorithm>
#include <utility>

namespace structag {

std::uint32_t Trie::Child(std::uint32_t node, std::uint8_t byte) const noexcept {
  const auto first = nodes_.begin() + nodes_[node].first_child;
  const auto end = first + nodes_[node].child_count;
  const auto found = std::lower_bound(
      first, end, byte, [](const TrieNode& child, std::uint8_t b) { return child.byte < b; });
  if (found == end || found->byte != byte) return kNone;
  return static_cast<std::uint32_t>(found - nodes_.begin());
}

std::uint32_t Trie::AddChildren(std::uint32_t node, std::size_t count) {
  const std::uint32_t first = static_cast<std::uint32_t>(nodes_.size());
  nodes_[node].first_child = first;
  nodes_[node].child_count = static_cast<std::uint16_t>(count);
  nodes_.resize(nodes_.size() + count);
  parents_.resize(nodes_.size(), node);
  return first;
}

Trie::Trie(std::span<const std::string_view> strings, std::span<const TokenId> tokens)
    : nodes_(1), parents_(1), tokens_(tokens.begin(), tokens.end()) {
  struct Open {
    std::uint32_t node;
    std::size_t begin, end;  // of the strings that pass through it
    std::size_t depth;
  };
  std::vector<Open> stack{{kRoot, 0, strings.size(), 0}};
  std::vector<std::size_t> starts;
  while (!stack.empty()) {
    auto [node, begin, end, depth] = stack.back();
    stack.pop_back();
    depth_ = std::max(depth_, static_cast<std::uint32_t>(depth));
    nodes_[node].first_token = static_cast<std::uint32_t>(begin);
    while (begin < end && strings[begin].size() == depth) ++begin;
    nodes_[node].token_count = static_cast<std::uint32_t>(begin) - nodes_[node].first_token;
    starts.clear();
    for (std::size_t i = begin; i < end; ++i) {
      if (i == begin || strings[i][depth] != strings[i - 1][depth]) starts.push_back(i);
    }
    const std::uint32_t first = AddChildren(node, starts.size());
    for (std::size_t i = starts.size(); i-- > 0;) {
      const std::uint32_t child = first + static_cast<std::uint32_t>(i);
      nodes_[child].byte = static_cast<std::uint8_t>(strings[starts[i]][depth]);
      stack.push_back({child, starts[i], i + 1 < starts.size() ? starts[i + 1] : end, depth + 1});
    }
  }
  Measure();
}

Trie::Trie(const Trie& whole, std::span<const std::uint32_t> nodes)
    : nodes_(1), parents_(1), repeats_(whole.repeats_ || whole.AreNested(nodes)) {
  struct Open {
    std::uint32_t node;
    std::size_t begin, end;  // of its sources
    std::uint32_t depth;
  };
  std::vector<std::uint32_t> sources(nodes.begin(), nodes.end());
  std::vector<Open> stack{{kRoot, 0, sources.size(), 0}};
  std::vector<std::pair<std::uint8_t, std::uint32_t>> children;
  while (!stack.empty()) {
    const Open at = stack.back();
    stack.pop_back();
    depth_ = std::max(depth_, at.depth);
    nodes_[at.node].first_token = static_cast<std::uint32_t>(tokens_.size());
    children.clear();
    for (std::size_t i = at.begin; i < at.end; ++i) {
      const TrieNode& source = whole[sources[i]];
      const auto ends_here = whole.Tokens(sources[i]);
      tokens_.insert(tokens_.end(), ends_here.begin(), ends_here.end());
      for (std::uint32_t c = 0; c < source.child_count; ++c) {
        children.emplace_back(whole[source.first_child + c].byte, source.first_child + c);
      }
    }
    nodes_[at.node].token_count =
        static_cast<std::uint32_t>(tokens_.size()) - nodes_[at.node].first_token;
    if (at.end - at.begin > 1) std::sort(children.begin(), children.end());
    std::size_t count = 0;
    for (std::size_t i = 0; i < children.size(); ++i) {
      count += i == 0 || children[i].first != children[i - 1].first ? 1 : 0;
    }
    std::uint32_t child = AddChildren(at.node, count);
    for (std::size_t i = 0; i < children.size();) {
      const std::uint8_t byte = children[i].first;
      const std::size_t begin = sources.size();
      for (; i < children.size() && children[i].first == byte; ++i) {
        sources.push_back(children[i].second);
      }
      nodes_[child].byte = byte;
      stack.push_back({child, begin, sources.size(), at.depth + 1});
      ++child;
    }
  }
  Measure();
}

bool Trie::AreNested(std::span<const std::uint32_t> nodes) const noexcept {
  for (std::uint32_t node : nodes) {
    for (std::uint32_t above = Parent(node); above >= nodes.front(); above = Parent(above)) {
      if (std::ranges::binary_search(nodes, above)) return true;
      if (above == kRoot) break;
    }
  }
  return false;
}

void Trie::Measure() {
  for (std::size_t i = nodes_.size() - 1; i > 0; --i) {
    TrieNode& parent = nodes_[parents_[i]];
    const unsigned height = std::min(nodes_[i].height + 1u, 255u);
    parent.height = static_cast<std::uint8_t>(std::max<unsigned>(parent.height, height));
    parent.below += nodes_[i].below + 1;
  }
}

}  // namespace structag
