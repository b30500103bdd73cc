// SPDX-License-Identifier: Apache-2.0
// Events are declared with streams, which they need and which need them.
#pragma once

#include <ptxdsl/runtime/stream.hpp>
