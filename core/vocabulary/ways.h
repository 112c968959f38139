// Which tokens, and which nodes of their trie, have a character on their way from the root: what a
// run of characters takes is united out of a few bitsets instead of found by a walk.
//
// A binary tree over the printable ASCII characters, each node of which unites what lies below it
// in the tree; 50 KB a node for 128,000 tokens.  Immutable.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "storage/byte_set.h"
#include "vocabulary/trie.h"

namespace structag {

class Ways {
 public:
  Ways() = default;
  Ways(const Trie& trie, std::size_t tokens);

  // The characters that are told apart.
  static ByteSet Characters() noexcept;
  struct Bits {
    std::vector<std::uint32_t> tokens, nodes;
  };
  // The tokens and nodes, the root apart, on whose way are none but these characters.
  Bits Within(const ByteSet& characters) const;
  std::size_t Bytes() const noexcept { return rows_.capacity() * sizeof(std::uint32_t); }

 private:
  static constexpr unsigned kFirst = 0x20, kLast = 0x7F;
  static constexpr unsigned kCount = kLast - kFirst + 1;
  static constexpr std::size_t kOthers = 0;  // all other bytes; the tree's root is 1

  std::uint32_t* Row(std::size_t row) noexcept { return rows_.data() + row * words_; }
  const std::uint32_t* Row(std::size_t row) const noexcept { return rows_.data() + row * words_; }

  std::vector<std::uint32_t> rows_;  // each a bitset of tokens, and one of nodes
  std::vector<std::uint32_t> all_;
  std::size_t token_words_ = 0;
  std::size_t words_ = 0;
};

}  // namespace structag
