// SPDX-License-Identifier: Apache-2.0
// Typed addresses: the state space, the element type and what is known of the alignment are part of the type.
#pragma once

#include <ptxdsl/detail/meta.hpp>
#include <ptxdsl/dsl/reg.hpp>

namespace ptxdsl {

/// `N` elements that one vector instruction moves: the element type of a pointer whose accesses are `.vN`.
///
/// `global_ptr<const packet<f32, 4>>` loads 16 bytes at a time, and `p + i` steps by 16 bytes.
template <class T, unsigned N>
struct alignas(sizeof(T) * N) packet {
    static_assert(N == 2 || N == 4 || N == 8, "PTXDSL-A07: PTX vectors have 2, 4 or 8 elements");
    using value_type = T;
    static constexpr unsigned size = N;
    T elements[N];
};

namespace detail {
template <class T>
struct element_traits {
    using scalar = meta::remove_const_t<T>;
    static constexpr unsigned lanes = 1;
};
template <class T, unsigned N>
struct element_traits<packet<T, N>> {
    using scalar = T;
    static constexpr unsigned lanes = N;
};
template <class T, unsigned N>
struct element_traits<const packet<T, N>> : element_traits<packet<T, N>> {};

/// Shared addresses are 32 bits wide, all others 64 (PTX ISA 5.1.6: the shared window of a block fits 32 bits).
[[nodiscard]] constexpr bool is_narrow(space s) noexcept { return s == space::shared || s == space::shared_cluster; }
/// B09: a handle that was made in front of a branch or loop names something else from a line of its body on. C++ runs
/// the body once, so the kernel's next round and what follows the body see that, whatever the threads do.
template <class Program>
constexpr void note_rebinding(Program& p, std::uint32_t born, string_view what) {
    if (born >= p.body_begin) return;
    p.add_finding(
        "B09", true, p.locations.size() - 1,
        {what,
         " made in front of this branch or loop is assigned in its body: it names another one for the lines that "
         "follow in the text, not for the next round; keep what changes in registers (i += 1u; p + i)"});
}
/// Whether a register is computed from what `begins` holds for, by instructions that `passes` lets through: a walk over
/// the whole program, for what is seldom asked.
template <class Program, class Begins, class Passes>
[[nodiscard]] constexpr bool is_computed_from(const Program& p, std::uint32_t word, const Begins& begins,
                                              const Passes& passes) {
    if (ir::kind_of(word) != ir::operand_kind::reg || ir::payload_of(word) >= p.regs.size()) return false;
    dynarray<std::uint32_t> from;
    from.resize(p.regs.size(), 0);
    for (std::uint32_t at = 0; at < p.words.size(); at += ir::cursor{&p.words[at]}.size()) {
        const ir::cursor c{&p.words[at]};
        if (!c.is_instruction() || c.operands() < 2 || ir::kind_of(c.first_operand()[0]) != ir::operand_kind::reg)
            continue;
        const std::uint32_t to = ir::payload_of(c.first_operand()[0]);
        const std::uint32_t* o = c.first_operand() + 1;
        bool yes = begins(c, to);
        for (std::uint32_t i = 1; i < c.operands() && passes(static_cast<tok>(c.token(0)));
             ++i, o += ir::operand_words(o[0]))
            yes = yes || (ir::kind_of(o[0]) == ir::operand_kind::reg && ir::payload_of(o[0]) < p.regs.size() &&
                          from[ir::payload_of(o[0])] != 0);
        if (yes) from[to] = 1;
    }
    return from[ir::payload_of(word)] != 0;
}
/// C07: elements of a swizzled tile are indexed as if it had none. Who computes the exchange (an exclusive or) knows of
/// it.
template <class Program>
constexpr void warn_of_swizzle(Program& p, std::uint32_t index, location where) {
    const auto exchanges = [](const ir::cursor& c, std::uint32_t) { return static_cast<tok>(c.token(0)) == tok::xor_; };
    if (is_computed_from(p, index, exchanges, [](tok what) { return what != tok::ld; })) return;
    p.warn("C07", where,
           {"elements of a swizzled tile are indexed through its bytes, which ignores the swizzle; "
            "k.tile_element(tile, row, col), k.tile_line(tile, row) and tile.at(row, col) apply it"});
}
/// Instructions behind which a sum or product is as large as before.
[[nodiscard]] constexpr bool keeps_size(tok what) noexcept {
    return what == tok::add || what == tok::sub || what == tok::mad || what == tok::mul || what == tok::mov ||
           what == tok::shl || what == tok::or_;
}
/// A conversion of 64 bits to 32: remembered when it cuts a product.
template <class Program>
constexpr void note_cut(Program& p, std::uint32_t from, std::uint32_t to) {
    const auto multiplies = [](const ir::cursor& c, std::uint32_t) {
        const tok what = static_cast<tok>(c.token(0)), last = static_cast<tok>(c.token(c.tokens() - 1));
        return (what == tok::mul || what == tok::mad || what == tok::shl) &&
               (last == tok::u64 || last == tok::s64 || last == tok::b64 || static_cast<tok>(c.token(1)) == tok::wide);
    };
    if (!p.is_module && is_computed_from(p, from, multiplies, keeps_size)) p.cut_registers.push_back(to);
}
/// B05: a product of 64 bits, cut to 32, is an index.
template <class Program>
constexpr void warn_of_cut(Program& p, std::uint32_t index, location where) {
    if (p.cut_registers.empty()) return;
    const auto is_cut = [&](const ir::cursor&, std::uint32_t to) {
        for (const std::uint32_t r : p.cut_registers)
            if (r == to) return true;
        return false;
    };
    if (is_computed_from(p, index, is_cut, keeps_size))
        p.warn(
            "B05", where,
            {"a product computed in 64 bits is cut to 32 and moves a pointer, which wraps at 4 GiB; p.byte_offset(n) "
             "and p + i take 64-bit registers"});
}
}  // namespace detail

/// A register that indexes elements, and where it is used.
template <class T>
struct register_index : operand<T> {
    // NOLINTBEGIN(google-explicit-constructor)
    constexpr register_index(const reg<T>& r, location at = location::current()) noexcept : operand<T>(r, at) {}
    constexpr register_index(reg<T>&& r, location at = location::current()) noexcept
        : operand<T>(static_cast<reg<T>&&>(r), at) {}
    constexpr register_index(const assigned<reg<T>>& a, location at = location::current()) noexcept
        : operand<T>(a, at) {}
    constexpr register_index(assigned<reg<T>>&& a, location at = location::current()) noexcept
        : operand<T>(static_cast<assigned<reg<T>>&&>(a), at) {}
    // NOLINTEND(google-explicit-constructor)
};
/// A C++ number that indexes elements.
struct constant_index {
    std::int64_t value;
    bool huge;  ///< past any offset an address operand holds
    location where;
    template <meta::integral Index>
    // NOLINTNEXTLINE(google-explicit-constructor)
    constexpr constant_index(Index v, location at = location::current()) noexcept
        : value(static_cast<std::int32_t>(v)),
          huge(static_cast<Index>(value) != v || (value < 0) != (v < 0)),
          where(at) {}
};

/// An address in state space `S` of elements of type `T` (const for read-only data), known to be a multiple of `Align`.
///
/// `p + i` is one `mad` (`mad.wide` for a 32-bit index of a 64-bit address, so that byte offsets never wrap at 4 GiB);
/// adding a C++ constant emits nothing, it becomes the address operand's immediate offset.
template <space S, class T, unsigned Align = alignof(T)>
class [[nodiscard]] ptr {
public:
    using element_type = T;
    using scalar_type = typename detail::element_traits<T>::scalar;
    using address_type = meta::conditional_t<detail::is_narrow(S), u32, u64>;
    static constexpr space state_space = S;
    static constexpr unsigned lanes = detail::element_traits<T>::lanes;
    static constexpr unsigned align = Align;
    static_assert(ptx_type<scalar_type>, "PTXDSL-A08: pointer to a C++ type that stands for no PTX type");

