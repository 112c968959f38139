#include "grammar/json_text.h"

#include <algorithm>
#include <string>

namespace structag {
namespace {

// Whether a text spells itself between such quotes.
bool IsPlain(std::string_view text, std::string_view quote) {
  return text.find(quote) == std::string_view::npos &&
         std::ranges::all_of(text, [](char c) { return c >= ' ' && c <= '~' && c != '\\'; });
}

NodeRef Digits(GrammarTable& table, char first, char last) {
  ByteSet set;
  set.AddRange(static_cast<std::uint8_t>(first), static_cast<std::uint8_t>(last));
  return table.Bytes(set);
}

NodeRef AnyOf(GrammarTable& table, std::string_view bytes) {
  ByteSet set;
  for (char c : bytes) set.Add(static_cast<std::uint8_t>(c));
  return table.Bytes(set);
}

NodeRef Sequence(GrammarTable& table, std::initializer_list<NodeRef> parts) {
  return table.Seq(std::span(parts.begin(), parts.size()));
}

NodeRef Optional(GrammarTable& table, NodeRef child) { return table.Repeat(child, 0, 1); }

JsonMarks MarksAround(GrammarTable& table, NodeRef gap, std::string_view comma,
                      std::string_view colon) {
  const auto around = [&](NodeRef before, std::string_view mark, NodeRef after) {
    return Sequence(table, {before, table.Literal(mark, false), after});
  };
  constexpr NodeRef kNothing = GrammarTable::kEpsilon;
  return {around(gap, comma, gap),    around(gap, colon, gap),    around(kNothing, "{", gap),
          around(gap, "}", kNothing), around(kNothing, "[", gap), around(gap, "]", kNothing)};
}

}  // namespace

NodeRef JsonNumber(GrammarTable& table, bool is_integer) {
  const NodeRef digit = Digits(table, '0', '9');
  const NodeRef ways[] = {
      table.Literal("0", false),
      Sequence(table, {Digits(table, '1', '9'), table.Repeat(digit, 0, kNone)})};
  const NodeRef minus = Optional(table, table.Literal("-", false));
  const NodeRef integer = Sequence(table, {minus, table.Alt(ways)});
  if (is_integer) return integer;
  const NodeRef some = table.Repeat(digit, 1, kNone);
  const NodeRef fraction = Sequence(table, {table.Literal(".", false), some});
  const NodeRef exponent =
      Sequence(table, {AnyOf(table, "eE"), Optional(table, AnyOf(table, "+-")), some});
  return Sequence(table, {integer, Optional(table, fraction), Optional(table, exponent)});
}

JsonMarks MarksInSpace(GrammarTable& table, std::uint32_t max_whitespace) {
  return MarksAround(table, table.Repeat(AnyOf(table, " \t\n\r"), 0, max_whitespace), ",", ":");
}

JsonMarks MarksAsGiven(GrammarTable& table, std::string_view comma, std::string_view colon) {
  return MarksAround(table, GrammarTable::kEpsilon, comma, colon);
}

NodeRef Quoted(GrammarTable& table, Codec codec, std::string_view quote, NodeRef text) {
  const NodeRef mark = table.Literal(quote, false);
  Words fixed, open;
  const auto sort_out = [&](NodeRef part) {
    (table.kind(part) == NodeKind::kLiteral ? fixed : open).push_back(part);
  };
  if (table.kind(table.Checked(text)) == NodeKind::kAlt) {
    for (NodeRef part : table.words(text)) sort_out(part);
  } else {
    sort_out(text);
  }
  const auto encoded = [&](NodeRef part) {
    return table.Encoded(static_cast<std::uint32_t>(codec), part);
  };
  const auto in_quotes = [&](NodeRef part) {
    const NodeRef parts[] = {mark, part, mark};
    return table.Seq(parts);
  };
  Words ways;
  for (NodeRef part : fixed) {
    const bool is_plain = IsPlain(table.text(table.words(part)[0]), quote);
    ways.push_back(in_quotes(is_plain ? part : encoded(part)));
  }
  if (!open.empty()) ways.push_back(in_quotes(encoded(table.Alt(open))));
  return table.Alt(ways);
}

NodeRef JsonText::String(std::string_view value) {
  constexpr std::string_view kQuote = "\"";
  if (!IsPlain(value, kQuote)) {
    return Quoted(table_, Codec::kJson, kQuote, table_.Literal(value, false));
  }
  std::string quoted;
  quoted.reserve(value.size() + 2);
  quoted.append(kQuote).append(value).append(kQuote);
  return table_.Literal(quoted, false);
}

NodeRef JsonText::Member(std::string_view name, NodeRef value) {
  return Sequence(table_, {String(name), marks_.colon, value});
}

NodeRef JsonText::FreeMember(NodeRef keys, NodeRef value) {
  return Sequence(table_, {Quoted(table_, Codec::kJson, "\"", keys), marks_.colon, value});
}

NodeRef JsonText::Object(std::vector<GrammarTable::Member> members, NodeRef rest) {
  if (rest != GrammarTable::kEmpty) {
    const NodeRef more = table_.Repeat(Sequence(table_, {marks_.comma, rest}), 0, kNone);
    members.push_back({Sequence(table_, {rest, more}), false});
  }
  return Braced(table_.InOrder(members, marks_.comma));
}

NodeRef JsonText::Braced(NodeRef members) {
  return Sequence(table_, {marks_.open_brace, members, marks_.close_brace});
}

NodeRef JsonText::Array(NodeRef item, std::uint32_t low, std::uint32_t high) {
  if (item == GrammarTable::kEmpty) high = 0;
  if (high != kNone && low > high) return GrammarTable::kEmpty;
  NodeRef items = GrammarTable::kEpsilon;
  if (high != 0) {
    const std::uint32_t most = high == kNone ? kNone : high - 1;
    const NodeRef more =
        table_.Repeat(Sequence(table_, {marks_.comma, item}), low == 0 ? 0 : low - 1, most);
    const NodeRef some = Sequence(table_, {item, more});
    items = low == 0 ? table_.Repeat(some, 0, 1) : some;
  }
  return Sequence(table_, {marks_.open_bracket, items, marks_.close_bracket});
}

}  // namespace structag
