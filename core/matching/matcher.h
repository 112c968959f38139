// One output in the making.  Used by one thread at a time; matchers of one grammar are independent.
// A copy is cheap, however long the output.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "matching/engine.h"
#include "matching/generations.h"
#include "matching/record.h"
#include "matching/turn.h"

namespace structag {

class Matcher {
 public:
  Matcher(std::shared_ptr<Generations> grammar, std::vector<TokenId> stop_tokens);

  // Takes the token and returns true, or changes nothing and returns false.
  bool AcceptToken(TokenId id);
  // The same, if nothing has to be found out for it and no lock to be taken; nothing otherwise.
  std::optional<bool> AcceptKnownToken(TokenId id);
  // Takes all of the bytes or none.  One entry of the history, if any byte was given.
  bool AcceptBytes(std::span<const std::uint8_t> bytes);
  // How many of the tokens would be accepted one after the other.
  std::size_t ValidateTokens(std::span<const TokenId> ids);
  // Writes one mask row; words after the vocabulary's are cleared.  Returns whether any bit of the
  // vocabulary is 0.
  bool FillMask(std::span<std::uint32_t> row);
  // Writes a row that allows the stop tokens only, whatever the state.
  void FillStops(std::span<std::uint32_t> row) const noexcept;
  // A name for what FillMask writes: rows of one vocabulary with equal ids are equal.
  std::int64_t MaskId();
  // Undoes the last `count` accepted entries; false, and nothing changes, if there are fewer.
  // Far back, accepts all that comes before once more.
  bool Rollback(std::size_t count);
  void Reset();
  bool IsComplete() const noexcept;
  bool IsTerminated() const noexcept { return record_.last().terminated; }
  std::size_t HistorySize() const noexcept { return record_.size(); }
  // The text that must come next, cut at a character boundary.
  std::string FindJumpForward();
  // The bytes that may come next (when read as text).
  ByteSet AllowedBytes();
  // The same taken apart, with the tokens that are read by their id; nothing after the end.
  std::vector<Expectation> Expectations();

  // For who cannot be sure to be alone.
  Turn& turn() noexcept { return turn_; }

  const std::vector<TokenId>& stop_tokens() const noexcept { return *stop_tokens_; }
  const Vocabulary& vocabulary() const noexcept { return engine_->vocabulary(); }

 private:
  using Entry = Record::Entry;
  bool IsStop(TokenId id) const noexcept;
  // The entry after `id`; state kDead if it is refused.
  Entry After(Engine::Call& call, Entry entry, TokenId id) const;
  bool Push(TokenId id, Entry entry);
  // Goes over to the grammar's newest engine if this one is full; `also` is a state to take along.
  void Renew(StateId* also = nullptr);

  std::shared_ptr<Generations> grammar_;
  std::shared_ptr<Engine> engine_;                           // of the states in record_
  std::shared_ptr<const std::vector<TokenId>> stop_tokens_;  // sorted
  Record record_;
  Turn turn_;
};

}  // namespace structag