    constexpr ptr() noexcept = default;
    /// The address `base + offset` bytes, `base` a one-word operand (register or symbol).
    constexpr ptr(ir::program& p, std::uint32_t base, std::int32_t offset = 0, ir::span expression = {}) noexcept
        : prog_(&p), base_(base), offset_(offset), born_(p.words.size()), span_(expression) {}
    /// The same, or a pointer without an address where `p` is null.
    constexpr ptr(ir::program* p, std::uint32_t base, std::int32_t offset, ir::span expression) noexcept
        : prog_(p), base_(base), offset_(offset), born_(now(p)), span_(expression) {}
    constexpr ptr(const ptr& o) noexcept : ptr(o.prog_, o.base_, o.offset_, copied(o.prog_, o.span_)) {
        swizzled_ = o.swizzled_;
    }
    constexpr ptr(ptr&&) noexcept = default;
    constexpr ~ptr() = default;
    /// Names the other address from here on. Emits nothing; in the body of a branch or loop, B09.
    constexpr ptr& operator=(const ptr& o) {
        if (prog_ != nullptr) detail::note_rebinding(*prog_, born_, "a pointer");
        prog_ = o.prog_, base_ = o.base_, offset_ = o.offset_, born_ = now(o.prog_), span_ = {};
        swizzled_ = o.swizzled_;
        return *this;
    }
    constexpr ptr& operator=(ptr&& o) { return *this = static_cast<const ptr&>(o); }

