// SPDX-License-Identifier: Apache-2.0
// Which typed call of the builder emits an instruction. What is not here is written with `k.inst`.
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

inline constexpr typed_call typed_calls[] = {
    {isa::tok::add, isa::tok::none, "add", "TT", 'T', true, 'a'},
    {isa::tok::sub, isa::tok::none, "sub", "TT", 'T', true, 'a'},
    {isa::tok::mul, isa::tok::lo, "mul_lo", "TT", 'T', false, 'i'},
    {isa::tok::mul, isa::tok::hi, "mul_hi", "TT", 'T', false, 'i'},
    {isa::tok::mul, isa::tok::wide, "mul_wide", "TT", 'W', false, 'i'},
    {isa::tok::mul, isa::tok::none, "mul", "TT", 'T', true, 'f'},
    {isa::tok::mad, isa::tok::lo, "mad_lo", "TTT", 'T', false, 'i'},
    {isa::tok::mad, isa::tok::hi, "mad_hi", "TTT", 'T', false, 'i'},
    {isa::tok::mad, isa::tok::wide, "mad_wide", "TTW", 'W', false, 'i'},
    {isa::tok::mad, isa::tok::none, "mad", "TTT", 'T', true, 'f'},
    {isa::tok::fma, isa::tok::none, "fma", "TTT", 'T', true, 'f'},
    {isa::tok::div, isa::tok::none, "div", "TT", 'T', true, 'a'},
    {isa::tok::rem, isa::tok::none, "rem", "TT", 'T', false, 'i'},
    {isa::tok::abs, isa::tok::none, "abs", "T", 'T', true, 'a'},
    {isa::tok::neg, isa::tok::none, "neg", "T", 'T', true, 'a'},
    {isa::tok::min, isa::tok::none, "min", "TT", 'T', true, 'a'},
    {isa::tok::max, isa::tok::none, "max", "TT", 'T', true, 'a'},
    {isa::tok::min, isa::tok::none, "min", "TTT", 'T', true, 'f'},
    {isa::tok::max, isa::tok::none, "max", "TTT", 'T', true, 'f'},
    {isa::tok::sad, isa::tok::none, "sad", "TTT", 'T', false, 'i'},
    {isa::tok::rcp, isa::tok::none, "rcp", "T", 'T', true, 'f'},
    {isa::tok::sqrt, isa::tok::none, "sqrt", "T", 'T', true, 'f'},
    {isa::tok::rsqrt, isa::tok::none, "rsqrt", "T", 'T', true, 'f'},
    {isa::tok::sin, isa::tok::none, "sin", "T", 'T', true, 'f'},
    {isa::tok::cos, isa::tok::none, "cos", "T", 'T', true, 'f'},
    {isa::tok::lg2, isa::tok::none, "lg2", "T", 'T', true, 'f'},
    {isa::tok::ex2, isa::tok::none, "ex2", "T", 'T', true, 'f'},
    {isa::tok::tanh, isa::tok::none, "tanh", "T", 'T', true, 'f'},
    {isa::tok::copysign, isa::tok::none, "copysign", "TT", 'T', false, 'f'},
    {isa::tok::popc, isa::tok::none, "popc", "T", 'U', false, 'a'},
    {isa::tok::clz, isa::tok::none, "clz", "T", 'U', false, 'a'},
    {isa::tok::bfind, isa::tok::none, "bfind", "T", 'U', true, 'i'},
    {isa::tok::brev, isa::tok::none, "brev", "T", 'T', false, 'a'},
    {isa::tok::bfe, isa::tok::none, "bfe", "TUU", 'T', false, 'i'},
    {isa::tok::bfi, isa::tok::none, "bfi", "TTUU", 'T', false, 'a'},
    {isa::tok::and_, isa::tok::none, "and_", "TT", 'T', false, 'a'},
    {isa::tok::or_, isa::tok::none, "or_", "TT", 'T', false, 'a'},
    {isa::tok::xor_, isa::tok::none, "xor_", "TT", 'T', false, 'a'},
    {isa::tok::not_, isa::tok::none, "not_", "T", 'T', false, 'a'},
    {isa::tok::cnot, isa::tok::none, "cnot", "T", 'T', false, 'a'},
    {isa::tok::shl, isa::tok::none, "shl", "TU", 'T', false, 'a'},
    {isa::tok::shr, isa::tok::none, "shr", "TU", 'T', false, 'a'},
    {isa::tok::selp, isa::tok::none, "selp", "TTP", 'T', false, 'a'},
    {isa::tok::prmt, isa::tok::none, "prmt", "TTU", 'T', false, 'a'},
};

/// One spelling of calls: all words but the type, if there is one.
struct worded_call {
    const char* words;
    const char* call;
    const char* operands;  ///< sources, as in typed_call
    char result;           ///< likewise; ' ' for none
};

inline constexpr worded_call worded_calls[] = {
    {"vote.sync.all", "vote_sync_all", "PU", 'P'},
    {"vote.sync.any", "vote_sync_any", "PU", 'P'},
    {"vote.sync.uni", "vote_sync_uni", "PU", 'P'},
    {"vote.sync.ballot", "vote_sync_ballot", "PU", 'U'},
    {"match.any.sync", "match_any_sync", "TU", 'U'},
    {"match.all.sync", "match_all_sync", "TU", 'U'},
    {"redux.sync.add", "redux_sync_add", "TU", 'T'},
    {"redux.sync.min", "redux_sync_min", "TU", 'T'},
    {"redux.sync.max", "redux_sync_max", "TU", 'T'},
    {"redux.sync.and", "redux_sync_and", "TU", 'T'},
    {"redux.sync.or", "redux_sync_or", "TU", 'T'},
    {"redux.sync.xor", "redux_sync_xor", "TU", 'T'},
    {"activemask", "activemask", "", 'U'},
    {"bar.warp.sync", "bar_warp_sync", "U", ' '},
    {"nanosleep", "nanosleep", "U", ' '},
    {"shf.l.wrap", "shf_l_wrap", "TTU", 'T'},
    {"shf.l.clamp", "shf_l_clamp", "TTU", 'T'},
    {"shf.r.wrap", "shf_r_wrap", "TTU", 'T'},
    {"shf.r.clamp", "shf_r_clamp", "TTU", 'T'},
    {"bmsk.clamp", "bmsk_clamp", "UU", 'U'},
    {"bmsk.wrap", "bmsk_wrap", "UU", 'U'},
    {"movmatrix.sync.aligned.m8n8.trans", "movmatrix", "B", 'B'},
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
    {"brkpt", "brkpt", false},
    {"griddepcontrol.wait", "griddepcontrol_wait", false},
    {"griddepcontrol.launch_dependents", "griddepcontrol_launch_dependents", false},
};

}  // namespace ptxdsl::ptx
