// Writes a grammar as the program that the engine reads: structag/grammar/pack.py documents it.

#include <algorithm>
#include <map>

#include "grammar/grammar.h"

namespace structag {
namespace {

constexpr std::uint32_t kVersion = 1;

// A set of characters as the minimal deterministic tree of byte sets: lead bytes with the same
// continuations share one branch.  Trees are interned, so that equal ones have equal ids.
class CharTrees {
 public:
  using TreeId = std::uint32_t;
  struct Branch {
    ByteSet bytes;
    TreeId rest;
    auto operator<=>(const Branch& other) const {
      return std::tie(bytes.words, rest) <=> std::tie(other.bytes.words, other.rest);
    }
    bool operator==(const Branch&) const = default;
  };
  static constexpr TreeId kEnd = 0;

  CharTrees() { Intern({}); }

  const std::vector<Branch>& branches(TreeId id) const noexcept { return trees_[id]; }

  TreeId Make(std::span<const std::uint32_t> ranges) {
    // First and last code point of a length, its continuation bytes, and what leads add to a digit.
    struct Length {
      std::uint32_t first, last;
      unsigned depth;
      std::uint32_t lead;
    };
    constexpr Length kLengths[] = {{0x0, 0x7F, 0, 0x00},
                                   {0x80, 0x7FF, 1, 0xC0},
                                   {0x800, 0xFFFF, 2, 0xE0},
                                   {0x10000, 0x10FFFF, 3, 0xF0}};
    std::vector<Branch> all;
    for (const Length& length : kLengths) {
      Ranges part;
      for (std::size_t i = 0; i < ranges.size(); i += 2) {
        const std::uint32_t low = std::max(ranges[i], length.first);
        const std::uint32_t high = std::min(ranges[i + 1], length.last);
        if (low <= high) part.emplace_back(low, high);
      }
      if (part.empty()) continue;
      const std::vector<Branch> found = Split(part, length.depth, length.lead);
      all.insert(all.end(), found.begin(), found.end());
    }
    return Intern(std::move(all));
  }

 private:
  using Ranges = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

  // The tree of `ranges` written with one lead digit and `depth` continuation digits.
  std::vector<Branch> Split(const Ranges& ranges, unsigned depth, std::uint32_t lead) {
    if (depth == 0) {
      ByteSet set;
      for (const auto& [low, high] : ranges) set.AddRange(lead + low, lead + high);
      return {{set, kEnd}};
    }
    const unsigned shift = 6 * depth;
    const std::uint32_t mask = (1u << shift) - 1;
    ByteSet whole;  // leads under which everything is in the set
    std::map<std::uint32_t, Ranges> partial;
    for (const auto& [low, high] : ranges) {
      for (std::uint32_t digit = low >> shift; digit <= high >> shift; ++digit) {
        const std::uint32_t first = digit == low >> shift ? low & mask : 0;
        const std::uint32_t last = digit == high >> shift ? high & mask : mask;
        if (first == 0 && last == mask) {
          whole.Add(static_cast<std::uint8_t>(lead + digit));
        } else {
          partial[digit].emplace_back(first, last);
        }
      }
    }
    std::vector<Branch> branches;
    const auto add = [&](const ByteSet& set, TreeId rest) {
      for (Branch& branch : branches) {
        if (branch.rest == rest) return branch.bytes.Unite(set);
      }
      branches.push_back({set, rest});
    };
    if (!whole.IsEmpty()) add(whole, Everything(depth - 1));
    for (const auto& [digit, inner] : partial) {
      ByteSet set;
      set.Add(static_cast<std::uint8_t>(lead + digit));
      add(set, Intern(Split(inner, depth - 1, 0x80)));
    }
    std::ranges::sort(branches, {}, [](const Branch& branch) { return First(branch.bytes); });
    return branches;
  }

