// A vocabulary: the bytes and kinds of its tokens, and a trie over the bytes.
// Immutable after construction; shared by all threads.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "expressions/expressions.h"
#include "storage/byte_set.h"
#include "storage/ids.h"
#include "vocabulary/fill_counter.h"
#include "vocabulary/row_ids.h"
#include "vocabulary/trie.h"
#include "vocabulary/ways.h"

namespace structag {

class UnitLibrary;

enum class TokenKind : std::uint8_t {
  kOrdinary,     // its bytes
  kUserDefined,  // its bytes, and its id
  kControl,      // its id only
  kUnused,       // never allowed
};

class Vocabulary {
 public:
  static constexpr std::size_t kLibraryBytes = std::size_t{48} << 20;

  // One entry of `kinds` per token.  Tokens without bytes are never text.
  Vocabulary(std::span<const std::string_view> token_bytes, std::span<const std::uint8_t> kinds,
             std::span<const TokenId> stop_tokens, std::size_t library_bytes = kLibraryBytes);
  ~Vocabulary();
  Vocabulary(const Vocabulary&) = delete;
  Vocabulary& operator=(const Vocabulary&) = delete;

  std::size_t size() const noexcept { return kinds_.size(); }
  std::size_t MaskWords() const noexcept { return (size() + 31) / 32; }
  bool IsToken(TokenId id) const noexcept {
    return id >= 0 && static_cast<std::size_t>(id) < size();
  }
  TokenKind Kind(TokenId id) const noexcept { return kinds_[static_cast<std::size_t>(id)]; }
  std::span<const std::uint8_t> Bytes(TokenId id) const noexcept {
    const std::size_t i = static_cast<std::size_t>(id);
    return {reinterpret_cast<const std::uint8_t*>(text_.data()) + offsets_[i],
            offsets_[i + 1] - offsets_[i]};
  }
  bool ReadsAsBytes(TokenId id) const noexcept {
    return Kind(id) <= TokenKind::kUserDefined && !Bytes(id).empty();
  }
  bool ReadsAsId(TokenId id) const noexcept { return Kind(id) != TokenKind::kUnused; }
  const std::vector<TokenId>& stop_tokens() const noexcept { return stop_tokens_; }
  // Byte values that are no token by themselves.
  const ByteSet& missing_bytes() const noexcept { return missing_; }

  // Over the bytes of every token that reads as bytes.
  const Trie& trie() const noexcept { return trie_; }
  const Ways& ways() const noexcept { return ways_; }
  // The trie nodes with this byte, ascending.
  std::span<const std::uint32_t> NodesOf(std::uint8_t byte) const noexcept {
    return {by_byte_.data() + by_byte_begin_[byte],
            by_byte_begin_[byte + std::size_t{1}] - by_byte_begin_[byte]};
  }
  // What units do with this vocabulary, shared by all grammars.
  // Begun anew when it has grown to its size.
  std::shared_ptr<UnitLibrary> Units() const;
  std::size_t libraries() const;  // that were begun
  // How much a library may hold beyond what is found beforehand.
  std::size_t library_bytes() const noexcept { return library_bytes_; }
  void set_library_bytes(std::size_t bytes) noexcept { library_bytes_ = bytes; }

  // Names for the mask rows of this vocabulary, shared by all grammars.
  RowIds& row_ids() const noexcept { return row_ids_; }

  // Of the mask rows under this vocabulary.
  FillCounter& fill_counter() const noexcept { return fill_counter_; }

  // The members of a token set, as a bitset over ids.
  std::vector<std::uint32_t> Resolve(const TokenSet& set) const;
  std::size_t MemoryBytes() const noexcept;

 private:
  void BuildTrie();
  void IndexNodes();
  void PrewarmUnits() const;

  std::string text_;
  std::vector<std::size_t> offsets_;
  std::vector<TokenKind> kinds_;
  std::vector<TokenId> stop_tokens_;
  ByteSet missing_;
  Trie trie_;
  Ways ways_;
  std::vector<std::uint32_t> by_byte_;
  std::array<std::uint32_t, 257> by_byte_begin_{};
  mutable FillCounter fill_counter_;
  mutable RowIds row_ids_;
  std::atomic<std::size_t> library_bytes_;
  mutable std::size_t prewarmed_bytes_ = 0;
  mutable std::size_t libraries_ = 1;
  mutable std::mutex units_mutex_;
  mutable std::shared_ptr<UnitLibrary> units_;
};

}  // namespace structag
