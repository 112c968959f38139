#include "matching/worker_pool.h"

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <system_error>
#include <thread>
#include <vector>

namespace structag {
namespace {

constexpr std::chrono::microseconds kWorthWaking{100};  // waking a thread takes about half of it

using Work = std::function<void(std::size_t)>;
using Next = std::atomic<std::size_t>;

void TakeShare(const Work& work, std::size_t count, Next& next) {
  for (std::size_t i; (i = next.fetch_add(1, std::memory_order_relaxed)) < count;) work(i);
}

}  // namespace

// The helping threads.
class WorkerPool::Crew {
 public:
  explicit Crew(unsigned size) {
    try {
      for (unsigned i = 0; i < size; ++i) helpers_.emplace_back([this] { Help(); });
    } catch (const std::system_error&) {  // then fewer have to do
    }
  }
  ~Crew() {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      ends_ = true;
    }
    wake_.notify_all();
    for (std::thread& helper : helpers_) helper.join();
  }
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  // Whether the threads are this process's, and not its parent's.
  bool IsHere() const noexcept { return process_ == getpid(); }

  void Call(const Work& work, std::size_t count, Next& next) {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      work_ = &work;
      count_ = count;
      next_ = &next;
      ++round_;
    }
    wake_.notify_all();
  }
  // Waits until nobody works any more.
  void Dismiss() {
    std::unique_lock<std::mutex> lock(mutex_);
    work_ = nullptr;
    done_.wait(lock, [&] { return active_ == 0; });
  }

 private:
  void Help() {
    std::uint64_t seen = 0;
    std::unique_lock<std::mutex> lock(mutex_);
    for (;;) {
      wake_.wait(lock, [&] { return ends_ || (work_ != nullptr && round_ != seen); });
      if (ends_) return;
      seen = round_;
      const Work& work = *work_;
      const std::size_t count = count_;
      Next& next = *next_;
      ++active_;
      lock.unlock();
      TakeShare(work, count, next);
      lock.lock();
      if (--active_ == 0) done_.notify_one();
    }
  }

  const pid_t process_ = getpid();
  std::mutex mutex_;
  std::condition_variable wake_, done_;
  const Work* work_ = nullptr;  // nullptr: none, or too late to help
  std::size_t count_ = 0;
  Next* next_ = nullptr;
  std::uint64_t round_ = 0;
  unsigned active_ = 0;
  bool ends_ = false;
  std::vector<std::thread> helpers_;
};

WorkerPool::WorkerPool(unsigned threads) : helper_count_(threads > 1 ? threads - 1 : 0) {}

// A crew that is not here cannot be joined, and its condition variables have waiters for ever.
WorkerPool::~WorkerPool() {
  if (crew_ && !crew_->IsHere()) (void)crew_.release();
}

void WorkerPool::ForEach(std::size_t count, const Work& work) {
  const std::lock_guard<std::mutex> turn(turn_);
  Next next{0};
  const auto start = std::chrono::steady_clock::now();
  for (std::size_t i; (i = next.fetch_add(1, std::memory_order_relaxed)) < count;) {
    work(i);
    if (helper_count_ == 0 || count - i < 3) continue;
    if (std::chrono::steady_clock::now() - start < kWorthWaking) continue;
    if (crew_ && !crew_->IsHere()) (void)crew_.release();
    if (!crew_) crew_ = std::make_unique<Crew>(helper_count_);
    crew_->Call(work, count, next);
    TakeShare(work, count, next);
    crew_->Dismiss();
    return;
  }
}

}  // namespace structag
