// SPDX-License-Identifier: Apache-2.0
// Warp-level matrix instructions: `mma.sync` and its fragments, `ldmatrix`, `stmatrix`, `movmatrix` (PTX ISA 9.7.14).
// A fragment's type carries its element map (dsl/fragment.hpp), so that operands of another shape do not compile.
#pragma once

#include <ptxdsl/detail/decimal.hpp>
#include <ptxdsl/detail/meta.hpp>
#include <ptxdsl/dsl/builder_base.hpp>
#include <ptxdsl/dsl/fragment.hpp>
#include <ptxdsl/dsl/pointer.hpp>

namespace ptxdsl {

// Modifiers of matrix instructions, as in dsl/tags.hpp.
using tok::m8n8, tok::m8n16, tok::m16n16, tok::m16n8;
using tok::x1, tok::x2, tok::x4, tok::trans, tok::popc;
inline constexpr tok ordered_metadata = tok::sp__ordered_metadata;

// Element types below a byte. They exist inside fragments and tiles only; no register or pointer has them.
// NOLINTBEGIN(readability-identifier-naming)
struct u4 {};
struct s4 {};
struct b1 {};
// NOLINTEND(readability-identifier-naming)
template <> inline constexpr isa::scalar scalar_of<u4> = isa::scalar::u4;
template <> inline constexpr isa::scalar scalar_of<s4> = isa::scalar::s4;
template <> inline constexpr isa::scalar scalar_of<b1> = isa::scalar::b1;

/// Which operand of a matrix multiply a fragment is.
enum class fragment_role : std::uint8_t { a, b, accumulator, sparse_a };

namespace detail {

[[nodiscard]] constexpr fragment_layout fragment_of(fragment_role role, isa::scalar element, u32 m, u32 k) noexcept {
    switch (role) {
        case fragment_role::a: return mma_a_fragment(element, k, m);
        case fragment_role::sparse_a: return mma_a_fragment(element, k / 2, m);
        case fragment_role::b: return mma_b_fragment(element, k);
        case fragment_role::accumulator: break;
    }
    return mma_accumulator(element, m);
}

/// The C++ type of one register of a fragment: pairs of 16-bit floats are packed, other operands are bits.
template <fragment_role Role, class T>
using fragment_register = meta::conditional_t<
    meta::is_same_v<T, f16>, f16x2,
    meta::conditional_t<meta::is_same_v<T, bf16>, bf16x2,
                        meta::conditional_t<bits_of<T> == 64 || Role == fragment_role::accumulator, T, b32>>>;

}  // namespace detail

/// The registers of one operand of `mma.sync.mMn8kK`: made by `k.make_fragment<px::mma_a<px::f16, 16, 16>>()`, filled
/// by `k.ldmatrix(a, p)` or register by register. `layout.at({thread, reg, part})` is the element of each place.
template <fragment_role Role, class T, u32 M, u32 K>
class [[nodiscard]] mma_fragment {
public:
    static constexpr fragment_role role = Role;
    static constexpr fragment_layout layout = detail::fragment_of(Role, scalar_of<T>, M, K);
    static constexpr unsigned size = layout.registers();
    static constexpr u32 m = M;
    static constexpr u32 k = K;
    using value_type = T;
    using register_type = detail::fragment_register<Role, T>;
    static_assert(size >= 1, "PTXDSL-D03: no mma.sync has a fragment of this shape");

    /// Registers with consecutive ids.
    constexpr mma_fragment(ir::program& p, std::uint32_t first) noexcept : prog_(&p) {
        for (unsigned i = 0; i < size; ++i) words_[i] = ir::head(ir::operand_kind::reg, first + i);
    }
    /// Registers that exist already, in the order of the fragment.
    template <class... R>
        requires(sizeof...(R) == size) && (meta::is_same_v<R, reg<register_type>> && ...)
    constexpr explicit mma_fragment(const R&... r) noexcept {
        unsigned i = 0;
        ((words_[i++] = detail::list_word(prog_, r.program(), ir::head(ir::operand_kind::reg, r.id()))), ...);
    }
    template <class U>
        requires(ir::program::register_type(scalar_of<U>) == ir::program::register_type(scalar_of<register_type>))
    constexpr explicit mma_fragment(const vec<U, size>& v) noexcept : prog_(v.program()) {
        for (unsigned i = 0; i < size; ++i) words_[i] = v.words()[i];
    }

