// SPDX-License-Identifier: Apache-2.0
// A06 and others in a kernel for several targets: refused on each of them, as by px::assemble.
#include <ptxdsl/assemble/kernel_set.hpp>

namespace px = ptxdsl;
using px::u32;

#if PTXDSL_CASE == 0
constexpr auto body = [](auto& k, px::global_ptr<u32> to, px::reg<u32> n) { k.st(to, n); };
#elif PTXDSL_CASE == 1
// expect-1: PTXDSL-A06 "operand 2 of st is a handle without a register"
constexpr auto body = [](auto& k, px::global_ptr<u32> to, px::reg<u32>) {
    px::reg<u32> none;
    k.st(to, none);  // here-1
};
#elif PTXDSL_CASE == 2
// expect-2: PTXDSL-H05 "one thread executes it here"
constexpr auto body = [](auto& k, px::global_ptr<u32> to, px::reg<u32> n) {
    k.single_thread(k.mov(px::tid.x) == 0u, [&] {
        k.bar_sync();  // here-2
    });
    k.st(to, n);
};
#elif PTXDSL_CASE == 3
// expect-3: PTXDSL-A06 "operand 2 of st is a handle without a register"
// On the second target alone.
constexpr auto body = []<px::target T>(px::builder<T>& k, px::global_ptr<u32> to, px::reg<u32> n) {
    px::reg<u32> none;
    if constexpr (T.has_wgmma())
        k.st(to, n);
    else
        k.st(to, none);  // here-3
};
#endif
using kernel = px::generic_kernel<"test", body, px::attributes{.reqntid = {64}}>;
[[maybe_unused]] constexpr auto ptx = px::assemble_for<kernel, px::sm_90a, px::sm_100f>();
