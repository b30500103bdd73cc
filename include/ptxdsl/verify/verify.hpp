// SPDX-License-Identifier: Apache-2.0
// The program layer of diagnosis: rules over the finished program (docs/misuse). What is refused is provable from
// constants and structure; everything else is silent.
#pragma once

#include <ptxdsl/verify/engine/dataflow.hpp>
#include <ptxdsl/verify/engine/reader.hpp>
#include <ptxdsl/verify/rules/pipelines.hpp>

namespace ptxdsl::verify {

/// A12
template <class Facts>
constexpr void check_version(Facts& f) {
    const ptx_version floor = f.m.target.floor();
    if (f.m.version >= floor) return;
    const char suffix = f.m.target.suffix;
    f.out.add(catalogue::A12_target, 0)
        .with(u32{f.m.version.major})
        .with(u32{f.m.version.minor})
        .with(u32{f.m.target.sm})
        .with(suffix == 'a'   ? "a"
              : suffix == 'f' ? "f"
                              : "")
        .with(u32{floor.major})
        .with(u32{floor.minor});
}

/// One body: the kernel's, or a device function's.
template <class Facts>
constexpr void check_body(Facts& f) {
    prescan<Facts> first(f);
    first.run();
    const u32 before = f.out.findings.size();
    text_pass read(f, first.labels);
    read.run();
    check_watched(f, first.wait_predicates);
    check_tensor_memory(f);
    check_barriers(f);
    check_rings(f);
    check_peer_stores(f);
    warn_of_lone_masks(f);
    check_warps(f);
    read.finish();
    if (f.flow_is_known()) flow(f).run();
    if (!f.counted.empty()) drop_copies(f.out, before);
}

template <class Facts>
constexpr void check_functions(const ir::view& m, report& out) {
    for (u32 i = 0; i < m.n.functions; ++i) {
        const ir::function& fn = m.functions[i];
        if (fn.declaration) continue;
        ir::view body = m;
        body.words = m.function_words + fn.begin;
        body.n.words = fn.end - fn.begin;
        Facts f(body, out);
        f.threads = f.together = f.roles[0].threads = 0;
        f.divergent = bit::varies;
        f.arrivals_unknown = f.bytes_unknown = f.is_function = true;
        for (u32 r = 0; r < u32{fn.results} + fn.params; ++r)
            f.regs[m.function_regs[fn.first_reg + r]] |= bit::written | bit::varies;
        check_body(f);
    }
}

/// Checks the finished program `m` and adds what it finds to `out`.
template <class Facts = facts>
constexpr void run(const ir::view& m, report& out) {
    out.of_text = m.from_text;
    Facts f(m, out);
    check_version(f);
    check_layout(f);
    check_body(f);
    if (m.n.functions != 0) check_functions<Facts>(m, out);
}

}  // namespace ptxdsl::verify