    /// Register `i` (a C++ constant), in the hardware's order.
    [[nodiscard]] constexpr reg<register_type> operator[](unsigned i) const {
        if (prog_ == nullptr) return {nullptr, ir::lost_register, {}};
        if (i >= size)
            prog_->report("D03", prog_->locations.back(), {"register ", i, " of a fragment of ", std::uint32_t{size}});
        return {*prog_, ir::payload_of(words_[i < size ? i : 0])};
    }
    [[nodiscard]] constexpr ir::program* program() const noexcept { return prog_; }
    [[nodiscard]] constexpr detail::raw_operand as_raw() const noexcept {
        return detail::vector_of(prog_, words_, size);
    }

private:
    ir::program* prog_ = nullptr;
    std::uint32_t words_[size] = {};
};

/// A of `mma.sync.mMn8kK`: M rows, K columns, row-major.
template <class T, u32 M, u32 K>
using mma_a = mma_fragment<fragment_role::a, T, M, K>;
/// A of `mma.sp`: the M x K/2 elements that 2:4 sparsity keeps of M x K.
template <class T, u32 M, u32 K>
using mma_sparse_a = mma_fragment<fragment_role::sparse_a, T, M, K>;
/// B of `mma.sync.mMn8kK`: K rows, 8 columns, column-major.
template <class T, u32 K>
using mma_b = mma_fragment<fragment_role::b, T, 8, K>;
/// C and D of `mma.sync.mMn8k*`: M rows, 8 columns of f32, f16, s32 or f64.
template <class T, u32 M = 16>
using mma_acc = mma_fragment<fragment_role::accumulator, T, M, 0>;

namespace detail {

template <class T>
inline constexpr bool is_fragment = false;
template <fragment_role Role, class T, u32 M, u32 K>
inline constexpr bool is_fragment<mma_fragment<Role, T, M, K>> = true;
template <class T, fragment_role Role>
inline constexpr bool has_role = false;
template <fragment_role Role, class T, u32 M, u32 K>
inline constexpr bool has_role<mma_fragment<Role, T, M, K>, Role> = true;

/// The `mMnNkK` token.
[[nodiscard]] constexpr tok shape_token(u32 m, u32 n, u32 k) noexcept {
    char text[12] = {};
    unsigned at = 0;
    const u32 extents[] = {m, n, k};
    for (unsigned i = 0; i < 3; ++i) {
        text[at++] = "mnk"[i];
        for (const char c : decimal(extents[i])) text[at++] = c;
    }
    return isa::find_token(string_view(text, at));
}

/// Registers of one vector operand whose elements may be nested calls; `settle` puts those into the order of the text.
template <unsigned N>
struct register_list {
    std::uint32_t words[N] = {};
    ir::span fresh[N] = {};
    ir::program* prog = nullptr;
    unsigned n = 0;

