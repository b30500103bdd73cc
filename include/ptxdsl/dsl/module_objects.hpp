// SPDX-License-Identifier: Apache-2.0
// mbarriers, accumulators and copies of a module, where a register or a variable says where they are. The builder's
// calls of the same names take objects that it has allocated itself, and know more: rings, tiles, bytes.
#pragma once

#include <ptxdsl/dsl/builder.hpp>
#include <ptxdsl/dsl/declared.hpp>
#include <ptxdsl/dsl/operands.hpp>

#include <concepts>
#include <type_traits>

namespace ptxdsl {

/// An mbarrier in this block's shared memory, by its address. Made by `k.barrier`.
template <isa::scalar Base>
struct barrier_place : memory_operand<Base> {
    using memory_operand<Base>::memory_operand;
};
/// An mbarrier of a block of the cluster, by an address in `.shared::cluster`. Made by `k.peer_barrier`.
template <isa::scalar Base>
struct peer_barrier_place : memory_operand<Base> {
    using memory_operand<Base>::memory_operand;
};

/// The registers of an m64nN accumulator among those of a declaration, in the hardware's order: element (row, col) of
/// register `i` is `wgmma_accumulator(scalar, N).at(…)`. Made by `k.accumulator`.
template <class T, unsigned N, class R>
class accumulator_registers {
public:
    static constexpr fragment_layout layout = wgmma_accumulator(scalar_of<T>, N);
    static constexpr unsigned size = layout.registers();
    static_assert(N % 8 == 0 && N >= 8 && N <= 256, "PTXDSL-D04: the N of wgmma is a multiple of 8 from 8 to 256");
    static_assert(bits_of<R> == 32, "PTXDSL-D03: the registers of an accumulator have 32 bits");

    constexpr accumulator_registers(const register_array<R>& r, std::uint32_t first, int step) noexcept {
        for (unsigned i = 0; i < size; ++i) {
            const declared_reg<R> x = r[first + i * static_cast<std::uint32_t>(step)];
            prog_ = x.program(), words_[i] = detail::reg_word(x.id());
        }
    }
    template <std::integral Index>
    [[nodiscard]] constexpr declared_reg<R> operator[](Index i) const {
        const auto at = static_cast<std::uint32_t>(i);
        if (at >= size)
            prog_->report("D03", location(), {"register ", at, " of an accumulator of ", std::uint32_t{size}});
        return {*prog_, ir::payload_of(words_[at < size ? at : 0])};
    }
    [[nodiscard]] constexpr detail::raw_operand as_raw() const noexcept {
        return detail::vector_of(prog_, words_, size);
    }

private:
    ir::program* prog_ = nullptr;
    std::uint32_t words_[size] = {};
};

namespace detail {

template <class T>
inline constexpr bool is_barrier_place = false;
template <isa::scalar Base>
inline constexpr bool is_barrier_place<barrier_place<Base>> = true;
template <isa::scalar Base>
inline constexpr bool is_barrier_place<peer_barrier_place<Base>> = true;
template <class T>
inline constexpr bool is_peer = false;
template <isa::scalar Base>
inline constexpr bool is_peer<peer_barrier_place<Base>> = true;

/// `k.wgmma` of a module: operands that are registers already.
template <target Tgt>
class module_wgmma_calls : public wgmma_calls<Tgt> {
public:
    constexpr module_wgmma_calls(ir::program& p, std::uint32_t guard) noexcept
        : wgmma_calls<Tgt>(p, guard), p_(&p), guard_(guard) {}
    using wgmma_calls<Tgt>::mma_async;

