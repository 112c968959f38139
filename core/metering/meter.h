// The meter of one compiled grammar: work of the current call, and bytes held.
// Running out throws LimitReached, or DeadlinePassed; whatever was interned by then stays valid.
#pragma once

#include <algorithm>
#include <cstdint>
#include <exception>

#include "metering/deadline.h"
#include "metering/interrupt.h"

namespace structag {

enum class Limit { kWork, kMemory, kExpressions, kNesting };

class LimitReached : public std::exception {
 public:
  LimitReached(Limit limit, std::uint64_t value) : limit_(limit), value_(value) {}
  const char* what() const noexcept override { return "a limit was reached"; }
  Limit limit() const noexcept { return limit_; }
  std::uint64_t value() const noexcept { return value_; }

 private:
  Limit limit_;
  std::uint64_t value_;
};

struct Limits {
  std::uint64_t max_work = 50'000'000;
  std::uint64_t max_memory_bytes = std::uint64_t{512} << 20;
  std::uint64_t max_generation_bytes = std::uint64_t{8} << 20;
  std::uint64_t max_expressions = 2'000'000;
  std::uint32_t max_nesting = 512;
};

class Meter {
 public:
  explicit Meter(const Limits& limits) : limits_(limits), may_fail_(fail_countdown_ >= 0) {}

  // `done`: what the call has cost so far.
  void StartCall(std::uint64_t done = 0) noexcept {
    work_ = done;
    next_look_ = 0;
    may_fail_ = fail_countdown_ >= 0;
  }
  void Charge(std::uint64_t units) {
    if (is_unlimited_) return;
    if (may_fail_ && fail_countdown_ >= 0 && fail_countdown_-- == 0) {
      throw LimitReached(Limit::kWork, 0);
    }
    work_ += units;
    if (work_ >= next_look_) Look();
  }
  // While one lives, no charge fails: for work that has been done before within the limits, and
  // that may not stop half way.
  class Unlimited {
   public:
    explicit Unlimited(Meter& meter) : meter_(meter), was_(meter.is_unlimited_) {
      meter.is_unlimited_ = true;
    }
    ~Unlimited() { meter_.is_unlimited_ = was_; }
    Unlimited(const Unlimited&) = delete;
    Unlimited& operator=(const Unlimited&) = delete;

   private:
    Meter& meter_;
    const bool was_;
  };
  std::uint64_t work() const noexcept { return work_; }
  const Limits& limits() const noexcept { return limits_; }

  // Fault injection for tests: the n-th charge of this thread fails, in calls that start from now
  // on; -1: none does.
  static void FailAfter(std::int64_t charges) noexcept { fail_countdown_ = charges; }

 private:
  static constexpr std::uint64_t kWorkBetweenLooks = 10'000;  // some hundred microseconds
  void Look() {
    if (work_ > limits_.max_work) throw LimitReached(Limit::kWork, limits_.max_work);
    Deadline::Check();
    if (work_ >= kWorkBetweenLooks) Interrupt::Check();
    next_look_ = std::min(limits_.max_work + 1, work_ + kWorkBetweenLooks);
  }

  Limits limits_;
  std::uint64_t work_ = 0;
  std::uint64_t next_look_ = 0;
  bool is_unlimited_ = false;
  bool may_fail_;  // a look at the thread's own at each charge would cost more than the charge
  static thread_local std::int64_t fail_countdown_;
};

}  // namespace structag
