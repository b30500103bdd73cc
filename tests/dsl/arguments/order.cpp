// SPDX-License-Identifier: Apache-2.0
// The order of nested calls among the arguments: the same text from every compiler, in constant evaluation and at run
// time, or the same refusal (K05). g++ evaluates arguments last to first at run time and first to last in constant
// evaluation, clang first to last in both. determinism.py compares what the programs print.
#include <ptxdsl/assemble/run_time.hpp>
#include <ptxdsl/ptxdsl.hpp>

#include <cstdio>

namespace {

namespace px = ptxdsl;
using px::f32, px::u32, px::u64;
using hopper = px::builder<px::sm_90a>;
using gp = px::global_ptr<f32>;
using f32r = px::reg<f32>;
using u32r = px::reg<u32>;

// ---- helper functions, of one instruction and of several, that name their results and that do not

constexpr auto sq(hopper& k, f32r x) { return k.mul<px::rn>(x, x); }
constexpr auto cube(hopper& k, f32r x) {
    const auto s = x * x;
    return k.mul<px::rn>(s, x);
}
constexpr auto named_sq(hopper& k, f32r x) {
    const auto s = k.mul<px::rn>(x, x);
    return s;
}
constexpr auto named_cube(hopper& k, f32r x) {
    const auto s = x * x;
    const auto t = k.mul<px::rn>(s, x);
    return t;
}
constexpr auto where_to(hopper& k, gp p, u32r i) {
    const auto j = k.add(i, 4u);
    return p + j;
}
constexpr auto named_where(hopper&, gp p, u32r i) {
    const auto q = p + i;
    return q;
}
constexpr px::global_ptr<const f32> cwhere(hopper&, gp p, u32r i) { return p + i; }
constexpr auto load_clear(hopper& k, gp p) {
    auto x = k.ld(p);
    k.st(p, 0.0f);
    return x;
}
constexpr auto cload_clear(hopper& k, gp p) {
    const auto x = k.ld(p);
    k.st(p, 0.0f);
    return x;
}
constexpr auto clear_load(hopper& k, gp p, gp q) {
    k.st(p, 0.0f);
    return k.ld(q);
}
constexpr auto sub1(hopper& k, gp p) { k.st(p, 1.0f); }
constexpr auto sub2(hopper& k, gp p) { return k.ld(p); }
constexpr auto subs(hopper& k, gp p) {
    sub1(k, p);
    return sub2(k, p);
}
struct frag {
    f32r r[4];
    constexpr f32r get(int i) const { return r[i]; }
};

// ---- one kernel body each

constexpr void helper_behind_index(hopper& k, gp a, gp, u32r i, f32r x, f32r) { k.st(a + i, cube(k, x)); }
constexpr void two_loads(hopper& k, gp a, gp b, u32r, f32r, f32r) { k.st(a, k.add<px::rn>(k.ld(a), k.ld(b))); }
constexpr void helpers_twice(hopper& k, gp a, gp, u32r, f32r x, f32r y) {
    k.st(a, k.add<px::rn>(cube(k, x), cube(k, y)));
}
constexpr void short_helpers(hopper& k, gp a, gp, u32r, f32r x, f32r y) { k.st(a, k.add<px::rn>(sq(k, x), sq(k, y))); }
constexpr void short_and_long_helper(hopper& k, gp a, gp, u32r, f32r x, f32r y) {
    k.st(a, k.add<px::rn>(sq(k, x), cube(k, y)));
}
constexpr void long_and_short_helper(hopper& k, gp a, gp, u32r, f32r x, f32r y) {
    k.st(a, k.add<px::rn>(cube(k, x), sq(k, y)));
}
constexpr void short_helpers_behind_one(hopper& k, gp a, gp, u32r, f32r x, f32r y) {
    const auto z = sq(k, x);
    k.st(a, k.add<px::rn>(sq(k, z), sq(k, y)));
}
constexpr void long_helper_behind_short(hopper& k, gp a, gp, u32r, f32r x, f32r y) {
    const auto z = sq(k, x);
    k.st(a, k.add<px::rn>(sq(k, z), cube(k, y)));
}
constexpr void long_helper_first_behind_short(hopper& k, gp a, gp, u32r, f32r x, f32r y) {
    const auto z = sq(k, x);
    k.st(a, k.add<px::rn>(cube(k, z), sq(k, y)));
}
constexpr void helpers_behind_statement(hopper& k, gp a, gp b, u32r, f32r x, f32r y) {
    sub1(k, b);
    k.st(a, k.add<px::rn>(sq(k, x), cube(k, y)));
}
constexpr void named_result(hopper& k, gp a, gp, u32r i, f32r x, f32r) { k.st(a + i, named_sq(k, x)); }
constexpr void named_result_of_many(hopper& k, gp a, gp, u32r i, f32r x, f32r) { k.st(a + i, named_cube(k, x)); }
constexpr void named_results(hopper& k, gp a, gp, u32r, f32r x, f32r y) {
    k.st(a, k.add<px::rn>(named_sq(k, x), named_sq(k, y)));
}
constexpr void pointer_of_helper(hopper& k, gp a, gp b, u32r i, f32r, f32r) {
    k.st(a, k.add<px::rn>(k.ld(where_to(k, b, i)), k.ld(a)));
}
constexpr void pointer_of_helper_last(hopper& k, gp a, gp b, u32r i, f32r, f32r) {
    k.st(a, k.add<px::rn>(k.ld(a), k.ld(where_to(k, b, i))));
}
constexpr void named_pointer_of_helper(hopper& k, gp a, gp b, u32r i, f32r, f32r) {
    k.st(a, k.add<px::rn>(k.ld(a), k.ld(named_where(k, b, i))));
}
constexpr void converted_pointer_of_helper(hopper& k, gp a, gp b, u32r i, f32r, f32r) {
    k.st(a, k.add<px::rn>(k.ld(a), k.ld(cwhere(k, b, i))));
}
constexpr void guarded_load(hopper& k, gp a, gp b, u32r i, f32r, f32r) {
    k.st(a, k.add<px::rn>(k.at(i < 4u).ld(a), k.ld(b)));
}
constexpr void guarded_load_and_helper(hopper& k, gp a, gp, u32r i, f32r x, f32r) {
    k.st(a, k.add<px::rn>(k.at(i < 4u).ld(a), cube(k, x)));
}
constexpr void helper_and_guarded_load(hopper& k, gp a, gp, u32r i, f32r x, f32r) {
    k.st(a, k.add<px::rn>(cube(k, x), k.at(px::unless(i < 4u)).ld(a + i)));
}
constexpr void mapped_pointer(hopper& k, gp, gp, u32r i, f32r, f32r) {
    const auto s = k.smem_array<u32>(64);
    k.st(k.mapa(s + k.ld(k.smem_array<u32>(1)), i + 1u), 1u);
}
constexpr void mapped_pointer_and_helper(hopper& k, gp, gp, u32r, f32r x, f32r) {
    const auto s = k.smem_array<f32>(64);
    const auto n = k.smem_array<u32>(1);
    k.st(k.mapa(s + k.ld(n), k.ld(n)), cube(k, x));
}
constexpr void clears_behind_result(hopper& k, gp a, gp b, u32r, f32r, f32r) {
    k.st(a, k.add<px::rn>(k.ld(a), load_clear(k, b)));
}
constexpr void clears_behind_named_result(hopper& k, gp a, gp b, u32r, f32r, f32r) {
    k.st(a, k.add<px::rn>(k.ld(a), cload_clear(k, b)));
}
constexpr void clears_behind_result_first(hopper& k, gp a, gp b, u32r, f32r, f32r) {
    k.st(a, k.add<px::rn>(load_clear(k, b), k.ld(a)));
}
constexpr void clears_before_result(hopper& k, gp a, gp b, u32r, f32r, f32r) {
    k.st(a, k.add<px::rn>(k.ld(a), clear_load(k, b, a)));
}
constexpr void clears_before_result_first(hopper& k, gp a, gp b, u32r, f32r, f32r) {
    k.st(a, k.add<px::rn>(clear_load(k, b, a), k.ld(a)));
}
constexpr void helper_of_helpers(hopper& k, gp a, gp b, u32r, f32r, f32r) {
    k.st(a, k.add<px::rn>(subs(k, b), k.ld(a)));
}
constexpr void helper_of_helpers_last(hopper& k, gp a, gp b, u32r, f32r, f32r) {
    k.st(a, k.add<px::rn>(k.ld(a), subs(k, b)));
}
constexpr void loop_of_loads(hopper& k, gp, gp b, u32r, f32r x, f32r) {
    const auto s = k.smem_array<u32>(64);
    k.for_(k.ld(s), k.ld(s + 1), k.ld(s + 2), [&](px::reg<u32> j) { k.st(b + j, x); });
}
constexpr void loop_of_sum_and_load(hopper& k, gp, gp b, u32r i, f32r x, f32r) {
    const auto s = k.smem_array<u32>(64);
    k.for_(i + 1u, k.ld(s + i), 1u, [&](px::reg<u32> j) { k.st(b + j, x); });
}
constexpr void wait_of_stage(hopper& k, gp, gp b, u32r i, f32r, f32r) {
    const auto s = k.smem_array<u32>(64);
    const auto bar = k.make_mbarrier_ring<"b">(2, px::arrivals<1>);
    k.mbarrier_init(bar[0]);
    k.mbarrier_init(bar[1]);
    k.wait(bar[i & 1u], k.ld(s));
}
constexpr void wait_of_constant_stage(hopper& k, gp, gp b, u32r, f32r, f32r) {
    const auto s = k.smem_array<u32>(64);
    const auto bar = k.make_mbarrier_ring<"b">(2, px::arrivals<1>);
    k.mbarrier_init(bar[0]);
    k.mbarrier_init(bar[1]);
    k.wait(bar[1], k.ld(s));
}
constexpr void handed_out_again(hopper& k, gp a, gp b, u32r, f32r, f32r) {
    frag f;
    for (int j = 0; j < 4; ++j) f.r[j] = k.ld(a + j);
    k.st(a, k.add<px::rn>(k.ld(b), f.get(3)));
}
constexpr void handed_out_from_list(hopper& k, gp a, gp b, u32r, f32r, f32r) {
    frag f{{k.ld(a), k.ld(a + 1), k.ld(a + 2), k.ld(a + 3)}};
    k.st(a, k.add<px::rn>(k.ld(b), f.get(3)));
}
constexpr void three_with_helper(hopper& k, gp a, gp b, u32r, f32r x, f32r) {
    k.st(a, k.fma<px::rn>(k.ld(a), cube(k, x), k.ld(b)));
}
constexpr void three_with_helpers(hopper& k, gp a, gp, u32r, f32r x, f32r y) {
    k.st(a, k.fma<px::rn>(cube(k, x), k.ld(a), sq(k, y)));
}
constexpr void three_with_helper_last(hopper& k, gp a, gp, u32r, f32r x, f32r y) {
    k.st(a, k.fma<px::rn>(sq(k, x), k.ld(a), cube(k, y)));
}
constexpr void vector_with_helper(hopper& k, gp a, gp, u32r i, f32r x, f32r) {
    k.st((a + i).as<px::packet<f32, 2>>().assume_aligned<8>(), px::vec{k.ld(a), cube(k, x)});
}
constexpr void lambda_behind_index(hopper& k, gp a, gp, u32r i, f32r x, f32r) {
    const auto l = [&](px::reg<f32> v) {
        const auto s = v * v;
        return s * v;
    };
    k.st(a + i, l(x));
}
constexpr void lambdas_twice(hopper& k, gp a, gp, u32r, f32r x, f32r y) {
    const auto l = [&](px::reg<f32> v) {
        const auto s = v * v;
        return s * v;
    };
    k.st(a, l(x) + l(y));
}
constexpr void select_with_helper(hopper& k, gp a, gp b, u32r i, f32r x, f32r) {
    k.st(a + i, k.selp(cube(k, x), k.ld(b), i < 3u));
}
constexpr void nested_with_helper(hopper& k, gp a, gp b, u32r, f32r x, f32r) {
    k.st(a, k.add<px::rn>(k.mul<px::rn>(cube(k, x), k.ld(b)), k.ld(a)));
}
constexpr void nested_with_helper_last(hopper& k, gp a, gp b, u32r, f32r x, f32r) {
    k.st(a, k.add<px::rn>(k.ld(a), k.mul<px::rn>(k.ld(b), cube(k, x))));
}
constexpr void loaded_index(hopper& k, gp a, gp b, u32r i, f32r, f32r) { k.st(a + k.ld(b.as<u32>()), k.ld(a + i)); }
constexpr void store_to_pointer_of_helper(hopper& k, gp a, gp, u32r i, f32r, f32r) {
    k.st(where_to(k, a, i), k.ld(a + i));
}
constexpr void store_to_pointer_of_helper_twice(hopper& k, gp a, gp, u32r i, f32r x, f32r) {
    k.st(where_to(k, a, i), cube(k, x));
}
constexpr void wait_for_own_arrival(hopper& k, gp a, gp b, u32r i, f32r x, f32r) {
    const auto bar = k.make_mbarrier_ring<"b">(2, px::arrivals<1>);
    k.mbarrier_init(bar[0]);
    k.mbarrier_init(bar[1]);
    k.bar_sync();
    k.if_(k.mbarrier_try_wait(bar[i & 1u], k.mbarrier_arrive(bar[i & 1u])), [&] { k.st(a, x); });
}
constexpr void reduction_of_barrier(hopper& k, gp a, gp, u32r i, f32r x, f32r) {
    k.if_(k.barrier_cta_red_and(i & 7u, i * 32u, i < 2u), [&] { k.st(a, x); });
}
constexpr void atomic_with_helper(hopper& k, gp a, gp, u32r i, f32r x, f32r) { k.st(a, k.atom_add(a + i, cube(k, x))); }
constexpr void operators_with_helper(hopper& k, gp a, gp b, u32r, f32r x, f32r y) {
    k.st(a, k.ld(a) * k.ld(b) + cube(k, x) * y);
}
constexpr void element_with_helper(hopper& k, gp, gp, u32r i, f32r x, f32r) {
    const auto s = k.smem<px::tile<f32, 64, 32>>(2, "s");
    k.st(k.tile_element(s[i & 1u], i + 1u, i + 2u), cube(k, x));
}
constexpr void remote_arrival(hopper& k, gp, gp b, u32r i, f32r, f32r) {
    const auto bar = k.make_mbarrier_ring<"b">(2, px::arrivals<1>);
    k.mbarrier_init(bar[0]);
    k.mbarrier_init(bar[1]);
    k.mbarrier_arrive(k.mapa(bar[i & 1u], i + 1u), i + 2u);
}
constexpr void assignment_inside_operand(hopper& k, gp a, gp, u32r i, f32r, f32r) {
    auto n = k.mov(i);
    k.st(a + n, k.cvt<f32, px::rn>(n += 1u));
}
constexpr void assignment_behind_index(hopper& k, gp a, gp, u32r i, f32r, f32r) {
    auto n = k.mov(i);
    k.st(a.as<u32>() + n, n += 1u);
}
constexpr void assigned_call_behind_index(hopper& k, gp a, gp, u32r i, f32r, f32r) {
    auto m = k.mov(i);
    k.st(a.as<u32>() + m, m = k.add(i, 2u));
}
constexpr void assignments_in_a_row(hopper& k, gp a, gp b, u32r, f32r x, f32r y) {
    auto m = k.mov(x);
    auto n = k.mov(y);
    m = n = k.ld(a);
    m += n *= x;
    k.st(a, m);
    k.st(b, n);
}
constexpr void assignment_alone(hopper& k, gp a, gp, u32r, f32r x, f32r y) {
    auto m = k.mov(x);
    k.st(a, m += y);
}
constexpr void assignment_and_its_register(hopper& k, gp a, gp, u32r, f32r x, f32r y) {
    auto m = k.mov(x);
    k.st(a, k.add<px::rn>(m, m += y));
}
constexpr void named_assignment(hopper& k, gp a, gp b, u32r, f32r x, f32r) {
    auto m = k.mov(x);
    const auto z = (m = k.ld(b));
    k.st(a, k.add<px::rn>(z, m));
}
constexpr void assignment_as_index(hopper& k, gp a, gp b, u32r i, f32r x, f32r y) {
    auto n = k.mov(i);
    k.st(a + (n += 1u), x);
    k.if_(((n = k.add(n, 1u)) < 4u) && (n > 2u), [&] { k.st(b, y); });
}
constexpr u32r next(hopper& k, u32r x) { return k.add(x, 1u); }
constexpr void assignment_to_function(hopper& k, gp a, gp, u32r i, f32r, f32r) {
    auto n = k.mov(i);
    k.st(a.as<u32>(), k.call<"next", next>(n += 1u));
    const auto at = k.address_of<"next", next>();
    k.st(a.as<u32>(), k.call(at, n += 2u));
}
constexpr void assignment_switched_by(hopper& k, gp a, gp, u32r i, f32r x, f32r y) {
    auto n = k.mov(i);
    k.switch_(n += 1u, px::case_<0>([&] { k.st(a, x); }), px::default_([&] { k.st(a, y); }));
}
constexpr void assignment_in_vector(hopper& k, gp a, gp, u32r i, f32r, f32r) {
    auto n = k.mov(i);
    k.st(a.as<px::packet<u32, 2>>().assume_aligned<8>(), px::vec{i, n += 1u});
}
constexpr void assignment_in_vector_beside_a_call(hopper& k, gp a, gp, u32r i, f32r, f32r) {
    auto n = k.mov(i);
    k.st(a.as<px::packet<u32, 2>>().assume_aligned<8>(), px::vec{k.add(n, 2u), n += 1u});
}
constexpr void assignment_renamed(hopper& k, gp a, gp, u32r i, f32r, f32r) {
    auto n = k.mov(i);
    (n += 1u).named("count");
    k.st(a.as<px::s32>(), (n <<= 1u).as<px::s32>());
}
constexpr gp moved(hopper& k, gp a, u32r i) { return a + k.mul_lo(i, 3u); }
constexpr void named_policy(hopper& k, gp a, gp b, u32r i, f32r, f32r) {
    const px::cache_policy keep = k.createpolicy_fractional<px::L2::evict_last>();
    const auto first = moved(k, a, i).assume_aligned<16>();
    k.cp_async_bulk_prefetch_L2(first, 64u, keep);
    const auto second = moved(k, b, i).assume_aligned<16>();
    k.cp_async_bulk_prefetch_L2(second, 64u, keep);
}
constexpr void policy_among_arguments(hopper& k, gp a, gp, u32r i, f32r, f32r) {
    k.cp_async_bulk_prefetch_L2((a + i).assume_aligned<16>(), k.mul_lo(i, 16u),
                                k.createpolicy_fractional<px::L2::evict_last>());
}

enum class verdict : unsigned char { taken, refused };
constexpr px::attributes block{.reqntid = {32}, .cluster = {2}};

template <auto Body>
constexpr u64 fingerprint() {
    px::ir::program p;
    px::detail::write_program(p, "k", block, Body);
    if (p.findings.size() != 0) return 0;
    const auto view = p.read();
    px::detail::emitter e(view, 1u << 15);
    e.run();
    u64 h = 1469598103934665603u;
    for (u32 n = 0; n < e.out.size(); ++n) h = (h ^ static_cast<unsigned char>(e.out.data()[n])) * 1099511628211u;
    return h;
}

int failures = 0;

template <auto Body>
void show(const char* name, verdict expected) {
    constexpr u64 constant = fingerprint<Body>();
    u64 late = 0;
    late = fingerprint<Body>();
    if (constant != late) std::fprintf(stderr, "%s: run time and constant evaluation differ\n", name), ++failures;
    if ((late == 0) != (expected == verdict::refused)) std::fprintf(stderr, "%s: another verdict\n", name), ++failures;
    std::printf("%s %s\n", name, late == 0 ? "refused" : "taken");
    px::ir::program p;
    px::detail::write_program(p, "k", block, Body);
    for (const px::ir::finding& f : p.findings)
        if (px::string_view(f.id, 3) != px::string_view("K05"))
            std::fprintf(stderr, "%s: another finding\n", name), ++failures;
    if (late == 0) return;
    const auto view = p.read();
    px::detail::emitter e(view, 1u << 15);
    e.run();
    std::printf("%.*s\n", static_cast<int>(e.out.size()), e.out.data());
}

}  // namespace

