// SPDX-License-Identifier: Apache-2.0
// Calls of attention on a driver that is not there: what they refuse, what they launch, and which kernel they take.
#include "../runtime/fake_driver.hpp"
#include "catch.hpp"

#include <ptxdsl/kernels/attention.hpp>

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

namespace px = ptxdsl;
namespace kn = ptxdsl::kernels;
using px::bf16;

namespace {

struct device {
    ptxdsl_test::fake_driver driver;
    px::context ctx = px::check(px::context::primary(0));
    px::stream s = px::check(px::stream::create(ctx));

    [[nodiscard]] int launches() const { return driver.launch_count.load(); }
};

constexpr std::uint64_t megabyte = 1u << 20;
using view = px::tensor_view<bf16, 4>;
using packed_view = px::tensor_view<bf16, 3>;
view at(std::uint64_t address, std::uint64_t rows = 256, std::uint64_t heads = 4, std::uint64_t size = 128,
        std::uint64_t batch = 2) {
    return view(px::device_ptr<bf16>(address), batch, rows, heads, size);
}

/// A call that is right but for what its author changes.
struct call {
    view q = at(megabyte), k = at(4 * megabyte), v = at(8 * megabyte), out = at(12 * megabyte);
    kn::attention_options o{};

    [[nodiscard]] std::string said(const device& d) const {
        const auto r = kn::attention(d.s, q, k, v, out, o);
        return r ? std::string() : std::string(r.error().message());
    }
};
bool has(const std::string& text, std::string_view words) { return text.find(words) != std::string::npos; }

}  // namespace

TEST_CASE("attention launches every pair of head sizes, and nothing for no queries") {
    device d;
    for (const std::uint64_t n : {64u, 96u, 128u, 256u}) {
        call c;
        c.q = c.out = at(megabyte, 256, 4, n), c.k = at(4 * megabyte, 256, 2, n), c.v = at(8 * megabyte, 256, 2, n);
        c.out = at(16 * megabyte, 256, 4, n);
        CHECK(c.said(d) == "");
    }
    call c;
    c.q = at(megabyte, 256, 4, 192), c.k = at(4 * megabyte, 256, 4, 192);
    CHECK(c.said(d) == "");
    CHECK(d.launches() == 5);
    c = call();
    c.k = at(0, 0), c.v = at(0, 0);  // no keys: results of 0
    CHECK(c.said(d) == "");
    CHECK(d.launches() == 6);
    c = call();
    c.q = at(0, 0), c.out = at(0, 0);
    CHECK(c.said(d) == "");
    CHECK(d.launches() == 6);
}

TEST_CASE("attention refuses shapes and options that do not fit together") {
    device d;
    call c;
    c.k = at(4 * megabyte, 255);
    CHECK(has(c.said(d), "k is 2 x 255 x 4 x 128"));
    c = call();
    c.k = at(4 * megabyte, 256, 3), c.v = at(8 * megabyte, 256, 3);
    CHECK(c.said(d) == "attention: 4 heads of queries cannot share 3 heads of keys evenly");
    c = call();
    c.q = at(megabyte, 256, 4, 80), c.k = at(4 * megabyte, 256, 4, 80), c.v = at(8 * megabyte, 256, 4, 80);
    c.out = at(12 * megabyte, 256, 4, 80);
    CHECK(has(c.said(d), "no kernel has heads of 80"));
    for (const float scale : {0.0f, -1.0f, std::numeric_limits<float>::infinity()}) {
        c = call();
        c.o.scale = scale;
        CHECK(has(c.said(d), "it has to be positive"));
    }
    c = call();
    c.o.softcap = -2;
    CHECK(has(c.said(d), "the softcap is -2"));
    const packed_view q(px::device_ptr<bf16>(megabyte), 100, 4, 128),
        out(px::device_ptr<bf16>(4 * megabyte), 100, 4, 128);
    const auto r = kn::attention(d.s, q, q, q, out, {.count = 3, .most_queries = 50});
    CHECK((!r && has(r.error().message(), "PTXDSL-J06: attention: the starts of the packed sequences are null")));
    CHECK(d.launches() == 0);
}

