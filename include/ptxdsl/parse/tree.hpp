// SPDX-License-Identifier: Apache-2.0
// The syntax tree: nodes in one array, each in front of its children.
//
// A node says what it is, the one word that is its own (`atom`: a name, a number, an operator, a type) and where its
// subtree ends. Punctuation is not stored: it follows from the kinds. The tokens are there beside the tree, with the
// trivia between them, for whoever needs the bytes or a place in the text.
#pragma once

#include <ptxdsl/detail/dynarray.hpp>
#include <ptxdsl/isa/targets.hpp>
#include <ptxdsl/parse/diagnostic.hpp>
#include <ptxdsl/parse/token.hpp>

#include <cstdint>
#include <string_view>
#include <type_traits>

namespace ptxdsl::ptx {

/// Kinds of nodes. In brackets: the atom, then the children in order.
enum class node_kind : std::uint8_t {
    module,        ///< version, target, address_size?, then declarations, functions, sections …
    version,       ///< [number]
    target,        ///< word…
    address_size,  ///< [number]
    word,          ///< [a word]
    number,        ///< [an integer]
    text,          ///< [a string, with its quotes]
    // declarations
    declaration,  ///< linkage, attribute_list, space, align, vector, type … in the order of the text, then declarator…
    parameter,    ///< space, align, type, pointer …, then one declarator
    linkage,      ///< [.visible …]
    space,        ///< [.global …] number? (constant bank)
    align,        ///< [number]
    vector_type,  ///< [.v4 …]
    type,         ///< [.b32 …]
    pointer,      ///< space?, align?
    attribute_list,  ///< attribute…
    attribute,       ///< [.managed …] number…
    declarator,      ///< [name] range? or dimension…, then initializer?
    range,           ///< [count]: `name<count>`
    dimension,       ///< [count, or nothing]: `[count]`
    initializer,     ///< one of: aggregate, expression, name, offset, generic, mask, number …
    aggregate,       ///< any of those of initializer, or field
    field,           ///< [name] name or expression: `width = 4`
    generic,         ///< [name]: `generic(name)`
    mask,            ///< [integer] one of: name, generic, offset, number: `0xff(name)`
    // functions
    entry,       ///< [name] linkage?, parameters?, tuning or pragma…, body?
    function,    ///< [name] linkage?, attribute_list?, results?, parameters?, tuning…, body?
    results,     ///< parameter…
    parameters,  ///< parameter…
    tuning,      ///< [.maxntid …] number…
    body,        ///< statements; also a nested scope
    // statements
    label,        ///< [name]
    instruction,  ///< [opcode] guard?, modifier…, operands
    guard,        ///< [predicate]; flag `negated`
    modifier,     ///< [.word]
    loc,          ///< number, number, number, inlined?
    inlined,      ///< [function name label] number?, number, number, number; flag `offset` when the first is an offset
    pragma,       ///< text…
    branch_targets,  ///< declarator…
    call_targets,    ///< name…
    call_prototype,  ///< results?, parameters?, tuning…
    file,            ///< number, text, number…
    alias,           ///< name, name
    section,         ///< [.name] label or section_data…
    section_data,    ///< [.b8 …] number…, or one of: name, offset, difference
    difference,      ///< [name] name: `a-b`
    negative,        ///< [number]: `-4`
    dwarf,           ///< the words of one `@@DWARF` line
    // operands
    name,        ///< [identifier] component?: register, variable, label, function
    component,   ///< [.x .b0 …]; of an address: [.unified]
    sink,        ///< `_`
    complement,  ///< name: `!p`
    negation,    ///< name: `-x`
    offset,      ///< name, expression: `a+4`
    index,       ///< name, then name, offset or expression: `a[i]`
    pair,        ///< two operands: `p|q`
    vector,      ///< elements: `{a, b}`
    address,     ///< name, offset or expression, then for textures and tensors the rest: `[a, {x, y}]`
    arguments,   ///< a parenthesised list of a call
    // expressions: operands and operators in the order of the text
    expression,
    literal,    ///< [integer, float, WARP_SZ]
    operation,  ///< [operator]
    cast,       ///< [.s64 …]: `(.s64)`
    group,      ///< expression in parentheses
    error,      ///< tokens that are not PTX; a message says why
};

/// One node. `end` is the index behind its subtree; its first child, if any, is the next node.
struct node {
    static constexpr std::uint8_t negated = 1;     ///< guard: `@!p`
    static constexpr std::uint8_t has_offset = 1;  ///< inlined: `name + n`

    node_kind kind = node_kind::error;
    std::uint8_t flags = 0;
    std::uint32_t atom = 0;   ///< spelling
    std::uint32_t token = 0;  ///< the token it begins with
    std::uint32_t end = 0;
};

/// Read access to a parsed text wherever its arrays lie.
struct tree_view {
    const node* nodes = nullptr;
    const token* tokens = nullptr;
    const spelling* words = nullptr;
    const char* pool = nullptr;
    std::uint32_t n_nodes = 0, n_tokens = 0, n_words = 0;