    /// A pointer to non-const converts to a pointer to const, a better aligned one to a less aligned one.
    template <class U, unsigned A>
        requires(meta::is_same_v<const U, T> || meta::is_same_v<U, T>) && (A >= Align) &&
                (!meta::is_same_v<ptr<S, U, A>, ptr>)
    // NOLINTNEXTLINE(google-explicit-constructor)
    constexpr ptr(const ptr<S, U, A>& o) noexcept
        : ptr(o.program(), o.base(), o.offset(), copied(o.program(), o.expression())) {
        swizzled_ = o.is_swizzled();
    }

    /// A shared-memory address of the own block is one of the cluster as well.
    template <class U, unsigned A>
        requires(S == space::shared_cluster) && (meta::is_same_v<const U, T> || meta::is_same_v<U, T>) && (A >= Align)
    // NOLINTNEXTLINE(google-explicit-constructor)
    constexpr ptr(const ptr<space::shared, U, A>& o) noexcept
        : ptr(o.program(), o.base(), o.offset(), copied(o.program(), o.expression())) {
        swizzled_ = o.is_swizzled();
    }
    /// Refuses addresses of another state space with one sentence (B01, B07).
    template <space From, class U, unsigned A>
        requires(From != S) && (S != space::shared_cluster || From != space::shared)
    // NOLINTNEXTLINE(google-explicit-constructor)
    constexpr ptr(const ptr<From, U, A>&) noexcept(refuse_space<From>()) {}

    [[nodiscard]] constexpr ir::program* program() const noexcept { return prog_; }
    [[nodiscard]] constexpr std::uint32_t base() const noexcept { return base_; }
    [[nodiscard]] constexpr std::int32_t offset() const noexcept { return offset_; }
    [[nodiscard]] constexpr ir::span expression() const noexcept { return span_; }
    /// Whether the bytes are those of a swizzled tile (`tile_stage::byte_pointer`).
    [[nodiscard]] constexpr bool is_swizzled() const noexcept { return swizzled_; }
    constexpr ptr swizzled(bool yes) && noexcept {
        swizzled_ = yes;
        return static_cast<ptr&&>(*this);
    }

