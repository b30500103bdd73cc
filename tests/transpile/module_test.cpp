// SPDX-License-Identifier: Apache-2.0
// Modules: one line a call, the author's names, declared registers as results.
#include "catch.hpp"

#include <ptxdsl/module.hpp>

#include <string>

namespace px = ptxdsl;
using px::b32, px::b64, px::f32, px::pred, px::s32, px::u32, px::u64;

namespace {

using hopper = px::module_builder<px::sm_90a>;

std::string text_of(void (*write)(hopper&)) {
    const auto m = px::assemble_module<px::sm_90a>(write);
    INFO(std::string(m.error()));
    CHECK(m.ok());
    return std::string(m.text());
}
std::string error_of(void (*write)(hopper&)) { return std::string(px::assemble_module<px::sm_90a>(write).error()); }

/// The lines between `{` and `}` of the one function.
std::string body_of(void (*write)(hopper&)) {
    const std::string all = text_of(write);
    const std::size_t begin = all.find("{\n") + 2;
    return all.substr(begin, all.rfind("}\n") - begin);
}

}  // namespace

TEST_CASE("a module prints one line for each call, in their order") {
    const std::string text = text_of([](hopper& m) {
        m.version(8, 6);
        m.target("sm_90a, debug");
        m.address_size(64);
        m.file(1, "a \\ b.cu");
        m.variable<f32>(px::space::constant, "table",
                        {.linkage = px::linkage::visible, .align = 16, .extent = "[2]", .init = "{1.0, 2.0}"});
        m.variable<u32>(px::space::global, "shared_with_host", {.attribute = ".managed"});
        auto g = m.func("helper", px::linkage::extern_);
        g.result<b32>("r");
        g.param<b64>("x", {.align = 8});
        g.noreturn();
        g.declare();
        m.alias("a", "b");
        m.directive(".section .debug_str");
    });
    CHECK(text ==
          ".version 8.6\n"
          ".target sm_90a, debug\n"
          ".address_size 64\n"
          ".file 1 \"a \\ b.cu\"\n"
          ".visible .const .align 16 .f32 table[2] = {1.0, 2.0};\n"
          ".global .attribute(.managed) .u32 shared_with_host;\n"
          ".extern .func (.param .b32 r) helper(\n"
          "    .param .align 8 .b64 x)\n"
          ".noreturn\n"
          ";\n"
          ".alias a, b;\n"
          ".section .debug_str\n");
}

TEST_CASE("a kernel with parameters, directives, declared registers and labels") {
    const std::string text = text_of([](hopper& m) {
        auto fn = m.entry("k", px::linkage::visible);
        const auto p = fn.param<u64>("p", {.pointer = " .global .align 16"});
        const auto n = fn.param<u32>("n");
        fn.maxntid(128, 2);
        fn.minnctapersm(2);
        fn.pragma("nounroll");
        const auto k = fn.begin();
        const auto done = k.named_label("$done");
        const auto q = k.registers<pred>("%q", 2);
        const auto r = k.registers<b32>("%r", 4);
        const auto r_s32 = r.as<s32>();
        const auto a = k.named_reg<b64>("%a");
        k.inst<"ld.param.u64">(a, px::mem(p));
        r[1] = k.ld(px::mem<px::space::param, u32>(n));
        r[2] = k.mov(px::tid.x);
        q[1] = k.setp<px::ge>(r_s32[2], r_s32[1]);
        k.at(q[1]).bra(done);
        r[3] = k.at(px::unless(q[1])).add(r_s32[1], r_s32[2]);
        px::into(r[0], r[1]) = k.ld<px::v2>(px::mem<px::space::global, u32>(a, 8));
        k.inst<"st.global.v2.u32">(px::mem(a, 0), k.list(r[0], -1));
        k.place(done);
        k.ret();
        fn.end();
    });
    CHECK(text ==
          ".visible .entry k(\n"
          "    .param .u64 .ptr .global .align 16 p,\n"
          "    .param .u32 n)\n"
          ".maxntid 128, 2, 1\n"
          ".minnctapersm 2\n"
          ".pragma \"nounroll\";\n"
          "{\n"
          "    .reg .pred %q<2>;\n"
          "    .reg .b32 %r<4>;\n"
          "    .reg .b64 %a;\n"
          "    ld.param.u64 %a, [p];\n"
          "    ld.param.u32 %r1, [n];\n"
          "    mov.u32 %r2, %tid.x;\n"
          "    setp.ge.s32 %q1, %r2, %r1;\n"
          "    @%q1 bra $done;\n"
          "    @!%q1 add.s32 %r3, %r1, %r2;\n"
          "    ld.global.v2.u32 {%r0, %r1}, [%a+8];\n"
          "    st.global.v2.u32 [%a+0], {%r0, -1};\n"
          "$done:\n"
          "    ret;\n"
          "}\n");
}

