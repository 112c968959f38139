#include "vocabulary/row_ids.h"

#include <atomic>
#include <random>

namespace structag {
namespace {

constexpr std::uint64_t kPrime = (std::uint64_t{1} << 61) - 1;
__extension__ typedef unsigned __int128 Wide;

std::uint64_t MultiplyAdd(std::uint64_t a, std::uint64_t b, std::uint32_t c) noexcept {
  const Wide product = Wide{a} * b + c;
  const std::uint64_t sum =
      (static_cast<std::uint64_t>(product) & kPrime) + static_cast<std::uint64_t>(product >> 61);
  return sum >= kPrime ? sum - kPrime : sum;
}

std::uint64_t DrawPoint() {
  std::random_device source;
  std::uniform_int_distribution<std::uint64_t> points(2, kPrime - 1);
  return points(source);
}

struct Points {
  std::uint64_t first = DrawPoint(), second = DrawPoint();
};

}  // namespace

Digest Digest::Then(std::span<const std::uint32_t> words) const noexcept {
  static const Points points;
  Digest out = *this;
  for (const std::uint32_t word : words) {
    out.first = MultiplyAdd(out.first, points.first, word);
    out.second = MultiplyAdd(out.second, points.second, word);
  }
  return out;
}

std::int64_t RowIds::IdOf(const Digest& row) {
  static std::atomic<std::int64_t> next{0};
  const std::lock_guard<std::mutex> lock(mutex_);
  if (ids_.size() >= kMost) ids_.clear();
  const auto [found, is_new] = ids_.try_emplace(row, 0);
  if (is_new) found->second = next.fetch_add(1, std::memory_order_relaxed);
  return found->second;
}

}  // namespace structag
