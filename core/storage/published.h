// A word that is written under a lock and read without: who reads it sees all that was written
// before it.
#pragma once

#include <atomic>

namespace structag {

template <class T>
class Published {
 public:
  Published() = default;
  Published(T value) noexcept : value_(value) {}
  Published(const Published& other) noexcept : value_(other.Load()) {}
  Published& operator=(const Published& other) noexcept { return *this = other.Load(); }
  Published& operator=(T value) noexcept {
    value_.store(value, std::memory_order_release);
    return *this;
  }
  T Load() const noexcept { return value_.load(std::memory_order_acquire); }

 private:
  std::atomic<T> value_{};
};

}  // namespace structag
