// SPDX-License-Identifier: Apache-2.0
// The table of instruction forms: which modifiers and operands an instruction may have, since which PTX version,
// on which targets. The rows are written in isa/forms/*.isa and packed by tools/isa/generate.py.
//
// Layout of `detail::code` (16-bit words). Per mnemonic: number of its first form, count of its forms, then rows:
//   length of the row in words
//   PTX version (86 = 8.6) | target rule << 8
//   length of the pattern in words | fewest modifiers << 8 | most modifiers << 12 (15: that many or more)
//   pattern words   0tok                        this modifier
//                   0x4000 | slot << 11 | set   one modifier of the set; remembered in the slot when slot != 0
//                   0x8000 | flag << 8 | n      the n words that follow are optional; taken: the flag is set
//   four words per operand
//                   class (bits 0-3) | operand_flag bits
//                   type, or 64 + slot | gate flag << 8 | 0x1000 when the gate is negated
//                   count: n, or 0x8000 | slot << 11 | 0x400 when divided | factor; of a register: its selector_class
//                   1 + number of the immediate range, 0 for none
#pragma once

#include <ptxdsl/isa/generated/table.hpp>
#include <ptxdsl/isa/targets.hpp>
#include <ptxdsl/isa/tokens.hpp>
#include <ptxdsl/isa/types.hpp>

#include <cstdint>

namespace ptxdsl::isa {

/// What an operand that is held against a row is; `ir::operand_kind` is how a program stores one.
enum class shape_kind : std::uint8_t {
    none,
    reg,             ///< a register; `type` is the type it was declared with
    imm,             ///< a literal; `type` is f32 or f64 for a float literal, otherwise an integer in `value`
    pred,            ///< a predicate register
    not_pred,        ///< `!p`
    sink,            ///< `_`
    address,         ///< `[...]`; `type` is the base register's type or `none`; `sp` the space it is known to point to
    tensor_address,  ///< `[map, {c0, ...}]`; `count` is the number of coordinates
    vec,             ///< `{r0, ...}`; `type` and `count` of its registers
    label,           ///< a label
    symbol,          ///< the name of a variable or function
    special,         ///< a special register; `type` is its type
    list,            ///< `(a, b)`: arguments or results of a call
};

/// A video selector as written behind a register, packed: number of digits << 13 | 0x1000 for halves (`h`), 0 for bytes
/// (`b`) | the digits, three bits each, the last one lowest. 0 stands for none.
using video_selector = std::uint16_t;

/// `b0`, `h10`, `b3210` (without the dot); 0 when it is no selector.
[[nodiscard]] constexpr video_selector selector_of(const char* text, std::size_t length) noexcept {
    if (length < 2 || length > 5 || (text[0] != 'b' && text[0] != 'h')) return 0;
    unsigned digits = 0;
    for (std::size_t i = 1; i < length; ++i) {
        if (text[i] < '0' || text[i] > '7') return 0;
        digits = digits << 3 | static_cast<unsigned>(text[i] - '0');
    }
    return static_cast<video_selector>((length - 1) << 13 | (text[0] == 'h' ? 0x1000u : 0u) | digits);
}

/// One operand as an instruction has it.
///
/// Which register fits which instruction type (PTX ISA, "Operand Type Checking"): same size, and the same class
/// (integer or float), where a `.b` type fits every type of its size. Types without a register of their own (bf16,
/// fp8, packed) stand for the `.b` register that holds them. `ld`, `st`, `cvt` also take wider registers. Signedness
/// is not checked here because PTX does not.
struct operand_shape {
    shape_kind kind = shape_kind::none;
    scalar type = scalar::none;
    std::uint16_t count = 1;      ///< vector length, or number of tensor coordinates
    space sp = space::generic;    ///< addresses: a claimed space must fit the instruction's; `generic` claims nothing
    std::int64_t value = 0;       ///< value of an integer immediate
    video_selector selector = 0;  ///< registers: `a.b0`
    bool minus = false;           ///< registers: `-a`
    bool unified = false;         ///< addresses: `[a].unified`
    bool sampler = false;         ///< texture addresses: `[texture, sampler, {...}]`
    bool sinks = false;           ///< vectors: some of the elements are `_`
};

/// What the table says about an instruction.
struct verdict {
    enum class status : std::uint8_t {
        ok,
        unknown_opcode,  ///< no such mnemonic
        bad_modifiers,   ///< no form has these modifiers in this order
        wrong_target,    ///< the form exists, on other targets
        operand_count,   ///< too few or too many operands
        bad_operand,     ///< operand number `operand` does not fit
    };
    static constexpr std::uint16_t no_form = 0xffff;

