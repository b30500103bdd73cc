// SPDX-License-Identifier: Apache-2.0
// PTX text from a program. The same code runs in constant evaluation and at run time.
#pragma once

#include <ptxdsl/detail/decimal.hpp>
#include <ptxdsl/detail/dynarray.hpp>
#include <ptxdsl/detail/string_view.hpp>
#include <ptxdsl/ir/module.hpp>
#include <ptxdsl/isa/special_registers.hpp>
#include <ptxdsl/isa/tokens.hpp>

#include <cstdint>

namespace ptxdsl::detail {

/// Text under construction. `reserve` once per line, then write without checks.
class text_buffer {
public:
    constexpr explicit text_buffer(std::uint32_t capacity) : data_(new char[capacity]), capacity_(capacity) {}
    text_buffer(const text_buffer&) = delete;
    text_buffer& operator=(const text_buffer&) = delete;
    constexpr ~text_buffer() { delete[] data_; }

    constexpr void reserve(std::uint32_t n) {
        if (size_ + n <= capacity_) return;
        const std::uint32_t capacity = 2 * capacity_ + n;
        char* data = new char[capacity];
        copy(data, data_, size_);
        delete[] data_;
        data_ = data;
        capacity_ = capacity;
    }
    constexpr void put(char c) noexcept { data_[size_++] = c; }
    constexpr void put(string_view s) noexcept {
        copy(data_ + size_, s.data(), static_cast<std::uint32_t>(s.size()));
        size_ += static_cast<std::uint32_t>(s.size());
    }
    constexpr void put_number(std::uint64_t v) noexcept {
        if (v < 10) {
            put(static_cast<char>('0' + v));
            return;
        }
        put(decimal(v).view());
    }
    constexpr void put_signed(std::int64_t v) noexcept {
        if (v < 0) put('-');
        put_number(v < 0 ? std::uint64_t{0} - static_cast<std::uint64_t>(v) : static_cast<std::uint64_t>(v));
    }
    constexpr void put_hex(std::uint32_t v) noexcept {
        for (int shift = 28; shift >= 0; shift -= 4) put("0123456789ABCDEF"[v >> shift & 15u]);
    }

    constexpr void drop_last() noexcept { --size_; }

    [[nodiscard]] constexpr std::uint32_t size() const noexcept { return size_; }
    [[nodiscard]] constexpr const char* data() const noexcept { return data_; }

private:
    /// clang counts every statement of a constant evaluation but folds a memcpy into one; g++ 12 refuses the builtin
    /// there.
    static constexpr void copy(char* to, const char* from, std::uint32_t n) noexcept {
#if defined(__clang__)
        __builtin_memcpy(to, from, n);
#else
        if (!__builtin_is_constant_evaluated())
            __builtin_memcpy(to, from, n);
        else
            for (std::uint32_t i = 0; i < n; ++i) to[i] = from[i];
#endif
    }

    char* data_;
    std::uint32_t size_ = 0;
    std::uint32_t capacity_;
};

/// Prints one program. Register numbers follow the first appearance in the text, never the order in which the C++
/// compiler evaluated the body, so the text is the same from every compiler.
///
/// A template (over `ir::view`) so that a translation unit that assembles nothing only parses it.
template <class View>
class emitter {
public:
    constexpr emitter(const View& m, std::uint32_t capacity)
        : out(capacity), m_(m), numbers_(m.n.regs), counts_(m.n.prefixes) {
        numbers_.resize(m.n.regs, 0);
        counts_.resize(m.n.prefixes, 0);
    }

    constexpr void run() {
        header();
        if (m_.n.functions != 0) functions();
        number_registers(m_.words, m_.n.words);
        signature();
        declarations();
        body(m_.words, m_.n.words);
        line("}\n", 0);
    }

    /// Prints the program of a module: its words are all lines in order.
    constexpr void run_module() {
        for (std::uint32_t i = 0; i < m_.n.prefixes; ++i) widen(m_.prefixes[i].id);
        for (std::uint32_t i = 0; i < m_.n.labels; ++i) widen(m_.labels[i].id);
        for (std::uint32_t i = 0; i < m_.n.symbols; ++i) widen(m_.symbols[i]);
        body(m_.words, m_.n.words);
    }

    text_buffer out;
    dynarray<std::uint32_t> line_locations;  ///< for each text line: location index + 1, or 0

private:
    // ---- register numbers -----------------------------------------------------------------------------------

