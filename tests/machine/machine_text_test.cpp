// SPDX-License-Identifier: Apache-2.0
// Kernels read from PTX, played: branches, parameters and shared variables come from the text.
#include "catch.hpp"

#include <ptxdsl/parse.hpp>
#include <ptxdsl/parse/play.hpp>

#include <string>

namespace {

/// One message a line, "E07 line 12: …", warnings with a `w` behind the id; what is not followed behind a `|`.
std::string played_text(const std::string& body, const char* threads = "64") {
    const std::string text =
        ".version 8.0\n.target sm_90a\n.address_size 64\n"
        ".visible .entry k(.param .u64 out, .param .u32 n)\n.reqntid " +
        std::string(threads) + "\n{\n" + body + "ret;\n}\n";
    auto tree = ptxdsl::parse(text);
    REQUIRE(tree.ok());
    const auto rest = ptxdsl::ptx::play_module(tree.read(), text, tree.messages);
    std::string all;
    for (const auto& d : tree.messages)
        all += std::string(d.id, 3) + (d.severity == ptxdsl::ptx::severity::error ? ": " : "w: ") +
               std::string(tree.messages.text(d)) + "\n";
    for (const auto& r : rest.rest) all += "| " + r.reason + "\n";
    UNSCOPED_INFO(all);
    return all;
}

const char* const head = R"(
    .reg .pred %p<4>; .reg .b32 %r<12>; .reg .b64 %rd<4>;
    .shared .align 8 .b64 bar;
    .shared .align 4 .b8 box[256];
    ld.param.u32 %r9, [n];
    mov.u32 %r0, %tid.x;
    mov.u32 %r1, bar;
    mov.u32 %r2, box;
    setp.ne.u32 %p0, %r0, 0;
    @%p0 bra made;
    mbarrier.init.shared.b64 [%r1], 64;
made:
    bar.sync 0;
    mov.u32 %r3, 0;
    mov.u32 %r4, 0;
loop:
    setp.ge.u32 %p1, %r3, %r9;
    @%p1 bra done;
    shl.b32 %r5, %r0, 2;
    add.u32 %r5, %r2, %r5;
    st.shared.u32 [%r5], %r3;
)";
const char* const meet = R"(
    mbarrier.arrive.shared.b64 _, [%r1];
again:
    mbarrier.try_wait.parity.shared.b64 %p2, [%r1], %r4;
    @!%p2 bra again;
    xor.b32 %r4, %r4, 1;
)";
const char* const tail = R"(
    xor.b32 %r6, %r0, 32;
    shl.b32 %r6, %r6, 2;
    add.u32 %r6, %r2, %r6;
    ld.shared.u32 %r7, [%r6];
    bar.sync 0;
    add.u32 %r3, %r3, 1;
    bra loop;
done:
)";

}  // namespace

TEST_CASE("a text's loop over an mbarrier") {
    CHECK(played_text(std::string(head) + meet + tail).empty());
    const std::string racing = played_text(std::string(head) + tail);
    CHECK(racing.find("E07: warp ") != std::string::npos);
    CHECK(racing.find("nothing orders it behind the write of line ") != std::string::npos);
    // The other parity is never seen twice.
    std::string stuck = std::string(head) + meet + tail;
    stuck.replace(stuck.find("xor.b32 %r4, %r4, 1"), 19, "mov.b32 %r4, 0     ");
    CHECK_FALSE(played_text(stuck).empty());
    // More threads than the barrier counts.
    CHECK(played_text(std::string(head) + meet + tail, "96").find("E01: warp ") != std::string::npos);
}

namespace {

/// Two copies onto one barrier that expects the bytes of both, read behind `waits`.
std::string copies(const std::string& waits) {
    return played_text(R"(
    .reg .b64 %rd<4>; .reg .b32 %r<12>; .reg .pred %p<4>;
    .shared .align 1024 .b8 a[8192];
    .shared .align 1024 .b8 b[4096];
    .shared .align 8 .b64 bar;
    mov.u32 %r0, a;
    mov.u32 %r1, bar;
    mov.u32 %r2, b;
    mov.u32 %r3, %tid.x;
    ld.param.u64 %rd0, [out];
    setp.ne.u32 %p0, %r3, 0;
    @%p0 bra made;
    mbarrier.init.shared.b64 [%r1], 1;
made:
    bar.sync 0;
    @%p0 bra started;
    mbarrier.arrive.expect_tx.shared.b64 _, [%r1], 12288;
    cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r0], [%rd0, {%r0}], [%r1];
    cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r2], [%rd0, {%r0}], [%r1];
started:
)" + waits + R"(
    ld.shared.u32 %r4, [%r0];
    ld.shared.u32 %r5, [%r2+8];
)");
}

