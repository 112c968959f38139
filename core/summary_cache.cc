#include "summary_cache.h"

#include <utility>

namespace structag {

Summary::~Summary() {
  for (const auto& place : exits) delete place.load(std::memory_order_relaxed);
}

const SummaryCache::Entry* SummaryCache::Find(const Form& form) {
  const auto found = index_.find(form);
  if (found == index_.end()) return nullptr;
  entries_.splice(entries_.begin(), entries_, found->second);
  return &*found->second;
}

void SummaryCache::Insert(Entry entry) {
  if (index_.contains(entry.form)) return;
  bytes_ += entry.bytes;
  entries_.push_front(std::move(entry));
  index_.emplace(entries_.front().form, entries_.begin());
  while (bytes_ > most_bytes_ && entries_.size() > 1) {
    bytes_ -= entries_.back().bytes;
    index_.erase(entries_.back().form);
    entries_.pop_back();
  }
}

std::shared_ptr<const Summary> SummaryCache::Get(const Form& form) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const Entry* entry = Find(form);
  return entry ? entry->summary : nullptr;
}

void SummaryCache::Put(const Form& form, std::shared_ptr<const Summary> summary) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const std::size_t bytes = summary->Bytes() + sizeof(Entry);
  Insert({form, std::move(summary), nullptr, bytes});
}

std::shared_ptr<const Trie> SummaryCache::Merge(const Trie& whole,
                                                const std::vector<std::uint32_t>& nodes) {
  FormHasher hasher(~std::uint64_t{0});
  for (std::uint32_t node : nodes) hasher.Add(node);
  const Form form = hasher.form();
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (const Entry* entry = Find(form)) return entry->trie;
  }
  auto trie = std::make_shared<const Trie>(whole, nodes);
  const std::lock_guard<std::mutex> lock(mutex_);
  Insert({form, nullptr, trie, trie->Bytes() + sizeof(Entry)});
  return trie;
}

std::size_t SummaryCache::Bytes() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return bytes_;
}

}  // namespace structag
