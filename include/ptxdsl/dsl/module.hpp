// SPDX-License-Identifier: Apache-2.0
// Modules: a whole PTX file, one line a call. Variables, device functions with their ABI, several kernels, directives
// and debug information, with the author's names and in the author's order. What `ptxdsl transpile` writes is built
// with it.
//
// Inside a function all typed calls of the builder are there. Registers the library names (`const auto x = k.add(a,
// b)`) may be mixed with declared ones (`k.registers<px::b32>("%r", 8)`); it declares its own behind the function's
// `{`.
#pragma once

#include <ptxdsl/detail/decimal.hpp>
#include <ptxdsl/dsl/builder.hpp>
#include <ptxdsl/dsl/declared.hpp>
#include <ptxdsl/dsl/module_instructions.hpp>
#include <ptxdsl/dsl/module_objects.hpp>
#include <ptxdsl/dsl/operands.hpp>

#include <concepts>
#include <type_traits>

namespace ptxdsl {

/// `.extern`, `.visible`, `.weak`, `.common` (PTX ISA 11.6).
enum class linkage : std::uint8_t { none, extern_, visible, weak, common };

/// What a declaration says besides space, type and name. Texts are PTX: `.extent = "[4][5]"`, `.init = "{1, 2}"`.
struct variable_options {
    ptxdsl::linkage linkage = ptxdsl::linkage::none;
    unsigned align = 0;          ///< `.align`
    unsigned lanes = 1;          ///< `.v2`, `.v4`
    string_view attribute = {};  ///< inside `.attribute(…)`
    string_view pointer = {};    ///< parameters: what follows `.ptr`, `" .global .align 16"`; `" "` for `.ptr` alone
    string_view extent = {};
    string_view init = {};
};

/// Where a line of inlined code comes from: `.loc 1 2 3, function_name L+4, inlined_at 1 7 5`.
struct inlined_location {
    string_view function;  ///< label, perhaps with `+n`
    unsigned file = 0, line = 0, column = 0;
};

/// A formal parameter in a register, `.reg .b32 _`, and one of `N` bytes, `.param .align 8 .b8 _[N]`, in a prototype.
/// Any other type `T` stands for `.param .T _`.
template <class T>
struct in_reg {};
template <unsigned N, unsigned Align>
struct param_bytes {};
/// The results or the parameters of a prototype.
template <class... T>
struct formals {
    static constexpr unsigned count = sizeof...(T);
    using list = detail::type_list_of<T...>;
};
/// A `.callprototype` by its name: what a function called by its address returns and takes.
template <class Results, class Parameters>
class call_prototype : public detail::label_id {
public:
    using label_id::label_id;
};
/// A `.calltargets` by its name: the functions of which one is called.
class call_target_list : public detail::label_id {
public:
    using label_id::label_id;
};

namespace detail {

/// Writes the text of one line into a program's pool.
class line_text {
public:
    constexpr explicit line_text(ir::program& p) noexcept : p_(p), begin_(p.pool.size()) {}

