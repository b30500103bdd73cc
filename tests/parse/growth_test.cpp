// SPDX-License-Identifier: Apache-2.0
// Time grows with the size of the text, not faster: for kernels and for what somebody might feed the parser to stop it.
// Sizes are small, so that a test machine's noise matters less than a square would: four times the text, at most nine
// times the processor time (a square is sixteen).
#include "catch.hpp"
#include "parse_helpers.hpp"

#include <ctime>

namespace ptx = ptxdsl::ptx;

namespace {

std::string repeated(std::string_view what, std::size_t size) {
    std::string s;
    while (s.size() < size) s += what;
    return s;
}

/// Processor seconds to read a text, and to print and check it if it is one; the best of three.
double seconds(const std::string& source) {
    double best = 1e9;
    for (int i = 0; i < 3; ++i) {
        const std::clock_t start = std::clock();
        ptx::tree t = ptxdsl::parse(source);
        ptx::text out;
        if (t.ok()) {
            ptx::print_canonical(t.read(), out);
            ptx::check_module(t.read(), t.messages);
        }
        ptx::print_lossless(t.read(), out);
        const double s = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
        if (s < best) best = s;
    }
    return best;
}

template <class Make>
void grows_linearly(const char* name, Make make) {
    constexpr std::size_t size = 250'000;
    const double small = seconds(make(size)), large = seconds(make(4 * size));
    INFO(name << ": " << small << " s, " << large << " s for four times the text");
    CHECK((large < 0.02 || large < 9 * small));
}

std::string numbered(std::size_t size, std::string_view before, std::string_view after) {
    std::string s;
    for (int i = 0; s.size() < size; ++i) s.append(before).append(std::to_string(i)).append(after);
    return s;
}

}  // namespace

TEST_CASE("large modules are read in linear time") {
    using namespace std::string_view_literals;
    grows_linearly("instructions", [](std::size_t n) {
        return ptxdsl_test::kernel_of(
            repeated("    mad.lo.s32 %r1, %r2, %r3, %r4;\n    st.global.u32 [%rd1+4], %r1;\n", n));
    });
    grows_linearly("labels and branches",
                   [](std::size_t n) { return ptxdsl_test::kernel_of(numbered(n, "L", ":\n@q bra L0;\n")); });
    grows_linearly("registers",
                   [](std::size_t n) { return ptxdsl_test::kernel_of(numbered(n, ".reg .b32 x", ";\n")); });
    grows_linearly("scopes", [](std::size_t n) {
        return ptxdsl_test::kernel_of(
            repeated("{ .reg .pred p; setp.ne.u32 p, %r1, 0; @p add.u32 %r1, %r1, 1; }\n", n));
    });
    grows_linearly("functions", [](std::size_t n) {
        return ptxdsl_test::module_of(numbered(n, ".func f", "(.param .b32 a) { ret; }\n") + ".entry k() { ret; }");
    });
    grows_linearly("one initializer", [](std::size_t n) {
        return ptxdsl_test::module_of(".global .b8 a[] = {0" + repeated(", 17", n) + "};\n.entry k() { ret; }");
    });
    grows_linearly("debug lines", [](std::size_t n) {
        return ptxdsl_test::kernel_of(numbered(n, ".loc 1 ", " 7\nadd.u32 %r1, %r1, 1;\n"));
    });
    grows_linearly("comments", [](std::size_t n) {
        return ptxdsl_test::kernel_of(numbered(n, "// ", "\nadd.u32 /* */ %r1, %r1, 1;\n"));
    });
}

TEST_CASE("hostile texts are refused in linear time") {
    using namespace std::string_view_literals;
    for (const std::string_view piece : {"\0"sv,
                                         "\0 "sv,
                                         "\x1a\n"sv,
                                         "#"sv,
                                         "# 1 \""sv,
                                         "# 1 \"a\" 1 1 1 x\n"sv,
                                         "{"sv,
                                         "}"sv,
                                         "("sv,
                                         "["sv,
                                         "\""sv,
                                         "/*"sv,
                                         "/"sv,
                                         "%"sv,
                                         "@"sv,
                                         "\xc3"sv,
                                         "\xc3 "sv,
                                         ".a::"sv,
                                         "0x"sv,
                                         "1e"sv,
                                         "a+"sv,
                                         ";"sv,
                                         "@p "sv,
                                         "mov "sv,
                                         ".reg "sv,
                                         "x: "sv,
                                         "mov.u32 a b;\n"sv,
                                         "{ mov a b; }\n"sv,
                                         ".entry k() {\n"sv,
                                         ".func f("sv,
                                         "a|"sv,
                                         "-"sv,
                                         "~!"sv}) {
        const std::string name = "repeated '" + std::string(piece) + "'";
        grows_linearly(name.c_str(), [&](std::size_t n) { return repeated(piece, n) + "x"; });
        grows_linearly(name.c_str(), [&](std::size_t n) { return ptxdsl_test::kernel_of(repeated(piece, n) + "x"); });
    }
}
