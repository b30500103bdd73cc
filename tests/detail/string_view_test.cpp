// SPDX-License-Identifier: Apache-2.0
// ptxdsl::string_view behaves as std::string_view does, and mixes with it.
#include "../catch.hpp"

#include <ptxdsl/ptxdsl.hpp>

#include <map>
#include <random>
#include <sstream>
#include <string>
#include <string_view>
#include <type_traits>

namespace px = ptxdsl;

namespace {

constexpr void empty(px::builder<px::sm_90a>& k) { k.ret(); }
constexpr auto program = px::assemble<px::kernel<"empty", empty>>();

// What users write with the text of a kernel.
constexpr std::string_view as_std = program.text();
static_assert(as_std.data()[as_std.size()] == '\0');
static_assert(program.text().find(".entry empty") != std::string_view::npos);
static_assert(program.text().starts_with("//") && program.text() == as_std && as_std == program.text());
static_assert(program.name() == "empty" && "empty" == program.name() && program.name() != std::string_view("full"));

static_assert(std::is_trivially_copyable_v<px::string_view>);
static_assert(std::is_nothrow_convertible_v<px::string_view, std::string_view>);
static_assert(std::is_convertible_v<std::string, px::string_view> &&
              std::is_convertible_v<std::string_view, px::string_view>);
static_assert(
    !std::is_convertible_v<px::string_view, std::string>);  // a copy is asked for by name, as from std::string_view
static_assert(!std::is_convertible_v<px::string_view, const char*>);

// Numbers in names and sentences.
static_assert(px::detail::decimal(0).view() == "0" && px::detail::decimal(9).view() == "9");
static_assert(px::detail::decimal(10).view() == "10" && px::detail::decimal(100).view() == "100");
static_assert(px::detail::decimal(~std::uint64_t{0}).view() == "18446744073709551615");

std::string random_text(std::mt19937& random, std::size_t longest) {
    std::string s(random() % (longest + 1), ' ');
    for (char& c : s) c = static_cast<char>("ab\x80"[random() % 3]);
    return s;
}

int sign(int x) { return (x > 0) - (x < 0); }

}  // namespace

TEST_CASE("string_view finds, cuts and compares as the standard's") {
    std::mt19937 random(17);
    for (int turn = 0; turn < 20000; ++turn) {
        const std::string a = random_text(random, 9);
        const std::string b = random_text(random, 3);
        const std::string_view sa = a, sb = b;
        const px::string_view pa = a, pb = b;
        const char c = "ab\x80z"[random() % 4];
        const std::size_t pos = random() % 11;
        CAPTURE(a, b, pos);
        REQUIRE(pa.find(pb, pos) == sa.find(sb, pos));
        REQUIRE(pa.find(c, pos) == sa.find(c, pos));
        REQUIRE(pa.rfind(c) == sa.rfind(c));
        REQUIRE(pa.starts_with(pb) == sa.starts_with(sb));
        REQUIRE(pa.ends_with(pb) == sa.ends_with(sb));
        REQUIRE(pa.starts_with(c) == sa.starts_with(c));
        REQUIRE(pa.ends_with(c) == sa.ends_with(c));
        REQUIRE(sign(pa.compare(pb)) == sign(sa.compare(sb)));
        REQUIRE((pa == pb) == (sa == sb));
        REQUIRE((pa == sb) == (sa == sb));
        REQUIRE((a == pb) == (sa == sb));
        REQUIRE((pa < pb) == (sa < sb));
        if (pos <= a.size()) REQUIRE(pa.substr(pos, b.size()) == sa.substr(pos, b.size()));
        if (pos > a.size()) REQUIRE(pa.substr(pos).empty());
    }
}

TEST_CASE("string_view goes where a std::string_view goes") {
    const px::string_view text = "mad.lo.u32";
    const std::string copy(text);
    REQUIRE(copy == "mad.lo.u32");
    REQUIRE(copy + std::string(text.substr(0, 3)) == "mad.lo.u32mad");
    std::string grown = "k.";
    grown += text;
    grown.append(text);
    REQUIRE(grown == "k.mad.lo.u32mad.lo.u32");
    const std::map<std::string, int, std::less<>> rows{{"mad.lo.u32", 7}};
    REQUIRE(rows.find(std::string_view(text))->second == 7);
    std::ostringstream out;
    out << text << '\n';
    REQUIRE(out.str() == "mad.lo.u32\n");
}
