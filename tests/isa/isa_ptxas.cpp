// SPDX-License-Identifier: Apache-2.0
// Differential test of the instruction table against ptxas. From the packed table it makes every form with its
// modifiers, types and operand variants, and near misses of each, and asks ptxas. The table's verdict and ptxas's must
// be the same; the exceptions are listed with a reason in disagreements.txt.
//
//   isa_ptxas --ptxas PATH --target sm_90a --work DIR [--known FILE] [--only TEXT] [--cap N] [--beside TARGET]
//             [--verbose]
//   isa_ptxas --ptxas PATH --every-target yes --work DIR [--known FILE]
//
// `--beside` names a target that is tried in full: of what the table refuses alike on both, a quarter is tried here,
// always the same one (chosen by the statement's hash). What the table accepts here, and all in which the two differ,
// is tried in full.
//
// `--every-target` tries all targets of PTX with the first form of each row and the newest PTX version. `ptxas` judges
// by `.target`, whatever GPU it assembles for, so this reaches targets whose GPUs it knows no longer.
//
// Exit codes: 0 agreement, 1 disagreement, 2 wrong use or an ptxas that does not run, 77 no ptxas (skipped).

#include <ptxdsl/isa/table.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

namespace {

using namespace ptxdsl;
using isa::operand_rule;
using isa::operand_shape;
using isa::scalar;
using isa::shape_kind;
using isa::tok;
using tokens = std::vector<tok>;

struct options {
    std::string ptxas = "ptxas";
    std::string work = ".";
    std::string known;
    std::string only;
    std::string target_name = "sm_90a";
    target on = sm_90a;
    target beside{};            // `--beside`: tried in full elsewhere
    bool every_target = false;  // `--every-target`: the first form of each row, newest version
    unsigned cap = 150;
    bool verbose = false;
};

// ---- what is tried ----------------------------------------------------------------------------------------------

struct operand {
    operand_shape shape;
    std::string text;
    bool joined = false;
};

struct trial {
    std::string text;  // one PTX statement
    std::string what;  // how it was made
    std::string mnemonic;
    bool legal = false;     // the table's verdict
    ptx_version version{};  // `.version` to try it under
    bool sampler = false;   // names a sampler, which needs `.target …, texmode_independent`
    bool accepted = false;  // ptxas's verdict
    std::string message;
};

std::string mnemonic_text(const tokens& t) {
    std::string out;
    for (const tok k : t) {
        if (!out.empty()) out += '.';
        out += isa::spelling(k);
    }
    return out;
}

std::string statement(const tokens& t, const std::vector<operand>& ops) {
    std::string out = mnemonic_text(t);
    for (std::size_t i = 0; i != ops.size(); ++i) {
        out += i == 0 ? " " : ops[i].joined ? "|" : ", ";
        out += ops[i].text;
    }
    return out + ";";
}

isa::verdict ask(const tokens& t, const std::vector<operand>& ops, target on) {
    std::vector<operand_shape> shapes;
    for (const operand& o : ops) shapes.push_back(o.shape);
    return isa::find(t.data(), static_cast<unsigned>(t.size()), shapes.data(), static_cast<unsigned>(shapes.size()),
                     on);
}

// ---- choices of a pattern ---------------------------------------------------------------------------------------

/// A pattern word with a choice to make: an optional group (2 values) or a set (its size).
struct factor {
    const char16_t* at;
    unsigned values;
};

std::vector<factor> factors_of(const isa::detail::row_view& row) {
    std::vector<factor> out;
    for (const char16_t* p = row.pattern; p != row.pattern_end; ++p) {
        if ((*p & isa::detail::word_optional) != 0) {
            out.push_back({p, 2});
        } else if ((*p & isa::detail::word_set) != 0) {
            out.push_back({p, isa::detail::sets[isa::detail::set_offset[*p & 0x7ffu]]});
        }
    }
    return out;
}

using assignment = std::vector<unsigned>;

/// The modifiers an assignment of the choices spells.
tokens spell(tok opcode, const isa::detail::row_view& row, const std::vector<factor>& factors, const assignment& a) {
    tokens out{opcode};
    std::size_t f = 0;
    for (const char16_t* p = row.pattern; p < row.pattern_end; ++p) {
        const bool chosen = f < factors.size() && factors[f].at == p;
        if (chosen && (*p & isa::detail::word_optional) != 0) {
            if (a[f++] == 0) {
                p += *p & 0xffu;
                while (f < factors.size() && factors[f].at <= p) ++f;
            }
        } else if (chosen) {
            out.push_back(static_cast<tok>(isa::detail::sets[isa::detail::set_offset[*p & 0x7ffu] + 1u + a[f++]]));
        } else {
            out.push_back(static_cast<tok>(*p));
        }
    }
    return out;
}

/// FNV-1a.
std::uint64_t hash(std::string_view text, std::uint64_t h = 14695981039346656037u) {
    for (const char c : text) h = (h ^ static_cast<unsigned char>(c)) * 1099511628211u;
    return h;
}
/// What a row is called: its modifiers as they are spelled. Numbers of tokens and sets move when the table grows.
std::string name_of(tok opcode, const isa::detail::row_view& row) {
    std::string name(isa::spelling(opcode));
    for (const char16_t* p = row.pattern; p != row.pattern_end; ++p) {
        if ((*p & isa::detail::word_optional) != 0) {
            name += '?' + std::to_string(*p & 0xffu);
        } else if ((*p & isa::detail::word_set) != 0) {
            const unsigned set = isa::detail::set_offset[*p & 0x7ffu];
            for (unsigned i = 1; i <= isa::detail::sets[set]; ++i)
                (name += i == 1 ? '.' : ',') += isa::spelling(static_cast<tok>(isa::detail::sets[set + i]));
        } else {
            (name += '.') += isa::spelling(static_cast<tok>(*p));
        }
    }
    return name;
}

/// Small generator. Each row has one that its name seeds, so that every run tries the same, and a row that comes to the
/// table changes nothing about what is tried of the others.
class dice {
public:
    explicit dice(std::uint64_t seed) : state_(seed | 1) {}
    unsigned operator()(unsigned n) {
        state_ = state_ * 6364136223846793005u + 1442695040888963407u;
        return static_cast<unsigned>(state_ >> 33) % n;
    }

private:
    std::uint64_t state_;
};
/// The word that comes first in an order of its own for each seed: another word in the list takes its place in few of
/// them, and leaves the others as they are.
tok pick(const std::vector<tok>& words, std::uint64_t seed) {
    const auto before = [&](tok a, tok b) { return hash(isa::spelling(a), seed) < hash(isa::spelling(b), seed); };
    return *std::min_element(words.begin(), words.end(), before);
}

std::vector<assignment> all_assignments(const std::vector<factor>& f) {
    std::vector<assignment> out{assignment(f.size(), 0)};
    for (std::size_t i = 0; i != f.size(); ++i) {
        std::vector<assignment> next;
        for (const assignment& a : out) {
            for (unsigned v = 0; v != f[i].values; ++v) {
                next.push_back(a);
                next.back()[i] = v;
            }
        }
        out.swap(next);
    }
    return out;
}

using pair_key = std::tuple<std::size_t, unsigned, std::size_t, unsigned>;

std::set<pair_key> all_pairs(const std::vector<factor>& f) {
    std::set<pair_key> out;
    for (std::size_t i = 0; i != f.size(); ++i) {
        for (std::size_t j = i + 1; j != f.size(); ++j) {
            for (unsigned a = 0; a != f[i].values; ++a) {
                for (unsigned b = 0; b != f[j].values; ++b) out.insert({i, a, j, b});
            }
        }
    }
    return out;
}

/// Assignments in which every pair of values of two choices occurs.
std::vector<assignment> pairwise(const std::vector<factor>& f, dice& roll) {
    std::vector<assignment> out;
    std::set<pair_key> open = all_pairs(f);
    while (!open.empty()) {
        const auto [i, a, j, b] = *open.begin();
        assignment best;
        std::size_t best_gain = 0;
        for (int attempt = 0; attempt != 12; ++attempt) {
            assignment c;
            for (const factor& x : f) c.push_back(roll(x.values));
            c[i] = a;
            c[j] = b;
            std::size_t gain = 0;
            for (std::size_t p = 0; p != f.size(); ++p) {
                for (std::size_t q = p + 1; q != f.size(); ++q) gain += open.count({p, c[p], q, c[q]});
            }
            if (gain > best_gain) {
                best_gain = gain;
                best = c;
            }
        }
        for (std::size_t p = 0; p != f.size(); ++p) {
            for (std::size_t q = p + 1; q != f.size(); ++q) open.erase({p, best[p], q, best[q]});
        }
        out.push_back(best);
    }
    return out;
}

std::vector<assignment> choices(const std::vector<factor>& f, unsigned cap, dice& roll) {
    std::uint64_t product = 1;
    for (const factor& x : f) product = std::min<std::uint64_t>(product * x.values, 1u << 30);
    return product <= cap || f.size() < 2 ? all_assignments(f) : pairwise(f, roll);
}

// ---- operands ---------------------------------------------------------------------------------------------------

/// Registers of the type that holds `s`, as the test kernels declare them.
std::string register_name(scalar s, unsigned n) {
    return "%" + std::string(isa::name(isa::detail::register_type(s))) + "_" + std::to_string(n);
}

operand register_operand(scalar s, unsigned n) {
    return {{shape_kind::reg, s, 1, space::generic, 0}, register_name(s, n)};
}

operand vector_operand(scalar s, unsigned count, unsigned n) {
    std::string text = "{";
    for (unsigned i = 0; i != count; ++i) text += (i == 0 ? "" : ", ") + register_name(s, n + i);
    return {{shape_kind::vec, s, static_cast<std::uint16_t>(count), space::generic, 0}, text + "}"};
}

operand immediate_operand(std::int64_t value) {
    return {{shape_kind::imm, scalar::none, 1, space::generic, value}, std::to_string(value)};
}

operand float_immediate(scalar s) {
    return {{shape_kind::imm, s, 1, space::generic, 0}, s == scalar::f64 ? "0d3FF0000000000000" : "0f3F800000"};
}

bool has(const tokens& t, tok k) { return std::find(t.begin(), t.end(), k) != t.end(); }

/// A variable of the state space an instruction names.
std::string symbol_for(const tokens& words) {
    if (has(words, tok::const_)) return "cv";
    if (has(words, tok::local)) return "lv";
    if (has(words, tok::global)) return "gv";
    if (has(words, tok::param) || has(words, tok::param__entry)) return "p0";
    return "sv";
}

operand address_operand(const operand_rule& rule, const tokens& words) {
    const operand_shape shape{shape_kind::address, scalar::none, 1, space::generic, 0};
    if (rule.tensor_memory()) return {shape, "[%b32_0]"};
    if (rule.takes_space(space::param) && !rule.takes_space(space::global))
        return {shape, words[0] == tok::st ? "[q0]" : "[p0]"};
    if (rule.takes_space(space::shared) && !rule.takes_space(space::global)) return {shape, "[%b32_0]"};
    return {shape, "[%b64_0]"};
}

operand tensor_operand(unsigned count) {
    std::string text = "[%b64_1, {";
    for (unsigned i = 0; i != count; ++i) text += (i == 0 ? "" : ", ") + register_name(scalar::b32, i);
    return {{shape_kind::tensor_address, scalar::none, static_cast<std::uint16_t>(count), space::generic, 0},
            text + "}]"};
}

/// A texture or surface (`handles` = 2: and a sampler) and coordinates. `type` none stands for the rule's.
operand texture_operand(const operand_rule& rule, unsigned count, scalar type, unsigned handles) {
    operand out = vector_operand(type, count, 0);
    out.text = (handles == 2 ? "[%b64_1, %b64_2, " : "[%b64_1, ") + out.text + "]";
    out.shape = {shape_kind::tensor_address, type, static_cast<std::uint16_t>(count), space::generic, 0};
    out.shape.sampler = handles == 2;
    out.joined = rule.joined();
    return out;
}

void with_selector(operand& o, std::string_view selector) {
    o.text += "." + std::string(selector);
    o.shape.selector = isa::selector_of(selector.data(), selector.size());
}

/// What the test modules call: see `module_scope`.
bool has_result(const std::vector<operand_rule>& rules) { return !rules.empty() && rules[0].dest(); }

/// The plainest operand a rule takes.
operand plain(const operand_rule& rule, const tokens& words, unsigned n) {
    operand out;
    switch (rule.kind()) {
        case shape_kind::reg: out = register_operand(rule.type(), n); break;
        case shape_kind::vec: out = vector_operand(rule.type(), rule.count(), n); break;
        case shape_kind::imm: out = immediate_operand(rule.low() < -1000000 ? 1 : rule.low()); break;
        case shape_kind::pred:
            out = {{shape_kind::pred, scalar::pred, 1, space::generic, 0}, "%p" + std::to_string(n)};
            break;
        case shape_kind::address: out = address_operand(rule, words); break;
        case shape_kind::tensor_address:
            out = rule.texture() ? texture_operand(rule, rule.count(), rule.type(), 1) : tensor_operand(rule.count());
            break;
        case shape_kind::label:
            out = {{shape_kind::label, scalar::none, 1, space::generic, 0}, words[0] == tok::brx ? "T" : "L"};
            break;
        case shape_kind::list: out = {{shape_kind::list, scalar::none, 1, space::generic, 0}, "(%b32_1)"}; break;
        case shape_kind::sink: out = {{shape_kind::sink, scalar::none, 1, space::generic, 0}, "_"}; break;
        case shape_kind::symbol: out = {{shape_kind::symbol, scalar::none, 1, space::generic, 0}, "gv"}; break;
        default: break;
    }
    if (rule.needs_selector()) with_selector(out, "h1");
    out.joined = rule.joined();
    return out;
}

/// A form with its modifiers chosen: the operand rules that are present.
struct shaped_form {
    tokens words;
    std::vector<operand_rule> rules;
};

shaped_form shape_form(const tokens& words, const isa::detail::row_view& row) {
    isa::detail::bindings b;
    isa::detail::match_pattern(row.pattern, row.pattern_end, words.data() + 1, words.data() + words.size(), b);
    shaped_form out{words, {}};
    for (const char16_t* w = row.pattern_end; w != row.operands_end; w += 4) {
        const operand_rule rule(w, b);
        if (rule.present()) out.rules.push_back(rule);
    }
    return out;
}

/// A call is right only with the function that has these results and arguments (see `module_scope`).
void name_callee(const std::vector<operand_rule>& rules, std::vector<operand>& ops) {
    std::size_t lists = 0;
    for (const operand& o : ops) lists += o.shape.kind == shape_kind::list ? 1u : 0u;
    const bool result = has_result(rules);
    const char* const kind = result ? "r1" : lists == 0 ? "0" : "1";
    for (operand& o : ops) {
        if (o.shape.kind == shape_kind::symbol) o.text = std::string("fn") + kind;
        if (o.shape.kind == shape_kind::label) o.text = std::string("P") + kind;
    }
}

std::vector<operand> plain_operands(const shaped_form& f, bool with_optional) {
    std::vector<operand> out;
    unsigned n = 0;
    for (const operand_rule& rule : f.rules) {
        if (rule.optional() && !with_optional) continue;
        out.push_back(plain(rule, f.words, n));
        ++n;
    }
    if (f.words[0] == tok::call) name_callee(f.rules, out);
    return out;
}

/// The same operand in the other forms that PTX has: with a selector, negated, `.unified`, with `_` in a vector.
void add_forms(std::vector<operand>& out, const operand_rule& rule, const tokens& words, const operand& base) {
    if (rule.selector() != isa::detail::selector_class::none) {
        for (const std::string_view s : {"b0", "b3", "h1", "h10", "h01", "h32", "b20", "b3210", "b7654", "b0123"}) {
            operand o = base;
            if (o.shape.selector != 0) o.text.erase(o.text.find('.'));
            with_selector(o, s);
            out.push_back(o);
        }
        operand o = base;
        if (o.shape.selector != 0) o.text.erase(o.text.find('.'));
        o.shape.selector = 0;
        if (rule.needs_selector()) out.push_back(o);
        o.text = "-" + base.text;
        o.shape = base.shape;
        o.shape.minus = true;
        if (!rule.dest()) out.push_back(o);
    }
    if (rule.kind() == shape_kind::address && words[0] == tok::ld) {
        operand o = base;
        o.text += ".unified";
        o.shape.unified = true;
        out.push_back(o);
    }
    if (rule.kind() == shape_kind::vec && rule.count() > 1) {
        operand o = base;
        o.text.replace(o.text.rfind(' ') + 1, std::string::npos, "_}");
        o.shape.sinks = true;
        out.push_back(o);
    }
}

/// The other operands to try at one place: those a rule takes besides the plain one and those it should refuse.
/// A sink that is refused costs a run of ptxas, so it is tried for the first form of a row only.
std::vector<operand> alternatives(const operand_rule& rule, const tokens& words, const operand& base, unsigned n,
                                  bool first) {
    std::vector<operand> out;
    const auto add = [&](operand o) {
        o.joined = base.joined;
        out.push_back(std::move(o));
    };
    if (rule.kind() == shape_kind::reg) {
        for (const scalar s :
             {scalar::b16, scalar::b32, scalar::b64, scalar::u16, scalar::s32, scalar::u64, scalar::f32, scalar::f64}) {
            add(register_operand(s, n));
        }
        if (!rule.dest()) {
            add(immediate_operand(1));
            add(float_immediate(scalar::f32));
            add(float_immediate(scalar::f64));
        }
    }
    add_forms(out, rule, words, base);
    if (rule.texture()) {
        for (const unsigned count : {1u, 2u, 4u}) {
            if (count != rule.count()) add(texture_operand(rule, count, rule.type(), 1));
        }
        add(texture_operand(rule, rule.count(), rule.type(), 2));
        add(texture_operand(rule, rule.count(), rule.type() == scalar::f32 ? scalar::s32 : scalar::f32, 1));
    }
    if (rule.kind() == shape_kind::pred && !rule.dest()) {
        add({{shape_kind::not_pred, scalar::pred, 1, space::generic, 0}, "!" + base.text});
    }
    if (rule.dest() && (first || rule.takes_sink()) &&
        (rule.kind() == shape_kind::reg || rule.kind() == shape_kind::pred)) {
        add({{shape_kind::sink, scalar::none, 1, space::generic, 0}, "_"});
    }
    if (rule.kind() == shape_kind::vec) {
        add(vector_operand(rule.type(), rule.count() + 1, n));
        if (rule.count() > 1) add(vector_operand(rule.type(), rule.count() / 2, n));
        add(vector_operand(isa::bits(isa::info(rule.type()).reg) == 32 ? scalar::b64 : scalar::b32, rule.count(), n));
    }
    if (rule.has_range()) {
        for (const std::int64_t v :
             {rule.low() - 1, rule.low() + 1, rule.low() + rule.step(), rule.low() * 2, rule.high(), rule.high() + 1}) {
            if (v > -1000000 && v < 10000000) add(immediate_operand(v));
        }
        if (rule.kind() == shape_kind::imm) add(register_operand(scalar::b32, n));
    }
    if (rule.takes_special()) {
        add({{shape_kind::special, scalar::u32, 1, space::generic, 0}, "%tid.x"});
        add({{shape_kind::special, scalar::u64, 1, space::generic, 0}, "%clock64"});
    }
    if (rule.takes_symbol()) add({{shape_kind::symbol, scalar::none, 1, space::generic, 0}, symbol_for(words)});
    return out;
}

// ---- building the trials ----------------------------------------------------------------------------------------

constexpr ptx_version newest{9, 0};
constexpr std::uint8_t known_versions[] = {80, 81, 82, 83, 84, 85, 86, 87, 88, 90};

ptx_version unpack(std::uint8_t v) { return {static_cast<std::uint8_t>(v / 10), static_cast<std::uint8_t>(v % 10)}; }

/// The version before `v`, or `v` itself when the target's floor is not below it.
ptx_version before(ptx_version v, target on) {
    ptx_version out = v;
    for (const std::uint8_t k : known_versions) {
        if (unpack(k) < v && unpack(k) >= on.floor()) out = unpack(k);
    }
    return out;
}

class trials {
public:
    explicit trials(const options& o) : options_(o) {}

