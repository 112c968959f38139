// Test that what was found out is used without allocating: counts every operator new.

#include <random>
#include <vector>

#include "allocations.h"
#include "check.h"
#include "matching/generations.h"
#include "matching/matcher.h"
#include "samples.h"

namespace structag {
namespace {

// A random beginning of a list, which is never closed so that it gets long.
std::vector<TokenId> RandomOutput(Matcher& matcher, std::size_t length) {
  std::vector<std::uint32_t> row(matcher.vocabulary().MaskWords());
  std::mt19937 chance(7);
  std::vector<TokenId> output{'['};
  CHECK(matcher.AcceptToken('['));
  while (output.size() < length) {
    matcher.FillMask(row);
    std::vector<TokenId> allowed;
    for (TokenId id = 0; static_cast<std::size_t>(id) < matcher.vocabulary().size(); ++id) {
      if (id != kStop && id != ']' && row[static_cast<std::size_t>(id) / 32] >> (id % 32) & 1) {
        allowed.push_back(id);
      }
    }
    if (allowed.empty()) break;
    output.push_back(allowed[chance() % allowed.size()]);
    CHECK(matcher.AcceptToken(output.back()));
  }
  return output;
}

void TestTheSecondPassAllocatesNothing() {
  const ListGrammar grammar;
  Matcher matcher(std::make_shared<Generations>(ByteVocabulary({"ab", "[\"", "\",\"", "<a", "b>"}),
                                                grammar.program(), Limits{}),
                  {kStop});
  const std::vector<TokenId> output = RandomOutput(matcher, 400);
  CHECK(output.size() > 20);
  std::vector<std::uint32_t> row(matcher.vocabulary().MaskWords());
  const auto pass = [&] {
    matcher.Reset();
    for (TokenId id : output) {
      matcher.FillMask(row);
      CHECK(matcher.AcceptToken(id));
    }
  };
  pass();
  const std::size_t start = allocations;
  pass();
  CHECK(allocations == start);
  CHECK(matcher.Rollback(output.size() / 2));
  pass();
  CHECK(allocations == start);
}

}  // namespace
}  // namespace structag

int main() { structag::TestTheSecondPassAllocatesNothing(); }