/// Each warp takes the way whose number stands in its byte of a word.
std::string ways(const char* numbers) {
    return played_text(std::string(R"(
    .reg .b32 %r<8>; .reg .b16 %h<4>;
    .shared .align 4 .b8 way[8];
    ways: .branchtargets first, second, third;
    mov.u32 %r0, %tid.x;
    shr.u32 %r1, %r0, 5;
    mov.u32 %r2, way;
    st.shared.v2.b32 [way], {0, )") +
                       numbers + R"(};
    bar.sync 0;
    add.u32 %r3, %r2, %r1;
    ld.shared.u8 %r4, [%r3+4];
    brx.idx %r4, ways;
first:
    bar.sync 1, 64;
    bra met;
second:
    bar.arrive 1, 64;
    bra met;
third:
    bar.sync 2, 64;
met:
)");
}

}  // namespace

TEST_CASE("how many bytes a text's copies bring shows at their barrier") {
    const std::string wait = "again: mbarrier.try_wait.parity.shared.b64 %p1, [%r1], 0;\n@!%p1 bra again;\n";
    const std::string right = copies(wait);
    CHECK(right.find("E07") == std::string::npos);
    CHECK(right.find("E01") == std::string::npos);
    CHECK(right.find("| how many bytes this copy brings") != std::string::npos);
    CHECK(copies("").find("E07: warp 0 lane 0 reads") == std::string::npos);
    CHECK(copies("").find("while the copy of line") != std::string::npos);
}

TEST_CASE("branches through a table go where the index says") {
    CHECK(ways("0").find("H02") == std::string::npos);           // both meet at barrier 1
    CHECK(ways("256").find("H02") == std::string::npos);         // one of them only arrives
    CHECK(ways("512").find("H02: warp ") != std::string::npos);  // one waits elsewhere
}

TEST_CASE("blocks that no device has are not played") {
    for (const char* threads : {"1024, 1024", "65536, 65536", "2000", "1025"})
        CHECK(played_text("", threads) == "| no device has such blocks or clusters\n");
    CHECK(played_text("", "1024") == "");
}

TEST_CASE("a warp's barrier does not wait for lanes that have exited") {
    const auto left = [](const char* before) {
        return played_text(std::string(R"(
    .reg .pred %p<4>; .reg .b32 %r<8>;
    ld.param.u32 %r2, [n];
    mov.u32 %r1, %tid.x;
    setp.ge.u32 %p1, %r1, 40;
)") + before + "bar.warp.sync -1;\nbar.sync 0;\nout:\n");
    };
    CHECK(left("@%p1 bra out;\n") == "");
    CHECK(left("@%p1 exit;\n") == "");
    CHECK(left("@%p1 bra.uni out;\n") == "");
    // Lanes that live and never come are missed.
    const std::string missing = left("again: @%p1 bra.uni again;\n");
    CHECK(missing != "");
}

TEST_CASE("a barrier's reduction gives all threads one result") {
    const auto red = [](const char* which) {
        return played_text(std::string(R"(
    .reg .pred %p<4>; .reg .b32 %r<8>;
    ld.param.u32 %r2, [n];
    mov.u32 %r1, %tid.x;
    setp.eq.u32 %p1, %r1, %r2;
)") + which + "@%p2 bra out;\nbarrier.sync 1, 64;\nout:\n");
    };
    CHECK(red("bar.red.popc.u32 %r3, 0, %p1;\nsetp.eq.u32 %p2, %r3, 0;\n") == "");
    CHECK(red("bar.red.or.pred %p2, 0, %p1;\n") == "");
    // Each warp's own data does not.
    CHECK(red("shr.u32 %r4, %r1, 5;\nshl.b32 %r4, %r4, 2;\nld.shared.u32 %r3, [%r4];\nsetp.eq.u32 %p2, %r3, 0;\n") !=
          "");
}

TEST_CASE("a value of 128 bits, packed and taken apart") {
    const auto word = [](const char* type, const char* half) {
        return played_text(std::string(R"(
    .reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %rd<8>; .reg .b128 %q<2>;
    mov.u64 %rd0, 7;
    mov.u64 %rd1, 9;
    mov.b128 %q0, {%rd0, %rd1};
    mov.b128 {%rd2, %rd3}, %q0;
    setp.ne.u64 %p1, )") + half +
                           ", " + type + ";\n@%p1 bra out;\nbarrier.sync 1, 96;\nout:\n");
    };
    CHECK(word("7", "%rd2").find("H02: warp 0 waits for named barrier 1") == 0);  // it is 7
    CHECK(word("8", "%rd2") == "");
}

TEST_CASE("blocks have met at the cluster barrier, whatever it orders") {
    const auto cluster = [](const char* start, const char* end) {
        const std::string text = std::string(R"(.version 8.6
.target sm_90a
.address_size 64
.visible .entry k()
.reqntid 64
.explicitcluster
.reqnctapercluster 2
{
    .reg .pred %p<4>; .reg .b32 %r<8>;
    .shared .align 8 .b64 bar;
    mov.u32 %r0, %tid.x;
    setp.ne.u32 %p0, %r0, 0;
    @%p0 bra made;
    mbarrier.init.shared.b64 [bar], 2;
    fence.mbarrier_init.release.cluster;
made:
)") + start + R"(
    bar.sync 0;
    @%p0 bra told;
    mov.u32 %r1, bar;
    mapa.shared::cluster.u32 %r2, %r1, 0;
    mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r2];
    mapa.shared::cluster.u32 %r2, %r1, 1;
    mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r2];
told:
    again: mbarrier.try_wait.parity.shared.b64 %p1, [bar], 0;
    @!%p1 bra again;
)" + end + "ret;\n}\n";
        auto tree = ptxdsl::parse(text);
        REQUIRE(tree.ok());
        static_cast<void>(ptxdsl::ptx::play_module(tree.read(), text, tree.messages));
        std::string all;
        for (const auto& d : tree.messages) all += std::string(d.id, 3) + " ";
        return all;
    };
    const char* const relaxed = "barrier.cluster.arrive.relaxed.aligned;\nbarrier.cluster.wait.aligned;\n";
    const char* const ordered = "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n";
    CHECK(cluster(ordered, ordered) == "");
    CHECK(cluster(relaxed, ordered) == "");
    // One warp waits and the block meets behind it.
    CHECK(
        cluster(
            "barrier.cluster.arrive.relaxed;\nsetp.ge.u32 %p2, %r0, 32;\n@%p2 bra later;\nbarrier.cluster.wait;\nlater:\n",
            "@!%p2 bra end;\nbarrier.cluster.wait;\nend:\n") == "");
    CHECK(cluster("", ordered).find("G04") != std::string::npos);
    CHECK(cluster("barrier.cluster.arrive.relaxed.aligned;\n", "barrier.cluster.wait.aligned;\n").find("G04") !=
          std::string::npos);
}