    constexpr void add(const raw_operand& o) noexcept {
        words[n] = list_word(prog, o.prog, o.words[0]);
        fresh[n++] = o.prog == prog ? o.fresh : ir::span{};
    }
    [[nodiscard]] constexpr raw_operand as_raw() const noexcept { return vector_of(prog, words, N); }
};

/// Puts the nested calls of `first` and of `list` into the order of the text (K05 when they cannot be told apart).
template <unsigned N>
constexpr auto settle_list(ir::program& p, const raw_operand& first, const register_list<N>& list, location where) {
    ir::span spans[N + 1] = {first.fresh};
    for (unsigned i = 0; i < N; ++i) spans[i + 1] = list.fresh[i];
    ir::span all;
    if (!p.settle(spans, N + 1, all, where))
        p.report("K05", where,
                 {"two nested calls in one argument list emit several instructions each, and C++ does not fix their "
                  "order; give the first one a name"});
}

// Positions of the modifiers of ldmatrix and stmatrix: shape, count and .trans come before the state space, types
// after.
[[nodiscard]] constexpr bool is_matrix_shape(tok t) noexcept {
    return t == tok::m8n8 || t == tok::m8n16 || t == tok::m16n16 || t == tok::m16n8;
}
[[nodiscard]] constexpr bool is_matrix_count(tok t) noexcept { return t == tok::x1 || t == tok::x2 || t == tok::x4; }
template <tok... M>
inline constexpr tok matrix_shape_of = [] {
    tok s = tok::m8n8;
    ((s = is_matrix_shape(M) ? M : s), ...);
    return s;
}();
template <tok... M>
inline constexpr tok matrix_count_of = [] {
    tok s = tok::none;
    ((s = is_matrix_count(M) ? M : s), ...);
    return s;
}();
template <tok... M>
inline constexpr bool has_token = false;
template <tok Wanted, tok... M>
inline constexpr bool has_token<Wanted, M...> = ((M == Wanted) || ...);
/// Type word number `i` after the state space: `.b16` for 8x8 matrices, `.b8` otherwise, unless the author names them.
template <unsigned Index, tok... M>
inline constexpr tok matrix_type = [] {
    tok found[4] = {};
    unsigned n = 0;
    ((is_matrix_shape(M) || is_matrix_count(M) || M == tok::trans ? 0u : (found[n++] = M, 0u)), ...);
    if (n == 0) found[0] = matrix_shape_of<M...> == tok::m8n8 ? tok::b16 : tok::b8;
    return found[Index];
}();
[[nodiscard]] constexpr tok matrix_count_token(unsigned n) noexcept {
    return n == 1 ? tok::x1 : n == 2 ? tok::x2 : n == 4 ? tok::x4 : tok::none;
}

template <target Tgt>
class matrix_family : public family<Tgt, matrix_family<Tgt>> {
    using family<Tgt, matrix_family<Tgt>>::ctx;
    template <tok Op, tok Count, tok... M>
    using matrix_form = compact_form<Tgt, Op, tok::sync, tok::aligned, matrix_shape_of<M...>, Count,
                                     has_token<tok::trans, M...> ? tok::trans : tok::none, tok::shared,
                                     matrix_type<0, M...>, matrix_type<1, M...>>;

public:
    /// Declares the registers of a fragment: `k.make_fragment<px::mma_acc<px::f32>>("acc")`. Emits nothing.
    template <class F>
    [[nodiscard]] constexpr F make_fragment(string_view name = {}) const {
        static_assert(is_fragment<F>,
                      "PTXDSL-D03: make_fragment makes px::mma_a, px::mma_b, px::mma_acc and px::mma_sparse_a");
        return {ctx().p, ctx().p.new_regs(scalar_of<typename F::register_type>, F::size, name)};
    }

    /// `ldmatrix.sync.aligned.m8n8.xN{.trans}.shared.b16 {r…}, [p];` — `k.ldmatrix<px::x4>(p)`, `k.ldmatrix<px::x2,
    /// px::trans>(p)`; sm_100a: `k.ldmatrix<px::m16n16, px::x1, px::trans>(p)`. Lane i of group i/8 gives the address
    /// of a row (16 bytes). PTX ISA 9.7.14.5.15.
    template <tok... M, class T, unsigned A>
    constexpr auto ldmatrix(ptr<space::shared, T, A> row, location where = location::current()) const {
        constexpr tok count = matrix_count_of<M...>;
        static_assert(count != tok::none, "PTXDSL-A07: ldmatrix loads 1, 2 or 4 matrices: k.ldmatrix<px::x4>(p)");
        check_row<T, A>();
        constexpr unsigned n = (count == tok::x4   ? 4u
                                : count == tok::x2 ? 2u
                                                   : 1u) *
                               (matrix_shape_of<M...> == tok::m16n16 ? 2u : 1u);
        using F = matrix_form<tok::ldmatrix, count, M...>;
        require<F>();
        ir::program& p = ctx().p;
        vec<b32, n> d(p);
        for (unsigned i = 0; i < n; ++i) d.set(i, p.new_reg(isa::scalar::b32));
        d.set_expression(effect<F>(ctx(), where, vector_of(&p, d.words(), n),
                                   address_operand(static_cast<ptr<space::shared, T, A>&&>(row))));
        return d;
    }
    /// `ldmatrix` of a whole fragment of 1, 2 or 4 registers: the number of matrices follows the fragment. Lane
    /// addresses are `Fragment::layout.matrix_row(lane)`. PTX ISA 9.7.14.5.15.
    template <tok... M, fragment_role Role, class E, u32 FM, u32 FK, class T, unsigned A>
    constexpr auto ldmatrix(const mma_fragment<Role, E, FM, FK>& to, ptr<space::shared, T, A> row,
                            location where = location::current()) const {
        check_fragment<mma_fragment<Role, E, FM, FK>, M...>();
        check_row<T, A>();
        using F = matrix_form<tok::ldmatrix, matrix_count_token(mma_fragment<Role, E, FM, FK>::size), M...>;
        require<F>();
        effect<F>(ctx(), where, to.as_raw(), address_operand(static_cast<ptr<space::shared, T, A>&&>(row)));
    }

