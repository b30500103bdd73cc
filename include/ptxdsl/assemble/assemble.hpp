// SPDX-License-Identifier: Apache-2.0
// From a kernel type to PTX text in static storage, and the same at run time.
//
// Three separate constant evaluations (write, verify, print), because clang's budget of 1,048,576 steps holds for each
// one alone; between them the program lies in arrays of exactly its size.
#pragma once

#include <ptxdsl/assemble/emit.hpp>
#include <ptxdsl/detail/decimal.hpp>
#include <ptxdsl/dsl/kernel.hpp>
#include <ptxdsl/verify/verify.hpp>

namespace ptxdsl {

/// Undefined on purpose: naming it is how a C++20 compiler is made to print a computed sentence.
template <fixed_string... Sentence>
struct ptx_error;
/// The same for a warning: its use is a "deprecated" warning of the compiler, which prints the sentence.
#if defined(__clang__)
template <fixed_string... Sentence>
struct [[deprecated("the kernel compiles; docs/diagnostics.md explains the id")]] ptx_warning {
    static constexpr bool shown = true;
};
#else
template <fixed_string Sentence>
[[deprecated("the kernel compiles; docs/diagnostics.md explains the id")]] constexpr bool ptx_warning() noexcept {
    return true;
}
#endif

namespace detail {

/// A program in arrays of exactly its size.
template <ir::sizes S>
struct image {
    template <std::uint32_t N>
    static constexpr std::uint32_t at_least_one = N == 0 ? 1 : N;

    std::uint32_t words[at_least_one<S.words>] = {};
    std::source_location locations[at_least_one<S.locations>] = {};
    ir::reg_info regs[at_least_one<S.regs>] = {};
    ir::prefix_info prefixes[at_least_one<S.prefixes>] = {};
    ir::param params[at_least_one<S.params>] = {};
    ir::allocation allocations[at_least_one<S.allocations>] = {};
    ir::label_info labels[at_least_one<S.labels>] = {};
    ir::name symbols[at_least_one<S.symbols>] = {};
    char pool[at_least_one<S.pool>] = {};
    ir::finding findings[at_least_one<S.findings>] = {};
    ir::function functions[at_least_one<S.functions>] = {};
    std::uint32_t function_words[at_least_one<S.function_words>] = {};
    std::uint32_t function_regs[at_least_one<S.function_regs>] = {};
    ir::view header{};  ///< everything but the pointers

    [[nodiscard]] constexpr ir::view read() const noexcept {
        ir::view v = header;
        v.words = words, v.locations = locations, v.regs = regs, v.prefixes = prefixes, v.params = params;
        v.allocations = allocations, v.labels = labels, v.symbols = symbols, v.pool = pool, v.findings = findings;
        v.functions = functions, v.function_words = function_words, v.function_regs = function_regs;
        return v;
    }
};

template <class T>
constexpr void copy_n(T* to, const T* from, std::uint32_t n) noexcept {
    if (!__builtin_is_constant_evaluated()) {
        if (n != 0) __builtin_memcpy(static_cast<void*>(to), static_cast<const void*>(from), n * sizeof(T));
        return;
    }
    for (std::uint32_t i = 0; i < n; ++i) to[i] = from[i];
}

template <ir::sizes S>
[[nodiscard]] constexpr image<S> freeze(const ir::program& p) {
    image<S> out;
    const ir::view v = p.read();
    copy_n(out.words, v.words, S.words);
    copy_n(out.locations, v.locations, S.locations);
    copy_n(out.regs, v.regs, S.regs);
    copy_n(out.prefixes, v.prefixes, S.prefixes);
    copy_n(out.params, v.params, S.params);
    copy_n(out.allocations, v.allocations, S.allocations);
    copy_n(out.labels, v.labels, S.labels);
    copy_n(out.symbols, v.symbols, S.symbols);
    copy_n(out.pool, v.pool, S.pool);
    copy_n(out.findings, v.findings, S.findings);
    copy_n(out.functions, v.functions, S.functions);
    copy_n(out.function_words, v.function_words, S.function_words);
    copy_n(out.function_regs, v.function_regs, S.function_regs);
    out.header = v;
    out.header.words = nullptr, out.header.locations = nullptr, out.header.regs = nullptr,
    out.header.prefixes = nullptr;
    out.header.params = nullptr, out.header.allocations = nullptr, out.header.labels = nullptr,
    out.header.symbols = nullptr;
    out.header.pool = nullptr, out.header.findings = nullptr, out.header.functions = nullptr;
    out.header.function_words = nullptr, out.header.function_regs = nullptr;
    return out;
}

template <class K>
[[nodiscard]] constexpr ir::sizes measure_program() {
    ir::program p;
    K::write(p);
    return p.measure();
}
/// The sizes as a type, if the body can be evaluated: else C++ chooses the other function, and says nothing yet.
template <ir::sizes S>
struct known_sizes {
    static constexpr bool known = true;
    static constexpr ir::sizes value = S;
};
struct unknown_sizes {
    static constexpr bool known = false;
    static constexpr ir::sizes value{};
};
template <class K>
constexpr known_sizes<measure_program<K>()> find_sizes(int) noexcept;
template <class K>
constexpr unknown_sizes find_sizes(...) noexcept;
/// A class, so that the body runs once for it, however often it is asked.
template <class K>
struct sizes_of : decltype(find_sizes<K>(0)) {};
template <class K>
inline constexpr ir::sizes program_sizes = sizes_of<K>::value;

/// What the compiler says once more, with the reason: the line of the body that cannot be evaluated.
template <class K>
inline constexpr ir::sizes sizes_of_a_body_that_is_not_constant = measure_program<K>();

template <class K>
[[nodiscard]] constexpr auto freeze_program() {
    ir::program p;
    K::write(p);
    return freeze<program_sizes<K>>(p);
}
template <class K>
inline constexpr auto program_image = freeze_program<K>();

// ---- diagnosis ----------------------------------------------------------------------------------------------------

/// One sentence, "file.cpp:12: PTXDSL-E01: …", of fixed capacity.
struct sentence {
    char text[512] = {};
    std::uint32_t size = 0;
    bool found = false;