    /// `wgmma.mma_async.sync.aligned.m64nNkK.T.A.B {d…}, a, b, scale-d, ScaleA, ScaleB{, trans-a, trans-b};` with
    /// descriptors in registers: `k.wgmma.mma_async<px::bf16, px::bf16>(acc, a, b)`. PTX ISA 9.7.15.5.2.
    template <class A, class B, major MajorA = k_major, major MajorB = k_major, int ScaleA = 1, int ScaleB = 1, class T,
              unsigned N, class R, class UA, class UB>
    constexpr auto mma_async(const accumulator_registers<T, N, R>& d, const reg<UA>& a, const reg<UB>& b,
                             scale_d accumulate = true, location where = location::current()) const {
        static_assert(bits_of<UA> == 64 && bits_of<UB> == 64, "PTXDSL-D06: a matrix descriptor is 64 bits wide");
        using F = shape<A, B, T, N>;
        require<F>();
        const operand<UA> x(a, where);
        const operand<UB> y(b, where);
        if constexpr (bits_of<A> == 16)
            effect<F>(ctx(), where, d.as_raw(), x, y, accumulate.o, number(ScaleA), number(ScaleB),
                      number(MajorA == mn_major), number(MajorB == mn_major));
        else if constexpr (wgmma_int<A>)
            effect<F>(ctx(), where, d.as_raw(), x, y, accumulate.o);
        else
            effect<F>(ctx(), where, d.as_raw(), x, y, accumulate.o, number(ScaleA), number(ScaleB));
    }
    /// The same with A in four registers: `k.wgmma.mma_async<px::bf16, px::bf16>(acc, k.list(r[1], r[2], r[3], r[4]),
    /// b)`.
    template <class A, class B, major MajorB = k_major, int ScaleA = 1, int ScaleB = 1, class T, unsigned N, class R,
              class E, class UB>
    constexpr auto mma_async(const accumulator_registers<T, N, R>& d, const element_list<E, 4>& a, const reg<UB>& b,
                             scale_d accumulate = true, location where = location::current()) const {
        static_assert(bits_of<UB> == 64, "PTXDSL-D06: a matrix descriptor is 64 bits wide");
        using F = shape<A, B, T, N>;
        require<F>();
        const raw_operand x = a.raw(ctx());
        const operand<UB> y(b, where);
        if constexpr (bits_of<A> == 16)
            effect<F>(ctx(), where, d.as_raw(), x, y, accumulate.o, number(ScaleA), number(ScaleB),
                      number(MajorB == mn_major));
        else if constexpr (wgmma_int<A>)
            effect<F>(ctx(), where, d.as_raw(), x, y, accumulate.o);
        else
            effect<F>(ctx(), where, d.as_raw(), x, y, accumulate.o, number(ScaleA), number(ScaleB));
    }

    /// The four instructions that make a descriptor of a shared address, with the author's registers for the steps:
    /// `and.b32 masked, x, mask; shr.u32 shifted, masked, 4; cvt.u64.u32 wide, shifted; or.b64 d, wide, fields;`
    template <class X, class A, class B, class C>
    [[nodiscard]] constexpr reg<b64> descriptor_bits(const reg<X>& x, std::uint32_t mask, std::uint64_t fields,
                                                     const declared_reg<A>& masked, const declared_reg<B>& shifted,
                                                     const declared_reg<C>& wide,
                                                     location where = location::current()) const {
        static_assert(bits_of<X> == 32, "PTXDSL-B01: a shared-memory address is a 32-bit register");
        masked =
            value<form<Tgt, tok::and_, tok::b32>, b32>(ctx(), where, operand<X>(x, where), operand<b32>(mask, where));
        shifted =
            value<form<Tgt, tok::shr, tok::u32>, u32>(ctx(), where, operand<A>(masked, where), operand<u32>(4, where));
        wide = value<form<Tgt, tok::cvt, tok::u64, tok::u32>, u64>(ctx(), where, operand<B>(shifted, where));
        return value<form<Tgt, tok::or_, tok::b64>, b64>(ctx(), where, operand<C>(wide, where),
                                                         operand<b64>(fields, where));
    }

private:
    template <class A, class B, class T, unsigned N>
    using shape = form<Tgt, tok::wgmma, tok::mma_async, tok::sync, tok::aligned, shape_token(64, N, 256 / bits_of<A>),
                       isa::type_token(scalar_of<T>), isa::type_token(scalar_of<A>), isa::type_token(scalar_of<B>)>;

    [[nodiscard]] constexpr detail::context ctx() const noexcept { return {*p_, guard_}; }
    [[nodiscard]] static constexpr raw_operand number(int v) noexcept {
        raw_operand o;
        o.words[0] = ir::head(ir::operand_kind::small_int, static_cast<std::uint32_t>(v));
        return o;
    }