    /// `stmatrix.sync.aligned.m8n8.xN{.trans}.shared.b16 [p], {r…};` one, two or four 32-bit registers; lane i of group
    /// i/8 gives the address of a row (16 bytes). sm_100a: `k.stmatrix<px::m16n8, px::trans>(p, r0)`. PTX
    /// ISA 9.7.14.5.16.
    template <tok... M, class T, unsigned A, class R0>
        requires(traits<R0>::is_reg)
    constexpr auto stmatrix(ptr<space::shared, T, A> row, R0&& r0, location where = location::current()) const {
        register_list<1> list;
        list.add(matrix_register(static_cast<R0&&>(r0), where));
        store<M...>(address_operand(static_cast<ptr<space::shared, T, A>&&>(row)), list, where);
        check_row<T, A>();
    }
    template <tok... M, class T, unsigned A, class R0, class R1>
    constexpr auto stmatrix(ptr<space::shared, T, A> row, R0&& r0, R1&& r1,
                            location where = location::current()) const {
        register_list<2> list;
        list.add(matrix_register(static_cast<R0&&>(r0), where));
        list.add(matrix_register(static_cast<R1&&>(r1), where));
        store<M...>(address_operand(static_cast<ptr<space::shared, T, A>&&>(row)), list, where);
        check_row<T, A>();
    }
    template <tok... M, class T, unsigned A, class R0, class R1, class R2, class R3 = absent>
    constexpr auto stmatrix(ptr<space::shared, T, A> row, R0&& r0, R1&& r1, R2&& r2, R3&& r3 = {},
                            location where = location::current()) const {
        register_list<4> list;
        list.add(matrix_register(static_cast<R0&&>(r0), where));
        list.add(matrix_register(static_cast<R1&&>(r1), where));
        list.add(matrix_register(static_cast<R2&&>(r2), where));
        list.add(matrix_register(static_cast<R3&&>(r3), where));
        store<M...>(address_operand(static_cast<ptr<space::shared, T, A>&&>(row)), list, where);
        check_row<T, A>();
    }
    /// `stmatrix` of a whole fragment of 1, 2 or 4 registers. PTX ISA 9.7.14.5.16.
    template <tok... M, class T, unsigned A, fragment_role Role, class E, u32 FM, u32 FK>
    constexpr auto stmatrix(ptr<space::shared, T, A> row, const mma_fragment<Role, E, FM, FK>& from,
                            location where = location::current()) const {
        check_fragment<mma_fragment<Role, E, FM, FK>, M...>();
        check_row<T, A>();
        using F = matrix_form<tok::stmatrix, matrix_count_token(mma_fragment<Role, E, FM, FK>::size), M...>;
        require<F>();
        effect<F>(ctx(), where, address_operand(static_cast<ptr<space::shared, T, A>&&>(row)), from.as_raw());
    }
    /// B01, B07: memory of another space, or of another block.
    template <tok... M, space S, class T, unsigned A, class... R>
        requires(S != space::shared)
    constexpr auto ldmatrix(ptr<S, T, A>, const R&...) const {
        refuse_space<S>();
    }
    template <tok... M, fragment_role Role, class E, unsigned FM, unsigned FK, space S, class T, unsigned A>
        requires(S != space::shared)
    constexpr auto ldmatrix(const mma_fragment<Role, E, FM, FK>&, ptr<S, T, A>, location = location::current()) const {
        refuse_space<S>();
    }
    template <tok... M, space S, class T, unsigned A, class... R>
        requires(S != space::shared)
    constexpr auto stmatrix(ptr<S, T, A>, const R&...) const {
        refuse_space<S>();
    }