    status st = status::unknown_opcode;
    std::uint16_t form = no_form;  ///< the form that matched, or the one that came closest
    ptx_version since{};           ///< first PTX version that has the form
    std::uint8_t operand = 0;      ///< for `bad_operand`

    [[nodiscard]] constexpr bool ok() const noexcept { return st == status::ok; }
};

namespace detail {

namespace operand_flag {
inline constexpr unsigned sampler = sreg;  ///< of a texture address
}  // namespace operand_flag

/// Whether a selector is one of a kind.
[[nodiscard]] constexpr bool selector_fits(selector_class kind, video_selector s) noexcept {
    const unsigned n = static_cast<unsigned>(s) >> 13;
    const bool halves = (s & 0x1000u) != 0;
    const bool wants_halves = kind == selector_class::half || kind == selector_class::half_mask;
    if (kind == selector_class::none || (kind != selector_class::part && halves != wants_halves)) return false;
    const bool mask = kind == selector_class::half_mask || kind == selector_class::byte_mask;
    const unsigned whole = kind == selector_class::part ? 1 : wants_halves ? 2 : 4;
    // Operands select among the elements of both sources, destinations and parts among their own.
    const unsigned elements = kind == selector_class::half ? 4 : kind == selector_class::byte ? 8 : halves ? 2 : 4;
    if (mask ? n > whole : n != whole) return false;
    for (unsigned i = 0; i < n; ++i) {
        const unsigned digit = static_cast<unsigned>(s) >> (3 * i) & 7u;
        if (digit >= elements || (mask && i != 0 && digit <= (static_cast<unsigned>(s) >> (3 * i - 3) & 7u)))
            return false;
    }
    return true;
}

/// Modifiers a match remembers: the choice made for each slot and which optional groups were taken.
struct bindings {
    tok slot[8] = {};
    unsigned flags = 0;
};

/// One row of the packed table, cut into its parts.
struct row_view {
    const char16_t* pattern = nullptr;
    const char16_t* pattern_end = nullptr;
    const char16_t* operands_end = nullptr;
    unsigned head = 0;

