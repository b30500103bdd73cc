// SPDX-License-Identifier: Apache-2.0
// What a header of the library opens with and `detail/epilogue.hpp` closes: the author's macros and warnings stay
// outside. On purpose without a guard, and the pair may stand inside another.

// Some system headers define min and max as macros.
#pragma push_macro("min")
#pragma push_macro("max")
#undef min
#undef max

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
// g++ says of a template's parameter that it shadows a global of the author's, wherever it instantiates one.
#pragma GCC diagnostic ignored "-Wshadow"
#endif
