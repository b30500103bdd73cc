// SPDX-License-Identifier: Apache-2.0
// The program under construction: owns the arrays that `ir::view` reads.
#pragma once

#include <ptxdsl/detail/dynarray.hpp>
#include <ptxdsl/detail/string_view.hpp>
#include <ptxdsl/ir/module.hpp>
#include <ptxdsl/ir/sentence.hpp>
#include <ptxdsl/ir/uses.hpp>

#include <cstdint>
#include <source_location>

namespace ptxdsl::ir {

/// The words a nested call has just emitted; `end == 0` means "a value that already has a name".
///
/// C++ leaves the order of argument evaluation open: for `k.fma(k.ld(x), k.ld(y), z)` g++ emits the second load first
/// at run time and last in constant evaluation. The outer call therefore puts the spans of its unnamed arguments into
/// left-to-right order before it emits itself (`program::settle`), so the text is the same everywhere.
struct span {
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
    bool copied = false;  ///< of a value that had a name where it was made: a helper function's, or one of the caller's
    bool assigns = false;  ///< of an assignment, `x = …` or `x += …`, that stands among the arguments
};

/// Characters that a PTX name may have behind its first (PTX ISA 4.4).
[[nodiscard]] constexpr bool is_name_part(string_view s) noexcept {
    for (char c : s)
        if ((c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '_' && c != '$') return false;
    return true;
}
/// A name PTX takes for a kernel or function, other than that of the array all shared memory lies in.
[[nodiscard]] constexpr bool is_function_name(string_view s) noexcept {
    return is_name_part(s) && !s.empty() && (s[0] < '0' || s[0] > '9') &&
           (s.size() > 1 || (s[0] != '_' && s[0] != '$')) && s != "smem";
}

template <class Location>
class basic_program {
public:
    using location = Location;

    constexpr basic_program() : words(16384), locations(2048), regs(2048), pool(1024) {
        intern_prefix("none", isa::scalar::none);
    }

    detail::dynarray<std::uint32_t> words;
    detail::dynarray<location> locations;
    detail::dynarray<reg_info> regs;
    detail::dynarray<prefix_info> prefixes;
    detail::dynarray<param> params;
    detail::dynarray<allocation> allocations;
    detail::dynarray<label_info> labels;
    detail::dynarray<name> symbols;
    detail::dynarray<char> pool;
    detail::dynarray<finding> findings;
    detail::dynarray<function> functions;
    detail::dynarray<std::uint32_t> function_words;
    detail::dynarray<std::uint32_t> function_regs;
    detail::dynarray<void (*)(basic_program&, std::uint32_t)> function_writers;  ///< run once the kernel's body is done
    detail::dynarray<operand_rows> operands_read;
    detail::dynarray<std::uint32_t>
        slot_registers;  ///< registers that walk the slots of a pipeline, each with their number
    detail::dynarray<column_range> columns_written;
    detail::dynarray<std::uint32_t> cut_registers;  ///< 32 bits of what was a product in 64

    ptxdsl::target target{};
    ptx_version version{};
    attributes attrs{};
    name kernel{};
    std::uint32_t shared_bytes = 0;
    std::uint32_t shared_align = 16;
    std::uint32_t open_record =
        0;  ///< word index of the record being written, or of the last one; past the end: of none
    std::uint32_t loop_count = 0;
    std::uint32_t body_begin = 0;  ///< word index where the innermost body of a branch or loop begins
    std::uint32_t tables = 0;      ///< labels made by `table_next`
    std::uint32_t made_guard = 0;  ///< the last condition that `k.at` was given as a nested call, and what made it
    span guard_made{};
    bool is_module = false;  ///< its author names registers too, so the library's own get other names

    // ---- names ------------------------------------------------------------------------------------------------

    constexpr name intern(string_view s) {
        const name n{pool.size(), static_cast<std::uint32_t>(s.size())};
        for (char c : s) pool.push_back(c);
        return n;
    }
    [[nodiscard]] constexpr string_view text(name n) const noexcept { return {pool.data() + n.offset, n.length}; }

    /// Id of the register-name prefix `s` for registers of type `t`. Two types never share a printed prefix, because
    /// `.reg .b32 %x<4>` and `.reg .f32 %x<4>` would declare `%x0` twice.
    constexpr std::uint16_t intern_prefix(string_view s, isa::scalar t) {
        name n{};
        bool taken = false;
        for (std::uint32_t i = 0; i < prefixes.size(); ++i) {
            if (prefixes[i].how != naming::automatic || text(prefixes[i].id) != s) continue;
            if (prefixes[i].type == t) return static_cast<std::uint16_t>(i);
            taken = true;
        }
        if (taken) {
            for (std::uint32_t i = 0; i < prefixes.size(); ++i)
                if (prefixes[i].type == t && is_suffixed(prefixes[i].id, s)) return static_cast<std::uint16_t>(i);
            n = suffixed(s, t);
        } else {
            n = intern(s);
            if (!is_name_part(s))
                report("K01", locations.empty() ? location() : locations.back(),
                       {"'", s, "' is no name for a register; PTX takes letters, digits, _ and $"});
        }
        prefixes.push_back({n, t});
        return static_cast<std::uint16_t>(prefixes.size() - 1);
    }

    // ---- registers, labels, locations --------------------------------------------------------------------------

    /// A new virtual register of the register class of `t`, named after `hint` (default: `%r`, `%rd`, `%f` …).
    constexpr std::uint32_t new_reg(isa::scalar t, string_view hint = {}) {
        const isa::scalar cls = register_type(t);
        const std::uint16_t prefix = hint.empty() ? default_prefix(cls) : intern_prefix(hint, cls);
        regs.push_back({cls, prefix});
        return regs.size() - 1;
    }
    /// `n` registers with consecutive ids, which an instruction can name as one range.
    constexpr std::uint32_t new_regs(isa::scalar t, std::uint32_t n, string_view hint = {}) {
        const std::uint32_t first = new_reg(t, hint);
        const reg_info info = regs[first];
        for (std::uint32_t i = 1; i < n; ++i) regs.push_back(info);
        return first;
    }
    constexpr void rename(std::uint32_t reg, string_view hint) {
        regs[reg].prefix = intern_prefix(hint, regs[reg].type);
    }
    /// A register that a function's parameter list declares.
    constexpr std::uint32_t new_signature_reg(isa::scalar t, string_view hint) {
        const std::uint32_t r = new_reg(t, hint);
        prefixes[regs[r].prefix].in_signature = true;
        return r;
    }
    /// Registers under the author's own names, which the author declares: `s0` … `s<n-1>`, or the one register `s` when
    /// `n` is 0. The first id; the others follow.
    constexpr std::uint32_t new_named_regs(string_view s, isa::scalar t, std::uint32_t n) {
        if (prefixes.size() == 0xffffu)
            report("K01", location(), {"more than 65535 register declarations in one module"});
        const std::uint32_t first = regs.size();
        const isa::scalar cls = register_type(t);
        prefixes.push_back({intern(s), cls, false, n == 0 ? naming::single : naming::numbered, first});
        const reg_info info{cls, static_cast<std::uint16_t>(prefixes.size() - 1)};
        for (std::uint32_t i = 0; i < n || i == 0; ++i) regs.push_back(info);
        return first;
    }
    constexpr std::uint32_t new_label(string_view hint, location where) {
        labels.push_back({intern(hint), 0, 0, new_location(where)});
        return labels.size() - 1;
    }
    /// A label that is printed as `s`, nothing added.
    constexpr std::uint32_t new_named_label(string_view s, location where) {
        const std::uint32_t id = new_label(s, where);
        labels[id].own_name = true;
        return id;
    }
    constexpr std::uint32_t new_location(location where) {
        locations.push_back(where);
        return locations.size() - 1;
    }
    constexpr std::uint32_t new_symbol(string_view s) {
        symbols.push_back(intern(s));
        return symbols.size() - 1;
    }

    // ---- records ------------------------------------------------------------------------------------------------

    /// Starts an instruction record. `packed` holds the tokens two to a word.
    constexpr void begin_instruction(const std::uint32_t* packed, std::uint32_t tokens, std::uint32_t form,
                                     ptx_version since, std::uint32_t guard, location where) {
        if (version < since) raise_version(since, where);
        open_record = words.size();
        words.push_back(record_head(record::instruction, tokens, 0));
        words.push_back(form << 16);
        words.push_back(guard);
        words.push_back(new_location(where));
        for (std::uint32_t i = 0; i < (tokens + 1) / 2; ++i) words.push_back(packed[i]);
    }
    constexpr void count_operand() { words[open_record + 1] += 1u << 8; }
    constexpr void end_record() { words[open_record] |= words.size() - open_record; }

    constexpr void begin_record(record kind, std::uint32_t code, location where) {
        open_record = words.size();
        words.push_back(record_head(kind, code, 0));
        words.push_back(new_location(where));
    }
    template <class... Payload>
    constexpr void add_region(region code, location where, Payload... payload) {
        begin_record(record::region, static_cast<std::uint32_t>(code), where);
        (words.push_back(static_cast<std::uint32_t>(payload)), ...);
        end_record();
    }
    template <class... Payload>
    constexpr void add_note(note code, location where, Payload... payload) {
        begin_record(record::note, static_cast<std::uint32_t>(code), where);
        (words.push_back(static_cast<std::uint32_t>(payload)), ...);
        end_record();
    }
    /// A note on the instruction emitted next; it is written in front of it, behind the instructions of its arguments.
    template <class... Payload>
    constexpr void note_next(note code, Payload... payload) {
        pending_.push_back(record_head(record::note, static_cast<std::uint32_t>(code), 2 + sizeof...(payload)));
        pending_.push_back(0);
        (pending_.push_back(static_cast<std::uint32_t>(payload)), ...);
    }
    /// A table or prototype with a label of its own, which the instruction emitted next names: written in front of it,
    /// like a note. The label's id.
    constexpr std::uint32_t table_next(label_kind kind, string_view hint, location where, const std::uint32_t* entries,
                                       std::uint32_t n) {
        const std::uint32_t id = new_label(hint, where);
        ++tables;
        labels[id].placed = labels[id].used = 1;
        pending_.push_back(record_head(record::label, static_cast<std::uint32_t>(kind), 3 + n));
        pending_.push_back(0);
        pending_.push_back(id);
        for (std::uint32_t i = 0; i < n; ++i) pending_.push_back(entries[i]);
        return id;
    }
    constexpr void flush_notes(location where) {
        if (pending_.empty()) return;
        const std::uint32_t at = new_location(where);
        for (std::uint32_t i = 0; i < pending_.size();) {
            const std::uint32_t n = pending_[i] & 0xffffu;
            words.push_back(pending_[i]);
            words.push_back(at);
            for (std::uint32_t w = 2; w < n; ++w) words.push_back(pending_[i + w]);
            i += n;
        }
        pending_.truncate(0);
    }
    constexpr void place_label(std::uint32_t label, location where) {
        place_table(label_kind::place, label, where, nullptr, 0);
    }
    constexpr void place_table(label_kind kind, std::uint32_t label, location where, const std::uint32_t* entries,
                               std::uint32_t n) {
        ++labels[label].placed;
        begin_record(record::label, static_cast<std::uint32_t>(kind), where);
        words.push_back(label);
        for (std::uint32_t i = 0; i < n; ++i) words.push_back(entries[i]);
        end_record();
    }

    constexpr void add_text(text_kind kind, name text, location where) {
        begin_record(record::text, static_cast<std::uint32_t>(kind), where);
        words.push_back(text.offset);
        words.push_back(text.length);
        end_record();
    }
    /// What is written next stands on line `n` of the text.
    constexpr void go_to_line(std::uint32_t n) {
        begin_record(record::line, 0, location());
        words.push_back(n);
        end_record();
    }

    // ---- operands -----------------------------------------------------------------------------------------------

    constexpr void push(std::uint32_t word) { words.push_back(word); }

    // ---- order --------------------------------------------------------------------------------------------------

    /// Brings the words of nested calls into the order of the arguments, and returns the span they cover together.
    /// `args` are the spans of the unnamed arguments in argument order, `where` the call they are arguments of. What a
    /// helper function emitted beside its result comes first. False: they cannot be told apart (K05).
    /// A value that the caller itself has named is not unnamed because a function hands it out again.
    constexpr bool settle(span* args, std::uint32_t n, span& all, const location& where = {}) {
        all = {words.size(), words.size()};
        std::uint32_t fresh = 0;
        for (std::uint32_t i = 0; i < n; ++i)
            if (args[i].end != 0 && (!args[i].copied || has_other_function(args[i], where))) args[fresh++] = args[i];
        if (fresh == 0) return true;
        if (fresh > 1 && assigns_among(args, fresh)) {
            report(
                "K05", where.line() != 0 || locations.empty() ? where : locations.back(),
                {"an assignment and another nested call stand in one argument list, and C++ does not fix which comes "
                 "first; write the assignment as a statement of its own"});
            return true;
        }
        if (fresh == 1) {
            if (args[0].end == words.size()) all.begin = args[0].begin;
            return args[0].end == words.size() || !is_behind_argument(args[0], where);
        }
        bool ordered = true;
        for (std::uint32_t i = 1; i < fresh; ++i) ordered = ordered && args[i - 1].end == args[i].begin;
        if (ordered && args[fresh - 1].end == words.size()) {
            all.begin = args[0].begin;
            return true;
        }
        return reorder(args, fresh, all, where);
    }

    /// What the copy of a value remembers of the call that made it: it is forgotten once something else has been
    /// emitted. A helper function returns such a copy of what it has named.
    [[nodiscard]] constexpr span copied(span s) const noexcept {
        return s.end != 0 && s.end == words.size() ? span{s.begin, s.end, true} : span{};
    }

    // ---- uses of tiles ------------------------------------------------------------------------------------------

    /// What is known of the rows of a tile of `groups` times eight rows; null: it is not followed.
    constexpr operand_rows* rows_of(std::uint32_t allocation, std::uint32_t groups, location where) {
        for (operand_rows& r : operands_read)
            if (r.allocation == allocation) {
                r.all = r.all || (groups != 0 && groups != r.groups);
                return &r;
            }
        if (groups == 0 || groups > operand_rows::most_groups) return nullptr;
        operand_rows r;
        r.allocation = allocation, r.groups = groups, r.where = new_location(where);
        operands_read.push_back(r);
        return &operands_read[operands_read.size() - 1];
    }
    /// Threads or copies read or write the tile as well.
    constexpr void read_otherwise(std::uint32_t allocation) {
        for (operand_rows& r : operands_read)
            if (r.allocation == allocation) {
                r.all = true;
                return;
            }
        operand_rows r;
        r.allocation = allocation, r.all = true;
        operands_read.push_back(r);
    }
    /// Slots of the pipeline that a register walks; 0: it is no such register.
    [[nodiscard]] constexpr std::uint32_t slots_of(std::uint32_t reg) const noexcept {
        for (std::uint32_t i = 0; i < slot_registers.size(); i += 2)
            if (slot_registers[i] == reg) return slot_registers[i + 1];
        return 0;
    }

    // ---- findings -----------------------------------------------------------------------------------------------

    /// Records a finding; the parts (text or numbers) are joined to one sentence.
    constexpr void report(const char (&id)[4], location where, std::initializer_list<part> parts) {
        add_finding(id, false, new_location(where), parts);
    }
    /// The same for what is likely a mistake and no proof of one.
    constexpr void warn(const char (&id)[4], location where, std::initializer_list<part> parts) {
        add_finding(id, true, new_location(where), parts);
    }
    constexpr void add_finding(const char (&id)[4], bool warning, std::uint32_t where,
                               std::initializer_list<part> parts) {
        sentence_text joined;
        joined.add(parts);
        finding f;
        for (int i = 0; i < 4; ++i) f.id[i] = id[i];
        f.warning = warning;
        f.where = where;
        f.text = intern({joined.text, joined.size});
        findings.push_back(f);
    }

    // Behind `report` and `warn`: clang does not instantiate a member template for constant evaluation before its body.
    /// The program needs PTX `since`; a kernel that fixes its version may not (A12).
    constexpr void raise_version(ptx_version since, location where) {
        version = since;
        if (attrs.version == ptx_version{} || since <= attrs.version) return;
        report("A12", where,
               {"this instruction needs PTX ", std::uint32_t{since.major}, ".", std::uint32_t{since.minor},
                ", the kernel's attributes fix ", std::uint32_t{attrs.version.major}, ".",
                std::uint32_t{attrs.version.minor}});
    }

    [[nodiscard]] constexpr sizes measure() const noexcept {
        return {words.size(),       locations.size(),      regs.size(),         prefixes.size(), params.size(),
                allocations.size(), labels.size(),         symbols.size(),      pool.size(),     findings.size(),
                functions.size(),   function_words.size(), function_regs.size()};
    }
    [[nodiscard]] constexpr view read() const noexcept {
        view v;
        v.words = words.data();
        v.locations = locations.data();
        v.regs = regs.data();
        v.prefixes = prefixes.data();
        v.params = params.data();
        v.allocations = allocations.data();
        v.labels = labels.data();
        v.symbols = symbols.data();
        v.pool = pool.data();
        v.findings = findings.data();
        v.functions = functions.data();
        v.function_words = function_words.data();
        v.function_regs = function_regs.data();
        v.n = measure();
        v.kernel = kernel;
        v.target = target;
        v.version = version;
        v.attrs = attrs;
        v.shared_bytes = shared_bytes;
        v.shared_align = shared_align;
        return v;
    }

    /// Type of the register that holds a value of type `t`: PTX has no `.bf16` or 8-bit registers (PTX ISA 5.2.2),
    /// and one bit-sized class per width keeps signed, unsigned and untyped uses of a register compatible.
    [[nodiscard]] static constexpr isa::scalar register_type(isa::scalar t) noexcept {
        switch (isa::info(t).reg) {
            case isa::scalar::u16:
            case isa::scalar::s16:
            case isa::scalar::b16: return isa::scalar::b16;
            case isa::scalar::u32:
            case isa::scalar::s32:
            case isa::scalar::b32: return isa::scalar::b32;
            case isa::scalar::u64:
            case isa::scalar::s64:
            case isa::scalar::b64: return isa::scalar::b64;
            default: return isa::info(t).reg;
        }
    }

private:
    constexpr std::uint16_t default_prefix(isa::scalar cls) {
        if (is_module) return module_prefix(cls);
        switch (cls) {
            case isa::scalar::pred: return cached_prefix(0, "p"_sv, cls);
            case isa::scalar::b16: return cached_prefix(1, "rs"_sv, cls);
            case isa::scalar::b32: return cached_prefix(2, "r"_sv, cls);
            case isa::scalar::b64: return cached_prefix(3, "rd"_sv, cls);
            case isa::scalar::b128: return cached_prefix(4, "rq"_sv, cls);
            case isa::scalar::f32: return cached_prefix(5, "f"_sv, cls);
            default: return cached_prefix(6, "fd"_sv, cls);
        }
    }
    constexpr std::uint16_t module_prefix(isa::scalar cls) {
        switch (cls) {
            case isa::scalar::pred: return cached_prefix(0, "new_p"_sv, cls);
            case isa::scalar::b16: return cached_prefix(1, "new_rs"_sv, cls);
            case isa::scalar::b32: return cached_prefix(2, "new_r"_sv, cls);
            case isa::scalar::b64: return cached_prefix(3, "new_rd"_sv, cls);
            case isa::scalar::b128: return cached_prefix(4, "new_rq"_sv, cls);
            case isa::scalar::f32: return cached_prefix(5, "new_f"_sv, cls);
            default: return cached_prefix(6, "new_fd"_sv, cls);
        }
    }
    constexpr std::uint16_t cached_prefix(unsigned slot, string_view s, isa::scalar cls) {
        if (default_prefix_[slot] == 0) default_prefix_[slot] = intern_prefix(s, cls);
        return default_prefix_[slot];
    }
    constexpr name suffixed(string_view s, isa::scalar t) {
        const std::uint32_t begin = pool.size();
        for (char c : s) pool.push_back(c);
        pool.push_back('_');
        for (char c : isa::name(t)) pool.push_back(c);
        pool.push_back('_');
        return {begin, pool.size() - begin};
    }
    [[nodiscard]] constexpr bool is_suffixed(name n, string_view s) const noexcept {
        return n.length > s.size() && pool[n.offset + static_cast<std::uint32_t>(s.size())] == '_' &&
               text(n).substr(0, s.size()) == s;
    }

    /// Checks that the spans cover the tail of the stream, but for what one helper function emitted beside its result,
    /// and rewrites that tail: the latter, then the spans in argument order. C++ evaluates arguments in either
    /// direction, and both come to the same.
    constexpr bool reorder(const span* args, std::uint32_t n, span& all, const location& where) {
        std::uint32_t begin = args[0].begin, total = 0, end = 0;
        for (std::uint32_t i = 0; i < n; ++i) {
            if (args[i].begin < begin) begin = args[i].begin;
            if (args[i].end > end) end = args[i].end;
            total += args[i].end - args[i].begin;
        }
        if (end != words.size()) return false;
        const bool gap = total != end - begin;
        if (gap && !is_of_one_helper(args, n, begin, where)) return false;
        detail::dynarray<std::uint32_t> tail(end - begin);
        for (std::uint32_t at = begin; gap && at != end;) {
            const span& next = first_from(args, n, at);
            for (; at < next.begin; ++at) tail.push_back(words[at]);
            at = next.end;
        }
        all.begin = begin + tail.size();
        for (std::uint32_t i = 0; i < n; ++i)
            for (std::uint32_t w = args[i].begin; w < args[i].end; ++w) tail.push_back(words[w]);
        for (std::uint32_t i = 0; i < tail.size(); ++i) words[begin + i] = tail[i];
        open_record = words.size();  // the record it named may lie elsewhere now
        return true;
    }
    [[nodiscard]] static constexpr bool assigns_among(const span* args, std::uint32_t n) noexcept {
        for (std::uint32_t i = 0; i < n; ++i)
            if (args[i].assigns) return true;
        return false;
    }
    [[nodiscard]] static constexpr const span& first_from(const span* args, std::uint32_t n,
                                                          std::uint32_t at) noexcept {
        const span* first = nullptr;
        for (std::uint32_t i = 0; i < n; ++i)
            if (args[i].begin >= at && args[i].end > at && (first == nullptr || args[i].begin < first->begin))
                first = &args[i];
        return *first;
    }
    /// Whether there is one gap between the spans, and what lies in it belongs to the argument behind it. Only a helper
    /// function emits beside its result, and its instructions bear its name instead of the caller's.
    [[nodiscard]] constexpr bool is_of_one_helper(const span* args, std::uint32_t n, std::uint32_t begin,
                                                  const location& where) const {
        const span& first = first_from(args, n, begin);
        std::uint32_t gaps = 0;
        const span* before = nullptr;
        for (std::uint32_t at = begin; at != words.size(); at = before->end) {
            const span& next = first_from(args, n, at);
            if (next.begin != at) {
                const span gap{at, next.begin};
                if (++gaps > 1 || where.line() == 0 || !has_other_function(next, where)) return false;
                if (has_other_function(*before, where) && (!is_made_by(gap, next) || shares_function(gap, *before)))
                    return false;
                if (has_other_function(first, where) && emitted_before(first)) return false;
            }
            before = &next;
        }
        return true;
    }
    /// Calls `test` with the author's function of each record of `s` until it is true.
    template <class Test>
    [[nodiscard]] constexpr bool any_function(span s, const Test& test) const {
        for (std::uint32_t at = s.begin; at < s.end; at += cursor{&words[at]}.size())
            if (test(string_view(locations[cursor{&words[at]}.location()].function_name()))) return true;
        return false;
    }
    [[nodiscard]] constexpr bool has_other_function(span s, const location& where) const {
        return any_function(s, [&](string_view name) { return name != where.function_name(); });
    }
    [[nodiscard]] constexpr bool shares_function(span s, span with) const {
        return any_function(
            s, [&](string_view name) { return any_function(with, [&](string_view other) { return name == other; }); });
    }
    [[nodiscard]] constexpr bool is_made_by(span s, span by) const {
        return !any_function(
            s, [&](string_view name) { return !any_function(by, [&](string_view other) { return name == other; }); });
    }
    /// Where the last record of a span begins; it stands at the end of all that a helper function emits for its result.
    [[nodiscard]] constexpr std::uint32_t last_record(span s) const {
        std::uint32_t last = s.begin;
        for (std::uint32_t at = s.begin; at < s.end; at += cursor{&words[at]}.size()) last = at;
        return last;
    }
    /// Whether the helper function that made the argument `first` emitted something in front of it. What an earlier
    /// call of the same function has returned stands there as well: it is of the line that returns.
    [[nodiscard]] constexpr bool emitted_before(const span& first) const {
        if (first.begin == body_begin || first.begin == 0) return false;
        const std::uint32_t last = last_record({0, first.begin});
        if (!shares_function({last, first.begin}, first)) return false;
        const location &before = locations[cursor{&words[last]}.location()],
                       &result = locations[cursor{&words[last_record(first)]}.location()];
        return before.line() != result.line() || before.column() != result.column();
    }
    /// Whether the other arguments of a call emitted something behind its one nested call: helper functions that return
    /// a register they have not made last. In the other direction it would stand in front.
    [[nodiscard]] constexpr bool is_behind_argument(const span& argument, const location& where) const {
        if (where.line() == 0 || argument.end > words.size()) return false;
        const auto of_caller = [&](string_view name) { return name == where.function_name(); };
        return any_function({last_record(argument), argument.end}, of_caller) &&
               !any_function({argument.end, words.size()}, of_caller);
    }

    detail::dynarray<std::uint32_t> pending_;
    std::uint16_t default_prefix_[7] = {};
};

using program = basic_program<std::source_location>;

}  // namespace ptxdsl::ir
