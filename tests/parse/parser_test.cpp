// SPDX-License-Identifier: Apache-2.0
// The grammar, line by line, as ptxas 13.0 reads it, and what is said where it is broken.
#include "catch.hpp"
#include "parse_helpers.hpp"

#include <algorithm>

using Catch::Matchers::ContainsSubstring;
using ptxdsl_test::kernel_of;
using ptxdsl_test::module_of;
using ptxdsl_test::parse_errors;

TEST_CASE("every word of the instruction table is read as a modifier") {
    for (unsigned t = 1; t < ptxdsl::isa::detail::token_count; ++t) {
        const std::string_view word = ptxdsl::isa::spelling(static_cast<ptxdsl::isa::tok>(t));
        if (word == "tex") continue;  // an opcode; `.tex` is a state space of declarations (5.1.8)
        INFO(word);
        CHECK(parse_errors(kernel_of("op." + std::string(word) + ";")) == "");
    }
}

TEST_CASE("statements that are PTX") {
    for (const char* s : {"mov .u32 %r1,1;",
                          "mov.u32 %r1,%tid .x;",
                          "mov.u32 %r1,1?2:3;",
                          "mov.u32 %r1,- -4;",
                          "mov.u64 %rd1,g+4;",
                          "mov.u64 %rd1,g[1];",
                          "mov.u32 %r1,%r2+1;",
                          "ld.global.u32 %r1,[g+4+4];",
                          "ld.global.u32 %r1,[8+8];",
                          "ld.global.u32 %r1,g[%r2+1];",
                          "ld.global.u32 %r1,%rd1[1];",
                          "bra L; L:",
                          "@!q bra L; L: ret;",
                          "setp.eq.and.u32 %p1,%r1,%r2,! %p2;",
                          "mov.b64 {_,_},%rd1;",
                          "mov.b64 %rd1,{1+2,3};",
                          "exit; trap; brkpt;",
                          ".pragma \"a\", \"b\";",
                          ".loc 1 2 3",
                          ".reg .b32 a, b<3>, c;",
                          ".reg .align 4 .b32 x;",
                          ".local .align 16 .v4 .f32 x[2];",
                          ".param .align 8 .b8 c[16];",
                          ".global .b32 c[2] = {1,2};",
                          "%r1: mov.u32 %r1,1;",
                          "{}",
                          "{ { } }",
                          "add: bra add;",
                          "call f;",
                          "call (%r1), f, (3), P2;",
                          "call f, t;",
                          "tex.2d.v4.f32.f32 {%f1,%f2,%f3,%f4}|%p1,[t,s,{%f1,%f2},{1,2}],{1,2};",
                          "foo.bar::baz %r1;",
                          "vadd4.u32.u32.u32 %r1.b20,%r2,-%r3.h1,%r4;",
                          "mov.u32 %r1,1;# 3 \"x\"\n",
                          "_|_:"}) {
        if (std::string_view(s) == "_|_:") continue;
        INFO(s);
        CHECK(parse_errors(kernel_of(s)) == "");
    }
}

