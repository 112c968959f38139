// Many matchers in one call, on a few threads.  A matcher that fails fails alone.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <span>
#include <stdexcept>
#include <vector>

#include "matching/draft.h"
#include "matching/matcher.h"
#include "matching/worker_pool.h"

namespace structag {

// The call as a whole makes no sense; nothing has been done.
class BadBatch : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};

class BatchMatcher {
 public:
  // What came of one matcher's part: a value, or what was thrown.
  struct Outcome {
    std::int64_t value;
    std::exception_ptr error;
  };
  using Outcomes = std::span<const Outcome>;  // by matcher, valid until the next call

  explicit BatchMatcher(unsigned threads) : pool_(threads) {}

  // All of these throw BadBatch: a matcher or a row is there twice, or there is no such row; and
  // Busy: another call of one of the matchers is under way.
  // A negative row or token means that the matcher takes no part; its value is 1 then.

  // Fills row rows[i] for matcher i; value: whether any bit is 0.  A row that fails allows the stop
  // tokens only.
  Outcomes Fill(std::span<Matcher* const> matchers, BitmaskRows bitmask,
                std::span<const std::int64_t> rows);
  // Value: whether the token was taken.
  Outcomes Accept(std::span<Matcher* const> matchers, std::span<const std::int64_t> tokens);
  // Value: whether there were as many entries; otherwise nothing is undone.
  Outcomes Rollback(std::span<Matcher* const> matchers, std::span<const std::int64_t> counts);
  // Value: MaskId.
  Outcomes MaskIds(std::span<Matcher* const> matchers);
  // FillDraftChain for `length` tokens of each matcher, from row rows[i] on; value: how many tokens
  // are accepted.
  Outcomes FillDraftChains(std::span<Matcher* const> matchers, std::span<const std::int64_t> tokens,
                           std::size_t length, BitmaskRows bitmask,
                           std::span<const std::int64_t> rows);

 private:
  void ClaimRows(std::size_t count, std::span<const std::int64_t> rows, std::size_t height);
  // Calls work(i) -> value for each matcher, and afterwards failed(i) where it threw.
  Outcomes Run(std::size_t count, const std::function<std::int64_t(std::size_t)>& work,
               const std::function<void(std::size_t)>& failed);

  WorkerPool pool_;
  std::vector<Outcome> outcomes_;
  std::vector<bool> rows_;  // taken
};

}  // namespace structag
