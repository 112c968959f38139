// A stack that copies cheaply.  What lies deep is immutable and
// shared by copies; only the last entries are a copy's own.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

namespace structag {

template <class Entry>
class History {
 public:
  explicit History(Entry start) : last_{start} {}

  const Entry& back() const noexcept { return last_.back(); }
  std::size_t size() const noexcept { return shared_size() + last_.size(); }

  void push_back(Entry entry) {
    if (last_.size() == 2 * kBlock) Share();
    last_.push_back(entry);
  }
  // Keeps the first `size` entries, at least one.
  void Cut(std::size_t size) {
    if (size > shared_size()) return last_.resize(size - shared_size(), last_.front());
    while (shared_->before_size >= size) shared_ = std::shared_ptr(shared_->before);
    const auto first = shared_->entries.begin();
    last_.assign(first, first + static_cast<std::ptrdiff_t>(size - shared_->before_size));
    shared_ = std::shared_ptr(shared_->before);
  }
  // Calls visit(entry) for the first `size` entries, the first one first.
  template <class Visit>
  void ForEach(std::size_t size, Visit visit) const {
    std::vector<const std::vector<Entry>*> parts{&last_};
    for (const Block* block = shared_.get(); block; block = block->before.get()) {
      parts.push_back(&block->entries);
    }
    for (; !parts.empty(); parts.pop_back()) {
      for (const Entry& entry : *parts.back()) {
        if (size-- == 0) return;
        visit(entry);
      }
    }
  }

 private:
  static constexpr std::size_t kBlock = 512;
  struct Block {
    std::shared_ptr<const Block> before;
    std::size_t before_size;
    std::vector<Entry> entries;  // kBlock of them
  };

  std::size_t shared_size() const noexcept { return shared_ ? shared_->before_size + kBlock : 0; }
  void Share() {
    const auto middle = last_.begin() + kBlock;
    shared_ = std::make_shared<const Block>(
        Block{shared_, shared_size(), std::vector<Entry>(last_.begin(), middle)});
    last_.erase(last_.begin(), middle);
  }

  std::shared_ptr<const Block> shared_;
  std::vector<Entry> last_;  // never empty
};

}  // namespace structag