    constexpr void number(std::uint32_t reg) {
        if (reg >= m_.n.regs || m_.prefixes[m_.regs[reg].prefix].how != ir::naming::automatic) return;
        if (numbers_[reg] == 0) numbers_[reg] = ++counts_[m_.regs[reg].prefix];
    }
    constexpr void number_word(std::uint32_t w) {
        const ir::operand_kind k = ir::kind_of(w);
        if (k == ir::operand_kind::reg || k == ir::operand_kind::not_pred) number(ir::payload_of(w));
    }
    constexpr void number_operand(const std::uint32_t* o) {
        switch (ir::kind_of(o[0])) {
            case ir::operand_kind::reg:
            case ir::operand_kind::not_pred: number(ir::payload_of(o[0])); break;
            case ir::operand_kind::address: number_word(o[1]); break;
            case ir::operand_kind::range:
                for (std::uint32_t i = 0; i < ir::payload_of(o[0]); ++i) number(o[1] + i);
                break;
            case ir::operand_kind::tensor:
                for (std::uint32_t i = 0; i <= ir::payload_of(o[0]); ++i) number_word(o[1 + i]);
                break;
            case ir::operand_kind::vec:
            case ir::operand_kind::pair:
                for (std::uint32_t i = 0; i < ir::payload_of(o[0]); ++i) number_word(o[1 + i]);
                break;
            default: break;
        }
    }
    constexpr void number_registers(const std::uint32_t* words, std::uint32_t n) {
        if (m_.n.functions != 0) {  // each function numbers its registers afresh
            for (std::uint32_t i = 0; i < m_.n.prefixes; ++i) counts_[i] = 0;
            for (std::uint32_t i = 0; i < m_.n.regs; ++i) numbers_[i] = 0;
        }
        for (std::uint32_t at = 0; at < n;) {
            const ir::cursor c{words + at};
            at += c.size();
            if (!c.is_instruction()) continue;
            if (c.guard() != 0) number((c.guard() >> 1) - 1);
            const std::uint32_t* o = c.first_operand();
            for (std::uint32_t i = 0; i < c.operands(); ++i) {
                number_operand(o);
                o += ir::operand_words(o[0]);
            }
        }
    }

    // ---- module level ---------------------------------------------------------------------------------------

