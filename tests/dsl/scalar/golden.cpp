// SPDX-License-Identifier: Apache-2.0
// The text of a representative set of calls, line by line, and the PTX version each kernel ends with.

#include "../golden.hpp"

#include <ptxdsl/dsl/printf.hpp>
#include <ptxdsl/ptxdsl.hpp>

namespace px = ptxdsl;
using px::b64, px::bf16, px::bf16x2, px::e4m3x2, px::f16, px::f16x2, px::f32, px::f64, px::s32, px::u16, px::u32,
    px::u64;
using hopper = px::builder<px::sm_90a>;
using blackwell = px::builder<px::sm_100a>;

namespace {

using golden::kernels::check;

constexpr px::reg<u32> twice(hopper& k, px::reg<u32> x) { return k.add(x, x); }
constexpr px::reg<u32> square(hopper& k, px::reg<u32> x) { return k.mul_lo(x, x); }
constexpr void rest(hopper& k, px::reg<u32> x) { k.nanosleep(x); }

}  // namespace

int main() {
    check(
        "arithmetic", {8, 0},
        +[](hopper& k, px::reg<s32> a, px::reg<u32> n, px::reg<f32> f) {
            static_cast<void>(k.add<px::sat>(a, 5));
            static_cast<void>(k.mul_wide(a, 3));
            static_cast<void>(k.shr(a, n));
            static_cast<void>(k.shr(n, 4u));
            static_cast<void>(k.min(a, -1));
            static_cast<void>(k.max(n, 0xffffffffu));
            static_cast<void>(k.bfe(a, n, 8u));
            static_cast<void>(k.lop3<0xE8>(n, n, 7u));
            static_cast<void>(k.prmt(n, n, 0x5410u));
            static_cast<void>(k.fma<px::rz, px::ftz>(f, f, -0.5f));
            static_cast<void>(k.rcp<px::approx, px::ftz>(f));
            static_cast<void>(f * 2.0f + f);
            static_cast<void>(a >> 3u);
            static_cast<void>(k.dp4a(n, a, a));
            static_cast<void>(k.popc(n));
        },
        "add.sat.s32 %r2, %r0, 5;\n"
        "mul.wide.s32 %rd0, %r0, 3;\n"
        "shr.s32 %r3, %r0, %r1;\n"
        "shr.u32 %r4, %r1, 4;\n"
        "min.s32 %r5, %r0, -1;\n"
        "max.u32 %r6, %r1, 4294967295;\n"
        "bfe.s32 %r7, %r0, %r1, 8;\n"
        "lop3.b32 %r8, %r1, %r1, 7, 232;\n"
        "prmt.b32 %r9, %r1, %r1, 21520;\n"
        "fma.rz.ftz.f32 %f1, %f0, %f0, 0fBF000000;\n"
        "rcp.approx.ftz.f32 %f2, %f0;\n"
        "mul.rn.f32 %f3, %f0, 0f40000000;\n"
        "add.rn.f32 %f4, %f3, %f0;\n"
        "shr.s32 %r10, %r0, 3;\n"
        "dp4a.u32.s32 %r11, %r1, %r0, %r0;\n"
        "popc.b32 %r12, %r1;");

    check(
        "assignment", {8, 0},
        +[](hopper&, px::reg<f32> f, px::reg<u32> n, px::reg<u64> w) {
            const auto g = f;  // another name of the register
            f = 0.0f;
            n = 4294967295u;
            w = -1;
            f = g + 1.0f;
            auto p = n < 3u;
            p = n == 7u;
            static_cast<void>(p);
        },
        "mov.f32 %f0, 0f00000000;\n"
        "mov.b32 %r0, 4294967295;\n"
        "mov.b64 %rd0, -1;\n"
        "add.rn.f32 %f0, %f0, 0f3F800000;\n"
        "setp.lt.u32 %p0, %r0, 3;\n"
        "setp.eq.u32 %p0, %r0, 7;");
    check(
        "an empty handle gets a register of its own with its first assignment", {8, 0},
        +[](hopper& k, px::reg<u32> a, px::reg<u32> b) {
            px::reg<u32> m, sum, other, declared;
            px::reg<px::pred> p, q;
            sum = k.add(a, b);  // the call's
            m = a;
            m = b;
            p = a < b, q = p;
            other = a.same();
            other = k.sub(other, b);  // writes a, as its author says
            declared = k.new_reg<u32>("d");
            declared = m;
            static_cast<void>(k.selp(sum, m, q));
        },
        "add.u32 %r2, %r0, %r1;\n"
        "mov.b32 %r3, %r0;\n"
        "mov.b32 %r3, %r1;\n"
        "setp.lt.u32 %p0, %r0, %r1;\n"
        "mov.pred %p1, %p0;\n"
        "sub.u32 %r0, %r0, %r1;\n"
        "mov.b32 %d0, %r3;\n"
        "selp.u32 %r4, %r2, %r3, %p1;");
    check(
        "the arms of a branch write one register", {8, 0},
        +[](hopper& k, px::reg<u32> a, px::reg<u32> b) {
            px::reg<u32> m;
            k.if_(a < b, [&] { m = a; }).else_([&] { m = b; });
            k.nanosleep(m);
            k.nanosleep(a);
        },
        "setp.lt.u32 %p0, %r0, %r1;\n"
        "@!%p0 bra $else_0;\n"
        "mov.b32 %r2, %r0;\n"
        "bra $end_1;\n"
        "mov.b32 %r2, %r1;\n"
        "nanosleep.u32 %r2;\n"
        "nanosleep.u32 %r0;");
    check(
        "byte offsets", {8, 0},
        +[](hopper& k, px::global_ptr<f32> p, px::reg<u64> n, px::reg<px::s64> m) {
            k.st(p.byte_offset(n), 1.0f);
            k.st(p.byte_offset(k.mul_lo(n, 8u)), k.ld(p.byte_offset(m)));
            k.st(k.smem_array<f32>(4).byte_offset(k.cvt<u32>(n)), 1.0f);
        },
        "add.u64 %rd3, %rd0, %rd1;\n"
        "st.global.f32 [%rd3], 0f3F800000;\n"
        "mul.lo.u64 %rd4, %rd1, 8;\n"
        "add.u64 %rd5, %rd0, %rd4;\n"
        "add.s64 %rd6, %rd0, %rd2;\n"
        "ld.global.f32 %f0, [%rd6];\n"
        "st.global.f32 [%rd5], %f0;\n"
        "mov.u32 %r0, smem;\n"
        "cvt.u32.u64 %r1, %rd1;\n"
        "add.u32 %r2, %r0, %r1;\n"
        "st.shared.f32 [%r2], 0f3F800000;");
    check(
        "a call that is assigned writes the register it is assigned to", {8, 0},
        +[](hopper& k, px::reg<f32> f, px::reg<u32> n, px::global_ptr<const f32> in) {
            f = k.mov<f32>(0.0f);
            f = k.fma<px::rn>(f, k.ld(in), k.ld(in + 1));  // the outer call; its arguments keep their own
            f = k.at(n < 3u).add<px::rn>(f, 1.0f);         // under its guard
            n = k.cvt<u32, px::rzi>(f).as<px::s32>().as<u32>();
            n = k.shfl_sync_up_p(n, 1u, 0u, ~0u).d;
            n = k.call<"twice", twice>(n);
            px::reg<u32> late;
            late = n + 1u;  // no register before
            late = late + 1u;
        },
        "add.u32 %result0, %arg0, %arg0;\n"
        "mov.f32 %f0, 0f00000000;\n"
        "ld.global.f32 %f1, [%rd0];\n"
        "ld.global.f32 %f2, [%rd0+4];\n"
        "fma.rn.f32 %f0, %f0, %f1, %f2;\n"
        "setp.lt.u32 %p0, %r0, 3;\n"
        "@%p0 add.rn.f32 %f0, %f0, 0f3F800000;\n"
        "cvt.rzi.u32.f32 %r0, %f0;\n"
        "shfl.sync.up.b32 %r0|%p1, %r0, 1, 0, 4294967295;\n"
        "call (%r0), twice, (%r0);\n"
        "add.u32 %r1, %r0, 1;\n"
        "add.u32 %r1, %r1, 1;");
    check(
        "what has another name is copied", {8, 0},
        +[](hopper& k, px::reg<f32> f, px::reg<u32> n, px::global_ptr<const px::packet<f32, 2>, 8> in) {
            const auto g = f + 1.0f;
            f = g;
            const auto kept = [&](px::reg<u32>& also) {  // two names for one call
                auto x = n + 2u;
                also = x.same();
                return x;
            };
            px::reg<u32> also;
            n = kept(also);
            const auto more = [&] {  // more than the call: the last instruction is another
                auto x = k.mov<u32>(0);
                x += n;
                return x;
            };
            n = more();
            f = k.ld(in)[1];  // one of two results, by its number
            n = also;
        },
        "add.rn.f32 %f1, %f0, 0f3F800000;\n"
        "mov.f32 %f0, %f1;\n"
        "add.u32 %r1, %r0, 2;\n"
        "mov.b32 %r0, %r1;\n"
        "mov.b32 %r2, 0;\n"
        "add.u32 %r2, %r2, %r0;\n"
        "mov.b32 %r0, %r2;\n"
        "ld.global.v2.f32 {%f2, %f3}, [%rd0];\n"
        "mov.f32 %f0, %f3;\n"
        "mov.b32 %r0, %r1;");
    check(
        "comparison", {8, 0},
        +[](hopper& k, px::reg<u32> a, px::reg<f32> f) {
            const auto p = k.setp<px::lt>(a, 10u);
            const auto [q, r] = k.setp_pq<px::geu, px::and_, px::ftz>(f, 0.0f, px::unless(p));
            static_cast<void>(k.selp(f, 1.0f, q && !r));
            static_cast<void>(k.set<u32, px::ne>(f, f));
            static_cast<void>(k.slct(a, a, f));
            k.at(px::unless(p)).nanosleep(64u);
        },
        "setp.lt.u32 %p0, %r0, 10;\n"
        "setp.geu.and.ftz.f32 %p1|%p2, %f0, 0f00000000, !%p0;\n"
        "not.pred %p3, %p2;\n"
        "and.pred %p4, %p1, %p3;\n"
        "selp.f32 %f1, %f0, 0f3F800000, %p4;\n"
        "set.ne.u32.f32 %r1, %f0, %f0;\n"
        "slct.u32.f32 %r2, %r0, %r0, %f0;\n"
        "@!%p0 nanosleep.u32 64;");

    check(
        "branches by a table", {8, 0},
        +[](hopper& k, px::reg<u32> n) {
            const auto a = k.new_label("a"), b = k.new_label("b");
            const auto both = k.branch_targets({a, b, a});
            k.at(n < 3u).brx_idx(n, both);
            k.brx_idx_uni(n & 1u, {b, a});
            k.place(a);
            k.place(b);
            k.switch_table(n, px::case_<2>([&] { k.nanosleep(2u); }), px::default_([&] { k.nanosleep(1u); }));
        },
        "$table_2: .branchtargets $a_0, $b_1, $a_0;\n"
        "setp.lt.u32 %p0, %r0, 3;\n"
        "@%p0 brx.idx %r0, $table_2;\n"
        "and.b32 %r1, %r0, 1;\n"
        "$table_3: .branchtargets $b_1, $a_0;\n"
        "brx.idx.uni %r1, $table_3;\n"
        "$table_7: .branchtargets $default_5, $default_5, $case_6;\n"
        "setp.gt.u32 %p1, %r0, 2;\n"
        "@%p1 bra $default_5;\n"
        "brx.idx %r0, $table_7;\n"
        "nanosleep.u32 2;\n"
        "bra $end_switch_4;\n"
        "nanosleep.u32 1;");

    check(
        "printing", {8, 0},
        +[](hopper& k, px::reg<u32> n, px::reg<f32> f, px::global_ptr<const f32> in) {
            k.printf<"here\n">();
            k.printf<"%u %f %p\n">(n + 1u, k.ld(in), in + 2);  // 4 bytes, then 8, aligned to 8
            k.if_(n == 0u, [&] { k.printf<"here\n">(); });
            k.printf<"%d%%, %g">(-1, f);
        },
        "cvta.global.u64 %rd1, printf_format_0;\n"
        "call (%r1), vprintf, (%rd1, 0);\n"
        "add.u32 %r2, %r0, 1;\n"
        "ld.global.f32 %f1, [%rd0];\n"
        "{\n"
        "st.local.b32 [printf_arguments], %r2;\n"
        "cvt.f64.f32 %fd0, %f1;\n"
        "st.local.f64 [printf_arguments+8], %fd0;\n"
        "add.s64 %rd2, %rd0, 8;\n"
        "st.local.b64 [printf_arguments+16], %rd2;\n"
        "cvta.local.u64 %rd3, printf_arguments;\n"
        "cvta.global.u64 %rd4, printf_format_1;\n"
        "call (%r3), vprintf, (%rd4, %rd3);\n"
        "}\n"
        "setp.eq.u32 %p0, %r0, 0;\n"
        "@!%p0 bra $else_0;\n"
        "cvta.global.u64 %rd5, printf_format_0;\n"
        "call (%r4), vprintf, (%rd5, 0);\n"
        "{\n"
        "st.local.b32 [printf_arguments], -1;\n"
        "cvt.f64.f32 %fd1, %f0;\n"
        "st.local.f64 [printf_arguments+8], %fd1;\n"
        "cvta.local.u64 %rd6, printf_arguments;\n"
        "cvta.global.u64 %rd7, printf_format_2;\n"
        "call (%r5), vprintf, (%rd7, %rd6);\n"
        "}");

    check(
        "functions by their address", {8, 0},
        +[](hopper& k, px::reg<u32> n) {
            const auto f = k.selp(k.address_of<"twice", twice>(), k.address_of<"square", square>(), n == 0u);
            const auto x = k.call(f, k.add(n, k.call<px::callee<"twice", twice>, px::callee<"square", square>>(f, n)));
            k.at(x == 4u).call(k.address_of<"rest", rest>(), x);
        },
        "add.u32 %result0, %arg0, %arg0;\n"
        "mul.lo.u32 %result0, %arg0, %arg0;\n"
        "nanosleep.u32 %arg0;\n"
        "mov.b64 %rd0, twice;\n"
        "mov.b64 %rd1, square;\n"
        "setp.eq.u32 %p0, %r0, 0;\n"
        "selp.b64 %rd2, %rd0, %rd1, %p0;\n"
        "$targets_0: .calltargets twice, square;\n"
        "call (%r1), %rd2, (%r0), $targets_0;\n"
        "add.u32 %r2, %r0, %r1;\n"
        "$prototype_1: .callprototype (.reg .b32 _) _ (.reg .b32 _);\n"
        "call (%r3), %rd2, (%r2), $prototype_1;\n"
        "setp.eq.u32 %p1, %r3, 4;\n"
        "mov.b64 %rd3, rest;\n"
        "$prototype_2: .callprototype _ (.reg .b32 _);\n"
        "@%p1 call %rd3, (%r3), $prototype_2;");

    check(
        "conversion", {8, 1},
        +[](hopper& k, px::reg<f32> f, px::reg<s32> i, px::reg<u64> w) {
            static_cast<void>(k.cvt<bf16, px::rn>(f));
            static_cast<void>(k.cvt<s32, px::rzi>(f));
            static_cast<void>(k.cvt<px::u8, px::sat>(i));
            static_cast<void>(k.cvt<bf16x2, px::rn>(px::hi(f), px::lo(1.0f)));
            static_cast<void>(k.cvt<e4m3x2, px::rn, px::satfinite>(px::hi(f), px::lo(f)));
            static_cast<void>(k.cvt_pack<px::u8>(px::hi(i), px::lo(i), 0u));
            const auto [lo, hi] = k.mov_unpack(w);
            static_cast<void>(k.mov_pack<b64>(hi, lo));
            static_cast<void>(k.mov_b32<u32>(f));
            static_cast<void>(k.mov<f16>(1.5f));
            static_cast<void>(k.mov<bf16>(-2.0f));
            static_cast<void>(k.mov<f64>(0.5));
            static_cast<void>(k.mov(px::clock64));
            static_cast<void>(k.mov(px::cluster_ctarank));
            static_cast<void>(k.mov(px::aggr_smem_size));
        },
        "cvt.rn.bf16.f32 %rs0, %f0;\n"
        "cvt.rzi.s32.f32 %r1, %f0;\n"
        "cvt.sat.u8.s32 %rs1, %r0;\n"
        "cvt.rn.bf16x2.f32 %r2, %f0, 0f3F800000;\n"
        "cvt.rn.satfinite.e4m3x2.f32 %rs2, %f0, %f0;\n"
        "cvt.pack.sat.u8.s32.b32 %r3, %r0, %r0, 0;\n"
        "mov.b64 {%r4, %r5}, %rd0;\n"
        "mov.b64 %rd1, {%r5, %r4};\n"
        "mov.b32 %r6, %f0;\n"
        "mov.b16 %rs3, 15872;\n"
        "mov.b16 %rs4, 49152;\n"
        "mov.f64 %fd0, 0d3FE0000000000000;\n"
        "mov.u64 %rd2, %clock64;\n"
        "mov.u32 %r7, %cluster_ctarank;\n"
        "mov.u32 %r8, %aggr_smem_size;");

    check(
        "memory", {8, 0},
        +[](hopper& k, px::global_ptr<f32, 16> p, px::reg<u32> i) {
            const auto policy = k.createpolicy_fractional<px::L2::evict_first>();
            const auto v = k.ld<px::nc, px::L1::no_allocate, px::L2::_256B, px::v4>(p, policy);
            k.st<px::relaxed, px::gpu>(p + i + 2, v[0]);
            k.st(p.as<px::packet<f32, 2>>(), px::vec{v[2], v[3]}, policy);
            k.red_add<px::release, px::cta>(p - 1, 1.0f);
            static_cast<void>(k.atom_add<px::relaxed, px::sys>(p.as<f16x2>(), k.mov<f16x2>(0)));
            static_cast<void>(k.atom_cas(p.as<u32>(), i, 0u));
            const auto g = k.cvta(p);
            static_cast<void>(k.isspacep<px::space::shared>(g));
            const auto s = k.to_shared(g);
            static_cast<void>(k.ld(k.mapa(s + 1, i)));
            k.prefetch_L2_evict_last(p);
            k.fence<px::acq_rel, px::gpu>();
        },
        "createpolicy.fractional.L2::evict_first.b64 %rd1, 0f3F800000;\n"
        "ld.global.nc.L1::no_allocate.L2::cache_hint.L2::256B.v4.f32 {%f0, %f1, %f2, %f3}, [%rd0], %rd1;\n"
        "mad.wide.u32 %rd2, %r0, 4, %rd0;\n"
        "st.relaxed.gpu.global.f32 [%rd2+8], %f0;\n"
        "st.global.L2::cache_hint.v2.f32 [%rd0], {%f2, %f3}, %rd1;\n"
        "red.release.cta.global.add.f32 [%rd0+-4], 0f3F800000;\n"
        "mov.b32 %r1, 0;\n"
        "atom.relaxed.sys.global.add.noftz.f16x2 %r2, [%rd0], %r1;\n"
        "atom.global.cas.b32 %r3, [%rd0], %r0, 0;\n"
        "cvta.global.u64 %rd3, %rd0;\n"
        "isspacep.shared %p0, %rd3;\n"
        "cvta.to.shared.u64 %rd4, %rd3;\n"
        "cvt.u32.u64 %r4, %rd4;\n"
        "mapa.shared::cluster.u32 %r5, %r4, %r0;\n"
        "ld.shared::cluster.f32 %f4, [%r5+4];\n"
        "prefetch.global.L2::evict_last [%rd0];\n"
        "fence.acq_rel.gpu;");

    check(
        "warp and escapes", {8, 0},
        +[](hopper& k, px::reg<f32> f, px::reg<u32> m) {
            const auto [v, ok] = k.shfl_sync_down_p(f, 16u, 31u, px::full_mask);
            static_cast<void>(k.vote_sync_ballot(ok, m));
            static_cast<void>(k.redux_sync_or(m, px::full_mask));
            static_cast<void>(k.elect_sync());
            const auto d = k.new_reg<f32>();
            k.inst<"fma.rn.f32">(d, v, 2.0f, f);
            k.at(ok).inst<"bar.warp.sync">(m);
            k.raw("// here");
            k.griddepcontrol_wait();
        },
        "shfl.sync.down.b32 %f1|%p0, %f0, 16, 31, 4294967295;\n"
        "vote.sync.ballot.b32 %r1, %p0, %r0;\n"
        "redux.sync.or.b32 %r2, %r0, 4294967295;\n"
        "elect.sync _|%p1, 4294967295;\n"
        "fma.rn.f32 %f2, %f1, 0f40000000, %f0;\n"
        "@%p0 bar.warp.sync %r0;\n"
        "// here\n"
        "griddepcontrol.wait;");

    check(
        "sm_100a", {8, 8},
        +[](blackwell& k, px::reg<f32> f, px::global_ptr<f32, 32> p) {
            static_cast<void>(k.min(f, 0.0f, f));
            static_cast<void>(k.fma_rn(k.mov<f16>(1.0f), k.mov<f16>(2.0f), f));
            k.st(p, k.ld<px::L2::evict_first, px::v8>(p)[7]);
        },
        "min.f32 %f1, %f0, 0f00000000, %f0;\n"
        "mov.b16 %rs0, 15360;\n"
        "mov.b16 %rs1, 16384;\n"
        "fma.rn.f32.f16 %f2, %rs0, %rs1, %f0;\n"
        "ld.global.L2::evict_first.v8.f32 {%f3, %f4, %f5, %f6, %f7, %f8, %f9, %f10}, [%rd0];\n"
        "st.global.f32 [%rd0], %f10;");

    return golden::result();
}
