// Hash tables for interning and memos: open addressing, powers of two, nothing is ever removed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace structag {

constexpr std::uint64_t Mix(std::uint64_t x) noexcept {  // the finaliser of MurmurHash3
  x ^= x >> 33;
  x *= 0xff51afd7ed558ccdULL;
  x ^= x >> 33;
  x *= 0xc4ceb9fe1a85ec53ULL;
  return x ^ (x >> 33);
}

inline std::uint64_t HashWords(std::span<const std::uint32_t> words) noexcept {
  std::uint64_t h = 0x9e3779b97f4a7c15ULL ^ words.size();
  for (std::uint32_t w : words) h = Mix(h ^ w) + 0x9e3779b97f4a7c15ULL;
  return h;
}

// Finds the id of an equal entry of a table that the owner keeps, or makes room for a new one.
class InternIndex {
 public:
  // Returns the slot of the entry for which same(id) holds, or an empty slot to be set by the
  // caller.
  template <class Same>
  std::uint32_t* Find(std::uint64_t hash, Same same) {
    if (used_ * 4 >= slots_.size() * 3) Grow();
    const std::size_t mask = slots_.size() - 1;
    const std::uint32_t tag = static_cast<std::uint32_t>(hash);
    for (std::size_t i = tag & mask;; i = (i + 1) & mask) {
      Slot& slot = slots_[i];
      if (slot.id == kNone) {
        slot.tag = tag;
        pending_ = &slot;
        return &slot.id;
      }
      if (slot.tag == tag && same(slot.id)) return &slot.id;
    }
  }
  // Fills the empty slot that the last Find returned.
  void Commit(std::uint32_t id) noexcept {
    pending_->id = id;
    ++used_;
  }
  std::size_t Bytes() const noexcept { return slots_.capacity() * sizeof(Slot); }

  static constexpr std::uint32_t kNone = 0xFFFFFFFFu;

 private:
  struct Slot {
    std::uint32_t tag = 0;  // of the hash
    std::uint32_t id = kNone;
  };
  void Grow() {
    std::vector<Slot> old(slots_.empty() ? 64 : slots_.size() * 2);
    old.swap(slots_);
    const std::size_t mask = slots_.size() - 1;
    for (const Slot& slot : old) {
      if (slot.id == kNone) continue;
      std::size_t i = slot.tag & mask;
      while (slots_[i].id != kNone) i = (i + 1) & mask;
      slots_[i] = slot;
    }
  }
  std::vector<Slot> slots_;
  Slot* pending_ = nullptr;
  std::size_t used_ = 0;
};

// A memo from a 64-bit key to a 32-bit value.
class Memo {
 public:
  // The value of `key`, or nullptr.  The pointer holds until the next Set.
  const std::uint32_t* Get(std::uint64_t key) const noexcept {
    if (slots_.empty()) return nullptr;
    const std::size_t mask = slots_.size() - 1;
    for (std::size_t i = Mix(key) & mask;; i = (i + 1) & mask) {
      if (!slots_[i].used) return nullptr;
      if (slots_[i].key == key) return &slots_[i].value;
    }
  }
  void Set(std::uint64_t key, std::uint32_t value) {
    if (used_ * 4 >= slots_.size() * 3) Grow();
    Slot& slot = Place(slots_, key);
    if (!slot.used) ++used_;
    slot = {key, value, true};
  }
  std::size_t Bytes() const noexcept { return slots_.capacity() * sizeof(Slot); }
  std::size_t size() const noexcept { return used_; }

 private:
  struct Slot {
    std::uint64_t key = 0;
    std::uint32_t value = 0;
    bool used = false;
  };
  static Slot& Place(std::vector<Slot>& slots, std::uint64_t key) noexcept {
    const std::size_t mask = slots.size() - 1;
    std::size_t i = Mix(key) & mask;
    while (slots[i].used && slots[i].key != key) i = (i + 1) & mask;
    return slots[i];
  }
  void Grow() {
    std::vector<Slot> bigger(slots_.empty() ? 64 : slots_.size() * 2);
    for (const Slot& slot : slots_) {
      if (slot.used) Place(bigger, slot.key) = slot;
    }
    slots_.swap(bigger);
  }
  std::vector<Slot> slots_;
  std::size_t used_ = 0;
};

}  // namespace structag