TEST_CASE("statements that are not") {
    const struct {
        const char* text;
        const char* message;
    } rows[] = {
        {";", "7:1: error: expected an instruction, a label, a declaration or '}', found ';'"},
        {"mov.u32 %r1,1;;", "7:15: error: expected an instruction"},
        {"mov.u64 %rd1,g-4;", "7:15: error: expected ',' or ';' behind an operand, found '-'"},
        {"mov.u64 %rd1,4+g;", "7:16: error: expected an operand, found identifier 'g'"},
        {"mov.u64 %rd1,generic(g);", "7:21: error: expected ',' or ';'"},
        {"ld.global.u32 %r1,[g- 4];", "7:21: error: expected '+', ',' or ']' in an address, found '-'"},
        {"ld.global.u32 %r1,[%rd1+%rd2];", "7:25: error: expected an operand"},
        {"ld.global.u32 %r1,[g[1]];", "7:21: error: expected '+', ',' or ']'"},
        {"ld.global.u32 %r1,[];", "7:20: error: expected an operand"},
        {"ld.global.u32 %r1,[%rd1", "8:1: error: expected '+', ',' or ']' in an address, found identifier 'ret'"},
        {"mov.b64 {%r1 %r2},%rd1;", "7:14: error: expected ',' or '}' in a vector"},
        {"mov.b64 {},%rd1;", "7:10: error: expected an operand, found '}'"},
        {"mov.f32 %f1,-0f3f800000;", "7:14: error: expected an operand, found number '0f3f800000'"},
        {"mov.f32 %f1,0f3f800000+1.0;", "7:23: error: expected ',' or ';'"},
        {"mov.u32 %r1,1?2;", "7:16: error: expected ':' behind '?', found ';'"},
        {"mov.u32 %r1,%r2 %r3;", "7:17: error: expected ',' or ';' behind an operand, found identifier '%r3'"},
        {"mov.u32 %r1,%r2,;", "7:17: error: expected an operand, found ';'"},
        {"mov.u32 %r1,_;", "7:13: error: expected an operand, found '_'"},
        {"setp.eq.u32 %p1|!%p2,%r1,%r2;", "7:17: error: expected a register behind '|', found '!'"},
        {"setp.eq.u32 _|_,%r1,%r2;", "7:15: error: expected a register behind '|'"},
        {"@%p1 {ret;}", "7:6: error: expected an instruction behind its predicate, found '{'"},
        {"@!!q ret;", "7:3: error: expected a predicate behind '@'"},
        {".loc 1 2", "8:1: error: expected a column, found identifier 'ret'"},
        {".loc 1 2 3, inlined_at 1 2 3", "7:13: error: expected 'function_name'"},
        {".pragma nounroll;", "7:9: error: expected a string"},
        {".reg .bf16 y;", "7:6: error: expected a type such as .b32 in a declaration, found '.bf16'"},
        {".reg .b32 _;", "7:11: error: expected a name in a declaration, found '_'"},
        {".local .v4 .align 16 .f32 x;", "7:12: error: expected a type"},
        {".branchtargets A;", "7:1: error: expected an instruction"},
        {"T: .branchtargets ;", "7:19: error: expected a label in '.branchtargets'"},
        {"call;", "7:5: error: expected the function to call, found ';'"},
        {"call (%r1) f;", "7:12: error: expected ','"},
        {"call f, (%r1+1);", "7:13: error: expected ',' or ')' in a call"},
        {"mov.align %r1,%r2;", "7:4: error: expected an operand, found '.align'"},
        {".visible .global .u32 x;", "7:1: error: expected an instruction"},
    };
    for (const auto& row : rows) {
        INFO(row.text);
        CHECK_THAT(parse_errors(kernel_of(row.text)), ContainsSubstring(row.message));
    }
}

TEST_CASE("module level") {
    for (const char* s : {".weak .global .u32 a;",
                          ".align 8 .global .u32 a;",
                          ".attribute(.managed,.unified(1,2)) .global .u32 a;",
                          ".global .u32 a[2] = {};",
                          ".global .u32 x; .global .u64 a = generic(x)+4;",
                          ".global .u32 x; .global .u8 a[2] = {0xff(x), 255(generic(x)+4)};",
                          ".global .texref t = { width = 4, channel_order = r };",
                          ".file 1 \"x\", 1, 2",
                          ".section .debug_str { }",
                          ".section .s { L: .b8 1, -1 .b32 L .b32 L+1 .b32 L-L .b64 .s+4 }",
                          ".entry j;",
                          ".entry j {ret;}",
                          ".func (.reg .u32 a) f;",
                          ".func f() .noreturn;",
                          ".func f(.param .b32 a)\n.func f(.param .b32 a){ret;}",
                          ".extern .func f",
                          ".alias a, b;",
                          ".extern .entry j();",
                          ".func .attribute(.unified(1,2)) (.param .b32 r) f(){ret;}",
                          ".entry k(.param .align 8 .u64 .ptr .global a){ret;}"}) {
        INFO(s);
        CHECK(parse_errors(module_of(s)) == "");
    }
    for (const char* s : {".visible .extern .global .u32 a;",
                          ".global .u32 .align 4 a;",
                          ".global .u32 a[1+1];",
                          ".global .u32 a[2]<3>;",
                          ".global .u32 a[2] = {1,};",
                          ".global .u64 a = x-4;",
                          ".global .u64 a = x[1];",
                          ".global .u8 a = (0xff)(x);",
                          ".global .attribute() .u32 a;",
                          ".file 1 \"x\";",
                          ".section s { }",
                          ".section .s { .b8 1; }",
                          ".section .s { .b8 1+2 }",
                          ".section .s { .b8 \"a\" }",
                          ".entry k(){ret;};",
                          ".entry k() .maxntid 1,2,3,4 {ret;}",
                          ".entry k() .maxntid {ret;}",
                          ".entry k() .explicitcluster 1 {ret;}",
                          ".entry .maxntid 3 k(){ret;}",
                          ".func f() .maxnreg 3 {ret;}",
                          ".common .func f();",
                          ".entry k(.param .u64 .ptr .generic a){ret;}",
                          ".entry k(.param .u32){ret;}",
                          ".loc 1 1 1",
                          ";",
                          "mov.u32 %r1, 1;"}) {
        INFO(s);
        CHECK(parse_errors(module_of(s)) != "");
    }
}

