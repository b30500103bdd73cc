// SPDX-License-Identifier: Apache-2.0
// Opt-in: turns PTX into C++ that prints it (docs/transpiler.md).
#pragma once

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
// g++ says of a template's parameter that it shadows a global of the author's, wherever it instantiates one.
#pragma GCC diagnostic ignored "-Wshadow"
#endif

#include <ptxdsl/parse.hpp>
#include <ptxdsl/transpile/transpile.hpp>

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
