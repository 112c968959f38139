#include "summaries.h"

#include <algorithm>
#include <array>

namespace structag {
namespace {

constexpr std::uint32_t kNarrowNodes = 4000;   // walking fewer nodes than this needs no summary
constexpr std::size_t kFewExits = 4096;
constexpr std::size_t kLongestForm = 4096;

}  // namespace

std::shared_ptr<const Summary> SummaryCache::Get(const std::string& form) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = index_.find(form);
  if (found == index_.end()) return nullptr;
  entries_.splice(entries_.begin(), entries_, found->second);
  return found->second->second;
}

void SummaryCache::Put(const std::string& form, std::shared_ptr<const Summary> summary) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (index_.contains(form)) return;
  bytes_ += form.size() + summary->Bytes();
  entries_.emplace_front(form, std::move(summary));
  index_.emplace(entries_.front().first, entries_.begin());
  while (bytes_ > most_bytes_ && entries_.size() > 1) {
    const Entry& oldest = entries_.back();
    bytes_ -= oldest.first.size() + oldest.second->Bytes();
    index_.erase(oldest.first);
    entries_.pop_back();
  }
}

std::size_t SummaryCache::Bytes() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return bytes_;
}

// The unit's residuals as a small dense automaton, found while it is walked.
class Summarizer::Automaton {
 public:
  static constexpr std::uint32_t kDead = 0;

  Automaton(Summarizer& owner, ExprId unit) : owner_(owner) {
    Add(ExprPool::kEmpty);
    start_ = Add(unit);
  }
  std::uint32_t start() const noexcept { return start_; }
  // The case that follows if this state has left a kScan, otherwise kEmpty.
  ExprId Landing(std::uint32_t state) const noexcept {
    const ExprId id = rows_[state].id;
    const bool has_left = owner_.pool_[rows_[start_].id].kind == Kind::kScan &&
                          owner_.pool_[id].kind != Kind::kScan;
    return has_left ? id : ExprPool::kEmpty;
  }
  bool IsNullable(std::uint32_t state) const noexcept { return rows_[state].nullable; }
  std::uint32_t Step(std::uint32_t state, std::uint8_t byte) {
    const std::uint32_t known = rows_[state].next[byte];
    return known != kUnknown ? known : Find(state, byte);
  }

 private:
  static constexpr std::uint32_t kUnknown = 0xFFFFFFFFu;
  struct Row {
    ExprId id;
    bool nullable;
    std::array<std::uint32_t, 256> next;
  };
  std::uint32_t Add(ExprId id) {
    const auto [place, is_new] = index_.try_emplace(Raw(id), static_cast<std::uint32_t>(rows_.size()));
    if (is_new) {
      rows_.push_back({id, owner_.pool_[id].nullable, {}});
      rows_.back().next.fill(id == ExprPool::kEmpty ? kDead : kUnknown);
    }
    return place->second;
  }
  std::uint32_t Find(std::uint32_t state, std::uint8_t byte) {
    owner_.meter_.Charge(1);
    const std::uint32_t next = Add(owner_.liveness_.LiveDerivative(rows_[state].id, byte));
    rows_[state].next[byte] = next;
    return next;
  }
  Summarizer& owner_;
  std::vector<Row> rows_;
  std::unordered_map<std::uint32_t, std::uint32_t> index_;
  std::uint32_t start_ = 0;
};

const Summary* Summarizer::Find(ExprId unit) {
  if (const auto found = found_.find(Raw(unit)); found != found_.end()) return found->second.get();
  const std::string form = CanonicalForm(unit);
  std::shared_ptr<const Summary> summary;
  if (!form.empty()) summary = vocabulary_.summaries().Get(form);
  if (summary) {
    ++reused_;
  } else {
    Automaton automaton(*this, unit);
    if (!IsNarrow(automaton)) {
      summary = Build(automaton);
      ++built_;
      if (!form.empty()) vocabulary_.summaries().Put(form, summary);
    }
  }
  if (summary) bytes_ += summary->Bytes();
  return found_.emplace(Raw(unit), std::move(summary)).first->second.get();
}

bool Summarizer::IsNarrow(Automaton& automaton) {
  const std::span<const TrieNode> trie = vocabulary_.trie();
  std::vector<std::uint32_t> path(vocabulary_.max_depth() + 1);
  path[0] = automaton.start();
  std::uint32_t entered = 0;
  for (std::uint32_t i = 0; i < trie.size();) {
    const TrieNode& node = trie[i];
    const std::uint32_t state = automaton.Step(path[node.depth - 1], node.byte);
    if (state == Automaton::kDead) {
      i = node.subtree_end;
      continue;
    }
    if (++entered > kNarrowNodes) return false;
    if (automaton.Landing(state) != ExprPool::kEmpty) {
      i = node.subtree_end;
      continue;
    }
    path[node.depth] = state;
    ++i;
  }
  return true;
}

