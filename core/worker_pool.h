// A few threads that help where one call has much to do.  They start when they are first needed,
// so that a process can fork before, and the caller always works itself: short calls wake nobody.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace structag {

class WorkerPool {
 public:
  // `threads` counts the caller; at least 1.
  explicit WorkerPool(unsigned threads);
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  // Calls work(i), which must not throw, for every i below `count`, in any order.  Returns when all
  // is done.  Calls from several threads come one after the other.
  void ForEach(std::size_t count, const std::function<void(std::size_t)>& work);

 private:
  void CallHelpers();
  void Help();

  const unsigned helper_count_;
  std::mutex turn_;  // held by the thread whose call it is
  std::atomic<std::size_t> next_{0};
  // The rest is guarded by mutex_.
  std::mutex mutex_;
  std::condition_variable wake_, done_;
  const std::function<void(std::size_t)>* work_ = nullptr;  // nullptr: none, or too late to help
  std::size_t count_ = 0;
  std::uint64_t round_ = 0;
  unsigned active_ = 0;
  bool ends_ = false;
  std::vector<std::thread> helpers_;
};

}  // namespace structag
