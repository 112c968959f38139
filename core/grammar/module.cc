#include "grammar/module.h"

#include <algorithm>
#include <unordered_map>

#include "grammar/analysis.h"

namespace structag {
namespace {

bool HasMarkers(const Grammar& grammar, const std::vector<std::uint8_t>& reachable) {
  const GrammarTable& table = *grammar.table;
  for (NodeRef ref = 0; ref < grammar.node_count; ++ref) {
    if (!reachable[ref]) continue;
    const NodeKind kind = table.kind(ref);
    if (kind == NodeKind::kScan) return true;
    if (kind == NodeKind::kLiteral && table.words(ref)[1] != 0) return true;
  }
  return false;
}

using Sizes = std::unordered_map<const Module*, std::size_t>;

// Expressions of a grammar, with those of every module that it refers to.
std::size_t SizeApart(const Grammar& grammar, Sizes& known) {
  const std::vector<std::uint8_t> reachable = ReachableNodes(grammar);
  std::size_t size = 0;
  for (NodeRef ref = 0; ref < grammar.node_count; ++ref) {
    if (!reachable[ref]) continue;
    if (grammar.table->kind(ref) != NodeKind::kImport) {
      ++size;
      continue;
    }
    const Module* const module = grammar.table->module(grammar.table->words(ref)[0]).get();
    auto place = known.find(module);
    if (place == known.end()) {
      const std::size_t part = SizeApart(module->grammar, known);
      place = known.emplace(module, part).first;
    }
    size += place->second;
  }
  return size;
}

}  // namespace

Structure MeasureStructure(const std::shared_ptr<const Grammar>& grammar) {
  Sizes known;
  const std::vector<std::uint8_t> reachable = ReachableNodes(*Inlined(grammar));
  const auto distinct = std::ranges::count_if(reachable, [](std::uint8_t is) { return is != 0; });
  return {SizeApart(*grammar, known), static_cast<std::size_t>(distinct)};
}

std::size_t Module::MemoryBytes() const noexcept {
  return sizeof(Module) + packed.words.capacity() * sizeof(packed.words[0]) +
         packed.pool.capacity() + packed.imports.capacity() * sizeof(packed.imports[0]);
}

std::shared_ptr<const Module> MakeModule(const Grammar& grammar, const Limits& limits) {
  if (HasMarkers(grammar, ReachableNodes(grammar)) || !IsSimple(grammar)) return nullptr;
  auto module = std::make_shared<Module>();
  module->grammar = grammar;
  module->packed = PackGrammar(grammar, false);
  Meter meter(limits);
  ExprPool pool(meter);
  Deriver deriver(pool, meter);
  Liveness liveness(pool, deriver, meter);
  try {
    const ExprId root = ReadProgram(module->program(), pool, deriver, liveness, meter);
    module->needed_bytes = NeededBytes(pool);
    AnalyzeGrammar(pool, root, deriver, liveness, meter);
    if (pool[root].nullable || !pool[root].productive) return nullptr;
  } catch (const LimitReached&) {
    return nullptr;
  }
  return module;
}

ByteSet NeededBytes(const ExprPool& pool) {
  ByteSet needed;
  for (std::uint32_t i = 0; i < pool.size(); ++i) {
    const ExprId id{i};
    switch (pool[id].kind) {
      case Kind::kBytes: needed.Unite(pool.Bytes(id)); break;
      case Kind::kNot:
      case Kind::kEncoded:
      case Kind::kNoOccurrence:
      case Kind::kScan: needed.Unite(Utf8Bytes()); break;
      default: break;
    }
  }
  for (char c : pool.literal_text_) needed.Add(static_cast<std::uint8_t>(c));
  for (const ExprPool::Import& import : pool.imports_) needed.Unite(import.module->needed_bytes);
  return needed;
}

ExprId ReadImport(std::uint32_t import, ExprPool& pool, Deriver& deriver, Liveness& liveness,
                  Meter& meter) {
  if (!pool.imports_[import].is_read) {
    const Meter::Unlimited unlimited(meter);
    const std::size_t first = pool.size();
    const std::size_t before = pool.MemoryBytes();
    const ExprPool::TableSizes tables = pool.table_sizes();
    const ExprId body = ReadModule(import, pool, deriver, liveness, meter);
    AnalyzeGrammar(pool, body, deriver, liveness, meter, first);
    ExprPool::Import& read = pool.imports_[import];
    read.body = body;
    read.is_read = true;
    read.first = tables;
    read.end = pool.table_sizes();
    pool.import_bytes_ += pool.MemoryBytes() - before;
  }
  return pool.imports_[import].body;
}

}  // namespace structag
