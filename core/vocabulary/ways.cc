#include "vocabulary/ways.h"

#include <algorithm>

namespace structag {
namespace {

void Add(std::uint32_t* bits, std::size_t at) { bits[at / 32] |= 1u << (at % 32); }
bool Has(const std::uint32_t* bits, std::size_t at) {
  return (bits[at / 32] >> (at % 32) & 1) != 0;
}

}  // namespace

ByteSet Ways::Characters() noexcept {
  ByteSet characters;
  characters.AddRange(kFirst, kLast);
  return characters;
}

Ways::Ways(const Trie& trie, std::size_t tokens)
    : token_words_((tokens + 31) / 32), words_(token_words_ + (trie.size() + 31) / 32) {
  rows_.resize(2 * kCount * words_);
  all_.resize(words_);
  const auto add = [&](std::uint32_t* row, std::uint32_t node) {
    for (TokenId id : trie.Tokens(node)) Add(row, static_cast<std::size_t>(id));
    Add(row + token_words_, node);
  };
  for (std::uint32_t node = 1; node < trie.size(); ++node) {
    add(all_.data(), node);
    const unsigned byte = trie[node].byte;
    const bool is_other = byte < kFirst || byte > kLast;
    std::uint32_t* const row = Row(is_other ? kOthers : kCount + byte - kFirst);
    if (Has(row + token_words_, node)) continue;  // it lies below another one
    add(row, node);
    const std::uint32_t below = trie[node].first_child;
    for (std::uint32_t i = 0; i < trie[node].below; ++i) add(row, below + i);
  }
  for (std::size_t at = kCount - 1; at > 0; --at) {
    for (std::size_t w = 0; w < words_; ++w) Row(at)[w] = Row(2 * at)[w] | Row(2 * at + 1)[w];
  }
}

Ways::Bits Ways::Within(const ByteSet& characters) const {
  std::vector<std::uint32_t> bits(Row(kOthers), Row(kOthers) + words_);
  const auto unite = [&](std::size_t row) {
    const std::uint32_t* const more = Row(row);
    for (std::size_t w = 0; w < words_; ++w) bits[w] |= more[w];
  };
  const auto has = [&](unsigned byte) { return characters.Has(static_cast<std::uint8_t>(byte)); };
  for (unsigned byte = kFirst; byte <= kLast; ++byte) {
    std::size_t begin = kCount + byte - kFirst;
    while (byte <= kLast && !has(byte)) ++byte;
    std::size_t end = kCount + byte - kFirst;
    for (; begin < end; begin /= 2, end /= 2) {  // what covers all others from here to there
      if (begin % 2 == 1) unite(begin++);
      if (end % 2 == 1) unite(--end);
    }
  }
  for (std::size_t w = 0; w < words_; ++w) bits[w] = all_[w] & ~bits[w];
  const auto middle = bits.begin() + static_cast<std::ptrdiff_t>(token_words_);
  return {{bits.begin(), middle}, {middle, bits.end()}};
}

}  // namespace structag
