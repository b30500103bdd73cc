// SPDX-License-Identifier: Apache-2.0
// Modules against the instruction table.
#include "catch.hpp"
#include "parse_helpers.hpp"

#include <algorithm>

using Catch::Matchers::ContainsSubstring;
using ptxdsl_test::check_errors;
using ptxdsl_test::kernel_of;
using ptxdsl_test::module_of;

TEST_CASE("good statements") {
    for (const char* s :
         {"add.u32 %r1, %r2, 3;",
          "mov.u64 %rd1, g;",
          "mov.u64 %rd1, g+4;",
          "ld.global.v2.u32 {%r1, %r2}, [%rd1];",
          "ld.shared.u32 %r1, [s+4];",
          "st.global.v2.b32 [%rd1], {1, 2};",
          "mov.f32 %f1, 1.0;",
          "mov.f64 %d1, 1.0;",
          "mov.b32 %r1, {%h1, %h2};",
          "cvt.f32.u32.rn %f1, %r1;",
          "setp.u32.eq %p1, %r1, %r2;",
          "mov.u32 %r1, %tid.x;",
          "mov.pred %p1, %is_explicit_cluster;",
          "L: bra L;",
          "{ .reg .f32 %r1; mov.f32 %r1, 0f00000000; }",
          "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f1,%f2,%f3,%f4}, %rd1, %rd2, 1, 1, 1, 0, 0;",
          "ld.global.u32 %r1, g[%r2];",
          "bar.sync 0, 64;",
          "@%p1 ret;",
          "@!q ret;",
          "mov.pred %p1, 0; and.pred %p1, !%p2, -1;",
          "vote.sync.all.pred %p1, !%p2, -1;",
          "vadd.u32.u32.u32 %r1, %r2.b0, %r3.h1, %r4;",
          "vmad.s32.s32.s32 %r1, %r2.b0, -%r3.h1, %r4;",
          "vadd4.u32.u32.u32.add %r1.b20, %r2.b7654, %r3, %r4;",
          "vset2.u32.s32.lt %r1.h0, %r2.h32, %r3, %r4;",
          "tex.2d.v4.f32.f32 {%f1, _, %f2, _}, [%rd1, {%f1, 1.0}], {1, 2};",
          "tex.a1d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%r1, %f1}];",
          "suld.b.1d.v2.b32.trap {%r1, %r2}, [%rd1, {%r3}];",
          "txq.width.b32 %r1, [%rd1];",
          "wmma.load.a.sync.aligned.row.m16n16k16.global.s8 {%r1, %r2}, [%rd1], %r3;",
          "ld.global.b32 %r1, [%rd1].unified;",
          "atom.global.add.u32 %r1, [%rd1], %r2;",
          "T: .branchtargets T1; brx.idx %r1, T; T1:"}) {
        INFO(s);
        CHECK(check_errors(kernel_of(s)) == "");
    }
}

TEST_CASE("statements and what is wrong with them") {
    const struct {
        const char* text;
        const char* message;
    } rows[] = {
        {"mov.u32 %r40, 1;", "7:9: error: '%r40' is not declared"},
        {"mov.u32 %r01, 1;", "7:9: error: '%r01' is not declared"},
        {"bra L;", "7:5: error: there is no label 'L' in this scope"},
        {"{ L: } bra L;", "7:12: error: there is no label 'L'"},
        {"L: L:", "7:4: error: label 'L' is declared twice in this scope"},
        {".reg .b32 %r3;", "7:11: error: '%r3' is declared twice in this scope"},
        {".reg .f32 q;", "7:11: error: 'q' is declared twice"},
        {"frob.u32 %r1;", "7:1: error: no instruction is called 'frob'"},
        {"add.frob %r1, %r2, %r3;", "7:4: error: 'add' has no modifier '.frob'"},
        {"add.wide.u32 %r1, %r2, %r3;", "7:1: error: 'add.wide.u32': there is no such combination of modifiers"},
        {"add.u32 %r1, %r2;", "7:1: error: 'add.u32' does not take 2 operands"},
        {"add.u32 %r1, %r2, %f3;", "7:19: error: operand 3 of 'add.u32' cannot be a register of type .f32"},
        {"add.u32 _, %r2, %r3;", "7:9: error: operand 1 of 'add.u32' cannot be '_'"},
        {"add.u32 %r1, %p1, %r3;", "7:14: error: operand 2 of 'add.u32' cannot be a predicate"},
        {"@%p1 add.u32 %r1, %r2;", "7:6: error: 'add.u32' does not take 2 operands"},
        {"@%r1 ret;", "7:2: error: '%r1' is no predicate"},
        {"mov.u32 %r1, %frob.x;", "7:14: error: '%frob.x' is neither declared nor a special register"},
        {"ld.global.u32 %r1, [%f1];",
         "7:21: error: an address is a 32-bit or 64-bit integer register, not '%f1' of type .f32"},
        {"ld.global.u32 %r1, [%r1];", "7:21: error: an address in generic or global memory has 64 bits, '%r1' has 32"},
        {"ld.shared.u32 %r1, [g];", "7:20: error: operand 2 of 'ld.shared.u32' cannot be this address"},
        {"mul.u32.lo %r1, %r2, 0f00000000;", "7:22: error: operand 3"},
        {"setmaxnreg.inc.sync.aligned.u32 100;", "7:33: error: operand 1"},
        {"vadd.u32.u32.u32 %r1, %r2.b4, %r3;", "7:23: error: operand 2 of 'vadd.u32.u32.u32'"},
        {"vmad.s32.s32.s32 %r1, -%r2, %r3, -%r4;", "error: operand"},
        {"vadd2.u32.u32.u32.sat.add %r1, %r2, %r3, %r4;", "there is no such combination of modifiers"},
        {"tex.1d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [%rd1, {%f1}];",
         "operand 2 of 'tex.1d.v4.f32.s32' cannot be a tensor address"},
        {"tex.cube.v4.f32.s32 {%f1, %f2, %f3, %f4}, [%rd1, {%r1}];", "there is no such combination of modifiers"},
        {"ld.shared.u32 %r1, [%r2].unified;", "7:20: error: operand 2 of 'ld.shared.u32' cannot be this address"},
        {"mma.sync.aligned.m16n8k16.row.col.f32.e4m3.e4m3.f32 {%f1,_,%f3,%f4}, {%r1,%r2}, {%r3}, {%f1,%f2,%f3,%f4};",
         "cannot be a vector"},
        {".shared .u32 z = 4;", "7:14: error: only .global and .const variables have initial values"},
        {".reg .u32 z[4];", "7:11: error: register 'z' cannot be an array"},
        {".shared .pred z;", "7:15: error: predicates are registers"},
        {".shared .align 3 .b8 z[8];", "7:9: error: an alignment is a power of two, not 3"},
    };
    for (const auto& row : rows) {
        INFO(row.text);
        CHECK_THAT(check_errors(kernel_of(row.text)), ContainsSubstring(row.message));
    }
}

