// SPDX-License-Identifier: Apache-2.0
// Umbrella: the DSL, the assembler and the verifier. Needs the standard library only; stays cheap to include
// (`./dev bench-compile`). The driver runtime, parser, simulator and kernels are opt-in headers beside this one.
#pragma once

#include <ptxdsl/detail/prologue.hpp>

// Flat and in this order: a compiler prints the chain of includes in front of an error, and the author reads it.
// clang-format off
#include <ptxdsl/dsl/location.hpp>
#include <ptxdsl/dsl/emit.hpp>
#include <ptxdsl/dsl/traits.hpp>
#include <ptxdsl/dsl/reg.hpp>
#include <ptxdsl/dsl/builder_base.hpp>
#include <ptxdsl/dsl/pointer.hpp>
#include <ptxdsl/dsl/tags.hpp>
#include <ptxdsl/dsl/special.hpp>
#include <ptxdsl/dsl/arithmetic.hpp>
#include <ptxdsl/dsl/operators.hpp>
#include <ptxdsl/dsl/convert.hpp>
#include <ptxdsl/dsl/memory.hpp>
#include <ptxdsl/dsl/atomic.hpp>
#include <ptxdsl/dsl/warp.hpp>
#include <ptxdsl/dsl/control.hpp>
#include <ptxdsl/dsl/inst.hpp>
#include <ptxdsl/dsl/call.hpp>
#include <ptxdsl/dsl/param.hpp>
#include <ptxdsl/dsl/tile.hpp>
#include <ptxdsl/dsl/shared.hpp>
#include <ptxdsl/dsl/mbarrier.hpp>
#include <ptxdsl/dsl/bulk_copy.hpp>
#include <ptxdsl/dsl/tensor_map.hpp>
#include <ptxdsl/dsl/tensor_copy.hpp>
#include <ptxdsl/dsl/async_copy.hpp>
#include <ptxdsl/dsl/fragment.hpp>
#include <ptxdsl/dsl/matrix.hpp>
#include <ptxdsl/dsl/wgmma.hpp>
#include <ptxdsl/dsl/tcgen05_descriptor.hpp>
#include <ptxdsl/dsl/tmem.hpp>
#include <ptxdsl/dsl/tcgen05.hpp>
#include <ptxdsl/dsl/sync.hpp>
#include <ptxdsl/dsl/cluster_launch.hpp>
#include <ptxdsl/dsl/pipeline.hpp>
#include <ptxdsl/dsl/builder.hpp>
#include <ptxdsl/dsl/kernel.hpp>
#include <ptxdsl/assemble/assemble.hpp>
#include <ptxdsl/assemble/run_time.hpp>
#include <ptxdsl/version.hpp>
// clang-format on

#include <ptxdsl/detail/epilogue.hpp>