int main() {
    show<helper_behind_index>("helper_behind_index", verdict::taken);
    show<two_loads>("two_loads", verdict::taken);
    show<helpers_twice>("helpers_twice", verdict::refused);
    show<short_helpers>("short_helpers", verdict::taken);
    show<short_and_long_helper>("short_and_long_helper", verdict::taken);
    show<long_and_short_helper>("long_and_short_helper", verdict::taken);
    show<short_helpers_behind_one>("short_helpers_behind_one", verdict::taken);
    show<long_helper_behind_short>("long_helper_behind_short", verdict::taken);
    show<long_helper_first_behind_short>("long_helper_first_behind_short", verdict::taken);
    show<helpers_behind_statement>("helpers_behind_statement", verdict::taken);
    show<named_result>("named_result", verdict::taken);
    show<named_result_of_many>("named_result_of_many", verdict::taken);
    show<named_results>("named_results", verdict::taken);
    show<pointer_of_helper>("pointer_of_helper", verdict::taken);
    show<pointer_of_helper_last>("pointer_of_helper_last", verdict::taken);
    show<named_pointer_of_helper>("named_pointer_of_helper", verdict::taken);
    show<converted_pointer_of_helper>("converted_pointer_of_helper", verdict::taken);
    show<guarded_load>("guarded_load", verdict::taken);
    show<guarded_load_and_helper>("guarded_load_and_helper", verdict::taken);
    show<helper_and_guarded_load>("helper_and_guarded_load", verdict::taken);
    show<mapped_pointer>("mapped_pointer", verdict::taken);
    show<mapped_pointer_and_helper>("mapped_pointer_and_helper", verdict::taken);
    show<clears_behind_result>("clears_behind_result", verdict::refused);
    show<clears_behind_named_result>("clears_behind_named_result", verdict::refused);
    show<clears_behind_result_first>("clears_behind_result_first", verdict::refused);
    show<clears_before_result>("clears_before_result", verdict::taken);
    show<clears_before_result_first>("clears_before_result_first", verdict::taken);
    show<helper_of_helpers>("helper_of_helpers", verdict::taken);
    show<helper_of_helpers_last>("helper_of_helpers_last", verdict::taken);
    show<loop_of_loads>("loop_of_loads", verdict::taken);
    show<loop_of_sum_and_load>("loop_of_sum_and_load", verdict::taken);
    show<wait_of_stage>("wait_of_stage", verdict::taken);
    show<wait_of_constant_stage>("wait_of_constant_stage", verdict::taken);
    show<handed_out_again>("handed_out_again", verdict::taken);
    show<handed_out_from_list>("handed_out_from_list", verdict::taken);
    show<three_with_helper>("three_with_helper", verdict::taken);
    show<three_with_helpers>("three_with_helpers", verdict::taken);
    show<three_with_helper_last>("three_with_helper_last", verdict::taken);
    show<vector_with_helper>("vector_with_helper", verdict::refused);
    show<lambda_behind_index>("lambda_behind_index", verdict::taken);
    show<lambdas_twice>("lambdas_twice", verdict::refused);
    show<select_with_helper>("select_with_helper", verdict::taken);
    show<nested_with_helper>("nested_with_helper", verdict::taken);
    show<nested_with_helper_last>("nested_with_helper_last", verdict::taken);
    show<loaded_index>("loaded_index", verdict::taken);
    show<store_to_pointer_of_helper>("store_to_pointer_of_helper", verdict::taken);
    show<store_to_pointer_of_helper_twice>("store_to_pointer_of_helper_twice", verdict::refused);
    show<wait_for_own_arrival>("wait_for_own_arrival", verdict::taken);
    show<reduction_of_barrier>("reduction_of_barrier", verdict::taken);
    show<atomic_with_helper>("atomic_with_helper", verdict::taken);
    show<operators_with_helper>("operators_with_helper", verdict::taken);
    show<element_with_helper>("element_with_helper", verdict::taken);
    show<remote_arrival>("remote_arrival", verdict::taken);
    show<assignment_inside_operand>("assignment_inside_operand", verdict::taken);
    show<assignment_behind_index>("assignment_behind_index", verdict::refused);
    show<assigned_call_behind_index>("assigned_call_behind_index", verdict::refused);
    show<assignments_in_a_row>("assignments_in_a_row", verdict::taken);
    show<assignment_alone>("assignment_alone", verdict::taken);
    show<assignment_and_its_register>("assignment_and_its_register", verdict::refused);
    show<named_assignment>("named_assignment", verdict::taken);
    show<assignment_as_index>("assignment_as_index", verdict::taken);
    show<assignment_to_function>("assignment_to_function", verdict::taken);
    show<assignment_switched_by>("assignment_switched_by", verdict::taken);
    show<assignment_in_vector>("assignment_in_vector", verdict::taken);
    show<assignment_in_vector_beside_a_call>("assignment_in_vector_beside_a_call", verdict::refused);
    show<assignment_renamed>("assignment_renamed", verdict::taken);
    show<named_policy>("named_policy", verdict::taken);
    show<policy_among_arguments>("policy_among_arguments", verdict::taken);
    return failures == 0 ? 0 : 1;
}
