// SPDX-License-Identifier: Apache-2.0
// Opt-in: whole PTX modules with the author's own names (docs/transpiler.md).
#pragma once

#include <ptxdsl/detail/prologue.hpp>
// Closed at the end of this file.
#include <ptxdsl/assemble/module_text.hpp>
#include <ptxdsl/dsl/module.hpp>
#include <ptxdsl/dsl/operands.hpp>
#include <ptxdsl/ptxdsl.hpp>
// Last: closes what the first opened.
#include <ptxdsl/detail/epilogue.hpp>
