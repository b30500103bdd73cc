// SPDX-License-Identifier: Apache-2.0
// Grouped products behind a C function, for bench/grouped_peer.py: loaded into a process that has torch, launched on
// torch's stream with torch's memory.
#include <ptxdsl/kernels.hpp>

#include <cstdint>
#include <cstdio>

namespace px = ptxdsl;
namespace kn = ptxdsl::kernels;

/// bf16; `rows` rows a matrix of A and C, one matrix or, with `masked`, one a group. 0, or 1 after a message.
extern "C" __attribute__((visibility("default"))) int grouped_gemm_bf16(std::uint64_t a, std::uint64_t b,
                                                                        std::uint64_t c, std::uint64_t numbers,
                                                                        std::uint64_t groups, std::uint64_t rows,
                                                                        std::uint64_t n, std::uint64_t k, int masked,
                                                                        std::uint64_t expected, void* handle) {
    static const auto ctx = px::check(px::context::primary(0));
    const auto s = px::stream::borrow(ctx, static_cast<px::cu::stream>(handle));
    const px::device_ptr<px::bf16> from(a), weights(b), to(c);
    const px::device_ptr<const px::s32> lists(numbers);
    const kn::grouped_options o{.expected_rows = expected, .programmatic = false};
    const px::tensor_view w(weights, groups, n, k);
    const auto r = masked != 0
                       ? kn::grouped_gemm_masked(s, px::tensor_view(from, groups, rows, k), w,
                                                 px::tensor_view(to, groups, rows, n), lists, o)
                       : kn::grouped_gemm(s, px::tensor_view(from, rows, k), w, px::tensor_view(to, rows, n), lists, o);
    if (!r) std::fprintf(stderr, "%s\n", r.error().message());
    return r ? 0 : 1;
}
