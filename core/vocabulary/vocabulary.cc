#include "vocabulary/vocabulary.h"

#include <algorithm>

#include "vocabulary/unit_library.h"

namespace structag {
Vocabulary::~Vocabulary() = default;

Vocabulary::Vocabulary(std::span<const std::string_view> token_bytes,
                       std::span<const std::uint8_t> kinds, std::span<const TokenId> stop_tokens,
                       std::size_t library_bytes)
    : stop_tokens_(stop_tokens.begin(), stop_tokens.end()),
      library_bytes_(library_bytes),
      units_(std::make_shared<UnitLibrary>(*this)) {
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
  IndexNodes();
  PrewarmUnits();
}

void Vocabulary::PrewarmUnits() const {
  units_->Open();
  units_->Prewarm();
  prewarmed_bytes_ = units_->MemoryBytes();
}

void Vocabulary::IndexNodes() {
  const std::uint32_t count = static_cast<std::uint32_t>(trie_.size());
  for (std::uint32_t i = 1; i < count; ++i) ++by_byte_begin_[trie_[i].byte + std::size_t{1}];
  for (std::size_t b = 0; b < 256; ++b) by_byte_begin_[b + 1] += by_byte_begin_[b];
  by_byte_.resize(count - 1);
  std::array<std::uint32_t, 257> at = by_byte_begin_;
  for (std::uint32_t i = 1; i < count; ++i) by_byte_[at[trie_[i].byte]++] = i;
}

void Vocabulary::BuildTrie() {
  std::vector<std::pair<std::string_view, TokenId>> order;
  missing_.AddRange(0, 255);
  for (std::size_t i = 0; i < size(); ++i) {
    const TokenId id = static_cast<TokenId>(i);
    if (!ReadsAsBytes(id)) continue;
    const auto bytes = Bytes(id);
    order.emplace_back(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()),
                       id);
    if (bytes.size() == 1) missing_.Remove(bytes[0]);
  }
  std::sort(order.begin(), order.end());
  std::vector<std::string_view> strings;
  std::vector<TokenId> tokens;
  strings.reserve(order.size());
  tokens.reserve(order.size());
  for (const auto& [string, token] : order) {
    strings.push_back(string);
    tokens.push_back(token);
  }
  trie_ = Trie(strings, tokens);
  ways_ = Ways(trie_, size());
}

std::shared_ptr<UnitLibrary> Vocabulary::Units() const {
  const std::lock_guard<std::mutex> lock(units_mutex_);
  if (units_->MemoryBytes() > prewarmed_bytes_ + library_bytes_) {
    units_ = std::make_shared<UnitLibrary>(*this);
    PrewarmUnits();
    ++libraries_;
  }
  return units_;
}

std::size_t Vocabulary::libraries() const {
  const std::lock_guard<std::mutex> lock(units_mutex_);
  return libraries_;
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
         trie_.Bytes() + ways_.Bytes() + by_byte_.capacity() * sizeof(std::uint32_t) +
         Units()->MemoryBytes();
}

}  // namespace structag
