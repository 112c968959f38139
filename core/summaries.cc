#include "summaries.h"

#include <algorithm>
#include <array>
#include <bit>

namespace structag {
namespace {

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
    const bool has_left =
        owner_.pool_[rows_[start_].id].kind == Kind::kScan && owner_.pool_[id].kind != Kind::kScan;
    return has_left ? id : ExprPool::kEmpty;
  }
  bool IsNullable(std::uint32_t state) const noexcept { return rows_[state].nullable; }
  ExprId Expression(std::uint32_t state) const noexcept { return rows_[state].id; }
  Uncounted Lifted(std::uint32_t state) {
    if (!rows_[state].is_lifted) {
      rows_[state].lifted = owner_.LiftMaxima(rows_[state].id);
      rows_[state].is_lifted = true;
    }
    return rows_[state].lifted;
  }
  std::uint32_t Step(std::uint32_t state, std::uint8_t byte) {
    const std::uint32_t known = rows_[state].next[byte];
    return known != kUnknown ? known : Find(state, byte);
  }

 private:
  static constexpr std::uint32_t kUnknown = 0xFFFFFFFFu;
  struct Row {
    ExprId id;
    bool nullable;
    bool is_lifted;
    Uncounted lifted;
    std::array<std::uint32_t, 256> next;
  };
  std::uint32_t Add(ExprId id) {
    const auto [place, is_new] =
        index_.try_emplace(Raw(id), static_cast<std::uint32_t>(rows_.size()));
    if (is_new) {
      rows_.push_back({id, owner_.pool_[id].nullable, false, {}, {}});
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
    const ExprId general = Generalize(unit);
    const Summary* known = general == unit ? nullptr : Find(general);
    if (known) {
      Automaton base(*this, general);
      summary = BuildFrom(*known, base, automaton);
    } else if (!IsNarrow(automaton)) {
      summary = Build(automaton);
    }
    if (summary) {
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
    if (++entered > acceleration_.narrow_nodes) return false;
    if (automaton.Landing(state) != ExprPool::kEmpty) {
      i = node.subtree_end;
      continue;
    }
    path[node.depth] = state;
    ++i;
  }
  return true;
}

namespace {

void SetBit(std::vector<std::uint32_t>& bits, std::size_t i, bool value) {
  const std::uint32_t bit = 1u << (i % 32);
  bits[i / 32] = value ? bits[i / 32] | bit : bits[i / 32] & ~bit;
}

// Lists the exits if they are few enough to be walked one by one.
void ListExits(Summary& summary, std::size_t few) {
  std::size_t count = 0;
  for (std::uint32_t word : summary.exits) count += static_cast<std::size_t>(std::popcount(word));
  summary.few = count <= few;
  summary.exit_list.clear();
  if (!summary.few) return;
  for (std::size_t w = 0; w < summary.exits.size(); ++w) {
    for (std::uint32_t bits = summary.exits[w]; bits != 0; bits &= bits - 1) {
      summary.exit_list.push_back(
          static_cast<std::uint32_t>(w * 32 + static_cast<std::size_t>(std::countr_zero(bits))));
    }
  }
}

}  // namespace

std::shared_ptr<const Summary> Summarizer::Build(Automaton& automaton) {
  const std::span<const TrieNode> trie = vocabulary_.trie();
  auto summary = std::make_shared<Summary>();
  summary->inside.resize(vocabulary_.MaskWords());
  summary->exits.resize((trie.size() + 31) / 32);
  std::vector<std::uint32_t> path(vocabulary_.max_depth() + 1);
  std::vector<std::uint8_t> may_leave(vocabulary_.max_depth() + 1);
  path[0] = automaton.start();
  meter_.Charge(trie.size());
  for (std::uint32_t i = 0; i < trie.size();) {
    const TrieNode& node = trie[i];
    if (may_leave[node.depth - 1]) SetBit(summary->exits, i, true);
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
      SetBit(summary->inside, static_cast<std::size_t>(id), true);
    }
    may_leave[node.depth] = automaton.IsNullable(state);
    path[node.depth] = state;
    ++i;
  }
  ListExits(*summary, acceleration_.few_exits);
  return summary;
}

std::shared_ptr<const Summary> Summarizer::BuildFrom(const Summary& known, Automaton& base,
                                                     Automaton& automaton) {
  constexpr std::uint32_t kTall = 255;  // heights stop counting here
  const std::span<const TrieNode> trie = vocabulary_.trie();
  auto summary = std::make_shared<Summary>(known);
  struct Step {
    std::uint32_t state, base;
    bool may_leave;
  };
  std::vector<Step> path(vocabulary_.max_depth() + 1);
  path[0] = {automaton.start(), base.start(), false};
  for (std::uint32_t i = 0; i < trie.size();) {
    const TrieNode& node = trie[i];
    const Step& from = path[node.depth - 1];
    meter_.Charge(1);
    SetBit(summary->exits, i, from.may_leave);
    const std::uint32_t state = automaton.Step(from.state, node.byte);
    const std::uint32_t base_state = base.Step(from.base, node.byte);
    const Uncounted lifted = automaton.Lifted(state);
    const std::uint32_t height = node.height == kTall ? kUnbounded : node.height;
    if (lifted.id == base.Expression(base_state) && lifted.slack >= height) {
      i = node.subtree_end;  // from here on the two behave alike
      continue;
    }
    for (TokenId id : vocabulary_.NodeTokens(node)) {
      SetBit(summary->inside, static_cast<std::size_t>(id), state != Automaton::kDead);
    }
    path[node.depth] = {state, base_state, automaton.IsNullable(state)};
    ++i;
  }
  ListExits(*summary, acceleration_.few_exits);
  return summary;
}

ExprId Summarizer::Generalize(ExprId id) {
  const Expr e = pool_[id];
  switch (e.kind) {
    case Kind::kNot: return pool_.MakeNot(ExprPool::kEmpty, e.b);
    case Kind::kRepeat: return pool_.MakeRepeat(ExprId{e.a}, 0, kUnbounded);
    case Kind::kEncoded:
      if (e.b != kCodecRest) return id;
      return pool_.MakeEncoded(Generalize(ExprId{e.a}), e.b, Codec{e.c});
    case Kind::kAnd: {
      std::vector<std::uint32_t> parts;
      for (std::uint32_t part : pool_.Members(id)) parts.push_back(Raw(Generalize(ExprId{part})));
      return pool_.MakeAnd(std::move(parts));
    }
    default: return id;
  }
}

Summarizer::Uncounted Summarizer::LiftMaxima(ExprId id, unsigned depth) {
  constexpr unsigned kDeep = 200;
  const Expr e = pool_[id];
  Uncounted result{id, kUnbounded};
  const auto part = [&](std::uint32_t child) {
    const Uncounted lifted = LiftMaxima(ExprId{child}, depth + 1);
    result.slack = std::min(result.slack, lifted.slack);
    return Raw(lifted.id);
  };
  if (depth > kDeep) return {id, 0};
  if (const auto found = lifted_.find(Raw(id)); found != lifted_.end()) return found->second;
  switch (e.kind) {
    case Kind::kRepeat: {
      const std::uint32_t child = part(e.a);
      result.slack = std::min(result.slack, e.c);
      result.id = pool_.MakeRepeat(ExprId{child}, e.b, kUnbounded);
      break;
    }
    case Kind::kSeq: {
      const std::uint32_t first = part(e.a);
      result.id = pool_.MakeSeq(ExprId{first}, ExprId{part(e.b)});
      break;
    }
    case Kind::kAlt: {
      std::vector<std::uint32_t> members;
      for (std::uint32_t member : pool_.Members(id)) members.push_back(part(member));
      result.id = pool_.MakeAlt(std::move(members));
      break;
    }
    case Kind::kEncoded: result.id = pool_.MakeEncoded(ExprId{part(e.a)}, e.b, Codec{e.c}); break;
    default: break;  // under And and Not a count decides what is dead
  }
  lifted_.emplace(Raw(id), result);
  return result;
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