TEST_CASE("targets and versions") {
    const auto module = [](const char* version, const char* target, const char* body) {
        return std::string(".version ") + version + "\n.target " + target +
               "\n.entry k() { .reg .b32 %r<3>; .reg .pred p;\n" + body + "\nret; }\n";
    };
    CHECK(check_errors(module("8.0", "sm_90a", "wgmma.fence.sync.aligned;")) == "");
    // `.alias` is a directive and a modifier.
    CHECK(check_errors(module("8.0", "sm_90a", "fence.proxy.alias;")) == "");
    CHECK_THAT(check_errors(module("8.0", "sm_90", "wgmma.fence.sync.aligned;")),
               ContainsSubstring("4:1: error: 'wgmma.fence.sync.aligned' does not exist on target sm_90"));
    CHECK_THAT(check_errors(module("7.8", "sm_90", "elect.sync %r1|p, -1;")),
               ContainsSubstring("4:1: error: 'elect.sync' needs .version 8.0; this is 7.8"));
    CHECK_THAT(check_errors(module("8.5", "sm_100a", "")),
               ContainsSubstring("2:9: error: .version 8.5 does not know target sm_100a; it needs 8.6"));
    CHECK_THAT(check_errors(module("7.8", "sm_90", "mov.u32 %r1, %aggr_smem_size;")),
               ContainsSubstring("%aggr_smem_size needs .version 8.1"));
    CHECK_THAT(check_errors(module("8.0", "sm_80", "mov.u32 %r1, %cluster_ctarank;")),
               ContainsSubstring("%cluster_ctarank needs target sm_90"));
}

TEST_CASE("no device takes a cluster of more than 16 blocks") {
    const auto text = [](const char* cluster) {
        return std::string(".version 8.0\n.target sm_90\n.address_size 64\n.entry k() .reqnctapercluster ") + cluster +
               " { ret; }\n";
    };
    for (const char* right : {"16", "4, 4", "2, 2, 4"}) CHECK(check_errors(text(right)) == "");
    for (const char* wrong : {"17", "8, 3", "65536, 65536"})
        CHECK_THAT(check_errors(text(wrong)),
                   ContainsSubstring("4:12: error: no device takes a cluster of more than 16 blocks"));
}

TEST_CASE("versions newer than the table are warned of") {
    const auto text = [](const char* version) {
        return std::string(".version ") + version + "\n.target sm_90\n.address_size 64\n.entry k() { ret; }\n";
    };
    CHECK(check_errors(text("9.0")) == "");
    CHECK_THAT(check_errors(text("9.1")),
               ContainsSubstring("1:1: warning: .version 9.1 is newer than what is known, 9.0"));
}

TEST_CASE("32-bit addresses end at sm_90") {
    const std::string module = ".version 8.0\n.target sm_80\n.address_size 32\n.entry k() { ret; }\n";
    CHECK_THAT(check_errors(module), ContainsSubstring("3:1: warning: ptxas 13 assembles no modules with 32-bit"));
    std::string newer = module;
    newer.replace(newer.find("80\n"), 2, "90");
    CHECK_THAT(check_errors(newer), ContainsSubstring("3:1: error: target sm_90 has no 32-bit addresses"));
    CHECK_THAT(check_errors(".version 2.2\n.target sm_20\n.address_size 32\n"),
               ContainsSubstring("3:1: error: '.address_size' needs .version 2.3"));
    for (const char* s : {"mbarrier.init.b64 [%r1], 1;", "prefetch.L1 [%r1];", "prefetchu.L1 [%r1];"})
        CHECK_THAT(check_errors(kernel_of(s)), ContainsSubstring("has 64 bits, '%r1' has 32"));
    CHECK(check_errors(kernel_of("mbarrier.init.shared.b64 [%r1], 1;")) == "");
    const auto converts = [](const char* bits) {
        return std::string(".version 6.0\n.target sm_70\n.address_size ") + bits +
               "\n.entry k() { .reg .b32 %r<3>;\ncvta.to.global.u32 %r1, %r2;\ncvta.local.u32 %r2, %r1;\nret; }\n";
    };
    CHECK_THAT(check_errors(converts("32")), !ContainsSubstring("error"));
    CHECK_THAT(check_errors(converts("64")), ContainsSubstring("5:1: error: 'cvta.to.global.u32'"));
}

TEST_CASE("half precision is added atomically before sm_90, bfloat is not") {
    const auto module = [](const char* target, const char* body) {
        return std::string(".version 7.8\n.target ") + target +
               "\n.entry k() { .reg .f16 %h<3>; .reg .b16 %b<3>; .reg .b32 %r<3>; .reg .b64 %a;\n" + body +
               "\nret; }\n";
    };
    for (const char* s : {"atom.add.noftz.f16 %h1, [%a], %h2;", "atom.global.gpu.add.noftz.f16x2 %r1, [%a], %r2;",
                          "red.shared.add.noftz.f16 [%r1], %h2;", "red.global.add.noftz.f16x2 [%a], %r2;"})
        for (const char* target : {"sm_75", "sm_80", "sm_90"}) CHECK(check_errors(module(target, s)) == "");
    CHECK_THAT(check_errors(module("sm_80", "atom.add.noftz.bf16 %b1, [%a], %b2;")),
               ContainsSubstring("does not exist on target sm_80"));
}

