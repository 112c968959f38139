#include "matching/expectations.h"

#include <algorithm>

namespace structag {

std::vector<Expectation> ExpectationFinder::Find(StateId state) {
  std::vector<Expectation> expectations;
  for (std::size_t i = 0; i < states_.TermCount(state); ++i) {
    const Term term = states_.TermAt(state, i);
    const Expr& head = exprs_[term.head];
    Expectation& made = expectations.emplace_back();
    if (head.kind == Kind::kTokens) {
      made.ids = vocabulary_.Resolve(exprs_.token_sets_[head.a]);
    } else {
      made.bytes = BytesOf(term);
    }
    if (head.kind == Kind::kLiteral) made.rest = exprs_.LiteralText(term.head);
    for (TrailId trail : TrailsOf(term.next)) made.trails.push_back(Spelled(trail));
  }
  return expectations;
}

ByteSet ExpectationFinder::BytesOf(const Term& term) {
  ByteSet bytes;
  const StateId alone = states_.Of({&term, 1});
  first_bytes_.Of(term.head).ForEach([&](std::uint8_t byte) {
    if (states_.Step(alone, byte) != StatePool::kDead) bytes.Add(byte);
  });
  return bytes;
}

const ExpectationFinder::Trails& ExpectationFinder::TrailsOf(ContinuationId id) {
  const ContinuationPool& continuations = states_.continuations();
  std::vector<ContinuationId> stack{id};
  while (!stack.empty()) {
    const ContinuationId at = stack.back();
    if (found_index_.Get(Raw(at))) {
      stack.pop_back();
      continue;
    }
    meter_.Charge(1 + continuations.FrameCount(at));
    const std::size_t before = stack.size();
    for (std::size_t i = 0; i < continuations.FrameCount(at); ++i) {
      const ContinuationId next = continuations.FrameAt(at, i).next;
      if (!found_index_.Get(Raw(next))) stack.push_back(next);
    }
    if (stack.size() > before) continue;
    Trails trails;
    const auto add = [&](TrailId trail) {
      const bool is_new = std::ranges::find(trails, trail) == trails.end();
      if (is_new && trails.size() < kMost) trails.push_back(trail);
    };
    if (continuations.MayEnd(at)) add(kOutside);
    for (std::size_t i = 0; i < continuations.FrameCount(at); ++i) {
      const Frame frame = continuations.FrameAt(at, i);
      const Expr& tail = exprs_[frame.tail];
      for (TrailId trail : found_[*found_index_.Get(Raw(frame.next))]) {
        add(tail.kind == Kind::kLeave ? Within(tail.a, trail) : trail);
      }
    }
    found_index_.Set(Raw(at), static_cast<std::uint32_t>(found_.size()));
    found_.push_back(std::move(trails));
    stack.pop_back();
  }
  return found_[*found_index_.Get(Raw(id))];
}

ExpectationFinder::TrailId ExpectationFinder::Within(std::uint32_t label, TrailId around) {
  const std::uint64_t key = std::uint64_t{label} << 32 | around;
  if (const std::uint32_t* known = trail_index_.Get(key)) return *known;
  const auto id = static_cast<TrailId>(trails_.size());
  trails_.push_back({label, around});
  trail_index_.Set(key, id);
  return id;
}

std::vector<std::uint32_t> ExpectationFinder::Spelled(TrailId trail) const {
  std::vector<std::uint32_t> labels;
  for (; trail != kOutside; trail = trails_[trail].around) labels.push_back(trails_[trail].label);
  std::ranges::reverse(labels);
  return labels;
}

}  // namespace structag
