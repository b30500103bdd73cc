// SPDX-License-Identifier: Apache-2.0
// Umbrella: the DSL, the assembler and the verifier. Needs the standard library only; stays cheap to include
// (`./dev bench-compile`). The driver runtime, parser, simulator and kernels are opt-in headers beside this one.
#pragma once

#include <ptxdsl/assemble/assemble.hpp>
#include <ptxdsl/assemble/run_time.hpp>
#include <ptxdsl/dsl/builder.hpp>
#include <ptxdsl/dsl/kernel.hpp>
#include <ptxdsl/version.hpp>
