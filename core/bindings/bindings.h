// What the binding files have in common.
#pragma once

#include <cstdint>

#include "bindings/nanobind.h"
#include "matching/draft.h"
#include "matching/matcher.h"
#include "metering/interrupt.h"
#include "vocabulary/vocabulary.h"

namespace structag {

// Raises what a signal handler of Python's raises; on other threads than the main one nothing.
inline void AskPython() {
  const nb::gil_scoped_acquire acquire;
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

// A class out of structag.errors.
inline nb::object Errors(const char* name) {
  return nb::module_::import_("structag.errors").attr(name);
}

[[noreturn]] inline void RaiseCode(const char* type, const char* code, const char* message,
                                   const char* expected) {
  nb::object error = Errors(type)(message, nb::arg("code") = code, nb::arg("expected") = expected);
  PyErr_SetObject(reinterpret_cast<PyObject*>(error.type().ptr()), error.ptr());
  throw nb::python_error();
}

// Refuses calls by signal handlers that interrupt another call: raises `reentrant-call`.
struct OutsideOfCalls {
  OutsideOfCalls() {
    if (!Interrupt::IsAsking()) return;
    RaiseCode("MatcherError", "reentrant-call",
              "a signal handler cannot start a call in the midst of another one",
              "a handler that takes a note, or raises an exception");
  }
};

// The GIL is free while one lives, and signals are handled.  Whatever waits for a lock needs one:
// who holds that lock may be asking Python for the GIL.
class ReleaseGil {
  const OutsideOfCalls first_;
  const nb::gil_scoped_release release_;
  const Interrupt::Watch watch_{AskPython};
};

template <class Call>
auto WithoutGil(Call call) {
  const ReleaseGil release;
  return call();
}

// A call of a matcher, one at a time; lives longer than a ReleaseGil.
struct MatcherCall : Turn::Holder {
  explicit MatcherCall(Matcher& matcher) : Holder(matcher.turn()) {}
};

// A mask as callers hand it over; in main memory, pinned or not, which RowsOf checks.
using Bitmask = nb::ndarray<std::int32_t, nb::c_contig>;

// The rows of a mask that is wide enough for the vocabulary; raises `bitmask-shape`.
inline BitmaskRows RowsOf(const Bitmask& bitmask, const Vocabulary& vocabulary) {
  constexpr int kPinned = 3;  // DLPack's kDLCUDAHost
  if (bitmask.device_type() != nb::device::cpu::value && bitmask.device_type() != kPinned) {
    RaiseCode("MatcherError", "bitmask-shape", "the bitmask is on another device",
              "main memory, pinned or not");
  }
  const bool is_row = bitmask.ndim() == 1;
  const std::size_t rows = is_row ? 1 : bitmask.ndim() == 2 ? bitmask.shape(0) : 0;
  const std::size_t width = rows == 0 ? 0 : bitmask.shape(is_row ? 0 : 1);
  if (rows == 0 || width < vocabulary.MaskWords()) {
    RaiseCode("MatcherError", "bitmask-shape", "the bitmask is too small for the vocabulary",
              "int32[rows, ceil(vocabulary size / 32)]");
  }
  return {reinterpret_cast<std::uint32_t*>(bitmask.data()), rows, width};
}

}  // namespace structag