TEST_CASE("forms that ended are left alone where they still were") {
    const auto module = [](const char* version, const char* target, const char* body) {
        return std::string(".version ") + version + "\n.target " + target +
               "\n.entry k() { .reg .b32 %r<3>; .reg .f32 %f<2>; .reg .pred p;\n" + body + "\nret; }\n";
    };
    for (const char* s : {"vote.all.pred p, p;", "vote.ballot.b32 %r1, p;", "shfl.up.b32 %r1, %r2, 1, 0;"}) {
        INFO(s);
        CHECK_THAT(check_errors(module("6.0", "sm_60", s)), !ContainsSubstring("error"));
        CHECK_THAT(check_errors(module("6.3", "sm_75", s)), !ContainsSubstring("error"));
        CHECK_THAT(check_errors(module("6.4", "sm_75", s)), ContainsSubstring("error"));
    }
    CHECK_THAT(check_errors(module("1.4", "sm_13", "mad.f32 %f1, %f1, %f1, %f1;")), !ContainsSubstring("error"));
    CHECK_THAT(check_errors(module("2.0", "sm_20", "mad.f32 %f1, %f1, %f1, %f1;")), ContainsSubstring("error"));
}

TEST_CASE("16-bit moves read the lower half of thread and block indices and %gridid only") {
    for (const char* s : {"mov.u16 %h1, %tid.x;", "mov.b16 %h1, %ctaid.y;", "mov.s16 %h1, %ntid.z;",
                          "mov.u16 %h1, %gridid;", "mov.u32 %r1, %gridid;", "mov.u64 %rd1, %gridid;"})
        CHECK(check_errors(kernel_of(s)) == "");
    for (const char* s : {"mov.u16 %h1, %laneid;", "mov.u16 %h1, %clock;"})
        CHECK_THAT(check_errors(kernel_of(s)), ContainsSubstring("cannot be a special register"));
}

TEST_CASE("debug information is there and refers to what is there") {
    const auto module = [](const char* target, const char* body, const char* end) {
        return std::string(".version 8.0\n.target ") + target + "\n.file 1 \"a.cu\"\n.entry a() {\n" + body +
               "\n}\n.entry k() {\n.loc 1 9 9\nret;\n}\n" + end;
    };
    const char* const section = ".section .debug_str { $S: .b8 1 }\n";
    CHECK(check_errors(module("sm_90", ".loc 1 5 6\n.loc 1 2 3, function_name $S, inlined_at 1 5 6\nret;", section)) ==
          "");
    CHECK(check_errors(module("sm_90",
                              ".loc 1 5 6\n.loc 1 2 3, function_name $S+4, inlined_at 1 5 6\nret;\n"
                              ".loc 1 8 1, function_name $S, inlined_at 1 2 3",
                              section)) == "");
    for (const char* wrong : {"1 5 7", "1 6 6", "2 5 6", "1 9 9"})
        CHECK_THAT(
            check_errors(module(
                "sm_90",
                (std::string(".loc 1 5 6\n.loc 1 2 3, function_name $S, inlined_at ") + wrong + "\nret;").c_str(),
                section)),
            ContainsSubstring("6:13: error: inlined code comes from a place that no '.loc' before it has"));
    CHECK(check_errors(module("sm_90, debug", "ret;", section)) == "");
    CHECK_THAT(check_errors(module("sm_90, debug", "ret;", "")), ContainsSubstring("2:16: error: 'debug' promises"));
    // More places than the table begins with.
    std::string many;
    for (int i = 1; i < 300; ++i) many += ".loc 1 " + std::to_string(i) + " " + std::to_string(i % 7) + "\n";
    for (int i = 1; i < 300; ++i)
        many +=
            ".loc 1 1000 1, function_name $S, inlined_at 1 " + std::to_string(i) + " " + std::to_string(i % 7) + "\n";
    CHECK(check_errors(module("sm_90", many.c_str(), section)) == "");
}

TEST_CASE("arrays without a size") {
    for (const char* s : {".extern .global .b8 a[];", ".extern .shared .b8 a[];", ".global .b8 a[] = {1, 2};",
                          ".global .b8 a[][2] = {{1, 2}, {3, 4}};", ".extern .global .b8 a[][4];",
                          ".func f(.param .b8 a[]) {ret;}", ".func f(.param .b32 x, .param .b8 a[]) {ret;}"}) {
        INFO(s);
        CHECK(check_errors(module_of(s)) == "");
    }
    for (const char* s : {".global .b8 a[];", ".visible .global .b8 a[];", ".weak .const .b8 a[];", ".shared .b8 a[];",
                          ".entry k(.param .b8 a[]) {ret;}", ".func (.param .b8 a[]) f() {ret;}",
                          ".func f(.param .b8 a[], .param .b32 x) {ret;}", ".entry k() {.local .b8 a[]; ret;}"}) {
        INFO(s);
        CHECK_THAT(check_errors(module_of(s)), ContainsSubstring("array 'a' has no size"));
    }
}

