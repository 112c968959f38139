// How many mask rows were filled, and how many of them had to be found out.  Counted apart by
// threads, so that they do not wait for each other's cache lines.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace structag {

class FillCounter {
 public:
  struct Counts {
    std::uint64_t fills = 0, slow_fills = 0;
  };

  void Count(bool is_slow) noexcept {
    static std::atomic<std::size_t> threads{0};
    thread_local const std::size_t thread = threads++;
    Shard& shard = shards_[thread % shards_.size()];
    shard.fills.fetch_add(1, std::memory_order_relaxed);
    if (is_slow) shard.slow_fills.fetch_add(1, std::memory_order_relaxed);
  }
  Counts counts() const noexcept {
    Counts all;
    for (const Shard& shard : shards_) {
      all.fills += shard.fills.load(std::memory_order_relaxed);
      all.slow_fills += shard.slow_fills.load(std::memory_order_relaxed);
    }
    return all;
  }

 private:
  struct alignas(64) Shard {
    std::atomic<std::uint64_t> fills{0}, slow_fills{0};
  };
  std::array<Shard, 16> shards_;
};

}  // namespace structag
