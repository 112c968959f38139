// JSON text as expressions: what stands around values, and how strings are spelled.
#pragma once

#include <string_view>
#include <vector>

#include "grammar/grammar.h"
#include "text/codec.h"

namespace structag {

// The strings whose value is in `text`, in quotes.  One fixed text in printable ASCII stands for
// itself: nobody writes a known name with escapes, and a model that may do so loses its way.
// Everything else may be spelled in any way, since writers differ in what they escape.
NodeRef Quoted(GrammarTable& table, Codec codec, std::string_view quote, NodeRef text);

// Numbers in every spelling of RFC 8259, or integers in digits only.
NodeRef JsonNumber(GrammarTable& table, bool is_integer);

// What stands between values, the whitespace that is allowed around it included.
struct JsonMarks {
  NodeRef comma, colon, open_brace, close_brace, open_bracket, close_bracket;
};

// Marks with up to `max_whitespace` characters (kNone: any number) of whitespace around them.
JsonMarks MarksInSpace(GrammarTable& table, std::uint32_t max_whitespace);
// Marks with no whitespace but that of the separators.
JsonMarks MarksAsGiven(GrammarTable& table, std::string_view comma, std::string_view colon);

class JsonText {
 public:
  JsonText(GrammarTable& table, const JsonMarks& marks) : table_(table), marks_(marks) {}

  // A fixed string, as a value or as a name.
  NodeRef String(std::string_view value);
  NodeRef Member(std::string_view name, NodeRef value);
  // A member with any name out of `keys` (decoded).
  NodeRef FreeMember(NodeRef keys, NodeRef value);
  // Members in order, then any number of `rest`, which may be empty.
  NodeRef Object(std::vector<GrammarTable::Member> members, NodeRef rest);
  NodeRef Braced(NodeRef members);
  // `low` to `high` items; kNone is without bound.
  NodeRef Array(NodeRef item, std::uint32_t low, std::uint32_t high);

 private:
  GrammarTable& table_;
  const JsonMarks marks_;
};

}  // namespace structag
