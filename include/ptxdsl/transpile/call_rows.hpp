// SPDX-License-Identifier: Apache-2.0
// How the transpiler's rows say which call of the builder emits an instruction. The mechanical calls are generated from
// isa/forms (generated/typed_calls.hpp); here are those that are spelled as the text is. All others are `k.inst`.
#pragma once

#include <ptxdsl/isa/tokens.hpp>

#include <cstdint>

namespace ptxdsl::ptx {

/// One shape of calls: words `op{.fixed}{.M…}.T`, operands by letter.
struct typed_call {
    isa::tok op;
    isa::tok fixed;        ///< the word behind the opcode, `none` without one
    const char* call;      ///< the builder's function
    const char* operands;  ///< sources: T own type, W twice as wide, U u32, S s32, B b32, P predicate
    char result;           ///< likewise
    bool modifiers;        ///< more words before the type, passed as template arguments
    char types;            ///< f: floating types only, i: integers only, a: all
};

/// One spelling of calls: all words but the type, if there is one.
struct worded_call {
    const char* words;
    const char* call;
    const char* operands;  ///< sources, as in typed_call
    char result;           ///< likewise; ' ' for none
};

/// Calls that are spelled as the text is (dsl/module_instructions.hpp): `*` is one word, `+` any number of them; both
/// are template arguments.
struct spelled_call {
    const char* words;
    const char* call;
    const char* first = "";  ///< a template argument in front of them
};

inline constexpr spelled_call spelled_calls[] = {
    {"bar sync", "bar_sync", "px::tok::bar"},
    {"bar arrive", "bar_arrive", "px::tok::bar"},
    {"barrier sync +", "barrier_sync"},
    {"barrier arrive +", "barrier_arrive"},
    {"bra uni", "bra_uni"},
    {"prefetch tensormap", "prefetch_tensormap"},
    {"mma sync aligned +", "mma_sync"},
    {"wmma load * sync aligned +", "wmma_load"},
    {"wmma store * sync aligned +", "wmma_store"},
    {"wmma mma sync aligned +", "wmma_mma"},
    {"tcgen05 alloc * sync aligned + b32", "tcgen05.alloc"},
    {"tcgen05 dealloc * sync aligned b32", "tcgen05.dealloc"},
    {"tcgen05 relinquish_alloc_permit * sync aligned", "tcgen05.relinquish_alloc_permit"},
    {"tcgen05 ld sync aligned + b32", "tcgen05.ld"},
    {"tcgen05 st sync aligned + b32", "tcgen05.st"},
    {"tcgen05 cp +", "tcgen05.cp"},
    {"tcgen05 commit * mbarrier::arrive::one + b64", "tcgen05.commit"},
    {"tcgen05 mma +", "tcgen05.mma"},
};

/// An instruction that is nothing but its words, or words and a number.
struct plain_call {
    const char* words;
    const char* call;
    bool number;  ///< the number is a template argument
};

inline constexpr plain_call plain_calls[] = {
    {"wgmma.fence.sync.aligned", "wgmma.fence", false},
    {"wgmma.commit_group.sync.aligned", "wgmma.commit_group", false},
    {"wgmma.wait_group.sync.aligned", "wgmma.wait_group", true},
    {"cp.async.commit_group", "cp_async_commit_group", false},
    {"cp.async.wait_group", "cp_async_wait_group", true},
    {"cp.async.wait_all", "cp_async_wait_all", false},
    {"cp.async.bulk.commit_group", "cp_async_bulk_commit_group", false},
    {"cp.async.bulk.wait_group", "cp_async_bulk_wait_group", true},
    {"cp.async.bulk.wait_group.read", "cp_async_bulk_wait_group_read", true},
    {"fence.mbarrier_init.release.cluster", "fence_mbarrier_init", false},
    {"fence.proxy.alias", "fence_proxy_alias", false},
    {"fence.proxy.async", "fence_proxy_async", false},
    {"fence.proxy.async.global", "fence_proxy_async_global", false},
    {"fence.proxy.async.shared::cta", "fence_proxy_async_shared_cta", false},
    {"fence.proxy.async.shared::cluster", "fence_proxy_async_shared_cluster", false},
    {"barrier.cluster.arrive.aligned", "barrier_cluster_arrive", false},
    {"barrier.cluster.arrive.release.aligned", "barrier_cluster_arrive<px::release>", false},
    {"barrier.cluster.arrive.relaxed.aligned", "barrier_cluster_arrive<px::relaxed>", false},
    {"barrier.cluster.wait.aligned", "barrier_cluster_wait", false},
    {"barrier.cluster.wait.acquire.aligned", "barrier_cluster_wait<px::acquire>", false},
    {"barrier.cluster.arrive", "barrier_cluster_arrive_nonaligned", false},
    {"barrier.cluster.arrive.release", "barrier_cluster_arrive_nonaligned<px::release>", false},
    {"barrier.cluster.arrive.relaxed", "barrier_cluster_arrive_nonaligned<px::relaxed>", false},
    {"barrier.cluster.wait", "barrier_cluster_wait_nonaligned", false},
    {"barrier.cluster.wait.acquire", "barrier_cluster_wait_nonaligned<px::acquire>", false},
    {"setmaxnreg.inc.sync.aligned.u32", "setmaxnreg_inc", true},
    {"setmaxnreg.dec.sync.aligned.u32", "setmaxnreg_dec", true},
    {"tcgen05.wait::ld.sync.aligned", "tcgen05.wait_ld", false},
    {"tcgen05.wait::st.sync.aligned", "tcgen05.wait_st", false},
    {"membar.cta", "membar<px::cta>", false},
    {"membar.gl", "membar<px::gl>", false},
    {"membar.sys", "membar<px::sys>", false},
};

}  // namespace ptxdsl::ptx
