// Where the values of a JSON text are, without reading them.
//
// Nothing here says whether a text is JSON.  For one that is not, the answers are about what its
// quotes and brackets look like.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace structag {

// How deep arrays and objects are nested in each other.
std::size_t JsonDepth(std::string_view text) noexcept;

// The objects that are items of arrays that are members called `name`, none of them inside another.
// `name` needs no escapes; members that are written with some are not found.
std::vector<std::string_view> ItemsOfMembers(std::string_view text, std::string_view name);

}  // namespace structag
