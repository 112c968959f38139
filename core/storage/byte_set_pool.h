// Interned byte sets: equal sets have one number, and none ever moves.
#pragma once

#include <cstddef>
#include <cstdint>

#include "storage/byte_set.h"
#include "storage/hash.h"
#include "storage/stable_vector.h"

namespace structag {

class ByteSetPool {
 public:
  std::uint32_t Intern(const ByteSet& set) {
    std::uint64_t hash = 0;
    for (std::uint64_t word : set.words) hash = Mix(hash ^ word) + 1;
    std::uint32_t* slot = index_.Find(hash, [&](std::uint32_t id) { return sets_[id] == set; });
    if (*slot != InternIndex::kNone) return *slot;
    const std::uint32_t id = static_cast<std::uint32_t>(sets_.size());
    sets_.Push(set);
    index_.Commit(id);
    return id;
  }
  const ByteSet& operator[](std::uint32_t id) const noexcept { return sets_[id]; }
  std::size_t Bytes() const noexcept { return sets_.Bytes() + index_.Bytes(); }

 private:
  StableVector<ByteSet, 6> sets_;
  InternIndex index_;
};

}  // namespace structag
