// Reads the packed grammar that structag/grammar/pack.py writes into an expression pool.
// The program is not trusted: every index and count is checked.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

#include "expressions/derive.h"
#include "expressions/expressions.h"
#include "expressions/liveness.h"
#include "metering/meter.h"

namespace structag {

// The program does not follow its format, or breaks a promise of structag/grammar/simplify.py.
class BadProgram : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct Program {
  std::span<const std::uint32_t> words;
  std::string_view text;
  std::span<const std::shared_ptr<const Module>> imports;
};

// Fills `pool` (fresh) and returns the root.  What is imported is not read yet.
ExprId ReadProgram(const Program& program, ExprPool& pool, Deriver& deriver, Liveness& liveness,
                   Meter& meter);

// Reads the module behind an import of `pool` and returns its root.
ExprId ReadModule(std::uint32_t import, ExprPool& pool, Deriver& deriver, Liveness& liveness,
                  Meter& meter);

}  // namespace structag
