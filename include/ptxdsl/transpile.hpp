// SPDX-License-Identifier: Apache-2.0
// Opt-in: turns PTX into C++ that prints it (docs/transpiler.md).
#pragma once

#include <ptxdsl/detail/prologue.hpp>
// Closed at the end of this file.
#include <ptxdsl/parse.hpp>
#include <ptxdsl/transpile/transpile.hpp>
// Last: closes what the first opened.
#include <ptxdsl/detail/epilogue.hpp>
