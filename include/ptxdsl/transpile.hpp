// SPDX-License-Identifier: Apache-2.0
// Opt-in: turns PTX into C++ that prints it (docs/transpiler.md).
#pragma once

#include <ptxdsl/parse.hpp>
#include <ptxdsl/transpile/transpile.hpp>