    void add(const tokens& words, const std::vector<operand>& ops, std::string what) {
        const isa::verdict v = ask(words, ops, options_.on);
        if (options_.every_target) return add_at(words, ops, v.ok(), newest, what);
        if (options_.beside.known() && !v.ok() && !ask(words, ops, options_.beside).ok() &&
            hash(statement(words, ops)) % 4 != 0)
            return;
        const ptx_version first = std::max(v.since, options_.on.floor());
        add_at(words, ops, v.ok(), v.ok() ? first : newest, what);
        // Once per form: the version before its first one must refuse it.
        if (v.ok() && before(first, options_.on) != first && boundary_.insert(mnemonic_text(words)).second) {
            add_at(words, ops, false, before(first, options_.on), "before its version");
        }
    }

    std::vector<trial>& list() { return list_; }

private:
    void add_at(const tokens& words, const std::vector<operand>& ops, bool legal, ptx_version version,
                const std::string& what) {
        const std::string text = statement(words, ops);
        const std::string key = text + std::to_string(version.major) + std::to_string(version.minor);
        if (!seen_.insert(key).second) return;
        list_.push_back({text,
                         what,
                         mnemonic_text(words),
                         legal,
                         version,
                         std::any_of(ops.begin(), ops.end(), [](const operand& o) { return o.shape.sampler; }),
                         false,
                         {}});
    }

