// CHECK(claim): prints the claim and its place, and fails the test, if it does not hold.
#pragma once

#include <cstdio>
#include <cstdlib>

#define CHECK(claim)                                                             \
  do {                                                                           \
    if (!(claim)) {                                                              \
      std::fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #claim); \
      std::exit(1);                                                              \
    }                                                                            \
  } while (false)
