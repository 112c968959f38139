#include "text/json_places.h"

#include <algorithm>
#include <cstring>

namespace structag {
namespace {

class Cursor {
 public:
  explicit Cursor(std::string_view text) : text_(text) {}

  std::size_t at() const noexcept { return at_; }
  bool is_at(char c) const noexcept { return at_ < text_.size() && text_[at_] == c; }
  void Advance() noexcept { ++at_; }

  // To the next quote or bracket; false: there is none.
  bool Find() noexcept {
    while (at_ < text_.size()) {
      switch (text_[at_]) {
        case '"':
        case '[':
        case ']':
        case '{':
        case '}': return true;
        default: ++at_;
      }
    }
    return false;
  }

  // From a quote to behind the one that closes it; what is between them.
  std::string_view SkipString() noexcept {
    const std::size_t start = ++at_;
    while (at_ < text_.size()) {
      const void* const quote = std::memchr(text_.data() + at_, '"', text_.size() - at_);
      if (quote == nullptr) break;
      const auto end = static_cast<std::size_t>(static_cast<const char*>(quote) - text_.data());
      std::size_t slashes = 0;
      while (end - slashes > start && text_[end - slashes - 1] == '\\') ++slashes;
      at_ = end + 1;
      if (slashes % 2 == 0) return text_.substr(start, end - start);
    }
    at_ = text_.size();
    return text_.substr(start);
  }

  void SkipBlanks() noexcept {
    while (is_at(' ') || is_at('\n') || is_at('\r') || is_at('\t')) ++at_;
  }

  // From an opening bracket to behind the one that closes it; false: nothing closes it.
  bool SkipBrackets() noexcept {
    std::size_t level = 0;
    while (Find()) {
      const char c = text_[at_];
      if (c == '"') {
        SkipString();
        continue;
      }
      ++at_;
      if (c == '[' || c == '{') {
        ++level;
      } else if (--level == 0) {
        return true;
      }
    }
    return false;
  }

 private:
  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

std::size_t JsonDepth(std::string_view text) noexcept {
  Cursor cursor(text);
  std::ptrdiff_t level = 0, deepest = 0;
  while (cursor.Find()) {
    if (cursor.is_at('"')) {
      cursor.SkipString();
      continue;
    }
    level += cursor.is_at('[') || cursor.is_at('{') ? 1 : -1;
    deepest = std::max(deepest, level);
    cursor.Advance();
  }
  return static_cast<std::size_t>(deepest);
}

std::vector<std::string_view> ItemsOfMembers(std::string_view text, std::string_view name) {
  std::vector<std::string_view> items;
  Cursor cursor(text);
  while (cursor.Find()) {
    if (!cursor.is_at('"')) {
      cursor.Advance();
      continue;
    }
    if (cursor.SkipString() != name) continue;
    cursor.SkipBlanks();
    if (!cursor.is_at(':')) continue;
    cursor.Advance();
    cursor.SkipBlanks();
    if (!cursor.is_at('[')) continue;
    do {
      cursor.Advance();
      cursor.SkipBlanks();
      const std::size_t start = cursor.at();
      if (!cursor.is_at('{') || !cursor.SkipBrackets()) break;
      items.push_back(text.substr(start, cursor.at() - start));
      cursor.SkipBlanks();
    } while (cursor.is_at(','));
  }
  return items;
}

}  // namespace structag
