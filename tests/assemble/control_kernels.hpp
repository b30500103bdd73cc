// SPDX-License-Identifier: Apache-2.0
// One kernel for each control construct. Thread i computes one u32 from i; `expected` says the same in C++.
#pragma once

#include <ptxdsl/ptxdsl.hpp>

namespace control_kernels {

namespace px = ptxdsl;
using px::u32;
using k_t = px::builder<px::sm_90a>;
using reg32 = px::reg<u32>;

/// Shared frame: thread index in, one word out.
template <class Body>
constexpr void with_thread(k_t& k, px::global_ptr<u32> out, Body&& body) {
    const auto i = k.mov(px::tid.x).named("i");
    const auto x = k.mov<u32>(0).named("x");
    body(i, x);
    k.st(out + i, x);
}

// Run-time assignment: `x = …` writes x's register, so a value survives branches and loops.

constexpr void if_else(k_t& k, px::global_ptr<u32> out) {
    with_thread(k, out, [&](reg32 i, reg32 x) {
        k.if_((i & 1u) == 0u, [&] { x = i + 100u; }).else_([&] {
            k.if_(i > 16u, [&] { x = i * 3u; }).else_([&] { x = i; });
        });
        k.if_(px::unless(i == 5u), [&] { x += 1u; });
    });
}
constexpr u32 if_else_expected(u32 i) {
    u32 x = i % 2 == 0 ? i + 100 : i > 16 ? i * 3 : i;
    return i != 5 ? x + 1 : x;
}

constexpr void loops(k_t& k, px::global_ptr<u32> out) {
    with_thread(k, out, [&](reg32 i, reg32 x) {
        k.for_(i, [&](reg32 j) { x += j; });
        k.for_(2u, 20u, 5u, [&](reg32 j, px::loop_handle loop) {
            loop.continue_if(j == 7u);
            loop.break_if(j > i);
            x += j * 1000u;
        });
        for (u32 unrolled = 0; unrolled < 3; ++unrolled) x += unrolled;
    });
}
constexpr u32 loops_expected(u32 i) {
    u32 x = 0;
    for (u32 j = 0; j < i; ++j) x += j;
    for (u32 j = 2; j < 20; j += 5) {
        if (j == 7) continue;
        if (j > i) break;
        x += j * 1000;
    }
    return x + 3;
}

constexpr void while_loops(k_t& k, px::global_ptr<u32> out) {
    with_thread(k, out, [&](reg32 i, reg32 x) {
        auto n = k.mov(i);
        k.while_([&] { return n > 1u; }, [&] {  // Collatz-like: at least one step each time
            k.if_((n & 1u) == 0u, [&] { n >>= 1u; }).else_([&] { n -= 1u; });
            x += 1u;
        });
        k.do_while([&] {
            x += 10u;
            return x < 30u;
        });
        k.loop([&](px::loop_handle outer) {
            k.loop([&](px::loop_handle) {
                x += 1u;
                outer.break_if(x >= 40u);
            });
        });
    });
}
constexpr u32 while_loops_expected(u32 i) {
    u32 x = 0;
    for (u32 n = i; n > 1; ++x) n = n % 2 == 0 ? n / 2 : n - 1;
    do x += 10;
    while (x < 30);
    do ++x;
    while (x < 40);
    return x;
}

constexpr void switches(k_t& k, px::global_ptr<u32> out) {
    with_thread(k, out, [&](reg32 i, reg32 x) {
        const auto which = i % 5u;
        k.switch_(which, px::case_<0>([&] { x = i; }), px::case_<1>([&] { x = i * i; }), px::case_<3>([&] { x = ~i; }),
                  px::default_([&] { x = i << 4u; }));
    });
}
constexpr u32 switches_expected(u32 i) {
    switch (i % 5) {
        case 0: return i;
        case 1: return i * i;
        case 3: return ~i;
        default: return i << 4;
    }
}

constexpr void tables(k_t& k, px::global_ptr<u32> out) {
    with_thread(k, out, [&](reg32 i, reg32 x) {
        k.switch_table(i % 7u, px::case_<4>([&] { x = i * 5u; }), px::case_<0>([&] { x = i; }),
                       px::case_<2>([&] { k.if_(i > 16u, [&] { x = ~i; }); }), px::default_([&] { x = i << 4u; }));
        k.for_(0u, 3u, 1u, [&](reg32 j, px::loop_handle loop) {
            k.switch_table(j, px::case_<0>([&] { x += 1u; }), px::case_<1>([&] { loop.break_if(i == 9u); }),
                           px::case_<2>([&] { x += 2u; }));
        });
        const auto odd = k.new_label("odd"), even = k.new_label("even"), done = k.new_label("done");
        k.brx_idx(i & 1u, {even, odd});
        k.place(odd);
        x += 100u;
        k.bra(done);
        k.place(even);
        x += 200u;
        k.place(done);
        const auto one = k.new_label("one"), all = k.new_label("all");
        const auto parity = k.branch_targets({all, one, all});
        k.at(i < 3u).brx_idx(i, parity);
        x += 1000u;
        k.place(one);
        x += 2000u;
        k.place(all);
    });
}
constexpr u32 tables_expected(u32 i) {
    u32 x = 0;
    switch (i % 7) {
        case 4: x = i * 5; break;
        case 0: x = i; break;
        case 2: x = i > 16 ? ~i : 0; break;
        default: x = i << 4;
    }
    x += i == 9 ? 1 : 3;
    x += i % 2 == 1 ? 100 : 200;
    return i == 0 || i == 2 ? x : i == 1 ? x + 2000 : x + 3000;
}

constexpr reg32 triple(k_t& k, reg32 x) { return k.mul_lo(x, 3u); }
constexpr reg32 triple_sum(k_t& k, reg32 a, reg32 b) {
    return k.add(k.call<"triple", triple>(a), k.call<"triple", triple>(b));
}

constexpr void functions(k_t& k, px::global_ptr<u32> out) {
    with_thread(k, out, [&](reg32 i, reg32 x) {
        k.scope([&] { x = k.call<"triple_sum", triple_sum>(i, k.call<"triple", triple>(i)); });
        const auto late = k.new_label("late");
        k.at(i < 10u).bra(late);
        x += 7u;
        k.place(late);
    });
}
constexpr u32 functions_expected(u32 i) { return 3 * i + 9 * i + (i < 10 ? 0 : 7); }

constexpr reg32 square(k_t& k, reg32 x) { return k.mul_lo(x, x); }
constexpr void rest(k_t& k, reg32 x) { k.nanosleep(x); }

constexpr void function_pointers(k_t& k, px::global_ptr<u32> out) {
    with_thread(k, out, [&](reg32 i, reg32 x) {
        const auto f = k.selp(k.address_of<"triple", triple>(), k.address_of<"square", square>(), i < 8u);
        x = k.add(k.call(f, i), k.call(f, k.call<px::callee<"triple", triple>, px::callee<"square", square>>(f, i)));
        const auto wait = k.address_of<"rest", rest>();
        k.call(wait, i);
        k.at(i == 5u).call(wait, k.add(i, 1u));
    });
}
constexpr u32 function_pointers_expected(u32 i) {
    const u32 once = i < 8 ? 3 * i : i * i, twice = i < 8 ? 9 * i : i * i * i * i;
    return once + twice;
}

/// Nested calls in every order: the text may not depend on the compiler's order of argument evaluation.
constexpr void nesting(k_t& k, px::global_ptr<u32> out) {
    with_thread(k, out, [&](reg32 i, reg32 x) {
        x = k.sub(k.add(k.mul_lo(i, 3u), k.shl(i, 2u)), k.xor_(k.and_(i, 7u), k.add(i, k.popc(i))));
        x = (x + i) * (x - i) + ((i ^ x) | (i << 3u));
    });
}
constexpr u32 nesting_expected(u32 i) {
    u32 bits = 0;
    for (u32 n = i; n != 0; n &= n - 1) ++bits;
    const u32 x = (i * 3 + (i << 2)) - ((i & 7) ^ (i + bits));
    return (x + i) * (x - i) + ((i ^ x) | (i << 3));
}

struct entry {
    const char* name;
    void (*body)(k_t&, px::global_ptr<u32>);
    u32 (*expected)(u32);
};
inline constexpr entry all[] = {
    {"if_else", if_else, if_else_expected},
    {"loops", loops, loops_expected},
    {"while_loops", while_loops, while_loops_expected},
    {"switches", switches, switches_expected},
    {"tables", tables, tables_expected},
    {"functions", functions, functions_expected},
    {"function_pointers", function_pointers, function_pointers_expected},
    {"nesting", nesting, nesting_expected},
};

inline constexpr px::attributes block{.reqntid = {64}};

}  // namespace control_kernels