    const options& options_;
    std::vector<trial> list_;
    std::set<std::string> seen_;
    std::set<std::string> boundary_;
};

/// Every modifier word that occurs in the rows of a mnemonic.
std::vector<tok> vocabulary(tok opcode) {
    std::set<tok> out;
    const char16_t* at = isa::detail::code + isa::detail::opcode_first[static_cast<unsigned>(opcode)];
    const unsigned forms = at[1];
    at += 2;
    for (unsigned i = 0; i != forms; at += at[0], ++i) {
        const isa::detail::row_view row = isa::detail::row_at(at);
        for (const char16_t* p = row.pattern; p != row.pattern_end; ++p) {
            if ((*p & isa::detail::word_optional) != 0) continue;
            if ((*p & isa::detail::word_set) == 0) {
                out.insert(static_cast<tok>(*p));
                continue;
            }
            const char16_t* const s = isa::detail::sets + isa::detail::set_offset[*p & 0x7ffu];
            for (unsigned k = 1; k <= s[0]; ++k) out.insert(static_cast<tok>(s[k]));
        }
    }
    return {out.begin(), out.end()};
}

bool legal_modifiers(const tokens& t, target on) {
    return isa::find(t.data(), static_cast<unsigned>(t.size()), on).ok();
}

/// Whether the modifiers are legal with number `i` at any place: ptxas does not care about their order.
bool legal_anywhere(tokens t, std::size_t i, target on) {
    const tok moved = t[i];
    t.erase(t.begin() + static_cast<std::ptrdiff_t>(i));
    for (std::size_t k = 1; k <= t.size(); ++k) {
        tokens tried = t;
        tried.insert(tried.begin() + static_cast<std::ptrdiff_t>(k), moved);
        if (legal_modifiers(tried, on)) return true;
    }
    return false;
}

/// Near misses in the modifiers: one dropped, one exchanged, one added.
void add_modifier_misses(trials& out, const shaped_form& f, const std::vector<tok>& words, const options& o) {
    const std::uint64_t seed = hash(mnemonic_text(f.words));
    const std::vector<operand> ops = plain_operands(f, false);
    for (std::size_t i = 1; i < f.words.size(); ++i) {
        tokens dropped = f.words;
        dropped.erase(dropped.begin() + static_cast<std::ptrdiff_t>(i));
        if (!legal_modifiers(dropped, o.on)) out.add(dropped, ops, "modifier dropped");
        tokens exchanged = f.words;
        exchanged[i] = pick(words, seed + i);
        const bool type = isa::token_type(exchanged[i]) != scalar::none;
        if (type ? !legal_modifiers(exchanged, o.on)
                 : !has(f.words, exchanged[i]) && !legal_anywhere(exchanged, i, o.on)) {
            out.add(exchanged, ops, "modifier exchanged");
        }
    }
    for (unsigned k = 0; k != 3 && !words.empty(); ++k) {
        const tok extra = pick(words, seed - 1 - k);
        if (isa::token_type(extra) != scalar::none || has(f.words, extra)) continue;
        tokens added = f.words;
        added.insert(added.begin() + 1, extra);
        if (!legal_anywhere(added, 1, o.on)) out.add(added, ops, "modifier added");
    }
}

void add_operand_variants(trials& out, const shaped_form& f, bool first) {
    const std::vector<operand> ops = plain_operands(f, true);
    for (std::size_t i = 0; i != ops.size(); ++i) {
        for (const operand& o : alternatives(f.rules[i], f.words, ops[i], static_cast<unsigned>(i), first)) {
            std::vector<operand> changed = ops;
            changed[i] = o;
            out.add(f.words, changed, "operand " + std::to_string(i));
        }
    }
    if (!ops.empty()) {
        std::vector<operand> fewer(ops.begin(), ops.end() - 1);
        out.add(f.words, fewer, "operand dropped");
        std::vector<operand> more = ops;
        more.push_back(ops.back());
        more.back().joined = false;
        out.add(f.words, more, "operand added");
    }
}

void add_row(trials& out, tok opcode, const isa::detail::row_view& row, const std::vector<tok>& words,
             const options& o) {
    dice roll(hash(name_of(opcode, row)));
    const std::vector<factor> f = factors_of(row);
    const std::vector<assignment> list = choices(f, o.cap, roll);
    std::size_t variants_left = 6;
    const std::size_t stride = std::max<std::size_t>(1, list.size() / variants_left);
    for (std::size_t i = 0; i != list.size(); ++i) {
        const shaped_form form = shape_form(spell(opcode, row, f, list[i]), row);
        if (o.every_target) {
            out.add(form.words, plain_operands(form, false), "plain");
            return;
        }
        out.add(form.words, plain_operands(form, true), "plain");
        out.add(form.words, plain_operands(form, false), "plain without options");
        if (i % stride == 0 && variants_left != 0) {
            --variants_left;
            add_operand_variants(out, form, i == 0);
            add_modifier_misses(out, form, words, o);
        }
    }
}

void add_all(trials& out, const options& o) {
    for (unsigned t = 1; t != isa::detail::token_count; ++t) {
        const unsigned first = isa::detail::opcode_first[t];
        if (first == 0) continue;
        const std::vector<tok> words = vocabulary(static_cast<tok>(t));
        const char16_t* at = isa::detail::code + first + 2;
        for (unsigned i = 0; i != isa::detail::code[first + 1]; at += at[0], ++i) {
            add_row(out, static_cast<tok>(t), isa::detail::row_at(at), words, o);
        }
    }
    if (o.only.empty()) return;
    auto& list = out.list();
    list.erase(std::remove_if(list.begin(), list.end(), [&](const trial& x) { return !x.text.starts_with(o.only); }),
               list.end());
}

// ---- asking ptxas -----------------------------------------------------------------------------------------------

constexpr std::string_view module_scope =
    ".global .align 128 .b8 gv[1024];\n"
    ".shared .align 1024 .b8 sv[4096];\n"
    ".const .align 16 .b8 cv[64];\n"
    ".func fn0() { ret; }\n"
    ".func fn1(.reg .b32 a) { ret; }\n"
    ".func (.reg .b32 r) fnr1(.reg .b32 a) { mov.b32 r, a; ret; }\n";
/// The prototypes of indirect calls and the targets of `brx.idx`.
constexpr std::string_view labels =
    " P0: .callprototype _ (); P1: .callprototype _ (.reg .b32 _); Pr1: .callprototype (.reg .b32 _) _ (.reg .b32 _); T: .branchtargets L; ";
constexpr std::string_view registers =
    ".local .align 16 .b8 lv[64]; .param .align 16 .b8 q0[64]; .reg .pred %p<12>; .reg .b8 %b8_<20>; .reg .b16 %b16_<140>; .reg .b32 %b32_<300>; .reg .b64 %b64_<140>;"
    " .reg .u16 %u16_<40>; .reg .s16 %s16_<40>; .reg .u32 %u32_<300>; .reg .s32 %s32_<300>; .reg .u64 %u64_<40>; .reg .s64 %s64_<40>;"
    " .reg .f32 %f32_<300>; .reg .f64 %f64_<140>;";

constexpr std::string_view wide_registers = " .reg .b128 %b128_<8>;";  // from PTX 8.3

class assembler {
public:
    explicit assembler(const options& o) : options_(o) {}

