#include "vocabulary.h"

#include <algorithm>

#include "summaries.h"

namespace structag {
namespace {

constexpr std::size_t kSummaryCacheBytes = std::size_t{64} << 20;

}  // namespace

Vocabulary::~Vocabulary() = default;

Vocabulary::Vocabulary(std::span<const std::string_view> token_bytes,
                       std::span<const std::uint8_t> kinds, std::span<const TokenId> stop_tokens)
    : stop_tokens_(stop_tokens.begin(), stop_tokens.end()),
      summaries_(std::make_unique<SummaryCache>(kSummaryCacheBytes)) {
  std::size_t total = 0;
  for (std::string_view bytes : token_bytes) total += bytes.size();
  text_.reserve(total);
  offsets_.reserve(token_bytes.size() + 1);
  offsets_.push_back(0);
  for (std::string_view bytes : token_bytes) {
    text_ += bytes;
    offsets_.push_back(text_.size());
  }
  for (std::uint8_t kind : kinds) kinds_.push_back(TokenKind{kind});
  BuildTrie();
  ListNodesByByte();
}

void Vocabulary::ListNodesByByte() {
  for (const TrieNode& node : trie_) ++by_byte_begin_[node.byte + std::size_t{1}];
  for (std::size_t b = 0; b < 256; ++b) by_byte_begin_[b + 1] += by_byte_begin_[b];
  by_byte_.resize(trie_.size());
  std::array<std::uint32_t, 257> at = by_byte_begin_;
  for (std::uint32_t i = 0; i < trie_.size(); ++i) by_byte_[at[trie_[i].byte]++] = i;
}

void Vocabulary::BuildTrie() {
  std::vector<TokenId> order;
  for (std::size_t i = 0; i < size(); ++i) {
    const TokenId id = static_cast<TokenId>(i);
    if (ReadsAsBytes(id)) order.push_back(id);
  }
  const auto view = [this](TokenId id) {
    const auto bytes = Bytes(id);
    return std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  };
  std::sort(order.begin(), order.end(), [&](TokenId a, TokenId b) {
    const int c = view(a).compare(view(b));
    return c != 0 ? c < 0 : a < b;
  });
  missing_.AddRange(0, 255);
  std::vector<std::uint32_t> path;  // open nodes, from the root's child down
  std::string_view previous;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::string_view bytes = view(order[i]);
    if (bytes.size() == 1) {
      const std::uint8_t b = static_cast<std::uint8_t>(bytes[0]);
      missing_.words[b >> 6] &= ~(std::uint64_t{1} << (b & 63));
    }
    if (i == 0 || bytes != previous) {
      const auto shared =
          std::mismatch(previous.begin(), previous.end(), bytes.begin(), bytes.end());
      const std::size_t common = static_cast<std::size_t>(shared.first - previous.begin());
      while (path.size() > common) {
        trie_[path.back()].subtree_end = static_cast<std::uint32_t>(trie_.size());
        path.pop_back();
      }
      for (std::size_t d = common; d < bytes.size(); ++d) {
        path.push_back(static_cast<std::uint32_t>(trie_.size()));
        trie_.push_back({0, static_cast<std::uint32_t>(trie_tokens_.size()), 0,
                         static_cast<std::uint32_t>(d + 1), static_cast<std::uint8_t>(bytes[d]),
                         0});
      }
      for (std::uint32_t node : path) {
        const std::size_t below = std::min<std::size_t>(bytes.size() - trie_[node].depth, 255);
        trie_[node].height = std::max(trie_[node].height, static_cast<std::uint8_t>(below));
      }
      trie_[path.back()].first_token = static_cast<std::uint32_t>(trie_tokens_.size());
      max_depth_ = std::max(max_depth_, static_cast<std::uint32_t>(bytes.size()));
      previous = bytes;
    }
    trie_tokens_.push_back(order[i]);
    ++trie_[path.back()].token_count;
  }
  for (std::uint32_t node : path)
    trie_[node].subtree_end = static_cast<std::uint32_t>(trie_.size());
}

std::vector<std::uint32_t> Vocabulary::Resolve(const TokenSet& set) const {
  std::vector<std::uint32_t> bits(MaskWords());
  const auto flip = [&](TokenId id) { bits[static_cast<std::size_t>(id) / 32] ^= 1u << (id % 32); };
  if (set.negated) {
    for (std::size_t i = 0; i < size(); ++i) {
      const TokenId id = static_cast<TokenId>(i);
      const bool usable = ReadsAsBytes(id) || Kind(id) == TokenKind::kControl;
      if (usable && std::ranges::find(stop_tokens_, id) == stop_tokens_.end()) flip(id);
    }
  }
  for (TokenId id : set.ids) {
    if (!IsToken(id) || !ReadsAsId(id)) continue;
    const bool has = bits[static_cast<std::size_t>(id) / 32] >> (id % 32) & 1;
    if (has == set.negated) flip(id);
  }
  return bits;
}

std::size_t Vocabulary::MemoryBytes() const noexcept {
  return text_.capacity() + offsets_.capacity() * sizeof(std::size_t) + kinds_.capacity() +
         trie_.capacity() * sizeof(TrieNode) + trie_tokens_.capacity() * sizeof(TokenId) +
         by_byte_.capacity() * sizeof(std::uint32_t) + summaries_->Bytes();
}

}  // namespace structag
