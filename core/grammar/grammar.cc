#include "grammar/grammar.h"

#include <algorithm>

#include "grammar/module.h"
#include "metering/deadline.h"
#include "text/utf8.h"

namespace structag {
namespace {

constexpr std::uint32_t kNodesBetweenLooks = 64;

Nullable AllOf(Nullable left, Nullable right) noexcept {
  if (left == Nullable::kNo || right == Nullable::kNo) return Nullable::kNo;
  return left == Nullable::kUnknown ? left : right;
}

Nullable AnyOf(Nullable left, Nullable right) noexcept {
  if (left == Nullable::kYes || right == Nullable::kYes) return Nullable::kYes;
  return left == Nullable::kUnknown ? left : right;
}

Nullable Opposite(Nullable value) noexcept {
  if (value == Nullable::kUnknown) return value;
  return value == Nullable::kYes ? Nullable::kNo : Nullable::kYes;
}

// Sorted, disjoint, non-adjacent, without surrogates.
Words Normalized(std::vector<CodePointRange> ranges) {
  std::vector<CodePointRange> pieces;
  for (const auto& [low, high] : ranges) {
    const std::int64_t first = std::max<std::int64_t>(low, 0);
    const std::int64_t last = std::min<std::int64_t>(high, kMaxCodePoint);
    if (first <= std::min<std::int64_t>(last, 0xD7FF)) {
      pieces.emplace_back(first, std::min<std::int64_t>(last, 0xD7FF));
    }
    if (std::max<std::int64_t>(first, 0xE000) <= last) {
      pieces.emplace_back(std::max<std::int64_t>(first, 0xE000), last);
    }
  }
  std::sort(pieces.begin(), pieces.end());
  Words words;
  for (const auto& [low, high] : pieces) {
    const auto first = static_cast<std::uint32_t>(low), last = static_cast<std::uint32_t>(high);
    if (!words.empty() && first <= words.back() + 1) {
      words.back() = std::max(words.back(), last);
    } else {
      words.push_back(first);
      words.push_back(last);
    }
  }
  return words;
}

}  // namespace

GrammarTable::GrammarTable() {
  Intern(NodeKind::kEmpty, {});
  Intern(NodeKind::kEpsilon, {});
}

NodeRef GrammarTable::Checked(NodeRef ref) const {
  if (ref >= nodes_.size()) throw std::out_of_range("no such expression");
  return ref;
}

NodeRef GrammarTable::Bytes(const ByteSet& set) {
  if (set.IsEmpty()) return kEmpty;
  std::array<std::uint32_t, 8> words{};
  for (std::size_t i = 0; i < 8; ++i) {
    words[i] = static_cast<std::uint32_t>(set.words[i / 2] >> (32 * (i % 2)));
  }
  return Intern(NodeKind::kBytes, words);
}

NodeRef GrammarTable::Literal(std::string_view data, bool is_marker) {
  if (data.empty()) return kEpsilon;
  const std::uint32_t words[] = {InternText(data), is_marker ? 1u : 0u};
  return Intern(NodeKind::kLiteral, words);
}

NodeRef GrammarTable::Chars(std::vector<CodePointRange> ranges) {
  const Words words = Normalized(std::move(ranges));
  return words.empty() ? kEmpty : Intern(NodeKind::kChars, words);
}

NodeRef GrammarTable::Seq(std::span<const NodeRef> parts) {
  Words flat;
  const auto add = [&](NodeRef item) {
    if (item == kEpsilon) return;
    flat.push_back(item);
  };
  for (NodeRef part : parts) {
    if (kind(Checked(part)) == NodeKind::kSeq) {
      for (NodeRef item : words(part)) add(item);
    } else {
      if (part == kEmpty) return kEmpty;
      add(part);
    }
  }
  // Neighbouring literals of one sort become one, and so do repeats of one thing.
  std::size_t kept = 0;
  for (std::size_t i = 0; i < flat.size();) {
    std::size_t end = i + 1;
    if (kind(flat[i]) == NodeKind::kLiteral) {
      const std::uint32_t marker = words(flat[i])[1];
      while (end < flat.size() && kind(flat[end]) == NodeKind::kLiteral &&
             words(flat[end])[1] == marker) {
        ++end;
      }
      if (end > i + 1) {
        std::string joined;
        for (std::size_t j = i; j < end; ++j) joined += text(words(flat[j])[0]);
        flat[i] = Literal(joined, marker != 0);
      }
    } else if (kind(flat[i]) == NodeKind::kRepeat) {
      const NodeRef child = words(flat[i])[0];
      std::uint64_t min = words(flat[i])[1];
      std::uint64_t max = words(flat[i])[2];
      for (; end < flat.size() && kind(flat[end]) == NodeKind::kRepeat; ++end) {
        const auto next = words(flat[end]);
        const bool is_bounded = max != kNone && next[2] != kNone;
        const std::uint64_t sum = is_bounded ? max + next[2] : kNone;
        if (next[0] != child || min + next[1] > kMostCount || (is_bounded && sum > kMostCount))
          break;
        min += next[1];
        max = sum;
      }
      if (end > i + 1) {
        flat[i] = Repeat(child, static_cast<std::uint32_t>(min), static_cast<std::uint32_t>(max));
      }
    }
    flat[kept++] = flat[i];
    i = end;
  }
  flat.resize(kept);
  if (flat.size() < 2) return flat.empty() ? kEpsilon : flat[0];
  return Intern(NodeKind::kSeq, flat);
}

NodeRef GrammarTable::Alt(std::span<const NodeRef> parts) {
  Words members;
  for (NodeRef part : parts) {
    if (kind(Checked(part)) == NodeKind::kAlt) {
      const auto inner = words(part);
      members.insert(members.end(), inner.begin(), inner.end());
    } else if (part != kEmpty) {
      members.push_back(part);
    }
  }
  std::sort(members.begin(), members.end());
  members.erase(std::unique(members.begin(), members.end()), members.end());
  if (members.size() < 2) return members.empty() ? kEmpty : members[0];
  return Intern(NodeKind::kAlt, members);
}

NodeRef GrammarTable::Repeat(NodeRef child, std::uint32_t min, std::uint32_t max) {
  Checked(child);
  if (max == 0 || child == kEpsilon) return kEpsilon;
  if (child == kEmpty) return min == 0 ? kEpsilon : kEmpty;
  if (min == 1 && max == 1) return child;
  if (kind(child) == NodeKind::kRepeat && max == kNone) {
    const auto inner = words(child);
    if (inner[1] <= 1 && inner[2] == kNone) {  // (x+){m,} is x{m,}; (x*){m,} is x*
      min = inner[1] == 0 ? 0 : min;
      child = inner[0];
    }
  }
  const std::uint32_t repeat[] = {child, min, max};
  return Intern(NodeKind::kRepeat, repeat);
}

NodeRef GrammarTable::And(std::span<const NodeRef> parts) {
  RequireRegular(parts, "And");
  if (parts.empty()) throw BadOperand("an intersection of nothing");
  Words members(parts.begin(), parts.end());
  std::sort(members.begin(), members.end());
  members.erase(std::unique(members.begin(), members.end()), members.end());
  if (members[0] == kEmpty) return kEmpty;
  return members.size() == 1 ? members[0] : Intern(NodeKind::kAnd, members);
}

NodeRef GrammarTable::Not(NodeRef child) {
  RequireRegular({&child, 1}, "Not");
  return Intern(NodeKind::kNot, {&child, 1});
}

NodeRef GrammarTable::Encoded(std::uint32_t codec, NodeRef child) {
  RequireRegular({&child, 1}, "Encoded");
  if (child == kEmpty || child == kEpsilon) return child;
  if (!facts(child).is_text) {
    const NodeRef parts[] = {Not(kEmpty), child};
    child = And(parts);
  }
  const std::uint32_t encoded[] = {codec, child};
  return Intern(NodeKind::kEncoded, encoded);
}

NodeRef GrammarTable::Mark(std::string_view label, NodeRef child) {
  if (Checked(child) == kEpsilon || child == kEmpty) return child;
  const std::uint32_t mark[] = {InternText(label), child};
  return Intern(NodeKind::kMark, mark);
}

NodeRef GrammarTable::InOrder(std::span<const Member> members, NodeRef separator) {
  const auto first = std::ranges::find_if(members, &Member::is_required);
  if (first == members.end()) {
    return members.empty() ? kEpsilon : Repeat(SomeOf(members, separator), 0, 1);
  }
  Words parts;
  for (auto member = members.begin(); member != members.end(); ++member) {
    const bool is_before = member < first;
    if (member == first) {
      parts.push_back(Checked(member->ref));
    } else if (member->is_required) {
      parts.push_back(separator);
      parts.push_back(Checked(member->ref));
    } else {
      const NodeRef pair[] = {is_before ? member->ref : separator,
                              is_before ? separator : member->ref};
      parts.push_back(Repeat(Seq(pair), 0, 1));
    }
  }
  return Seq(parts);
}

// One or more of the members.
NodeRef GrammarTable::SomeOf(std::span<const Member> members, NodeRef separator) {
  if (members.size() == 1) return Checked(members[0].ref);
  const NodeRef left = SomeOf(members.first(members.size() / 2), separator);
  const NodeRef right = SomeOf(members.subspan(members.size() / 2), separator);
  const NodeRef more[] = {separator, right};
  const NodeRef both[] = {left, Repeat(Seq(more), 0, 1)};
  const NodeRef options[] = {Seq(both), right};
  return Alt(options);
}

NodeRef GrammarTable::Rule(std::string name) {
  const auto index = static_cast<std::uint32_t>(rule_names_.size());
  rule_names_.push_back(std::move(name));
  rule_bodies_.push_back(kNone);
  return Intern(NodeKind::kRule, {&index, 1});
}

void GrammarTable::Define(NodeRef rule, NodeRef body) {
  Checked(body);
  if (kind(Checked(rule)) != NodeKind::kRule || rule_bodies_[words(rule)[0]] != kNone) {
    throw BadOperand("a rule is defined once");
  }
  rule_bodies_[words(rule)[0]] = body;
}

NodeRef GrammarTable::Sealed(NodeRef ref) {
  constexpr std::size_t kShort = 8;
  if (kind(Checked(ref)) != NodeKind::kSeq || words(ref).size() <= kShort) return ref;
  const auto known = sealed_.find(ref);
  if (known != sealed_.end()) return known->second;
  const NodeRef rule = Rule("object-" + std::to_string(sealed_.size() + 1));
  Define(rule, ref);
  return sealed_[ref] = rule;
}

NodeRef GrammarTable::Import(std::shared_ptr<const Module> module) {
  const std::uint32_t number = ModuleNumber(std::move(module));
  return Intern(NodeKind::kImport, {&number, 1});
}

std::uint32_t GrammarTable::ModuleNumber(std::shared_ptr<const Module> module) {
  const auto next = static_cast<std::uint32_t>(modules_.size());
  const auto [place, is_new] = module_numbers_.try_emplace(module.get(), next);
  if (is_new) modules_.push_back(std::move(module));
  return place->second;
}

NodeRef GrammarTable::Intern(NodeKind kind, std::span<const std::uint32_t> words) {
  const std::uint64_t hash = Mix(HashWords(words) + static_cast<std::uint64_t>(kind));
  std::uint32_t* slot = index_.Find(hash, [&](std::uint32_t id) {
    return nodes_[id].kind == kind && std::ranges::equal(this->words(id), words);
  });
  if (*slot != InternIndex::kNone) return *slot;
  const auto ref = static_cast<NodeRef>(nodes_.size());
  if (ref % kNodesBetweenLooks == 0) Deadline::Check();
  const Node node{kind, Judge(kind, words), static_cast<std::uint32_t>(words_.size()),
                  static_cast<std::uint32_t>(words.size())};
  nodes_.push_back(node);
  words_.resize(words_.size() + words.size());
  std::ranges::copy(words, words_.begin() + node.at);
  index_.Commit(ref);
  return ref;
}

TextId GrammarTable::InternText(std::string_view text) {
  const std::uint64_t hash = Mix(std::hash<std::string_view>{}(text));
  std::uint32_t* slot =
      text_index_.Find(hash, [&](std::uint32_t id) { return this->text(id) == text; });
  if (*slot != InternIndex::kNone) return *slot;
  const auto id = static_cast<TextId>(text_places_.size());
  text_places_.emplace_back(texts_.size(), text.size());
  texts_ += text;
  text_index_.Commit(id);
  return id;
}

NodeFacts GrammarTable::Judge(NodeKind kind, std::span<const std::uint32_t> words) const {
  constexpr auto kNo = Nullable::kNo, kYes = Nullable::kYes, kUnknown = Nullable::kUnknown;
  switch (kind) {
    case NodeKind::kEmpty:
    case NodeKind::kChars: return {true, true, kNo};
    case NodeKind::kEpsilon:
    case NodeKind::kNoOccurrence: return {true, true, kYes};
    case NodeKind::kBytes: {
      const bool is_ascii = (words[4] | words[5] | words[6] | words[7]) == 0;
      return {true, is_ascii, kNo};
    }
    case NodeKind::kLiteral: return {true, IsUtf8(text(words[0])), kNo};
    case NodeKind::kSeq: {
      NodeFacts all{true, true, kYes};
      for (NodeRef part : words) {
        const NodeFacts& one = facts(part);
        all = {all.is_regular && one.is_regular, all.is_text && one.is_text,
               AllOf(all.nullable, one.nullable)};
      }
      return all;
    }
    case NodeKind::kAlt: {
      NodeFacts any{true, true, kNo};
      for (NodeRef part : words) {
        const NodeFacts& one = facts(part);
        any = {any.is_regular && one.is_regular, any.is_text && one.is_text,
               AnyOf(any.nullable, one.nullable)};
      }
      return any;
    }
    case NodeKind::kAnd: {
      NodeFacts both{true, false, kYes};
      for (NodeRef part : words) {
        const NodeFacts& one = facts(part);
        both = {true, both.is_text || one.is_text, AllOf(both.nullable, one.nullable)};
      }
      return both;
    }
    case NodeKind::kRepeat: {
      const NodeFacts& child = facts(words[0]);
      return {child.is_regular, child.is_text, words[1] == 0 ? kYes : child.nullable};
    }
    case NodeKind::kRule: return {false, false, kUnknown};
    case NodeKind::kNot: return {true, true, Opposite(facts(words[0]).nullable)};
    case NodeKind::kEncoded:
    case NodeKind::kDistinct: return {true, true, facts(words[1]).nullable};
    case NodeKind::kErase: return {true, false, kUnknown};
    case NodeKind::kAssertion: return {true, false, kNo};
    case NodeKind::kTransparent: return {true, false, facts(words[0]).nullable};
    case NodeKind::kScan:
    case NodeKind::kTokens: return {false, false, kNo};
    case NodeKind::kBudget: return {false, facts(words[0]).is_text, kYes};
    case NodeKind::kUnordered: {
      bool any_required = false;
      for (std::size_t i = 0; i < words[0]; ++i) any_required |= words[4 + 2 * i] != 0;
      return {false, false, any_required ? kNo : kYes};
    }
    case NodeKind::kTally: {
      bool any_needed = words[1] != 0;
      for (std::size_t i = 0; i < words[0]; ++i) any_needed |= words[5 + 3 * i] != 0;
      return {false, false, any_needed ? kNo : kYes};
    }
    case NodeKind::kMark: return facts(words[1]);
    case NodeKind::kImport: return {false, false, kNo};
  }
  return {false, false, kUnknown};
}

void GrammarTable::RequireRegular(std::span<const NodeRef> refs, const char* what) const {
  for (NodeRef ref : refs) {
    if (facts(Checked(ref)).is_regular) continue;
    throw BadOperand(std::string("an operand of ") + what + " is not regular",
                     "an expression without rules, tokens, triggers, budgets or counts");
  }
}

std::size_t GrammarTable::MemoryBytes() const noexcept {
  std::size_t of_modules = 0;
  for (const std::shared_ptr<const Module>& module : modules_) of_modules += module->MemoryBytes();
  return of_modules + nodes_.capacity() * sizeof(Node) + words_.capacity() * sizeof(std::uint32_t) +
         texts_.capacity() + index_.Bytes() + text_index_.Bytes() +
         text_places_.capacity() * sizeof(text_places_[0]);
}

std::vector<std::uint8_t> ReachableNodes(const Grammar& grammar) {
  const GrammarTable& table = *grammar.table;
  std::vector<std::uint8_t> flags(grammar.node_count);
  std::vector<NodeRef> pending{grammar.root};
  flags[grammar.root] = 1;
  const auto visit = [&](NodeRef ref) {
    if (flags[ref]) return;
    flags[ref] = 1;
    pending.push_back(ref);
  };
  while (!pending.empty()) {
    const NodeRef ref = pending.back();
    pending.pop_back();
    if (table.kind(ref) == NodeKind::kRule) {
      visit(table.rule_body(table.words(ref)[0]));
    } else {
      ForEachChild(table.kind(ref), table.words(ref), visit);
    }
  }
  return flags;
}

namespace {

// Copies grammars into one table.
class Copier {
 public:
  Copier(GrammarTable& table, bool inlines, std::string_view prefix)
      : table_(table), inlines_(inlines), prefix_(prefix) {}

