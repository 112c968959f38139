// Masks along the tokens that a draft model proposes.  The matcher is as before when these return,
// and also when they throw what it throws.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <vector>

#include "matching/matcher.h"

namespace structag {

// The rows of a bitmask in memory, one after the other.
struct BitmaskRows {
  std::uint32_t* data = nullptr;
  std::size_t count = 0;
  std::size_t width = 0;  // words

  std::span<std::uint32_t> operator[](std::size_t row) const noexcept {
    return {data + row * width, width};
  }
};

// Row i gets the mask after the first i tokens, up to `tokens.size()` itself.  Rows behind a token
// that is refused, or negative, allow everything: no output gets there.  Returns how many tokens
// are accepted.  `rows` has at least one row more than there are tokens.
std::size_t FillDraftChain(Matcher& matcher, std::span<const std::int64_t> tokens,
                           BitmaskRows rows);

// A tree of tokens: node 0 is what the matcher has accepted last; -1 ends a list of children.
struct DraftTree {
  std::span<const std::int64_t> first_child, next_sibling, tokens;  // by node
};

class BadTree : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Row i gets the mask after node i.  Rows of nodes that no output reaches (their token, or one on
// the way, is refused; they hang on nothing) allow everything.  False, if `deadline` passed: rows
// that were not made by then allow the stop tokens only.  Throws BadTree.
bool FillDraftTree(Matcher& matcher, const DraftTree& tree, BitmaskRows rows,
                   std::optional<std::chrono::steady_clock::time_point> deadline);

}  // namespace structag