TEST_CASE("a declared register takes a result directly and a named value by a mov") {
    const std::string body = body_of([](hopper& m) {
        auto fn = m.entry("k");
        const auto k = fn.begin();
        const auto r = k.registers<b32>("%r", 4);
        const auto r_u32 = r.as<u32>();
        r[1] = k.add(k.mul_lo(r_u32[2], 3), k.mul_lo(r_u32[3], 5));  // the last instruction writes %r1
        const auto x = k.add(r_u32[1], 1);
        r[2] = x;
        r[3] = r[2];
        r[3] = k.move<u32>(7);
        r[0] = k.fma<px::rn>(r.as<f32>()[1], 2.0f, px::f32_bits(0x7fc00001));
        fn.end();
    });
    CHECK(body ==
          "    .reg .b32 %new_r<3>;\n"
          "    .reg .b32 %r<4>;\n"
          "    mul.lo.u32 %new_r0, %r2, 3;\n"
          "    mul.lo.u32 %new_r1, %r3, 5;\n"
          "    add.u32 %r1, %new_r0, %new_r1;\n"
          "    add.u32 %new_r2, %r1, 1;\n"
          "    mov.b32 %r2, %new_r2;\n"
          "    mov.b32 %r3, %r2;\n"
          "    mov.u32 %r3, 7;\n"
          "    fma.rn.f32 %r0, %r1, 0f40000000, 0f7FC00001;\n");
}

TEST_CASE("calls, tensors, lists, scopes and debug lines") {
    const std::string body = body_of([](hopper& m) {
        auto fn = m.entry("k");
        const auto k = fn.begin();
        const auto f = k.registers<f32>("%f", 8);
        const auto r = k.registers<b32>("%r", 4);
        const auto rd = k.registers<b64>("%rd", 2);
        const auto helper = k.symbol("helper");
        k.loc(1, 2, 3);
        k.loc(1, 2, 3, {"$str+4", 1, 7, 8});
        k.pragma("nounroll");
        {
            const px::scope s(k);
            const auto x = k.variable<b32>(px::space::param, "x", {.align = 4});
            const auto y = k.variable<b32>(px::space::param, "y");
            k.call_function<px::tok::uni>(k.list(y), helper, k.list(x, r[1], 3, 0.5f));
        }
        k.call_function(px::sink, rd[1], px::sink, k.symbol("prototype"));
        k.inst<"cp.async.bulk.prefetch.tensor.2d.L2.global">(k.tensor(rd[1], r[1], 64));
        k.inst<"st.global.v4.f32">(px::mem(rd[0], -4), k.list_of<4>(f, 2));
        k.inst<"st.global.v4.f32">(px::mem(rd[0]), k.list<f32>(1.0f, 0.0f, 2.0f, 3.0f));
        k.inst<"mov.u64">(rd[0], helper);
        k.inst<"mov.u64">(rd[0], helper + 8);
        fn.end();
    });
    CHECK(body ==
          "    .reg .f32 %f<8>;\n"
          "    .reg .b32 %r<4>;\n"
          "    .reg .b64 %rd<2>;\n"
          "    .loc 1 2 3\n"
          "    .loc 1 2 3, function_name $str+4, inlined_at 1 7 8\n"
          "    .pragma \"nounroll\";\n"
          "    {\n"
          "    .param .align 4 .b32 x;\n"
          "    .param .b32 y;\n"
          "    call.uni (y), helper, (x, %r1, 3, 0f3F000000);\n"
          "    }\n"
          "    call %rd1, prototype;\n"
          "    cp.async.bulk.prefetch.tensor.2d.L2.global [%rd1, {%r1, 64}];\n"
          "    st.global.v4.f32 [%rd0+-4], {%f2, %f3, %f4, %f5};\n"
          "    st.global.v4.f32 [%rd0], {0f3F800000, 0f00000000, 0f40000000, 0f40400000};\n"
          "    mov.u64 %rd0, helper;\n"
          "    mov.u64 %rd0, helper+8;\n");
}