TEST_CASE("types of declarations and parameters") {
    for (
        const char* s :
        {".func f(.reg .pred p) {ret;}", ".func (.reg .u8 r) f() {ret;}", ".func f(.reg .v2 .b64 x) {ret;}",
         ".global .v4 .f32 x;", ".entry k(.param .texref t, .param .surfref s) {ret;}",
         ".global .texref t; .global .surfref s;", ".func f(.param .f16x2 x[2]) {ret;}",
         ".func f(.param .b128 x) {ret;}", ".func (.reg .b32 a, .reg .pred b) f() {ret;}",
         ".entry k() { P: .callprototype (.reg .pred _) _ (.param .f16x2 _); ret; }",
         ".entry k() { P: .callprototype (.param .pred _) _ (.param .b32 _[4], .reg .b8 _[2], .param .b8 _[]); ret; }"}) {
        INFO(s);
        CHECK(check_errors(module_of(s)) == "");
    }
    const struct {
        const char *text, *message;
    } rows[] = {
        {".func f(.reg .v2 .pred p) {ret;}", "predicates have no vectors"},
        {".func f(.reg .v4 .b64 x) {ret;}", "vector 'x' has 256 bits; 128 are possible"},
        {".global .v2 .b128 x;", "vector 'x' has 256 bits"},
        {".entry k(.param .v2 .b32 x) {ret;}", "'.param' variable 'x' cannot be a vector"},
        {".func f() { .param .v2 .b32 x; ret; }", "'.param' variable 'x' cannot be a vector"},
        {".entry k(.reg .b32 x) {ret;}", "parameter 'x' of a kernel lies in '.param'"},
        {".entry k(.param .f16x2 x) {ret;}", "'.param' variable 'x' cannot be of type .f16x2"},
        {".func f(.param .texref x) {ret;}", "'.texref' is the type of a '.global' variable"},
        {".shared .surfref x;", "'.surfref' is the type of a '.global' variable"},
        {".entry k() { .reg .texref x; ret; }", "'.texref' is the type of a '.global' variable"},
        {".global .samplerref x;", "'.samplerref' needs '.target texmode_independent'"},
        {".global .v2 .texref x;", "'.texref' has no vectors"},
        {".entry k() { P: .callprototype _ (.param .texref _); ret; }",
         "'.texref' is no type of a function's parameter"},
        {".entry k() { P: .callprototype _ (.param .b32 _, .param .pred _[4]); ret; }", "predicates have no arrays"},
        {".entry k() { P: .callprototype (.reg .pred _[2]) _; ret; }", "predicates have no arrays"},
        {".entry k() { P: .callprototype (.param .b32 _[0]) _; ret; }", "a result that is an array has a size"},
        {".entry k() { P: .callprototype (.param .b32 _[]) _; ret; }", "a result that is an array has a size"},
        {".entry k() { P: .callprototype _ (.param .b32 _[2][2]); ret; }", "has one dimension"},
        {".entry k() { P: .callprototype _ (.global .b32 _); ret; }", "'.reg' or '.param', not in '.global'"},
        {".entry k() { P: .callprototype _ (.param .align 3 .b8 _[4]); ret; }", "an alignment is a power of two"},
        {".func (.reg .b32 a, .param .b32 b) f() {ret;}", "several results are registers"},
    };
    for (const auto& row : rows) {
        INFO(row.text);
        CHECK_THAT(check_errors(module_of(row.text)), ContainsSubstring(row.message));
    }
}

TEST_CASE("what calls pass") {
    const auto call = [](const char* function, const char* body) {
        return check_errors(
            module_of(std::string(function) +
                      "\n.entry k(.param .u64 o) { .reg .pred p; .reg .b16 h; .reg .u16 u; .reg .b32 r, q;"
                      ".reg .s32 i; .reg .f32 x; .reg .b64 d; .param .b32 a; .param .align 8 .b8 c[8];"
                      ".param .b8 n[8];\n" +
                      body + "\nret; }\n"));
    };
    const struct {
        const char *function, *body, *message;
    } rows[] = {
        {".func f(.reg .b32 v) {ret;}",
         "call f, (r); call f, (i); call f, (x); call f, (a); call f, (1); call f, (1.0);", ""},
        {".func f(.reg .b16 v) {ret;}", "call f, (h); call f, (u);", ""},
        {".func f(.reg .f32 v) {ret;}", "call f, (r); call f, (1.0);", ""},
        {".func (.reg .b32 v) f() {ret;}", "call (r), f; call (_), f;", ""},
        {".func f(.param .align 8 .b8 v[8]) {ret;}", "call f, (c);", ""},
        {".func f(.reg .b32 v, .param .b8 w[]) {ret;}", "call f, (r, n); call f, (r);", ""},
        {".func f(.reg .pred v); .func (.reg .b32 a, .reg .b32 b) g() {ret;}", "call f, (p);", ""},  // no convention
        {".func f(.reg .b32 v) {ret;}", "T: .calltargets f; call d, (r), T;", ""},
        {"", "T: .callprototype (.param .b32 _) _ (.reg .f32 _, .reg .b64 _); call (a), d, (x, d), T;", ""},
        {".func f(.reg .pred v) {ret;}", "call f, (p);", "takes a value of type .pred, which no call passes"},
        {".func (.reg .pred v) f() {ret;}", "call (p), f;", "returns a value of type .pred, which no call passes"},
        {".func f(.reg .u16 v) {ret;}", "call f, (u);", "takes a value of type .u16, which no call passes"},
        {".func f(.param .s8 v) {ret;}", "call f, (1);", "takes a value of type .s8, which no call passes"},
        {"", "T: .callprototype _ (.reg .pred _); call d, (p), T;", "takes a value of type .pred"},
        {".func f(.reg .b32 v) {ret;}", "call f;", "the function takes 1 values, this call has 0"},
        {".func f(.reg .b32 v) {ret;}", "call f, (r, q);", "the function takes 1 values, this call has 2"},
        {".func (.reg .b32 v) f() {ret;}", "call f;", "the function returns 1 values, this call has 0"},
        {".func f() {ret;}", "call (r), f;", "the function returns 0 values, this call has 1"},
        {".func f(.reg .b64 v) {ret;}", "call f, (r);", "another type here: another size"},
        {".func f(.reg .s32 v) {ret;}", "call f, (x);", "another type here: a float for an integer"},
        {".func f(.reg .f32 v) {ret;}", "call f, (i);", "another type here: an integer for a float"},
        {".func f(.reg .f32 v) {ret;}", "call f, (1);", "another type here: an integer for a float"},
        {".func f(.reg .s32 v) {ret;}", "call f, (1.0);", "another type here: a float for an integer"},
        {".func f(.param .b8 v[8]) {ret;}", "call f, (c);", "another type here: another alignment"},
        {".func f(.param .b32 v) {ret;}", "call f, (n);", "another type here: another size"},
        {".func f(.param .b32 v[1]) {ret;}", "call f, (r);", "another type here: a register for an array"},
        {".global .b32 g; .func f(.reg .b64 v) {ret;}", "call f, (g);", "'g' cannot be passed"},
        {".func f(.reg .b32 v) {ret;}", "T: .calltargets f; call d, (d), T;", "another type here: another size"},
    };
    for (const auto& row : rows) {
        INFO(row.function << row.body);
        const std::string found = call(row.function, row.body);
        if (*row.message == '\0')
            CHECK(found == "");
        else
            CHECK_THAT(found, ContainsSubstring(row.message));
    }
}