    /// `movmatrix.sync.aligned.m8n8.trans.b16 d, a;` transposes one 8x8 matrix across the warp. PTX ISA 9.7.14.5.17.
    template <class R = absent>
    constexpr auto movmatrix(R&& a = {}, location where = location::current()) const {
        using T = source_t<R>;
        static_assert(bits_of<T> == 32, "PTXDSL-A07: movmatrix moves 32-bit registers, two 16-bit elements each");
        using F = form<Tgt, tok::movmatrix, tok::sync, tok::aligned, tok::m8n8, tok::trans, tok::b16>;
        require<F>();
        return value<F, T>(ctx(), where, as_operand<T>(static_cast<R&&>(a), where));
    }

    /// `mma.sync.aligned.mMn8kK.row.col{.satfinite}.D.A.B.C{.xor.popc} {d…}, {a…}, {b…}, {c…};` Shape and types come
    /// from the fragments; d and c may be one fragment. `k.mma_sync<px::satfinite>(…)` for integers,
    /// `k.mma_sync<px::xor_, px::popc>(…)` for single bits, `k.mma_sync<px::tok::kind__f8f6f4>(…)` for fp8 on sm_100a.
    /// PTX ISA 9.7.14.5.14.
    template <tok... M, class D, class A, class B, class C>
    constexpr auto mma_sync(const D& d, const A& a, const B& b, const C& c,
                            location where = location::current()) const {
        if constexpr (check_roles<D, A, B, C, fragment_role::a>()) {
            using F = mma_form<tok::none, D, A, B, C, M...>;
            require_mma<F>();
            effect<F>(ctx(), where, d.as_raw(), a.as_raw(), b.as_raw(), c.as_raw());
        }
    }
    /// `mma.sp.sync.aligned.… {d…}, {a…}, {b…}, {c…}, e, Selector;` A is 2:4 compressed; `e` holds its metadata (one
    /// register, of the threads that `Selector` names). `k.mma_sp_sync<0, px::ordered_metadata>(…)` for ordered
    /// metadata. PTX ISA 9.7.14.6.
    template <unsigned Selector, tok... M, class D, class A, class B, class C, class E>
        requires traits<E>::is_reg
    constexpr auto mma_sp_sync(const D& d, const A& a, const B& b, const C& c, E&& metadata,
                               location where = location::current()) const {
        using W = typename traits<E>::value;
        static_assert(bits_of<W> == 32, "PTXDSL-D07: the sparsity metadata is one 32-bit register");
        if constexpr (check_roles<D, A, B, C, fragment_role::sparse_a>()) {
            constexpr tok sparse = has_token<tok::sp__ordered_metadata, M...> ? tok::sp__ordered_metadata : tok::sp;
            using F = mma_form<sparse, D, A, B, C, M...>;
            require_mma<F>();
            constexpr unsigned last = A::layout.registers() == 4 ? (A::layout.packed >= 4 ? 0 : 1)
                                      : A::layout.packed >= 4    ? 1
                                                                 : 3;
            static_assert(Selector <= last,
                          "PTXDSL-D07: the sparsity selector names a group of threads this shape has not");
            effect<F>(ctx(), where, d.as_raw(), a.as_raw(), b.as_raw(), c.as_raw(),
                      operand<W>(static_cast<E&&>(metadata), where), operand<u32>(Selector, where));
        }
    }

