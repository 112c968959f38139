// The tokens that a state allows: some bitsets, and what else there is, token by token.
// A whole bitset of its own is kept only where that is smaller.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "storage/id_set.h"
#include "storage/ids.h"
#include "vocabulary/row_ids.h"

namespace structag {

class Mask {
 public:
  Mask() = default;
  explicit Mask(std::size_t words) : words_(words) { tokens_.reserve(128); }

  using Bits = std::shared_ptr<const std::uint32_t>;  // the first word of a bitset

  void AddBits(Bits bits);
  // A bitset without some of its members.
  void AddBitsWithout(Bits bits, std::span<const std::uint32_t> lost);
  void AddTokens(std::span<const TokenId> tokens) {
    tokens_.insert(tokens_.end(), tokens.begin(), tokens.end());
  }
  void AddTokens(std::span<const std::uint32_t> tokens);
  // `lost` in ascending order.
  void AddTokensWithout(std::span<const std::uint32_t> tokens, std::span<const std::uint32_t> lost);
  // To be called when all is added.
  void Pack();
  // The same, as one bitset.
  void Flatten();

  // Writes all words of a row.
  void Write(std::uint32_t* row) const noexcept;
  // The digest of what Write writes, kept once it is known.
  const Digest& RowDigest() const;
  std::size_t Bytes() const noexcept;

 private:
  std::size_t words_ = 0;
  std::vector<Bits> wholes_;
  std::vector<std::uint32_t> lost_;  // members of the first whole that do not count
  std::vector<TokenId> tokens_;
  mutable std::optional<Digest> digest_;
  std::size_t owned_ = 0;  // how many wholes nobody else keeps
};

}  // namespace structag
