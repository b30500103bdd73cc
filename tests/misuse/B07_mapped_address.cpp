// SPDX-License-Identifier: Apache-2.0
// B07: a mapped (mapa) address where only the own block is legal.
#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;
using px::f32, px::u32;
using hopper = px::builder<px::sm_90a>;

#if PTXDSL_CASE == 0

constexpr void local_only(hopper& k, px::shared_ptr<f32> p) { k.st(p, 0.0f); }
constexpr void anywhere(hopper& k, px::shared_cluster_ptr<f32> p) { k.st(p, 0.0f); }
constexpr void control(hopper& k, px::global_ptr<f32> p, px::reg<u32> rank) {
    const px::shared_ptr<f32> s = k.to_shared(k.cvta(p));
    local_only(k, s);
    k.barrier_cluster_arrive();
    k.barrier_cluster_wait();  // every block has started before another one reaches into it
    anywhere(k, s);  // a shared::cta address converts to shared::cluster by itself
    anywhere(k, k.mapa(s, rank));
    k.red_add(k.mapa(s, 1u), 1.0f);
    k.barrier_cluster_arrive();
    k.barrier_cluster_wait();  // and none has left
}
constexpr auto ptx = px::assemble<px::kernel<"control", control>>();
static_assert(!ptx.text().empty());

#elif PTXDSL_CASE == 1
// expect-1: PTXDSL-B07

constexpr void local_only(hopper& k, px::shared_ptr<f32> p) { k.st(p, 0.0f); }
constexpr void wrong(hopper& k, px::shared_ptr<f32> s) {
    local_only(k, k.mapa(s, 1u));  // here-1
}

#elif PTXDSL_CASE == 2
// expect-2: PTXDSL-B07

constexpr void wrong(hopper& k, px::shared_ptr<f32> s) {
    const px::shared_ptr<f32> own = k.mapa(s, 1u);  // here-2
    k.st(own, 0.0f);
}

#elif PTXDSL_CASE == 3
// expect-3: PTXDSL-B07

constexpr void wrong(hopper& k, px::shared_cluster_ptr<f32> c, px::global_ptr<f32> g) {
    k.cp_async<px::ca, 4>(c, g);  // here-3
}

#elif PTXDSL_CASE == 4
// expect-4: PTXDSL-B01

constexpr void wrong(hopper& k, px::shared_ptr<f32> s) {
    static_cast<void>(k.mapa(k.mapa(s, 1u), 2u));  // here-4
}

#endif
