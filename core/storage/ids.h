// The ids of everything that is interned.  Graphs are tables indexed by id; no pointers between
// nodes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace structag {

enum class ExprId : std::uint32_t {};          // an expression of the grammar, or a residual of one
enum class ContinuationId : std::uint32_t {};  // what follows a term, see continuations.h
enum class StateId : std::uint32_t {};         // a set of terms, see states.h
enum class ListId : std::uint32_t {};          // an interned list of words, see list_pool.h
using TokenId = std::int32_t;  // as callers count them; negative ids are never valid

template <class Id>
constexpr std::uint32_t Raw(Id id) noexcept {
  return static_cast<std::uint32_t>(static_cast<std::underlying_type_t<Id>>(id));
}

inline constexpr std::uint32_t kUnbounded = 0xFFFFFFFFu;  // the maximum of an unbounded repeat
// A maximum after one more.
constexpr std::uint32_t OneLess(std::uint32_t maximum) noexcept {
  return maximum == kUnbounded ? kUnbounded : maximum - 1;
}

}  // namespace structag
