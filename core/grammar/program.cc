#include "grammar/program.h"

#include <algorithm>
#include <array>
#include <vector>

#include "grammar/module.h"

namespace structag {
namespace {

constexpr std::int32_t kVersion = 1;
constexpr std::int32_t kSeq = 5, kAlt = 6, kDistinct = 22;  // kinds that others look into
constexpr std::uint32_t kManyKeys = 1u << 16;               // nobody writes so many items

// Gives a module, and those that it refers to, numbers in `pool`; all text is there from the start,
// so that views of it stay valid.
void AddImport(const std::shared_ptr<const Module>& module, ExprPool& pool) {
  const auto number = static_cast<std::uint32_t>(pool.imports_.size());
  if (!pool.import_numbers_.try_emplace(module.get(), number).second) return;
  pool.imports_.push_back({.module = module, .text_at = pool.literal_text_.size()});
  pool.literal_text_ += module->packed.pool;
  for (const std::shared_ptr<const Module>& inner : module->packed.imports) AddImport(inner, pool);
}

class Reader {
 public:
  // The program's text lies in the pool's, from `text_at` on.
  Reader(const Program& program, std::size_t text_at, ExprPool& pool, Deriver& deriver,
         Liveness& liveness, Meter& meter)
      : words_(program.words),
        text_at_(text_at),
        text_size_(program.text.size()),
        imports_(program.imports),
        pool_(pool),
        deriver_(deriver),
        liveness_(liveness),
        meter_(meter),
        rule_base_(static_cast<std::uint32_t>(pool.rule_bodies_.size())) {}

  // `others` is how many nodes the modules have that the program refers to.
  ExprId Read(std::size_t others = 0);

 private:
  std::int32_t Next() {
    if (at_ >= words_.size()) throw BadProgram("the program ends early");
    return static_cast<std::int32_t>(words_[at_++]);
  }
  std::uint32_t NextCount() {
    const std::int32_t n = Next();
    if (n < 0) throw BadProgram("a negative count");
    return static_cast<std::uint32_t>(n);
  }
  std::uint32_t NextMaximum() {
    const std::int32_t n = Next();
    if (n < -1) throw BadProgram("a negative maximum");
    return n < 0 ? kUnbounded : static_cast<std::uint32_t>(n);
  }
  ExprId NextChild() {
    const std::int32_t n = Next();
    if (n < 0 || static_cast<std::size_t>(n) >= nodes_.size()) throw BadProgram("a wrong child");
    return nodes_[static_cast<std::size_t>(n)];
  }
  ExprId NextOptionalChild() {
    if (at_ < words_.size() && words_[at_] == kNone) {
      ++at_;
      return ExprPool::kEmpty;
    }
    return NextChild();
  }
  ExprId NextOperand() {
    const ExprId id = NextChild();
    if (!pool_[id].regular) throw BadProgram("an operand that is not regular");
    return id;
  }
  std::string_view NextText() {
    const std::uint32_t offset = NextCount();
    const std::uint32_t length = NextCount();
    if (length == 0 || offset > text_size_ || length > text_size_ - offset) {
      throw BadProgram("text outside of the pool");
    }
    return std::string_view(pool_.literal_text_).substr(text_at_ + offset, length);
  }
  std::vector<std::uint32_t> RestOf(std::size_t end) {
    std::vector<std::uint32_t> ids;
    while (at_ < end) ids.push_back(Raw(NextChild()));
    if (ids.empty()) throw BadProgram("a list without members");
    return ids;
  }
  struct Place {
    std::int32_t kind;
    std::span<const std::uint32_t> words;
  };
  ExprId ReadNode(std::int32_t kind, std::size_t end);
  ExprId ReadBytes();
  ExprId ReadNoOccurrence();
  ExprId ReadScan();
  ExprId ReadTokens(std::size_t end);
  ExprId ReadUnordered();
  ExprId ReadTally();
  ExprId ReadDistinct();
  ExprId ReadErase();
  std::vector<std::uint32_t> WaysOf(std::uint32_t kind);
  TallyTable::Item ItemOf(std::uint32_t node);

