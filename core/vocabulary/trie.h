// A trie over byte strings that end in tokens.  Siblings are contiguous and in byte order, and a
// node's children come after it, near each other.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "storage/ids.h"

namespace structag {

struct TrieNode {
  std::uint32_t first_child;
  std::uint32_t first_token;  // of the tokens that end here
  std::uint32_t token_count;
  std::uint32_t below;  // how many nodes lie below
  std::uint16_t child_count;
  std::uint8_t byte;
  std::uint8_t height;  // bytes of the longest way down from here, at most 255
};

class Trie {
 public:
  static constexpr std::uint32_t kRoot = 0;
  static constexpr std::uint32_t kNone = 0xFFFFFFFFu;

  Trie() : nodes_(1), parents_(1) {}
  // Of strings in ascending order, and the token that each is.
  Trie(std::span<const std::string_view> strings, std::span<const TokenId> tokens);
  // What lies below (and at) some nodes of another trie, in ascending order, merged.
  Trie(const Trie& whole, std::span<const std::uint32_t> nodes);

  std::size_t size() const noexcept { return nodes_.size(); }
  const TrieNode& operator[](std::uint32_t node) const noexcept { return nodes_[node]; }
  std::span<const TokenId> Tokens(std::uint32_t node) const noexcept {
    return {tokens_.data() + nodes_[node].first_token, nodes_[node].token_count};
  }
  std::uint32_t Parent(std::uint32_t node) const noexcept { return parents_[node]; }
  // The child at `byte`, or kNone.
  std::uint32_t Child(std::uint32_t node, std::uint8_t byte) const noexcept;
  // Whether a token may lie at several nodes: one of those that were merged lies below another.
  bool repeats() const noexcept { return repeats_; }
  // The longest way from the root, in bytes.
  std::uint32_t depth() const noexcept { return depth_; }
  std::size_t Bytes() const noexcept {
    return nodes_.capacity() * sizeof(TrieNode) + parents_.capacity() * sizeof(std::uint32_t) +
           tokens_.capacity() * sizeof(TokenId);
  }

 private:
  std::uint32_t AddChildren(std::uint32_t node, std::size_t count);
  void Measure();
  // Whether one of the nodes, which ascend, lies below another.
  bool AreNested(std::span<const std::uint32_t> nodes) const noexcept;

  std::vector<TrieNode> nodes_;
  std::vector<std::uint32_t> parents_;
  std::vector<TokenId> tokens_;
  std::uint32_t depth_ = 0;
  bool repeats_ = false;
};

}  // namespace structag