    constexpr line_text& put(string_view s) {
        for (char c : s) p_.pool.push_back(c);
        return *this;
    }
    constexpr line_text& put(std::uint64_t v) { return put(decimal(v).view()); }
    /// What is in the pool already, which may move.
    constexpr line_text& put(ir::name n) {
        for (std::uint32_t i = 0; i < n.length; ++i) {
            const char c = p_.pool[n.offset + i];
            p_.pool.push_back(c);
        }
        return *this;
    }
    constexpr line_text& put(ptxdsl::linkage l) {
        constexpr string_view names[] = {"", ".extern ", ".visible ", ".weak ", ".common "};
        return put(names[static_cast<unsigned>(l)]);
    }
    /// `.space .attribute(…) .align n .v4 .type name[…] = …`, as far as they are given.
    constexpr line_text& variable(string_view space, string_view type, string_view name, const variable_options& o) {
        put(o.linkage).put(".").put(space);
        if (!o.attribute.empty()) put(" .attribute(").put(o.attribute).put(")");
        if (o.align != 0) put(" .align ").put(std::uint64_t{o.align});
        if (o.lanes != 1) put(" .v").put(std::uint64_t{o.lanes});
        put(" .").put(type);
        if (!o.pointer.empty()) put(" .ptr").put(o.pointer);
        put(" ").put(name).put(o.extent);
        if (!o.init.empty()) put(" = ").put(o.init);
        return *this;
    }
    constexpr void end(ir::text_kind kind, location where) { p_.add_text(kind, name(), where); }
    [[nodiscard]] constexpr ir::name name() const noexcept { return {begin_, p_.pool.size() - begin_}; }

private:
    ir::program& p_;
    std::uint32_t begin_;
};

/// What one formal parameter of a prototype prints.
template <class T>
struct formal {
    static constexpr void put(line_text& t) { t.put(".param .").put(isa::name(scalar_of<T>)).put(" _"); }
};
template <class T>
struct formal<in_reg<T>> {
    static constexpr void put(line_text& t) { t.put(".reg .").put(isa::name(scalar_of<T>)).put(" _"); }
};
template <unsigned N, unsigned Align>
struct formal<param_bytes<N, Align>> {
    static constexpr void put(line_text& t) {
        t.put(".param .align ").put(std::uint64_t{Align}).put(" .b8 _[");
        if (N != 0) t.put(std::uint64_t{N});
        t.put("]");
    }
};
template <class... F>
constexpr void put_formals(line_text& t, type_list_of<F...>) {
    t.put("(");
    [[maybe_unused]] unsigned i = 0;
    ((t.put(i++ == 0 ? "" : ", "), formal<F>::put(t)), ...);
    t.put(")");
}

/// Elements of a list of a call; `px::sink` is an empty one.
template <class L>
inline constexpr unsigned list_size = 0;
template <class T, unsigned N>
inline constexpr unsigned list_size<element_list<T, N>> = N;

/// The space's word where a variable is declared.
[[nodiscard]] constexpr string_view declared_space(space s) noexcept { return isa::name(s); }

/// A number whose bits a register of untyped bits takes.
template <class T, class V>
inline constexpr bool is_number_for_bits =
    std::is_floating_point_v<V> && class_of<T> == isa::type_class::bits && bits_of<T> == 8 * sizeof(V);

}  // namespace detail

/// The body of a function of a module: the builder, and what only modules spell out.
template <target Tgt>
class module_body : public builder<Tgt>,
                    public detail::module_objects<Tgt, module_body<Tgt>>,
                    public detail::module_instructions<Tgt, module_body<Tgt>> {
    using objects = detail::module_objects<Tgt, module_body<Tgt>>;
    using spelled = detail::module_instructions<Tgt, module_body<Tgt>>;

public:
    constexpr explicit module_body(ir::program& p, std::uint32_t guard = 0) noexcept
        : builder<Tgt>(p, guard), wgmma(p, guard), tcgen05(p, guard) {}

    /// As the builder's, and with operands that are registers already.
    detail::module_wgmma_calls<Tgt> wgmma;
    detail::module_tcgen05_calls<Tgt> tcgen05;
    // One name, objects of the builder's and those a register or variable names.
    using builder<Tgt>::mbarrier_init, objects::mbarrier_init;
    using builder<Tgt>::mbarrier_inval, objects::mbarrier_inval;
    using builder<Tgt>::mbarrier_arrive, objects::mbarrier_arrive;
    using builder<Tgt>::mbarrier_arrive_expect_tx, objects::mbarrier_arrive_expect_tx;
    using builder<Tgt>::mbarrier_arrive_expect_tx_state, objects::mbarrier_arrive_expect_tx_state;
    using builder<Tgt>::mbarrier_try_wait_parity, objects::mbarrier_try_wait_parity;
    using builder<Tgt>::mbarrier_test_wait_parity, objects::mbarrier_test_wait_parity;
    using builder<Tgt>::mbarrier_try_wait, objects::mbarrier_try_wait;
    using builder<Tgt>::mbarrier_test_wait, objects::mbarrier_test_wait;
    using builder<Tgt>::cp_async_bulk_tensor, objects::cp_async_bulk_tensor;
    using builder<Tgt>::bar_sync, spelled::bar_sync;
    using builder<Tgt>::bar_arrive, spelled::bar_arrive;
    using builder<Tgt>::mapa, spelled::mapa;
    using builder<Tgt>::prefetch_tensormap, spelled::prefetch_tensormap;
    using builder<Tgt>::mma_sync, spelled::mma_sync;

    /// As `builder::at`.
    template <class P>
    [[nodiscard]] constexpr module_body at(P&& p, location where = location::current()) const {
        const auto guarded = builder<Tgt>::at(static_cast<P&&>(p), where).context();
        return module_body(guarded.p, guarded.guard);
    }

    /// `.reg .T name<n>;`
    template <class T>
    constexpr register_array<T> registers(string_view name, std::uint32_t n,
                                          location where = location::current()) const {
        statement()
            .put(".reg .")
            .put(isa::name(scalar_of<T>))
            .put(" ")
            .put(name)
            .put("<")
            .put(std::uint64_t{n})
            .put(">;")
            .end(ir::text_kind::statement, where);
        return {p(), p().new_named_regs(name, scalar_of<T>, n), n};
    }
    /// `.reg .T name;`
    template <class T>
    constexpr declared_reg<T> named_reg(string_view name, location where = location::current()) const {
        statement()
            .put(".reg .")
            .put(isa::name(scalar_of<T>))
            .put(" ")
            .put(name)
            .put(";")
            .end(ir::text_kind::statement, where);
        return {p(), p().new_named_regs(name, scalar_of<T>, 0)};
    }
    /// `.space .T name;` inside a function: shared and local memory, `.param` of a call, constants.
    template <class T>
    constexpr ptxdsl::symbol variable(space s, string_view name, const variable_options& o = {},
                                      location where = location::current()) const {
        statement()
            .variable(detail::declared_space(s), isa::name(scalar_of<T>), name, o)
            .put(";")
            .end(ir::text_kind::statement, where);
        return symbol(name);
    }
    /// A variable, function or parameter by its name. Emits nothing.
    [[nodiscard]] constexpr ptxdsl::symbol symbol(string_view name) const { return {p(), p().new_symbol(name)}; }
    /// A label printed as `name`, for `k.place` and `k.bra`. Emits nothing.
    [[nodiscard]] constexpr ptxdsl::label named_label(string_view name, location where = location::current()) const {
        return ptxdsl::label(p(), p().new_named_label(name, where));
    }
    /// A table of labels printed as `name`, for `k.place` and `k.brx_idx`. Emits nothing.
    [[nodiscard]] constexpr branch_table named_table(string_view name, location where = location::current()) const {
        return branch_table(p(), p().new_named_label(name, where));
    }
    /// A prototype printed as `name`, for `k.place` and `k.call_function`:
    /// `k.named_prototype<px::formals<px::b32>, px::formals<px::b64, px::in_reg<px::f32>>>("p")`. Emits nothing.
    template <class Results, class Parameters>
    [[nodiscard]] constexpr auto named_prototype(string_view name, location where = location::current()) const {
        return call_prototype<Results, Parameters>(p(), p().new_named_label(name, where));
    }
    /// A list of functions printed as `name`, for `k.place` and `k.call_function`. Emits nothing.
    [[nodiscard]] constexpr call_target_list named_targets(string_view name,
                                                           location where = location::current()) const {
        return call_target_list(p(), p().new_named_label(name, where));
    }
    using builder<Tgt>::place;
    /// Emits `name:`, and behind it `.callprototype (results) _ (parameters);`
    template <class... R, class... A>
    constexpr void place(const call_prototype<formals<R...>, formals<A...>>& prototype,
                         location where = location::current()) const {
        // On one line: with debug information the cubin depends on lines.
        ir::label_info& label = p().labels[prototype.id()];
        ++label.placed;
        auto text = statement();
        text.put(label.id).put(": .callprototype ");
        if (sizeof...(R) != 0) detail::put_formals(text, detail::type_list_of<R...>()), text.put(" ");
        text.put("_ ");
        detail::put_formals(text, detail::type_list_of<A...>());
        text.put(";").end(ir::text_kind::statement, where);
    }
    /// Emits `name: .branchtargets a, b;` — `k.place(table, {a, b})`, in front of the `brx.idx` that names it.
    template <std::uint32_t N>
    constexpr void place(const branch_table& table, const label (&targets)[N],
                         location where = location::current()) const {
        std::uint32_t ids[N] = {};
        for (std::uint32_t i = 0; i < N; ++i) ids[i] = targets[i].id(), ++p().labels[ids[i]].used;
        p().place_table(ir::label_kind::branch_targets, table.id(), where, ids, N);
    }
    /// Emits `name: .calltargets f, g;` — `k.place(targets, {f, g})`.
    template <std::uint32_t N>
    constexpr void place(const call_target_list& targets, const ptxdsl::symbol (&functions)[N],
                         location where = location::current()) const {
        std::uint32_t ids[N] = {};
        for (std::uint32_t i = 0; i < N; ++i) ids[i] = ir::payload_of(functions[i].word());
        p().place_table(ir::label_kind::call_targets, targets.id(), where, ids, N);
    }
    /// Emits a directive or declaration by its text, unchecked: `k.directive(".pragma \"nounroll\";")`.
    constexpr void directive(string_view line, location where = location::current()) const {
        statement().put(line).end(ir::text_kind::statement, where);
    }
    /// `.loc file line column` (PTX ISA 11.5.3).
    constexpr void loc(unsigned file, unsigned line, unsigned column, location where = location::current()) const {
        place_of(file, line, column).end(ir::text_kind::statement, where);
    }
    /// `.loc file line column, function_name f, inlined_at file line column`
    constexpr void loc(unsigned file, unsigned line, unsigned column, const inlined_location& from,
                       location where = location::current()) const {
        auto text = place_of(file, line, column);
        text.put(", function_name ").put(from.function).put(", inlined_at ").put(std::uint64_t{from.file}).put(" ");
        text.put(std::uint64_t{from.line})
            .put(" ")
            .put(std::uint64_t{from.column})
            .end(ir::text_kind::statement, where);
    }
    /// `.pragma "text";` (PTX ISA 11.4.9).
    constexpr void pragma(string_view text, location where = location::current()) const {
        statement().put(".pragma \"").put(text).put("\";").end(ir::text_kind::statement, where);
    }
    /// `mov.T d, name;` the address of a variable or function in its own space.
    template <class T>
    constexpr reg<T> move(const ptxdsl::symbol& s, location where = location::current()) const {
        using F = detail::form<Tgt, tok::mov, isa::type_token(scalar_of<T>)>;
        return detail::checked<F, T>(this->context(), where, s.raw(this->context()));
    }
    /// `mov.b32 d, 0f3F800000;` the bits of a number: `k.move<px::b32>(1.0f)`.
    template <class T, class V>
        requires(detail::is_number_for_bits<T, V>)
    constexpr reg<T> move(V v, location where = location::current()) const {
        using N = std::conditional_t<std::is_same_v<V, float>, f32, f64>;
        using F = detail::form<Tgt, tok::mov, isa::type_token(scalar_of<T>)>;
        return detail::checked<F, T>(this->context(), where, operand<N>(v, where));
    }
    /// `mov.T d, a;` with the type word as it is written: ptxas may make another cubin of `mov.u32` than of `mov.b32`.
    template <class T, class A>
        requires(!std::is_same_v<std::remove_cvref_t<A>, ptxdsl::symbol> &&
                 !detail::is_number_for_bits<T, std::remove_cvref_t<A>>)
    constexpr reg<T> move(A&& a, location where = location::current()) const {
        using F = detail::form<Tgt, tok::mov, isa::type_token(scalar_of<T>)>;
        return detail::checked<F, T>(this->context(), where, detail::as_operand<T>(static_cast<A&&>(a), where));
    }
    /// `{a, _, 4}`: registers, numbers and sinks of one vector; `T` is the type of its first register.
    template <class T = void, class... E>
    [[nodiscard]] constexpr auto list(const E&... e) const {
        element_list<detail::list_type<T, E...>, sizeof...(E)> l;
        l.belongs_to(&p());
        [[maybe_unused]] unsigned i = 0;
        (l.set(i++, detail::element_word(p(), e)), ...);
        return l;
    }
    /// `{name<first>, …}`: `N` consecutive registers of an array, downwards with a step of -1.
    template <unsigned N, class T, std::integral Index>
    [[nodiscard]] constexpr auto list_of(const register_array<T>& r, Index first, int step = 1) const {
        element_list<T, N> l;
        l.belongs_to(&p());
        for (unsigned i = 0; i < N; ++i)
            l.set(i,
                  detail::reg_word(r[static_cast<std::uint32_t>(first) + i * static_cast<std::uint32_t>(step)].id()));
        return l;
    }
    /// `[base, {x, y}]`: a place of a tensor. `base` is a register or symbol.
    template <class B, class... C>
    [[nodiscard]] constexpr auto tensor(const B& base, const C&... coordinates) const {
        tensor_operand<sizeof...(C)> o(&p());
        o.set(0, detail::element_word(p(), base));
        unsigned i = 1;
        (o.set(i++, detail::element_word(p(), coordinates)), ...);
        return o;
    }
    /// `call{.M} (results), callee, (arguments), prototype;` — lists are `k.list(…)`, `px::sink` leaves one out. PTX
    /// ISA 9.7.12.5.
    template <tok... M, class R, class F, class A, class P = detail::absent>
    constexpr auto call_function(const R& results, const F& callee, const A& arguments, const P& prototype = {},
                                 location where = location::current()) const {
        check_prototype(prototype, lists<R, A>());
        detail::raw_operand operands[4];
        std::uint32_t n = 0;
        (add_operand(operands, n, results), add_operand(operands, n, callee), add_operand(operands, n, arguments),
         add_operand(operands, n, prototype));
        detail::emit(p(), detail::ref<detail::form<Tgt, tok::call, M...>>(), this->context().guard, where, operands, n);
    }
    /// Emits `again: …; @p bra done; bra again; done:`: a wait of one instruction, whose predicate the body returns.
    /// With `px::tok::uni` the branches are `bra.uni`: the threads of a warp agree.
    template <tok... M, class Body>
    constexpr void spin_until(Body&& body, location where = location::current()) const {
        if constexpr (sizeof...(M) == 0) {
            this->loop([&](loop_handle l) { l.break_if(static_cast<Body&&>(body)(), where); }, where);
        } else {
            static_assert(sizeof...(M) == 1 && ((M == tok::uni) && ...),
                          "PTXDSL-A15: a branch has the modifier .uni only");
            const ptxdsl::label again = this->new_label("loop", where), done = this->new_label("done", where);
            this->place(again, where);
            branch_uniformly(at(static_cast<Body&&>(body)()), done, where);
            branch_uniformly(*this, again, where);
            this->place(done, where);
        }
    }
    /// `cvta.to.space.u64 d, a;` of an address in a register. PTX ISA 9.7.9.20.
    template <space S, class P>
        requires(detail::traits<std::remove_cvref_t<P>>::is_reg)
    constexpr reg<u64> cvta_to(P&& a, location where = location::current()) const {
        return convert_address<tok::to, S>(a, where);
    }
    /// `cvta.space.u64 d, a;`
    template <space S, class P>
        requires(detail::traits<std::remove_cvref_t<P>>::is_reg)
    constexpr reg<u64> cvta(P&& a, location where = location::current()) const {
        return convert_address<tok::none, S>(a, where);
    }
    /// `selp.T d, a, b, p;` of two numbers.
    template <class T, class A, class B, class P>
        requires(std::is_arithmetic_v<A> && std::is_arithmetic_v<B>)
    constexpr reg<T> select(A a, B b, P&& p, location where = location::current()) const {
        using F = detail::form<Tgt, tok::selp, isa::type_token(scalar_of<T>)>;
        return detail::checked<F, T>(this->context(), where, detail::as_operand<T>(a, where),
                                     detail::as_operand<T>(b, where), detail::pred_operand(static_cast<P&&>(p), where));
    }
    using builder<Tgt>::cvta, builder<Tgt>::cvta_to;
    /// What is written next stands on line `n` of the text. `ptxas` names shared variables after their line.
    template <std::integral Line>
    constexpr void at_line(Line n) const {
        p().go_to_line(static_cast<std::uint32_t>(n));
    }

private:
    static constexpr void branch_uniformly(const module_body& k, const ptxdsl::label& to, location where) {
        detail::raw_operand o;
        o.words[0] = ir::head(ir::operand_kind::label, to.id());
        ++k.p().labels[to.id()].used;
        detail::effect<detail::form<Tgt, tok::bra, tok::uni>>(k.context(), where, o);
    }
    template <tok To, space S, class T>
    constexpr reg<u64> convert_address(const reg<T>& a, location where) const {
        static_assert(bits_of<T> == 64, "PTXDSL-B01: cvta.u64 takes an address in a 64-bit register");
        using F = detail::compact_form<Tgt, tok::cvta, To, detail::space_token(S), tok::u64>;
        detail::require<F, rule::b01>();
        return detail::value<F, u64>(this->context(), where, operand<T>(a, where));
    }
    [[nodiscard]] constexpr ir::program& p() const noexcept { return this->program(); }
    [[nodiscard]] constexpr detail::line_text statement() const noexcept { return detail::line_text(p()); }
    [[nodiscard]] constexpr detail::line_text place_of(unsigned file, unsigned line, unsigned column) const {
        detail::line_text t(p());
        t.put(".loc ").put(std::uint64_t{file}).put(" ").put(std::uint64_t{line}).put(" ").put(std::uint64_t{column});
        return t;
    }
    template <class R, class A>
    using lists = detail::type_list_of<R, A>;
    /// A prototype says how many results and arguments there are.
    template <class P, class R, class A>
    static constexpr auto check_prototype(const P&, lists<R, A>) noexcept {}
    template <class... FR, class... FA, class R, class A>
    static constexpr auto check_prototype(const call_prototype<formals<FR...>, formals<FA...>>&, lists<R, A>) noexcept {
        static_assert(detail::list_size<R> == sizeof...(FR),
                      "PTXDSL-A01: another number of results than the call's prototype has");
        static_assert(detail::list_size<A> == sizeof...(FA),
                      "PTXDSL-A01: another number of arguments than the call's prototype has");
    }
    template <class O>
    constexpr void add_operand(detail::raw_operand* operands, std::uint32_t& n, const O& o) const {
        if constexpr (detail::traits<O>::is_reg)
            operands[n++] = detail::reg_operand(p(), o.id());
        else if constexpr (std::is_base_of_v<detail::label_id, O>)
            operands[n++].words[0] = ir::head(ir::operand_kind::label, o.id());
        else if constexpr (detail::described_operand<O>)
            operands[n++] = o.raw(this->context());
        else
            static_assert(std::is_same_v<O, sink_t> || detail::is_absent<O>,
                          "PTXDSL-A14: a call takes lists, a callee and a prototype");
    }
};

/// A PTX scope, `{` … `}`: ends with the C++ block it is declared in.
template <target Tgt>
class scope {
public:
    constexpr explicit scope(const module_body<Tgt>& k) : p_(k.program()) {
        p_.add_text(ir::text_kind::statement, p_.intern("{"), location());
    }
    scope(const scope&) = delete;
    scope& operator=(const scope&) = delete;
    constexpr ~scope() { p_.add_text(ir::text_kind::statement, p_.intern("}"), location()); }

private:
    ir::program& p_;
};

namespace detail {

/// The names that a module defines: each of them once (K01). Declarations may come before, and more than once.
class module_names {
public:
    constexpr void define(ir::program& p, string_view name, location where) {
        for (const ir::name& n : defined_)
            if (p.text(n) == name) {
                p.report("K01", where,
                         {"'", name,
                          "' is defined twice in this module; a kernel, function or variable has a name of its own"});
                return;
            }
        defined_.push_back(p.intern(name));
    }

private:
    dynarray<ir::name> defined_;
};

}  // namespace detail

/// A kernel or device function under declaration: results, parameters and directives, then `begin` or `declare`.
template <target Tgt>
class module_function {
public:
    constexpr module_function(ir::program& p, detail::module_names& names, string_view keyword, string_view name,
                              linkage l, string_view attribute, location where) noexcept
        : p_(p), names_(names), keyword_(keyword), name_(name), attribute_(attribute), linkage_(l), where_(where) {}