    [[nodiscard]] constexpr ptx_version version() const noexcept {
        const unsigned v = head & 0xff;
        return {static_cast<std::uint8_t>(v / 10), static_cast<std::uint8_t>(v % 10)};
    }
    [[nodiscard]] constexpr unsigned target_rule() const noexcept { return head >> 8; }
};

[[nodiscard]] constexpr row_view row_at(const char16_t* at) noexcept {
    return {at + 3, at + 3 + (at[2] & 0xffu), at + at[0], at[1]};
}

/// Whether a row takes this many modifiers at all: the cheap test before the match.
[[nodiscard]] constexpr bool takes_count(const char16_t* at, unsigned modifiers) noexcept {
    const unsigned low = at[2] >> 8 & 0xfu;
    const unsigned high = static_cast<unsigned>(at[2]) >> 12;
    return modifiers >= low && (modifiers <= high || high == 15);
}

[[nodiscard]] constexpr bool set_has(unsigned set, tok t) noexcept {
    const char16_t* const s = sets + set_offset[set];
    const auto wanted = static_cast<unsigned>(t);
    unsigned low = 1;
    unsigned high = s[0] + 1u;
    while (low < high) {
        const unsigned middle = (low + high) / 2;
        const unsigned there = s[middle];
        if (there == wanted) return true;
        if (there < wanted)
            low = middle + 1;
        else
            high = middle;
    }
    return false;
}

[[nodiscard]] constexpr bool on_target(unsigned rule, target t) noexcept {
    const char16_t* const r = targets + target_offset[rule];
    for (unsigned i = 1; i <= r[0]; ++i) {
        const unsigned sm = r[i] & 0xfffu;
        const unsigned suffix = static_cast<unsigned>(r[i]) >> 12;
        if (suffix == 0 && t.at_least(sm)) return true;
        if (suffix == 1 && t == target{static_cast<std::uint16_t>(sm), 'a'}) return true;
        if (suffix == 2 && t.at_least(sm) && !t.at_least(sm + 1) && t.suffix != 0) return true;
    }
    return false;
}

/// Whether a target that a rule lets pass also has these modifiers.
[[nodiscard]] constexpr bool has_modifiers(unsigned rule, target t, const tok* first, const tok* last) noexcept {
    const char16_t* const r = targets + target_offset[rule];
    const char16_t* const needs = r + r[0] + 1;
    if (t.at_least(needs[0])) return true;
    for (; first != last; ++first)
        for (unsigned i = 0; i != needs[1]; ++i)
            if (needs[2 * i + 2] == static_cast<unsigned>(*first) && !t.at_least(needs[2 * i + 3])) return false;
    return true;
}

/// The register type an operand type is checked as. Byte registers exist in PTX (`.reg .b8`) for `cvt` and `mov`.
[[nodiscard]] constexpr scalar register_type(scalar s) noexcept {
    return s == scalar::b8 || s == scalar::e2m1x2 ? scalar::b8 : info(s).reg;
}

/// Same size: whether a register of one class holds the other (PTX ISA, "Operand Type Checking").
[[nodiscard]] constexpr bool classes_fit(type_class want, type_class have) noexcept {
    if (want == type_class::bits || have == type_class::bits) return true;
    return (want == type_class::floating) == (have == type_class::floating);
}

/// Wider register ("Operand Size Exceeding Instruction-Type Size"): any for bits, integer for integer, bits for all.
[[nodiscard]] constexpr bool wider_fits(type_class want, type_class have) noexcept {
    if (want == type_class::bits || have == type_class::bits) return true;
    return want != type_class::floating && have != type_class::floating;
}

inline constexpr unsigned word_set = 0x4000;
inline constexpr unsigned word_optional = 0x8000;

/// Whether one pattern word (not an optional group) takes this modifier.
[[nodiscard]] constexpr bool word_takes(unsigned word, tok t) noexcept {
    return (word & word_set) != 0 ? set_has(word & 0x7ffu, t) : word == static_cast<unsigned>(t);
}

/// Matches modifiers against a pattern. An optional group is entered when its first modifier fits, and left out
/// when the rest then fails.
constexpr bool match_pattern(const char16_t* p, const char16_t* p_end, const tok* t, const tok* t_end,
                             bindings& b) noexcept {
    while (p != p_end) {
        const unsigned word = *p++;
        if ((word & word_optional) != 0) {
            const bool starts = (*p & word_optional) != 0 || (t != t_end && word_takes(*p, *t));
            if (starts) {
                bindings taken = b;
                taken.flags |= 1u << (word >> 8 & 0xfu);
                if (match_pattern(p, p_end, t, t_end, taken)) {
                    b = taken;
                    return true;
                }
            }
            p += word & 0xffu;
            continue;
        }
        if (t == t_end || !word_takes(word, *t)) return false;
        if ((word & word_set) != 0) b.slot[word >> 11 & 7u] = *t;
        ++t;
    }
    return t == t_end;
}

}  // namespace detail

/// One operand of a form: what the row asks for, with the modifiers of a concrete instruction filled in.
class operand_rule {
public:
    constexpr operand_rule(const char16_t* words, const detail::bindings& bound) noexcept
        : flags_(words[0] & 0xfff0u),
          class_(static_cast<detail::operand_class>(words[0] & 0xfu)),
          type_(words[1] & 0xffu),
          count_(words[2]),
          range_(words[3]) {
        const unsigned gate = words[1] >> 8 & 0xfu;
        const bool negated = (words[1] & 0x1000u) != 0;
        present_ = gate == 0 || ((bound.flags >> gate & 1u) != 0) != negated;
        if (type_ >= 64) bound_type_ = bound.slot[type_ - 64];
        if ((count_ & 0x8000u) != 0) count_ = counted(bound);
    }

