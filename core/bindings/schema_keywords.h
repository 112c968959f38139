// What a JSON Schema says, read from Python's dicts and lists as they stand; under the GIL.
#pragma once

#include <bit>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "bindings/nanobind.h"
#include "grammar/grammar.h"

namespace structag {

inline bool Is(nb::handle value, PyTypeObject& type) { return Py_TYPE(value.ptr()) == &type; }
inline bool IsDict(nb::handle value) { return Is(value, PyDict_Type); }
inline bool IsSchema(nb::handle value) { return IsDict(value) || Is(value, PyBool_Type); }

// The characters of a str that is plain ASCII.
inline std::optional<std::string_view> Ascii(nb::handle value) {
  if (!Is(value, PyUnicode_Type)) return std::nullopt;
  Py_ssize_t size = 0;
  const char* text = PyUnicode_AsUTF8AndSize(value.ptr(), &size);
  if (text == nullptr) {  // lone surrogates
    PyErr_Clear();
    return std::nullopt;
  }
  if (size != PyUnicode_GetLength(value.ptr())) return std::nullopt;
  return std::string_view(text, static_cast<std::size_t>(size));
}

inline nb::handle Find(nb::handle dict, nb::handle key) {
  PyObject* found = PyDict_GetItemWithError(dict.ptr(), key.ptr());
  if (found == nullptr && PyErr_Occurred()) throw nb::python_error();
  return found;
}

inline bool Contains(nb::handle set, nb::handle key) {
  const int found = PySet_Contains(set.ptr(), key.ptr());
  if (found < 0) throw nb::python_error();
  return found == 1;
}

inline void Add(nb::handle set, nb::handle key) {
  if (PySet_Add(set.ptr(), key.ptr()) < 0) throw nb::python_error();
}

// The members of a dict, or items of a list, held.
inline std::vector<std::pair<nb::object, nb::object>> MembersOf(nb::handle dict) {
  std::vector<std::pair<nb::object, nb::object>> members;
  members.reserve(static_cast<std::size_t>(PyDict_Size(dict.ptr())));
  PyObject *key = nullptr, *value = nullptr;
  for (Py_ssize_t at = 0; PyDict_Next(dict.ptr(), &at, &key, &value) != 0;) {
    members.emplace_back(nb::borrow(key), nb::borrow(value));
  }
  return members;
}

template <class Visit>
void ForEachItem(nb::handle list, Visit visit) {  // `visit` runs no Python code
  const Py_ssize_t size = PyList_Size(list.ptr());
  for (Py_ssize_t i = 0; i < size; ++i) visit(nb::handle(PyList_GetItem(list.ptr(), i)));
}

// A count that a repeat can have.
inline std::optional<std::uint32_t> Count(nb::handle value) {
  if (!Is(value, PyLong_Type)) return std::nullopt;
  int overflow = 0;
  const long long count = PyLong_AsLongLongAndOverflow(value.ptr(), &overflow);
  if (overflow != 0 || count < 0 || count > kMostCount) return std::nullopt;
  return static_cast<std::uint32_t>(count);
}

// What is told apart among the keywords of a schema.
enum Keyword : std::uint32_t {
  kType = 1,
  kProperties = 2,
  kRequired = 4,
  kAdditional = 8,
  kItems = 16,
  kMinItems = 32,
  kMaxItems = 64,
  kEnum = 128,
  kReference = 256,
  kScalar = 512,       // of values without parts
  kUnknown = 1024,     // any other that asserts something, and names that are none
  kIdentifier = 2048,  // asserts nothing
  kShaped = 4096,      // nor do these, but their values are not free
};
constexpr std::uint32_t kObjectKeywords = kType | kProperties | kRequired | kAdditional;
constexpr std::uint32_t kArrayKeywords = kType | kItems | kMinItems | kMaxItems;
constexpr std::uint32_t kEnumKeywords = kType | kEnum;
constexpr std::uint32_t kScalarKeywords = kType | kMinItems | kMaxItems | kScalar;
constexpr std::size_t kNamed = 9;  // of the keywords, the first ones, have places in `Said`
constexpr const char* kNames[] = {"type",  "properties", "required", "additionalProperties",
                                  "items", "minItems",   "maxItems", "enum",
                                  "$ref"};
static_assert(std::size(kNames) == kNamed);

// Types as bits.
using Types = std::uint32_t;
enum Type : Types {
  kNull = 1,
  kBoolean = 2,
  kNumber = 4,
  kInteger = 8,
  kString = 16,
  kArray = 32,
  kObject = 64,
};
constexpr const char* kTypeNames[] = {"null",   "boolean", "number", "integer",
                                      "string", "array",   "object"};
constexpr std::size_t kTypeCount = std::size(kTypeNames);
constexpr Types kAllTypes = (1u << kTypeCount) - 1;

// The keywords of one draft.
class KeywordTable {
 public:
  // `assertions` are those that say something, `scalars` those among them that ask for no parts;
  // `shapes` has for others the type of their values, or a function that tells whether one fits.
  KeywordTable(nb::handle assertions, nb::handle scalars, bool is_ref_alone, const nb::dict& shapes)
      : ref_stands_alone(is_ref_alone), shapes_(shapes) {
    const auto set = [&](nb::handle name, std::uint32_t bit) { bits_[name] = bit; };
    for (nb::handle name : shapes_.keys()) set(name, kShaped);
    for (nb::handle name : assertions) set(name, kUnknown);
    for (nb::handle name : scalars) {
      if (bits_.contains(name)) set(name, kScalar);
    }
    for (std::size_t i = 0; i < kNamed; ++i) {
      if (bits_.contains(kNames[i])) set(nb::str(kNames[i]), 1u << i);
    }
    for (const char* name : {"$id", "id"}) set(nb::str(name), kIdentifier);
    for (std::size_t i = 0; i < kTypeCount; ++i) types_[kTypeNames[i]] = 1u << i;
  }