TEST_CASE("calls of functions that only compute do not end a run") {
    const auto called = [](const char* body, const char* call, const char* prototype = "") {
        const std::string text = std::string(".version 8.0\n.target sm_90a\n.address_size 64\n") + prototype +
                                 ".func (.param .b32 r) f(.param .b32 x)\n{\n.reg .b32 %r<4>; .reg .b64 %rd<2>;\n" +
                                 "ld.param.b32 %r0, [x];\n" + body + "st.param.b32 [r], %r0;\nret;\n}\n" + R"(
.visible .entry k(.param .u64 out, .param .u32 n)
.reqntid 64
{
    .reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %rd<2>;
    .shared .align 4 .b8 c[256];
    mov.u32 %r1, %tid.x;
    shl.b32 %r2, %r1, 2;
    mov.u32 %r3, c;
    add.u32 %r4, %r3, %r2;
    xor.b32 %r2, %r2, 128;
    add.u32 %r5, %r3, %r2;
    setp.gt.u32 %p1, %r1, 4096;
)" + call + R"(
    st.shared.u32 [%r4], %r1;
    // meet
    ld.shared.u32 %r6, [%r5];
    ret;
}
)";
        const auto played = [](std::string t) {
            auto tree = ptxdsl::parse(t);
            REQUIRE(tree.ok());
            const auto rest = ptxdsl::ptx::play_module(tree.read(), t, tree.messages);
            std::string all;
            for (const auto& d : tree.messages) all += std::string(d.id, 3) + " ";
            for (const auto& r : rest.rest) all += "| " + r.reason + "\n";
            return all;
        };
        std::string right = text;
        right.replace(right.find("// meet"), 7, "bar.sync 1, 64;");
        return std::string(played(text).find("E07") != std::string::npos ? "found " : "") + played(right);
    };
    const char* const call =
        "{ .param .b32 a; .param .b32 b; st.param.b32 [a], %r1; call.uni (b), f, (a); ld.param.b32 %r6, [b]; }\n"
        "setp.eq.u32 %p2, %r6, 1;\n@%p2 st.global.u32 [%rd0], %r1;\n";
    CHECK(called("add.u32 %r0, %r0, 1;\n", call) == "found ");
    CHECK(called("st.global.u32 [%rd0], %r0;\n", call) == "found ");
    // What it may do to shared memory, or wait for, is not followed.
    CHECK(called("st.u32 [%rd0], %r0;\n", call) == "| calls of device functions\n");
    CHECK(called("bar.sync 0;\n", call) == "| calls of device functions\n");
    // An assertion that fails ends its threads, and the grid with them.
    const char* const prototype = ".extern .func __assertfail(.param .b32 a)\n;\n";
    const char* const asserted =
        "@!%p1 bra fine;\n{ .param .b32 a; st.param.b32 [a], %r1; call.uni __assertfail, (a); }\nfine:\n";
    CHECK(called("", asserted, prototype) == "found ");
    std::string failing = asserted;
    failing.replace(failing.find("@!%p1"), 5, "@%p1 ");
    CHECK(called("", failing.c_str(), prototype) == "");
    CHECK(called("", ("setp.gt.u32 %p1, %r1, 31;\n" + std::string(asserted)).c_str(), prototype) ==
          "| what comes behind a trap or a failed assertion of other threads\n");
}
