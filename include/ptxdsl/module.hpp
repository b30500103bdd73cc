// SPDX-License-Identifier: Apache-2.0
// Opt-in: whole PTX modules with the author's own names (docs/transpiler.md).
#pragma once

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
// g++ says of a template's parameter that it shadows a global of the author's, wherever it instantiates one.
#pragma GCC diagnostic ignored "-Wshadow"
#endif

#include <ptxdsl/assemble/module_text.hpp>
#include <ptxdsl/dsl/module.hpp>
#include <ptxdsl/dsl/operands.hpp>
#include <ptxdsl/ptxdsl.hpp>

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
