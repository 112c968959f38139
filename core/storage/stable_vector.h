// A growing array whose elements never move: references stay valid while it grows.
// Push amortised O(1), index O(1) with one extra load.
//
// One thread at a time pushes.  Any thread may read an element whose index was published to it
// (published.h) after the push, while others are pushed.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "storage/published.h"

namespace structag {

template <class T, std::size_t kChunkBits = 5>
class StableVector {
 public:
  static constexpr std::size_t kChunk = std::size_t{1} << kChunkBits;

  StableVector() = default;
  StableVector(const StableVector&) = delete;
  StableVector& operator=(const StableVector&) = delete;
  ~StableVector() { Clear(); }

  std::size_t size() const noexcept { return size_; }
  T& operator[](std::size_t i) noexcept { return At(i); }
  const T& operator[](std::size_t i) const noexcept { return At(i); }
  T& Push(T value) {
    if (size_ % kChunk == 0) AddChunk();
    T& slot = At(size_);
    slot = std::move(value);
    ++size_;
    return slot;
  }
  // Nobody may be reading.
  void Clear() noexcept {
    for (std::size_t i = 0; i < ChunkCount(); ++i) delete[] chunks_.Load()[i];
    chunks_ = nullptr;
    directories_.clear();
    room_ = size_ = 0;
  }
  std::size_t Bytes() const noexcept {
    return ChunkCount() * kChunk * sizeof(T) + 2 * room_ * sizeof(T*);
  }

 private:
  T& At(std::size_t i) const noexcept { return chunks_.Load()[i >> kChunkBits][i & (kChunk - 1)]; }
  std::size_t ChunkCount() const noexcept { return (size_ + kChunk - 1) / kChunk; }
  void AddChunk() {
    auto chunk = std::make_unique<T[]>(kChunk);
    const std::size_t count = ChunkCount();
    if (count == room_) {
      const std::size_t room = std::max<std::size_t>(8, 2 * room_);
      directories_.push_back(std::make_unique<T*[]>(room));
      std::copy_n(chunks_.Load(), count, directories_.back().get());
      chunks_ = directories_.back().get();
      room_ = room;
    }
    directories_.back()[count] = chunk.release();
  }

  Published<T* const*> chunks_;                     // the latest directory
  std::vector<std::unique_ptr<T*[]>> directories_;  // earlier ones: a reader may still be there
  std::size_t room_ = 0;
  std::size_t size_ = 0;
};

}  // namespace structag