    constexpr void line(string_view s, std::uint32_t location) {
        out.reserve(static_cast<std::uint32_t>(s.size()));
        out.put(s);
        line_locations.push_back(location);
    }
    constexpr void end_line(std::uint32_t location) {
        out.put('\n');
        line_locations.push_back(location);
    }
    constexpr void header() {
        line("// written with ptxdsl\n"_sv, 0);
        out.reserve(256);
        out.put(".version "_sv);
        out.put_number(m_.version.major);
        out.put('.');
        out.put_number(m_.version.minor);
        end_line(0);
        out.put(".target sm_"_sv);
        out.put_number(m_.target.sm);
        if (m_.target.suffix != 0) out.put(m_.target.suffix);
        end_line(0);
        line(".address_size 64\n"_sv, 0);
        line("\n"_sv, 0);
        if (m_.shared_bytes == 0) return;
        out.reserve(256);
        out.put(m_.dynamic_shared() ? ".extern .shared .align "_sv : ".shared .align "_sv);
        out.put_number(m_.shared_align);
        out.put(" .b8 smem["_sv);
        if (!m_.dynamic_shared()) out.put_number(m_.shared_bytes);
        out.put("];"_sv);
        end_line(0);
        line("\n"_sv, 0);
    }
    constexpr void signature() {
        out.reserve(64 + m_.kernel.length);
        out.put(".visible .entry "_sv);
        out.put(m_.text(m_.kernel));
        out.put('(');
        for (std::uint32_t i = 0; i < m_.n.params; ++i) {
            if (i != 0) out.put(',');
            end_line(0);
            parameter(m_.params[i]);
        }
        if (m_.n.params != 0) end_line(0);
        out.put(')');
        end_line(0);
        directives();
        line("{\n"_sv, 0);
    }
    /// Declarations first. A function may call one that is written later.
    constexpr void functions() {
        std::uint32_t n = m_.n.functions;
        for (std::uint32_t i = 0; i < m_.n.functions; ++i) {
            const ir::function& f = m_.functions[i];
            if (f.declaration) body(m_.function_words + f.begin, f.end - f.begin), --n;
        }
        if (n != m_.n.functions) line("\n"_sv, 0);
        for (std::uint32_t i = 0; i < m_.n.functions && n > 1; ++i)
            if (!m_.functions[i].declaration) prototype(m_.functions[i]), out.put(';'), end_line(0);
        for (std::uint32_t i = 0; i < m_.n.functions; ++i)
            if (!m_.functions[i].declaration) device_function(m_.functions[i]);
    }
    /// `.func (results) name(parameters)`; registers pass values, which the ABI of sm_20 and later allows.
    constexpr void prototype(const ir::function& f) {
        const std::uint32_t* regs = m_.function_regs + f.first_reg;
        number_registers(m_.function_words + f.begin, f.end - f.begin);
        for (std::uint32_t i = 0; i < std::uint32_t{f.results} + f.params; ++i) number(regs[i]);
        out.reserve(64 + f.id.length + 48 * (std::uint32_t{f.results} + f.params));
        out.put(".func "_sv);
        if (f.results != 0) signature_regs(regs, f.results), out.put(' ');
        out.put(m_.text(f.id));
        signature_regs(regs + f.results, f.params);
    }
    constexpr void device_function(const ir::function& f) {
        prototype(f);
        end_line(0);
        line("{\n"_sv, 0);
        declarations();
        body(m_.function_words + f.begin, f.end - f.begin);
        line("}\n"_sv, 0);
        line("\n"_sv, 0);
    }
    constexpr void signature_regs(const std::uint32_t* regs, std::uint32_t n) {
        out.put('(');
        for (std::uint32_t i = 0; i < n; ++i) {
            out.put(i == 0 ? ".reg ."_sv : ", .reg ."_sv);
            out.put(isa::name(m_.regs[regs[i]].type));
            out.put(' ');
            put_reg(regs[i]);
        }
        out.put(')');
    }
    constexpr void parameter(const ir::param& p) {
        out.reserve(96 + p.id.length);
        switch (p.kind) {
            case ir::param_kind::tensor_map:
                out.put("    .param .align 128 .b8 "_sv);
                out.put(m_.text(p.id));
                out.put("[128]"_sv);
                return;
            case ir::param_kind::pointer:
                out.put("    .param .u64 .ptr .global .align "_sv);
                out.put_number(p.align);
                out.put(' ');
                break;
            case ir::param_kind::scalar:
                out.put("    .param ."_sv);
                out.put(isa::name(ir::param_type(p.type)));
                out.put(' ');
                break;
        }
        out.put(m_.text(p.id));
    }
    constexpr void directive(string_view name, const ir::attributes::dim3& d) {
        if (!d.given()) return;
        out.reserve(96);
        out.put(name);
        out.put_number(d.x);
        out.put(", "_sv);
        out.put_number(d.y);
        out.put(", "_sv);
        out.put_number(d.z);
        end_line(0);
    }
    constexpr void directive(string_view name, std::uint32_t v) {
        if (v == 0) return;
        out.reserve(64);
        out.put(name);
        out.put_number(v);
        end_line(0);
    }
    constexpr void directives() {
        const ir::attributes& a = m_.attrs;
        if (a.cluster.given()) line(".explicitcluster\n"_sv, 0);
        directive(".reqnctapercluster "_sv, a.cluster);
        directive(".reqntid "_sv, a.reqntid);
        directive(".maxntid "_sv, a.maxntid);
        directive(".minnctapersm "_sv, a.minnctapersm);
        directive(".maxnreg "_sv, a.maxnreg);
    }
    constexpr void declarations() {
        for (std::uint32_t i = 0; i < m_.n.prefixes; ++i) {
            if (counts_[i] == 0 || m_.prefixes[i].in_signature) continue;
            out.reserve(64 + m_.prefixes[i].id.length);
            out.put("    .reg ."_sv);
            out.put(isa::name(m_.prefixes[i].type));
            out.put(" %"_sv);
            out.put(m_.text(m_.prefixes[i].id));
            out.put('<');
            out.put_number(counts_[i]);
            out.put(">;"_sv);
            end_line(0);
        }
    }

    // ---- body -----------------------------------------------------------------------------------------------

