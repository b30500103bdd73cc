// SPDX-License-Identifier: Apache-2.0
// Kernels played while they are assembled: at run time where that is asked for, and by the compiler.
#include "played.hpp"

#include <string_view>

using namespace machine_test;

namespace {

/// Two warps exchange words; `How` 1: waiting for the phase before, 2: the barrier counts an arrival nobody makes.
template <int How>
constexpr void exchange(builder& k, words out) {
    const auto full = k.make_mbarrier_ring<"full">(1, px::arrivals < How == 2 ? 65 : 64 >);
    const auto c = k.smem_array<u32>(64, "c");
    const auto tid = k.mov(px::tid.x);
    k.if_(tid == 0u, [&] { k.mbarrier_init(full[0]); });
    k.bar_sync();
    k.st(c + tid, tid);
    k.mbarrier_arrive(full[0]);
    const auto parity = k.and_(tid, 0u);
    k.wait(full[0], k.add(parity, How == 1 ? 1u : 0u));
    const auto other = k.xor_(tid, 32u);
    k.st(out + tid, k.ld(c + other));
}
template <int How>
using exchange_kernel = px::kernel<"exchange", exchange<How>, block(64)>;
template <int How>
auto assembled_now() {
    return px::assemble_at_run_time("exchange", exchange<How>, block(64));
}
bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

struct play_for_a_while {
    explicit play_for_a_while(px::machine::playing how) { px::machine::play_at_run_time(how); }
    play_for_a_while(const play_for_a_while&) = delete;
    play_for_a_while& operator=(const play_for_a_while&) = delete;
    ~play_for_a_while() { px::machine::play_at_run_time(px::machine::playing::refuses); }
};

}  // namespace

TEST_CASE("kernels assembled at run time are played unless that is switched off") {
    SECTION("off") {
        const play_for_a_while now(px::machine::playing::off);
        CHECK(assembled_now<1>().ok());
        CHECK(assembled_now<1>().warnings() == 0);
    }
    SECTION("findings are errors, with both places") {
        CHECK(assembled_now<0>().ok());
        CHECK(assembled_now<0>().warnings() == 0);
        for (int again = 0; again < 2; ++again) {  // the second time from memory
            const auto wrong = assembled_now<1>();
            CHECK_FALSE(wrong.ok());
            const std::string_view said = wrong.error();
            CHECK(contains(
                said, "machine_assembly_test.cpp:19: PTXDSL-E07: warp 0 writes 'c', and nothing makes the read of "));
            CHECK(contains(said, "read of machine_assembly_test.cpp:24 (warp 1) wait for that"));
        }
    }
    SECTION("findings are warnings") {
        const play_for_a_while now(px::machine::playing::warns);
        const auto wrong = assembled_now<1>();
        CHECK(wrong.ok());
        CHECK(wrong.warnings() > 0);
        CHECK(contains(wrong.warning(), "PTXDSL-E07"));
    }
    CHECK_FALSE(assembled_now<1>().ok());  // on again
}

TEST_CASE("kernels played by the compiler") {
    constexpr auto right = px::assemble<px::played<exchange_kernel<0>>>();
    static_assert(right.text() == px::assemble<exchange_kernel<0>>().text());
    static_assert(px::played<exchange_kernel<0>>::followed());
    static_assert(px::played<exchange_kernel<0>>::steps() > 100);
    // tests/misuse/E07_played.cpp has those that do not compile.
    static_assert(px::played<exchange_kernel<1>>::findings().error.found);
    static_assert(std::string_view(px::played<exchange_kernel<1>>::findings().error.view()).find("PTXDSL-E07") !=
                  std::string_view::npos);
    static_assert(std::string_view(px::played<exchange_kernel<2>>::findings().error.view()).find("PTXDSL-E01") !=
                  std::string_view::npos);
    SUCCEED();
}

TEST_CASE("what was followed is said") {
    px::ir::program p;
    px::detail::write_program(p, "test", block(64), &exchange<0>);
    const px::ir::view m = p.read();
    const px::machine::result r = px::machine::coverage(m);
    std::string all;
    for (const px::machine::message& line : px::machine::followed_in_words(m, r)) all += std::string(line) + "\n";
    CAPTURE(all);
    CHECK(contains(all, "mbarrier 'full': 1 phase"));
    CHECK(contains(all, "'c': followed"));
    CHECK(contains(all, "warp"));
    CHECK(r.coverage.empty());
}

TEST_CASE("a finding's trace says the steps that lead to it") {
    px::ir::program p;
    px::detail::write_program(p, "test", block(64), &exchange<1>);
    const px::ir::view m = p.read();
    const px::machine::result r = px::machine::play(m);
    REQUIRE_FALSE(r.findings.empty());
    std::string all;
    for (const px::machine::event& e : r.findings[0].trace)
        all += std::string(px::machine::who(m, e)) + " " + std::string(px::machine::words(m, e)) + "\n";
    CAPTURE(all);
    CHECK(contains(all, "warp 0 lane 0 initialises 'full' for 64 arrivals"));
    CHECK(contains(all, "comes to named barrier 0"));
    CHECK(contains(all, "arrives at 'full', phase 0"));
}