    constexpr void put(string_view s) noexcept {
        for (char c : s)
            if (size + 1 < sizeof(text)) text[size++] = c;
    }
    constexpr void put_number(std::uint32_t v) noexcept { put(decimal(v).view()); }
    [[nodiscard]] constexpr string_view view() const noexcept { return {text, size}; }
};

[[nodiscard]] constexpr string_view base_name(string_view file) noexcept {
    const std::size_t slash = file.rfind('/');
    return slash == string_view::npos ? file : file.substr(slash + 1);
}

[[nodiscard]] constexpr sentence describe(const ir::view& m, const ir::finding& f, string_view text) {
    sentence s;
    s.found = true;
    const std::source_location& where = m.locations[f.where];
    if (where.line() != 0) {  // the name of a kernel is no line of its body
        s.put(base_name(where.file_name()));
        s.put(":");
        s.put_number(where.line());
        s.put(": ");
    }
    s.put("PTXDSL-");
    s.put(string_view(f.id, 3));
    s.put(": ");
    s.put(text);
    return s;
}

/// The first error, what the builder noted while the body ran before what the verifier finds; the first warning.
struct diagnosis {
    sentence error, warning;
    std::uint32_t warnings = 0;
    std::uint32_t least_cluster = 0;

    constexpr void add(const ir::view& m, const ir::finding& f, string_view text) {
        warnings += f.warning ? 1 : 0;
        if (sentence& first = f.warning ? warning : error; !first.found) first = describe(m, f, text);
    }
};
template <class View>
[[nodiscard]] constexpr diagnosis diagnose(const View& m) {
    diagnosis d;
    for (std::uint32_t i = 0; i < m.n.findings; ++i) d.add(m, m.findings[i], m.text(m.findings[i].text));
    if (d.error.found) return d;
    verify::report r;
    verify::run(m, r);
    for (const ir::finding& f : r.findings) d.add(m, f, r.text(f));
    d.least_cluster = r.least_cluster;
    return d;
}
template <class K>
inline constexpr diagnosis program_diagnosis = diagnose(program_image<K>.read());
template <class K>
inline constexpr const sentence& program_error = program_diagnosis<K>.error;
/// Whether the kernel is one that is also played (`px::played`), and something was found.
template <class K>
inline constexpr bool played_errors = false;
template <class K>
    requires requires { K::findings(); }
inline constexpr bool played_errors<K> = K::findings().error.found;
template <class K>
inline constexpr bool played_warnings = false;
template <class K>
    requires requires { K::findings(); }
inline constexpr bool played_warnings<K> = K::findings().warnings != 0;

template <const sentence& S, std::uint32_t Index>
[[nodiscard]] constexpr auto piece_of() {
    constexpr string_view all = S.view();
    return sentence_piece<piece_begin(all, Index), piece_begin(all, Index + 1)>(all);
}

/// Stops the build with the sentence in the compiler's first error line.
template <const diagnosis& D, std::uint32_t... Index>
constexpr bool refuse(piece_indices<std::uint32_t, Index...>) {
#if defined(__cpp_static_assert) && __cpp_static_assert >= 202306L
    static_assert(D.error.size == 0, D.error.view());
    return false;
#elif defined(__clang__)
    return sizeof(ptx_error<piece_of<D.error, Index>()...>) != 0;
#else
    return sizeof(ptx_error<fixed_string<D.error.size>(D.error.view())>) != 0;
#endif
}
template <const diagnosis& D>
constexpr bool refuse() {
    return refuse<D>(pieces<piece_count(D.error.view())>());
}

// A warning never stops a build: the compiler is told so for the one line that shows it, whatever -Werror says.
#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic warning "-Wdeprecated-declarations"
#endif
template <const diagnosis& D, std::uint32_t... Index>
constexpr bool warn(piece_indices<std::uint32_t, Index...>) {
#if defined(__clang__)
    return ptx_warning<piece_of<D.warning, Index>()...>::shown;
#else
    return ptx_warning<fixed_string<D.warning.size>(D.warning.view())>();
#endif
}
template <const diagnosis& D>
constexpr bool warn() {
    return warn<D>(pieces<piece_count(D.warning.view())>());
}
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

// ---- text ---------------------------------------------------------------------------------------------------------

/// Characters one word of a record prints as, at most: a modifier, or the longest name with its number and separators.
[[nodiscard]] constexpr std::uint32_t widest_word(const ir::view& m) noexcept {
    std::uint32_t widest = 4;
    for (std::uint32_t i = 0; i < m.n.prefixes; ++i)
        if (widest < m.prefixes[i].id.length) widest = m.prefixes[i].id.length;
    for (std::uint32_t i = 0; i < m.n.labels; ++i)
        if (widest < m.labels[i].id.length) widest = m.labels[i].id.length;
    for (std::uint32_t i = 0; i < m.n.symbols; ++i)
        if (widest < m.symbols[i].length) widest = m.symbols[i].length;
    return widest + 10;
}

/// Upper bound of the text's size. Ranges print many registers from two words, so they count apart.
[[nodiscard]] constexpr std::uint32_t text_bound(const ir::view& m) noexcept {
    const std::uint32_t word = widest_word(m);
    std::uint32_t n = 1024 + 2 * m.n.pool + 128 * m.n.params + 64 * m.n.prefixes * (1 + m.n.functions);
    n += 256 * m.n.functions + 4 * word * m.n.function_regs + 2 * word * m.n.function_words + m.n.symbols * word;
    if (m.attrs.line_comments) n += 96 * m.n.locations;
    for (std::uint32_t at = 0; at < m.n.words;) {
        const ir::cursor c{m.words + at};
        at += c.size();
        n += word * c.size();
        if (!c.is_instruction()) continue;
        const std::uint32_t* o = c.first_operand();
        for (std::uint32_t i = 0; i < c.operands(); ++i) {
            if (ir::kind_of(o[0]) == ir::operand_kind::range) n += (word + 2) * ir::payload_of(o[0]);
            o += ir::operand_words(o[0]);
        }
    }
    return n;
}
template <class K>
inline constexpr std::uint32_t program_text_bound = text_bound(program_image<K>.read());

template <std::uint32_t Text, std::uint32_t Lines>
struct text_image {
    char text[Text + 1] = {};
    std::uint32_t lines[Lines + 1] = {};
    std::uint32_t text_size = 0;
    std::uint32_t line_count = 0;
};

template <class K>
[[nodiscard]] constexpr auto print_program() {
    constexpr std::uint32_t lines = program_sizes<K>.locations + program_sizes<K>.labels + program_sizes<K>.params +
                                    program_sizes<K>.prefixes * (1 + program_sizes<K>.functions) +
                                    8 * program_sizes<K>.functions + 64;
    text_image<program_text_bound<K>, lines> out;
    const ir::view m = program_image<K>.read();
    emitter e(m, program_text_bound<K>);
    e.run();
    out.text_size = e.out.size();
    out.line_count = e.line_locations.size();
    copy_n(out.text, e.out.data(), out.text_size);
    copy_n(out.lines, e.line_locations.data(), out.line_count);
    return out;
}
template <class K>
inline constexpr auto program_text_oversized = print_program<K>();

template <class K>
[[nodiscard]] constexpr auto shrink_text() {
    constexpr auto& big = program_text_oversized<K>;
    text_image<big.text_size, big.line_count> out;
    out.text_size = big.text_size;
    out.line_count = big.line_count;
    copy_n(out.text, big.text, big.text_size);
    copy_n(out.lines, big.lines, big.line_count);
    return out;
}
template <class K>
inline constexpr auto program_text = shrink_text<K>();

[[nodiscard]] constexpr kernel_resources resources_of(const ir::view& m, const diagnosis& verified) noexcept {
    kernel_resources r;
    r.least_cluster = verified.least_cluster;
    (m.dynamic_shared() ? r.dynamic_shared_bytes : r.static_shared_bytes) = m.shared_bytes;
    if (m.attrs.reqntid.given())
        r.threads[0] = m.attrs.reqntid.x, r.threads[1] = m.attrs.reqntid.y, r.threads[2] = m.attrs.reqntid.z;
    r.max_threads = m.attrs.threads();
    if (m.attrs.cluster.given())
        r.cluster[0] = m.attrs.cluster.x, r.cluster[1] = m.attrs.cluster.y, r.cluster[2] = m.attrs.cluster.z;
    for (std::uint32_t at = 0; at < m.n.words;) {
        const ir::cursor c{m.words + at};
        at += c.size();
        if (c.is_instruction() && c.tokens() == 2 &&
            c.token(0) == static_cast<std::uint16_t>(isa::tok::griddepcontrol) &&
            c.token(1) == static_cast<std::uint16_t>(isa::tok::wait))
            r.uses_pdl_wait = true;
    }
    return r;
}
template <class K>
inline constexpr kernel_resources program_resources = resources_of(program_image<K>.read(), program_diagnosis<K>);

}  // namespace detail

/// A kernel assembled at compile time: PTX text, resources and source map are constants in static storage.
template <class K>
struct assembled {
    using kernel_type = K;
    using params = typename K::params;