TEST_CASE("addresses as initial values") {
    for (const char* s : {".global .u64 m = a;", ".global .u64 m = generic(a);", ".global .u8 m[2] = {0xff(a), 1};",
                          ".global .u32 m[2] = {0xff(generic(a)+4), 1};"})
        CHECK(check_errors(module_of(".global .u32 a; " + std::string(s))) == "");
    for (const char* s : {".global .b64 m = a;", ".global .b8 m[2] = {0xff(a), 1};", ".global .s64 m = generic(a);",
                          ".global .f32 m = a;", ".const .u16 m = a+4;"})
        CHECK_THAT(check_errors(module_of(".global .u32 a; " + std::string(s))),
                   ContainsSubstring("an address initialises variables of type .u64, .u32 or .u8, not ."));
}

TEST_CASE("directives of kernels") {
    CHECK_THAT(check_errors(module_of("@@DWARF .byte 1\n")), ContainsSubstring("'@@DWARF' ended with PTX 1.x"));
    CHECK(check_errors(".version 1.4\n.target sm_13\n.entry k { exit; }\n@@DWARF .byte 1\n") ==
          "2:9: warning: ptxas 13 knows no GPU sm_13 any more; it assembles this text for sm_75\n");
    CHECK_THAT(check_errors(module_of(".entry k() .maxntid 32 .reqntid 32 {ret;}")),
               ContainsSubstring("'.maxntid' and '.reqntid' exclude each other"));
    CHECK_THAT(check_errors(module_of(".entry k() .reqnctapercluster 2 .maxclusterrank 4 {ret;}")),
               ContainsSubstring("exclude each other"));
    CHECK_THAT(check_errors(module_of(".entry k() .blocksareclusters {ret;}")),
               ContainsSubstring("needs .version 9.0"));
    CHECK_THAT(check_errors(module_of(".func f(.param .b32 _); .entry k(){ret;}")),
               ContainsSubstring("only the parameters of a '.callprototype' have no name"));
    CHECK(check_errors(module_of(".func f(.param .b32 a);\n.func f(.param .b32 a) {ret;}\n.entry k(){ret;}")) == "");
}

TEST_CASE("numbers of directives, threads of a block") {
    const auto with = [](const char* directives) {
        return check_errors(module_of(".entry k() " + std::string(directives) + " {ret;}"));
    };
    for (const char* right : {".reqntid 1024", ".reqntid 32, 32", ".reqntid 1, 1, 64", ".maxntid 2048",
                              ".maxnreg 255 .minnctapersm 1", ".maxclusterrank 0", ".reqntid 0x80"}) {
        INFO(right);
        CHECK(with(right) == "");
    }
    const struct {
        const char *directives, *message;
    } rows[] = {
        {".reqntid 0", "'.reqntid' takes numbers from 1 on, not 0"},
        {".reqntid 32, 0", "'.reqntid' takes numbers from 1 on, not 0"},
        {".maxntid 0", "'.maxntid' takes numbers from 1 on, not 0"},
        {".maxntid 1, 1, 0", "'.maxntid' takes numbers from 1 on, not 0"},
        {".maxnreg 0", "'.maxnreg' takes numbers from 1 on, not 0"},
        {".minnctapersm 0", "'.minnctapersm' takes numbers from 1 on, not 0"},
        {".maxnreg 4294967296", "'.maxnreg' takes numbers of 32 bits, not 4294967296"},
        {".reqntid 1025", "at most 1024 threads, and '.reqntid' asks for 1025"},
        {".reqntid 32, 32, 2", "at most 1024 threads, and '.reqntid' asks for 2048"},
        {".reqntid 65536, 65536", "asks for 4294967296"},
        {".reqntid 1, 1, 65", "at most 64 threads along z, and '.reqntid' asks for 65"},
    };
    for (const auto& row : rows) {
        INFO(row.directives);
        CHECK_THAT(with(row.directives), ContainsSubstring(row.message));
    }
    for (const char* d : {".reqnctapercluster 2", ".explicitcluster", ".maxclusterrank 4"})
        CHECK_THAT(check_errors(std::string(".version 8.0\n.target sm_80\n.entry k() ") + d + " {ret;}\n"),
                   ContainsSubstring("needs a target with clusters"));
    CHECK_THAT(check_errors(".version 6.3\n.target sm_80\n.func f() .noreturn {trap;}\n"),
               ContainsSubstring("'.noreturn' needs .version 6.4"));
    CHECK_THAT(check_errors(module_of(".func (.param .b32 r) f() .noreturn {trap;}")),
               ContainsSubstring("'.noreturn' is for functions without results"));
}

