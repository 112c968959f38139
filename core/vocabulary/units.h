// The summaries of one grammar's units, from the vocabulary's library.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "expressions/expressions.h"
#include "expressions/short_cuts.h"
#include "metering/meter.h"
#include "storage/hash.h"
#include "vocabulary/unit_import.h"
#include "vocabulary/unit_library.h"
#include "vocabulary/vocabulary.h"

namespace structag {

// When to take short cuts; changed by tests only, to drive small vocabularies through them.
struct Acceleration {
  ShortCuts short_cuts{};
  std::uint32_t many_below = 24;  // below a node with so many more, a unit is summarised
  UnitLibrary::Thresholds units{};
};

class Units {
 public:
  Units(const ExprPool& pool, const Vocabulary& vocabulary, Meter& meter,
        const Acceleration& acceleration)
      : pool_(pool),
        vocabulary_(vocabulary),
        meter_(meter),
        acceleration_(acceleration),
        import_(pool) {}

  // To be called before each mask: goes over to another library when this one is full.
  void Begin();
  // The summary of a unit over what lies below a node, or nullptr if there is none.
  std::shared_ptr<const Summary> Find(ExprId unit, const Trie& trie, std::uint32_t node);
  // nullptr if they are too hard to find.
  const Exits* ExitsOf(const Summary& summary, std::uint8_t byte) {
    meter_.Charge(1);
    merged_ += summary.KnownExits(byte) ? 0 : 1;
    return library_->ExitsOf(summary, byte, acceleration_.units);
  }
  std::size_t found() const noexcept { return found_.size(); }
  // Summaries that were asked for: of those how many were made then, and how many were known.
  std::size_t built() const noexcept { return built_; }
  std::size_t reused() const noexcept { return reused_; }
  // How often it had to be found where tokens go on that leave a unit.
  std::size_t merged() const noexcept { return merged_; }
  std::size_t MemoryBytes() const noexcept;

 private:
  std::shared_ptr<UnitLibrary> LibraryToUse() const;
  bool IsShared(ExprId unit);

  const ExprPool& pool_;
  const Vocabulary& vocabulary_;
  Meter& meter_;
  const Acceleration acceleration_;
  std::shared_ptr<UnitLibrary> library_;
  UnitImport import_;
  std::unordered_map<Place, std::shared_ptr<const Summary>, HashPlace> found_;
  std::size_t built_ = 0, reused_ = 0, merged_ = 0;
};

}  // namespace structag
