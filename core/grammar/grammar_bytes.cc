#include "grammar/grammar_bytes.h"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "metering/meter.h"
#include "text/codec.h"
#include "text/utf8.h"

namespace structag {
namespace {

constexpr std::uint32_t kVersion = 1;
constexpr std::size_t kAlwaysThere = 2;  // nodes of every table
constexpr std::uint32_t kMostToken = 0x7FFFFFFFu;

void Require(bool holds, const char* what) {
  if (!holds) throw BadBytes(what);
}

void Put(std::string& out, std::uint32_t value) {
  for (; value >= 0x80; value >>= 7) out.push_back(static_cast<char>(value | 0x80));
  out.push_back(static_cast<char>(value));
}

void PutText(std::string& out, std::string_view text) {
  Put(out, static_cast<std::uint32_t>(text.size()));
  out += text;
}

class Reader {
 public:
  Reader(std::string_view bytes, std::uint64_t max_nodes) : rest_(bytes), max_nodes_(max_nodes) {}

  Grammar Read();

 private:
  std::uint32_t Number();
  std::string_view Text();
  // The length of a list whose elements take at least one byte each.
  std::uint32_t Length() {
    const std::uint32_t length = Number();
    Require(length <= rest_.size(), "a list is longer than the file");
    return length;
  }
  void ReadNode();
  void Check(NodeKind kind);
  void CheckLists(NodeKind kind);
  void CheckTexts(NodeKind kind);
  void CheckChars();
  void CheckConsuming(NodeRef child);
  bool CanCloseAnywhere(NodeKind kind) const;
  void RequireSize(std::size_t size) const { Require(words_.size() == size, "a wrong length"); }
  void RequireFlag(std::uint32_t word) const { Require(word <= 1, "a flag that is none"); }
  void RequireAscending(std::span<const std::uint32_t> words) const {
    const auto wrong = std::ranges::adjacent_find(
        words, [](std::uint32_t left, std::uint32_t right) { return left >= right; });
    Require(wrong == words.end(), "a list that is not sorted");
  }
  void RequireCounts(std::uint32_t min, std::uint32_t max) const {
    Require(min <= kMostCount && min <= max && (max == kNone || max <= kMostCount),
            "counts that cannot be");
  }