    ir::program* p_;
    std::uint32_t guard_;
};

/// Calls on objects by their address. `Body` is the module's body, a builder.
template <target Tgt, class Body>
class module_objects {
    template <tok... Toks>
    using mb = compact_form<Tgt, tok::mbarrier, Toks...>;
    /// The space's word. `px::tok::shared` among `M` spells it `.shared`, which means `.shared::cta`: a text keeps its
    /// words.
    template <class B, tok... M>
    static constexpr tok space_of = ((M == tok::shared) || ...) ? tok::shared
                                    : is_peer<B>                ? tok::shared__cluster
                                                                : tok::shared__cta;
    template <tok M>
    static constexpr tok other = M == tok::shared ? tok::none : M;

public:
    /// The mbarrier at a 32-bit shared address, or at a variable. Emits nothing.
    template <class T>
    [[nodiscard]] constexpr barrier_place<scalar_of<T>> barrier(const reg<T>& address, std::int32_t bytes = 0) const {
        static_assert(bits_of<T> == 32, "PTXDSL-B01: a shared-memory address is a 32-bit register");
        return {address.program(), reg_word(address.id()), bytes};
    }
    [[nodiscard]] constexpr barrier_place<isa::scalar::none> barrier(const symbol& s, std::int32_t bytes = 0) const {
        return {s.program(), s.word(), s.offset() + bytes};
    }
    /// The mbarrier at an address in the shared memory of the cluster (`mapa`). Emits nothing.
    template <class T>
    [[nodiscard]] constexpr peer_barrier_place<scalar_of<T>> peer_barrier(const reg<T>& address,
                                                                          std::int32_t bytes = 0) const {
        static_assert(bits_of<T> == 32, "PTXDSL-B01: a shared-memory address is a 32-bit register");
        return {address.program(), reg_word(address.id()), bytes};
    }
    /// The registers of an m64nN accumulator: `first`, `first + step`, … of a declaration. Emits nothing.
    template <class T, unsigned N, class R>
    [[nodiscard]] constexpr accumulator_registers<T, N, R> accumulator(const register_array<R>& r, std::uint32_t first,
                                                                       int step = 1) const {
        return {r, first, step};
    }