    /// Decides a batch of trials of one PTX version. Rejected statements are taken out and the rest tried again.
    void decide(std::vector<trial*> batch) {
        while (!batch.empty()) {
            write_module(batch);
            if (run()) {
                for (trial* t : batch) t->accepted = true;
                return;
            }
            const std::map<unsigned, std::string> errors = read_errors();
            std::vector<trial*> rest;
            for (std::size_t i = 0; i != batch.size(); ++i) {
                const auto e = errors.find(first_line_ + static_cast<unsigned>(i));
                if (e == errors.end())
                    rest.push_back(batch[i]);
                else
                    batch[i]->message = e->second;
            }
            if (rest.size() == batch.size()) {
                split(batch);
                return;
            }
            batch.swap(rest);
        }
    }

    [[nodiscard]] static std::string architecture(target t) {
        t = t.assembled_as();
        std::string s = "sm_" + std::to_string(t.sm);
        if (t.suffix != 0) s += t.suffix;
        return s;
    }
    [[nodiscard]] unsigned starts() const { return starts_; }
    [[nodiscard]] bool usable() const {
        return std::system((quoted(options_.ptxas) + " --version > /dev/null 2>&1").c_str()) == 0;
    }

private:
    static std::string quoted(const std::string& s) { return "'" + s + "'"; }

