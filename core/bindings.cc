// The Python module structag._core: one bind_… function for each part of the core.

// nanobind's own headers do not pass our warnings.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
#include <nanobind/nanobind.h>
#pragma GCC diagnostic pop

namespace structag {
void bind_apply(nanobind::module_& m);
}  // namespace structag

NB_MODULE(_core, m) { structag::bind_apply(m); }
