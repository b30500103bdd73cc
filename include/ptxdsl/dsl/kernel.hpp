// SPDX-License-Identifier: Apache-2.0
// A kernel: a constexpr callable over a builder and typed parameters, a name, attributes and constants.
#pragma once

#include <ptxdsl/detail/fixed_string.hpp>
#include <ptxdsl/detail/meta.hpp>
#include <ptxdsl/dsl/builder.hpp>
#include <ptxdsl/dsl/param.hpp>

namespace ptxdsl {

namespace detail {

/// Concatenates the signatures of those `P` that are parameters.
template <class List, class... P>
struct signature_of;
template <class... Done>
struct signature_of<param_list<Done...>> {
    using type = param_list<Done...>;
};
template <class... Done, class P, class... Rest>
struct signature_of<param_list<Done...>, P, Rest...> {
    template <bool Is, class Dummy = void>
    struct step {
        using type = typename signature_of<param_list<Done...>, Rest...>::type;
    };
    template <class Dummy>
    struct step<true, Dummy> {
        using type =
            typename signature_of<param_list<Done..., typename param_traits<meta::remove_cvref_t<P>>::signature>,
                                  Rest...>::type;
    };
    using type = typename step<is_param_v<P>>::type;
};

template <class...>
struct type_pack {};

template <class F>
concept one_call_operator = requires { &F::operator(); };

/// What is no kernel body: a function that takes its builder by value, a generic lambda. Refused where it is used,
/// since clang would print a note more from here.
template <class F>
struct body_traits {
    static constexpr target the_target = sm_90a;
    static constexpr bool returns = false;
    using params = param_list<>;
    template <class... A>
    static constexpr void run(const A&...) noexcept {}
};
template <one_call_operator F>
struct body_traits<F> : body_traits<decltype(&F::operator())> {};
template <class R, class B, class... P>
struct body_traits<R(B&, P...)> : body_traits<R (*)(B&, P...)> {};
template <class R, class B, class... P>
struct body_traits<R(B&, P...) noexcept> : body_traits<R (*)(B&, P...)> {};
template <class R, target Tgt, template <target> class... Families, class... P>
struct body_traits<R (*)(builder<Tgt, Families...>&, P...)> {
    static constexpr target the_target = Tgt;
    static constexpr bool returns = !meta::is_void_v<R>;  ///< no body either; to run it tells a line of it
    using params = typename signature_of<param_list<>, P...>::type;
    static constexpr std::size_t constants = (std::size_t{0} + ... + (is_param_v<P> ? 0u : 1u));

