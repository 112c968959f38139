#include "grammar/module.h"

#include <algorithm>
#include <unordered_map>

#include "grammar/analysis.h"
#include "text/codec.h"
#include "text/utf8.h"

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

constexpr std::size_t kMostPlain = 800;  // expressions; as deep may be what the core recurses on

// Whether it shows without reading the grammar that it derives something, and never the empty
// string, if it is simple: there is nothing in it that could be empty but by its rules.
bool IsPlain(const Grammar& grammar, const std::vector<std::uint8_t>& reachable) {
  const GrammarTable& table = *grammar.table;
  NodeRef start = grammar.root;  // behind rules, which cannot lead in a circle
  while (table.kind(start) == NodeKind::kRule) start = table.rule_body(table.words(start)[0]);
  if (table.facts(start).nullable != Nullable::kNo) return false;
  // Whether each derives something, and whether it derives finitely many strings; if that is sure.
  std::vector<std::uint8_t> productive(grammar.node_count), finite(grammar.node_count);
  std::size_t count = 0;
  for (NodeRef ref = 0; ref < grammar.node_count; ++ref) {
    if (!reachable[ref]) continue;
    ++count;
    const NodeKind kind = table.kind(ref);
    const auto words = table.words(ref);
    bool all_productive = true, all_finite = true;
    ForEachChild(kind, words, [&](NodeRef child) {
      all_productive = all_productive && productive[child];
      all_finite = all_finite && finite[child];
    });
    switch (kind) {
      case NodeKind::kEmpty: finite[ref] = 1; break;
      case NodeKind::kBytes:
      case NodeKind::kChars:
        finite[ref] = 1;
        productive[ref] = std::ranges::any_of(words, [](std::uint32_t word) { return word != 0; });
        break;
      case NodeKind::kEpsilon:
      case NodeKind::kLiteral:
      case NodeKind::kSeq:
      case NodeKind::kAlt:
      case NodeKind::kMark:
        productive[ref] = all_productive;
        finite[ref] = all_finite;
        break;
      case NodeKind::kRepeat:
        productive[ref] = all_productive;
        finite[ref] = all_finite && words[2] != kNone;
        break;
      case NodeKind::kRule:
      case NodeKind::kImport: productive[ref] = 1; break;
      case NodeKind::kNot: productive[ref] = all_finite; break;
      case NodeKind::kEncoded:  // JSON can spell any text
        productive[ref] = all_productive && words[0] == static_cast<std::uint32_t>(Codec::kJson);
        break;
      default: break;
    }
  }
  for (NodeRef ref = 0; ref < grammar.node_count; ++ref) {
    if (!reachable[ref] || table.kind(ref) != NodeKind::kRule) continue;
    if (!productive[table.rule_body(table.words(ref)[0])]) return false;
  }
  return productive[grammar.root] && count <= kMostPlain;
}

// The same as `NeededBytes` says of a plain grammar once it is read.
ByteSet NeededBytesOf(const PackedGrammar& packed) {
  ByteSet needed;
  const std::uint32_t* word = packed.words.data() + 4;
  for (std::uint32_t i = 0; i < packed.words[1]; ++i) {
    const auto kind = static_cast<NodeKind>(word[0]);
    if (kind == NodeKind::kBytes) {
      for (unsigned j = 0; j < 8; ++j)
        needed.words[j / 2] |= std::uint64_t{word[2 + j]} << (32 * (j % 2));
    } else if (kind == NodeKind::kNot || kind == NodeKind::kEncoded) {
      needed.Unite(Utf8Bytes());
    }
    word += 2 + word[1];
  }
  for (char c : packed.pool) needed.Add(static_cast<std::uint8_t>(c));
  for (const std::shared_ptr<const Module>& module : packed.imports) {
    needed.Unite(module->needed_bytes);
  }
  return needed;
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
  const std::vector<std::uint8_t> reachable = ReachableNodes(grammar);
  if (HasMarkers(grammar, reachable) || !IsSimple(grammar)) return nullptr;
  auto module = std::make_shared<Module>();
  module->grammar = grammar;
  module->packed = PackGrammar(grammar, false);
  if (IsPlain(grammar, reachable)) {
    module->needed_bytes = NeededBytesOf(module->packed);
    return module;
  }
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
