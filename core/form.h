// Forms: keyed hashes of structures, so that equal structures of different grammars are found.
#pragma once

#include <cstdint>
#include <random>

#include "hash.h"

namespace structag {

// Two independent 64-bit hashes, keyed by a secret of the process: nobody can choose a collision.
struct Form {
  std::uint64_t a = 0, b = 0;
  friend bool operator==(const Form&, const Form&) = default;
  friend auto operator<=>(const Form&, const Form&) = default;
};

// Makes the form of a sequence of words.
class FormHasher {
 public:
  explicit FormHasher(std::uint64_t tag) : form_(Secret()) { Add(tag); }
  void Add(std::uint64_t word) noexcept {
    form_.a = Mix(form_.a ^ word) + Secret().b;
    form_.b = Mix(form_.b + word * 0x9e3779b97f4a7c15ULL) ^ Secret().a;
  }
  void Add(const Form& part) noexcept {
    Add(part.a);
    Add(part.b);
  }
  const Form& form() const noexcept { return form_; }

 private:
  static const Form& Secret() {
    static const Form secret = [] {
      std::random_device device;
      const auto word = [&] { return std::uint64_t{device()} << 32 | device(); };
      return Form{word(), word()};
    }();
    return secret;
  }
  Form form_;
};

}  // namespace structag