std::shared_ptr<const Summary> Summarizer::Build(Automaton& automaton) {
  const std::span<const TrieNode> trie = vocabulary_.trie();
  auto summary = std::make_shared<Summary>();
  summary->inside.resize(vocabulary_.MaskWords());
  std::vector<std::uint32_t> path(vocabulary_.max_depth() + 1);
  path[0] = automaton.start();
  meter_.Charge(trie.size());
  for (std::uint32_t i = 0; i < trie.size();) {
    const TrieNode& node = trie[i];
    const std::uint32_t state = automaton.Step(path[node.depth - 1], node.byte);
    if (state == Automaton::kDead) {
      i = node.subtree_end;
      continue;
    }
    if (const ExprId landing = automaton.Landing(state); landing != ExprPool::kEmpty) {
      summary->landings.emplace_back(i, landing);
      i = node.subtree_end;
      continue;
    }
    for (TokenId id : vocabulary_.NodeTokens(node)) {
      summary->inside[static_cast<std::size_t>(id) / 32] |= 1u << (id % 32);
    }
    if (automaton.IsNullable(state)) {
      for (std::uint32_t child = i + 1; child < node.subtree_end; child = trie[child].subtree_end) {
        summary->exits.push_back(child);
      }
    }
    path[node.depth] = state;
    ++i;
  }
  if (summary->exits.size() > kFewExits) {
    std::vector<std::uint32_t> bits((trie.size() + 31) / 32);
    for (std::uint32_t node : summary->exits) bits[node / 32] |= 1u << (node % 32);
    summary->few = false;
    summary->exits.swap(bits);
  }
  summary->exits.shrink_to_fit();
  return summary;
}

std::string Summarizer::CanonicalForm(ExprId start) const {
  // Prefix notation, members of sets ordered by their own forms.  Iterative: a form is made when
  // those of its parts are.
  std::unordered_map<std::uint32_t, std::string> forms;
  std::vector<std::uint32_t> stack{Raw(start)};
  std::vector<std::uint32_t> parts;
  if (pool_[start].kind == Kind::kScan) return {};  // its cases are this grammar's own
  const auto word = [](std::uint32_t w) { return std::to_string(w) + ','; };
  while (!stack.empty()) {
    const std::uint32_t id = stack.back();
    const Expr& e = pool_[ExprId{id}];
    parts.clear();
    if (e.kind == Kind::kAlt || e.kind == Kind::kAnd) {
      const auto members = pool_.Members(ExprId{id});
      if (members.size() > kLongestForm) return {};
      parts.assign(members.begin(), members.end());
    } else if (e.kind == Kind::kSeq) {
      parts = {e.a, e.b};
    } else if (e.kind == Kind::kRepeat || e.kind == Kind::kNot || e.kind == Kind::kEncoded ||
               e.kind == Kind::kErase || e.kind == Kind::kTransparent) {
      parts = {e.a};
    }
    bool ready = true;
    for (std::uint32_t part : parts) {
      if (!forms.contains(part)) {
        stack.push_back(part);
        ready = false;
      }
    }
    if (!ready) {
      if (stack.size() > kLongestForm) return {};
      continue;
    }
    stack.pop_back();
    std::string form = word(static_cast<std::uint32_t>(e.kind));
    switch (e.kind) {
      case Kind::kBytes:
        for (std::uint64_t w : pool_.Bytes(ExprId{id}).words) form += std::to_string(w) + ',';
        break;
      case Kind::kLiteral:
        form += word(e.b);
        form += pool_.LiteralText(ExprId{id});
        break;
      case Kind::kNoOccurrence: form += pool_.search_forms_[e.a] + word(e.b) + word(e.c); break;
      case Kind::kAssertion: form += word(e.a); break;
      case Kind::kAlt:
      case Kind::kAnd: {
        std::vector<std::string> members;
        for (std::uint32_t part : parts) members.push_back(forms[part]);
        std::sort(members.begin(), members.end());
        form += word(static_cast<std::uint32_t>(members.size()));
        for (const std::string& member : members) form += member;
        break;
      }
      default:
        form += word(e.b) + word(e.c);
        for (std::uint32_t part : parts) form += forms[part];
        break;
    }
    if (form.size() > kLongestForm) return {};
    forms[id] = std::move(form);
  }
  return forms[Raw(start)];
}

}  // namespace structag
