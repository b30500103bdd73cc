// SPDX-License-Identifier: Apache-2.0
// The version of the library. CMake, Conan and vcpkg read the three numbers below; they are written nowhere else.
#pragma once

#define PTXDSL_VERSION_MAJOR 0
#define PTXDSL_VERSION_MINOR 1
#define PTXDSL_VERSION_PATCH 0

/// One number to compare with in the preprocessor: 1.2.3 is 10203.
#define PTXDSL_VERSION (PTXDSL_VERSION_MAJOR * 10000 + PTXDSL_VERSION_MINOR * 100 + PTXDSL_VERSION_PATCH)

namespace ptxdsl {

/// The version of this library, as `PTXDSL_VERSION` has it. (A PTX version is a `ptx_version`.)
inline constexpr int library_version = PTXDSL_VERSION;

}  // namespace ptxdsl