  TreeId Everything(unsigned depth) {
    ByteSet set;
    set.AddRange(0x80, 0xBF);
    TreeId rest = kEnd;
    for (unsigned i = 0; i <= depth; ++i) rest = Intern({{set, rest}});
    return rest;
  }

  static unsigned First(const ByteSet& set) {
    for (unsigned i = 0; i < 4; ++i) {
      if (set.words[i] != 0) return 64 * i + static_cast<unsigned>(std::countr_zero(set.words[i]));
    }
    return 256;
  }

  TreeId Intern(std::vector<Branch> branches) {
    const auto [place, is_new] =
        ids_.try_emplace(std::move(branches), static_cast<TreeId>(trees_.size()));
    if (is_new) trees_.push_back(place->first);
    return place->second;
  }

  std::map<std::vector<Branch>, TreeId> ids_;
  std::vector<std::vector<Branch>> trees_;
};

class Packer {
 public:
  Packer(const Grammar& grammar, bool keeps_marks)
      : grammar_(grammar),
        table_(*grammar.table),
        keeps_marks_(keeps_marks),
        flags_(ReachableNodes(grammar)) {}

  PackedGrammar Pack();

 private:
  void Write(NodeRef ref);
  void WriteLiteral(std::span<const std::uint32_t> words);
  void WriteChars(NodeRef ref);
  std::uint32_t WriteTree(CharTrees& trees, CharTrees::TreeId id,
                          std::map<Words, std::uint32_t>& places);
  std::uint32_t WriteOnce(NodeKind kind, const Words& words,
                          std::map<Words, std::uint32_t>& places);
  void Begin(NodeKind kind, std::size_t size) {
    Put(static_cast<std::uint32_t>(kind));
    Put(static_cast<std::uint32_t>(size));
  }
  void Put(std::uint32_t word) { packed_.words.push_back(word); }
  void PutText(TextId id);
  std::uint32_t LabelOf(TextId id);