  // Whether every other keyword beside `$ref` says nothing.
  const bool ref_stands_alone;

  std::uint32_t Bit(nb::handle key) const {
    if (!Is(key, PyUnicode_Type)) return kUnknown;
    const nb::handle bit = Find(bits_, key);
    return bit.is_valid() ? static_cast<std::uint32_t>(PyLong_AsUnsignedLong(bit.ptr())) : 0;
  }

  // What the value of a keyword that asserts nothing has to be; not valid: anything.
  nb::handle ShapeOf(nb::handle key) const { return Find(shapes_, key); }

  // The types that a value of `type` names; 0 if it is not as it should be.
  Types TypesOf(nb::handle value) const {
    const auto type = [&](nb::handle name) -> Types {
      if (!Is(name, PyUnicode_Type)) return 0;
      const nb::handle bit = Find(types_, name);
      return bit.is_valid() ? static_cast<Types>(PyLong_AsUnsignedLong(bit.ptr())) : 0;
    };
    if (!Is(value, PyList_Type)) return type(value);
    Types all = 0;
    bool is_known = true;
    ForEachItem(value, [&](nb::handle name) {
      const Types one = type(name);
      is_known = is_known && one != 0;
      all |= one;
    });
    return is_known ? all : 0;
  }

 private:
  const nb::dict shapes_;
  nb::dict bits_, types_;
};

// What a schema says: the kinds of its keywords, and the values of the commonest.
struct Said {
  Said(nb::handle schema, const KeywordTable& table) {
    PyObject *key = nullptr, *value = nullptr;
    std::vector<std::pair<nb::handle, nb::object>> to_ask;
    for (Py_ssize_t at = 0; PyDict_Next(schema.ptr(), &at, &key, &value) != 0;) {
      const std::uint32_t bit = table.Bit(key);
      keywords |= bit & ~kShaped;
      if (PyUnicode_Check(key) == 0) keywords |= kUnknown;
      if (bit != 0 && bit < (1u << kNamed)) values[std::countr_zero(bit)] = nb::borrow(value);
      if ((bit & (kShaped | kIdentifier)) == 0) continue;
      const nb::handle shape = table.ShapeOf(key);
      if (!shape.is_valid()) continue;
      if (!PyType_Check(shape.ptr())) {
        to_ask.emplace_back(shape, nb::borrow(value));  // runs Python code
      } else if (shape.ptr() != reinterpret_cast<PyObject*>(Py_TYPE(value))) {
        keywords |= kUnknown;
      }
    }
    for (const auto& [fits, held] : to_ask) {
      if (!nb::cast<bool>(fits(held))) keywords |= kUnknown;
    }
  }
  bool Has(Keyword keyword) const { return (keywords & keyword) != 0; }
  bool SaysOnly(std::uint32_t of) const { return (keywords & ~(of | kIdentifier)) == 0; }
  nb::handle Value(Keyword keyword) const {
    return values[std::countr_zero(static_cast<std::uint32_t>(keyword))];
  }

  std::uint32_t keywords = 0;
  nb::object values[kNamed];
};

// The names that members are declared or required by, in the order in which they are written;
// none if some are not plain.
struct Named {
  nb::object name;
  std::string_view text;
  nb::object schema;  // not valid: only required
  bool is_required;
};

inline std::optional<std::vector<Named>> NamesOf(const Said& said) {
  std::vector<Named> names;
  nb::object needed;
  bool is_plain = true;
  if (said.Has(kRequired)) {
    if (!Is(said.Value(kRequired), PyList_Type)) return std::nullopt;
    ForEachItem(said.Value(kRequired),
                [&](nb::handle name) { is_plain = is_plain && Ascii(name).has_value(); });
    if (!is_plain) return std::nullopt;
    needed = nb::steal(PySet_New(said.Value(kRequired).ptr()));
  }
  if (said.Has(kProperties)) {
    if (!IsDict(said.Value(kProperties))) return std::nullopt;
    for (auto& [name, schema] : MembersOf(said.Value(kProperties))) {
      const std::optional<std::string_view> text = Ascii(name);
      if (!text || !IsSchema(schema)) return std::nullopt;
      const bool is_required = needed.is_valid() && Contains(needed, name);
      if (is_required) PySet_Discard(needed.ptr(), name.ptr());
      names.push_back({name, *text, schema, is_required});
    }
  }
  if (needed.is_valid() && PySet_Size(needed.ptr()) > 0) {
    ForEachItem(said.Value(kRequired), [&](nb::handle name) {
      if (PySet_Discard(needed.ptr(), name.ptr()) == 1) {
        names.push_back({nb::borrow(name), *Ascii(name), {}, true});
      }
    });
  }
  return names;
}

}  // namespace structag