    /// `mbarrier.init.shared::cta.b64 [b], n;`
    template <tok... M, class B, class N>
        requires is_barrier_place<B>
    constexpr auto mbarrier_init(const B& b, N&& n, location where = location::current()) const {
        run<mb<tok::init, other<M>..., space_of<B, M...>, tok::b64>>(where, b.raw(ctx()),
                                                                     u32_of(static_cast<N&&>(n), where));
    }
    /// `mbarrier.inval.shared::cta.b64 [b];`
    template <tok... M, class B>
        requires is_barrier_place<B>
    constexpr auto mbarrier_inval(const B& b, location where = location::current()) const {
        run<mb<tok::inval, other<M>..., space_of<B, M...>, tok::b64>>(where, b.raw(ctx()));
    }
    /// `mbarrier.arrive{.M}.shared::cta.b64 state, [b]{, n};` on the own block's; `_` for the state on another's.
    template <tok... M, class B, class N = absent>
        requires is_barrier_place<B>
    constexpr auto mbarrier_arrive(const B& b, N&& n = N{}, location where = location::current()) const {
        using F = mb<tok::arrive, other<M>..., space_of<B, M...>, tok::b64>;
        if constexpr (is_peer<B>)
            arrive<F>(where, sink_word(), b, static_cast<N&&>(n));
        else
            return arrive_state<F>(where, b, static_cast<N&&>(n));
    }
    /// The same without a state: `mbarrier.arrive{.M}.shared::cta.b64 _, [b]{, n};`
    template <tok... M, class B, class N = absent>
        requires is_barrier_place<B>
    constexpr auto mbarrier_arrive(sink_t, const B& b, N&& n = N{}, location where = location::current()) const {
        arrive<mb<tok::arrive, other<M>..., space_of<B, M...>, tok::b64>>(where, sink_word(), b, static_cast<N&&>(n));
    }
    /// `mbarrier.arrive.expect_tx{.M}.shared::cta.b64 _, [b], bytes;`
    template <tok... M, class B, class N>
        requires is_barrier_place<B>
    constexpr auto mbarrier_arrive_expect_tx(const B& b, N&& bytes, location where = location::current()) const {
        arrive<mb<tok::arrive, tok::expect_tx, other<M>..., space_of<B, M...>, tok::b64>>(where, sink_word(), b,
                                                                                          static_cast<N&&>(bytes));
    }
    /// `mbarrier.arrive.expect_tx{.M}.shared::cta.b64 state, [b], bytes;`
    template <tok... M, class B, class N>
        requires is_barrier_place<B>
    [[nodiscard]] constexpr auto mbarrier_arrive_expect_tx_state(const B& b, N&& bytes,
                                                                 location where = location::current()) const {
        return arrive_state<mb<tok::arrive, tok::expect_tx, other<M>..., space_of<B, M...>, tok::b64>>(
            where, b, static_cast<N&&>(bytes));
    }
    /// `mbarrier.try_wait.parity{.M}.shared::cta.b64 p, [b], parity{, ns};`
    template <tok... M, class B, class P, class N = absent>
        requires is_barrier_place<B>
    [[nodiscard]] constexpr auto mbarrier_try_wait_parity(const B& b, P&& parity, N&& ns = N{},
                                                          location where = location::current()) const {
        return wait<u32, mb<tok::try_wait, tok::parity, other<M>..., space_of<B, M...>, tok::b64>>(
            where, b, static_cast<P&&>(parity), static_cast<N&&>(ns));
    }
    /// `mbarrier.test_wait.parity{.M}.shared::cta.b64 p, [b], parity;`
    template <tok... M, class B, class P>
        requires is_barrier_place<B>
    [[nodiscard]] constexpr auto mbarrier_test_wait_parity(const B& b, P&& parity,
                                                           location where = location::current()) const {
        return wait<u32, mb<tok::test_wait, tok::parity, other<M>..., space_of<B, M...>, tok::b64>>(
            where, b, static_cast<P&&>(parity), absent{});
    }
    /// `mbarrier.try_wait{.M}.shared::cta.b64 p, [b], state{, ns};`
    template <tok... M, class B, class S, class N = absent>
        requires is_barrier_place<B>
    [[nodiscard]] constexpr auto mbarrier_try_wait(const B& b, S&& state, N&& ns = N{},
                                                   location where = location::current()) const {
        return wait<u64, mb<tok::try_wait, other<M>..., space_of<B, M...>, tok::b64>>(where, b, static_cast<S&&>(state),
                                                                                      static_cast<N&&>(ns));
    }
    /// `mbarrier.test_wait{.M}.shared::cta.b64 p, [b], state;`
    template <tok... M, class B, class S>
        requires is_barrier_place<B>
    [[nodiscard]] constexpr auto mbarrier_test_wait(const B& b, S&& state, location where = location::current()) const {
        return wait<u64, mb<tok::test_wait, other<M>..., space_of<B, M...>, tok::b64>>(
            where, b, static_cast<S&&>(state), absent{});
    }