    /// False when the modifiers leave the operand out.
    [[nodiscard]] constexpr bool present() const noexcept { return present_; }
    [[nodiscard]] constexpr bool dest() const noexcept { return has(detail::operand_flag::dest); }
    [[nodiscard]] constexpr bool optional() const noexcept { return has(detail::operand_flag::optional); }
    /// Written after the operand before it with `|`, not with a comma: `d|p`.
    [[nodiscard]] constexpr bool joined() const noexcept { return has(detail::operand_flag::joined); }
    [[nodiscard]] constexpr bool register_only() const noexcept {
        return dest() || has(detail::operand_flag::reg_only);
    }
    /// A vector may have `_` for some of its registers.
    [[nodiscard]] constexpr bool takes_sinks() const noexcept {
        return dest() ? !has(detail::operand_flag::reg_only) : has(detail::operand_flag::sink);
    }
    /// The register may be wider than the type.
    [[nodiscard]] constexpr bool relaxed() const noexcept { return has(detail::operand_flag::relaxed); }
    [[nodiscard]] constexpr bool takes_sink() const noexcept { return dest() && has(detail::operand_flag::sink); }
    [[nodiscard]] constexpr bool takes_negation() const noexcept { return has(detail::operand_flag::negated); }
    [[nodiscard]] constexpr bool takes_special() const noexcept {
        return class_ == detail::operand_class::reg && has(detail::operand_flag::sreg);
    }
    [[nodiscard]] constexpr bool takes_symbol() const noexcept { return has(detail::operand_flag::symbol); }
    [[nodiscard]] constexpr bool has_range() const noexcept { return range_ != 0; }
    [[nodiscard]] constexpr std::int64_t low() const noexcept { return wide(0); }
    [[nodiscard]] constexpr std::int64_t high() const noexcept { return wide(4); }
    /// Distance of the immediates of the range; 0: the powers of two in it.
    [[nodiscard]] constexpr std::int64_t step() const noexcept { return range_words()[8]; }

    /// The kind of operand the row asks for first (alternatives are the `takes_` functions). A vector whose length
    /// modifier is absent is a single register.
    [[nodiscard]] constexpr shape_kind kind() const noexcept {
        using detail::operand_class;
        switch (class_) {
            case operand_class::reg: return shape_kind::reg;
            case operand_class::pred: return shape_kind::pred;
            case operand_class::imm: return shape_kind::imm;
            case operand_class::vec: return count_ == 0 ? shape_kind::reg : shape_kind::vec;
            case operand_class::address: return shape_kind::address;
            case operand_class::tmap: return shape_kind::tensor_address;
            case operand_class::label: return shape_kind::label;
            case operand_class::symbol: return shape_kind::symbol;
            case operand_class::sink: return shape_kind::sink;
            case operand_class::texture: return shape_kind::tensor_address;
            case operand_class::list: return shape_kind::list;
        }
        return shape_kind::none;
    }
    /// Type of the register or of the vector's registers.
    [[nodiscard]] constexpr scalar type() const noexcept {
        return type_ >= 64 ? token_type(bound_type_) : static_cast<scalar>(type_);
    }
    /// Vector length or number of coordinates.
    [[nodiscard]] constexpr unsigned count() const noexcept { return count_; }
    /// The video selector a register may have.
    [[nodiscard]] constexpr detail::selector_class selector() const noexcept {
        return class_ == detail::operand_class::reg ? static_cast<detail::selector_class>(count_ & 7u)
                                                    : detail::selector_class::none;
    }
    [[nodiscard]] constexpr bool needs_selector() const noexcept {
        return class_ == detail::operand_class::reg && (count_ & detail::selector_required) != 0;
    }
    [[nodiscard]] constexpr bool takes_minus() const noexcept { return has(detail::operand_flag::minus); }
    [[nodiscard]] constexpr bool takes_unified() const noexcept { return has(detail::operand_flag::unified); }
    /// A texture or surface and its coordinates.
    [[nodiscard]] constexpr bool texture() const noexcept { return class_ == detail::operand_class::texture; }
    [[nodiscard]] constexpr bool takes_sampler() const noexcept {
        return texture() && has(detail::operand_flag::sampler);
    }

    /// An address in tensor memory, which has its own 32-bit addressing.
    [[nodiscard]] constexpr bool tensor_memory() const noexcept {
        return kind() == shape_kind::address && type_ == detail::space_tmem;
    }

    /// For addresses: whether a pointer known to point to `s` fits.
    [[nodiscard]] constexpr bool takes_space(space s) const noexcept {
        if (s == space::generic) return true;
        if (type_ < 64)
            return type_ == detail::space_any || static_cast<space>(type_) == s || widens(static_cast<space>(type_), s);
        switch (bound_type_) {
            case tok::global: return s == space::global;
            case tok::shared:
            case tok::shared__cta: return s == space::shared;
            case tok::shared__cluster: return s == space::shared || s == space::shared_cluster;
            case tok::const_: return s == space::constant;
            case tok::local: return s == space::local;
            case tok::param:
            case tok::param__entry:
            case tok::param__func: return s == space::param;
            default: return false;
        }
    }

