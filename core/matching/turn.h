// One call at a time for what one thread uses at a time: told, where trust would corrupt memory.
#pragma once

#include <atomic>
#include <exception>

namespace structag {

// Another call is under way.
class Busy : public std::exception {
 public:
  const char* what() const noexcept override { return "another call is under way"; }
};

// Whether a call is under way.  A copy is at rest.
class Turn {
 public:
  // Has the turn for as long as it lives; throws Busy if another one has it.
  class Holder {
   public:
    explicit Holder(Turn& turn) : turn_(turn) {
      if (!turn_.Begin()) throw Busy();
    }
    ~Holder() { turn_.End(); }
    Holder(const Holder&) = delete;
    Holder& operator=(const Holder&) = delete;

   private:
    Turn& turn_;
  };

  Turn() = default;
  Turn(const Turn&) noexcept {}
  Turn& operator=(const Turn&) noexcept { return *this; }

  // False if a call is under way.
  bool Begin() noexcept { return !is_taken_.exchange(true, std::memory_order_acquire); }
  void End() noexcept { is_taken_.store(false, std::memory_order_release); }

 private:
  std::atomic<bool> is_taken_{false};
};

}  // namespace structag
