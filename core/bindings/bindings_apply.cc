// Python bindings of apply.h; converts arguments and releases the GIL, nothing else.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "apply/apply.h"
#include "bindings/nanobind.h"

namespace structag {
namespace {

// What was given and what was expected; None in Python means that the call was carried out.
using Mismatch = std::optional<std::pair<std::string, std::string>>;

std::optional<LogitType> LogitTypeOf(nb::dlpack::dtype type) noexcept {
  if (type == nb::dlpack::dtype{static_cast<uint8_t>(nb::dlpack::dtype_code::Float), 32, 1}) {
    return LogitType::kFloat32;
  }
  if (type == nb::dlpack::dtype{static_cast<uint8_t>(nb::dlpack::dtype_code::Float), 16, 1}) {
    return LogitType::kFloat16;
  }
  if (type == nb::dlpack::dtype{static_cast<uint8_t>(nb::dlpack::dtype_code::Bfloat), 16, 1}) {
    return LogitType::kBFloat16;
  }
  return std::nullopt;
}

// As NumPy and torch spell it; only for messages.
std::string TypeName(nb::dlpack::dtype type) {
  std::string kind;
  switch (static_cast<nb::dlpack::dtype_code>(type.code)) {
    case nb::dlpack::dtype_code::Int: kind = "int"; break;
    case nb::dlpack::dtype_code::UInt: kind = "uint"; break;
    case nb::dlpack::dtype_code::Float: kind = "float"; break;
    case nb::dlpack::dtype_code::Bfloat: kind = "bfloat"; break;
    case nb::dlpack::dtype_code::Complex: kind = "complex"; break;
    case nb::dlpack::dtype_code::Bool: return "`bool`";
    default: return "of an unknown type";
  }
  return "`" + kind + std::to_string(type.bits) + "`";
}

// What logits and bitmask have in common: one or two dimensions, the last one contiguous, on the
// CPU, aligned.  `name` is what the message calls the array.
template <typename Array>
Mismatch CheckLayout(const Array& array, const std::string& name, size_t element_bytes) {
  if (array.device_type() != nb::device::cpu::value) {
    return std::pair{"the memory of the " + name + " is on another device", std::string("`cpu`")};
  }
  if (array.ndim() != 1 && array.ndim() != 2) {
    return std::pair{std::to_string(array.ndim()) + " dimensions in the " + name,
                     std::string("1 or 2")};
  }
  const size_t last = array.ndim() - 1;
  if (array.size() > 0 && array.shape(last) > 1 && array.stride(last) != 1) {
    return std::pair{
        "the last dimension of the " + name + " has stride " + std::to_string(array.stride(last)),
        std::string("1 (contiguous rows)")};
  }
  if (reinterpret_cast<uintptr_t>(array.data()) % element_bytes != 0) {
    return std::pair{"the memory of the " + name + " is not aligned",
                     "an address that " + std::to_string(element_bytes) + " divides"};
  }
  return std::nullopt;
}

using ReadOnly = nb::ndarray<nb::ro>;

// The options' token map; refused unless it is a dense vector of int32 or int64 on the CPU.
Mismatch ReadTokenMap(const ReadOnly& map, ApplyOptions& options) {
  const bool is_wide = map.dtype() == nb::dtype<int64_t>();
  if (!is_wide && map.dtype() != nb::dtype<int32_t>()) {
    return std::pair{"the token map is " + TypeName(map.dtype()),
                     std::string("`int64` or `int32`")};
  }
  if (map.ndim() != 1) {
    return std::pair{std::to_string(map.ndim()) + " dimensions in the token map", std::string("1")};
  }
  if (auto mismatch = CheckLayout(map, "token map", is_wide ? sizeof(int64_t) : sizeof(int32_t))) {
    return mismatch;
  }
  options.token_map = TokenMap{map.data(), map.shape(0), is_wide};
  return std::nullopt;
}

Mismatch ApplyTokenBitmaskToArrays(const nb::ndarray<>& logits, const ReadOnly& bitmask,
                                   const std::optional<std::vector<int64_t>>& rows,
                                   const std::optional<ReadOnly>& token_map, unsigned max_threads) {
  const std::optional<LogitType> type = LogitTypeOf(logits.dtype());
  if (!type.has_value()) {
    return std::pair{"the logits are " + TypeName(logits.dtype()),
                     std::string("`float32`, `float16` or `bfloat16`")};
  }
  if (bitmask.dtype() != nb::dtype<int32_t>()) {
    return std::pair{"the bitmask is " + TypeName(bitmask.dtype()), std::string("`int32`")};
  }
  if (auto mismatch = CheckLayout(logits, "logits", LogitBytes(*type))) {
    return mismatch;
  }
  if (auto mismatch = CheckLayout(bitmask, "bitmask", sizeof(int32_t))) {
    return mismatch;
  }
  const bool is_batch = logits.ndim() == 2;
  const bool is_mask_batch = bitmask.ndim() == 2;
  const LogitRows logit_rows{logits.data(), *type, is_batch ? logits.shape(0) : 1,
                             logits.shape(logits.ndim() - 1),
                             is_batch ? static_cast<ptrdiff_t>(logits.stride(0)) : 0};
  const MaskRows mask_rows{static_cast<const int32_t*>(bitmask.data()),
                           is_mask_batch ? bitmask.shape(0) : 1, bitmask.shape(bitmask.ndim() - 1),
                           is_mask_batch ? static_cast<ptrdiff_t>(bitmask.stride(0)) : 0};
  ApplyOptions options{.max_threads = max_threads};
  if (rows.has_value()) {
    options.rows = *rows;
  }
  if (token_map.has_value()) {
    if (auto mismatch = ReadTokenMap(*token_map, options)) {
      return mismatch;
    }
  }
  if (auto mismatch = CheckApply(logit_rows, mask_rows, options)) {
    return std::pair{std::move(mismatch->given), std::move(mismatch->expected)};
  }
  const nb::gil_scoped_release released;
  ApplyTokenBitmask(logit_rows, mask_rows, options);
  return std::nullopt;
}

}  // namespace

void bind_apply(nb::module_& m) {
  m.def("apply_token_bitmask", &ApplyTokenBitmaskToArrays, nb::arg("logits").noconvert(),
        nb::arg("bitmask").noconvert(), nb::arg("rows").none(),
        nb::arg("token_map").noconvert().none(), nb::arg("max_threads"));
}

}  // namespace structag
