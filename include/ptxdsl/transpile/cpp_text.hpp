// SPDX-License-Identifier: Apache-2.0
// C++ spellings: identifiers, string and number literals, names of PTX words.
#pragma once

#include <ptxdsl/isa/targets.hpp>
#include <ptxdsl/isa/tokens.hpp>
#include <ptxdsl/isa/types.hpp>

#include <cxxabi.h>

#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

namespace ptxdsl::ptx::cpp {

/// Whether `s` may not be an identifier: keywords, macros of the headers the output includes, names the output uses.
[[nodiscard]] inline bool is_taken(std::string_view s) {
    static const std::unordered_set<std::string_view> words = {"alignas",
                                                               "alignof",
                                                               "and",
                                                               "and_eq",
                                                               "asm",
                                                               "auto",
                                                               "bitand",
                                                               "bitor",
                                                               "bool",
                                                               "break",
                                                               "case",
                                                               "catch",
                                                               "char",
                                                               "char8_t",
                                                               "char16_t",
                                                               "char32_t",
                                                               "class",
                                                               "compl",
                                                               "concept",
                                                               "const",
                                                               "consteval",
                                                               "constexpr",
                                                               "constinit",
                                                               "const_cast",
                                                               "continue",
                                                               "co_await",
                                                               "co_return",
                                                               "co_yield",
                                                               "decltype",
                                                               "default",
                                                               "delete",
                                                               "do",
                                                               "double",
                                                               "dynamic_cast",
                                                               "else",
                                                               "enum",
                                                               "explicit",
                                                               "export",
                                                               "extern",
                                                               "false",
                                                               "float",
                                                               "for",
                                                               "friend",
                                                               "goto",
                                                               "if",
                                                               "inline",
                                                               "int",
                                                               "long",
                                                               "mutable",
                                                               "namespace",
                                                               "new",
                                                               "noexcept",
                                                               "not",
                                                               "not_eq",
                                                               "nullptr",
                                                               "operator",
                                                               "or",
                                                               "or_eq",
                                                               "private",
                                                               "protected",
                                                               "public",
                                                               "register",
                                                               "reinterpret_cast",
                                                               "requires",
                                                               "return",
                                                               "short",
                                                               "signed",
                                                               "sizeof",
                                                               "static",
                                                               "static_assert",
                                                               "static_cast",
                                                               "struct",
                                                               "switch",
                                                               "template",
                                                               "this",
                                                               "thread_local",
                                                               "throw",
                                                               "true",
                                                               "try",
                                                               "typedef",
                                                               "typeid",
                                                               "typename",
                                                               "union",
                                                               "unsigned",
                                                               "using",
                                                               "virtual",
                                                               "void",
                                                               "volatile",
                                                               "wchar_t",
                                                               "while",
                                                               "xor",
                                                               "xor_eq",
                                                               "EOF",
                                                               "NULL",
                                                               "BUFSIZ",
                                                               "stdin",
                                                               "stdout",
                                                               "stderr",
                                                               "assert",
                                                               "errno",
                                                               "linux",
                                                               "unix",
                                                               "i386",
                                                               "major",
                                                               "minor",
                                                               "offsetof",
                                                               "INFINITY",
                                                               "NAN",
                                                               "EXIT_SUCCESS",
                                                               "EXIT_FAILURE",
                                                               "RAND_MAX",
                                                               "px",
                                                               "std",
                                                               "k",
                                                               "m",
                                                               "fn",
                                                               "main",
                                                               "write_module",
                                                               "print_help",
                                                               "the_target",
                                                               "module_builder",
                                                               "ptxdsl"};
    return words.find(s) != words.end();
}

/// Distinct C++ identifiers for PTX names.
class names {
public:
    /// An identifier like `ptx` that was not given before.
    [[nodiscard]] std::string make(std::string_view ptx) {
        std::string id = plain(ptx);
        if (used_.insert(id).second) return id;
        for (unsigned i = count_[id] + 2;; ++i) {
            std::string other = id + '_' + std::to_string(i);
            count_[id] = i - 1;
            if (!is_taken(other) && used_.insert(other).second) return other;
        }
    }
    void reserve(const std::string& id) { used_.insert(id); }
    [[nodiscard]] bool has(const std::string& id) const { return used_.find(id) != used_.end(); }

