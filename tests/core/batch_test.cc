// Test what many threads do to matchers of one grammar: batch.cc, draft.cc, history.h,
// worker_pool.cc; and that a second pass over the same states allocates nothing.

#include "matching/batch.h"

#include <array>
#include <atomic>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "allocations.h"
#include "check.h"
#include "grammar/grammar.h"
#include "matching/engine.h"
#include "matching/matcher.h"

namespace structag {
namespace {

constexpr TokenId kStop = 256;
constexpr std::size_t kWords = 9;

std::shared_ptr<const Vocabulary> ByteVocabulary() {
  static std::string all;
  std::vector<std::string_view> tokens;
  all.clear();
  for (int b = 0; b < 256; ++b) all += static_cast<char>(b);
  for (std::size_t b = 0; b < 256; ++b) tokens.push_back(std::string_view(all).substr(b, 1));
  tokens.push_back("");
  std::vector<std::uint8_t> kinds(256, 0);
  kinds.push_back(2);
  const std::vector<TokenId> stops{kStop};
  return std::make_shared<Vocabulary>(tokens, kinds, stops);
}

// value ::= string | "[" (value ("," value)*)? "]" | [0-9]{1,30}
std::shared_ptr<Generations> Values(const std::shared_ptr<const Vocabulary>& vocabulary) {
  const auto table = std::make_shared<GrammarTable>();
  const auto seq = [&](std::vector<NodeRef> parts) { return table->Seq(parts); };
  const NodeRef quote = table->Literal("\"", false);
  const NodeRef body = table->Encoded(0, table->Not(GrammarTable::kEmpty));
  const NodeRef value = table->Rule("value");
  const NodeRef more = table->Repeat(seq({table->Literal(",", false), value}), 0, kNone);
  const NodeRef items = table->Repeat(seq({value, more}), 0, 1);
  const NodeRef list = seq({table->Literal("[", false), items, table->Literal("]", false)});
  const NodeRef number = table->Repeat(table->Chars({{'0', '9'}}), 1, 30);
  const std::vector<NodeRef> kinds{seq({quote, body, quote}), list, number};
  table->Define(value, table->Alt(kinds));
  const PackedGrammar packed =
      PackGrammar({table, static_cast<std::uint32_t>(table->size()), 1, value}, false);
  return std::make_shared<Generations>(vocabulary, Program{packed.words, packed.pool, {}},
                                       Limits{});
}

constexpr std::array<std::string_view, 4> kOutputs{
    R"(["a\u00e9",[1,22,333],[],"x\n"])", R"([[[[["deep"]]]],12345678901234567890])",
    R"("just text \\ with \"quotes\"")", R"([[],[],[1],["aa","bb","cc"]])"};

using Row = std::array<std::uint32_t, kWords>;

std::vector<Row> RowsAlong(Matcher matcher, std::string_view output) {
  std::vector<Row> rows(1);
  matcher.FillMask(rows[0]);
  for (char c : output) {
    CHECK(matcher.AcceptToken(static_cast<unsigned char>(c)));
    matcher.FillMask(rows.emplace_back());
  }
  return rows;
}

void TestThreadsOfOneGrammarDoNotDisturbEachOther() {
  const auto vocabulary = ByteVocabulary();
  std::vector<std::vector<Row>> expected;
  for (std::string_view output : kOutputs) {
    expected.push_back(RowsAlong(Matcher(Values(vocabulary), {kStop}), output));
  }
  const auto engine = Values(vocabulary);
  const Matcher start(engine, {kStop});
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      for (std::size_t round = 0; round < 12; ++round) {
        const std::size_t k = (t + round) % kOutputs.size();
        Matcher matcher = start;
        if (RowsAlong(matcher, kOutputs[k]) != expected[k]) ++wrong;
        for (char c : kOutputs[k]) matcher.AcceptToken(static_cast<unsigned char>(c));
        const Matcher fork = matcher;
        matcher.Rollback(kOutputs[k].size() / 2);
        Row row;
        matcher.FillMask(row);
        if (row != expected[k][kOutputs[k].size() - kOutputs[k].size() / 2]) ++wrong;
        Matcher end = fork;
        if (!end.AcceptToken(kStop) || fork.IsTerminated()) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
}

// Every matcher of a batch follows an output of its own, twice.
void TestABatchDoesWhatItsMatchersDoAndAllocatesOnce() {
  constexpr std::size_t kMatchers = 32;
  const auto vocabulary = ByteVocabulary();
  const std::array engines{Values(vocabulary), Values(vocabulary), Values(vocabulary)};
  std::vector<Matcher> matchers;
  for (std::size_t i = 0; i < kMatchers; ++i) {
    matchers.emplace_back(engines[i % engines.size()], std::vector<TokenId>{kStop});
  }
  std::vector<Matcher*> members;
  for (Matcher& matcher : matchers) members.push_back(&matcher);
  BatchMatcher batch(4);
  std::vector<std::uint32_t> words(kMatchers * kWords);
  const BitmaskRows bitmask{words.data(), kMatchers, kWords};
  std::vector<std::int64_t> rows(kMatchers), tokens(kMatchers);
  for (std::size_t i = 0; i < kMatchers; ++i) rows[i] = static_cast<std::int64_t>(i);
  std::vector<std::vector<Row>> expected;
  for (std::string_view output : kOutputs) {
    expected.push_back(RowsAlong(Matcher(Values(vocabulary), {kStop}), output));
  }
  const auto output_of = [&](std::size_t i) { return kOutputs[i % kOutputs.size()]; };
  std::size_t allocated = 0;
  for (int pass = 0; pass < 2; ++pass) {
    const std::size_t before = allocations;
    for (std::size_t step = 0; step < 30; ++step) {
      for (const auto& outcome : batch.Fill(members, bitmask, rows)) CHECK(!outcome.error);
      for (std::size_t i = 0; i < kMatchers; ++i) {
        const std::size_t at = std::min(step, output_of(i).size());
        const auto& row = expected[i % kOutputs.size()][at];
        CHECK(std::equal(row.begin(), row.end(), bitmask[i].begin()));
        tokens[i] = at < output_of(i).size() ? static_cast<unsigned char>(output_of(i)[at]) : -1;
      }
      const BatchMatcher::Outcomes ids = batch.MaskIds(members);
      for (std::size_t i = 0; i < kMatchers; ++i) CHECK(ids[i].value == matchers[i].MaskId());
      for (const auto& outcome : batch.Accept(members, tokens)) CHECK(outcome.value == 1);
    }
    allocated = allocations - before;
    for (std::size_t i = 0; i < kMatchers; ++i) {
      tokens[i] = static_cast<std::int64_t>(std::min<std::size_t>(30, output_of(i).size()));
    }
    for (const auto& outcome : batch.Rollback(members, tokens)) CHECK(outcome.value == 1);
    for (const Matcher& matcher : matchers) CHECK(matcher.HistorySize() == 0);
  }
  CHECK(allocated == 0);
}

void TestABatchRefusesWhatDoesNotFit() {
  Matcher matcher(Values(ByteVocabulary()), {kStop});
  const std::vector<Matcher*> twice{&matcher, &matcher};
  std::vector<std::uint32_t> words(2 * kWords);
  const BitmaskRows bitmask{words.data(), 2, kWords};
  BatchMatcher batch(1);
  int refused = 0;
  for (const std::vector<std::int64_t>& rows : {std::vector<std::int64_t>{0, 1}, {2}, {1}}) {
    const std::span<Matcher* const> members = std::span(twice).first(rows.size());
    try {
      batch.Fill(members, bitmask, rows);
    } catch (const BadBatch&) {
      ++refused;
    }
  }
  CHECK(refused == 2);

  const std::span<Matcher* const> one = std::span(twice).first(1);
  const std::vector<std::int64_t> rows{0};
  bool is_busy = false;
  {
    const Turn::Holder other_call(twice[0]->turn());
    try {
      batch.Fill(one, bitmask, rows);
    } catch (const Busy&) {
      is_busy = true;
    }
  }
  CHECK(is_busy);
  CHECK(batch.Fill(one, bitmask, rows)[0].error == nullptr);
}

void TestHelpersTakeTheirShare() {
  WorkerPool pool(4);
  std::vector<std::atomic<int>> times(100);
  for (int round = 0; round < 5; ++round) {
    pool.ForEach(times.size(), [&](std::size_t i) {
      const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(20);
      while (std::chrono::steady_clock::now() < end) {
      }
      ++times[i];
    });
  }
  for (const std::atomic<int>& count : times) CHECK(count == 5);
}

void TestAHistoryIsWhatWasPushed() {
  History<std::size_t> history(0);
  std::vector<std::size_t> plain{0};
  std::vector<std::pair<History<std::size_t>, std::vector<std::size_t>>> copies;
  const auto check = [](History<std::size_t> copy, const std::vector<std::size_t>& all) {
    CHECK(copy.size() == all.size());
    for (std::size_t size : {all.size(), (all.size() + 1) / 2, std::size_t{1}}) {
      copy.Cut(size);
      CHECK(copy.size() == size && copy.back() == all[size - 1]);
    }
  };
  std::uint64_t random = 1;
  for (std::size_t i = 1; i < 6000; ++i) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    if (random >> 58 == 0) {
      const std::size_t size = 1 + (random >> 20) % plain.size();
      history.Cut(size);
      plain.resize(size);
      if (copies.size() < 40) copies.emplace_back(history, plain);
    }
    history.push_back(i);
    plain.push_back(i);
    CHECK(history.back() == i && history.size() == plain.size());
  }
  check(history, plain);
  for (const auto& [copy, all] : copies) check(copy, all);
}

void TestATreeFollowsEveryPath() {
  Matcher matcher(Values(ByteVocabulary()), {kStop});
  CHECK(matcher.AcceptToken('['));
  // 0 ─ 1 "1" ─ 3 "," ─ 4 "]" (refused) ; 1 ─ 2 "\"" (sibling) ; node 5 hangs on nothing
  const std::vector<std::int64_t> first{1, 3, -1, 4, -1, -1}, sibling{-1, 2, -1, -1, -1, -1},
      tokens{'[', '1', '"', ',', ']', 'x'};
  std::vector<std::uint32_t> words(6 * kWords);
  const BitmaskRows rows{words.data(), 6, kWords};
  CHECK(FillDraftTree(matcher, {first, sibling, tokens}, rows, std::nullopt));
  CHECK(matcher.HistorySize() == 1);
  const std::vector<std::string_view> paths{"", "1", "\"", "1,"};
  for (std::size_t node = 0; node < paths.size(); ++node) {
    const std::vector<Row> along = RowsAlong(matcher, paths[node]);
    CHECK(std::equal(along.back().begin(), along.back().end(), rows[node].begin()));
  }
  for (std::size_t node : {4, 5}) CHECK(rows[node][0] == 0xFFFFFFFFu);
  CHECK(!FillDraftTree(matcher, {first, sibling, tokens}, rows, std::chrono::steady_clock::now()));
  CHECK(rows[0][0] == 0 && rows[0][8] == 1);
}

}  // namespace
}  // namespace structag

int main() {
  structag::TestThreadsOfOneGrammarDoNotDisturbEachOther();
  structag::TestABatchDoesWhatItsMatchersDoAndAllocatesOnce();
  structag::TestABatchRefusesWhatDoesNotFit();
  structag::TestHelpersTakeTheirShare();
  structag::TestAHistoryIsWhatWasPushed();
  structag::TestATreeFollowsEveryPath();
}
