// SPDX-License-Identifier: Apache-2.0
// What the right kernels of accepted_*.cpp share. Each file has one pattern, written in a way of its own, which no rule
// may refuse.
#pragma once

#include "findings.hpp"

namespace accepted {

using namespace ptxdsl_test;

using blackwell = px::builder<px::sm_100a>;
using reg = px::reg<u32>;
using source = px::global_ptr<const f32, 16>;
using floats = px::global_ptr<f32, 16>;
using words = px::global_ptr<u32>;
using tile = px::tile<bf16, 64, 64>;
using map = px::tma_map<tile>;
using map_out = px::tma_map_out<tile>;

constexpr u32 chunk = 4096;  // bytes
constexpr px::attributes block(u32 threads, u32 cluster = 0) { return {.reqntid = {threads}, .cluster = {cluster}}; }

/// Chunk `i` of an array.
template <class Array, class Index>
auto part(const Array& s, const Index& i) {
    return (s + i * 1024u).template assume_aligned<16>();
}
inline void meet(builder& k) {
    k.barrier_cluster_arrive();
    k.barrier_cluster_wait();
}

}  // namespace accepted