    [[nodiscard]] constexpr const node& operator[](std::uint32_t i) const noexcept { return nodes[i]; }
    [[nodiscard]] constexpr std::string_view word(std::uint32_t id) const noexcept {
        return {pool + words[id].begin, words[id].size};
    }
    /// The node's own word.
    [[nodiscard]] constexpr std::string_view atom(std::uint32_t n) const noexcept { return word(nodes[n].atom); }
    [[nodiscard]] constexpr node_kind kind(std::uint32_t n) const noexcept { return nodes[n].kind; }
    [[nodiscard]] constexpr bool has_children(std::uint32_t n) const noexcept { return nodes[n].end != n + 1; }
    /// The first child of this kind, 0 when there is none (the root is nobody's child).
    [[nodiscard]] constexpr std::uint32_t child(std::uint32_t n, node_kind k) const noexcept {
        for (std::uint32_t c = n + 1; c < nodes[n].end; c = nodes[c].end)
            if (nodes[c].kind == k) return c;
        return 0;
    }
    [[nodiscard]] constexpr std::uint32_t children(std::uint32_t n) const noexcept {
        std::uint32_t count = 0;
        for (std::uint32_t c = n + 1; c < nodes[n].end; c = nodes[c].end) ++count;
        return count;
    }
    /// Byte where a node begins in the text it was read from.
    [[nodiscard]] constexpr std::uint32_t offset(std::uint32_t n) const noexcept {
        return tokens[nodes[n].token].offset;
    }
    [[nodiscard]] constexpr std::uint32_t token_length(std::uint32_t n) const noexcept {
        return words[tokens[nodes[n].token].spelling].size;
    }

    /// What `.version` says; 0.0 when it is missing.
    [[nodiscard]] constexpr ptx_version version() const noexcept;
    /// What `.target` says first; sm 0 when it is missing.
    [[nodiscard]] constexpr ptxdsl::target target() const noexcept;
};

/// A parsed text: tokens, trivia and tree; no copy of the text. Move-only.
///
/// Memory: at most 80 bytes per byte read, and constant besides.
class tree {
public:
    explicit constexpr tree(std::uint32_t bytes)
        : pool(bytes / (is_constant() ? 24 : 64) + 64),
          tokens(bytes / (is_constant() ? 3 : 4) + 16),
          nodes(bytes / (is_constant() ? 3 : 6) + 16) {}

    spellings pool;
    ptxdsl::detail::dynarray<token> tokens;
    ptxdsl::detail::dynarray<node> nodes;
    diagnostics messages;

    /// True when the text is PTX. What it means is another matter: see check.hpp.
    [[nodiscard]] constexpr bool ok() const noexcept { return messages.errors() == 0; }
    [[nodiscard]] constexpr tree_view read() const noexcept {
        return {nodes.data(),  tokens.data(), pool.size() == 0 ? nullptr : &pool[0], pool.pool(), nodes.size(),
                tokens.size(), pool.size()};
    }

private:
    /// Arrays that never grow suit constant evaluation; elsewhere they may. Compilers write 4.6 to 8 bytes a token, 7
    /// to 13 a node.
    [[nodiscard]] static constexpr bool is_constant() noexcept { return std::is_constant_evaluated(); }
};

// ---- numbers ------------------------------------------------------------------------------------------------------

/// Value of an integer literal, modulo 2^64. Its form is the lexer's business.
[[nodiscard]] constexpr std::uint64_t integer_value(std::string_view s) noexcept {
    unsigned base = 10;
    if (s.size() > 1 && s[0] == '0') {
        const char c = s[1];
        base = c == 'x' || c == 'X' ? 16 : c == 'b' || c == 'B' ? 2 : 8;
        s.remove_prefix(base == 8 ? 1 : 2);
    }
    std::uint64_t v = 0;
    for (char c : s) {
        if (c == 'U') break;
        const int digit = c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10;
        v = v * base + static_cast<std::uint64_t>(digit);
    }
    return v;
}

constexpr ptx_version tree_view::version() const noexcept {
    const std::uint32_t n = n_nodes == 0 ? 0 : child(0, node_kind::version);
    if (n == 0) return {};
    const std::string_view s = atom(n);
    const std::size_t point = s.find('.');
    unsigned part[2] = {};
    for (std::size_t i = 0; i < s.size(); ++i)
        if (i != point && part[i > point ? 1 : 0] < 100)
            part[i > point ? 1 : 0] = part[i > point ? 1 : 0] * 10 + static_cast<unsigned>(s[i] - '0');
    const auto low = [](unsigned v) { return static_cast<std::uint8_t>(v < 255 ? v : 255); };
    return {low(part[0]), low(part[1])};
}

constexpr ptxdsl::target tree_view::target() const noexcept {
    const std::uint32_t n = n_nodes == 0 ? 0 : child(0, node_kind::target);
    for (std::uint32_t c = n + 1; n != 0 && c < nodes[n].end; c = nodes[c].end) {
        const std::string_view s = atom(c);
        if (s.starts_with("sm_")) return target_numbered(s.substr(3));
        if (s.starts_with("compute_")) return target_numbered(s.substr(8));
    }
    return {};
}

/// The statements of a body and of the scopes in it, in order: `open(scope)`, `statement(node)`, `close()`. The scopes
/// are kept on a list, not on the call stack: a text may nest them as deep as it likes.
template <class Open, class Statement, class Close>
constexpr void for_each_statement(const tree_view& v, std::uint32_t body, Open open, Statement statement, Close close) {
    ptxdsl::detail::dynarray<std::uint32_t> ends;
    std::uint32_t c = body;
    do {
        if (v.kind(c) == node_kind::body) {
            ends.push_back(v[c].end);
            open(c++);
        } else {
            statement(c);
            c = v[c].end;
        }
        while (ends.size() != 0 && c == ends.back()) {
            ends.pop_back();
            close();
        }
    } while (ends.size() != 0);
}

}  // namespace ptxdsl::ptx