TEST_CASE("more memory than there is") {
    const auto module = [](const char* target, const char* version, const std::string& text) {
        return check_errors(std::string(".version ") + version + "\n.target " + target + "\n.address_size 64\n" + text +
                            "\n");
    };
    const auto shared = [&](const char* target, const char* bytes) {
        return module(target, "9.0", ".entry k() {.shared .b8 s[" + std::string(bytes) + "]; ret;}");
    };
    CHECK(shared("sm_90a", "232448") == "");
    CHECK(shared("sm_100f", "232448") == "");
    CHECK(shared("sm_120a", "101376") == "");
    CHECK(shared("sm_80", "49152") == "");
    for (const char* bytes : {"232449", "400000000", "4294967296", "18446744073709551615"})
        CHECK_THAT(shared("sm_90a", bytes), ContainsSubstring("bytes of shared memory, of which there are 232448"));
    CHECK_THAT(shared("sm_120a", "101377"), ContainsSubstring("there are 101376"));
    CHECK_THAT(shared("sm_80", "49153"), ContainsSubstring("there are 49152; what is over that is dynamic"));
    const std::string uses = "{.reg .b32 r; mov.u32 r, s; ret;}", large = ".shared .b8 s[400000000];\n";
    CHECK(module("sm_90a", "9.0", large + ".entry k() {ret;}") == "");
    CHECK(module("sm_90a", "9.0", ".extern .shared .b8 s[];\n.entry k() " + uses) == "");
    CHECK(module("sm_90a", "9.0", large + ".entry k() {.shared .b8 s[4]; .reg .b32 r; mov.u32 r, s; ret;}") == "");
    CHECK_THAT(module("sm_90a", "9.0", large + ".entry k() " + uses), ContainsSubstring("declares 400000000 bytes"));
    CHECK_THAT(module("sm_90a", "9.0", ".entry k() {.shared .b8 a[232448]; .shared .b8 b; ret;}"),
               ContainsSubstring("declares 232449 bytes"));

    CHECK(module("sm_90a", "9.0", ".const .b8 a[65535]; .const .b8 b; .extern .const .b8 c[4];") == "");
    CHECK_THAT(module("sm_90a", "9.0", ".const .b8 a[65535]; .entry k() {.const .b16 b; ret;}"),
               ContainsSubstring("with 'b' the module has 65537 bytes in '.const'; there are 65536"));

    const auto parameters = [&](const char* target, const char* version, const char* list) {
        return module(target, version, ".entry k(" + std::string(list) + ") {ret;}");
    };
    CHECK(parameters("sm_90a", "8.1", ".param .b8 a[32764]") == "");
    CHECK(parameters("sm_90a", "8.0", ".param .b8 a[4352]") == "");
    CHECK(parameters("sm_90a", "8.1", ".param .b8 a[32757], .param .b32 b") == "");
    CHECK_THAT(parameters("sm_90a", "8.1", ".param .b8 a[32765]"), ContainsSubstring("take 32765 bytes"));
    CHECK_THAT(parameters("sm_90a", "8.1", ".param .b8 a[32761], .param .b32 b"),
               ContainsSubstring("take 32768 bytes"));
    CHECK_THAT(parameters("sm_90a", "8.0", ".param .b8 a[4353]"),
               ContainsSubstring("this target and version have 4352"));
    CHECK_THAT(parameters("sm_60", "8.1", ".param .b8 a[4353]"),
               ContainsSubstring("this target and version have 4352"));
    CHECK_THAT(check_errors(kernel_of("mov.u64 %rd1, 18446744073709551616;")), ContainsSubstring("more than 64 bits"));
    CHECK(check_errors(kernel_of("mov.u64 %rd1, 0xffffffffffffffffU;")) == "");
}

TEST_CASE("calls of what is no device function") {
    const auto call = [](const char* module, const char* body) {
        return check_errors(module_of(std::string(module) +
                                      "\n.entry k() {.reg .b64 d; .reg .pred p; .shared .b32 s;\n" + body + "\nret;}"));
    };
    CHECK(call(".func f() {ret;}", "call f; call.uni f, ();") == "");
    CHECK(call(".visible .func f() {ret;} .visible .func g(); .alias g, f;", "call g;") == "");
    CHECK(call("", "P: .callprototype _ (); call d, (), P;") == "");
    const struct {
        const char *module, *body, *message;
    } rows[] = {
        {".entry e() {ret;}", "call e;", "'e' is a kernel"},
        {"", "call k;", "'k' is a kernel"},
        {".global .b32 g;", "call g;", "'g' is a variable"},
        {"", "call s;", "'s' is a variable"},
        {"", "L: call L;", "'L' is a label"},
        {"", "call d;", "a call through register 'd' names a '.callprototype'"},
        {"", "P: .callprototype _ (); call p, (), P;", "'p' is a predicate"},
        {".func f() {ret;}", "P: .callprototype _ (); call f, (), P;", "needs no prototype"},
        {".global .b32 g;", "T: .calltargets g; call d, (), T;", "'.calltargets' names functions, and 'g' is none"},
    };
    for (const auto& row : rows) {
        INFO(row.module << row.body);
        CHECK_THAT(call(row.module, row.body), ContainsSubstring(row.message));
    }
}

