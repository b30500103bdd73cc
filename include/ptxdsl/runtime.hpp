// SPDX-License-Identifier: Apache-2.0
// The host side: devices, contexts, modules, typed launches, streams, memory and tensor maps. Needs libcuda at run time
// only, and fmt.
#pragma once

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
// g++ says of a template's parameter that it shadows a global of the author's, wherever it instantiates one.
#pragma GCC diagnostic ignored "-Wshadow"
#endif

#include <ptxdsl/runtime/context.hpp>
#include <ptxdsl/runtime/device.hpp>
#include <ptxdsl/runtime/driver.hpp>
#include <ptxdsl/runtime/driver_api.hpp>
#include <ptxdsl/runtime/error.hpp>
#include <ptxdsl/runtime/event.hpp>
#include <ptxdsl/runtime/launch.hpp>
#include <ptxdsl/runtime/memory.hpp>
#include <ptxdsl/runtime/module.hpp>
#include <ptxdsl/runtime/stream.hpp>
#include <ptxdsl/runtime/tensor_map.hpp>

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
