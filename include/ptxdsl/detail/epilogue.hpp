// SPDX-License-Identifier: Apache-2.0
// Closes what `detail/prologue.hpp` opened.

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wignored-pragmas"  // the check that a header compiles alone has no prologue
#endif
#pragma pop_macro("max")
#pragma pop_macro("min")
#if defined(__clang__)
#pragma clang diagnostic pop
#endif
