// A closed grammar that other grammars refer to instead of copying it: packed and judged once, and
// read into an engine when a matcher first comes to it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "expressions/derive.h"
#include "expressions/expressions.h"
#include "expressions/liveness.h"
#include "grammar/grammar.h"
#include "grammar/program.h"
#include "metering/meter.h"
#include "storage/byte_set.h"

namespace structag {

// What is known of a module without reading it: it derives something, and never the empty string.
struct Module {
  Grammar grammar;
  PackedGrammar packed;
  ByteSet needed_bytes;  // see NeededBytes
  Program program() const noexcept { return {packed.words, packed.pool, packed.imports}; }
  std::size_t node_count() const noexcept { return packed.words[1]; }
  std::size_t MemoryBytes() const noexcept;
};

// Null for a grammar that cannot be one: its language is empty or has the empty string, it holds
// markers, which mean something only beside their neighbours, it needs rewriting, or to judge it
// takes more than the limits allow.
std::shared_ptr<const Module> MakeModule(const Grammar& grammar, const Limits& limits);

// How much there is of what a grammar consists of, itself and the modules that it refers to.
struct Structure {
  std::size_t apart;     // expressions, if each of these has its own
  std::size_t distinct;  // of those different ones
};
Structure MeasureStructure(const std::shared_ptr<const Grammar>& grammar);

// Every byte that the expressions of a pool may need, those of its modules included.
ByteSet NeededBytes(const ExprPool& pool);

// The expression of an import of `pool`; read and judged at the first call.  Never runs out of
// work: that it can be done was shown when the module was made.
ExprId ReadImport(std::uint32_t import, ExprPool& pool, Deriver& deriver, Liveness& liveness,
                  Meter& meter);

}  // namespace structag
