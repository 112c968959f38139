// What structag/source.py asks about JSON texts, and about values that are to become some.
#include <algorithm>
#include <string_view>
#include <vector>

#include "bindings/expression_tuples.h"
#include "text/json_places.h"

namespace structag {
namespace {

nb::str Text(const char* start, const char* end) {
  return nb::str(start, static_cast<std::size_t>(end - start));
}

// The items, and the text before, between and behind them.
nb::tuple SplitItems(const nb::bytes& data, const nb::bytes& name) {
  const std::string_view text = View(data);
  nb::list items, between;
  const char* at = text.data();
  for (std::string_view item : ItemsOfMembers(text, View(name))) {
    between.append(Text(at, item.data()));
    at = item.data() + item.size();
    items.append(Text(item.data(), at));
  }
  between.append(Text(at, text.data() + text.size()));
  return nb::make_tuple(items, between);
}

// About how many characters a Python value has as JSON text, escapes and blanks apart: what it
// holds twice counts twice, and of what is neither dict nor list the attributes do; if there are
// more than `most`, some number above it.
std::size_t JsonSize(nb::handle value, std::size_t most) {
  std::size_t size = 0;
  std::vector<nb::object> pending{nb::borrow(value)};
  const auto add = [&](PyObject* part) { pending.push_back(nb::borrow(part)); };
  while (!pending.empty() && size <= most) {
    const nb::object at = std::move(pending.back());
    pending.pop_back();
    PyObject* const object = at.ptr();
    size += 2;
    if (PyUnicode_Check(object)) {
      size += static_cast<std::size_t>(PyUnicode_GetLength(object));
    } else if (PyDict_Check(object)) {
      PyObject *key = nullptr, *member = nullptr;
      for (Py_ssize_t i = 0; PyDict_Next(object, &i, &key, &member) != 0;) {
        size += PyUnicode_Check(key) ? static_cast<std::size_t>(PyUnicode_GetLength(key)) : 0;
        add(member);
      }
    } else if (PyList_Check(object)) {
      for (Py_ssize_t i = 0; i < PyList_Size(object); ++i) add(PyList_GetItem(object, i));
    } else if (PyTuple_Check(object)) {
      for (Py_ssize_t i = 0; i < PyTuple_Size(object); ++i) add(PyTuple_GetItem(object, i));
    } else if (!PyLong_Check(object) && !PyFloat_Check(object) && object != Py_None) {
      const nb::object members = nb::getattr(at, "__dict__", nb::none());
      if (PyDict_Check(members.ptr())) pending.push_back(members);
    }
  }
  return size;
}

}  // namespace

void bind_json(nb::module_& m) {
  m.def("json_depth", [](const nb::bytes& text) { return JsonDepth(View(text)); }, nb::arg("text"));
  m.def("json_size", &JsonSize, nb::arg("value").none(), nb::arg("most"));
  m.def("split_items", &SplitItems, nb::arg("text"), nb::arg("name"));
}

}  // namespace structag
