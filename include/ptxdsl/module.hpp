// SPDX-License-Identifier: Apache-2.0
// Opt-in: whole PTX modules with the author's own names (docs/transpiler.md).
#pragma once

#include <ptxdsl/assemble/module_text.hpp>
#include <ptxdsl/dsl/module.hpp>
#include <ptxdsl/dsl/operands.hpp>
#include <ptxdsl/ptxdsl.hpp>
