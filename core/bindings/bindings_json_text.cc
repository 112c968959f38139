// What structag/source.py asks about JSON texts.
#include <string_view>

#include "bindings/bindings.h"
#include "text/json_text.h"

namespace structag {
namespace {

std::string_view View(const nb::bytes& data) { return {data.c_str(), data.size()}; }

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

}  // namespace

void bind_json_text(nb::module_& m) {
  m.def("json_depth", [](const nb::bytes& text) { return JsonDepth(View(text)); }, nb::arg("text"));
  m.def("split_items", &SplitItems, nb::arg("text"), nb::arg("name"));
}

}  // namespace structag