    /// `%rd` as `rd`, `$L__BB0_2` as `L__BB0_2`, `new` as `new_`.
    [[nodiscard]] static std::string plain(std::string_view ptx) {
        std::string id;
        for (char c : ptx) {
            const bool word = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
            if (word)
                id += c;
            else if (!id.empty())
                id += '_';
        }
        if (id.empty() || (id[0] >= '0' && id[0] <= '9')) id.insert(0, "x");
        if (id[0] == '_') id.insert(0, "x");  // names that begin so may be the implementation's
        for (std::size_t at = id.find("__"); at != id.npos; at = id.find("__", at + 1)) id.erase(at, 1), --at;
        if (is_taken(id)) id += '_';
        return id;
    }

private:
    std::unordered_set<std::string> used_;
    std::unordered_map<std::string, unsigned> count_;
};

/// `gemm` of the mangled name of `void lib::gemm<128>(int)`; other names as they are.
[[nodiscard]] inline std::string base_name(std::string_view name) {
    if (name.substr(0, 2) != "_Z") return std::string(name);
    int status = 0;
    char* const s = abi::__cxa_demangle(std::string(name).c_str(), nullptr, nullptr, &status);
    const std::string demangled = status == 0 && s != nullptr ? s : "";
    std::free(s);
    std::string_view all = demangled;
    if (all.ends_with(" const")) all.remove_suffix(6);
    // The last word in front of what is in brackets: parameters, then template arguments.
    const auto in_word = [](char c) {
        return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    };
    int depth = 0;
    for (; !all.empty() && (depth != 0 || !in_word(all.back())); all.remove_suffix(1))
        depth += all.back() == ')' || all.back() == '>' ? 1 : all.back() == '(' || all.back() == '<' ? -1 : 0;
    std::size_t begin = all.size();
    while (begin != 0 && in_word(all[begin - 1])) --begin;
    return all.empty() ? std::string(name) : std::string(all.substr(begin));
}

/// A C++ string literal with these characters. Octal escapes end by themselves.
[[nodiscard]] inline std::string quoted(std::string_view s) {
    std::string out = "\"";
    for (char c : s) {
        const auto u = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\')
            out += '\\', out += c;
        else if (c == '\n')
            out += "\\n";
        else if (c == '\t')
            out += "\\t";
        else if (u < 0x20 || u >= 0x7f || c == '?') {  // '?': no trigraphs in older modes
            if (c == '?')
                out += c;
            else
                out += '\\', out += static_cast<char>('0' + (u >> 6)), out += static_cast<char>('0' + (u >> 3 & 7)),
                    out += static_cast<char>('0' + (u & 7));
        } else
            out += c;
    }
    return out + '"';
}

/// An integer literal of this value; hexadecimal when the PTX was.
[[nodiscard]] inline std::string integer(std::int64_t v, bool hex = false) {
    if (v == INT64_MIN) return "(-9223372036854775807 - 1)";
    if (!hex || v < 0) return std::to_string(v);
    char digits[20];
    const auto end = std::to_chars(digits, digits + sizeof digits, static_cast<std::uint64_t>(v), 16).ptr;
    return "0x" + std::string(digits, end) + (v > INT32_MAX ? "u" : "");
}
[[nodiscard]] inline std::string hexadecimal(std::uint64_t v) {
    char digits[20];
    const auto end = std::to_chars(digits, digits + sizeof digits, v, 16).ptr;
    return "0x" + std::string(digits, end) + "u";
}

namespace detail {
template <class F>
[[nodiscard]] std::string shortest(F v) {
    char digits[64];
    const auto end = std::to_chars(digits, digits + sizeof digits, v).ptr;
    std::string s(digits, end);
    if (s.find_first_of(".e") == s.npos) s += ".0";
    return s;
}
}  // namespace detail

/// A `float` expression with exactly these bits.
[[nodiscard]] inline std::string f32_literal(std::uint32_t bits) {
    if ((bits & 0x7f800000u) == 0x7f800000u) return "px::f32_bits(" + hexadecimal(bits) + ")";
    float v;
    std::memcpy(&v, &bits, sizeof v);
    return detail::shortest(v) + "f";
}
/// A `double` expression with exactly these bits.
[[nodiscard]] inline std::string f64_literal(std::uint64_t bits) {
    if ((bits >> 52 & 0x7ff) == 0x7ff) return "px::f64_bits(" + hexadecimal(bits) + ")";
    double v;
    std::memcpy(&v, &bits, sizeof v);
    return detail::shortest(v);
}

/// `px::u32`
[[nodiscard]] inline std::string type(isa::scalar s) { return "px::" + std::string(isa::name(s)); }

/// The enumerator of a PTX word, as dsl/tags.hpp and isa/tokens.hpp spell it: `px::rn`, `px::tok::L1__evict_last`.
[[nodiscard]] inline std::string word(isa::tok t) {
    static const std::unordered_set<std::string_view> tags = {
        "rn",  "rz",        "rm",   "rp",      "rni",  "rzi",  "rmi",       "rpi",     "rna",     "rs",      "ftz",
        "sat", "satfinite", "relu", "approx",  "full", "oob",  "NaN",       "xorsign", "eq",      "ne",      "lt",
        "le",  "gt",        "ge",   "ls",      "hs",   "equ",  "neu",       "ltu",     "leu",     "gtu",     "geu",
        "num", "nan",       "and_", "or_",     "xor_", "weak", "volatile_", "relaxed", "acquire", "release", "acq_rel",
        "sc",  "mmio",      "cta",  "cluster", "gpu",  "sys",  "ca",        "cg",      "cs",      "lu",      "cv",
        "wb",  "wt",        "nc",   "v2",      "v4",   "v8"};
    std::string s;
    for (char c : isa::spelling(t)) s += c == ':' ? '_' : c;
    if (s[0] >= '0' && s[0] <= '9') s.insert(0, "_");
    static const std::unordered_set<std::string_view> keywords = {
        "and", "or", "xor", "not", "const", "volatile", "min", "max", "export", "default", "register"};
    if (keywords.find(s) != keywords.end() && s != "min" && s != "max") s += '_';
    return (tags.find(s) != tags.end() ? "px::" : "px::tok::") + s;
}

/// `px::space::global`
[[nodiscard]] inline std::string space_name(space s) {
    static constexpr std::string_view names[] = {"generic",  "global", "shared", "shared_cluster",
                                                 "constant", "local",  "param"};
    return "px::space::" + std::string(names[static_cast<unsigned>(s)]);
}

}  // namespace ptxdsl::ptx::cpp