    /// The same address as a pointer to `U`. Emits nothing; alignment knowledge is kept.
    template <class U>
    [[nodiscard]] constexpr auto as() const& noexcept {
        return ptr<S, like<U>, Align>(prog_, base_, offset_, {}).swizzled(swizzled_);
    }
    template <class U>
    [[nodiscard]] constexpr auto as() && noexcept {
        return ptr<S, like<U>, Align>(prog_, base_, offset_, span_).swizzled(swizzled_);
    }
    /// States that the address is a multiple of `A` bytes. Emits nothing; wrong statements are undefined behaviour.
    template <unsigned A>
    [[nodiscard]] constexpr auto assume_aligned() const& noexcept {
        static_assert((A & (A - 1)) == 0, "PTXDSL-B03: an alignment is a power of two");
        return ptr<S, T, A>(prog_, base_, offset_, {}).swizzled(swizzled_);
    }
    template <unsigned A>
    [[nodiscard]] constexpr auto assume_aligned() && noexcept {
        static_assert((A & (A - 1)) == 0, "PTXDSL-B03: an alignment is a power of two");
        return ptr<S, T, A>(prog_, base_, offset_, span_).swizzled(swizzled_);
    }
    /// `bytes` further. Emits nothing. The result is aligned only as far as `A` says.
    template <unsigned A = (Align < sizeof(T) ? Align : sizeof(T))>
    [[nodiscard]] constexpr auto byte_offset(std::int32_t bytes) const& noexcept {
        return ptr<S, T, A>(prog_, base_, offset_ + bytes, {}).swizzled(swizzled_);
    }
    template <unsigned A = (Align < sizeof(T) ? Align : sizeof(T))>
    [[nodiscard]] constexpr auto byte_offset(std::int32_t bytes) && noexcept {
        return ptr<S, T, A>(prog_, base_, offset_ + bytes, span_).swizzled(swizzled_);
    }
    /// `bytes` further, in a register as wide as the address: one `add`. One that 32-bit arithmetic may have cut is
    /// refused (B05).
    template <unsigned A = (Align < sizeof(T) ? Align : sizeof(T)), class Index>
    [[nodiscard]] constexpr auto byte_offset(const reg<Index>& bytes, location where = location::current()) const& {
        return moved_by<A>(operand<Index>(bytes, where), {});
    }
    template <unsigned A = (Align < sizeof(T) ? Align : sizeof(T)), class Index>
    [[nodiscard]] constexpr auto byte_offset(reg<Index>&& bytes, location where = location::current()) const& {
        return moved_by<A>(operand<Index>(static_cast<reg<Index>&&>(bytes), where), {});
    }
    template <unsigned A = (Align < sizeof(T) ? Align : sizeof(T)), class Index>
    [[nodiscard]] constexpr auto byte_offset(const reg<Index>& bytes, location where = location::current()) && {
        return moved_by<A>(operand<Index>(bytes, where), span_);
    }
    template <unsigned A = (Align < sizeof(T) ? Align : sizeof(T)), class Index>
    [[nodiscard]] constexpr auto byte_offset(reg<Index>&& bytes, location where = location::current()) && {
        return moved_by<A>(operand<Index>(static_cast<reg<Index>&&>(bytes), where), span_);
    }

    friend constexpr auto operator+(const ptr& p, constant_index i) { return p.moved(i.value, i, {}); }
    friend constexpr auto operator+(ptr&& p, constant_index i) { return p.moved(i.value, i, p.span_); }
    friend constexpr auto operator-(const ptr& p, constant_index i) { return p.moved(-i.value, i, {}); }
    friend constexpr auto operator-(ptr&& p, constant_index i) { return p.moved(-i.value, i, p.span_); }
    /// Refuses what is no index (A01).
    template <class Index>
        requires(!meta::is_same_v<Index, u32> && !meta::is_same_v<Index, s32> && !meta::is_same_v<Index, u64> &&
                 !meta::is_same_v<Index, s64>)
    friend constexpr auto operator+(const ptr& p, const reg<Index>&) noexcept {
        static_assert(detail::always_false<Index>, "PTXDSL-A01: an index is a u32, s32, u64 or s64 register");
        return p;
    }
    // One `mad` each; the operand type records the caller's line and whether the index is a nested call.
    friend constexpr auto operator+(const ptr& p, register_index<u32> i) { return p.indexed(i, ir::span{}); }
    friend constexpr auto operator+(const ptr& p, register_index<s32> i) { return p.indexed(i, ir::span{}); }
    friend constexpr auto operator+(const ptr& p, register_index<u64> i) { return p.indexed(i, ir::span{}); }
    friend constexpr auto operator+(const ptr& p, register_index<s64> i) { return p.indexed(i, ir::span{}); }
    friend constexpr auto operator+(ptr&& p, register_index<u32> i) { return p.indexed(i, p.span_); }
    friend constexpr auto operator+(ptr&& p, register_index<s32> i) { return p.indexed(i, p.span_); }
    friend constexpr auto operator+(ptr&& p, register_index<u64> i) { return p.indexed(i, p.span_); }
    friend constexpr auto operator+(ptr&& p, register_index<s64> i) { return p.indexed(i, p.span_); }

    /// Refuses what C++ pointers do and addresses of a kernel cannot (A04).
    template <class Index>
    constexpr auto operator[](const Index&) const {
        return refuse_access<Index>();
    }
    template <class U = T>
    constexpr auto operator*() const {
        return refuse_access<U>();
    }

