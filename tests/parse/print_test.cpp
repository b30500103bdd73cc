// SPDX-License-Identifier: Apache-2.0
// Printing: the bytes back, and one layout for all.
#include "catch.hpp"
#include "parse_helpers.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

using ptxdsl_test::kernel_of;
using ptxdsl_test::lossless;
using ptxdsl_test::module_of;
using ptxdsl_test::printed;
namespace ptx = ptxdsl::ptx;

namespace {

std::string read(const std::filesystem::path& p) {
    std::ifstream f(p, std::ios::binary);
    return {std::istreambuf_iterator<char>(f), {}};
}

std::string statements(const char* s) {
    std::string out = printed(kernel_of(s));
    const std::string before = printed(kernel_of(""));
    const std::size_t head = before.rfind("    ret;");
    if (out.size() <= before.size()) return out;
    return out.substr(head, out.size() - before.size());
}

/// Names and numbers of all nodes: what must survive printing.
std::string outline(const ptx::tree& t) {
    std::string out;
    const ptx::tree_view v = t.read();
    for (std::uint32_t i = 0; i < v.n_nodes; ++i) {
        out += std::to_string(static_cast<unsigned>(v.kind(i))) + ' ' + std::to_string(v[i].end - i) + ' ' +
               std::string(v.atom(i)) + '\n';
    }
    return out;
}

}  // namespace

TEST_CASE("the canonical layout") {
    const std::string text = printed(
        "// x\n.version 8.0 .target sm_90a,debug .address_size 64 .global .u32 a,b[ 2 ]={ 1,2 };.visible .entry k(.param .u64 p,.param .u32 n).maxntid 32,1 "
        ".minnctapersm 2{.reg .b32 %r<4>;L:{mov.u32 %r1,1;}@!p bra L;ret;}.func(.reg .b32 r)f(.reg .b32 a);.entry z(){ret;}");
    CHECK(
        text ==
        ".version 8.0\n.target sm_90a, debug\n.address_size 64\n\n.global .u32 a, b[2] = {1, 2};\n\n.visible .entry k(\n    .param .u64 p,\n    .param .u32 n\n)\n.maxntid 32, 1\n.minnctapersm 2\n{\n"
        "    .reg .b32 %r<4>;\nL:\n    {\n        mov.u32 %r1, 1;\n    }\n    @!p bra L;\n    ret;\n}\n\n.func (.reg .b32 r) f(.reg .b32 a);\n\n.entry z()\n{\n    ret;\n}\n");
}

TEST_CASE("operands in the canonical layout") {
    const struct {
        const char* text;
        const char* out;
    } rows[] = {
        {"mov.u32 %r1,7 % 4;", "    mov.u32 %r1, 7 % 4;\n"},
        {"mov.u32 %r1, - -4 ;", "    mov.u32 %r1, --4;\n"},
        {"mov.u32 %r1,(1+2)*-3;", "    mov.u32 %r1, (1 + 2) * -3;\n"},
        {"mov.u32 %r1,1?2:3;", "    mov.u32 %r1, 1 ? 2 : 3;\n"},
        {"mov.u32 %r1,( .s64 )4;", "    mov.u32 %r1, (.s64)4;\n"},
        {"ld.global.u32 %r1,[ g+ -4 ];", "    ld.global.u32 %r1, [g+-4];\n"},
        {"ld.global.u32 %r1,g [ %r2+1 ];", "    ld.global.u32 %r1, g[%r2+1];\n"},
        {"setp.eq.u32 %p1 | _ ,%r1,%r2;", "    setp.eq.u32 %p1|_, %r1, %r2;\n"},
        {"call.uni(%r1),f,(%r2,3),P2;", "    call.uni (%r1), f, (%r2, 3), P2;\n"},
        {"tex.1d.v4.f32.s32{%f1,%f2,%f3,%f4},[t,%r1];", "    tex.1d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [t, %r1];\n"},
        {"mov.u32 %r1,%tid .x;", "    mov.u32 %r1, %tid.x;\n"},
        {".loc 1 2 3,function_name L+4,inlined_at 4 5 6", "    .loc 1 2 3, function_name L+4, inlined_at 4 5 6\n"},
        {"T:.branchtargets A<3>,B;", "T:\n    .branchtargets A<3>, B;\n"},
        {"T:.callprototype(.reg .b32 _)_(.param .b32 _).noreturn;",
         "T:\n    .callprototype (.reg .b32 _) _ (.param .b32 _) .noreturn;\n"},
    };
    for (const auto& row : rows) CHECK(statements(row.text) == row.out);
}

