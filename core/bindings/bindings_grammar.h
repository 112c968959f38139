// What bindings of grammars have in common.
#pragma once

#include <memory>

#include "bindings/nanobind.h"
#include "grammar/grammar.h"
#include "grammar/json_text.h"

namespace structag {

// What Python's grammar builders are.
// The table is apart from the builder, so that a grammar does not keep a builder (and what Python
// code hung on it) alive.
struct Builder {
  std::shared_ptr<GrammarTable> table = std::make_shared<GrammarTable>();
};

// The marks of JSON text under these options, as structag.schema.options has them.
JsonMarks MarksOf(GrammarTable& table, nb::handle max_whitespace, nb::handle separators);

}  // namespace structag
