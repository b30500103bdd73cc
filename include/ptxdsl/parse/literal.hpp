// SPDX-License-Identifier: Apache-2.0
// PTX in C++ string literals, read and checked by the C++ compiler.
//
// Three constant evaluations: read, copy into arrays of exactly the size, check. Each fits clang's default budget of
// 1,048,576 steps for a kernel of 10 kB.
#pragma once

#include <ptxdsl/detail/fixed_string.hpp>
#include <ptxdsl/parse/check.hpp>
#include <ptxdsl/parse/kernel_facts.hpp>
#include <ptxdsl/parse/parser.hpp>

#include <cstdint>
#include <string_view>
#include <type_traits>

namespace ptxdsl {

/// Undefined on purpose: naming it is how a C++20 compiler is made to print a computed sentence.
template <fixed_string... Sentence>
struct ptx_error;

namespace ptx::detail {

/// One message as text of fixed capacity: "PTX 3:14: expected ';' …".
struct sentence {
    char text[512] = {};
    std::uint32_t size = 0;
    bool found = false;
    [[nodiscard]] constexpr std::string_view view() const noexcept { return {text, size}; }
    constexpr void put(std::string_view s) noexcept {
        for (char c : s)
            if (size + 1 < sizeof(text)) text[size++] = c;
    }
};

[[nodiscard]] constexpr sentence first_message(const diagnostics& d, std::string_view source) {
    sentence s;
    const diagnostic* e = d.first_error();
    if (e == nullptr) return s;
    s.found = true;
    const position p = position_of(source, e->offset);
    ptx::text t;
    t.put("PTX ").put_number(p.line).put(':').put_number(p.column).put(": ").put(d.text(*e));
    s.put(t.view());
    return s;
}

/// What one literal takes, and its first syntax error.
struct sizes {
    std::uint32_t nodes = 0, tokens = 0, words = 0, pool = 0;
};
struct measure {
    sizes n;
    sentence error;
};
template <class L>
[[nodiscard]] constexpr measure measure_literal() {
    tree t(static_cast<std::uint32_t>(L::source().size()));
    read(L::source(), t, false);
    return {{t.nodes.size(), t.tokens.size(), t.pool.size(), t.pool.pool_size()},
            first_message(t.messages, L::source())};
}
template <class L>
inline constexpr measure literal_measure = measure_literal<L>();
template <class L>
inline constexpr sizes literal_sizes = literal_measure<L>.n;

/// A tree in arrays of exactly its size.
template <sizes S>
struct image {
    node nodes[S.nodes] = {};
    token tokens[S.tokens] = {};
    spelling words[S.words] = {};
    char pool[S.pool + 1] = {};
    [[nodiscard]] constexpr tree_view read() const noexcept {
        return {nodes, tokens, words, pool, S.nodes, S.tokens, S.words};
    }
};

template <class T>
constexpr void copy_n(T* to, const T* from, std::uint32_t n) noexcept {
#if defined(__clang__)
    __builtin_memcpy(to, from, n * sizeof(T));
#else
    for (std::uint32_t i = 0; i < n; ++i) to[i] = from[i];
#endif
}
template <sizes S>
[[nodiscard]] constexpr image<S> freeze(std::string_view source) {
    image<S> out;
    tree t(static_cast<std::uint32_t>(source.size()));
    ptx::read(source, t, false);
    const tree_view v = t.read();
    copy_n(out.nodes, v.nodes, S.nodes);
    copy_n(out.tokens, v.tokens, S.tokens);
    copy_n(out.words, v.words, S.words);
    copy_n(out.pool, v.pool, S.pool);
    return out;
}
template <class L>
inline constexpr auto literal_image = freeze<literal_sizes<L>>(L::source());

template <class L>
[[nodiscard]] constexpr sentence check_literal() {
    diagnostics d;
    const tree_view v = literal_image<L>.read();
    check_module(v, d);
    return first_message(d, L::source());
}
template <class L>
inline constexpr sentence literal_finding = check_literal<L>();

template <class L>
[[nodiscard]] constexpr const sentence& literal_error() noexcept {
    if constexpr (literal_measure<L>.error.found)
        return literal_measure<L>.error;
    else
        return literal_finding<L>;
}

#if defined(__cpp_static_assert) && __cpp_static_assert >= 202306L
#elif defined(__clang__)
template <class L, std::uint32_t Index>
[[nodiscard]] constexpr auto error_piece() {
    constexpr std::string_view all = literal_error<L>().view();
    return ::ptxdsl::detail::sentence_piece<::ptxdsl::detail::piece_begin(all, Index),
                                            ::ptxdsl::detail::piece_begin(all, Index + 1)>(all);
}
#endif

template <class L>
[[nodiscard]] constexpr auto error_pieces() noexcept {
    return ::ptxdsl::detail::pieces<::ptxdsl::detail::piece_count(literal_error<L>().view())>();
}

/// Stops the build with the sentence in the compiler's first error line.
template <class L, std::uint32_t... Index>
constexpr bool refuse(::ptxdsl::detail::piece_indices<std::uint32_t, Index...>) {
#if defined(__cpp_static_assert) && __cpp_static_assert >= 202306L
    static_assert(sizeof(L) == 0, literal_error<L>().view());
    return false;
#elif defined(__clang__)
    return sizeof(ptx_error<error_piece<L, Index>()...>) != 0;
#else
    return sizeof(ptx_error<fixed_string<literal_error<L>().size>(literal_error<L>().view())>) != 0;
#endif
}

}  // namespace ptx::detail

/// A PTX module in a string literal, read and checked by the compiler: `px::parse<R"( … )">()`.
template <fixed_string Source>
struct ptx_literal {
    /// The text of the literal; `data()` ends with a NUL.
    [[nodiscard]] static constexpr std::string_view source() noexcept { return Source.view(); }
    [[nodiscard]] static constexpr std::string_view text() noexcept { return Source.view(); }
    /// The literal itself, to make kernels of it: `px::ptx_kernel<m.text_literal(), …>`.
    [[nodiscard]] static constexpr auto text_literal() noexcept { return Source; }
    /// The syntax tree, in static storage.
    [[nodiscard]] static constexpr ptx::tree_view tree() noexcept {
        return ptx::detail::literal_image<ptx_literal>.read();
    }
    [[nodiscard]] static constexpr ptx_version version() noexcept { return tree().version(); }
    [[nodiscard]] static constexpr ptxdsl::target target() noexcept { return tree().target(); }
};

/// Reads and checks PTX in constant evaluation. An error in it stops the build; line and column are the literal's own.
template <fixed_string Source>
[[nodiscard]] constexpr ptx_literal<Source> parse() {
    using L = ptx_literal<Source>;
    if constexpr (ptx::detail::literal_error<L>().found)
        static_cast<void>(ptx::detail::refuse<L>(ptx::detail::error_pieces<L>()));
    return {};
}

/// Reads PTX at run time. Errors are in the tree's messages.
[[nodiscard]] inline ptx::tree parse(std::string_view source) {
    ptx::tree t(source.size() > ptx::lexer::max_size ? 0 : static_cast<std::uint32_t>(source.size()));
    ptx::read(source, t);
    return t;
}

namespace literals {
/// `R"( … )"_ptx` is `parse<R"( … )">()`.
template <fixed_string Source>
[[nodiscard]] constexpr auto operator""_ptx() {
    return parse<Source>();
}
}  // namespace literals

namespace ptx::detail {

/// How a declared parameter of PTX fails to be what the C++ signature says.
enum class misfit : std::uint8_t { none, size, not_pointer, not_map };

template <class P>
[[nodiscard]] constexpr misfit fits(const storage& s) noexcept {
    static_assert(ptx_type<P>,
                  "PTXDSL-J01: a kernel's parameter is a scalar type, a pointer_param or a tensor_map_param");
    return !s.is_array && s.bytes * 8 == bits_of<P> ? misfit::none : misfit::size;
}
template <class P>
struct fit {
    static constexpr misfit of(const storage& s) noexcept { return fits<P>(s); }
};
template <class T, unsigned Align, bool Nullable>
struct fit<pointer_param<T, Align, Nullable>> {
    static constexpr misfit of(const storage& s) noexcept {
        return !s.is_array && s.bytes == 8 ? misfit::none : misfit::not_pointer;
    }
};
template <class Map, bool Writes>
struct fit<tensor_map_param<Map, Writes>> {
    static constexpr misfit of(const storage& s) noexcept {
        return s.bytes == 128 && s.align >= 64 ? misfit::none : misfit::not_map;
    }
};

[[nodiscard]] constexpr std::uint32_t parameter_count(const tree_view& v, std::uint32_t entry) noexcept {
    const std::uint32_t list = v.child(entry, node_kind::parameters);
    return list == 0 ? 0 : v.children(list);
}
[[nodiscard]] constexpr storage parameter_storage(const tree_view& v, std::uint32_t entry, std::uint32_t i) noexcept {
    std::uint32_t c = v.child(entry, node_kind::parameters) + 1;
    for (; i != 0; --i) c = v[c].end;
    return storage_of(v, c, v.child(c, node_kind::declarator));
}
[[nodiscard]] constexpr std::string_view parameter_name(const tree_view& v, std::uint32_t entry,
                                                        std::uint32_t i) noexcept {
    std::uint32_t c = v.child(entry, node_kind::parameters) + 1;
    for (; i != 0; --i) c = v[c].end;
    return v.atom(v.child(c, node_kind::declarator));
}

/// Number of the first parameter that does not fit, or the count when all do.
template <class... P>
[[nodiscard]] constexpr std::uint32_t first_misfit(const tree_view& v, std::uint32_t entry) noexcept {
    std::uint32_t i = 0;
    bool good = true;
    ((good = good && fit<P>::of(parameter_storage(v, entry, i)) == misfit::none, i += good ? 1 : 0), ...);
    return i;
}

}  // namespace ptx::detail

/// A kernel handle made of literal PTX, for `px::launch`: `P…` are the parameters as in `px::param_list`.
///
/// `Name` picks the entry when the module has several: `px::named_ptx_kernel<"…", "gemm", px::pointer_param<float>>`.
template <fixed_string Source, fixed_string Name, class... P>
struct named_ptx_kernel {
    using params = param_list<P...>;
    using literal = ptx_literal<Source>;

