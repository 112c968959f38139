// A few threads that help where one call has much to do.  They start when they are first needed,
// and the caller always works itself: short calls wake nobody.  A process may fork while no call
// runs; the child then has a pool whose threads are still to start.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>

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
  class Crew;

  const unsigned helper_count_;
  std::mutex turn_;             // held by the thread whose call it is
  std::unique_ptr<Crew> crew_;  // nullptr: not needed yet
};

}  // namespace structag