TEST_CASE("what is declared again is the same") {
    for (const char* s :
         {".func f(.param .b32 a); .func f(.param .b32 z) {ret;}", ".visible .func f(); .func f() {ret;}",
          ".func f(.param .align 4 .b32 a); .func f(.param .b32 a) {ret;}",
          ".extern .global .b32 g; .visible .global .b32 g;", ".global .b32 g; .extern .global .b32 g;",
          ".extern .global .b32 g[]; .visible .global .b32 g[8];",
          ".visible .func f() {ret;} .visible .func g(); .alias g, f;", ".extern .func f(); .extern .func f();"}) {
        INFO(s);
        CHECK(check_errors(module_of(s)) == "");
    }
    const struct {
        const char *text, *message;
    } rows[] = {
        {".entry f() {ret;} .entry f() {ret;}", "'f' is defined twice"},
        {".func f() {ret;} .func f() {ret;}", "'f' is defined twice"},
        {".func f() {ret;} .func f();", "declared behind its definition"},
        {".func f() {ret;} .entry f() {ret;}", "as a kernel and as a device function"},
        {".func f(.param .b32 a); .func f(.param .b64 a) {ret;}", "with other parameters"},
        {".func f(.param .b32 a); .func f(.param .u32 a) {ret;}", "with other parameters"},
        {".func f(.param .b32 a); .func f(.reg .b32 a) {ret;}", "with other parameters"},
        {".func f(.param .b8 a[4]); .func f(.param .b8 a[8]) {ret;}", "with other parameters"},
        {".func (.param .b32 r) f(); .func f() {ret;}", "with other results"},
        {".func f(); .visible .func f() {ret;}", "with another linkage"},
        {".extern .func f(); .func f() {ret;}", "with another linkage"},
        {".func f() .noreturn; .func f() {ret;}", "with and without '.noreturn'"},
        {".extern .func f() {ret;}", "'.extern' says that 'f' is defined elsewhere"},
        {".extern .entry f() {ret;}", "'.extern' says that 'f' is defined elsewhere"},
        {".global .b32 g; .global .b32 g;", "'g' is declared twice"},
        {".extern .global .b32 g; .global .b32 g;", "'g' is declared twice"},
        {".extern .global .b32 g[4]; .visible .global .b32 g[8];", "'g' is declared twice"},
        {".entry f() {ret;} .visible .func g(); .alias g, f;", "'f' is a kernel"},
        {".global .b32 f; .visible .func g(); .alias g, f;", "'f' is none"},
        {".func f(.param .b32 a) {ret;} .func g(); .alias g, f;",
         "the alias 'g' has other parameters or results than 'f'"},
        {".func f() {ret;} .func g() {ret;} .alias g, f;", "'g' has a body and cannot be an alias too"},
        {".weak .func f() {ret;} .func g(); .alias g, f;", "'f' is '.weak'"},
        {".func f() {ret;} .func g(); .alias g, f; .alias g, f;", "'g' is an alias already"},
        {".common .shared .b32 g;", "'.common' variables lie in '.global'"},
        {".extern .global .b32 g = 4;", "the module that defines it gives it its initial value"},
        {".param .b32 g;", "'g' lies outside of a function"},
    };
    for (const auto& row : rows) {
        INFO(row.text);
        CHECK_THAT(check_errors(module_of(row.text)), ContainsSubstring(row.message));
    }
}

TEST_CASE("sizes of arrays and of their initial values") {
    for (const char* s :
         {".global .u32 g[4] = {1};", ".global .u32 g[2][2] = {{1, 2}, {3}};", ".global .u32 g[2] = {};",
          ".global .v4 .u32 g = {1, 2, 3, 4};", ".global .v2 .u32 g[2] = {{1, 2}};", ".extern .global .u32 g[0];",
          ".global .b32 g = 1.5;", ".const .u64 g = a;"}) {
        INFO(s);
        CHECK(check_errors(module_of(".global .u32 a; " + std::string(s))) == "");
    }
    const struct {
        const char *text, *message;
    } rows[] = {
        {".global .u32 g[0];", "array 'g' has no size"},
        {".shared .u32 g[2][0];", "array 'g' has no size"},
        {".entry k(.param .b8 g[0]) {ret;}", "array 'g' has no size"},
        {".global .u32 g[2][];", "only the first dimension of 'g' may be left open"},
        {".global .u32 g[2] = {1, 2, 3};", "more initial values than elements: 3 for [2] of 'g'"},
        {".global .u32 g[2][2] = {{1, 2, 3}};", "more initial values than elements: 3 for [2] of 'g'"},
        {".global .u32 g[2][2] = {1, 2};", "a list '{ }' is expected here"},
        {".global .u32 g[4] = 5;", "a list '{ }' is expected here"},
        {".global .u32 g = {1};", "'g' has no more dimensions"},
        {".global .u32 g[2] = {{1, 2}};", "'g' has no more dimensions"},
        {".global .v4 .u32 g = {1, 2};", "a vector of 4 elements has as many initial values, not 2"},
        {".global .u32 g = 1.0;", "is initialised by an integer"},
        {".global .f16 g = 1.0;", "variables of type .f16 have no initial values"},
        {".global .u8 g = a;", "holds one byte of an address: 0xff(a)"},
        {".shared .b32 s; .global .u64 g = s;", "'s' lies neither in .global nor in .const"},
    };
    for (const auto& row : rows) {
        INFO(row.text);
        CHECK_THAT(check_errors(module_of(".global .u32 a; " + std::string(row.text))), ContainsSubstring(row.message));
    }
}

TEST_CASE("options of a target") {
    const auto with = [](const char* options) {
        return check_errors(std::string(".version 8.0\n.target sm_90a, ") + options + "\n");
    };
    CHECK(with("texmode_unified") == "");
    CHECK(with("texmode_independent") == "");
    CHECK_THAT(with("fast"), ContainsSubstring("'.target' has no option 'fast'"));
    CHECK_THAT(with("texmode_raw"), ContainsSubstring("has no option"));
    CHECK_THAT(with("texmode_unified, texmode_independent"), ContainsSubstring("exclude each other"));
    CHECK_THAT(with("map_f64_to_f32"), ContainsSubstring("before sm_13"));
    CHECK_THAT(
        check_errors(".version 6.2\n.target sm_75\n.visible .func f() {ret;} .visible .func g(); .alias g, f;\n"),
        ContainsSubstring("'.alias' needs .version 6.3"));
}

TEST_CASE("instructions outside the table are said to be unchecked, once") {
    const std::string found = check_errors(kernel_of("_warpsync %r1;\n_warpsync %r99;"));
    CHECK_THAT(found, ContainsSubstring("7:1: warning: the table has no forms of '_warpsync'"));
    CHECK_THAT(found, ContainsSubstring("8:11: error: '%r99' is not declared"));
    CHECK(std::count(found.begin(), found.end(), '\n') == 2);
}

