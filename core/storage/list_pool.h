// Interned lists of 32-bit words: equal lists have one id, and their words never move.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "storage/hash.h"
#include "storage/ids.h"
#include "storage/stable_vector.h"

namespace structag {

class ListPool {
 public:
  // The id of `words`.  `words` may point into this pool.
  ListId Intern(std::span<const std::uint32_t> words) {
    const std::uint64_t hash = HashWords(words);
    std::uint32_t* slot = index_.Find(hash, [&](std::uint32_t id) {
      const std::span<const std::uint32_t> have = (*this)[ListId{id}];
      return have.size() == words.size() && std::equal(have.begin(), have.end(), words.begin());
    });
    if (*slot != InternIndex::kNone) return ListId{*slot};
    const std::uint32_t* data = Store(words);
    const std::uint32_t id = static_cast<std::uint32_t>(entries_.size());
    entries_.Push({data, static_cast<std::uint32_t>(words.size())});
    index_.Commit(id);
    return ListId{id};
  }
  std::span<const std::uint32_t> operator[](ListId id) const noexcept {
    const Entry& e = entries_[Raw(id)];
    return {e.data, e.size};
  }
  std::size_t Bytes() const noexcept { return stored_bytes_ + entries_.Bytes() + index_.Bytes(); }

 private:
  struct Entry {
    const std::uint32_t* data = nullptr;
    std::uint32_t size = 0;
  };
  static constexpr std::size_t kBlockWords = 1 << 9;

  const std::uint32_t* Store(std::span<const std::uint32_t> words) {
    if (words.size() > room_) {
      const std::size_t size = words.size() > kBlockWords / 4 ? words.size() : kBlockWords;
      blocks_.push_back(std::make_unique_for_overwrite<std::uint32_t[]>(size));
      stored_bytes_ += size * sizeof(std::uint32_t);
      next_ = blocks_.back().get();
      room_ = size;
    }
    std::uint32_t* place = next_;
    std::copy(words.begin(), words.end(), place);
    next_ += words.size();
    room_ -= words.size();
    return place;
  }
  std::vector<std::unique_ptr<std::uint32_t[]>> blocks_;
  std::uint32_t* next_ = nullptr;
  std::size_t room_ = 0;
  std::size_t stored_bytes_ = 0;
  StableVector<Entry> entries_;
  InternIndex index_;
};

}  // namespace structag
