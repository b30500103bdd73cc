// SPDX-License-Identifier: Apache-2.0
// The host side: devices, contexts, modules, typed launches, streams, memory and tensor maps. Needs libcuda at run time
// only, and fmt.
#pragma once

#include <ptxdsl/detail/prologue.hpp>
// Closed at the end of this file.
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
// Last: closes what the first opened.
#include <ptxdsl/detail/epilogue.hpp>
