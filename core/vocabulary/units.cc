#include "vocabulary/units.h"

#include <algorithm>

namespace structag {

void Units::Begin() {
  std::shared_ptr<UnitLibrary> library = LibraryToUse();
  if (library == library_) return;
  library_ = std::move(library);
  import_.Forget();
  found_.clear();
}

std::shared_ptr<UnitLibrary> Units::LibraryToUse() const {
  if (acceleration_.short_cuts.HasAll()) return vocabulary_.Units();
  if (library_) return library_;
  const auto own = std::make_shared<UnitLibrary>(vocabulary_, acceleration_.short_cuts);
  own->Open();
  return own;
}

std::shared_ptr<const Summary> Units::Find(ExprId unit, const Trie& trie, std::uint32_t node) {
  const Place place{&trie, node, unit};
  if (const auto found = found_.find(place); found != found_.end()) return found->second;
  std::shared_ptr<const Summary> summary;
  const bool is_shared = IsShared(unit);
  if (is_shared) {
    const UnitLibrary::Found found = library_->Find(import_, unit, trie, node, acceleration_.units);
    summary = found.summary;
    built_ += summary && found.is_new ? 1 : 0;
    reused_ += summary && !found.is_new ? 1 : 0;
  }
  meter_.Charge(summary ? 1 + summary->work : is_shared ? UnitLibrary::kTooHard : 1);
  found_.emplace(place, summary);
  return summary;
}

bool Units::IsShared(ExprId unit) {
  // The library takes every trigger for one that leads on.
  const Expr& e = pool_[unit];
  return e.kind != Kind::kScan || std::ranges::all_of(pool_.scans_[e.a].cases, [&](ExprId id) {
           return pool_[id].productive;
         });
}

std::size_t Units::MemoryBytes() const noexcept {
  constexpr std::size_t kEntry = 64;  // a node of the map
  return found_.size() * kEntry;
}

}  // namespace structag
