// SPDX-License-Identifier: Apache-2.0
// Instructions of a module that are spelled as in the text: the words as template arguments, the operands in PTX order,
// results first, lists and addresses as `k.list` and `px::mem` make them. Checked against the table like `k.inst`. The
// builder's calls of the same names take fragments, tiles and allocations, and know more.
#pragma once

#include <ptxdsl/dsl/builder.hpp>
#include <ptxdsl/dsl/operands.hpp>

#include <type_traits>

namespace ptxdsl::detail {

template <tok... W>
struct spelled_words {
    static constexpr inst_tokens packed = [] {
        inst_tokens r;
        ((r.w[r.n / 2] |= static_cast<std::uint32_t>(W) << (r.n % 2 == 0 ? 0 : 16), r.t[r.n++] = W), ...);
        return r;
    }();
};

/// Emits the words `W` with these operands, if the table has them.
template <target Tgt, tok... W>
struct spelled {
    template <class... O>
    static constexpr auto run(const context& k, location where, O&&... o) {
        using F = inst_form<Tgt, spelled_words<W...>, O...>;
        require_inst<F>();
        inst_emitter<Tgt>::template run<F>(k, where, static_cast<O&&>(o)...);
    }
};

template <class T>
inline constexpr bool is_element_list = false;
template <class T, unsigned N>
inline constexpr bool is_element_list<element_list<T, N>> = true;

/// `k.tcgen05` of a module: tensor memory by an address in a register.
template <target Tgt>
class module_tcgen05_calls : public tcgen05_calls<Tgt> {
    template <tok... W>
    using tc = spelled<Tgt, tok::tcgen05, W...>;

public:
    constexpr module_tcgen05_calls(ir::program& p, std::uint32_t guard) noexcept
        : tcgen05_calls<Tgt>(p, guard), p_(&p), guard_(guard) {}
    using tcgen05_calls<Tgt>::alloc, tcgen05_calls<Tgt>::dealloc, tcgen05_calls<Tgt>::relinquish_alloc_permit;
    using tcgen05_calls<Tgt>::ld, tcgen05_calls<Tgt>::st, tcgen05_calls<Tgt>::cp, tcgen05_calls<Tgt>::commit;
    using tcgen05_calls<Tgt>::mma;

