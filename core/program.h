// Reads the packed grammar that structag/grammar/pack.py writes into an expression pool.
// The program is not trusted: every index and count is checked.
#pragma once

#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

#include "derive.h"
#include "expressions.h"
#include "liveness.h"
#include "meter.h"

namespace structag {

// The program does not follow its format, or breaks a promise of structag/grammar/simplify.py.
class BadProgram : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Fills `pool` (fresh) and returns the root.
ExprId ReadProgram(std::span<const std::int32_t> words, std::string_view text, ExprPool& pool,
                   Deriver& deriver, Liveness& liveness, Meter& meter);

}  // namespace structag
