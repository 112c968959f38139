// Test that a grammar comes back from its bytes, and that bytes that were changed are refused or
// hold a grammar that everything after can work with: grammar_bytes.cc.

#include "grammar/grammar_bytes.h"

#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "check.h"
#include "grammar/grammar.h"
#include "matching/engine.h"

namespace structag {
namespace {

constexpr int kDamaged = 10'000;

std::shared_ptr<const Vocabulary> ByteVocabulary() {
  static std::string all;
  std::vector<std::string_view> tokens;
  all.clear();
  for (int b = 0; b < 256; ++b) all += static_cast<char>(b);
  for (std::size_t b = 0; b < 256; ++b) tokens.push_back(std::string_view(all).substr(b, 1));
  tokens.push_back("");
  std::vector<std::uint8_t> kinds(256, 0);
  kinds.push_back(2);
  const std::vector<TokenId> stops{256};
  return std::make_shared<Vocabulary>(tokens, kinds, stops);
}

// One of every kind of expression.
Grammar Everything() {
  const auto table = std::make_shared<GrammarTable>();
  GrammarTable& t = *table;
  const auto intern = [&](NodeKind kind, const Words& words) { return t.Intern(kind, words); };
  const auto seq = [&](const Words& parts) { return t.Seq(parts); };
  const auto text = [&](std::string_view data) { return t.InternText(data); };
  const NodeRef a = t.Literal("aé", false), b = t.Literal("<b>", true);
  const NodeRef comma = t.Literal(",", false), wide = t.Chars({{'0', '9'}, {0x100, 0x10FFFF}});
  ByteSet high;
  high.AddRange(0x80, 0xFF);
  const Words both{t.Not(a), t.Not(seq({a, a}))};
  const NodeRef operand = t.Encoded(0, t.And(both));
  const NodeRef value = t.Rule("value");
  const NodeRef list = seq({b, value, t.Repeat(seq({comma, value}), 0, 1'000'000), t.Bytes(high)});
  const NodeRef free = intern(NodeKind::kNoOccurrence, {text("</x>"), text("<y>")});
  const NodeRef scan =
      intern(NodeKind::kScan, {2, 1, text("<t>"), list, text("<u>"), a, text("no")});
  const Words marked{intern(NodeKind::kTransparent, {a}), intern(NodeKind::kAssertion, {0})};
  const NodeRef erase = intern(NodeKind::kErase, {1, t.Seq(marked)});
  const NodeRef token = intern(NodeKind::kTokens, {0, 3, 7, 256});
  const NodeRef budget = intern(NodeKind::kBudget, {free, 9});
  const NodeRef unordered = intern(NodeKind::kUnordered, {2, wide, comma, a, 1, list, 0});
  const NodeRef tally = intern(NodeKind::kTally, {2, 1, kNone, comma, a, 0, 2, wide, 1, kNone});
  const Words options{seq({operand, b}), scan,      erase, token,
                      seq({budget, b}),  unordered, tally, t.Mark("/place", list)};
  t.Define(value, t.Alt(options));
  return {table, static_cast<std::uint32_t>(t.size()), 1, value};
}

void Use(const Grammar& grammar, const std::shared_ptr<const Vocabulary>& vocabulary) {
  IsSimple(grammar);
  const PackedGrammar packed = PackGrammar(grammar);
  Limits limits;
  limits.max_work = 20'000;
  limits.max_memory_bytes = 4 << 20;
  try {
    Engine engine(vocabulary, Program{packed.words, packed.pool, {}}, limits);
    if (engine.start() != StatePool::kDead) Engine::Call(engine).MaskOf(engine.start());
  } catch (const BadProgram&) {
  } catch (const LimitReached&) {
  }
}

void TestWhatIsReadIsWhatWasWritten() {
  const std::string bytes = WriteGrammar(Everything());
  const Grammar again = ReadGrammar(bytes, 1000);
  CHECK(WriteGrammar(again) == bytes);
  CHECK(again.rule_count == 1 && again.table->rule_name(0) == "value");
  CHECK(PackGrammar(again).words == PackGrammar(Everything()).words);
  bool reached = false;
  try {
    ReadGrammar(bytes, 5);
  } catch (const LimitReached& e) {
    reached = e.limit() == Limit::kExpressions;
  }
  CHECK(reached);
}

void TestEveryBeginningIsRefused() {
  const std::string bytes = WriteGrammar(Everything());
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    bool refused = false;
    try {
      ReadGrammar(std::string_view(bytes).substr(0, size), 1000);
    } catch (const BadBytes&) {
      refused = true;
    }
    CHECK(refused);
  }
}

void TestDamageIsRefusedOrHarmless() {
  const auto vocabulary = ByteVocabulary();
  const std::string bytes = WriteGrammar(Everything());
  std::mt19937 random(20261130);
  int read = 0;
  for (int i = 0; i < kDamaged; ++i) {
    std::string damaged = bytes;
    for (auto flips = 1 + random() % 3; flips > 0; --flips) {
      damaged[random() % damaged.size()] ^= static_cast<char>(1u << (random() % 8));
    }
    try {
      const Grammar grammar = ReadGrammar(damaged, 1000);
      CHECK(WriteGrammar(ReadGrammar(WriteGrammar(grammar), 1000)) == WriteGrammar(grammar));
      Use(grammar, vocabulary);
      ++read;
    } catch (const BadBytes&) {
    }
  }
  CHECK(read > kDamaged / 50 && read < kDamaged);
}

}  // namespace
}  // namespace structag

int main() {
  structag::TestWhatIsReadIsWhatWasWritten();
  structag::TestEveryBeginningIsRefused();
  structag::TestDamageIsRefusedOrHarmless();
}
