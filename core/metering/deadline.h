// A time by which what a thread does has to be done, or that it may be stopped before.  Whoever
// does much asks for it now and then, and what is undone then is what a limit would undo.
#pragma once

#include <atomic>
#include <chrono>
#include <exception>
#include <optional>

namespace structag {

class DeadlinePassed : public std::exception {
 public:
  const char* what() const noexcept override { return "the deadline passed"; }
};

class Deadline {
 public:
  using Clock = std::chrono::steady_clock;

  explicit Deadline(std::optional<Clock::time_point> at) : at_(at) {}

  // From any thread: it passes now.
  void Stop() noexcept { is_stopped_.store(true, std::memory_order_relaxed); }
  bool HasPassed() const noexcept {
    if (is_stopped_.load(std::memory_order_relaxed)) return true;
    if (at_ && Clock::now() >= *at_) return true;
    return outer_ != nullptr && outer_->HasPassed();
  }

  // What this thread does from Enter to Exit is bound by it, and by the one that held before.
  // False, and nothing happens, if some thread is in it already.
  bool Enter() noexcept {
    if (is_entered_.exchange(true)) return false;
    outer_ = current_;
    current_ = this;
    return true;
  }
  void Exit() noexcept {
    current_ = outer_;
    outer_ = nullptr;
    is_entered_ = false;
  }
  // Throws DeadlinePassed if this thread's has.
  static void Check() {
    if (current_ != nullptr && current_->HasPassed()) throw DeadlinePassed();
  }

 private:
  const std::optional<Clock::time_point> at_;
  std::atomic<bool> is_stopped_{false};
  std::atomic<bool> is_entered_{false};
  Deadline* outer_ = nullptr;
  static inline thread_local Deadline* current_ = nullptr;
};

}  // namespace structag