    /// Whether a concrete operand fits.
    [[nodiscard]] constexpr bool takes(const operand_shape& o) const noexcept {
        switch (o.kind) {
            case shape_kind::reg:
                return (kind() == shape_kind::reg || (kind() == shape_kind::vec && count_ == 1)) &&
                       fits_register(o.type) && takes_form(o);
            case shape_kind::special: return takes_special() && fits_register(o.type);
            case shape_kind::vec:
                return kind() == shape_kind::vec && o.count == count_ && (takes_sinks() || !o.sinks) &&
                       fits_register(o.type);
            case shape_kind::imm: return takes_immediate(o);
            case shape_kind::not_pred: return kind() == shape_kind::pred && takes_negation();
            case shape_kind::sink: return takes_sink();
            case shape_kind::symbol: return kind() == shape_kind::symbol || takes_symbol();
            case shape_kind::tensor_address:
                return kind() == o.kind && (texture() ? takes_coordinates(o) : o.count == count_);
            case shape_kind::address: return kind() == o.kind && takes_space(o.sp) && (takes_unified() || !o.unified);
            case shape_kind::list:
            case shape_kind::pred:
            case shape_kind::label: return kind() == o.kind;
            case shape_kind::none: return false;
        }
        return false;
    }

private:
    [[nodiscard]] constexpr bool has(unsigned flag) const noexcept { return (flags_ & flag) != 0; }

    [[nodiscard]] constexpr unsigned counted(const detail::bindings& bound) const noexcept {
        const unsigned n = token_count_of(bound.slot[count_ >> 11 & 7u]);
        const unsigned factor = count_ & 0x3ffu;
        return (count_ & 0x400u) != 0 ? n / factor : n * factor;
    }

    [[nodiscard]] static constexpr bool widens(space wanted, space given) noexcept {
        return wanted == space::shared_cluster && given == space::shared;
    }

    [[nodiscard]] constexpr const char16_t* range_words() const noexcept {
        return detail::immediates + std::size_t{range_ - 1u} * 9;
    }
    [[nodiscard]] constexpr std::int64_t wide(unsigned at) const noexcept {
        const char16_t* const w = range_words() + at;
        return static_cast<std::int64_t>(std::uint64_t{w[0]} | std::uint64_t{w[1]} << 16 | std::uint64_t{w[2]} << 32 |
                                         std::uint64_t{w[3]} << 48);
    }

    [[nodiscard]] constexpr bool fits_register(scalar given) const noexcept {
        const scalar_info& want = info(detail::register_type(type()));
        const scalar_info& have = info(detail::register_type(given));
        if (given == scalar::none || given == scalar::pred) return false;
        if (bits_only() && have.cls != type_class::bits) return false;
        if (want.bits == have.bits) return detail::classes_fit(want.cls, have.cls);
        return relaxed() && have.bits > want.bits && detail::wider_fits(want.cls, have.cls);
    }

    /// f16, bf16, the narrow floats and all packed types live in `.b` registers and in no others.
    [[nodiscard]] constexpr bool bits_only() const noexcept {
        const scalar_info& named = info(type());
        const bool narrow = named.cls == type_class::floating || named.cls == type_class::packed;
        return has(detail::operand_flag::bits_only) || (narrow && info(named.reg).cls == type_class::bits);
    }

    /// What stands around the register: `-a`, `a.b0`.
    [[nodiscard]] constexpr bool takes_form(const operand_shape& o) const noexcept {
        if (o.minus && !takes_minus()) return false;
        if (o.selector == 0) return !needs_selector();
        return detail::selector_fits(selector(), o.selector);
    }

    /// ptxas takes more coordinates than the geometry has and ignores them; vectors have 1, 2 or 4 elements.
    [[nodiscard]] constexpr bool takes_coordinates(const operand_shape& o) const noexcept {
        if (o.sampler && !takes_sampler()) return false;
        if (o.count < count_ || (o.count != 1 && o.count != 2 && o.count != 4)) return false;
        if (type() == scalar::b32 && info(o.type).cls == type_class::floating)
            return false;  // the first one is an index
        return o.type == scalar::none || fits_register(o.type);
    }

    [[nodiscard]] constexpr bool takes_immediate(const operand_shape& o) const noexcept {
        const bool float_literal = o.type == scalar::f32 || o.type == scalar::f64;
        if (has_range()) {
            return !float_literal && in_range(o.value);
        }
        if (kind() != shape_kind::reg || register_only() || needs_selector()) return false;
        const scalar_info& want = info(type());
        if (want.cls == type_class::floating) return float_literal && want.bits >= 32;
        // An untyped word takes a float literal of its own width.
        return !float_literal || (want.cls == type_class::bits && want.bits == bits(o.type));
    }

