// What tests of the engine match: a small vocabulary, and programs written node by node.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "grammar/program.h"
#include "vocabulary/vocabulary.h"

namespace structag {

inline constexpr TokenId kStop = 256;

// All bytes, a stop token, and the pieces.
inline std::shared_ptr<const Vocabulary> ByteVocabulary(
    std::initializer_list<std::string_view> pieces = {},
    std::size_t library_bytes = Vocabulary::kLibraryBytes) {
  static const std::string all = [] {
    std::string bytes;
    for (int b = 0; b < 256; ++b) bytes += static_cast<char>(b);
    return bytes;
  }();
  std::vector<std::string_view> tokens;
  for (std::size_t b = 0; b < 256; ++b) tokens.push_back(std::string_view(all).substr(b, 1));
  tokens.push_back("");
  tokens.insert(tokens.end(), pieces);
  std::vector<std::uint8_t> kinds(tokens.size(), 0);
  kinds[kStop] = 2;
  const std::vector<TokenId> stops{kStop};
  return std::make_shared<Vocabulary>(tokens, kinds, stops, library_bytes);
}

// Writes a program; structag/grammar/pack.py says what the words are.
class ProgramWriter {
 public:
  std::int32_t Literal(std::string_view literal) {
    const auto offset = static_cast<std::int32_t>(text.size());
    text += literal;
    return Node(3, {offset, static_cast<std::int32_t>(literal.size())});
  }
  std::int32_t Node(std::int32_t kind, std::vector<std::int32_t> arguments) {
    nodes_.push_back(kind);
    nodes_.push_back(static_cast<std::int32_t>(arguments.size()));
    nodes_.insert(nodes_.end(), arguments.begin(), arguments.end());
    return count_++;
  }
  std::int32_t Seq(std::vector<std::int32_t> parts) { return Node(5, std::move(parts)); }
  std::int32_t Alt(std::vector<std::int32_t> parts) { return Node(6, std::move(parts)); }
  std::int32_t Repeat(std::int32_t child, std::int32_t min, std::int32_t max) {
    return Node(7, {child, min, max});
  }
  // The words of the whole, `bodies` being those of the rules.
  std::vector<std::uint32_t> Finish(std::int32_t root, std::vector<std::int32_t> bodies) const {
    std::vector<std::int32_t> words{1, count_, static_cast<std::int32_t>(bodies.size()), root};
    words.insert(words.end(), nodes_.begin(), nodes_.end());
    words.insert(words.end(), bodies.begin(), bodies.end());
    return {words.begin(), words.end()};
  }

  std::string text;

 private:
  std::vector<std::int32_t> nodes_;
  std::int32_t count_ = 0;
};

// A list of strings, counted strings, lists and short thoughts.
struct ListGrammar {
  ListGrammar() {
    ProgramWriter w;
    const std::int32_t value = w.Node(8, {0});
    const std::int32_t quote = w.Literal("\"");
    const std::int32_t names = w.Alt({w.Literal("ab"), w.Literal("abc"), w.Literal("b")});
    const std::int32_t other = w.Seq({quote, w.Node(11, {0, w.Node(10, {names})}), quote});
    const std::int32_t letter = w.Alt({w.Literal("a"), w.Literal("b"), w.Literal("c")});
    const std::int32_t counted = w.Seq({w.Literal("#"), w.Repeat(letter, 2, 40), w.Literal("!")});
    const std::int32_t free = w.Node(12, {1, static_cast<std::int32_t>(w.text.size()), 1});
    w.text += '>';
    const std::int32_t thought = w.Seq({w.Literal("<"), w.Node(18, {free, 6}), w.Literal(">")});
    const std::int32_t more = w.Repeat(w.Seq({w.Literal(","), value}), 0, 30);
    const std::int32_t list = w.Seq({w.Literal("["), value, more, w.Literal("]")});
    const std::int32_t body = w.Alt({other, counted, thought, list});
    words = w.Finish(value, {body});
    text = w.text;
  }
  Program program() const { return {words, text, {}}; }

  std::vector<std::uint32_t> words;
  std::string text;
};

}  // namespace structag