    /// An error without a usable line: halve until one statement is left to blame.
    void split(const std::vector<trial*>& batch) {
        if (batch.size() == 1) {
            batch[0]->message = log_;
            return;
        }
        const auto middle = batch.begin() + static_cast<std::ptrdiff_t>(batch.size() / 2);
        decide({batch.begin(), middle});
        decide({middle, batch.end()});
    }

    void write_module(const std::vector<trial*>& batch) {
        std::ofstream out(options_.work + "/isa_ptxas.ptx");
        const ptx_version v = batch[0]->version;
        out << ".version " << unsigned{v.major} << '.' << unsigned{v.minor} << "\n.target " << options_.target_name
            << (batch[0]->sampler ? ", texmode_independent" : "") << "\n.address_size 64\n"
            << module_scope;
        first_line_ = 4 + static_cast<unsigned>(std::count(module_scope.begin(), module_scope.end(), '\n'));
        for (std::size_t i = 0; i != batch.size(); ++i) {
            out << ".entry k" << i << "(.param .b64 p0) { " << registers
                << (v >= ptx_version{8, 3} && options_.on.has_independent_threads() ? wide_registers : "") << labels
                << batch[i]->text << " L: ret; }\n";
        }
    }

    bool run() {
        ++starts_;
        const std::string command = quoted(options_.ptxas) + " -c -O0 -arch=" + architecture(options_.on) + " '" +
                                    options_.work + "/isa_ptxas.ptx' -o '" + options_.work + "/isa_ptxas.cubin' > '" +
                                    options_.work + "/isa_ptxas.log' 2>&1";
        return std::system(command.c_str()) == 0;
    }

