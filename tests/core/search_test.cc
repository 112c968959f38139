// Test search.cc against std::string_view::find.

#include "text/search.h"

#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "check.h"

namespace structag {
namespace {

void TestFindsWhatEndsWhereItEnds() {
  std::mt19937 random(7);
  for (int round = 0; round < 2000; ++round) {
    std::vector<std::string> patterns;
    const std::size_t count = 1 + random() % 4;
    for (std::size_t i = 0; i < count; ++i) {
      std::string p;
      for (std::size_t n = 1 + random() % 4; n > 0; --n) p += static_cast<char>('a' + random() % 2);
      patterns.push_back(p);
    }
    const std::vector<std::string_view> views(patterns.begin(), patterns.end());
    const SearchAutomaton automaton(views);
    std::string text;
    SearchAutomaton::State state = 0;
    for (int i = 0; i < 30; ++i) {
      text += static_cast<char>('a' + random() % 3);
      state = automaton.Step(state, static_cast<std::uint8_t>(text.back()));
      std::vector<bool> completed(count);
      automaton.ForEachCompleted(state, [&](std::uint32_t p) { completed[p] = true; });
      bool any = false;
      for (std::size_t p = 0; p < count; ++p) {
        CHECK(completed[p] == text.ends_with(patterns[p]));
        any = any || completed[p];
      }
      CHECK(automaton.Completes(state) == any);
    }
  }
}

void TestOtherBytesAllLeadAlike() {
  const std::vector<std::string_view> patterns{"abc", "bd"};
  const SearchAutomaton automaton(patterns);
  const SearchAutomaton::State state = automaton.Step(automaton.Step(0, 'a'), 'b');
  ByteSet distinct;
  automaton.AddDistinct(state, distinct);
  CHECK(automaton.Distance(state) == 1);
  CHECK(distinct.Has('c') && distinct.Has('d') && distinct.Has('a') && distinct.Has('b'));
  CHECK(distinct.Count() == 4);
}

}  // namespace
}  // namespace structag

int main() {
  structag::TestFindsWhatEndsWhereItEnds();
  structag::TestOtherBytesAllLeadAlike();
}
