// SPDX-License-Identifier: Apache-2.0
// Static tests of the instruction table: what it compiles, it has proved.

#include <ptxdsl/isa/forms_text.hpp>
#include <ptxdsl/isa/special_registers.hpp>
#include <ptxdsl/isa/table.hpp>

namespace {

using namespace ptxdsl;
using namespace ptxdsl::isa;
using status = verdict::status;

template <std::size_t N>
constexpr verdict modifiers(const tok (&t)[N], target on) {
    return find(t, N, on);
}
template <std::size_t N, std::size_t M>
constexpr verdict whole(const tok (&t)[N], const operand_shape (&o)[M], target on) {
    return find(t, N, o, M, on);
}

constexpr operand_shape reg(scalar s) { return {shape_kind::reg, s, 1, space::generic, 0}; }
constexpr operand_shape vec(scalar s, std::uint16_t n) { return {shape_kind::vec, s, n, space::generic, 0}; }
constexpr operand_shape imm(std::int64_t v) { return {shape_kind::imm, scalar::none, 1, space::generic, v}; }
constexpr operand_shape addr(space s) { return {shape_kind::address, scalar::none, 1, s, 0}; }
constexpr operand_shape predicate{shape_kind::pred, scalar::pred, 1, space::generic, 0};
constexpr operand_shape sink{shape_kind::sink, scalar::none, 1, space::generic, 0};

// Tokens.
static_assert(find_token("shared::cta") == tok::shared__cta && spelling(tok::shared__cta) == "shared::cta");
static_assert(find_token("1d") == tok::_1d && find_token("and") == tok::and_ &&
              find_token("no such word") == tok::none);
static_assert(type_token(scalar::f32) == tok::f32 && token_type(tok::bf16x2) == scalar::bf16x2 &&
              token_type(tok::rn) == scalar::none);
static_assert(token_count_of(tok::v4) == 4 && token_count_of(tok::m64n256k16) == 256 && token_count_of(tok::_3d) == 3);

// Modifiers.
constexpr tok fma_rn_f32[] = {tok::fma, tok::rn, tok::f32};
static_assert(modifiers(fma_rn_f32, sm_90a).ok());
constexpr tok fma_f32[] = {tok::fma, tok::f32};
static_assert(modifiers(fma_f32, sm_90a).st == status::bad_modifiers);
constexpr tok wrong_order[] = {tok::fma, tok::f32, tok::rn};
static_assert(modifiers(wrong_order, sm_90a).st == status::bad_modifiers);
constexpr tok no_opcode[] = {tok::rn, tok::f32};
static_assert(modifiers(no_opcode, sm_90a).st == status::unknown_opcode);
static_assert(find(nullptr, 0, sm_90a).st == status::unknown_opcode);

// Targets and versions.
constexpr tok f32x2[] = {tok::add, tok::rn, tok::f32x2};
static_assert(modifiers(f32x2, sm_90a).st == status::wrong_target && modifiers(f32x2, sm_100a).ok());
static_assert(modifiers(f32x2, sm_100a).since == ptx_version{8, 6});
constexpr tok wgmma_fence[] = {tok::wgmma, tok::fence, tok::sync, tok::aligned};
static_assert(modifiers(wgmma_fence, sm_90a).ok() && modifiers(wgmma_fence, sm_90).st == status::wrong_target);
static_assert(modifiers(wgmma_fence, sm_100a).st == status::wrong_target);

// Operands: register classes.
constexpr tok add_s32[] = {tok::add, tok::s32};
constexpr operand_shape mixed_sign[] = {reg(scalar::s32), reg(scalar::u32), imm(1)};
static_assert(whole(add_s32, mixed_sign, sm_90a).ok());
constexpr operand_shape float_in_int[] = {reg(scalar::s32), reg(scalar::f32), imm(1)};
static_assert(whole(add_s32, float_in_int, sm_90a).st == status::bad_operand &&
              whole(add_s32, float_in_int, sm_90a).operand == 1);
constexpr operand_shape too_few[] = {reg(scalar::s32), reg(scalar::s32)};
static_assert(whole(add_s32, too_few, sm_90a).st == status::operand_count);
constexpr operand_shape too_many[] = {reg(scalar::s32), reg(scalar::s32), reg(scalar::s32), reg(scalar::s32)};
static_assert(whole(add_s32, too_many, sm_90a).st == status::operand_count);

// ld widens, add does not.
constexpr tok ld_u8[] = {tok::ld, tok::global, tok::u8};
constexpr operand_shape wide[] = {reg(scalar::u32), addr(space::global)};
static_assert(whole(ld_u8, wide, sm_90a).ok());
constexpr operand_shape other_space[] = {reg(scalar::u32), addr(space::shared)};
static_assert(whole(ld_u8, other_space, sm_90a).st == status::bad_operand);
constexpr tok ld_v4[] = {tok::ld, tok::global, tok::v4, tok::f32};
constexpr operand_shape four[] = {vec(scalar::f32, 4), addr(space::global)};
static_assert(whole(ld_v4, four, sm_90a).ok());
constexpr operand_shape two[] = {vec(scalar::f32, 2), addr(space::global)};
static_assert(whole(ld_v4, two, sm_90a).st == status::bad_operand);
constexpr tok ld_v8[] = {tok::ld, tok::global, tok::v8, tok::b32};
static_assert(modifiers(ld_v8, sm_90a).st == status::wrong_target && modifiers(ld_v8, sm_100a).ok());

// Sinks: a cluster arrive has no state, a local one may drop it.
constexpr tok remote_arrive[] = {tok::mbarrier, tok::arrive, tok::shared__cluster, tok::b64};
constexpr operand_shape no_state[] = {sink, addr(space::shared_cluster)};
constexpr operand_shape with_state[] = {reg(scalar::b64), addr(space::shared_cluster)};
static_assert(whole(remote_arrive, no_state, sm_90a).ok() && !whole(remote_arrive, with_state, sm_90a).ok());

// wgmma: accumulator length from N, immediates by value.
constexpr tok wgmma_f16[] = {tok::wgmma,     tok::mma_async, tok::sync, tok::aligned,
                             tok::m64n64k16, tok::f32,       tok::f16,  tok::f16};
constexpr operand_shape ss[] = {
    vec(scalar::f32, 32), reg(scalar::b64), reg(scalar::b64), predicate, imm(1), imm(-1), imm(0), imm(1)};
static_assert(whole(wgmma_f16, ss, sm_90a).ok());
constexpr operand_shape bad_n[] = {
    vec(scalar::f32, 16), reg(scalar::b64), reg(scalar::b64), predicate, imm(1), imm(1), imm(0), imm(0)};
static_assert(whole(wgmma_f16, bad_n, sm_90a).st == status::bad_operand);
constexpr operand_shape bad_scale[] = {
    vec(scalar::f32, 32), reg(scalar::b64), reg(scalar::b64), predicate, imm(2), imm(1), imm(0), imm(0)};
static_assert(whole(wgmma_f16, bad_scale, sm_90a).st == status::bad_operand &&
              whole(wgmma_f16, bad_scale, sm_90a).operand == 4);
constexpr operand_shape rs[] = {
    vec(scalar::f32, 32), vec(scalar::b32, 4), reg(scalar::b64), predicate, imm(1), imm(1), imm(0)};
static_assert(whole(wgmma_f16, rs, sm_90a).ok());

// Operands that a modifier brings with it.
constexpr tok bulk_multicast[] = {tok::cp,
                                  tok::async,
                                  tok::bulk,
                                  tok::tensor,
                                  tok::_2d,
                                  tok::shared__cluster,
                                  tok::global,
                                  tok::mbarrier__complete_tx__bytes,
                                  tok::multicast__cluster};
constexpr operand_shape map2{shape_kind::tensor_address, scalar::none, 2, space::generic, 0};
constexpr operand_shape with_mask[] = {addr(space::shared), map2, addr(space::shared), reg(scalar::u16)};
constexpr operand_shape without_mask[] = {addr(space::shared), map2, addr(space::shared)};
static_assert(whole(bulk_multicast, with_mask, sm_90a).ok());
static_assert(whole(bulk_multicast, without_mask, sm_90a).st == status::operand_count);

// Tensor memory: a power of two of columns; loads of other targets are refused with that reason.
constexpr tok tmem_alloc[] = {tok::tcgen05, tok::alloc,       tok::cta_group__1, tok::sync,
                              tok::aligned, tok::shared__cta, tok::b32};
template <std::int64_t N>
constexpr operand_shape columns[] = {addr(space::shared), imm(N)};
static_assert(whole(tmem_alloc, columns<32>, sm_100a).ok() && whole(tmem_alloc, columns<512>, sm_100a).ok());
static_assert(!whole(tmem_alloc, columns<96>, sm_100a).ok() && !whole(tmem_alloc, columns<1024>, sm_100a).ok());
static_assert(!whole(tmem_alloc, columns<16>, sm_100a).ok() && !whole(tmem_alloc, columns<-32>, sm_100a).ok());
static_assert(modifiers(tmem_alloc, sm_90a).st == status::wrong_target);
constexpr tok tmem_ld_red[] = {tok::tcgen05, tok::ld, tok::red, tok::sync, tok::aligned,
                               tok::_32x32b, tok::x2, tok::min, tok::f32};
static_assert(modifiers(tmem_ld_red, sm_100a).st == status::wrong_target &&
              modifiers(tmem_ld_red, sm_90a).st == status::wrong_target);

// Text of the rows, special registers.
static_assert(form(modifiers(fma_rn_f32, sm_90a).form).pattern.substr(0, 3) == "fma");
static_assert(form_count() > 600 && form_on(modifiers(wgmma_fence, sm_90a).form, sm_90a));
static_assert(spelling(special::tid_x) == "%tid.x" && find_special("%clock64") == special::clock64);
static_assert(info(special::clock64).type == scalar::u64 && info(special::envreg31).name == "%envreg31");

}  // namespace

int main() { return 0; }
