// SPDX-License-Identifier: Apache-2.0
// F16: stages whose distance breaks the alignment of later ones. The typed calls round the stage up, so the wrong cases
// change the finished program, as a reader of foreign PTX could make it.
#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;
using px::bf16, px::u32;
using hopper = px::builder<px::sm_90a>;

template <class Tile, u32 Extra>
struct staged {
    static constexpr px::target the_target = px::sm_90a;
    using params = px::param_list<>;
    static constexpr px::string_view name() { return "staged"; }
    static constexpr void body(hopper& k) { static_cast<void>(k.smem<Tile>(2, "a")); }
    static constexpr void write(px::ir::program& p) {
        px::kernel<"staged", body>::write(p);
        p.allocations[0].stage_bytes += Extra;
        p.shared_bytes += 2 * Extra;
    }
};

#if PTXDSL_CASE == 0

using with_swizzle = staged<px::tile<bf16, 64, 64>, 1024>;  // a whole repeat further apart
using plain = staged<px::tile<bf16, 64, 64, px::k_major, px::no_swizzle>, 128>;
[[maybe_unused]] constexpr auto first = px::assemble<with_swizzle>();
[[maybe_unused]] constexpr auto second = px::assemble<plain>();

#elif PTXDSL_CASE == 1
// expect-1: PTXDSL-F16 "8256"

[[maybe_unused]] constexpr auto ptx = px::assemble<staged<px::tile<bf16, 64, 64>, 64>>();

#elif PTXDSL_CASE == 2
// expect-2: PTXDSL-F16 "1024"

[[maybe_unused]] constexpr auto ptx =
    px::assemble<staged<px::tile<bf16, 64, 64>, 128>>();  // whole chunks, half a repeat

#elif PTXDSL_CASE == 3
// expect-3: PTXDSL-F16 "128"

[[maybe_unused]] constexpr auto ptx = px::assemble<staged<px::tile<bf16, 64, 64, px::k_major, px::no_swizzle>, 16>>();

#endif