  const Grammar& grammar_;
  const GrammarTable& table_;
  bool keeps_marks_;
  std::vector<std::uint8_t> flags_;
  PackedGrammar packed_;
  Words at_;            // where each expression went
  Words rule_numbers_;  // in the program, by the table's
  Words offsets_;       // of each text in the pool
  Words labels_;        // their numbers, by text
  std::uint32_t count_ = 0;
};

PackedGrammar Packer::Pack() {
  rule_numbers_.assign(table_.rule_count(), kNone);
  std::vector<std::uint32_t> used;
  for (NodeRef ref = 0; ref < grammar_.node_count; ++ref) {
    if (flags_[ref] && table_.kind(ref) == NodeKind::kRule) used.push_back(table_.words(ref)[0]);
  }
  std::ranges::sort(used);
  for (std::uint32_t i = 0; i < used.size(); ++i) rule_numbers_[used[i]] = i;
  packed_.words = {kVersion, 0, static_cast<std::uint32_t>(used.size()), 0};
  at_.assign(grammar_.node_count, kNone);
  for (NodeRef ref = 0; ref < grammar_.node_count; ++ref) {
    if (flags_[ref]) Write(ref);
  }
  packed_.words[1] = count_;
  packed_.words[3] = at_[grammar_.root];
  for (std::uint32_t rule : used) Put(at_[table_.rule_body(rule)]);
  return std::move(packed_);
}

void Packer::Write(NodeRef ref) {
  const NodeKind kind = table_.kind(ref);
  const auto words = table_.words(ref);
  const auto child = [&](NodeRef old) { Put(at_[old]); };
  switch (kind) {
    case NodeKind::kChars: return WriteChars(ref);
    case NodeKind::kMark:
      if (!keeps_marks_) {
        at_[ref] = at_[words[1]];
        return;
      }
      Begin(kind, 2);
      child(words[1]);
      Put(LabelOf(words[0]));
      break;
    case NodeKind::kLiteral:
      Begin(kind, 2);
      PutText(words[0]);
      break;
    case NodeKind::kImport: {
      const auto number = static_cast<std::uint32_t>(packed_.imports.size());
      packed_.imports.push_back(table_.module(words[0]));
      Begin(kind, 1);
      Put(number);
      break;
    }
    case NodeKind::kRule:
      Begin(kind, 1);
      Put(rule_numbers_[words[0]]);
      break;
    case NodeKind::kNoOccurrence:
      Begin(kind, 1 + 2 * words.size());
      Put(static_cast<std::uint32_t>(words.size()));
      for (TextId id : words) PutText(id);
      break;
    case NodeKind::kScan: {
      const std::size_t cases = words[0], excludes = words[1];
      Begin(kind, 2 + 3 * cases + 2 * excludes);
      Put(words[0]);
      Put(words[1]);
      for (std::size_t i = 0; i < cases; ++i) {
        PutText(words[2 + 2 * i]);
        child(words[3 + 2 * i]);
      }
      for (std::size_t i = 0; i < excludes; ++i) PutText(words[2 + 2 * cases + i]);
      break;
    }
    default: {  // as it is, but for its children
      Begin(kind, words.size());
      const std::size_t start = packed_.words.size();
      for (std::uint32_t word : words) Put(word);
      ForEachChild(kind, std::span(packed_.words).subspan(start),
                   [&](std::uint32_t& word) { word = at_[word]; });
    }
  }
  at_[ref] = count_++;
}

void Packer::PutText(TextId id) {
  if (id >= offsets_.size()) offsets_.resize(id + std::size_t{1}, kNone);
  const std::string_view text = table_.text(id);
  if (offsets_[id] == kNone) {
    offsets_[id] = static_cast<std::uint32_t>(packed_.pool.size());
    packed_.pool += text;
  }
  Put(offsets_[id]);
  Put(static_cast<std::uint32_t>(text.size()));
}

std::uint32_t Packer::LabelOf(TextId id) {
  if (id >= labels_.size()) labels_.resize(id + std::size_t{1}, kNone);
  if (labels_[id] == kNone) {
    labels_[id] = static_cast<std::uint32_t>(packed_.labels.size());
    packed_.labels.emplace_back(table_.text(id));
  }
  return labels_[id];
}

void Packer::WriteChars(NodeRef ref) {
  CharTrees trees;
  std::map<Words, std::uint32_t> places;
  const CharTrees::TreeId tree = trees.Make(table_.words(ref));
  at_[ref] = WriteTree(trees, tree, places);
}

// At most four levels deep.
std::uint32_t Packer::WriteTree(CharTrees& trees, CharTrees::TreeId id,
                                std::map<Words, std::uint32_t>& places) {
  Words branches;
  for (const CharTrees::Branch& branch : trees.branches(id)) {
    Words set;
    for (std::size_t i = 0; i < 8; ++i) {
      set.push_back(static_cast<std::uint32_t>(branch.bytes.words[i / 2] >> (32 * (i % 2))));
    }
    std::uint32_t place = WriteOnce(NodeKind::kBytes, set, places);
    if (branch.rest != CharTrees::kEnd) {
      const std::uint32_t rest = WriteTree(trees, branch.rest, places);
      place = WriteOnce(NodeKind::kSeq, {place, rest}, places);
    }
    branches.push_back(place);
  }
  if (branches.size() == 1) return branches[0];
  return WriteOnce(NodeKind::kAlt, branches, places);
}

std::uint32_t Packer::WriteOnce(NodeKind kind, const Words& words,
                                std::map<Words, std::uint32_t>& places) {
  Words key = words;
  key.push_back(static_cast<std::uint32_t>(kind));
  const auto [place, is_new] = places.try_emplace(std::move(key), count_);
  if (is_new) {
    Begin(kind, words.size());
    for (std::uint32_t word : words) Put(word);
    ++count_;
  }
  return place->second;
}

}  // namespace

PackedGrammar PackGrammar(const Grammar& grammar, bool keeps_marks) {
  return Packer(grammar, keeps_marks).Pack();
}

}  // namespace structag
