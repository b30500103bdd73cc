// SPDX-License-Identifier: Apache-2.0
// Whether the kernels come from the compiled library (CMake: link ptxdsl::kernels, which defines
// PTXDSL_KERNELS_COMPILED) or from the headers. A file that wants what the library does not contain defines
// PTXDSL_KERNELS_HEADER_ONLY in front of its includes; both may be in one program.
#pragma once

#if defined(PTXDSL_KERNELS_COMPILED) && !defined(PTXDSL_KERNELS_HEADER_ONLY)
#define PTXDSL_KERNELS_ARE_COMPILED 1
// The calls are templates whose bodies differ: so do their names.
#define PTXDSL_KERNELS_BEGIN inline namespace from_library {
#else
#define PTXDSL_KERNELS_ARE_COMPILED 0
#define PTXDSL_KERNELS_BEGIN inline namespace from_headers {
#endif
#define PTXDSL_KERNELS_END }

/// What the library exports.
#define PTXDSL_KERNELS_API __attribute__((visibility("default")))

namespace ptxdsl::kernels::detail {

PTXDSL_KERNELS_BEGIN

/// A call with the kernels of the library, or with those of the headers for the element types `T`: beside what
/// describes a call stands its `run_compiled` or its `launch_call<T...>`.
template <class... T, class Stream, class Call>
[[nodiscard]] auto run(const Stream& s, const Call& call) {
#if PTXDSL_KERNELS_ARE_COMPILED
    return run_compiled(s, call);
#else
    return launch_call<T...>(s, call);
#endif
}

PTXDSL_KERNELS_END

}  // namespace ptxdsl::kernels::detail