TEST_CASE("facts of a kernel") {
    const std::string text = module_of(
        ".extern .shared .align 16 .b8 dyn[];\n.shared .align 8 .b64 bars[4];\n.shared .f32 unused[100];\n"
        ".entry k(.param .u64 .ptr .global .align 16 a, .param .align 64 .b8 map[128], .param .f32 x) .reqntid 128, 2 .reqnctapercluster 2 .minnctapersm 3 {\n"
        ".reg .b32 %r<4>; .reg .pred p; .shared .align 1024 .b8 tile[100];\n"
        "mov.u32 %r1, dyn; mov.u32 %r1, bars; griddepcontrol.wait; bar.sync 3, 256; L: ret; }");
    const auto t = ptxdsl::parse(text);
    const auto v = t.read();
    const auto e = ptxdsl::ptx::find_entry(v, "");
    REQUIRE(e != 0);
    const auto f = ptxdsl::ptx::facts_of(v, e);
    CHECK(f.resources.threads[0] == 128);
    CHECK(f.resources.threads[1] == 2);
    CHECK(f.resources.max_threads == 256);
    CHECK(f.resources.cluster[0] == 2);
    CHECK(f.resources.static_shared_bytes == 136);
    CHECK(f.dynamic_shared);
    CHECK(f.resources.uses_pdl_wait);
    CHECK(f.named_barriers == 4);
    CHECK(f.min_blocks == 3);
    CHECK(f.instructions == 5);
    const auto s = ptxdsl::ptx::detail::parameter_storage(v, e, 1);
    CHECK(s.bytes == 128);
    CHECK(s.align == 64);
    CHECK(s.is_array);
    CHECK(ptxdsl::ptx::detail::parameter_storage(v, e, 0).is_pointer);
}

TEST_CASE("a target has the instructions of its time") {
    const auto on = [](const char* target, const std::string& statement) {
        return check_errors(
            ".version 9.0\n.target " + std::string(target) +
            "\n.address_size 64\n.entry k() {\n.reg .b16 %h<4>; .reg .b32 %r<9>; .reg .b64 %d<4>; .reg .f32 %f<4>; "
            ".reg .f64 %e<4>; .reg .pred %p<2>;\nmov.u64 %d0, 0;\n" +
            statement + "\nret;\n}\n");
    };
    struct change {
        const char *before, *first, *statement;
    };
    // The target before the first that has the instruction, and that one.
    for (const change& c : {change{"sm_62", "sm_70", "fence.acq_rel.gpu;"},
                            {"sm_60", "sm_61", "dp4a.u32.u32 %r0, %r1, %r2, %r3;"},
                            {"sm_60", "sm_61", "dp2a.lo.u32.u32 %r0, %r1, %r2, %r3;"},
                            {"sm_52", "sm_60", "atom.add.f64 %e0, [%d0], %e1;"},
                            {"sm_53", "sm_60", "red.global.add.f64 [%d0], %e1;"},
                            {"sm_53", "sm_60", "atom.cta.add.u32 %r0, [%d0], %r1;"},
                            {"sm_53", "sm_60", "atom.add.noftz.f16x2 %r0, [%d0], %r1;"},
                            {"sm_62", "sm_70", "atom.add.noftz.f16 %h0, [%d0], %h1;"},
                            {"sm_62", "sm_70", "atom.cas.b16 %h0, [%d0], %h1, %h2;"},
                            {"sm_62", "sm_70", "atom.relaxed.gpu.add.u32 %r0, [%d0], %r1;"},
                            {"sm_62", "sm_70", "ld.acquire.gpu.u32 %r0, [%d0];"},
                            {"sm_62", "sm_70", "st.relaxed.sys.u32 [%d0], %r1;"},
                            {"sm_52", "sm_53", "add.f16 %h0, %h1, %h2;"},
                            {"sm_52", "sm_53", "fma.rn.f16x2 %r0, %r1, %r2, %r3;"},
                            {"sm_72", "sm_75", "tanh.approx.f32 %f0, %f1;"},
                            {"sm_72", "sm_75", "ld.global.L2::128B.u32 %r0, [%d0];"},
                            {"sm_75", "sm_80", "ld.global.L2::256B.u32 %r0, [%d0];"},
                            {"sm_75", "sm_80", "fma.rn.bf16x2 %r0, %r1, %r2, %r3;"},
                            {"sm_62", "sm_70", "match.any.sync.b32 %r0, %r1, %r2;"},
                            {"sm_89", "sm_90", "fence.acq_rel.cluster;"},
                            {"sm_90", "sm_90a", "wgmma.fence.sync.aligned;"},
                            {"sm_100", "sm_100f", "tcgen05.fence::before_thread_sync;"},
                            {"sm_120a", "sm_103a", "tcgen05.fence::before_thread_sync;"},
                            {"sm_90a", "sm_103f", "cvt.rn.bf16x2.ue8m0x2 %r0, %h1;"}}) {
        INFO(c.statement);
        CHECK_THAT(on(c.before, c.statement), ContainsSubstring("' does not exist on target " + std::string(c.before)));
        CHECK_THAT(on(c.first, c.statement), !ContainsSubstring("error"));
    }
    // What they had from the start.
    for (const char* statement :
         {"atom.add.u32 %r0, [%d0], %r1;", "atom.shared.cas.b64 %d1, [%d0], %d2, %d3;", "membar.gl;",
          "red.add.f32 [%d0], %f1;", "bar.sync 0;", "ld.global.nc.u32 %r0, [%d0];", "shfl.idx.b32 %r0, %r1, 0, 31;",
          "lop3.b32 %r0, %r1, %r2, %r3, 0x80;"})
        CHECK_THAT(on("sm_50", statement), !ContainsSubstring("error"));
}