TEST_CASE("barriers, copies and accumulators by registers and variables") {
    const std::string body = body_of([](hopper& m) {
        auto fn = m.entry("k");
        const auto k = fn.begin();
        const auto f = k.registers<f32>("%f", 9);
        const auto r = k.registers<b32>("%r", 9);
        const auto rd = k.registers<b64>("%rd", 9);
        const auto p = k.registers<pred>("%p", 3);
        const auto full = k.variable<b64>(px::space::shared, "full", {.extent = "[2]"});
        const auto acc = k.accumulator<f32, 8>(f, 4, -1);
        r[1] = k.move<u32>(full + 8);
        k.mbarrier_init(k.barrier(full, 8), 1);
        k.mbarrier_init<px::tok::shared>(k.barrier(r[1]), r[2]);
        rd[1] = k.mbarrier_arrive<px::release, px::cluster>(k.barrier(r[1]), 2);
        k.at(p[1]).mbarrier_arrive(k.peer_barrier(r[3], 16), r[2]);
        k.mbarrier_arrive(px::sink, k.barrier(r[1]));
        rd[2] = k.mbarrier_arrive_expect_tx_state(k.barrier(r[1]), 4096);
        p[1] = k.mbarrier_try_wait_parity(k.barrier(r[1]), r[2], 100);
        p[2] = k.mbarrier_test_wait<px::tok::shared>(k.barrier(r[1]), rd[1]);
        k.cp_async_bulk_tensor<px::tok::shared__cluster, px::tok::multicast__cluster>(
            px::mem(r[4]), k.tensor(rd[3], r[5], 0), k.barrier(r[1]), 3);
        k.cp_async_bulk_tensor(k.tensor(rd[3], r[5]), px::mem(r[4]), rd[4]);
        rd[5] = k.wgmma.descriptor_bits(r[4], 0x3ff80, 0x4000004000010000u, r[6], r[7], rd[6]);
        k.wgmma.mma_async<px::f16, px::f16, px::k_major, px::mn_major>(acc, rd[5], rd[6], px::unless(p[1]));
        f[5] = k.add(acc[0], acc[3]);
        k.spin_until<px::tok::uni>([&] {
            p[1] = k.mbarrier_try_wait(k.barrier(r[1]), rd[1]);
            return p[1];
        });
        r[8] = k.select<s32>(-1, 0, p[1]);
        rd[7] = k.cvta_to<px::space::global>(rd[6]);
        fn.end();
    });
    CHECK(body.substr(body.find("    mov.u32")) == R"(    mov.u32 %r1, full+8;
    mbarrier.init.shared::cta.b64 [full+8], 1;
    mbarrier.init.shared.b64 [%r1], %r2;
    mbarrier.arrive.release.cluster.shared::cta.b64 %rd1, [%r1], 2;
    @%p1 mbarrier.arrive.shared::cluster.b64 _, [%r3+16], %r2;
    mbarrier.arrive.shared::cta.b64 _, [%r1];
    mbarrier.arrive.expect_tx.shared::cta.b64 %rd2, [%r1], 4096;
    mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r1], %r2, 100;
    mbarrier.test_wait.shared.b64 %p2, [%r1], %rd1;
    cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r4], [%rd3, {%r5, 0}], [%r1], 3;
    cp.async.bulk.tensor.1d.global.shared::cta.bulk_group.L2::cache_hint [%rd3, {%r5}], [%r4], %rd4;
    and.b32 %r6, %r4, 262016;
    shr.u32 %r7, %r6, 4;
    cvt.u64.u32 %rd6, %r7;
    or.b64 %rd5, %rd6, 4611686293305360384;
    wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f4, %f3, %f2, %f1}, %rd5, %rd6, !%p1, 1, 1, 0, 1;
    add.f32 %f5, %f4, %f1;
