// A grammar as bytes that can be kept and sent, and back.  The bytes are not trusted: what they
// hold is a grammar that the constructors of a table could have made, or they are refused.
//
//   version, root, then three lists, each with its length before it:
//     texts     length, bytes
//     rules     length of the name, bytes, body
//     nodes     kind, number of words, words, as grammar.h has them; the table's first two are
//               always there and left out
//
// Numbers are little-endian in groups of seven bits, the high bit saying that more follow.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

#include "grammar/grammar.h"

namespace structag {

class BadBytes : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// What the root reaches; the same bytes for equal tables.
std::string WriteGrammar(const Grammar& grammar);

// Throws BadBytes; LimitReached, if there are more than `max_nodes` expressions.  Linear.
Grammar ReadGrammar(std::string_view bytes, std::uint64_t max_nodes);

}  // namespace structag
