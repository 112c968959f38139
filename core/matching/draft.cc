#include "matching/draft.h"

#include <algorithm>
#include <limits>

namespace structag {
namespace {

// What a matcher accepted for the sake of a look ahead; all is undone in the end.  One that may go
// so far that undoing it would be work, and could fail, is made by a copy.
class Excursion {
 public:
  Excursion(Matcher& matcher, std::size_t longest) {
    if (longest >= Record::kKept) copy_ = matcher;
    matcher_ = copy_ ? &*copy_ : &matcher;
  }
  ~Excursion() {
    if (!copy_) BackTo(0);
  }
  Excursion(const Excursion&) = delete;
  Excursion& operator=(const Excursion&) = delete;

  bool Accept(std::int64_t token) {
    if (token < 0 || token > std::numeric_limits<TokenId>::max()) return false;
    if (!matcher_->AcceptToken(static_cast<TokenId>(token))) return false;
    ++depth_;
    return true;
  }
  Matcher& matcher() noexcept { return *matcher_; }
  void BackTo(std::size_t depth) {
    if (depth_ > depth) matcher_->Rollback(depth_ - depth);
    depth_ = depth;
  }

 private:
  std::optional<Matcher> copy_;
  Matcher* matcher_;
  std::size_t depth_ = 0;
};

void AllowEverything(std::span<std::uint32_t> row) { std::ranges::fill(row, 0xFFFFFFFFu); }

}  // namespace

std::size_t FillDraftChain(Matcher& matcher, std::span<const std::int64_t> tokens,
                           BitmaskRows rows) {
  Excursion excursion(matcher, tokens.size());
  excursion.matcher().FillMask(rows[0]);
  std::size_t accepted = 0;
  while (accepted < tokens.size() && excursion.Accept(tokens[accepted])) {
    excursion.matcher().FillMask(rows[++accepted]);
  }
  for (std::size_t i = accepted + 1; i <= tokens.size(); ++i) AllowEverything(rows[i]);
  return accepted;
}

bool FillDraftTree(Matcher& matcher, const DraftTree& tree, BitmaskRows rows,
                   std::optional<std::chrono::steady_clock::time_point> deadline) {
  const std::size_t size = tree.tokens.size();
  if (size == 0) return true;
  struct Visit {
    std::size_t node, depth;  // how many tokens lie between the root and the node
  };
  std::vector<Visit> pending{{0, 0}};
  std::vector<bool> met(size), filled(size);
  met[0] = true;
  const auto add = [&](std::int64_t node, std::size_t depth) {
    if (node == -1) return;
    if (node < 0 || static_cast<std::size_t>(node) >= size) throw BadTree("a node out of range");
    const auto index = static_cast<std::size_t>(node);
    if (met[index]) throw BadTree("a node with two places");
    met[index] = true;
    pending.push_back({index, depth});
  };
  bool is_complete = true;
  Excursion excursion(matcher, size);
  while (!pending.empty()) {
    const auto [node, depth] = pending.back();
    pending.pop_back();
    if (deadline && std::chrono::steady_clock::now() >= *deadline) {
      is_complete = false;
      break;
    }
    const bool is_root = node == 0;
    if (!is_root) {
      add(tree.next_sibling[node], depth);
      excursion.BackTo(depth);
      if (!excursion.Accept(tree.tokens[node])) continue;
    }
    excursion.matcher().FillMask(rows[node]);
    filled[node] = true;
    add(tree.first_child[node], is_root ? depth : depth + 1);
  }
  for (std::size_t node = 0; node < size; ++node) {
    if (filled[node]) continue;
    if (is_complete) {
      AllowEverything(rows[node]);
    } else {
      matcher.FillStops(rows[node]);
    }
  }
  return is_complete;
}

}  // namespace structag