    /// The PTX text; `text().data()` ends with a NUL.
    [[nodiscard]] static constexpr string_view text() noexcept {
        return {detail::program_text<K>.text, detail::program_text<K>.text_size};
    }
    [[nodiscard]] static constexpr string_view name() noexcept { return K::name(); }
    [[nodiscard]] static constexpr ptxdsl::target target() noexcept { return K::the_target; }
    /// The lowest PTX version that has every form used and knows the target.
    [[nodiscard]] static constexpr ptx_version version() noexcept { return detail::program_image<K>.header.version; }
    [[nodiscard]] static constexpr const kernel_resources& resources() noexcept { return detail::program_resources<K>; }
    /// How many warnings the verifier has, and the first, "file.cpp:12: PTXDSL-D10: …"; empty when there is none.
    [[nodiscard]] static constexpr std::uint32_t warnings() noexcept { return detail::program_diagnosis<K>.warnings; }
    [[nodiscard]] static constexpr string_view warning() noexcept {
        return detail::program_diagnosis<K>.warning.view();
    }
    /// The C++ line that emitted line `ptx_line` (from 1) of the text; line 0 when none did.
    [[nodiscard]] static constexpr source_line source_of(std::uint32_t ptx_line) noexcept {
        const auto& t = detail::program_text<K>;
        if (ptx_line == 0 || ptx_line > t.line_count || t.lines[ptx_line - 1] == 0) return {};
        const std::source_location& where = detail::program_image<K>.locations[t.lines[ptx_line - 1] - 1];
        return {where.file_name(), where.line()};
    }
};

/// Assembles and verifies kernel `K` in constant evaluation; misuse stops the build here with the kernel's file and
/// line.
template <class K>
[[nodiscard]] constexpr assembled<K> assemble() {
    static_assert(
        detail::sizes_of<K>::known,
        "PTXDSL-J07: this kernel's body cannot be evaluated at compile time: it calls a function or reads a variable "
        "that is not constexpr, or exceeds the compiler's limit (a note below has the line); "
        "px::assemble_at_run_time(name, body) runs it when the program does");
    if constexpr (!detail::sizes_of<K>::known)
        static_cast<void>(detail::sizes_of_a_body_that_is_not_constant<K>);
    else if constexpr (detail::program_error<K>.found)
        static_cast<void>(detail::refuse<detail::program_diagnosis<K>>());
    else if constexpr (detail::played_errors<K>)
        static_cast<void>(detail::refuse<K::findings()>());
#ifndef PTXDSL_NO_WARNINGS
    else if constexpr (detail::program_diagnosis<K>.warnings != 0)
        static_cast<void>(detail::warn<detail::program_diagnosis<K>>());
    else if constexpr (detail::played_warnings<K>)
        static_cast<void>(detail::warn<K::findings()>());
#endif
    return {};
}

}  // namespace ptxdsl