    /// `tcgen05.alloc.GROUP.sync.aligned{.M}.b32 [to], columns;` PTX ISA 9.7.16.7.1.
    template <tok Group, tok... M, isa::scalar Base, class N>
    constexpr auto alloc(const ptxdsl::memory_operand<Base>& to, N&& columns,
                         location where = location::current()) const {
        tc<tok::alloc, Group, tok::sync, tok::aligned, M..., tok::b32>::run(ctx(), where, to,
                                                                            static_cast<N&&>(columns));
    }
    /// `tcgen05.dealloc.GROUP.sync.aligned.b32 address, columns;`
    template <tok Group, class T, class N>
    constexpr auto dealloc(const reg<T>& address, N&& columns, location where = location::current()) const {
        tc<tok::dealloc, Group, tok::sync, tok::aligned, tok::b32>::run(ctx(), where, address,
                                                                        static_cast<N&&>(columns));
    }
    /// `tcgen05.relinquish_alloc_permit.GROUP.sync.aligned;`
    template <tok Group>
    constexpr auto relinquish_alloc_permit(location where = location::current()) const {
        tc<tok::relinquish_alloc_permit, Group, tok::sync, tok::aligned>::run(ctx(), where);
    }
    /// `tcgen05.ld.sync.aligned.SHAPE.NUM{.M}.b32 {d…}, [address]{, half};` —
    /// `k.tcgen05.ld<px::shape_32x32b, px::x2>(k.list(r[1], r[2]), px::mem(r[3]))`. PTX ISA 9.7.16.8.1.
    template <tok Shape, tok Num, tok... M, class T, unsigned N, isa::scalar Base, class H = absent>
    constexpr auto ld(const element_list<T, N>& to, const ptxdsl::memory_operand<Base>& from, H&& half = H{},
                      location where = location::current()) const {
        tc<tok::ld, tok::sync, tok::aligned, Shape, Num, M..., tok::b32>::run(ctx(), where, to, from,
                                                                              static_cast<H&&>(half));
    }
    /// `tcgen05.st.sync.aligned.SHAPE.NUM{.M}.b32 [address], {half,} {r…};` PTX ISA 9.7.16.8.2.
    template <tok Shape, tok Num, tok... M, isa::scalar Base, class A, class B = absent>
    constexpr auto st(const ptxdsl::memory_operand<Base>& to, A&& a, B&& b = B{},
                      location where = location::current()) const {
        tc<tok::st, tok::sync, tok::aligned, Shape, Num, M..., tok::b32>::run(ctx(), where, to, static_cast<A&&>(a),
                                                                              static_cast<B&&>(b));
    }
    /// `tcgen05.cp.GROUP.SHAPE{.M} [to], descriptor;` PTX ISA 9.7.16.9.2.
    template <tok Group, tok... M, isa::scalar Base, class D>
    constexpr auto cp(const ptxdsl::memory_operand<Base>& to, D&& descriptor,
                      location where = location::current()) const {
        tc<tok::cp, Group, M...>::run(ctx(), where, to, static_cast<D&&>(descriptor));
    }
    /// `tcgen05.commit.GROUP.mbarrier::arrive::one{.M}.b64 [barrier]{, mask};` PTX ISA 9.7.16.12.1.
    template <tok Group, tok... M, isa::scalar Base, class K = absent>
    constexpr auto commit(const ptxdsl::memory_operand<Base>& barrier, K&& mask = K{},
                          location where = location::current()) const {
        tc<tok::commit, Group, tok::mbarrier__arrive__one, M..., tok::b64>::run(ctx(), where, barrier,
                                                                                static_cast<K&&>(mask));
    }
    /// `tcgen05.mma{.sp}{.ws}.GROUP.KIND{.M} [d], a, b, …;` — `k.tcgen05.mma<px::tok::cta_group__1,
    /// px::tok::kind__f16>( px::mem(d), a, b, descriptor, accumulate)`. PTX ISA 9.7.16.10.9.
    template <tok... M, isa::scalar Base, class A, class B, class C = absent, class D = absent, class E = absent,
              class G = absent, class H = absent>
    constexpr auto mma(const ptxdsl::memory_operand<Base>& to, A&& a, B&& b, C&& c = C{}, D&& d = D{}, E&& e = E{},
                       G&& g = G{}, H&& h = H{}, location where = location::current()) const {
        tc<tok::mma, M...>::run(ctx(), where, to, static_cast<A&&>(a), static_cast<B&&>(b), static_cast<C&&>(c),
                                static_cast<D&&>(d), static_cast<E&&>(e), static_cast<G&&>(g), static_cast<H&&>(h));
    }

private:
    [[nodiscard]] constexpr context ctx() const noexcept { return {*p_, guard_}; }
    ir::program* p_;
    std::uint32_t guard_;
};

/// `Body` is the module's body, a builder.
template <target Tgt, class Body>
class module_instructions {
    template <tok... W>
    using words = spelled<Tgt, W...>;

public:
    /// `bar.sync id{, threads};` — `k.bar_sync<px::tok::bar>(0)`. `k.bar_sync()` is spelled `barrier.cta.sync.aligned`,
    /// which means the same; ptxas 13.0 may make another cubin of it. PTX ISA 9.7.13.1.
    template <tok Word, class A, class B = absent>
        requires(Word == tok::bar)
    constexpr auto bar_sync(A&& id, B&& threads = B{}, location where = location::current()) const {
        words<tok::bar, tok::sync>::run(ctx(), where, static_cast<A&&>(id), static_cast<B&&>(threads));
    }
    /// `bar.arrive id, threads;` — `k.bar_arrive<px::tok::bar>(1, 64)`.
    template <tok Word, class A, class B>
        requires(Word == tok::bar)
    constexpr auto bar_arrive(A&& id, B&& threads, location where = location::current()) const {
        words<tok::bar, tok::arrive>::run(ctx(), where, static_cast<A&&>(id), static_cast<B&&>(threads));
    }
    /// `barrier.sync{.M} id{, threads};` as `k.barrier_cta_sync`, without `.cta`.
    template <tok... M, class A, class B = absent>
    constexpr auto barrier_sync(A&& id, B&& threads = B{}, location where = location::current()) const {
        words<tok::barrier, tok::sync, M...>::run(ctx(), where, static_cast<A&&>(id), static_cast<B&&>(threads));
    }
    /// `barrier.arrive{.M} id, threads;`
    template <tok... M, class A, class B>
    constexpr auto barrier_arrive(A&& id, B&& threads, location where = location::current()) const {
        words<tok::barrier, tok::arrive, M...>::run(ctx(), where, static_cast<A&&>(id), static_cast<B&&>(threads));
    }
    /// `bra.uni l;` all threads of the warp branch, or none. PTX ISA 9.7.12.3.
    constexpr auto bra_uni(const label& l, location where = location::current()) const {
        words<tok::bra, tok::uni>::run(ctx(), where, l);
    }
    /// `mapa{.SPACE}.T d, a, rank;` — `k.mapa<px::tok::shared__cluster, px::u32>(r[1], rank)`: the address `a` as block
    /// `rank` of the cluster has it; a register or a variable. PTX ISA 9.7.9.23.
    template <tok Space, class T, class A, class R>
    [[nodiscard]] constexpr reg<T> mapa(A&& a, R&& rank, location where = location::current()) const {
        using F = inst_form<Tgt, spelled_words<tok::mapa, Space, isa::type_token(scalar_of<T>)>, reg<T>, A, R>;
        require_inst<F>();
        ir::program& p = ctx().p;
        const reg<T> d(p, p.new_reg(scalar_of<T>));
        const ir::span s =
            inst_emitter<Tgt>::template run<F>(ctx(), where, d, static_cast<A&&>(a), static_cast<R&&>(rank));
        return reg<T>(p, d.id(), s);
    }
    /// `prefetch.tensormap [map];` PTX ISA 9.7.9.15.
    template <isa::scalar Base>
    constexpr auto prefetch_tensormap(const ptxdsl::memory_operand<Base>& map,
                                      location where = location::current()) const {
        words<tok::prefetch, tok::tensormap>::run(ctx(), where, map);
    }
    /// `mma.sync.aligned{.M} {d…}, {a…}, {b…}, {c…};` — `k.mma_sync<px::tok::m16n8k16, px::tok::row, px::tok::col,
    /// px::tok::f32, px::tok::f16, px::tok::f16, px::tok::f32>(k.list_of<4>(f, 0), k.list_of<4>(r, 8), k.list_of<2>(r,
    /// 12), k.list_of<4>(f, 0))`. PTX ISA 9.7.14.5.14.
    template <tok... M, class D, class A, class B, class C>
        requires(is_element_list<std::remove_cvref_t<D>>)
    constexpr auto mma_sync(D&& d, A&& a, B&& b, C&& c, location where = location::current()) const {
        words<tok::mma, tok::sync, tok::aligned, M...>::run(ctx(), where, static_cast<D&&>(d), static_cast<A&&>(a),
                                                            static_cast<B&&>(b), static_cast<C&&>(c));
    }
    /// `wmma.load.MATRIX.sync.aligned{.M} {d…}, [p]{, stride};` — `k.wmma_load<px::tok::a, px::tok::row,
    /// px::tok::m16n16k16, px::tok::shared, px::tok::f16>(k.list_of<8>(r, 0), px::mem(rd[1]), 16)`. PTX ISA 9.7.14.4.3.
    template <tok Matrix, tok... M, class D, isa::scalar Base, class S = absent>
    constexpr auto wmma_load(D&& d, const ptxdsl::memory_operand<Base>& p, S&& stride = S{},
                             location where = location::current()) const {
        words<tok::wmma, tok::load, Matrix, tok::sync, tok::aligned, M...>::run(ctx(), where, static_cast<D&&>(d), p,
                                                                                static_cast<S&&>(stride));
    }
    /// `wmma.store.d.sync.aligned{.M} [p], {r…}{, stride};` PTX ISA 9.7.14.4.4.
    template <tok Matrix, tok... M, isa::scalar Base, class D, class S = absent>
    constexpr auto wmma_store(const ptxdsl::memory_operand<Base>& p, D&& d, S&& stride = S{},
                              location where = location::current()) const {
        words<tok::wmma, tok::store, Matrix, tok::sync, tok::aligned, M...>::run(ctx(), where, p, static_cast<D&&>(d),
                                                                                 static_cast<S&&>(stride));
    }
    /// `wmma.mma.sync.aligned{.M} {d…}, {a…}, {b…}, {c…};` PTX ISA 9.7.14.4.5.
    template <tok... M, class D, class A, class B, class C>
    constexpr auto wmma_mma(D&& d, A&& a, B&& b, C&& c, location where = location::current()) const {
        words<tok::wmma, tok::mma, tok::sync, tok::aligned, M...>::run(
            ctx(), where, static_cast<D&&>(d), static_cast<A&&>(a), static_cast<B&&>(b), static_cast<C&&>(c));
    }

private:
    [[nodiscard]] constexpr context ctx() const noexcept { return static_cast<const Body&>(*this).context(); }
};

}  // namespace ptxdsl::detail
