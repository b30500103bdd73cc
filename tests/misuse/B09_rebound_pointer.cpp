// SPDX-License-Identifier: Apache-2.0
// B09: a pointer or vector made in front of a branch or loop that is assigned in its body.
#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;
using px::f32, px::u32;
using hopper = px::builder<px::sm_90a>;

#if PTXDSL_CASE == 0

constexpr void body(hopper& k, px::global_ptr<f32> out, px::reg<u32> n) {
    auto first = out;
    for (u32 j = 0; j < 3; ++j) {  // a C++ loop: each round is written anew
        k.st(first, 1.0f);
        first = first + 1;
    }
    auto i = k.mov<u32>(0);
    k.for_(n, [&](px::reg<u32>) {
        auto p = out + i;  // made in the body
        k.st(p, 1.0f);
        p = p + 1;
        k.st(p, 1.0f);
        i += 128u;  // what changes from round to round is in a register
    });
    px::global_ptr<f32> late;
    k.if_(i == n, [&] {
        late = out + i;  // named nothing before
        k.st(late, 2.0f);
    });
    k.role(128, [&] { first = out; });  // all threads pass
    k.st(first, 3.0f);
}

#elif PTXDSL_CASE == 1
// warn-1: PTXDSL-B09 "pointer"

constexpr void body(hopper& k, px::global_ptr<f32> out, px::reg<u32> n) {
    auto p = out;
    k.for_(n, [&](px::reg<u32>) {
        k.st(p, 1.0f);
        p = p + 128;  // the next round stores where this one did
    });
}

#elif PTXDSL_CASE == 2
// warn-2: PTXDSL-B09 "pointer"

constexpr void body(hopper& k, px::global_ptr<f32> out, px::reg<u32> n) {
    auto p = out;
    k.if_(n == 0u, [&] { p = p + 1; });
    k.st(p, 1.0f);  // one further in all threads
}

#elif PTXDSL_CASE == 3
// warn-3: PTXDSL-B09 "vector"

constexpr void body(hopper& k, px::global_ptr<f32> data, px::reg<u32> n) {
    const auto pairs = data.assume_aligned<8>().as<px::packet<f32, 2>>();
    auto v = k.ld(pairs);
    k.for_(n, [&](px::reg<u32> i) {
        k.st(pairs + i, v);
        v = k.ld(pairs + (i + 1u));
    });
}

#elif PTXDSL_CASE == 4
// warn-4: PTXDSL-B09 "pointer"

constexpr void body(hopper& k, px::global_ptr<f32> out, px::reg<u32> n) {
    auto p = out;
    k.if_(n == 0u, [&] { k.trap(); }).else_([&] { p = p + 1; });
    k.st(p, 1.0f);
}

#endif
[[maybe_unused]] constexpr auto ptx = px::assemble<px::kernel<"test", body, px::attributes{.reqntid = {128}}>>();
