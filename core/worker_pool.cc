#include "worker_pool.h"

#include <chrono>

namespace structag {
namespace {

constexpr std::chrono::microseconds kWorthWaking{100};  // waking a thread takes about half of it

}  // namespace

WorkerPool::WorkerPool(unsigned threads) : helper_count_(threads > 1 ? threads - 1 : 0) {}

WorkerPool::~WorkerPool() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    ends_ = true;
  }
  wake_.notify_all();
  for (std::thread& helper : helpers_) helper.join();
}

void WorkerPool::ForEach(std::size_t count, const std::function<void(std::size_t)>& work) {
  const std::lock_guard<std::mutex> turn(turn_);
  next_.store(0, std::memory_order_relaxed);
  count_ = count;
  const auto start = std::chrono::steady_clock::now();
  bool is_helped = helper_count_ == 0;
  for (std::size_t i; (i = next_.fetch_add(1, std::memory_order_relaxed)) < count;) {
    work(i);
    if (is_helped || count - i < 3) continue;
    if (std::chrono::steady_clock::now() - start < kWorthWaking) continue;
    is_helped = true;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      work_ = &work;
      ++round_;
    }
    CallHelpers();
  }
  std::unique_lock<std::mutex> lock(mutex_);
  work_ = nullptr;
  done_.wait(lock, [&] { return active_ == 0; });
}

void WorkerPool::CallHelpers() {
  while (helpers_.size() < helper_count_) helpers_.emplace_back([this] { Help(); });
  wake_.notify_all();
}

void WorkerPool::Help() {
  std::uint64_t seen = 0;
  std::unique_lock<std::mutex> lock(mutex_);
  for (;;) {
    wake_.wait(lock, [&] { return ends_ || (work_ != nullptr && round_ != seen); });
    if (ends_) return;
    seen = round_;
    const std::function<void(std::size_t)>& work = *work_;
    const std::size_t count = count_;
    ++active_;
    lock.unlock();
    for (std::size_t i; (i = next_.fetch_add(1, std::memory_order_relaxed)) < count;) work(i);
    lock.lock();
    if (--active_ == 0) done_.notify_one();
  }
}

}  // namespace structag
