// Names for what rows of a mask hold: rows with equal ids are equal, in the whole process.
// Equal rows have equal ids as long as the table remembers them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <unordered_map>

namespace structag {

// Two polynomials over the words, modulo a prime, at points that are drawn anew by each process:
// different words have equal digests with a chance below 2^-90, whoever chose them.
struct Digest {
  std::uint64_t first = 1, second = 1;

  bool operator==(const Digest&) const = default;
  // The digest of what this one stands for, followed by `words`.
  Digest Then(std::span<const std::uint32_t> words) const noexcept;
};

class RowIds {
 public:
  // Any number of threads.  At least 0.
  std::int64_t IdOf(const Digest& row);

 private:
  static constexpr std::size_t kMost = 1 << 18;  // remembered at once
  struct Hash {
    std::size_t operator()(const Digest& d) const noexcept { return d.first ^ d.second << 3; }
  };
  std::mutex mutex_;
  std::unordered_map<Digest, std::int64_t, Hash> ids_;
};

}  // namespace structag