    /// `.param .T name` of the function.
    template <class T>
    constexpr symbol param(string_view name, const variable_options& o = {}) {
        add("param", isa::name(scalar_of<T>), name, o);
        return {p_, p_.new_symbol(name)};
    }
    /// `.reg .T name`: a parameter in a register.
    template <class T>
    constexpr declared_reg<T> reg_param(string_view name, const variable_options& o = {}) {
        add("reg", isa::name(scalar_of<T>), name, o);
        return {p_, p_.new_named_regs(name, scalar_of<T>, 0)};
    }
    /// A parameter by its text, unchecked: `.param .texref t`.
    constexpr symbol param_text(string_view text, string_view name) {
        head();
        detail::line_text(p_).put(text).end(ir::text_kind::parameter, location());
        return {p_, p_.new_symbol(name)};
    }
    /// The result as `.param .T name`. Before the parameters.
    template <class T>
    constexpr symbol result(string_view name, const variable_options& o = {}) {
        result_ = detail::line_text(p_).put("(").variable("param", isa::name(scalar_of<T>), name, o).put(") ").name();
        return {p_, p_.new_symbol(name)};
    }
    /// The result as `.reg .T name`.
    template <class T>
    constexpr declared_reg<T> reg_result(string_view name, const variable_options& o = {}) {
        result_ = detail::line_text(p_).put("(").variable("reg", isa::name(scalar_of<T>), name, o).put(") ").name();
        return {p_, p_.new_named_regs(name, scalar_of<T>, 0)};
    }
    /// The result list by its text, unchecked.
    constexpr void result_text(string_view text) { result_ = detail::line_text(p_).put(text).put(" ").name(); }