    [[nodiscard]] static constexpr std::int32_t step() noexcept { return static_cast<std::int32_t>(sizeof(T)); }

private:
    template <class U>
    static constexpr auto refuse_access() noexcept {
        static_assert(detail::always_false<U>,
                      "PTXDSL-A04: memory has no value while the kernel is being written; k.ld(p + i) reads it, "
                      "k.st(p + i, x) writes it");
        return reg<scalar_type>();
    }
    /// In a `noexcept`, which g++ instantiates where the conversion stands.
    template <space From>
    [[nodiscard]] static constexpr auto refuse_space() noexcept {
        constexpr bool mapped = S == space::shared && From == space::shared_cluster;
        static_assert(
            !mapped,
            "PTXDSL-B07: a mapped address of another block is used where only the own block's shared memory is legal");
        static_assert(
            mapped,
            "PTXDSL-B01: pointer of one state space used as a pointer to another; k.cvta and k.cvta_to convert");
        return true;
    }
    template <class U>
    using like = meta::conditional_t<meta::is_const_v<T>, const U, U>;

    constexpr auto moved(std::int64_t elements, const constant_index& i, ir::span mine) const {
        constexpr unsigned a = Align < sizeof(T) ? Align : sizeof(T);
        if (prog_ == nullptr) return ptr<S, T, a>();
        const std::int64_t offset = offset_ + elements * step();
        if (i.huge || offset > 0x7fffffff || offset < -0x80000000LL)
            prog_->report(
                "B05", i.where,
                {"constant offset outside the 32 bits of an address operand; add it as a register: p + k.mov<px::u64>(n)"});
        return ptr<S, T, a>(*prog_, base_, static_cast<std::int32_t>(offset), mine).swizzled(swizzled_);
    }
    template <class Index>
    constexpr auto indexed(const operand<Index>& index, ir::span mine) const {
        static_assert(bits_of<Index> == 32 || !detail::is_narrow(S),
                      "PTXDSL-B05: a shared-memory index is 32 bits wide; convert it with k.cvt<px::u32>");
        constexpr unsigned a = Align < sizeof(T) ? Align : sizeof(T);
        constexpr bool wide = bits_of<Index> == 32 && !detail::is_narrow(S);
        constexpr isa::scalar type = scalar_of<Index>;
        if (prog_ == nullptr && index.prog == nullptr) return ptr<S, T, a>();  // A06 where it is used
        if (swizzled_ && sizeof(T) < 16) detail::warn_of_swizzle(*prog_, index.words[0], index.where);
        if (!detail::is_narrow(S) && index.prog != nullptr)
            detail::warn_of_cut(*index.prog, index.words[0], index.where);
        detail::raw_operand size;
        size.words[0] = ir::head(ir::operand_kind::small_int, static_cast<std::uint32_t>(step()));
        detail::raw_operand list[] = {{}, index, size, base_operand()};
        using F = detail::common_form<tok::mad, wide ? tok::wide : tok::lo, isa::type_token(type)>;
        return emitted<a>(detail::ref<F>(), list, 4, list[1], mine, index.where);
    }
    template <unsigned A, class Index>
    constexpr auto moved_by(const operand<Index>& bytes, ir::span mine) const {
        constexpr bool fits = detail::is_integral_class<Index> && bits_of<Index> == bits_of<address_type>;
        static_assert(
            fits,
            "PTXDSL-B05: a byte offset in a register is an integer as wide as the address, since one computed "
            "in 32 bits wraps at 4 GiB; index elements instead, p + i is one mad.wide, or compute it in 64");
        if (prog_ == nullptr && bytes.prog == nullptr) return ptr<S, T, A>();
        using F = detail::common_form<tok::add, isa::type_token(fits ? scalar_of<Index> : isa::scalar::u64)>;
        detail::raw_operand list[] = {{}, base_operand(), bytes};
        return emitted<A>(detail::ref<F>(), list, 3, list[2], mine, bytes.where);
    }
    [[nodiscard]] constexpr detail::raw_operand base_operand() const noexcept {
        detail::raw_operand o;
        o.prog = prog_;
        o.words[0] = base_;
        return o;
    }
    /// The instruction that adds `index`, one of `list`, to the address. The author wrote the address first, and PTX
    /// may have it last: the author's order is settled, then it is emitted.
    template <unsigned A>
    constexpr auto emitted(const detail::form_ref& f, detail::raw_operand* list, std::uint32_t n,
                           detail::raw_operand& index, ir::span mine, location where) const {
        ir::program& p = prog_ != nullptr ? *prog_ : *index.prog;
        const std::uint32_t dst = p.new_reg(scalar_of<address_type>);
        ir::span spans[] = {mine, index.fresh};
        ir::span all;
        if (!p.settle(spans, 2, all, where))
            p.report("K05", where,
                     {"pointer and index are both nested calls that emit several "
                      "instructions; give one a name first"});
        index.fresh = {};
        list[0] = detail::reg_operand(p, dst);
        detail::emit(p, f, 0, where, list, n);
        return ptr<S, T, A>(p, ir::head(ir::operand_kind::reg, dst), offset_, ir::span{all.begin, p.words.size()});
    }
    [[nodiscard]] static constexpr ir::span copied(const ir::program* p, ir::span s) noexcept {
        return s.end != 0 ? p->copied(s) : ir::span{};
    }
    /// Where in the stream a handle is made.
    [[nodiscard]] static constexpr std::uint32_t now(const ir::program* p) noexcept {
        return p != nullptr ? p->words.size() : 0;
    }
    ir::program* prog_ = nullptr;
    std::uint32_t base_ = ir::head(ir::operand_kind::reg, ir::no_register);
    std::int32_t offset_ = 0;
    std::uint32_t born_ = 0;
    bool swizzled_ = false;
    ir::span span_{};
};

template <class T, unsigned Align = alignof(T)>
using global_ptr = ptr<space::global, T, Align>;
template <class T, unsigned Align = alignof(T)>
using shared_ptr = ptr<space::shared, T, Align>;
template <class T, unsigned Align = alignof(T)>
using shared_cluster_ptr = ptr<space::shared_cluster, T, Align>;
template <class T, unsigned Align = alignof(T)>
using generic_ptr = ptr<space::generic, T, Align>;
template <class T, unsigned Align = alignof(T)>
using const_ptr = ptr<space::constant, const T, Align>;
template <class T, unsigned Align = alignof(T)>
using local_ptr = ptr<space::local, T, Align>;

namespace detail {
template <class>
struct pointer_traits {
    static constexpr bool is_ptr = false;
};
template <space S, class T, unsigned A>
struct pointer_traits<ptr<S, T, A>> {
    static constexpr bool is_ptr = true;
};
template <class A>
inline constexpr bool is_ptr_v = pointer_traits<meta::remove_cvref_t<A>>::is_ptr;

/// `[base+offset]` of a pointer; an unnamed pointer brings its span.
template <class P>
[[nodiscard]] constexpr auto address_operand(P&& p) noexcept {
    raw_operand o;
    o.prog = p.program();
    o.words[0] = ir::head(ir::operand_kind::address, 0);
    o.words[1] = p.base();
    o.words[2] = static_cast<std::uint32_t>(p.offset());
    o.count = 3;
    if constexpr (!meta::is_lvalue_reference_v<P>) o.fresh = p.expression();
    return o;
}
}  // namespace detail

/// `vec<T, N>`: the N registers of one vector instruction, in memory order.
template <class T, unsigned N>
class [[nodiscard]] vec {
public:
    using value_type = T;
    static constexpr unsigned size = N;
    constexpr vec() noexcept {
        for (std::uint32_t& word : ids_) word = ir::head(ir::operand_kind::reg, ir::no_register);
    }
    constexpr explicit vec(ir::program& p) noexcept : prog_(&p), born_(p.words.size()) {}
    constexpr vec(const vec& o) noexcept : prog_(o.prog_), born_(prog_ != nullptr ? prog_->words.size() : 0) {
        copy(o);
    }
    constexpr vec(vec&& o) noexcept : prog_(o.prog_), born_(o.born_), span_(o.span_) { copy(o); }
    /// Names the other registers from here on. Emits nothing; in the body of a branch or loop, B09.
    constexpr vec& operator=(const vec& o) {
        if (prog_ != nullptr) detail::note_rebinding(*prog_, born_, "a vector");
        prog_ = o.prog_, born_ = prog_ != nullptr ? prog_->words.size() : 0, span_ = {};
        copy(o);
        return *this;
    }
    constexpr ~vec() = default;
    /// `px::vec{a, b}`: a vector of these registers. Nested calls among them are emitted left to right.
    template <class... R>
        requires(sizeof...(R) == N) && ((meta::is_base_of_v<reg<T>, meta::remove_cvref_t<R>> ||
                                         meta::is_same_v<assigned<reg<T>>, meta::remove_cvref_t<R>>) &&
                                        ...)
    constexpr explicit vec(R&&... r) {
        unsigned i = 0;
        ((ids_[i++] = detail::list_word(prog_, r.program(), ir::head(ir::operand_kind::reg, r.id()))), ...);
        if (prog_ == nullptr) return;
        born_ = prog_->words.size();
        ir::span spans[] = {meta::is_lvalue_reference_v<R> || r.program() != prog_ ? ir::span{} : r.expression()...};
        ir::span all;
        if (!prog_->settle(spans, N, all))
            prog_->report("K05", prog_->locations.back(),
                          {"nested calls of a vector emit several instructions each; name the first one"});
        if (all.begin != all.end) span_ = all;
    }
    /// Element `i`, checked: a constant outside 0..N-1 is refused in constant evaluation.
    [[nodiscard]] constexpr reg<T> operator[](unsigned i) const {
        if (prog_ == nullptr) return reg<T>(nullptr, ir::lost_register, {});
        return reg<T>(*prog_, ir::payload_of(ids_[i < N ? i : throw_range()]));
    }
    constexpr void set_expression(ir::span s) noexcept { span_ = s; }
    constexpr void set(unsigned i, std::uint32_t id) noexcept { ids_[i] = ir::head(ir::operand_kind::reg, id); }
    [[nodiscard]] constexpr const std::uint32_t* words() const noexcept { return ids_; }
    [[nodiscard]] constexpr ir::program* program() const noexcept { return prog_; }
    [[nodiscard]] constexpr ir::span expression() const noexcept { return span_; }

private:
    constexpr void copy(const vec& o) noexcept {
        for (unsigned i = 0; i < N; ++i) ids_[i] = o.ids_[i];
    }
    [[nodiscard]] constexpr unsigned throw_range() const {
        prog_->report("A07", prog_->locations.back(), {"element index past the end of a vector of ", std::uint32_t{N}});
        return 0;
    }
    ir::program* prog_ = nullptr;
    std::uint32_t born_ = 0;
    std::uint32_t ids_[N] = {};
    ir::span span_{};
};
template <class First, class... Rest>
vec(First&&, Rest&&...) -> vec<typename meta::remove_cvref_t<First>::value_type, 1 + sizeof...(Rest)>;

template <std::size_t Index, class T, unsigned N>
[[nodiscard]] constexpr auto get(const vec<T, N>& v) {
    return v[Index];
}

namespace detail {
/// `{a, b, …}` of a vector; an unnamed vector brings its span.
template <class V>
[[nodiscard]] constexpr auto vector_operand(V&& v) noexcept {
    raw_operand o = vector_of(v.program(), v.words(), meta::remove_cvref_t<V>::size);
    if constexpr (!meta::is_lvalue_reference_v<V>) o.fresh = v.expression();
    return o;
}
}  // namespace detail

}  // namespace ptxdsl

// `auto [x, y] = k.ld(p)` for vectors. std::tuple_size and std::tuple_element come with <utility>, which costs as much
// as all other standard headers in use here together; libstdc++ lets them be declared without it.
#if defined(__GLIBCXX__)
namespace std {
_GLIBCXX_BEGIN_NAMESPACE_VERSION
template <class T>
struct tuple_size;
template <size_t Index, class T>
struct tuple_element;
_GLIBCXX_END_NAMESPACE_VERSION
}  // namespace std
#else
#include <utility>
#endif
template <class T, unsigned N>
struct std::tuple_size<ptxdsl::vec<T, N>> {
    static constexpr std::size_t value = N;
};
template <std::size_t Index, class T, unsigned N>
struct std::tuple_element<Index, ptxdsl::vec<T, N>> {
    using type = ptxdsl::reg<T>;
};
// `const auto [x, y] = …`: what <utility> says of every const type, where it is not there.
template <class T, unsigned N>
struct std::tuple_size<const ptxdsl::vec<T, N>> : std::tuple_size<ptxdsl::vec<T, N>> {};
template <std::size_t Index, class T, unsigned N>
struct std::tuple_element<Index, const ptxdsl::vec<T, N>> {
    using type = const ptxdsl::reg<T>;
};