TEST_CASE("header") {
    CHECK(parse_errors(".version 8.0 .target sm_90a, texmode_independent") == "");
    CHECK_THAT(parse_errors(""),
               ContainsSubstring("1:1: error: expected '.version' at the start of the file, found end of file"));
    CHECK_THAT(parse_errors(".version 8\n.target sm_90a"),
               ContainsSubstring("1:10: error: expected a version such as 8.0"));
    CHECK_THAT(parse_errors(".version\n8.0\n.target sm_90a"),
               ContainsSubstring("2:1: error: the version stands on the line of '.version'"));
    CHECK_THAT(parse_errors(".version 8.0\n.entry k{ret;}"),
               ContainsSubstring("2:1: error: expected '.target' behind '.version'"));
    CHECK_THAT(parse_errors(".version 8.0\n.target debug, sm_90a"),
               ContainsSubstring("2:9: error: '.target' names the architecture first"));
    CHECK_THAT(parse_errors(module_of(".version 8.0")), ContainsSubstring("4:1: error: '.version' stands once"));
    const auto t = ptxdsl::parse(".version 8.3\n.target sm_100a, debug\n");
    CHECK(t.read().version() == ptxdsl::ptx_version{8, 3});
    CHECK(t.read().target() == ptxdsl::sm_100a);
}

TEST_CASE("several errors are found in one text, each once") {
    const std::string text =
        kernel_of(
            "mov.u32 %r1, ;\nadd.u32 %r1, %r2 %r3;\nmov.b64 %rd1, {%r1, %r2;\nmov.u32 %r1, 08;\nmov.u32 %r1, 1\nmov.u32 %r2, 2;\n{ mov.u32 %r1, (1; }\nmov.u32 %r5, 3;") +
        ".entry two() { mov.u32 , ; }\n";
    const std::string found = parse_errors(text);
    INFO(found);
    CHECK_THAT(found, ContainsSubstring("7:14: "));
    CHECK_THAT(found, ContainsSubstring("8:18: "));
    CHECK_THAT(found, ContainsSubstring("9:24: "));
    CHECK_THAT(found, ContainsSubstring("10:14: error: malformed number '08'"));
    CHECK_THAT(found, ContainsSubstring("12:1: "));
    CHECK_THAT(found, ContainsSubstring("13:18: "));
    CHECK_THAT(found, ContainsSubstring("17:24: "));
    CHECK(std::count(found.begin(), found.end(), '\n') == 7);
}

TEST_CASE("an unclosed function does not swallow the next one") {
    const std::string found =
        parse_errors(module_of(".entry a() {\nret;\n.visible .entry b() { ret; }\n.entry c() { ret;"));
    CHECK_THAT(found, ContainsSubstring("6:1: error: expected '}' to close the function before the next one"));
    CHECK_THAT(found, ContainsSubstring("8:1: error: expected '}', found end of file"));
    CHECK_THAT(found, ContainsSubstring("7:12: note: to match this '{'"));
}