    /// `.maxntid x, y, z` and its like (PTX ISA 11.4, 11.7): `f.tuning(".reqntid", 128)`.
    template <class... N>
    constexpr void tuning(string_view directive, N... numbers) {
        end_head();
        detail::line_text t(p_);
        t.put(directive);
        [[maybe_unused]] unsigned i = 0;
        (t.put(i++ == 0 ? " " : ", ").put(static_cast<std::uint64_t>(numbers)), ...);
        t.end(ir::text_kind::directive, location());
    }
    constexpr void maxntid(unsigned x, unsigned y = 1, unsigned z = 1) { tuning(".maxntid", x, y, z); }
    constexpr void reqntid(unsigned x, unsigned y = 1, unsigned z = 1) { tuning(".reqntid", x, y, z); }
    constexpr void minnctapersm(unsigned n) { tuning(".minnctapersm", n); }
    constexpr void maxnreg(unsigned n) { tuning(".maxnreg", n); }
    constexpr void explicitcluster() { tuning(".explicitcluster"); }
    constexpr void reqnctapercluster(unsigned x, unsigned y = 1, unsigned z = 1) {
        tuning(".reqnctapercluster", x, y, z);
    }
    constexpr void maxclusterrank(unsigned n) { tuning(".maxclusterrank", n); }
    constexpr void noreturn() { tuning(".noreturn"); }
    constexpr void pragma(string_view text) {
        end_head();
        detail::line_text(p_).put(".pragma \"").put(text).put("\";").end(ir::text_kind::directive, location());
    }

