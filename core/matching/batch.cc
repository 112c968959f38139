#include "matching/batch.h"

#include <algorithm>
#include <functional>
#include <limits>

namespace structag {
namespace {

constexpr std::int64_t kTakesNoPart = 1;
const std::function<void(std::size_t)> kNothing = [](std::size_t) {};

// The turns of all of the matchers.
class Turns {
 public:
  explicit Turns(std::span<Matcher* const> matchers) : matchers_(matchers) {
    while (held_ < matchers_.size() && matchers_[held_]->turn().Begin()) ++held_;
    if (held_ == matchers_.size()) return;
    const std::span<Matcher* const> held = matchers_.first(held_);
    const bool is_there_twice = std::ranges::find(held, matchers_[held_]) != held.end();
    End();
    if (is_there_twice) throw BadBatch("a matcher is there twice");
    throw Busy();
  }
  ~Turns() { End(); }
  Turns(const Turns&) = delete;
  Turns& operator=(const Turns&) = delete;

 private:
  void End() noexcept {
    for (Matcher* matcher : matchers_.first(held_)) matcher->turn().End();
  }
  std::span<Matcher* const> matchers_;
  std::size_t held_ = 0;
};

}  // namespace

void BatchMatcher::ClaimRows(std::size_t count, std::span<const std::int64_t> rows,
                             std::size_t height) {
  rows_.assign(count, false);
  for (std::int64_t row : rows) {
    if (row < 0) continue;
    const auto first = static_cast<std::size_t>(row);
    if (first >= count || height > count - first) throw BadBatch("the bitmask has too few rows");
    for (std::size_t i = first; i < first + height; ++i) {
      if (rows_[i]) throw BadBatch("a row is there twice");
      rows_[i] = true;
    }
  }
}

BatchMatcher::Outcomes BatchMatcher::Run(std::size_t count,
                                         const std::function<std::int64_t(std::size_t)>& work,
                                         const std::function<void(std::size_t)>& failed) {
  outcomes_.resize(count);
  const auto run = [&](std::size_t i) {
    outcomes_[i].error = nullptr;
    try {
      outcomes_[i].value = work(i);
    } catch (...) {
      outcomes_[i] = {0, std::current_exception()};
      failed(i);
    }
  };
  pool_.ForEach(count, std::cref(run));
  return outcomes_;
}

BatchMatcher::Outcomes BatchMatcher::Fill(std::span<Matcher* const> matchers, BitmaskRows bitmask,
                                          std::span<const std::int64_t> rows) {
  const Turns turns(matchers);
  ClaimRows(bitmask.count, rows, 1);
  const auto row = [&](std::size_t i) { return bitmask[static_cast<std::size_t>(rows[i])]; };
  const auto fill = [&](std::size_t i) -> std::int64_t {
    return rows[i] < 0 ? kTakesNoPart : matchers[i]->FillMask(row(i));
  };
  const auto failed = [&](std::size_t i) { matchers[i]->FillStops(row(i)); };
  return Run(matchers.size(), std::cref(fill), std::cref(failed));
}

BatchMatcher::Outcomes BatchMatcher::Accept(std::span<Matcher* const> matchers,
                                            std::span<const std::int64_t> tokens) {
  const Turns turns(matchers);
  const auto accept = [&](std::size_t i) -> std::int64_t {
    if (tokens[i] < 0) return kTakesNoPart;
    if (tokens[i] > std::numeric_limits<TokenId>::max()) return false;
    return matchers[i]->AcceptToken(static_cast<TokenId>(tokens[i]));
  };
  return Run(matchers.size(), std::cref(accept), kNothing);
}

BatchMatcher::Outcomes BatchMatcher::Rollback(std::span<Matcher* const> matchers,
                                              std::span<const std::int64_t> counts) {
  const Turns turns(matchers);
  const auto roll_back = [&](std::size_t i) -> std::int64_t {
    return counts[i] >= 0 && matchers[i]->Rollback(static_cast<std::size_t>(counts[i]));
  };
  return Run(matchers.size(), std::cref(roll_back), kNothing);
}

BatchMatcher::Outcomes BatchMatcher::MaskIds(std::span<Matcher* const> matchers) {
  const Turns turns(matchers);
  const auto id = [&](std::size_t i) { return matchers[i]->MaskId(); };
  return Run(matchers.size(), std::cref(id), kNothing);
}

BatchMatcher::Outcomes BatchMatcher::FillDraftChains(std::span<Matcher* const> matchers,
                                                     std::span<const std::int64_t> tokens,
                                                     std::size_t length, BitmaskRows bitmask,
                                                     std::span<const std::int64_t> rows) {
  const Turns turns(matchers);
  ClaimRows(bitmask.count, rows, length + 1);
  const auto chain = [&](std::size_t i) {
    const auto first = static_cast<std::size_t>(rows[i]);
    return BitmaskRows{bitmask.data + first * bitmask.width, length + 1, bitmask.width};
  };
  const auto fill = [&](std::size_t i) -> std::int64_t {
    if (rows[i] < 0) return 0;
    const auto draft = tokens.subspan(i * length, length);
    return static_cast<std::int64_t>(FillDraftChain(*matchers[i], draft, chain(i)));
  };
  const auto failed = [&](std::size_t i) {
    for (std::size_t j = 0; j <= length; ++j) matchers[i]->FillStops(chain(i)[j]);
  };
  return Run(matchers.size(), std::cref(fill), std::cref(failed));
}

}  // namespace structag