  std::span<const std::uint32_t> words_;
  std::size_t text_at_;
  std::size_t text_size_;
  std::span<const std::shared_ptr<const Module>> imports_;
  std::size_t at_ = 0;
  ExprPool& pool_;
  Deriver& deriver_;
  Liveness& liveness_;
  Meter& meter_;
  std::vector<ExprId> nodes_;
  std::vector<Place> places_;  // of the nodes
  std::uint32_t rule_base_;    // the number of the program's first rule
  std::uint32_t rule_count_ = 0;
};

ExprId Reader::Read(std::size_t others) {
  if (Next() != kVersion) throw BadProgram("a program of another version");
  const std::uint32_t node_count = NextCount();
  rule_count_ = NextCount();
  const std::uint32_t root = NextCount();
  if (node_count > words_.size() || rule_count_ > words_.size()) {
    throw BadProgram("more nodes than words");
  }
  if (node_count + others > meter_.limits().max_expressions) {
    throw LimitReached(Limit::kExpressions, meter_.limits().max_expressions);
  }
  nodes_.reserve(node_count);
  for (std::uint32_t i = 0; i < node_count; ++i) {
    meter_.Charge(1);
    const std::int32_t kind = Next();
    const std::uint32_t size = NextCount();
    if (size > words_.size() - at_) throw BadProgram("the program ends early");
    const std::size_t end = at_ + size;
    places_.push_back({kind, words_.subspan(at_, size)});
    nodes_.push_back(ReadNode(kind, end));
    if (at_ != end) throw BadProgram("a node of the wrong length");
  }
  pool_.rule_bodies_.reserve(rule_base_ + rule_count_);
  for (std::uint32_t i = 0; i < rule_count_; ++i) pool_.rule_bodies_.push_back(NextChild());
  if (root >= nodes_.size() || at_ != words_.size()) throw BadProgram("a wrong root or length");
  return nodes_[root];
}

ExprId Reader::ReadNode(std::int32_t kind, std::size_t end) {
  switch (kind) {
    case 0: return ExprPool::kEmpty;
    case 1: return ExprPool::kEpsilon;
    case 2: return ReadBytes();
    case 3: {
      const std::string_view text = NextText();
      const auto offset = static_cast<std::uint32_t>(text.data() - pool_.literal_text_.data());
      return pool_.MakeLiteral(offset, static_cast<std::uint32_t>(text.size()));
    }
    case kSeq: {
      const std::vector<std::uint32_t> parts = RestOf(end);
      ExprId seq = ExprPool::kEpsilon;
      for (std::size_t i = parts.size(); i-- > 0;) seq = pool_.MakeSeq(ExprId{parts[i]}, seq);
      return seq;
    }
    case kAlt: return pool_.MakeAlt(RestOf(end));
    case 7: {
      const ExprId child = NextChild();
      const std::uint32_t min = NextCount();
      const std::uint32_t max = NextMaximum();
      if (max < min) throw BadProgram("a repeat with its counts reversed");
      return pool_.MakeRepeat(child, min, max);
    }
    case 8: {
      const std::uint32_t rule = NextCount();
      if (rule >= rule_count_) throw BadProgram("a rule that does not exist");
      return pool_.Make(Kind::kRule, rule_base_ + rule);
    }
    case 9: {
      std::vector<std::uint32_t> operands;
      while (at_ < end) operands.push_back(Raw(NextOperand()));
      if (operands.empty()) throw BadProgram("an intersection of nothing");
      return pool_.MakeAnd(std::move(operands));
    }
    case 10: return pool_.MakeNot(NextOperand(), kUtf8Start);
    case 11: {
      const std::uint32_t codec = NextCount();
      if (codec >= kCodecCount) throw BadProgram("an unknown codec");
      return pool_.MakeEncoded(NextOperand(), kCodecRest, Codec{codec});
    }
    case 12: return ReadNoOccurrence();
    case 13: return ReadScan();
    case 14: return ReadErase();
    case 15: return pool_.Make(Kind::kAssertion, NextCount());
    case 16: return pool_.MakeTransparent(NextOperand());
    case 17: return ReadTokens(end);
    case 18: {
      const ExprId child = NextChild();
      if (!pool_[child].nullable) throw BadProgram("a budget over what cannot be empty");
      return pool_.Make(Kind::kBudget, Raw(child), NextCount());
    }
    case 19: return ReadUnordered();
    case 20: return ReadTally();
    case 21: {
      const ExprId child = NextChild();
      return pool_.Make(Kind::kMark, Raw(child), NextCount());
    }
    case kDistinct: return ReadDistinct();
    case 23: {
      const std::uint32_t number = NextCount();
      if (number >= imports_.size()) throw BadProgram("an import that does not exist");
      return pool_.Make(Kind::kImport, pool_.import_numbers_.at(imports_[number].get()));
    }
    default: throw BadProgram("an unknown kind of node");
  }
}

ExprId Reader::ReadBytes() {
  ByteSet set;
  for (std::size_t i = 0; i < 8; ++i) {
    const std::uint64_t word = static_cast<std::uint32_t>(Next());
    set.words[i / 2] |= word << (32 * (i % 2));
  }
  return pool_.MakeBytes(set);
}

ExprId Reader::ReadNoOccurrence() {
  std::vector<std::string_view> patterns;
  const std::uint32_t count = NextCount();
  for (std::uint32_t i = 0; i < count; ++i) patterns.push_back(NextText());
  auto automaton = std::make_shared<const SearchAutomaton>(patterns);
  pool_.searches_.push_back({std::move(automaton), std::move(patterns)});
  return pool_.Make(Kind::kNoOccurrence, static_cast<std::uint32_t>(pool_.searches_.size() - 1));
}

ExprId Reader::ReadScan() {
  const std::uint32_t case_count = NextCount();
  const std::uint32_t exclude_count = NextCount();
  std::vector<std::string_view> patterns;
  std::vector<ExprId> cases;
  for (std::uint32_t i = 0; i < case_count; ++i) {
    patterns.push_back(NextText());
    cases.push_back(NextChild());
  }
  for (std::uint32_t i = 0; i < exclude_count; ++i) patterns.push_back(NextText());
  auto automaton = std::make_shared<const SearchAutomaton>(patterns);
  pool_.scans_.push_back({{std::move(automaton), std::move(patterns)}, std::move(cases)});
  return pool_.Make(Kind::kScan, static_cast<std::uint32_t>(pool_.scans_.size() - 1));
}

ExprId Reader::ReadTokens(std::size_t end) {
  TokenSet set{NextCount() != 0, {}};
  while (at_ < end) set.ids.push_back(static_cast<TokenId>(NextCount()));
  std::sort(set.ids.begin(), set.ids.end());
  pool_.token_sets_.push_back(std::move(set));
  return pool_.Make(Kind::kTokens, static_cast<std::uint32_t>(pool_.token_sets_.size() - 1));
}

ExprId Reader::ReadErase() {
  const std::uint32_t count = NextCount();
  if (count > 1000) throw LimitReached(Limit::kExpressions, 1000);
  return pool_.MakeErase(deriver_.CloseUnderMarks(NextOperand(), count), count);
}

ExprId Reader::ReadUnordered() {
  const std::uint32_t count = NextCount();
  UnorderedTable table{{}, {}, NextOptionalChild(), ExprPool::kEmpty};
  table.separator = NextChild();
  std::vector<std::uint32_t> open(count / 32 + 1);
  for (std::uint32_t i = 0; i < count; ++i) {
    table.members.push_back(NextChild());
    table.required.push_back(Next() != 0);
    open[i / 32] |= 1u << (i % 32);
  }
  pool_.unordered_.push_back(std::move(table));
  const auto id = static_cast<std::uint32_t>(pool_.unordered_.size() - 1);
  return pool_.MakeUnordered(id, open, kAtStart);
}

ExprId Reader::ReadTally() {
  const std::uint32_t count = NextCount();
  std::vector<std::uint32_t> counts{NextCount()};
  counts.push_back(NextMaximum());
  TallyTable table{{}, NextChild(), {}};
  std::vector<std::uint32_t> keys;
  for (std::uint32_t i = 0; i < count; ++i) {
    table.kinds.push_back(NextChild());
    const std::vector<std::uint32_t> ways = WaysOf(static_cast<std::uint32_t>(words_[at_ - 1]));
    counts.push_back(NextCount());
    counts.push_back(NextMaximum());
    for (std::uint32_t way : ways) {
      TallyTable::Item item = ItemOf(way);
      item.kind = i;
      if (item.has_key) {
        item.key_row = static_cast<std::uint32_t>(keys.size() / 2);
        const ExprId text = item.is_encoded ? ExprId{pool_[item.key].a} : item.key;
        keys.push_back(Raw(ExprPool::kEmpty));
        keys.push_back(liveness_.CountStrings(text, kManyKeys));
      }
      table.items.push_back(item);
    }
  }
  counts.insert(counts.end(), keys.begin(), keys.end());
  pool_.tallies_.push_back(std::move(table));
  const auto id = static_cast<std::uint32_t>(pool_.tallies_.size() - 1);
  return pool_.MakeTally(id, counts, kAtStart);
}

ExprId Reader::ReadDistinct() {
  const std::int32_t codec = Next();
  if (codec < -1 || codec >= static_cast<std::int32_t>(kCodecCount)) {
    throw BadProgram("an unknown codec");
  }
  const ExprId text = pool_.MakeNot(ExprPool::kEmpty, kUtf8Start);
  const ExprId key = pool_.MakeAnd({Raw(NextOperand()), Raw(text)});
  if (codec < 0) return key;
  return pool_.MakeEncoded(key, kCodecRest, Codec{static_cast<std::uint32_t>(codec)});
}

// The alternatives of a kind, if some of them may have a key.
std::vector<std::uint32_t> Reader::WaysOf(std::uint32_t kind) {
  std::vector<std::uint32_t> ways, stack{kind};
  Memo seen;
  bool has_key = false;
  while (!stack.empty()) {
    const std::uint32_t node = stack.back();
    stack.pop_back();
    if (seen.Get(node)) continue;
    seen.Set(node, 1);
    const Place& place = places_[node];
    if (place.kind == kAlt) {
      stack.insert(stack.end(), place.words.rbegin(), place.words.rend());
      continue;
    }
    ways.push_back(node);
    has_key = has_key || place.kind == kDistinct ||
              (place.kind == kSeq && std::ranges::any_of(place.words, [&](std::uint32_t part) {
                 return places_[part].kind == kDistinct;
               }));
  }
  return has_key ? ways : std::vector<std::uint32_t>{kind};
}

TallyTable::Item Reader::ItemOf(std::uint32_t node) {
  const Place& place = places_[node];
  TallyTable::Item item{0, {}, ExprPool::kEmpty, ExprPool::kEpsilon, false, false, 0};
  const std::uint32_t self = node;
  const auto parts = place.kind == kSeq ? place.words : std::span(&self, 1);
  const auto is_key = [&](std::uint32_t part) { return places_[part].kind == kDistinct; };
  const auto found = std::ranges::find_if(parts, is_key);
  const auto join = [&](auto from, auto to) {
    ExprId seq = ExprPool::kEpsilon;
    while (to != from) seq = pool_.MakeSeq(nodes_[static_cast<std::size_t>(*--to)], seq);
    return seq;
  };
  item.before = join(parts.begin(), found);
  if (found == parts.end()) return item;
  const std::uint32_t key = *found;
  item.key = nodes_[key];
  item.has_key = true;
  item.is_encoded = pool_[item.key].kind == Kind::kEncoded && places_[key].words[0] != kNone;
  item.after = join(found + 1, parts.end());
  return item;
}

}  // namespace

ExprId ReadProgram(const Program& program, ExprPool& pool, Deriver& deriver, Liveness& liveness,
                   Meter& meter) {
  pool.literal_text_ = program.text;
  for (const std::shared_ptr<const Module>& module : program.imports) AddImport(module, pool);
  std::size_t others = 0;
  for (const ExprPool::Import& import : pool.imports_) others += import.module->node_count();
  return Reader(program, 0, pool, deriver, liveness, meter).Read(others);
}

ExprId ReadModule(std::uint32_t import, ExprPool& pool, Deriver& deriver, Liveness& liveness,
                  Meter& meter) {
  const ExprPool::Import& from = pool.imports_[import];
  return Reader(from.module->program(), from.text_at, pool, deriver, liveness, meter).Read();
}

}  // namespace structag