    /// `{`
    [[nodiscard]] constexpr module_body<Tgt> begin(location where = location::current()) {
        names_.define(p_, name_, where_);
        end_head();
        detail::line_text(p_).put("{").end(ir::text_kind::function_begin, where);
        return module_body<Tgt>(p_);
    }
    /// `}`
    constexpr void end(location where = location::current()) {
        detail::line_text(p_).put("}").end(ir::text_kind::function_end, where);
    }
    /// `;`: the function is defined elsewhere.
    constexpr void declare(location where = location::current()) {
        end_head();
        detail::line_text(p_).put(";").end(ir::text_kind::directive, where);
    }
    /// Writes the line with the name now; otherwise the first parameter or directive does.
    constexpr void head(bool has_parameters = true) {
        if (state_ == state::nothing) put_head(has_parameters ? "(" : "()");
        if (state_ == state::nothing) state_ = has_parameters ? state::parameters : state::ended;
    }

private:
    enum class state : std::uint8_t { nothing, parameters, ended };

    constexpr void add(string_view space, string_view type, string_view name, const variable_options& o) {
        head();
        detail::line_text(p_).variable(space, type, name, o).end(ir::text_kind::parameter, location());
    }
    constexpr void end_head() {
        if (state_ == state::nothing) put_head("()");
        state_ = state::ended;
    }
    constexpr void put_head(string_view tail) {
        detail::line_text t(p_);
        t.put(linkage_).put(keyword_);
        if (!attribute_.empty()) t.put(".attribute(").put(attribute_).put(") ");
        for (std::uint32_t i = 0; i < result_.length; ++i) {
            const char c = p_.pool[result_.offset + i];
            p_.pool.push_back(c);
        }
        t.put(name_).put(tail).end(ir::text_kind::directive, location());
    }