    [[nodiscard]] static constexpr std::string_view text() noexcept { return Source.view(); }
    [[nodiscard]] static constexpr std::string_view name() noexcept { return literal::tree().atom(entry()); }
    [[nodiscard]] static constexpr ptxdsl::target target() noexcept { return literal::target(); }
    [[nodiscard]] static constexpr ptx_version version() noexcept { return literal::version(); }
    [[nodiscard]] static constexpr const kernel_resources& resources() noexcept { return facts.resources; }
    [[nodiscard]] static constexpr std::string_view param_name(std::size_t i) noexcept {
        return ptx::detail::parameter_name(literal::tree(), entry(), static_cast<std::uint32_t>(i));
    }

private:
    [[nodiscard]] static constexpr std::uint32_t entry() noexcept {
        return ptx::find_entry(literal::tree(), Name.view());
    }
    [[nodiscard]] static constexpr bool is_good() {
        if constexpr (ptx::detail::literal_error<literal>().found) {
            return ptx::detail::refuse<literal>(ptx::detail::error_pieces<literal>());
        } else {
            static_assert(entry() != 0, "PTXDSL-J01: the PTX has no such kernel, or several: give its name");
            static_assert(ptx::detail::parameter_count(literal::tree(), entry()) == sizeof...(P),
                          "PTXDSL-J01: the PTX kernel has another number of parameters than its C++ signature");
            constexpr std::uint32_t misfit = ptx::detail::first_misfit<P...>(literal::tree(), entry());
            static_assert(misfit >= sizeof...(P) || misfit != 0,
                          "PTXDSL-J01: parameter 0 of the PTX kernel is not what its C++ signature says");
            static_assert(misfit >= sizeof...(P) || misfit != 1,
                          "PTXDSL-J01: parameter 1 of the PTX kernel is not what its C++ signature says");
            static_assert(
                misfit >= sizeof...(P) || misfit < 2,
                "PTXDSL-J01: parameter 2 or a later one of the PTX kernel is not what its C++ signature says");
            return true;
        }
    }
    static constexpr bool good = is_good();
    static constexpr ptx::kernel_facts facts = good ? ptx::facts_of(literal::tree(), entry()) : ptx::kernel_facts();
};

/// The same for a module with one kernel: `px::ptx_kernel<R"(…)", px::pointer_param<float>, px::u32>`.
template <fixed_string Source, class... P>
using ptx_kernel = named_ptx_kernel<Source, "", P...>;

}  // namespace ptxdsl