  std::string_view rest_;
  const std::uint64_t max_nodes_;
  std::shared_ptr<GrammarTable> table_ = std::make_shared<GrammarTable>();
  std::uint32_t text_count_ = 0;
  std::vector<std::pair<std::string_view, std::uint32_t>> rules_;  // name, body
  Words words_;                                                    // of the node that is read
  std::vector<bool> closes_ = {false, true};  // by node: may be cut off after every character
};

std::uint32_t Reader::Number() {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 35; shift += 7) {
    Require(!rest_.empty(), "the file ends early");
    const auto byte = static_cast<unsigned char>(rest_.front());
    rest_.remove_prefix(1);
    value |= std::uint64_t{byte & 0x7Fu} << shift;
    if (byte < 0x80) {
      Require(value <= 0xFFFFFFFFu && (byte != 0 || shift == 0), "a number out of range");
      return static_cast<std::uint32_t>(value);
    }
  }
  throw BadBytes("a number out of range");
}

std::string_view Reader::Text() {
  const std::uint32_t size = Length();
  const std::string_view text = rest_.substr(0, size);
  rest_.remove_prefix(size);
  return text;
}

Grammar Reader::Read() {
  Require(Number() == kVersion, "a grammar of another version");
  const std::uint32_t root = Number();
  text_count_ = Length();
  for (TextId id = 0; id < text_count_; ++id) {
    Require(table_->InternText(Text()) == id, "a text that is there twice");
  }
  const std::uint32_t rule_count = Length();
  for (std::uint32_t i = 0; i < rule_count; ++i) {
    const std::string_view name = Text();
    Require(IsUtf8(name), "a name that is no text");
    rules_.emplace_back(name, Number());
  }
  const std::uint32_t node_count = Length();
  if (node_count > max_nodes_) throw LimitReached(Limit::kExpressions, max_nodes_);
  for (std::uint32_t i = 0; i < node_count; ++i) ReadNode();
  Require(rest_.empty(), "something follows the grammar");
  Require(root < table_->size() && table_->rule_count() == rules_.size(), "a part is missing");
  for (NodeRef ref = 0; ref < table_->size(); ++ref) {
    if (table_->kind(ref) != NodeKind::kRule) continue;
    const NodeRef body = rules_[table_->words(ref)[0]].second;
    Require(body < table_->size(), "a rule without a body");
    table_->Define(ref, body);
  }
  return {table_, static_cast<std::uint32_t>(table_->size()), rule_count, root};
}

void Reader::ReadNode() {
  const std::uint32_t number = Number();
  Require(number < kNodeKindCount, "an unknown kind of expression");
  const auto kind = static_cast<NodeKind>(number);
  words_.resize(Length());
  for (std::uint32_t& word : words_) word = Number();
  Check(kind);
  const std::size_t place = table_->size();
  NodeRef made = kNone;
  if (kind == NodeKind::kRule) {
    RequireSize(1);
    Require(words_[0] == table_->rule_count() && words_[0] < rules_.size(), "an unknown rule");
    made = table_->Rule(std::string(rules_[words_[0]].first));
  } else {
    made = table_->Intern(kind, words_);
  }
  Require(made == place, "an expression that is there twice");
  closes_.push_back(CanCloseAnywhere(kind));
}

// Lengths and counts first: they say where children and texts are.
void Reader::Check(NodeKind kind) {
  CheckLists(kind);
  ForEachChild(kind, std::span(words_), [&](std::uint32_t child) {
    Require(child < table_->size(), "an expression that comes later");
  });
  CheckTexts(kind);
  const auto require_regular = [&](NodeRef child) {
    Require(table_->facts(child).is_regular, "an operand that is not regular");
  };
  switch (kind) {
    case NodeKind::kAnd:
    case NodeKind::kNot:
    case NodeKind::kTransparent:
    case NodeKind::kEncoded:
    case NodeKind::kDistinct:
    case NodeKind::kErase: ForEachChild(kind, std::span(words_), require_regular); break;
    case NodeKind::kBudget: Require(closes_[words_[0]], "a budget over what cannot end"); break;
    case NodeKind::kUnordered:
      for (std::size_t i = 0; i < words_[0]; ++i) CheckConsuming(words_[3 + 2 * i]);
      if (words_[1] != kNone) CheckConsuming(words_[1]);
      break;
    case NodeKind::kTally:
      for (std::size_t i = 0; i < words_[0]; ++i) CheckConsuming(words_[4 + 3 * i]);
      break;
    default: break;
  }
}

void Reader::CheckLists(NodeKind kind) {
  const auto& w = words_;
  switch (kind) {
    case NodeKind::kEmpty:
    case NodeKind::kEpsilon: throw BadBytes("an expression that is there twice");
    case NodeKind::kBytes:
      RequireSize(8);
      Require(std::ranges::any_of(w, [](std::uint32_t word) { return word != 0; }), "no bytes");
      break;
    case NodeKind::kLiteral:
      RequireSize(2);
      RequireFlag(w[1]);
      break;
    case NodeKind::kChars: CheckChars(); break;
    case NodeKind::kSeq: Require(w.size() >= 2, "a list that is too short"); break;
    case NodeKind::kAlt:
    case NodeKind::kAnd:
      Require(w.size() >= 2, "a list that is too short");
      RequireAscending(w);
      break;
    case NodeKind::kRepeat:
      RequireSize(3);
      RequireCounts(w[1], w[2]);
      break;
    case NodeKind::kRule:
    case NodeKind::kNot:
    case NodeKind::kAssertion:
    case NodeKind::kTransparent: RequireSize(1); break;
    case NodeKind::kEncoded:
      RequireSize(2);
      Require(w[0] < kCodecCount, "an unknown codec");
      break;
    case NodeKind::kDistinct:
      RequireSize(2);
      Require(w[0] < kCodecCount || w[0] == kNone, "an unknown codec");
      break;
    case NodeKind::kErase:
    case NodeKind::kMark: RequireSize(2); break;
    case NodeKind::kImport: Require(false, "a reference to another grammar"); break;
    case NodeKind::kNoOccurrence: Require(!w.empty(), "a list that is too short"); break;
    case NodeKind::kScan:
      Require(w.size() >= 2 && w[0] > 0, "a list that is too short");
      RequireSize(2 + std::size_t{2} * w[0] + w[1]);
      break;
    case NodeKind::kTokens:
      Require(!w.empty(), "a list that is too short");
      RequireFlag(w[0]);
      Require(w[0] == 1 || w.size() > 1, "no tokens");
      RequireAscending(std::span(w).subspan(1));
      Require(w.size() == 1 || w.back() <= kMostToken, "a token that cannot be");
      break;
    case NodeKind::kBudget:
      RequireSize(2);
      RequireCounts(0, w[1]);
      break;
    case NodeKind::kUnordered:
      Require(w.size() >= 3, "a list that is too short");
      RequireSize(3 + std::size_t{2} * w[0]);
      for (std::size_t i = 0; i < w[0]; ++i) RequireFlag(w[4 + 2 * i]);
      break;
    case NodeKind::kTally:
      Require(w.size() >= 4, "a list that is too short");
      RequireSize(4 + std::size_t{3} * w[0]);
      RequireCounts(w[1], w[2]);
      for (std::size_t i = 0; i < w[0]; ++i) RequireCounts(w[5 + 3 * i], w[6 + 3 * i]);
      break;
  }
}

void Reader::CheckTexts(NodeKind kind) {
  ForEachText(kind, std::span(words_), [&](TextId id) {
    Require(id < text_count_, "a text that is missing");
    const std::string_view text = table_->text(id);
    Require(!text.empty() || kind == NodeKind::kMark, "an empty text");
    Require(kind == NodeKind::kLiteral || IsUtf8(text), "a text that is not UTF-8");
  });
}

void Reader::CheckChars() {
  Require(!words_.empty() && words_.size() % 2 == 0, "a wrong length");
  for (std::size_t i = 0; i < words_.size(); i += 2) {
    const std::uint32_t low = words_[i], high = words_[i + 1];
    Require(low <= high && high <= kMaxCodePoint && (high < 0xD800 || low > 0xDFFF),
            "characters that cannot be");
    Require(i == 0 || low > words_[i - 1], "a list that is not sorted");
  }
}

void Reader::CheckConsuming(NodeRef child) {
  Require(table_->facts(child).nullable != Nullable::kYes, "a member that may be empty");
}

// As GrammarBuilder.budget asks.
bool Reader::CanCloseAnywhere(NodeKind kind) const {
  const auto closes = [&](NodeRef ref) { return closes_[ref]; };
  const auto is_symbol = [&](NodeRef ref) {
    const NodeKind of = table_->kind(ref);
    return of == NodeKind::kBytes || of == NodeKind::kChars || of == NodeKind::kTokens;
  };
  switch (kind) {
    case NodeKind::kNoOccurrence: return true;
    case NodeKind::kNot: return words_[0] == GrammarTable::kEmpty;
    case NodeKind::kMark: return closes(words_[1]);
    case NodeKind::kSeq:
    case NodeKind::kAlt:
    case NodeKind::kAnd: return std::ranges::all_of(words_, closes);
    case NodeKind::kRepeat: {
      const NodeRef child = words_[0];
      if (words_[1] != 0) return false;
      if (is_symbol(child) || closes(child)) return true;
      if (table_->kind(child) != NodeKind::kSeq) return false;
      const auto parts = table_->words(child);
      return is_symbol(parts[0]) && std::ranges::all_of(parts.subspan(1), closes);
    }
    default: return false;
  }
}

}  // namespace

std::string WriteGrammar(const Grammar& grammar) {
  GrammarTable table;
  const NodeRef root = CopyGrammar(grammar, table);
  std::string out;
  Put(out, kVersion);
  Put(out, root);
  Put(out, static_cast<std::uint32_t>(table.text_count()));
  for (TextId id = 0; id < table.text_count(); ++id) PutText(out, table.text(id));
  Put(out, static_cast<std::uint32_t>(table.rule_count()));
  for (std::uint32_t i = 0; i < table.rule_count(); ++i) {
    PutText(out, table.rule_name(i));
    Put(out, table.rule_body(i));
  }
  Put(out, static_cast<std::uint32_t>(table.size() - kAlwaysThere));
  for (NodeRef ref = kAlwaysThere; ref < table.size(); ++ref) {
    Put(out, static_cast<std::uint32_t>(table.kind(ref)));
    Put(out, static_cast<std::uint32_t>(table.words(ref).size()));
    for (std::uint32_t word : table.words(ref)) Put(out, word);
  }
  return out;
}

Grammar ReadGrammar(std::string_view bytes, std::uint64_t max_nodes) {
  return Reader(bytes, max_nodes).Read();
}

}  // namespace structag
