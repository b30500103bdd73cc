// SPDX-License-Identifier: Apache-2.0
// PTX literals: read, checked and described in constant evaluation, at the compilers' default limits.
#include "catch.hpp"

#include <ptxdsl/parse.hpp>
#include <ptxdsl/runtime.hpp>

namespace px = ptxdsl;
using namespace px::literals;

namespace {

constexpr auto module = R"(
.version 8.0
.target sm_90a
.address_size 64

.visible .entry scale(.param .u64 .ptr .global .align 4 x, .param .f32 a, .param .u32 n)
.maxntid 256, 1, 1
{
    .reg .pred %p;
    .reg .b32 %r<3>;
    .reg .f32 %f<3>;
    .reg .b64 %rd<3>;
    .shared .align 16 .b8 unused[32];
    ld.param.u64 %rd1, [x];
    ld.param.f32 %f1, [a];
    ld.param.u32 %r1, [n];
    mov.u32 %r2, %tid.x;
    setp.ge.u32 %p, %r2, %r1;
    @%p ret;
    mad.wide.u32 %rd1, %r2, 4, %rd1;
    ld.global.f32 %f2, [%rd1];
    mul.f32 %f2, %f2, %f1;
    st.global.f32 [%rd1], %f2;
    ret;
}
)"_ptx;

static_assert(module.version() == px::ptx_version{8, 0});
static_assert(module.target() == px::sm_90a);

using scale = px::ptx_kernel<module.text_literal(), px::pointer_param<float>, float, px::u32>;

static_assert(scale::name() == "scale");
static_assert(scale::resources().max_threads == 256);
static_assert(scale::resources().static_shared_bytes == 32);
static_assert(scale::param_name(2) == "n");
static_assert(scale::target() == px::sm_90a);
static_assert(px::kernel_like<scale>);

constexpr px::fixed_string two = R"(.version 8.6 .target sm_100a
.entry first() { ret; }
.entry second(.param .align 64 .b8 map[128]) .reqntid 64 { ret; }
)";
constexpr px::tensor_map_spec spec{.element = px::isa::scalar::f16, .rank = 2, .box = {64, 64}};
using second = px::named_ptx_kernel<two, "second", px::tensor_map_param<px::map_constant<spec>>>;
static_assert(second::resources().threads[0] == 64);
static_assert(px::kernel_like<second>);

}  // namespace

TEST_CASE("a literal keeps its text and has a tree") {
    CHECK(std::string_view(scale::text()).find(".visible .entry scale") != std::string_view::npos);
    CHECK(scale::text().data()[scale::text().size()] == '\0');
    px::ptx::text out;
    px::ptx::print_canonical(module.tree(), out);
    CHECK(out.view().find("    mad.wide.u32 %rd1, %r2, 4, %rd1;\n") != std::string_view::npos);
}

TEST_CASE("the same at run time") {
    const px::ptx::tree t = px::parse(module.text());
    CHECK(t.ok());
    CHECK(t.nodes.size() == module.tree().n_nodes);
}
