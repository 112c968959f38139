// Lets whoever waits for a long call stop it, as Ctrl-C does.
#pragma once

#include <chrono>

namespace structag {

class Interrupt {
 public:
  using Ask = void (*)();  // throws if the call is to stop; whatever was interned stays valid

  // While one lives, what this thread does asks now and then.
  class Watch {
   public:
    explicit Watch(Ask ask) noexcept : outer_(ask_) {
      ask_ = ask;
      is_begun_ = false;
    }
    ~Watch() { ask_ = outer_; }
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;

   private:
    const Ask outer_;
  };

  // To be called by whoever does much.  Asking costs, so it is done every few hundredths of a
  // second, and never in the first of them.
  static void Check() {
    if (ask_ == nullptr) return;
    const auto now = std::chrono::steady_clock::now();
    if (is_begun_ && now < next_) return;
    const bool is_due = is_begun_;
    is_begun_ = true;
    next_ = now + kBetween;
    if (!is_due) return;
    const Asking asking;
    ask_();
  }

  // Whether this thread is being asked.  Who answers is in the midst of a call, which may hold any
  // lock: another one would wait for itself.
  static bool IsAsking() noexcept { return is_asking_; }

 private:
  struct Asking {
    Asking() noexcept { is_asking_ = true; }
    ~Asking() { is_asking_ = false; }
  };

  static constexpr std::chrono::milliseconds kBetween{30};
  static inline thread_local Ask ask_ = nullptr;
  static inline thread_local bool is_begun_ = false;
  static inline thread_local bool is_asking_ = false;
  static inline thread_local std::chrono::steady_clock::time_point next_{};
};

}  // namespace structag
