// Judges the grammar's own expressions, once, after reading: which derive the empty string, which
// derive anything at all, and in which order a closure may expand them.
#pragma once

#include "expressions/expressions.h"
#include "expressions/liveness.h"
#include "metering/meter.h"

namespace structag {

// Sets nullable, productive and rank of every expression in `pool` from `first` on, and seals it;
// `root` is where they begin.  Throws BadProgram where a rule is its own left corner, a repeat's
// child or a list's member is nullable, or regular expressions are nested too deep.
void AnalyzeGrammar(ExprPool& pool, ExprId root, Deriver& deriver, Liveness& liveness, Meter& meter,
                    std::size_t first = 0);

}  // namespace structag