TEST_CASE("nothing that is hostile hurts") {
    using ptxdsl_test::lossless;
    const auto repeat = [](std::string_view s, int n) {
        std::string out;
        for (int i = 0; i < n; ++i) out += s;
        return out;
    };
    const std::string texts[] = {
        module_of(".entry k() {" + repeat("{", 100000)),
        kernel_of("mov.u32 %r1, " + repeat("(", 100000)),
        module_of(".global .u32 a = " + repeat("{", 100000)),
        kernel_of("mov.u32 %r1, " + repeat("-", 100000) + "1;"),
        kernel_of("mov.u32 %r1, " + repeat("1?", 100000) + "1;"),
        kernel_of("mov.u32 %r1, 1" + repeat("+1", 100000) + ";"),
        kernel_of("foo " + repeat("%r1,", 100000)),
        repeat("}", 100000),
        module_of(repeat(".visible ", 100000)),
        kernel_of(repeat("L:", 100000)),
        kernel_of("mov.b64 %rd1, {" + repeat("%r1,", 100000)),
        module_of(repeat("(", 100000)),
        kernel_of("mov" + repeat(".a", 100000) + " %r1;"),
        repeat("\"", 99999),
        repeat("/*", 100000),
        std::string(100000, '\xff'),
        std::string(100000, '\0') + "x",
        repeat("@", 100000),
    };
    for (const std::string& s : texts) {
        INFO(s.substr(0, 60));
        const auto t = ptxdsl::parse(s);
        CHECK(t.messages.size() <= ptxdsl::ptx::diagnostics::limit);
        CHECK(lossless(s) == s);
        if (t.ok()) {
            auto copy = ptxdsl::parse(s);
            const auto v = copy.read();
            ptxdsl::ptx::check_module(v, copy.messages);
        }
    }
    CHECK_THAT(parse_errors(texts[0]), ContainsSubstring("scopes nested too deeply"));
    CHECK_THAT(parse_errors(texts[1]), ContainsSubstring("nested too deeply"));
    CHECK(parse_errors(texts[5]) == "");
}

TEST_CASE("the tree has what the text says") {
    using ptxdsl::ptx::node_kind;
    const auto t = ptxdsl::parse(kernel_of("@!%p1 ld.global.v2.f32 {%f1, _}, [%rd1+8];"));
    const auto v = t.read();
    const auto entry = ptxdsl::ptx::find_entry(v, "k");
    REQUIRE(entry != 0);
    const auto body = v.child(entry, node_kind::body);
    const auto i = v.child(body, node_kind::instruction);
    CHECK(v.atom(i) == "ld");
    CHECK(v.atom(v.child(i, node_kind::guard)) == "%p1");
    CHECK(v[v.child(i, node_kind::guard)].flags == ptxdsl::ptx::node::negated);
    const auto vector = v.child(i, node_kind::vector);
    CHECK(v.children(vector) == 2);
    const auto offset = v.child(v.child(i, node_kind::address), node_kind::offset);
    CHECK(v.atom(offset + 1) == "%rd1");
    CHECK(v.atom(offset + 2) == "8");
}

TEST_CASE("constants have values") {
    const struct {
        const char* text;
        std::int64_t value;
    } rows[] = {{"1+2*3", 7},
                {"(1+2)*3", 9},
                {"7 % 4", 3},
                {"-7/2", -3},
                {"1<<4|1", 17},
                {"1?2:3", 2},
                {"0?1:0?2:3", 3},
                {"~0&0xff", 255},
                {"!5", 0},
                {"-(.s64)4", -4},
                {"10-2-3", 5},
                {"017", 15},
                {"0b101U", 5},
                {"WARP_SZ*2", 64},
                {"3<=4&&5==6||7!=8", 1},
                {"0xFFFFFFFFFFFFFFFFU", -1},
                {"1/0", 0},
                {"1<<64", 0}};
    for (const auto& row : rows) {
        const auto t = ptxdsl::parse(kernel_of(std::string("mov.u64 %rd1, ") + row.text + ";"));
        const auto v = t.read();
        std::uint32_t n = 0;
        for (std::uint32_t i = 0; i < v.n_nodes; ++i)
            if (v.kind(i) == ptxdsl::ptx::node_kind::instruction && n == 0) n = i;
        const auto name = v.child(n, ptxdsl::ptx::node_kind::name);
        INFO(row.text);
        CHECK(ptxdsl::ptx::constant_reader(v).of(v[name].end).value == row.value);
    }
}