    /// What takes something else, with its sentence.
    template <tok... M, class D = void>
    constexpr auto ldmatrix(anything, anything = {}) const {
        static_assert(always_false<D>,
                      "PTXDSL-A14: ldmatrix takes the shared address of a row of eight 16-bit elements: "
                      "k.ldmatrix<px::x4>(k.tile_line(tile, row).chunk(c))");
    }

private:
    template <space S>
    static constexpr auto refuse_space() noexcept {
        static_assert(
            S != space::shared_cluster,
            "PTXDSL-B07: ldmatrix and stmatrix access the own block's shared memory; this is a mapped (mapa) address");
        static_assert(S == space::shared_cluster, "PTXDSL-B01: ldmatrix and stmatrix access shared memory only");
    }
    template <class F>
    static constexpr auto require_mma() noexcept {
        using status = isa::verdict::status;
        static_assert(
            F::verdict.st == status::ok || F::verdict.st == status::wrong_target,
            "PTXDSL-D04: mma.sync has no instruction of this shape with these element types and accumulator types");
        if constexpr (F::verdict.st == status::wrong_target) require<F>();
    }
    template <tok Sparse, class D, class A, class B, class C, tok... M>
    using mma_form = compact_form<
        Tgt, tok::mma, Sparse, tok::sync, tok::aligned, shape_token(A::m, 8, A::k), tok::row, tok::col,
        has_token<tok::kind__f8f6f4, M...> ? tok::kind__f8f6f4 : tok::none,
        has_token<tok::satfinite, M...> ? tok::satfinite : tok::none,
        isa::type_token(scalar_of<typename D::value_type>), isa::type_token(scalar_of<typename A::value_type>),
        isa::type_token(scalar_of<typename B::value_type>), isa::type_token(scalar_of<typename C::value_type>),
        has_token<tok::xor_, M...>   ? tok::xor_
        : has_token<tok::and_, M...> ? tok::and_
                                     : tok::none,
        has_token<tok::popc, M...> ? tok::popc : tok::none>;

    template <class D, class A, class B, class C, fragment_role RoleA>
    static constexpr bool check_roles() noexcept {
        constexpr bool acc = has_role<D, fragment_role::accumulator> && has_role<C, fragment_role::accumulator>;
        static_assert(acc, "PTXDSL-D03: C and D of mma.sync are accumulator fragments, px::mma_acc<T, M>");
        constexpr bool ops = has_role<A, RoleA> && has_role<B, fragment_role::b>;
        static_assert(
            ops,
            "PTXDSL-D07: A and B of this mma.sync are fragments of another kind: px::mma_a<T, M, K> (px::mma_sparse_a for "
            "mma.sp) and px::mma_b<T, K>, in this order");
        if constexpr (acc && ops) {
            static_assert(A::k == B::k, "PTXDSL-D01: A and B have different K extents");
            static_assert(A::m == D::m && A::m == C::m,
                          "PTXDSL-D03: the accumulator has another number of rows than A");
            return A::k == B::k && A::m == D::m && A::m == C::m;
        } else {
            return false;
        }
    }
    template <class F, tok... M>
    static constexpr auto check_fragment() noexcept {
        static_assert(F::size == 1 || F::size == 2 || F::size == 4,
                      "PTXDSL-A07: ldmatrix and stmatrix move 1, 2 or 4 registers");
        static_assert(
            F::layout.is_matrix_movable(),
            "PTXDSL-A07: one register of this fragment is no row of an 8x8 matrix, so ldmatrix and stmatrix would scatter it");
        static_assert(!has_token<tok::trans, M...> || F::layout.is_matrix_transposable(),
                      "PTXDSL-A07: .trans exchanges 16-bit elements; this fragment has others");
    }
    template <class T, unsigned A>
    static constexpr auto check_row() noexcept {
        static_assert(
            A >= 16,
            "PTXDSL-B03: ldmatrix and stmatrix take the address of a 16-byte row; declare or assume that alignment");
    }
    template <class R>
    [[nodiscard]] static constexpr auto matrix_register(R&& r, location where) {
        using T = source_t<R>;
        static_assert(bits_of<T> == 32, "PTXDSL-A07: stmatrix takes 32-bit registers, two 16-bit elements each");
        return as_operand<T>(static_cast<R&&>(r), where);
    }
    template <tok... M, unsigned N>
    constexpr auto store(raw_operand row, const register_list<N>& list, location where) const {
        using F = matrix_form<tok::stmatrix, matrix_count_token(N), M...>;
        require<F>();
        settle_list(ctx().p, row, list, where);
        row.fresh = {};
        effect<F>(ctx(), where, row, list.as_raw());
    }
};

}  // namespace detail
}  // namespace ptxdsl