$loop_0:
    mbarrier.try_wait.shared::cta.b64 %p1, [%r1], %rd1;
    @%p1 bra.uni $done_1;
    bra.uni $loop_0;
$done_1:
    selp.s32 %r8, -1, 0, %p1;
    cvta.to.global.u64 %rd7, %rd6;
)");
    CHECK(error_of([](hopper& m) {
              auto fn = m.entry("k");
              const auto k = fn.begin();
              const auto acc = k.accumulator<f32, 8>(k.registers<f32>("%f", 4), 0);
              static_cast<void>(acc[4]);
              fn.end();
          }).find("PTXDSL-D03: register 4 of an accumulator of 4") != std::string::npos);
}

TEST_CASE("lines are put where they are asked for") {
    const std::string text = text_of([](hopper& m) {
        m.at_line(2);
        m.version(8, 0);
        m.at_line(2);
        m.target("sm_90a");
        m.at_line(5);
        auto fn = m.entry("k");
        fn.head(false);
        m.at_line(5);
        const auto k = fn.begin();
        k.at_line(7);
        k.ret();
        m.at_line(7);
        fn.end();
    });
    CHECK(text == "\n.version 8.0 .target sm_90a\n\n\n.entry k() {\n\n    ret; }\n");
}

TEST_CASE("each function numbers the registers the library adds, and reports what is wrong") {
    const std::string text = text_of([](hopper& m) {
        for (const char* name : {"a", "b"}) {
            auto fn = m.entry(name);
            const auto k = fn.begin();
            static_cast<void>(k.mov(px::laneid));
            fn.end();
        }
    });
    CHECK(text ==
          ".entry a()\n{\n    .reg .b32 %new_r<1>;\n    mov.u32 %new_r0, %laneid;\n}\n"
          ".entry b()\n{\n    .reg .b32 %new_r<1>;\n    mov.u32 %new_r0, %laneid;\n}\n");
    const std::string error = error_of([](hopper& m) {
        auto fn = m.entry("k");
        const auto k = fn.begin();
        const auto r = k.registers<u32>("%r", 2);
        r[2] = k.mov<u32>(1);
        fn.end();
    });
    CHECK(error.find("PTXDSL-A06: register 2 of a declaration of 2") != std::string::npos);
}

TEST_CASE("K01: a module defines each name once") {
    const auto entry = [](hopper& m, const char* name) {
        auto f = m.entry(name, px::linkage::visible);
        const auto k = f.begin();
        k.ret();
        f.end();
    };
    const auto function = [](hopper& m, const char* name, bool declares) {
        auto f = m.func(name, declares ? px::linkage::extern_ : px::linkage::none);
        f.head(false);
        if (declares) return f.declare();
        const auto k = f.begin();
        k.ret();
        f.end();
    };
    static constexpr auto e = entry;
    static constexpr auto f = function;
    using px::space;
    CHECK(error_of([](hopper& m) { e(m, "a"), e(m, "b"); }).empty());
    CHECK(error_of([](hopper& m) { e(m, "a"), e(m, "a"); }).find("K01: 'a' is defined twice") != std::string::npos);
    CHECK(error_of([](hopper& m) { e(m, "a"), f(m, "a", false); }).find("K01") != std::string::npos);
    CHECK(error_of([](hopper& m) { m.variable<u32>(space::global, "a"), e(m, "a"); }).find("K01") != std::string::npos);
    CHECK(error_of([](hopper& m) {
              m.variable<u32>(space::global, "a"), m.variable<f32>(space::constant, "a");
          }).find("K01") != std::string::npos);
    // Declarations of what is defined here or elsewhere.
    CHECK(error_of([](hopper& m) { f(m, "a", true), f(m, "a", true), f(m, "a", false), e(m, "b"); }).empty());
    CHECK(error_of([](hopper& m) {
              m.variable<u32>(space::global, "a", {.linkage = px::linkage::extern_});
              m.variable<u32>(space::global, "a");
          }).empty());
    // The name may be gone when the function begins.
    CHECK(error_of([](hopper& m) {
              for (const char* name : {"long_enough_to_be_on_the_heap_1", "long_enough_to_be_on_the_heap_2"}) {
                  const std::string own = name;
                  e(m, own.c_str());
              }
          }).empty());
}