    std::map<unsigned, std::string> read_errors() {
        std::map<unsigned, std::string> out;
        std::ifstream in(options_.work + "/isa_ptxas.log");
        log_.clear();
        for (std::string line; std::getline(in, line);) {
            log_ += line + "\n";
            const auto at = line.find(", line ");
            if (at == std::string::npos ||
                (line.find("error") == std::string::npos && line.find("fatal") == std::string::npos))
                continue;
            const auto text = line.find("; ");
            out.emplace(static_cast<unsigned>(std::strtoul(line.c_str() + at + 7, nullptr, 10)),
                        text == std::string::npos ? line : line.substr(text + 2));
        }
        return out;
    }

    const options& options_;
    unsigned first_line_ = 0;
    unsigned starts_ = 0;
    std::string log_;
};

/// Trials on which ptxas stops at the first error, or crashes, instead of going on: they cost a run each, so they are
/// kept apart in small modules.
bool risky(const trial& t) {
    return !t.legal && (t.text.find(" _") != std::string::npos || t.what.starts_with("operand "));
}

void decide_all(std::vector<trial>& list, assembler& with) {
    // Trials expected to pass and those expected to fail go into separate modules: fewer second tries.
    std::map<std::tuple<std::uint8_t, std::uint8_t, bool, int>, std::vector<trial*>> groups;
    for (trial& t : list)
        groups[{t.version.major, t.version.minor, t.sampler, t.legal ? 0 : risky(t) ? 2 : 1}].push_back(&t);
    for (auto& [key, group] : groups) {
        const std::size_t batch_size = std::get<3>(key) == 2 ? 60 : 400;
        for (std::size_t i = 0; i < group.size(); i += batch_size) {
            const std::size_t end = std::min(i + batch_size, group.size());
            with.decide(
                {group.begin() + static_cast<std::ptrdiff_t>(i), group.begin() + static_cast<std::ptrdiff_t>(end)});
        }
    }
}

// ---- known disagreements ----------------------------------------------------------------------------------------

/// One line of the list: `target legal|illegal|early glob [how] ; reason`: what the table says (`early`: too new for
/// this PTX version), the statements it is about, and how those were made of a legal one ("modifier dropped",
/// "operand 3"), which keeps a wide glob from excusing other faults.
struct exception {
    std::string on, says, glob, reason;
    unsigned used = 0;
    std::string how = "*";
};

bool glob_matches(const char* g, const char* s) {
    for (; *g != 0; ++g, ++s) {
        if (*g == '*') {
            for (;; ++s) {
                if (glob_matches(g + 1, s)) return true;
                if (*s == 0) return false;
            }
        }
        if (*g != '?' && *g != *s) return false;
        if (*s == 0) return false;
    }
    return *s == 0;
}

std::vector<exception> read_known(const std::string& path) {
    std::vector<exception> out;
    std::ifstream in(path);
    for (std::string line; std::getline(in, line);) {
        if (line.empty() || line[0] == '#') continue;
        const auto a = line.find(' ');
        const auto b = line.find(' ', a + 1);
        const auto c = line.find(" ; ", b + 1);
        if (a == std::string::npos || b == std::string::npos || c == std::string::npos) {
            std::fprintf(stderr, "isa_ptxas: cannot read '%s'\n", line.c_str());
            continue;
        }
        exception e{line.substr(0, a), line.substr(a + 1, b - a - 1), line.substr(b + 1, c - b - 1),
                    line.substr(c + 3)};
        const auto how = e.glob.rfind(" [");
        if (how != std::string::npos && e.glob.back() == ']' && e.glob.find_first_of("%{", how) == std::string::npos) {
            e.how = e.glob.substr(how + 2, e.glob.size() - how - 3);
            e.glob.resize(how);
        }
        out.push_back(std::move(e));
    }
    return out;
}

bool excused(std::vector<exception>& known, const trial& t, const options& o) {
    for (exception& e : known) {
        const std::string says = t.legal ? "legal" : t.what == "before its version" ? "early" : "illegal";
        if (glob_matches(e.on.c_str(), o.target_name.c_str()) && e.says == says &&
            glob_matches(e.glob.c_str(), t.text.c_str()) && glob_matches(e.how.c_str(), t.what.c_str())) {
            ++e.used;
            if (o.verbose) std::printf("excused  %s  [%s] by %s\n", t.text.c_str(), t.what.c_str(), e.glob.c_str());
            return true;
        }
    }
    return false;
}

int report(std::vector<trial>& list, const options& o, unsigned starts) {
    std::vector<exception> known = read_known(o.known);
    std::size_t legal = 0, excuses = 0, wrong = 0;
    for (const trial& t : list) {
        legal += t.legal ? 1u : 0u;
        if (t.legal == t.accepted) continue;
        if (excused(known, t, o)) {
            ++excuses;
            continue;
        }
        ++wrong;
        std::printf("DISAGREE %u.%u table %-7s ptxas %-7s %s  [%s]%s%s\n", t.version.major, t.version.minor,
                    t.legal ? "legal" : "illegal", t.accepted ? "accepts" : "rejects", t.text.c_str(), t.what.c_str(),
                    t.message.empty() ? "" : " ", t.message.c_str());
    }
    for (const exception& e : known) {
        if (e.used != 0)
            std::printf("listed %5u  %-7s %s ; %s\n", e.used, e.says.c_str(), e.glob.c_str(), e.reason.c_str());
        if (e.used == 0 && o.only.empty() && (e.on == o.target_name)) {
            std::printf("STALE    nothing disagrees as listed: %s %s %s\n", e.on.c_str(), e.says.c_str(),
                        e.glob.c_str());
        }
    }
    std::printf(
        "%s: %u forms, %zu statements (%zu legal, %zu illegal), %u ptxas runs, %zu listed disagreements, %zu unlisted\n",
        o.target_name.c_str(), isa::form_count(), list.size(), legal, list.size() - legal, starts, excuses, wrong);
    return wrong == 0 ? 0 : 1;
}

target named(std::string_view name) { return name.starts_with("sm_") ? target_numbered(name.substr(3)) : target{}; }

bool parse_arguments(int argc, char** argv, options& o) {
    for (int i = 1; i < argc; ++i) {
        const std::string a = argv[i];
        if (a == "--verbose") {
            o.verbose = true;
            continue;
        }
        if (i + 1 == argc) return false;
        const std::string value = argv[++i];
        if (a == "--ptxas")
            o.ptxas = value;
        else if (a == "--work")
            o.work = value;
        else if (a == "--known")
            o.known = value;
        else if (a == "--only")
            o.only = value;
        else if (a == "--target")
            o.target_name = value;
        else if (a == "--beside")
            o.beside = named(value);
        else if (a == "--every-target")
            o.every_target = value == "yes";
        else if (a == "--cap")
            o.cap = static_cast<unsigned>(std::strtoul(value.c_str(), nullptr, 10));
        else
            return false;
    }
    o.on = named(o.target_name);
    return o.on.known();
}

int try_target(const options& o, assembler& with) {
    trials all(o);
    add_all(all, o);
    decide_all(all.list(), with);
    if (o.verbose) {
        for (const trial& t : all.list())
            std::printf("%-7s %s  %s\n", t.accepted ? "accepts" : "rejects", t.text.c_str(), t.message.c_str());
    }
    return report(all.list(), o, with.starts());
}

}  // namespace

int main(int argc, char** argv) {
    options o;
    if (!parse_arguments(argc, argv, o)) {
        std::fprintf(
            stderr,
            "usage: isa_ptxas [--ptxas PATH] [--target sm_90a | --every-target yes] [--work DIR] [--known FILE] [--only TEXT] [--cap N] [--beside TARGET]\n");
        return 2;
    }
    assembler with(o);
    if (!with.usable()) {
        std::printf("skipped: no ptxas runs at '%s'; the table was not compared\n", o.ptxas.c_str());
        return 77;
    }
    if (!o.every_target) return try_target(o, with);
    int worst = 0;
    for (std::uint16_t number = sm_50.sm; number != 1000; ++number) {  // the table begins there
        for (const std::string_view suffix : {"", "a", "f"}) {
            o.target_name = "sm_" + std::to_string(number) + std::string(suffix);
            o.on = named(o.target_name);
            if (o.on.known()) worst = std::max(worst, try_target(o, with));
        }
    }
    return worst;
}