    ir::program& p_;
    detail::module_names& names_;
    string_view keyword_, name_, attribute_;
    ir::name result_{};
    linkage linkage_;
    location where_;
    state state_ = state::nothing;
};

/// Writes a module for target `Tgt`. One line a call, in the order of the calls.
template <target Tgt>
class module_builder {
public:
    static constexpr ptxdsl::target the_target = Tgt;

    constexpr explicit module_builder(ir::program& p) noexcept : p_(p) {
        p.is_module = true;
        p.target = Tgt;
    }

    /// `.version major.minor`
    constexpr void version(unsigned major, unsigned minor) {
        line()
            .put(".version ")
            .put(std::uint64_t{major})
            .put(".")
            .put(std::uint64_t{minor})
            .end(ir::text_kind::directive, location());
    }
    /// `.target sm_90a` with the other words of the directive: `m.target("sm_90a, debug")`.
    constexpr void target(string_view words) {
        line().put(".target ").put(words).end(ir::text_kind::directive, location());
    }
    /// `.address_size 64`
    constexpr void address_size(unsigned bits) {
        line().put(".address_size ").put(std::uint64_t{bits}).end(ir::text_kind::directive, location());
    }

    /// `.space .T name = init;`
    template <class T>
    constexpr void variable(space s, string_view name, const variable_options& o = {},
                            location where = location::current()) {
        if (o.linkage != linkage::extern_) names_.define(p_, name, where);
        line()
            .variable(detail::declared_space(s), isa::name(scalar_of<T>), name, o)
            .put(";")
            .end(ir::text_kind::directive, location());
    }
    /// A kernel: parameters and directives follow, then `begin` … `end`. A module defines a name once (K01); it may be
    /// declared before.
    [[nodiscard]] constexpr module_function<Tgt> entry(string_view name, linkage l = linkage::none,
                                                       string_view attribute = {},
                                                       location where = location::current()) {
        return {p_, names_, ".entry ", name, l, attribute, where};
    }
    /// A device function. Its name as that of an `entry`.
    [[nodiscard]] constexpr module_function<Tgt> func(string_view name, linkage l = linkage::none,
                                                      string_view attribute = {},
                                                      location where = location::current()) {
        return {p_, names_, ".func ", name, l, attribute, where};
    }
    /// `.file number "name"` (PTX ISA 11.5.2).
    constexpr void file(unsigned number, string_view name) {
        line()
            .put(".file ")
            .put(std::uint64_t{number})
            .put(" \"")
            .put(name)
            .put("\"")
            .end(ir::text_kind::directive, location());
    }
    /// `.alias a, b;`
    constexpr void alias(string_view name, string_view target) {
        line().put(".alias ").put(name).put(", ").put(target).put(";").end(ir::text_kind::directive, location());
    }
    /// A line by its text, unchecked: rarer directives, lines of debug sections.
    constexpr void directive(string_view text) { line().put(text).end(ir::text_kind::directive, location()); }
    /// What is written next stands on line `n` of the text.
    template <std::integral Line>
    constexpr void at_line(Line n) {
        p_.go_to_line(static_cast<std::uint32_t>(n));
    }

    [[nodiscard]] constexpr ir::program& program() const noexcept { return p_; }

private:
    [[nodiscard]] constexpr detail::line_text line() const noexcept { return detail::line_text(p_); }
    ir::program& p_;
    detail::module_names names_;
};

}  // namespace ptxdsl