    /// `cp.async.bulk.tensor.Nd.Space.global{.M}.mbarrier::complete_tx::bytes{.M} [to], [map, {c…}], [bar]{, mask}{,
    /// policy};` — `k.cp_async_bulk_tensor<px::tok::shared__cluster>(px::mem(r[1]), k.tensor(map, x, y),
    /// k.barrier(r[2]))`. `M` may have `px::tok::tile`, `px::tok::multicast__cluster`, `px::L2::cache_hint`. PTX
    /// ISA 9.7.9.27.1.2.
    template <tok Space, tok... M, isa::scalar Base, unsigned N, class B, class X = absent, class Y = absent>
        requires is_barrier_place<B>
    constexpr auto cp_async_bulk_tensor(const ptxdsl::memory_operand<Base>& to, const ptxdsl::tensor_operand<N>& from,
                                        const B& b, X&& x = X{}, Y&& y = Y{},
                                        location where = location::current()) const {
        constexpr bool tile = ((M == tok::tile) || ...);
        using F = compact_form<Tgt, tok::cp, tok::async, tok::bulk, tok::tensor, dimensions(N), Space, tok::global,
                               tile ? tok::tile : tok::none, tok::mbarrier__complete_tx__bytes,
                               (M == tok::tile ? tok::none : M)...>;
        static_assert(N >= 1 && N <= 5, "PTXDSL-F01: a tensor has 1 to 5 dimensions");
        require<F>();
        constexpr bool mask = ((M == tok::multicast__cluster) || ...);
        if constexpr (is_absent<X>)
            effect<F>(ctx(), where, to.raw(ctx()), from.raw(ctx()), b.raw(ctx()));
        else if constexpr (is_absent<Y>)
            effect<F>(ctx(), where, to.raw(ctx()), from.raw(ctx()), b.raw(ctx()),
                      number<std::conditional_t<mask, u16, u64>>(static_cast<X&&>(x), where));
        else
            effect<F>(ctx(), where, to.raw(ctx()), from.raw(ctx()), b.raw(ctx()),
                      number<u16>(static_cast<X&&>(x), where), number<u64>(static_cast<Y&&>(y), where));
    }
    /// `cp.async.bulk.tensor.Nd.global.shared::cta{.M}.bulk_group{.L2::cache_hint} [map, {c…}], [from]{, policy};`
    template <tok... M, unsigned N, isa::scalar Base, class Y = absent>
    constexpr auto cp_async_bulk_tensor(const ptxdsl::tensor_operand<N>& to, const ptxdsl::memory_operand<Base>& from,
                                        Y&& policy = Y{}, location where = location::current()) const {
        using F = compact_form<Tgt, tok::cp, tok::async, tok::bulk, tok::tensor, dimensions(N), tok::global,
                               tok::shared__cta, M..., tok::bulk_group, is_absent<Y> ? tok::none : tok::L2__cache_hint>;
        require<F>();
        if constexpr (is_absent<Y>)
            effect<F>(ctx(), where, to.raw(ctx()), from.raw(ctx()));
        else
            effect<F>(ctx(), where, to.raw(ctx()), from.raw(ctx()), number<u64>(static_cast<Y&&>(policy), where));
    }

private:
    [[nodiscard]] constexpr detail::context ctx() const noexcept { return static_cast<const Body&>(*this).context(); }
    [[nodiscard]] static constexpr tok dimensions(unsigned n) noexcept {
        constexpr tok words[] = {tok::none, tok::_1d, tok::_2d, tok::_3d, tok::_4d, tok::_5d};
        return words[n <= 5 ? n : 0];
    }
    [[nodiscard]] static constexpr raw_operand sink_word() noexcept {
        raw_operand o;
        o.words[0] = ir::head(ir::operand_kind::sink, 0);
        return o;
    }
    /// A number: registers declared as bits are as good as unsigned ones.
    template <class T, class N>
    [[nodiscard]] static constexpr operand<T> number(N&& n, location where) {
        using V = std::remove_cvref_t<N>;
        if constexpr (traits<V>::is_reg && class_of<typename traits<V>::value> == isa::type_class::bits)
            return as_operand<T>(n.template as<T>(), where);
        else
            return as_operand<T>(static_cast<N&&>(n), where);
    }
    template <class N>
    [[nodiscard]] static constexpr operand<u32> u32_of(N&& n, location where) {
        return number<u32>(static_cast<N&&>(n), where);
    }
    template <class F, class... O>
    constexpr void run(location where, const O&... operands) const {
        require<F>();
        effect<F>(ctx(), where, operands...);
    }
    template <class F, class B, class N>
    constexpr void arrive(location where, const raw_operand& state, const B& b, N&& n) const {
        if constexpr (is_absent<N>)
            run<F>(where, state, b.raw(ctx()));
        else
            run<F>(where, state, b.raw(ctx()), u32_of(static_cast<N&&>(n), where));
    }
    template <class F, class B, class N>
    [[nodiscard]] constexpr reg<u64> arrive_state(location where, const B& b, N&& n) const {
        require<F>();
        if constexpr (is_absent<N>)
            return value<F, u64>(ctx(), where, b.raw(ctx()));
        else
            return value<F, u64>(ctx(), where, b.raw(ctx()), u32_of(static_cast<N&&>(n), where));
    }
    template <class T, class F, class B, class S, class N>
    [[nodiscard]] constexpr reg<pred> wait(location where, const B& b, S&& s, N&& ns) const {
        static_assert(!is_peer<B>,
                      "PTXDSL-E10: a thread waits on its own block's barriers only; arrive remotely, wait locally");
        require<F>();
        const auto phase = number<T>(static_cast<S&&>(s), where);
        if constexpr (is_absent<N>)
            return value<F, pred>(ctx(), where, b.raw(ctx()), phase);
        else
            return value<F, pred>(ctx(), where, b.raw(ctx()), phase, u32_of(static_cast<N&&>(ns), where));
    }
};

}  // namespace detail
}  // namespace ptxdsl
