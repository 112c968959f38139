// Derivatives of regular expressions: what is left of one after a byte (or an assertion mark).
//
// Antimirov's partial derivatives where it can (an Alt of linear residuals), whole derivatives
// under And, Not, Encoded and Erase.  V. Antimirov, "Partial derivatives of regular expressions and
// finite automaton constructions", TCS 155 (1996).  Memoised for everything but the smallest kinds.
#pragma once

#include <cstdint>
#include <vector>

#include "expressions/expressions.h"
#include "metering/meter.h"
#include "storage/hash.h"

namespace structag {

// Bytes that may each lead to a residual of their own.  All others lead to equal residuals if they
// are alike.
struct Distinct {
  ByteSet bytes;
  // Set if the expression tells characters: then two bytes are alike if UTF-8 goes on alike.
  Utf8State utf8 = kUtf8Reject;

  // The bytes that lead to the same residual as `byte`, which is none of `bytes`.
  ByteSet Alike(std::uint8_t byte) const noexcept {
    ByteSet alike;
    if (utf8 != kUtf8Reject) {
      alike = Utf8Alike(utf8, byte);
    } else {
      alike.AddRange(0, 255);
    }
    alike.Subtract(bytes);
    return alike;
  }
  void Unite(const Distinct& other) noexcept {
    bytes.Unite(other.bytes);
    if (utf8 == kUtf8Reject) utf8 = other.utf8;
    if (other.utf8 != kUtf8Reject && other.utf8 != utf8) bytes.AddRange(0, 255);
  }
};

class Deriver {
 public:
  Deriver(ExprPool& pool, Meter& meter) : pool_(pool), meter_(meter) {}

  static constexpr std::uint32_t kFirstMark = 256;  // symbols: bytes, then marks

  // What is left of `id` after `symbol`; ExprPool::kEmpty if nothing.  The result may be a dead
  // residual (of empty language): see liveness.h.  Regular expressions, kKey, and kScan up to its
  // case.
  ExprId Derive(ExprId id, std::uint32_t symbol);

  // One byte of every class of bytes that lead to equal residuals; bytes that lead nowhere may
  // be left out.  A class may have several representatives.
  std::vector<std::uint8_t> Representatives(ExprId id) const;

  // Which bytes have to be told apart: cheaper and coarser than Representatives.
  Distinct DistinctBytes(ExprId id, unsigned depth = 0) const;

  // `child` with everything added that marks below `count` lead to, as one Alt.
  ExprId CloseUnderMarks(ExprId child, std::uint32_t count);

  std::size_t MemoryBytes() const noexcept { return memo_.Bytes(); }

 private:
  bool BeginsWith(ExprId id, std::uint32_t symbol) const;  // a kBytes or a kLiteral
  ExprId Compute(const Expr& e, std::uint32_t symbol);
  ExprId DeriveScan(const Expr& e, std::uint8_t byte);
  ExprId DeriveEncoded(const Expr& e, std::uint8_t byte);
  ExprId DeriveKey(const Expr& e, std::uint8_t byte);
  ExprId Concat(ExprId heads, ExprId rest);  // heads may be an Alt: distributes
  void AddSignature(ExprId id, std::uint64_t* signature, ByteSet& possible, unsigned depth) const;

  ExprPool& pool_;
  Meter& meter_;
  Memo memo_;
};

}  // namespace structag