  NodeRef Copy(const Grammar& grammar);

 private:
  NodeRef CopyModule(const std::shared_ptr<const Module>& module);
  NodeRef Place(NodeKind kind, const Words& words);

  GrammarTable& table_;
  const bool inlines_;
  const std::string_view prefix_;
  std::unordered_map<const Module*, NodeRef> places_;
};

NodeRef Copier::Copy(const Grammar& grammar) {
  const GrammarTable& from = *grammar.table;
  const std::vector<std::uint8_t> flags = ReachableNodes(grammar);
  std::vector<NodeRef> places(grammar.node_count, kNone);
  std::vector<std::pair<NodeRef, std::uint32_t>> rules;  // new place, old number
  Words words;
  for (NodeRef ref = 0; ref < grammar.node_count; ++ref) {
    if (!flags[ref]) continue;
    const NodeKind kind = from.kind(ref);
    const auto old = from.words(ref);
    if (kind == NodeKind::kRule) {
      const std::uint32_t number = old[0];
      places[ref] = table_.Rule(from.rule_name(number));
      rules.emplace_back(places[ref], number);
      continue;
    }
    if (kind == NodeKind::kImport) {
      places[ref] = CopyModule(from.module(old[0]));
      continue;
    }
    words.assign(old.begin(), old.end());
    const std::span<std::uint32_t> span(words);
    ForEachChild(kind, span, [&](std::uint32_t& child) { child = places[child]; });
    ForEachText(kind, span, [&](std::uint32_t& id) {
      const std::string_view text = from.text(id);
      const bool is_label = kind == NodeKind::kMark && !prefix_.empty();
      id =
          is_label ? table_.InternText(std::string(prefix_).append(text)) : table_.InternText(text);
    });
    if (kind == NodeKind::kAlt || kind == NodeKind::kAnd) std::sort(words.begin(), words.end());
    places[ref] = Place(kind, words);
  }
  for (const auto& [place, number] : rules) table_.Define(place, places[from.rule_body(number)]);
  return places[grammar.root];
}

// What an inlined module turned out to be may be joined with what is around it.
NodeRef Copier::Place(NodeKind kind, const Words& words) {
  if (inlines_ && kind == NodeKind::kSeq) return table_.Seq(words);
  if (inlines_ && kind == NodeKind::kAlt) return table_.Alt(words);
  if (inlines_ && kind == NodeKind::kRepeat) return table_.Repeat(words[0], words[1], words[2]);
  return table_.Intern(kind, words);
}

NodeRef Copier::CopyModule(const std::shared_ptr<const Module>& module) {
  if (!inlines_) return table_.Import(module);
  const auto known = places_.find(module.get());
  if (known != places_.end()) return known->second;
  return places_[module.get()] = Copy(module->grammar);
}

}  // namespace

NodeRef CopyGrammar(const Grammar& grammar, GrammarTable& table, std::string_view prefix) {
  return Copier(table, false, prefix).Copy(grammar);
}

std::shared_ptr<const Grammar> Inlined(const std::shared_ptr<const Grammar>& grammar) {
  if (!grammar->table->has_imports()) return grammar;
  const auto table = std::make_shared<GrammarTable>();
  const NodeRef root = Copier(*table, true, {}).Copy(*grammar);
  return std::make_shared<Grammar>(Grammar{table, static_cast<std::uint32_t>(table->size()),
                                           static_cast<std::uint32_t>(table->rule_count()), root});
}

}  // namespace structag
