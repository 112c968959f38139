// Test that threads and forgetting change nothing: many matchers of one grammar at once, with
// generations and a library of units so small that they are replaced all the time.  Built with
// ThreadSanitizer, too.

#include <cstdio>
#include <random>
#include <thread>
#include <vector>

#include "check.h"
#include "matching/generations.h"
#include "matching/matcher.h"
#include "samples.h"

namespace structag {
namespace {

constexpr std::size_t kThreads = 8;
constexpr std::size_t kMatchers = 16;
constexpr int kSteps = 150;

std::shared_ptr<const Vocabulary> Words(std::size_t library_bytes) {
  return ByteVocabulary(
      {"ab", "abc", "[\"", "\",\"", "\"]", "#a",       "aa",   "bcb", "!,",  "<a",
       "b>", "],[", "\\n", "\\u00", "61",  "\xC3\xA9", "\xC3", "[[",  "cab", "> "},
      library_bytes);
}

std::shared_ptr<Generations> Compile(std::size_t library_bytes, std::uint64_t generation_bytes) {
  const ListGrammar grammar;
  Limits limits;
  limits.max_generation_bytes = generation_bytes;
  Acceleration acceleration;
  acceleration.many_below = 2;
  return std::make_shared<Generations>(Words(library_bytes), grammar.program(), limits,
                                       acceleration);
}

// One matcher on a random way; what it saw on it.
class Walker {
 public:
  Walker(std::shared_ptr<Generations> grammar, unsigned seed)
      : matcher_(std::move(grammar), {kStop}),
        chance_(seed),
        row_(matcher_.vocabulary().MaskWords()) {}

  void Step() {
    matcher_.FillMask(row_);
    std::vector<TokenId> allowed;
    for (std::size_t id = 0; id < matcher_.vocabulary().size(); ++id) {
      if (row_[id / 32] >> (id % 32) & 1) allowed.push_back(static_cast<TokenId>(id));
    }
    for (std::uint32_t word : row_) seen_ = Mix(seen_ ^ word) + 1;
    CHECK(!allowed.empty());
    const TokenId id = allowed[chance_() % allowed.size()];
    if (chance_() % 8 == 0) CHECK(matcher_.ValidateTokens(std::vector<TokenId>{id, id}) >= 1);
    CHECK(matcher_.AcceptToken(id));
    if (chance_() % 16 == 0) CHECK(matcher_.Rollback(matcher_.HistorySize() / (1 + chance_() % 8)));
    if (chance_() % 16 == 0) matcher_ = Matcher(matcher_);
    if (matcher_.IsTerminated()) matcher_.Reset();
    seen_ = Mix(seen_ ^ matcher_.HistorySize()) + (matcher_.IsComplete() ? 1 : 0);
  }
  std::uint64_t seen() const { return seen_; }

 private:
  Matcher matcher_;
  std::mt19937 chance_;
  std::vector<std::uint32_t> row_;
  std::uint64_t seen_ = 0;
};

std::vector<std::uint64_t> Alone() {
  std::vector<std::uint64_t> seen;
  for (unsigned i = 0; i < kMatchers; ++i) {
    Walker walker(Compile(Vocabulary::kLibraryBytes, Limits{}.max_generation_bytes), i);
    for (int step = 0; step < kSteps; ++step) walker.Step();
    seen.push_back(walker.seen());
  }
  return seen;
}

void TestThreadsSeeWhatOneSees() {
  const std::vector<std::uint64_t> expected = Alone();
  const std::shared_ptr<Generations> grammar = Compile(48 << 10, 24 << 10);
  std::vector<std::uint64_t> seen(kMatchers);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      std::vector<Walker> walkers;
      for (std::size_t i = t; i < kMatchers; i += kThreads) {
        walkers.emplace_back(grammar, static_cast<unsigned>(i));
      }
      for (int step = 0; step < kSteps; ++step) {
        for (Walker& walker : walkers) walker.Step();
      }
      for (std::size_t i = t, w = 0; i < kMatchers; i += kThreads) seen[i] = walkers[w++].seen();
    });
  }
  for (std::thread& thread : threads) thread.join();

  CHECK(seen == expected);
  CHECK(grammar->stats().generations > 3);
  CHECK(grammar->stats().libraries > 1);
}

}  // namespace
}  // namespace structag

int main() { structag::TestThreadsSeeWhatOneSees(); }