TEST_CASE("attention refuses memory that copies cannot take, and results over what others read") {
    device d;
    call c;
    c.q = at(megabyte + 2);
    CHECK(has(c.said(d), "PTXDSL-J06: attention: the address 0x100002 of q"));
    c = call();
    c.k = at(0);
    CHECK(has(c.said(d), "PTXDSL-J06: attention: k is a null pointer"));
    c = call();
    c.v = at(8 * megabyte).with_strides(256 * 4 * 128, 4 * 128 + 4, 128, 1);
    CHECK(has(c.said(d), "a stride of v is no multiple of 8 elements"));
    c = call();
    c.out = at(12 * megabyte).with_strides(256 * 4 * 256, 4 * 256, 256, 2);
    CHECK(has(c.said(d), "the elements of a head of out are not next to each other"));
    c = call();
    c.out = at(megabyte);
    CHECK(has(c.said(d), "PTXDSL-J06: attention: out (0x100000) lies over q"));
    c = call();
    c.o.lse = px::device_ptr<float>(12 * megabyte + 64);
    CHECK(has(c.said(d), "lies over"));
    c.o.lse = px::device_ptr<float>(20 * megabyte + 2);
    CHECK(has(c.said(d), "of lse is not a multiple of 4 bytes"));
    CHECK(d.launches() == 0);
    c = call();  // any order of the strides, and gaps
    c.v = at(8 * megabyte).with_strides(256 * 4 * 136, 136, 256 * 136, 1);
    CHECK(c.said(d) == "");
}

namespace {

/// A call over pages that is right but for what its author changes: 2 sequences, 4 queries, 8 heads over 2.
struct paged_call {
    view q = at(megabyte, 4, 8), k = at(4 * megabyte, 64, 2, 128, 40), v = at(8 * megabyte, 64, 2, 128, 40),
         out = at(12 * megabyte, 4, 8);
    kn::paged_keys keys{.pages = px::device_ptr<const px::s32>(16 * megabyte),
                        .pages_per_sequence = 20,
                        .lengths = px::device_ptr<const px::s32>(17 * megabyte)};
    kn::attention_options o{};

    [[nodiscard]] std::string said(const device& d) const {
        const auto r = kn::attention(d.s, q, k, v, out, keys, o);
        return r ? std::string() : std::string(r.error().message());
    }
};

}  // namespace

TEST_CASE("attention over pages is one launch, or two where blocks share the keys of a sequence") {
    device d;
    paged_call c;
    CHECK(c.said(d) == "");
    CHECK(d.launches() == 1);
    c.keys.workspace = px::device_ptr<float>(20 * megabyte);
    c.keys.workspace_size = kn::paged_workspace_size(c.out, 4);
    CHECK(c.keys.workspace_size == 4 * 2 * 4 * 8 * 129);
    CHECK(c.said(d) == "");
    CHECK(d.launches() == 3);
    for (const std::uint64_t page : {16u, 48u, 256u}) {
        c.k = at(4 * megabyte, page, 2, 128, 4), c.v = at(8 * megabyte, page, 2, 128, 4);
        CHECK(c.said(d) == "");
    }
    c = paged_call();
    c.q = at(0, 4, 8, 128, 0), c.out = at(0, 4, 8, 128, 0);
    CHECK(c.said(d) == "");
    CHECK(d.launches() == 9);
}

TEST_CASE("attention over pages refuses what does not fit together") {
    device d;
    paged_call c;
    c.k = at(4 * megabyte, 40, 2, 128, 40), c.v = at(8 * megabyte, 40, 2, 128, 40);
    CHECK(c.said(d) == "attention: pages have 40 keys; it has to be a multiple of 16");
    c = paged_call();
    c.v = at(8 * megabyte, 64, 2, 128, 39);
    CHECK(has(c.said(d), "v the pages, rows and heads of k"));
    c = paged_call();
    c.k = at(4 * megabyte, 64, 3, 128, 40), c.v = at(8 * megabyte, 64, 3, 128, 40);
    CHECK(has(c.said(d), "8 heads of queries cannot share 3 heads"));
    c = paged_call();
    c.q = at(megabyte, 4, 8, 96), c.out = at(12 * megabyte, 4, 8, 96);
    c.k = at(4 * megabyte, 64, 2, 96, 40), c.v = at(8 * megabyte, 64, 2, 96, 40);
    CHECK(has(c.said(d), "no kernel for keys in pages has heads of 96"));
    c = paged_call();
    c.keys.lengths = {};
    CHECK(has(c.said(d), "PTXDSL-J06: attention: the table of the pages or the lengths"));
    c = paged_call();
    c.o.used_keys = c.keys.lengths;
    CHECK(has(c.said(d), "is said by paged_keys::lengths"));
    c = paged_call();
    c.keys.split_keys = 256;
    CHECK(has(c.said(d), "parts of 256 keys are 5 of the longest sequence and need a workspace of 41280 f32 values"));
    c = paged_call();
    c.keys.workspace = px::device_ptr<float>(megabyte), c.keys.workspace_size = 100000;
    CHECK(has(c.said(d), "the workspace (0x100000) lies over q"));
    CHECK(d.launches() == 0);
}
