// Expressions of grammar.h as the named tuples of structag/grammar/expressions.py, and back.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "bindings/nanobind.h"
#include "grammar/grammar.h"

namespace structag {

// The number of a codec by its name; BadOperand for others.
std::uint32_t CodecOf(std::string_view name);

// Python's bytes as they lie in it; a TypeError for anything else.
inline std::string_view View(nb::handle data) {
  if (!PyBytes_Check(data.ptr())) throw nb::type_error("expected bytes");
  return {PyBytes_AsString(data.ptr()), static_cast<std::size_t>(PyBytes_Size(data.ptr()))};
}

inline nb::bytes AsBytes(std::string_view text) { return nb::bytes(text.data(), text.size()); }

inline std::uint32_t Word(nb::handle value) { return nb::cast<std::uint32_t>(value); }

// None is no maximum.
inline std::uint32_t MaximumWord(nb::handle value) { return value.is_none() ? kNone : Word(value); }

template <class Make>
nb::tuple TupleOf(std::size_t size, Make make) {
  nb::object out = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(size)));
  for (std::size_t i = 0; i < size; ++i) {
    PyTuple_SetItem(out.ptr(), static_cast<Py_ssize_t>(i), nb::object(make(i)).release().ptr());
  }
  return nb::borrow<nb::tuple>(out);
}

nb::tuple Numbers(std::span<const std::uint32_t> words);

// The expression at `ref` as a named tuple.
nb::object NodeAt(const GrammarTable& table, NodeRef ref);
// The place of a named tuple in a table that has its operands.
NodeRef InternNode(GrammarTable& table, nb::handle node);
// A grammar out of named tuples, checked.
std::shared_ptr<Grammar> GrammarOf(const nb::tuple& nodes, const nb::tuple& rules, NodeRef root);

}  // namespace structag