    [[nodiscard]] constexpr bool in_range(std::int64_t value) const noexcept {
        if (value < low() || value > high()) return false;
        if (step() == 0) return (value & (value - 1)) == 0;
        return (static_cast<std::uint64_t>(value) - static_cast<std::uint64_t>(low())) %
                   static_cast<std::uint64_t>(step()) ==
               0;
    }

    unsigned flags_;
    detail::operand_class class_;
    unsigned type_;
    unsigned count_;
    unsigned range_;
    tok bound_type_ = tok::none;
    bool present_ = true;
};

namespace detail {

/// Outcome of matching operands: how far it came.
struct operand_match {
    verdict::status st = verdict::status::ok;
    std::uint8_t operand = 0;
};

/// Matches the operands of an instruction against a row. An optional operand that does not fit is left out.
constexpr operand_match match_operands(const row_view& row, const bindings& b, const operand_shape* o,
                                       unsigned n) noexcept {
    unsigned used = 0;
    bool skipped = false;
    for (const char16_t* w = row.pattern_end; w != row.operands_end; w += 4) {
        const operand_rule rule(w, b);
        if (!rule.present()) continue;
        const bool fits = used < n && rule.takes(o[used]);
        if (fits) {
            ++used;
        } else if (rule.optional()) {
            skipped = true;
        } else if (used >= n) {
            return {verdict::status::operand_count, static_cast<std::uint8_t>(used)};
        } else {
            return {verdict::status::bad_operand, static_cast<std::uint8_t>(used)};
        }
    }
    if (used == n) return {};
    return {skipped ? verdict::status::bad_operand : verdict::status::operand_count, static_cast<std::uint8_t>(used)};
}

/// Prefers the verdict that came further: a match on the lowest PTX version, then the best reason for a refusal.
constexpr bool better(const verdict& a, const verdict& b) noexcept {
    if (a.ok() && b.ok()) return a.since < b.since;
    if (a.ok() != b.ok()) return a.ok();
    if (a.st == verdict::status::bad_operand && b.st == a.st) return a.operand > b.operand;
    return a.st > b.st;
}

constexpr verdict find_form(const tok* tokens, unsigned n_tokens, const operand_shape* operands, unsigned n_operands,
                            bool with_operands, target t) noexcept {
    if (n_tokens == 0) return {};
    const unsigned first = opcode_first[static_cast<unsigned>(tokens[0])];
    if (first == 0) return {};
    verdict best{verdict::status::bad_modifiers, verdict::no_form, {}, 0};
    const char16_t* at = code + first + 2;
    const unsigned form0 = code[first];
    const unsigned forms = code[first + 1];
    for (unsigned i = 0; i != forms; at += at[0], ++i) {
        if (!takes_count(at, n_tokens - 1)) continue;
        const row_view row = row_at(at);
        bindings b;
        if (!match_pattern(row.pattern, row.pattern_end, tokens + 1, tokens + n_tokens, b)) continue;
        verdict v{verdict::status::ok, static_cast<std::uint16_t>(form0 + i), row.version(), 0};
        if (!on_target(row.target_rule(), t) || !has_modifiers(row.target_rule(), t, tokens + 1, tokens + n_tokens)) {
            v.st = verdict::status::wrong_target;
        } else if (with_operands) {
            const operand_match m = match_operands(row, b, operands, n_operands);
            v.st = m.st;
            v.operand = m.operand;
        }
        if (better(v, best)) best = v;
    }
    return best;
}

}  // namespace detail

/// Whether an instruction with these words (mnemonic first, then the modifiers in PTX order) exists on a target.
[[nodiscard]] constexpr verdict find(const tok* tokens, unsigned n_tokens, target t) noexcept {
    return detail::find_form(tokens, n_tokens, nullptr, 0, false, t);
}

/// The same with operands, destinations first as PTX writes them.
[[nodiscard]] constexpr verdict find(const tok* tokens, unsigned n_tokens, const operand_shape* operands,
                                     unsigned n_operands, target t) noexcept {
    return detail::find_form(tokens, n_tokens, operands, n_operands, true, t);
}

/// Number of forms in the table.
[[nodiscard]] constexpr unsigned form_count() noexcept { return detail::form_count; }

}  // namespace ptxdsl::isa
