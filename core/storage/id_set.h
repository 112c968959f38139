// A set of small numbers: a list while that is smaller than a bitset over all of them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace structag {

class IdSet {
 public:
  IdSet() = default;
  explicit IdSet(std::size_t universe) : words_((universe + 31) / 32) {}
  // Of the members of a bitset over the universe.
  static IdSet Of(std::vector<std::uint32_t> bits) {
    IdSet set;
    set.words_ = bits.size();
    set.bits_ = std::move(bits);
    return set;
  }

  void Add(std::uint32_t id) {
    if (!bits_.empty()) {
      bits_[id / 32] |= 1u << (id % 32);
      return;
    }
    list_.push_back(id);
    if (list_.size() > words_) Spread();
  }
  // The members in the order they were added, if the set is a list.
  bool IsList() const noexcept { return bits_.empty(); }
  std::span<const std::uint32_t> List() const noexcept { return list_; }
  const std::uint32_t* Bits() const noexcept { return bits_.data(); }
  bool Has(std::uint32_t id) const noexcept {
    return IsList() ? std::ranges::find(list_, id) != list_.end()
                    : (bits_[id / 32] >> (id % 32) & 1) != 0;
  }
  // Takes ids out of a set that is a bitset.
  void Remove(std::span<const std::uint32_t> ids) noexcept {
    for (std::uint32_t id : ids) bits_[id / 32] &= ~(1u << (id % 32));
  }
  std::size_t Bytes() const noexcept {
    return (list_.capacity() + bits_.capacity()) * sizeof(std::uint32_t);
  }

 private:
  void Spread() {
    bits_.resize(words_);
    for (std::uint32_t id : list_) bits_[id / 32] |= 1u << (id % 32);
    list_ = {};
  }
  std::vector<std::uint32_t> list_;
  std::vector<std::uint32_t> bits_;
  std::size_t words_ = 0;
};

}  // namespace structag
