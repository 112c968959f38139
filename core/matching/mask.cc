#include "matching/mask.h"

#include <algorithm>
#include <bitset>
#include <cstring>

namespace structag {

void Mask::AddBits(Bits bits) {
  if (std::ranges::find(wholes_, bits) == wholes_.end() || !lost_.empty()) {
    wholes_.push_back(std::move(bits));
  }
}

void Mask::AddBitsWithout(Bits bits, std::span<const std::uint32_t> lost) {
  if (lost.empty()) return AddBits(std::move(bits));
  if (lost_.empty()) {
    wholes_.insert(wholes_.begin(), std::move(bits));
    lost_.assign(lost.begin(), lost.end());
    return;
  }
  const std::shared_ptr<std::uint32_t[]> own(new std::uint32_t[words_]);
  std::copy(bits.get(), bits.get() + words_, own.get());
  for (std::uint32_t id : lost) own[id / 32] &= ~(1u << (id % 32));
  wholes_.emplace_back(own, own.get());
  ++owned_;
}

void Mask::AddTokens(std::span<const std::uint32_t> tokens) {
  const std::size_t before = tokens_.size();
  tokens_.resize(before + tokens.size());
  std::ranges::transform(tokens, tokens_.begin() + static_cast<std::ptrdiff_t>(before),
                         [](std::uint32_t token) { return static_cast<TokenId>(token); });
}

void Mask::AddTokensWithout(std::span<const std::uint32_t> tokens,
                            std::span<const std::uint32_t> lost) {
  if (lost.empty()) return AddTokens(tokens);
  std::bitset<4096> maybe;  // a few bits of a token tell most of those that are not lost
  for (std::uint32_t id : lost) maybe.set(id % maybe.size());
  for (std::uint32_t token : tokens) {
    const bool is_lost = maybe[token % maybe.size()] && std::ranges::binary_search(lost, token);
    if (!is_lost) tokens_.push_back(static_cast<TokenId>(token));
  }
}

void Mask::Pack() {
  if (tokens_.size() > words_) Flatten();
  tokens_.shrink_to_fit();
}

void Mask::Flatten() {
  const std::shared_ptr<std::uint32_t[]> own(new std::uint32_t[words_]);
  Write(own.get());
  wholes_.assign(1, Bits(own, own.get()));
  owned_ = 1;
  lost_ = {};
  tokens_ = {};
}

void Mask::Write(std::uint32_t* row) const noexcept {
  if (wholes_.empty()) {
    std::memset(row, 0, words_ * sizeof(std::uint32_t));
  } else {
    std::memcpy(row, wholes_[0].get(), words_ * sizeof(std::uint32_t));
    for (std::uint32_t id : lost_) row[id / 32] &= ~(1u << (id % 32));
  }
  for (std::size_t w = 1; w < wholes_.size(); ++w) {
    const std::uint32_t* const bits = wholes_[w].get();
    for (std::size_t i = 0; i < words_; ++i) row[i] |= bits[i];
  }
  for (TokenId id : tokens_) row[static_cast<std::size_t>(id) / 32] |= 1u << (id % 32);
}

const Digest& Mask::RowDigest() const {
  if (!digest_) {
    std::vector<std::uint32_t> row(words_);
    Write(row.data());
    digest_ = Digest{}.Then(row);
  }
  return *digest_;
}

std::size_t Mask::Bytes() const noexcept {
  return sizeof(Mask) + wholes_.capacity() * sizeof(Bits) +
         (lost_.capacity() + tokens_.capacity()) * sizeof(TokenId) +
         owned_ * words_ * sizeof(std::uint32_t);
}

}  // namespace structag