    constexpr void body(const std::uint32_t* words, std::uint32_t n) {
        for (std::uint32_t at = 0; at < n;) {
            const ir::cursor c{words + at};
            at += c.size();
            switch (c.kind()) {
                case ir::record::instruction: instruction(c); break;
                case ir::record::label: label(c); break;
                case ir::record::text: text_line(c, words, n); break;
                case ir::record::line: go_to_line(c.payload(0)); break;
                case ir::record::region:
                    if (c.code() == static_cast<std::uint32_t>(ir::region::scope_begin)) line("    {\n"_sv, 0);
                    if (c.code() == static_cast<std::uint32_t>(ir::region::scope_end)) line("    }\n"_sv, 0);
                    break;
                case ir::record::note: break;
            }
        }
    }
    constexpr void put_label(std::uint32_t id) {
        if (m_.labels[id].own_name) return out.put(m_.text(m_.labels[id].id));
        out.put('$');
        out.put(m_.text(m_.labels[id].id));
        out.put('_');
        out.put_number(id);
    }
    constexpr void label(const ir::cursor& c) {
        const ir::label_info& l = m_.labels[c.payload(0)];
        if (l.used == 0 && !l.own_name) return;
        const auto kind = static_cast<ir::label_kind>(c.code());
        out.reserve(64 + l.id.length + c.size() * word_);
        if (kind != ir::label_kind::place) out.put("    "_sv);
        put_label(c.payload(0));
        out.put(':');
        if (kind == ir::label_kind::place) return end_line(0);
        kind == ir::label_kind::prototype ? call_prototype(c) : targets(c, kind == ir::label_kind::branch_targets);
        out.put(';');
        finish(c);
    }
    /// `.branchtargets a, b`, `.calltargets f, g`
    constexpr void targets(const ir::cursor& c, bool branch) {
        out.put(branch ? " .branchtargets "_sv : " .calltargets "_sv);
        for (std::uint32_t i = 1; i < c.size() - 2; ++i) {
            if (i != 1) out.put(", "_sv);
            const ir::name id = branch ? m_.labels[c.payload(i)].id : m_.symbols[c.payload(i)];
            out.reserve(32 + id.length);
            branch ? put_label(c.payload(i)) : out.put(m_.text(id));
        }
    }
    /// `.callprototype (.reg .b32 _) _ (.reg .b32 _, …)`
    constexpr void call_prototype(const ir::cursor& c) {
        const std::uint32_t results = c.payload(1), all = c.size() - 4;
        out.put(" .callprototype "_sv);
        if (results != 0) formals(c, 0, results), out.put(' ');
        out.put("_ "_sv), formals(c, results, all);
    }
    constexpr void formals(const ir::cursor& c, std::uint32_t begin, std::uint32_t end) {
        out.put('(');
        for (std::uint32_t i = begin; i < end; ++i) {
            out.put(i == begin ? ".reg ."_sv : ", .reg ."_sv);
            out.put(isa::name(static_cast<isa::scalar>(c.payload(2 + i))));
            out.put(" _"_sv);
        }
        out.put(')');
    }
    constexpr void text_line(const ir::cursor& c, const std::uint32_t* words, std::uint32_t n) {
        const auto kind = static_cast<ir::text_kind>(c.code());
        out.reserve(16 + c.payload(1));
        if (kind == ir::text_kind::raw || kind == ir::text_kind::statement || kind == ir::text_kind::parameter ||
            kind == ir::text_kind::declaration)
            out.put("    ");
        out.put(string_view(m_.pool + c.payload(0), c.payload(1)));
        if (kind == ir::text_kind::parameter) out.put(is_last_parameter(c, words + n) ? ')' : ',');
        finish(c);
        if (kind == ir::text_kind::function_begin) own_registers(c, words + n);
    }
    [[nodiscard]] static constexpr bool is_last_parameter(ir::cursor c, const std::uint32_t* end) noexcept {
        do c.w += c.size();
        while (c.w != end && c.kind() == ir::record::line);
        return c.w == end || c.kind() != ir::record::text ||
               c.code() != static_cast<std::uint32_t>(ir::text_kind::parameter);
    }
    /// Declares the registers of this function that the library has named: those that its author added.
    constexpr void own_registers(ir::cursor c, const std::uint32_t* end) {
        const std::uint32_t* const first = c.w;
        while (c.w != end &&
               (c.kind() != ir::record::text || c.code() != static_cast<std::uint32_t>(ir::text_kind::function_end)))
            c.w += c.size();
        for (std::uint32_t i = 0; i < m_.n.prefixes; ++i) counts_[i] = 0;
        for (std::uint32_t i = 0; i < m_.n.regs; ++i) numbers_[i] = 0;
        number_registers(first, static_cast<std::uint32_t>(c.w - first));
        declarations();
    }
    /// A line number that was passed by one joins what follows to the line before.
    constexpr void go_to_line(std::uint32_t n) {
        if (n < line_locations.size() + 1 && n == line_locations.size() && out.size() != 0) {
            out.drop_last();
            out.reserve(1);
            out.put(' ');
            line_locations.pop_back();
        }
        while (line_locations.size() + 1 < n) {
            out.reserve(1);
            end_line(0);
        }
    }
    constexpr void widen(ir::name n) noexcept {
        if (word_ < n.length + 16) word_ = n.length + 16;
    }
    constexpr void finish(const ir::cursor& c) {
        if (m_.attrs.line_comments) comment(c.location());
        end_line(c.location() + 1);
    }
    constexpr void comment(std::uint32_t location) {
        const std::source_location& where = m_.locations[location];
        if (where.line() == 0) return;  // the prologue has no line of the author's
        string_view file = where.file_name();
        const std::size_t slash = file.rfind('/');
        if (slash != string_view::npos) file.remove_prefix(slash + 1);
        out.reserve(static_cast<std::uint32_t>(file.size()) + 24);
        out.put("  // ");
        out.put(file);
        out.put(':');
        out.put_number(where.line());
    }
    constexpr void put_reg(std::uint32_t reg) {
        if (reg >= m_.n.regs) return out.put('_');  // refused (A05, A06); nobody runs the text
        const ir::reg_info& r = m_.regs[reg];
        const ir::prefix_info& prefix = m_.prefixes[r.prefix];
        if (prefix.how == ir::naming::automatic) out.put('%');
        out.put(m_.text(prefix.id));
        if (prefix.how == ir::naming::automatic)
            out.put_number(numbers_[reg] - 1);
        else if (prefix.how == ir::naming::numbered)
            out.put_number(reg - prefix.first);
    }
    constexpr void instruction(const ir::cursor& c) {
        out.reserve(64 + c.size() * word_);
        out.put("    "_sv);
        if (c.guard() != 0) {
            out.put((c.guard() & 1u) != 0 ? "@!"_sv : "@"_sv);
            put_reg((c.guard() >> 1) - 1);
            out.put(' ');
        }
        for (std::uint32_t i = 0; i < c.tokens(); ++i) {
            if (i != 0) out.put('.');
            out.put(isa::spelling(static_cast<isa::tok>(c.token(i))));
        }
        const std::uint32_t* o = c.first_operand();
        const bool call = c.token(0) == static_cast<std::uint16_t>(isa::tok::call);
        for (std::uint32_t i = 0, first = 0; i < c.operands(); ++i) {
            if (call && i == 0 && o[0] == ir::head(ir::operand_kind::vec, 0)) {  // a call without results
                first = 1, ++o;
                continue;
            }
            out.put(i == first ? " "_sv : ", "_sv);
            if (call && ir::kind_of(o[0]) == ir::operand_kind::vec)  // the lists of a call stand in parentheses
                out.put('('), put_list(o + 1, ir::payload_of(o[0]), ", "_sv), out.put(')');
            else
                operand(o);
            o += ir::operand_words(o[0]);
        }
        out.put(';');
        finish(c);
    }
    constexpr void put_offset(std::uint32_t word) {
        const auto v = static_cast<std::int32_t>(word);
        if (v == 0) return;
        out.put('+');  // PTX writes a negative offset as `+-4`
        out.put_signed(v);
    }
    /// A one-word operand inside brackets or braces.
    constexpr void put_word(std::uint32_t w) {
        switch (ir::kind_of(w)) {
            case ir::operand_kind::reg: put_reg(ir::payload_of(w)); break;
            case ir::operand_kind::not_pred: out.put('!'), put_reg(ir::payload_of(w)); break;
            case ir::operand_kind::small_int: out.put_signed(ir::small_value(w)); break;
            case ir::operand_kind::symbol: out.put(m_.text(m_.symbols[ir::payload_of(w)])); break;
            default: out.put('_'); break;
        }
    }
    constexpr void put_list(const std::uint32_t* words, std::uint32_t n, string_view separator) {
        for (std::uint32_t i = 0; i < n; ++i) {
            if (i != 0) out.put(separator);
            put_word(words[i]);
        }
    }
    constexpr void operand(const std::uint32_t* o) {
        const std::uint32_t n = ir::payload_of(o[0]);
        switch (ir::kind_of(o[0])) {
            case ir::operand_kind::integer: integer(o); break;
            case ir::operand_kind::f32: out.put("0f"_sv), out.put_hex(o[1]); break;
            case ir::operand_kind::f64: out.put("0d"_sv), out.put_hex(o[2]), out.put_hex(o[1]); break;
            case ir::operand_kind::address:
                out.put('['), put_word(o[1]), put_offset(o[2]), out.put((n & 1u) != 0 && o[2] == 0 ? "+0]"_sv : "]"_sv);
                if ((n & 2u) != 0) out.put(".unified"_sv);
                break;
            case ir::operand_kind::tensor:
                out.put('['), put_word(o[1]), out.put(", {"_sv), put_list(o + 2, n, ", "_sv), out.put("}]"_sv);
                break;
            case ir::operand_kind::vec: vector(o + 1, n); break;
            case ir::operand_kind::pair:
                if (is_selected(o[2]))
                    selected(o[1], ir::payload_of(o[2]));
                else
                    put_list(o + 1, n, "|"_sv);
                break;
            case ir::operand_kind::range: range(o[1], n); break;
            case ir::operand_kind::label: put_label(n); break;
            case ir::operand_kind::symbol: put_word(ir::head(ir::operand_kind::symbol, n)), put_offset(o[1]); break;
            case ir::operand_kind::special: out.put(isa::spelling(static_cast<isa::special>(n))); break;
            case ir::operand_kind::text: out.put(string_view(m_.pool + n, o[1])); break;
            default: put_word(o[0]); break;
        }
    }
    /// `{a, b}`; a predicate at the end says something about the whole: `{a, b}|p`.
    constexpr void vector(const std::uint32_t* words, std::uint32_t n) {
        const bool joined = n > 1 && ir::kind_of(words[n - 1]) == ir::operand_kind::reg &&
                            ir::payload_of(words[n - 1]) < m_.n.regs &&
                            m_.regs[ir::payload_of(words[n - 1])].type == isa::scalar::pred;
        out.put('{'), put_list(words, joined ? n - 1 : n, ", "_sv), out.put('}');
        if (joined) out.put('|'), put_word(words[n - 1]);
    }
    [[nodiscard]] static constexpr bool is_selected(std::uint32_t word) noexcept {
        return ir::kind_of(word) == ir::operand_kind::sink && ir::payload_of(word) != 0;
    }
    /// `-a.b0`
    constexpr void selected(std::uint32_t reg, std::uint32_t how) {
        if ((how >> 16 & 1u) != 0) out.put('-');
        put_word(reg);
        const std::uint32_t selector = how & 0xffffu;
        if (selector == 0) return;
        out.put('.'), out.put((selector & 0x1000u) != 0 ? 'h' : 'b');
        for (std::uint32_t i = selector >> 13; i-- > 0;) out.put(static_cast<char>('0' + (selector >> (3 * i) & 7u)));
    }
    constexpr void range(std::uint32_t first, std::uint32_t n) {
        out.reserve(n * (m_.prefixes[m_.regs[first].prefix].id.length + 12) + 64);
        out.put('{');
        for (std::uint32_t i = 0; i < n; ++i) {
            if (i != 0) out.put(", "_sv);
            put_reg(first + i);
        }
        out.put('}');
    }
    constexpr void integer(const std::uint32_t* o) {
        const std::uint64_t v = o[1] | static_cast<std::uint64_t>(o[2]) << 32;
        const auto type = static_cast<isa::scalar>(ir::payload_of(o[0]));
        if (isa::info(type).cls == isa::type_class::signed_int || static_cast<std::int64_t>(v) >= 0)
            out.put_signed(static_cast<std::int64_t>(v));
        else
            out.put_number(v);
    }

    const View& m_;
    std::uint32_t word_ = 40;          ///< the longest text one word prints
    dynarray<std::uint32_t> numbers_;  ///< printed number + 1 of each register, 0: not met
    dynarray<std::uint32_t> counts_;   ///< registers met with each prefix
};

}  // namespace ptxdsl::detail
