// A growing array whose elements never move: references stay valid while it grows.
// Push amortised O(1), index O(1) with one extra load.  Not thread safe by itself.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

namespace structag {

template <class T, std::size_t kChunkBits = 7>
class StableVector {
 public:
  static constexpr std::size_t kChunk = std::size_t{1} << kChunkBits;

  std::size_t size() const noexcept { return size_; }
  T& operator[](std::size_t i) noexcept { return chunks_[i >> kChunkBits][i & (kChunk - 1)]; }
  const T& operator[](std::size_t i) const noexcept {
    return chunks_[i >> kChunkBits][i & (kChunk - 1)];
  }
  T& Push(T value) {
    if (size_ == chunks_.size() * kChunk) chunks_.push_back(std::make_unique<T[]>(kChunk));
    T& slot = (*this)[size_];
    slot = std::move(value);
    ++size_;
    return slot;
  }
  std::size_t Bytes() const noexcept { return chunks_.size() * kChunk * sizeof(T); }

 private:
  std::vector<std::unique_ptr<T[]>> chunks_;
  std::size_t size_ = 0;
};

}  // namespace structag