TEST_CASE("comments stay when asked to") {
    const std::string text = printed(
        module_of("// of the kernel\n.entry k() { // opens\n/* alone */ ret; // returns\n// last\n} // closed\n// end"),
        ptx::layout::commented);
    CHECK(
        text ==
        ".version 8.8\n.target sm_90a\n.address_size 64\n\n// of the kernel\n.entry k()\n{  // opens\n    /* alone */\n    ret;  // returns\n    // last\n}  // closed\n// end\n");
}

TEST_CASE("comments: line markers are none, and each keeps its place when printed again") {
    const auto commented = [](std::string_view s) { return printed(s, ptx::layout::commented); };
    const std::string marker = commented("# 1 \"/a/b.cu\"\n.version 8.0 // v\n# 2 \"/c.cu\"\n.target sm_90a\n");
    CHECK(marker == ".version 8.0  // v\n.target sm_90a\n");
    for (const char* body : {"ret /* a */ ; // b\n", "\n/*a*/ /*b*/ ret; // c\n// d\n", "ret\n/*a*/ ; /*b*/ // c\n",
                             "{ // a\n /*b*/ }  /*c*/ // d\n ret;"}) {
        const std::string once = commented(std::string(".version 8.0\n.target sm_90a\n.entry k() {") + body + "}\n");
        INFO(once);
        CHECK(commented(once) == once);
    }
}

TEST_CASE("strings over lines count as lines") {
    const std::string s = ".version 1.4\n.target sm_13\n@@DWARF .section .x, \"\n\", @progbits\n@@DWARF .byte 1\n";
    CHECK(printed(printed(s, ptx::layout::lines), ptx::layout::lines) == printed(s, ptx::layout::lines));
}

TEST_CASE("the layout by lines starts statements where they were") {
    const std::string source = module_of(".entry k() {\n\n  .shared .b8 a[4];\n\n  ret; exit;\n}");
    const std::string text = printed(source, ptx::layout::lines);
    const auto line_of = [](const std::string& s, const char* what) {
        return ptx::position_of(s, static_cast<std::uint32_t>(s.find(what))).line;
    };
    for (const char* what : {".entry", ".shared", "ret", "exit"}) CHECK(line_of(text, what) == line_of(source, what));
}

TEST_CASE("every file of the corpus: bytes back, layout stable, tree kept") {
    const std::filesystem::path corpus = PTXDSL_CORPUS;
    int files = 0;
    for (const auto& e : std::filesystem::recursive_directory_iterator(corpus)) {
        if (e.path().extension() != ".ptx") continue;
        INFO(e.path().filename().string());
        const std::string source = read(e.path());
        ++files;
        CHECK(lossless(source) == source);
        const ptx::tree t = ptxdsl::parse(source);
        if (!t.ok()) continue;
        for (const ptx::layout l : {ptx::layout::canonical, ptx::layout::commented, ptx::layout::lines}) {
            const std::string once = printed(source, l);
            const ptx::tree again = ptxdsl::parse(once);
            CHECK(again.ok());
            CHECK(outline(again) == outline(t));
            CHECK(printed(once, l) == once);
        }
    }
    CHECK(files >= 60);
}
