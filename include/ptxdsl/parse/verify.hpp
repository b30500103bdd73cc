// SPDX-License-Identifier: Apache-2.0
// The verifier's rules over the kernels of a text.
#pragma once

#include <ptxdsl/parse/lower.hpp>
#include <ptxdsl/verify/verify.hpp>

#include <cstdint>
#include <string_view>

namespace ptxdsl::ptx {

namespace detail {

/// What the verifier advises in the DSL's words, and the same in PTX. Longer words come before their beginnings.
struct advice {
    std::string_view call, ptx;
};
inline constexpr advice advices[] = {
    {"k.wgmma.wait_group<0>()", "wgmma.wait_group.sync.aligned 0"},
    {"k.wgmma.wait_group", "wgmma.wait_group.sync.aligned"},
    {"k.wgmma.commit_group()", "wgmma.commit_group.sync.aligned"},
    {"k.wgmma.fence()", "wgmma.fence.sync.aligned"},
    {"wait_group_read<0>", "cp.async.bulk.wait_group.read 0"},
    {"wait_group<0>", "wgmma.wait_group.sync.aligned 0"},
    {"commit_group and cp", "cp.async.bulk.commit_group and cp"},
    {"k.tcgen05.wait_ld()", "tcgen05.wait::ld.sync.aligned"},
    {"k.tcgen05.wait_st()", "tcgen05.wait::st.sync.aligned"},
    {"k.tcgen05.dealloc(memory)", "tcgen05.dealloc"},
    {" (k.tcgen05.commit, k.tcgen05.wait)", ""},
    {"k.tcgen05.alloc(slot)", "tcgen05.alloc"},
    {" (k.advance)", ""},
    {"k.tcgen05.commit(empty)", "tcgen05.commit"},
    {"k.tcgen05.commit", "tcgen05.commit"},
    {" (k.tcgen05.wait)", ""},
    {": k.tcgen05.wait(bar, parity) has it", ""},
    {"(accumulate = false, or k.tcgen05.multiply)", "(enable-input-d false)"},
    {", or use k.wait", ""},
    {" (k.wait(bar, parity))", ""},
    {"k.wait(bar, parity)", "mbarrier.try_wait"},
    {": k.tcgen05.wait(bar, parity) has it", ""},
    {"k.mbarrier_init", "mbarrier.init"},
    {"k.mbarrier_inval", "mbarrier.inval"},
    {"use mbarrier_arrive_expect_tx", "use mbarrier.arrive.expect_tx"},
    {"; take the bytes from the tiles (mbarrier_arrive_expect_tx(bar, a, b))", ""},
    {" (k.assume_arrivals states what the verifier cannot count)", ""},
    {"k.bar_sync()", "bar.sync 0"},
    {"k.bar_sync<", "bar.sync "},
    {">()", ""},
    {"k.bar_sync", "a named barrier"},
    {"k.bar_warp_sync()", "bar.warp.sync"},
    {"k.barrier_cluster_wait()", "barrier.cluster.wait"},
    {"k.barrier_cluster_arrive()", "barrier.cluster.arrive"},
    {" (k.wait)", ""},
    {"k.cp_async_wait_group<0>()", "cp.async.wait_group 0"},
    {"(k.xor_, or a pipeline state)", "(xor.b32)"},
    {"k.fence_proxy_tensormap_acquire<px::gpu>(map)", "fence.proxy.tensormap::generic.acquire.gpu"},
    {"k.mbarrier_arrive<px::release, px::cluster>(bar)", "mbarrier.arrive.release.cluster"},
    {"k.mapa", "mapa"},
    {"k.fence_mbarrier_init(), or k.fence_proxy_async()", "fence.mbarrier_init.release.cluster, or fence.proxy.async"},
    {" (k.at(p).ret() leaves for some)", ""},
    {"; take px::cluster", "; .cluster names both"},
    {"k.init(pipe)", "mbarrier.init"},
    {"k.wait_full", "mbarrier.try_wait"},
    {"k.wait_empty", "mbarrier.try_wait"},
    {"k.tcgen05.quarter(memory, warp) with the number of the warp",
     "bits 16 to 31 of the address are 32 times its number"},
    {": k.single_thread(elected, [&] { ... })", ", such as the one that elect.sync picks"},
    {"' stage 0", "'"},  // in a text every mbarrier is one of its own
};

/// A finding's sentence for readers of PTX.
constexpr void say_in_ptx(std::string_view sentence, text& out) {
    while (!sentence.empty()) {
        const advice* found = nullptr;
        for (const advice& a : advices)
            if (found == nullptr && sentence.substr(0, a.call.size()) == a.call) found = &a;
        if (found == nullptr) out.put(sentence[0]);
        if (found != nullptr) out.put(found->ptx);
        sentence.remove_prefix(found == nullptr ? 1 : found->call.size());
    }
}

}  // namespace detail

/// Whether compilers wrote the module for a debugger (`.target …, debug`).
[[nodiscard]] constexpr bool is_for_debugger(const tree_view& v) noexcept {
    const std::uint32_t t = v.child(0, node_kind::target);
    for (std::uint32_t c = t + 1; t != 0 && c < v[t].end; c = v[c].end)
        if (v.atom(c) == "debug") return true;
    return false;
}

/// Whether an error of the verifier is a warning in a text, because kernels that run do it (docs/design.md).
///
/// D: unoptimised code and functions keep accumulators in memory between calls; ptxas then waits after each wgmma.
[[nodiscard]] constexpr bool is_mild(const ir::finding& f, bool accumulators_move) noexcept {
    return f.id[0] == 'D' && accumulators_move;
}

/// Verifies the kernels and device functions of a module without errors, and adds what is wrong with them to `out`.
///
/// The rules are those of docs/misuse that a text can break provably; the rest is silent.
constexpr void verify_module(const tree_view& v, diagnostics& out) {
    const bool debugger = is_for_debugger(v);
    lowering(v).run([&](const lowered_kernel& k, std::uint32_t) {
        verify::report found;
        verify::run(k.read(v), found);
        for (const ir::finding& f : found.findings) {
            const bool guarded = v.has_children(f.where) && v.kind(f.where + 1) == node_kind::guard;
            const std::uint32_t token = guarded ? v[f.where + 1].token + 1 : v[f.where].token;
            text words;
            detail::say_in_ptx(found.text(f), words);
            const char id[4] = {f.id[0], f.id[1], f.id[2], '\0'};
            out.add(f.warning || is_mild(f, debugger || k.is_function) ? severity::warning : severity::error, id,
                    v.tokens[token].offset, v.words[v.tokens[token].spelling].size, words.view());
        }
    });
    out.sort();
}

}  // namespace ptxdsl::ptx