    /// Runs `body` on a program whose header is set, with the constants `c` in front of the parameters.
    template <class Body, class... C>
    static constexpr void run(const Body& body, ir::program& p, const C&... c) {
        static_assert(
            sizeof...(C) == constants,
            "PTXDSL-J07: the kernel body takes another number of constants than the kernel is given; what is no px::reg, px "
            "pointer or tensor map is a constant (T* is none of them: px::global_ptr<T>)");
        if constexpr (sizeof...(C) == constants) {
            builder<Tgt, Families...> k(p);
            skip<sizeof...(C)>(type_pack<P...>(), body, k, c...);
        }
    }

private:
    template <class Body, class... A>
    static constexpr void call(const Body& body, builder<Tgt, Families...>& k, const A&... args) {
        if constexpr (returns) {
            ir::program& p = k.program();
            const std::uint32_t first = p.locations.size();
            static_cast<void>(body(k, args...));
            p.report("J07", first < p.locations.size() ? p.locations[first] : location(),
                     {"the kernel body that begins here returns a value; its type is void, and what it computes goes "
                      "to memory"});
        } else {
            body(k, args...);
        }
    }
    template <std::size_t N, class First, class... Rest, class Body, class... A>
    static constexpr void skip(type_pack<First, Rest...> all, const Body& body, builder<Tgt, Families...>& k,
                               const A&... args) {
        if constexpr (N == 0)
            bind(all, body, k, args...);
        else
            skip<N - 1>(type_pack<Rest...>(), body, k, args...);
    }
    template <std::size_t N, class Body, class... A>
    static constexpr void skip(type_pack<>, const Body& body, builder<Tgt, Families...>& k, const A&... args) {
        call(body, k, args...);
    }
    template <class First, class... Rest, class Body, class... A>
    static constexpr void bind(type_pack<First, Rest...>, const Body& body, builder<Tgt, Families...>& k,
                               const A&... args) {
        using Q = meta::remove_cvref_t<First>;
        static_assert(is_param_v<Q>, "PTXDSL-J07: constants come before the parameters in a kernel body's signature");
        const std::uint32_t symbol = declare_param(k.program(), param_traits<Q>::describe());
        const Q handle = param_loader<Q>::load(k, symbol);
        bind(type_pack<Rest...>(), body, k, args..., handle);
    }
    template <class Body, class... A>
    static constexpr void bind(type_pack<>, const Body& body, builder<Tgt, Families...>& k, const A&... args) {
        call(body, k, args...);
    }
};
template <class R, class B, class... P>
struct body_traits<R (*)(B&, P...) noexcept> : body_traits<R (*)(B&, P...)> {};
template <class R, class L, class B, class... P>
struct body_traits<R (L::*)(B&, P...) const> : body_traits<R (*)(B&, P...)> {};
template <class R, class L, class B, class... P>
struct body_traits<R (L::*)(B&, P...) const noexcept> : body_traits<R (*)(B&, P...)> {};

template <class F>
concept kernel_body = requires { body_traits<F>::constants; };

/// All records of the program, in the order of the text but for the kernel, which comes first.
template <class Program, class F>
constexpr void each_record(Program& p, const F& f) {
    const auto walk = [&](dynarray<std::uint32_t>& words, std::uint32_t at, std::uint32_t end) {
        for (; at < end; at += ir::cursor{&words[at]}.size()) f(&words[at]);
    };
    walk(p.words, 0, p.words.size());
    for (std::uint32_t i = 0; i < p.functions.size(); ++i)
        walk(p.function_words, p.functions[i].begin, p.functions[i].end);
}
/// Adds the function of this name to those that have been found, unless it is there.
template <class Program>
constexpr void take_function(Program& p, ir::name id, dynarray<ir::function>& found) {
    for (const ir::function& f : found)
        if (f.id.offset == id.offset) return;
    for (const ir::function& f : p.functions)
        if (f.id.offset == id.offset) return found.push_back(f);
}
/// Brings the functions into the order in which the text first names them: C++ leaves open in which it evaluates the
/// arguments that declare them.
template <class Program>
constexpr void order_functions(Program& p) {
    const std::uint32_t n = p.functions.size();
    if (n < 2) return;
    dynarray<ir::function> found(n);
    const auto scan = [&](const std::uint32_t* w, const std::uint32_t* end) {
        for (; w < end; w += ir::cursor{w}.size()) {
            const ir::cursor c{w};
            if (c.kind() == ir::record::label && c.code() == static_cast<std::uint32_t>(ir::label_kind::call_targets))
                for (std::uint32_t i = 1; i < c.size() - 2; ++i) take_function(p, p.symbols[c.payload(i)], found);
            if (!c.is_instruction()) continue;
            const std::uint32_t* o = c.first_operand();
            for (std::uint32_t i = 0; i < c.operands(); ++i, o += ir::operand_words(o[0]))
                if (ir::kind_of(o[0]) == ir::operand_kind::symbol)
                    take_function(p, p.symbols[ir::payload_of(o[0])], found);
        }
    };
    scan(p.words.data(), p.words.data() + p.words.size());
    for (std::uint32_t i = 0; i < found.size(); ++i)  // NOLINT(modernize-loop-convert): scanning makes it longer
        scan(p.function_words.data() + found[i].begin, p.function_words.data() + found[i].end);
    for (std::uint32_t i = 0; i < n && found.size() < n; ++i) take_function(p, p.functions[i].id, found);
    for (std::uint32_t i = 0; i < n; ++i) p.functions[i] = found[i];
}

/// Writes the device functions the kernel calls, and those they call, into words of their own.
template <class Program>
constexpr void write_functions(Program& p) {
    if (p.function_writers.empty()) return;
    dynarray<std::uint32_t> kernel_words = static_cast<dynarray<std::uint32_t>&&>(p.words);
    p.words = dynarray<std::uint32_t>(4096);
    for (std::uint32_t i = 0; i < p.function_writers.size(); ++i) {
        p.functions[i].begin = p.words.size();
        p.function_writers[i](p, i);
        p.functions[i].end = p.words.size();
    }
    p.function_words = static_cast<dynarray<std::uint32_t>&&>(p.words);
    p.words = static_cast<dynarray<std::uint32_t>&&>(kernel_words);
    order_functions(p);
}

template <class Renamed>
constexpr void rename_tables(std::uint32_t* w, const Renamed& renamed) {
    const ir::cursor c{w};
    if (c.kind() == ir::record::label && !c.is_place()) w[2] = renamed[w[2]] - 1;
    if (!c.is_instruction() || (static_cast<tok>(c.token(0)) != tok::call && static_cast<tok>(c.token(0)) != tok::brx))
        return;
    std::uint32_t* o = w + (c.first_operand() - w);
    for (std::uint32_t i = 0; i < c.operands(); ++i, o += ir::operand_words(o[0]))
        if (ir::kind_of(o[0]) == ir::operand_kind::label && renamed[ir::payload_of(o[0])] != 0)
            o[0] = ir::head(ir::operand_kind::label, renamed[ir::payload_of(o[0])] - 1);
}

/// Gives the tables and prototypes that calls write in front of themselves the numbers they would have if C++ evaluated
/// arguments from left to right.
template <class Program>
constexpr void order_tables(Program& p) {
    if (p.tables < 2) return;
    dynarray<std::uint32_t> met(p.tables), renamed(p.labels.size());  // by label: its new id + 1, 0: no table
    renamed.resize(p.labels.size(), 0);
    each_record(p, [&](std::uint32_t* w) {
        const ir::cursor c{w};
        if (c.kind() == ir::record::label && !c.is_place() && renamed[c.payload(0)] == 0)
            met.push_back(c.payload(0)), renamed[c.payload(0)] = 1;
    });
    dynarray<ir::label_info> info(met.size());
    for (std::uint32_t id = 0; id < p.labels.size(); ++id)
        if (renamed[id] != 0) info.push_back(p.labels[met[info.size()]]), met.push_back(id);
    for (std::uint32_t i = 0; i < info.size(); ++i) {
        const std::uint32_t id = met[info.size() + i];
        renamed[met[i]] = id + 1;
        p.labels[id] = info[i];
    }
    each_record(p, [&](std::uint32_t* w) { rename_tables(w, renamed); });
}

/// D01, I05: rows of an operand tile that no multiplication takes, and nothing else reads.
template <class Program>
constexpr void warn_of_idle_rows(Program& p) {
    for (const ir::operand_rows& r : p.operands_read) {
        if (r.all || r.groups == 0 || r.read == ir::operand_rows::bits(0, r.groups)) continue;
        std::uint32_t rows = 0;
        for (std::uint32_t i = 0; i < r.groups; ++i) rows += (r.read >> i & 1u) != 0 ? 8 : 0;
        const ir::name name = p.allocations[r.allocation].id;
        const std::initializer_list<ir::part> sentence = {
            "tile '",
            p.text(name),
            "' has ",
            8 * r.groups,
            " rows, of which ",
            rows,
            (" are multiplied, by all who do: the others are loaded for nobody; take each part with row_slice or "
             "rows_at, or a smaller tile")};
        if (r.of_tcgen05)
            p.add_finding("I05", true, r.where, sentence);
        else
            p.add_finding("D01", true, r.where, sentence);
    }
}

/// Closes what the body left to the library: the final `ret`, unplaced labels (K01), open loops.
template <class Program>
constexpr void finish_program(Program& p) {
    control_writer<Program>{p}.template plain<tok::ret>(location());
    write_functions(p);
    order_tables(p);
    warn_of_idle_rows(p);
    for (std::uint32_t i = 0; i < p.labels.size(); ++i)
        if (p.labels[i].used != 0 && p.labels[i].placed == 0)
            p.add_finding("K01", false, p.labels[i].where,
                          {"branch to label '", p.text(p.labels[i].id), "', which is never placed"});
    if (p.version < p.target.floor()) p.raise_version(p.target.floor(), location());
    if (p.version < p.attrs.version) p.version = p.attrs.version;
}

/// The attributes of a kernel that is assembled at run time; of others `px::kernel` says it first.
template <class Program>
constexpr void report_attributes(Program& p) {
    using enum ir::attribute_fault;
    switch (p.attrs.fault()) {
        case none: return;
        case threads: return p.report("H06", location(), {"a block has at most 1024 threads"});
        case depth: return p.report("H06", location(), {"a block has at most 64 threads along z"});
        case extent:
            return p.report(
                "H06", location(),
                {"an extent of .reqntid, .maxntid or .cluster is 0 and another is not; each is 1 at least"});
        case two_sizes:
            return p.report("H06", location(),
                            {".reqntid and .maxntid exclude each other; give the exact size or the largest"});
        case blocks: return p.report("G01", location(), {"no device takes a cluster of more than 16 blocks"});
        case opt_in:
            return p.report(
                "G01", location(),
                {"a cluster of more than 8 blocks is not portable; allow it with .non_portable_cluster = true"});
    }
}

/// Writes the whole program of one kernel.
template <class Body, class... C>
constexpr auto write_program(ir::program& p, string_view name, const ir::attributes& attrs, const Body& body,
                             const C&... c) {
    using traits = body_traits<Body>;
    p.target = traits::the_target;
    p.attrs = attrs;
    if (!ir::is_function_name(name))
        p.report(
            "K01", location(),
            {"'", name,
             "' is no name for a kernel; PTX takes letters, digits, _ and $, not a digit in front, and smem is taken"});
    report_attributes(p);
    p.kernel = p.intern(name);
    p.new_symbol("smem");
    traits::run(body, p, c...);
    finish_program(p);
}

}  // namespace detail

using ir::attributes;

/// A kernel as a type: `px::kernel<"saxpy", saxpy>`, `px::kernel<"gemm", gemm, px::attributes{.reqntid = {384}},
/// config>`.
///
/// `Body` is a constexpr function (or captureless lambda) `void(px::builder<target>&, constants…, parameters…)`; what
/// is neither register, pointer nor tensor map is a constant and is bound here.
template <fixed_string Name, auto Body, ir::attributes Attributes = ir::attributes{}, auto... Constants>
struct kernel {
    using traits = detail::body_traits<decltype(Body)>;
    using params = typename traits::params;
    static_assert(
        detail::kernel_body<decltype(Body)>,
        "PTXDSL-J07: a kernel body is a constexpr function or lambda void(px::builder<target>& k, constants…, "
        "parameters…), no template, and k is a reference");
    static_assert(
        ir::is_function_name(Name.view()),
        "PTXDSL-K01: the name of a kernel is a PTX name: letters, digits, _ and $, not a digit in front; smem is taken");
    using fault = ir::attribute_fault;
    static_assert(Attributes.fault() != fault::threads, "PTXDSL-H06: a block has at most 1024 threads");
    static_assert(Attributes.fault() != fault::depth, "PTXDSL-H06: a block has at most 64 threads along z");
    static_assert(
        Attributes.fault() != fault::extent,
        "PTXDSL-H06: an extent of .reqntid, .maxntid or .cluster is 0 and another is not; each is 1 at least");
    static_assert(Attributes.fault() != fault::two_sizes,
                  "PTXDSL-H06: .reqntid and .maxntid exclude each other; give the exact size or the largest");
    static_assert(Attributes.fault() != fault::blocks, "PTXDSL-G01: no device takes a cluster of more than 16 blocks");
    static_assert(
        Attributes.fault() != fault::opt_in,
        "PTXDSL-G01: a cluster of more than 8 blocks is not portable; allow it with .non_portable_cluster = true");
    static constexpr target the_target = traits::the_target;
    static constexpr ir::attributes attributes = Attributes;
    [[nodiscard]] static constexpr string_view name() noexcept { return Name.view(); }
    static constexpr void write(ir::program& p) {
        detail::write_program(p, Name.view(), Attributes, Body, Constants...);
    }
};

}  // namespace ptxdsl
