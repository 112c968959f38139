// Test the path from a packed program to masks without Python: program.cc, engine.cc, matcher.cc.

#include "matching/engine.h"

#include <string>
#include <string_view>
#include <vector>

#include "check.h"
#include "grammar/module.h"
#include "matching/matcher.h"
#include "samples.h"

namespace structag {
namespace {

std::span<const std::uint8_t> Span(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

// value ::= "a" | "[" value "]"
std::shared_ptr<Generations> Brackets(const Limits& limits) {
  const std::vector<std::uint32_t> program{1, 6, 1, 1,     // six nodes, one rule, root is node 1
                                           3, 2, 0, 1,     // 0: "a"
                                           8, 1, 0,        // 1: value
                                           3, 2, 1, 1,     // 2: "["
                                           3, 2, 2, 1,     // 3: "]"
                                           5, 3, 2, 1, 3,  // 4: "[" value "]"
                                           6, 2, 0, 4,     // 5: the body
                                           5};
  return std::make_shared<Generations>(ByteVocabulary(), Program{program, "a[]", {}}, limits);
}

void TestMasksFollowTheGrammar() {
  Matcher matcher(Brackets(Limits{}), {256});
  std::vector<std::uint32_t> row(9);
  CHECK(matcher.FillMask(row));
  CHECK(row['a' / 32] >> ('a' % 32) & 1);
  CHECK(row['[' / 32] >> ('[' % 32) & 1);
  CHECK(row[256 / 32] == 0);
  CHECK(matcher.AcceptToken('[') && !matcher.AcceptToken(']') && matcher.AcceptToken('a'));
  CHECK(!matcher.IsComplete() && matcher.AcceptToken(']') && matcher.IsComplete());
  matcher.FillMask(row);
  CHECK(row[256 / 32] == 1 && matcher.AcceptToken(256) && matcher.IsTerminated());
  CHECK(matcher.AcceptToken(256) && !matcher.AcceptToken('a'));
  CHECK(matcher.Rollback(3) && !matcher.IsTerminated() && !matcher.Rollback(9));
  CHECK(matcher.FindJumpForward() == "]");
}

void TestDepthDoesNotTouchTheStack() {
  Matcher matcher(Brackets(Limits{}), {256});
  const std::string deep(50'000, '[');
  CHECK(matcher.AcceptBytes(Span(deep)));
  const std::string closing(50'000, ']');
  CHECK(matcher.AcceptToken('a') && matcher.AcceptBytes(Span(closing)) && matcher.IsComplete());
}

void TestALimitLeavesTheMatcherAsItWas() {
  Limits limits;
  limits.max_work = 2000;
  Matcher matcher(Brackets(limits), {256});
  bool reached = false;
  try {
    matcher.AcceptBytes(Span(std::string(5000, '[')));
  } catch (const LimitReached& e) {
    reached = e.limit() == Limit::kWork;
  }
  CHECK(reached && matcher.HistorySize() == 0 && matcher.AcceptToken('a') && matcher.IsComplete());
}

void TestDamagedProgramsAreRefused() {
  const std::vector<std::uint32_t> good{1, 3, 1, 0, 8, 1, 0, 3, 2, 0, 1, 6, 2, 1, 0, 1};
  for (std::size_t i = 0; i < good.size(); ++i) {
    for (std::int32_t value : {-1, 0, 1, 2, 7, 12, 13, 1'000'000}) {
      std::vector<std::uint32_t> bad = good;
      bad[i] = static_cast<std::uint32_t>(value);
      try {
        const Engine engine(ByteVocabulary(), Program{bad, "a", {}}, Limits{});
      } catch (const BadProgram&) {
      } catch (const LimitReached&) {
      }
    }
    const std::vector<std::uint32_t> cut(good.begin(),
                                         good.begin() + static_cast<std::ptrdiff_t>(i));
    bool refused = false;
    try {
      const Engine engine(ByteVocabulary(), Program{cut, "a", {}}, Limits{});
    } catch (const BadProgram&) {
      refused = true;
    }
    CHECK(refused);
  }
}

void TestLeftRecursionIsRefused() {
  const std::vector<std::uint32_t> left{1, 4, 1, 0, 8, 1, 0, 3, 2, 0, 1, 5, 2, 0, 1, 6, 2, 1, 2, 3};
  bool refused = false;
  try {
    const Engine engine(ByteVocabulary(), Program{left, "a", {}}, Limits{});
  } catch (const BadProgram&) {
    refused = true;
  }
  CHECK(refused);
}

// "[" value "]", value being a module: "a" | "(" value ")".
void TestAModuleIsReadWhenItIsMet() {
  const auto table = std::make_shared<GrammarTable>();
  const NodeRef value = table->Rule("value");
  const NodeRef nested[] = {table->Literal("(", false), value, table->Literal(")", false)};
  const NodeRef options[] = {table->Literal("a", false), table->Seq(nested)};
  table->Define(value, table->Alt(options));
  const auto count = static_cast<std::uint32_t>(table->size());
  const std::shared_ptr<const Module> module = MakeModule(Grammar{table, count, 1, value}, {});
  CHECK(module != nullptr && module->needed_bytes.Has('(') && !module->needed_bytes.Has('['));
  const std::vector<std::uint32_t> program{1, 4, 0, 3, 3, 2, 0, 1, 23, 1,
                                           0, 3, 2, 1, 1, 5, 3, 0, 1,  2};
  const std::vector<std::shared_ptr<const Module>> imports{module};
  const Program whole{program, "[]", imports};
  const auto grammar = std::make_shared<Generations>(ByteVocabulary(), whole, Limits{});
  const std::shared_ptr<Engine> engine = grammar->Newest();
  CHECK(engine->needed_bytes().Has('(') && engine->needed_bytes().Has('['));
  const std::size_t before = engine->stats().expressions;
  Matcher matcher(grammar, {256});
  CHECK(matcher.AcceptBytes(Span("[")) && engine->stats().expressions > before);
  CHECK(matcher.AcceptBytes(Span("((a))")) && !matcher.IsComplete());
  CHECK(!matcher.AcceptBytes(Span(")")) && matcher.AcceptBytes(Span("]")) && matcher.IsComplete());
  Limits few;
  few.max_expressions = 4 + module->node_count() - 1;
  bool reached = false;
  try {
    const Engine refused(ByteVocabulary(), whole, few);
  } catch (const LimitReached& e) {
    reached = e.limit() == Limit::kExpressions;
  }
  CHECK(reached);
  bool is_damaged = false;
  try {
    const Engine refused(ByteVocabulary(), Program{program, "[]", {}}, Limits{});
  } catch (const BadProgram&) {
    is_damaged = true;
  }
  CHECK(is_damaged);
}

void TestWhatMayBeEmptyIsNoModule() {
  const auto table = std::make_shared<GrammarTable>();
  const NodeRef a = table->Literal("a", false);
  const NodeRef many = table->Repeat(a, 0, kNone);
  const NodeRef never[] = {a, table->Literal("b", false)};
  const NodeRef both = table->And(never);
  const NodeRef marker = table->Literal("m", true);
  const auto count = static_cast<std::uint32_t>(table->size());
  for (NodeRef root : {many, both, marker}) {
    CHECK(MakeModule(Grammar{table, count, 0, root}, {}) == nullptr);
  }
  CHECK(MakeModule(Grammar{table, count, 0, a}, {}) != nullptr);
}

}  // namespace
}  // namespace structag

int main() {
  structag::TestAModuleIsReadWhenItIsMet();
  structag::TestWhatMayBeEmptyIsNoModule();
  structag::TestMasksFollowTheGrammar();
  structag::TestDepthDoesNotTouchTheStack();
  structag::TestALimitLeavesTheMatcherAsItWas();
  structag::TestDamagedProgramsAreRefused();
  structag::TestLeftRecursionIsRefused();
}
