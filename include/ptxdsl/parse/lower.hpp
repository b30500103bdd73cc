// SPDX-License-Identifier: Apache-2.0
// From the tree of a kernel to the program representation that the verifier reads.
//
// A text has less than a program of the DSL: no constructs, no names for what an address points at. Constructs come
// back from the flow of branches (structure.hpp). Addresses come back where a chain of instructions that write their
// registers once starts at a shared variable; what `mbarrier.init` is called on by such an address is an mbarrier, and
// the notes the DSL would have written stand in front of the instructions that use it. Where either is not certain the
// program says nothing, and the verifier is silent.
#pragma once

#include <ptxdsl/ir/behaviour.hpp>
#include <ptxdsl/ir/module.hpp>
#include <ptxdsl/isa/special_registers.hpp>
#include <ptxdsl/isa/tokens.hpp>
#include <ptxdsl/parse/kernel_facts.hpp>
#include <ptxdsl/parse/lowered_code.hpp>
#include <ptxdsl/parse/structure.hpp>

#include <cstdint>
#include <initializer_list>
#include <string_view>

namespace ptxdsl::ptx {

namespace detail {

/// Names and what they mean to a lowered program: the first register's number, or a variable's place in shared memory.
class meanings {
public:
    constexpr explicit meanings(const tree_view& v) : names_(v) {}

    constexpr void open() {
        marks_.push_back(values_.size());
        names_.open_scope();
    }
    constexpr void close() {
        names_.close_scope();
        values_.truncate(marks_.back());
        marks_.pop_back();
    }
    constexpr void declare(const symbol& s, std::uint32_t value) {
        static_cast<void>(names_.declare(s));
        values_.push_back(value);
    }
    [[nodiscard]] constexpr std::uint32_t find(std::uint32_t spelling) const noexcept { return names_.find(spelling); }
    [[nodiscard]] constexpr std::uint32_t find_label(std::uint32_t spelling) const noexcept {
        return names_.find_label(spelling);
    }
    [[nodiscard]] constexpr const symbol& operator[](std::uint32_t s) const noexcept { return names_[s]; }
    [[nodiscard]] constexpr std::uint32_t value(std::uint32_t s) const noexcept { return values_[s]; }

private:
    symbol_table names_;
    ptxdsl::detail::dynarray<std::uint32_t> values_;  ///< by symbol
    ptxdsl::detail::dynarray<std::uint32_t> marks_;
};

}  // namespace detail

/// Lowers the kernels and device functions of a module one after the other.
class lowering : detail::lowered_code {
public:
    /// Registers beyond which a kernel is not lowered.
    static constexpr std::uint32_t max_registers = 1u << 20;

    constexpr explicit lowering(const tree_view& v) : lowered_code(v), names_(v) {}

    /// Calls `use(kernel, entry)` for each kernel and function that has a body; the tree has no errors, and names are
    /// declared.
    template <class Use>
    constexpr void run(Use use) {
        for (u32 n = 1; v_.n_nodes != 0 && n < v_[0].end; n = v_[n].end) {
            if (v_.kind(n) == node_kind::declaration) declaration(n);
            if (v_.kind(n) != node_kind::entry && v_.kind(n) != node_kind::function) continue;
            symbol s;
            s.kind = symbol_kind::function, s.name = v_[n].atom, s.node = n;
            names_.declare(s, 0);
            const u32 body = v_.child(n, node_kind::body);
            if (body == 0) continue;
            const u32 shared = shared_end_, variables = variables_.size();
            if (kernel(n, body)) use(k_, n);
            body_ = 0;
            shared_end_ = shared;
            variables_.truncate(variables);
        }
    }

private:
    static constexpr u32 first_parameter = ir::print_symbol + 1;  ///< parameters are told apart by their order

    // ---- declarations ------------------------------------------------------------------------------------------

    constexpr void declaration(u32 n) {
        symbol s;
        s.kind = symbol_kind::variable;
        for (u32 c = n + 1; c < v_[n].end; c = v_[c].end) {
            if (v_.kind(c) == node_kind::space) {
                s.kind = v_.atom(c) == ".reg" ? symbol_kind::reg : symbol_kind::variable;
                s.sp = v_.atom(c) == ".shared" ? space::shared : v_.atom(c) == ".param" ? space::param : space::generic;
            }
            if (v_.kind(c) == node_kind::type) s.type = scalar_named(v_.atom(c));
            if (v_.kind(c) != node_kind::declarator) continue;
            s.name = v_[c].atom, s.node = c, s.range = 0;
            if (s.kind == symbol_kind::reg)
                registers(c, s);
            else
                names_.declare(s, s.sp == space::shared  ? shared_variable(n, c)
                                  : s.sp == space::param ? parameters_++
                                                         : 0);
        }
    }
    constexpr void registers(u32 n, symbol s) {
        const u32 range = v_.child(n, node_kind::range);
        const u64 declared = range == 0 ? 1 : integer_value(v_.atom(range));
        const u32 first = k_.regs.size();
        if (body_ == 0) return names_.declare(s, flow_block::none);  // outside of functions, from before PTX 3
        if (declared > max_registers - first || k_.prefixes.size() > 0xfffe) {
            too_big_ = true;
            return names_.declare(s, 0);
        }
        const auto count = static_cast<u32>(declared);
        if (range != 0) s.range = count;
        const spelling& word = v_.words[s.name];
        const u32 skip = v_.word(s.name)[0] == '%' ? 1 : 0;
        k_.prefixes.push_back({{word.begin + skip, word.size - skip},
                               s.type,
                               false,
                               range == 0 ? ir::naming::single : ir::naming::numbered,
                               first});
        const ir::reg_info info{s.type, static_cast<std::uint16_t>(k_.prefixes.size() - 1)};
        k_.regs.resize(first + count, info);
        names_.declare(s, first);
    }
    /// Arrays without a size begin where the launch's shared memory does, all of them. How long one is that another
    /// module defines, or the launch, is not known.
    constexpr u32 shared_variable(u32 n, u32 declarator) {
        storage s = storage_of(v_, n, declarator);
        constexpr u32 room = 1u << 20;
        const u32 linkage = v_.child(n, node_kind::linkage);
        if (linkage != 0 && v_.atom(linkage) == ".extern" && s.bytes != 0 && s.bytes < room) s.bytes = room - 1;
        if (s.bytes == 0 || s.bytes >= room) {
            for (const variable& x : variables_)
                if (x.bytes == 0) return x.begin;
        }
        const u32 begin = shared_end_;
        if (begin > 0xfff00000u - 2 * room) {
            too_big_ = true;
            return 0;
        }
        const u64 align = s.align < room ? s.align : room;
        variables_.push_back(
            {v_[declarator].atom, begin, static_cast<u32>(s.bytes < room ? s.bytes : 0), static_cast<u32>(align)});
        shared_end_ += s.bytes == 0 || s.bytes >= room ? room : (static_cast<u32>(s.bytes) + 0x7ffu) / 0x400u * 0x400u;
        return begin;
    }

    // ---- one kernel --------------------------------------------------------------------------------------------

    constexpr bool kernel(u32 n, u32 body) {
        reset(n, body);
        names_.open();
        for (const node_kind list_of : {node_kind::results, node_kind::parameters})
            if (const u32 all = v_.child(n, list_of))
                for (u32 c = all + 1; c < v_[all].end; c = v_[c].end) declaration(c);
        for (u32 r = 0; r < k_.regs.size(); ++r) k_.signature.push_back(r);
        read_body(body);
        names_.close();
        if (too_big_) return false;
        gather_fragments();
        find_values();
        find_places();
        write();
        k_.is_function = v_.kind(n) == node_kind::function;
        k_.function = {k_.kernel, 0, k_.words.size(), 0, 0, static_cast<std::uint16_t>(k_.signature.size())};
        return k_.signature.size() < 0xffff;
    }
    constexpr void reset(u32 n, u32 body) {
        k_ = {};
        k_.prefixes.push_back({});
        const spelling& name = v_.words[v_[n].atom];
        k_.kernel = {name.begin, name.size};
        attributes(n);
        code_.truncate(0), items_.truncate(0), values_.truncate(0), sources_.truncate(0);
        loops_.truncate(0), stepped_ = ir::unknown_count;
        parameters_ = 0;
        body_ = body, too_big_ = wild_ = unknown_ = false;
        label_at_.truncate(0);
        label_at_.resize(v_[body].end - body, flow_block::none);
    }
    constexpr void attributes(u32 n) {
        const auto size = [&](std::string_view directive) {
            const three t = tuning_of(v_, n, directive);
            return ir::attributes::dim3{t.value[0], t.value[1], t.value[2]};
        };
        k_.attrs.reqntid = size(".reqntid");
        k_.attrs.maxntid = size(".maxntid");
        k_.attrs.cluster = size(".reqnctapercluster");
        k_.attrs.minnctapersm = size(".minnctapersm").x;
        k_.attrs.maxnreg = size(".maxnreg").x;
        if (!k_.attrs.reqntid.given()) k_.attrs.reqntid = {};
        if (!k_.attrs.maxntid.given()) k_.attrs.maxntid = {};
        if (!k_.attrs.cluster.given()) k_.attrs.cluster = {};
    }

    constexpr void read_body(u32 n) {
        for_each_statement(
            v_, n, [this](u32 c) { open(c); }, [this](u32 c) { statement(c); }, [this] { names_.close(); });
    }
    constexpr void open(u32 n) {
        names_.open();
        for (u32 c = n + 1; c < v_[n].end; c = v_[c].end) {
            if (v_.kind(c) != node_kind::label) continue;
            symbol s;
            s.kind = symbol_kind::label, s.name = v_[c].atom, s.node = c;
            names_.declare(s, 0);
        }
    }
    constexpr void statement(u32 n) {
        switch (v_.kind(n)) {
            case node_kind::declaration: return declaration(n);
            case node_kind::label: label_at_[n - body_] = items_.size(); return;
            case node_kind::instruction: return instruction(n);
            default: return;
        }
    }

    // ---- instructions ------------------------------------------------------------------------------------------

    constexpr void instruction(u32 n) {
        item it;
        it.at = code_.size();
        const u32 end = v_[n].end;
        u32 c = n + 1, guard = 0;
        if (c < end && v_.kind(c) == node_kind::guard) {
            const u32 predicate = register_of(v_[c].atom);
            if (predicate == flow_block::none) too_big_ = true;  // a module's register: not one of the kernel's
            guard = (predicate + 1) << 1 | ((v_[c].flags & node::negated) != 0 ? 1u : 0u);
            ++c;
        }
        tokens_.truncate(0);
        tokens_.push_back(static_cast<u32>(isa::find_token(v_.atom(n))));
        for (; c < end && v_.kind(c) == node_kind::modifier; ++c)
            tokens_.push_back(static_cast<u32>(isa::find_token(v_.atom(c).substr(1))));
        const auto opcode = static_cast<tok>(tokens_[0]);
        if (opcode == tok::brx && branch_by_table(n, c, guard)) return;
        begin_record(n, guard);
        if (opcode == tok::bra) {
            it.branch = true;
            it.label = names_[names_.find_label(v_[c].atom)].node;
            it.ends = guard == 0;
        } else {
            wild_ = wild_ || opcode == tok::brx;
            it.ends = guard == 0 && (opcode == tok::ret || opcode == tok::exit || opcode == tok::trap);
            if (opcode == tok::call) call_result(c, end);
            for (; c < end; c = v_[c].end) operand(c);
        }
        code_[it.at] |= code_.size() - it.at;
        items_.push_back(it);
        // A word of ptxas that the table does not have may do anything.
        if (opcode == tok::none || code_.size() - it.at > 0xffffu) unknown_ = true;
    }
    /// `brx.idx` as branches on what the index is. False when a target is not known.
    constexpr bool branch_by_table(u32 n, u32 index, u32 guard) {
        const u32 name = v_[index].end;
        const u32 s = name < v_[n].end ? names_.find_label(v_[name].atom) : symbol_table::none;
        if (s == symbol_table::none) return false;
        const u32 list_node = v_[names_[s].node].end;
        if (list_node >= v_.n_nodes || v_.kind(list_node) != node_kind::branch_targets) return false;
        targets_.truncate(0);
        for (u32 t = list_node + 1; t < v_[list_node].end; t = v_[t].end)
            if (!add_targets(t)) return false;
        if (k_.regs.size() + 3 * targets_.size() >= max_registers) return false;
        for (u32 i = 0; i < targets_.size(); ++i) {
            const bool last = guard == 0 && i + 1 == targets_.size();  // control does not get behind it
            synthesise(n, tok::bra, last ? 0 : is_index(n, index, guard, i));
            end_item(targets_[i], last);
        }
        return true;
    }
    /// The labels that one name of the list stands for: itself, or `L<3>` for L0, L1, L2 (PTX ISA 11.3.1).
    constexpr bool add_targets(u32 t) {
        const u32 range = v_.child(t, node_kind::range);
        if (range == 0) {
            const u32 s = names_.find_label(v_[t].atom);
            if (s != symbol_table::none) targets_.push_back(names_[s].node);
            return s != symbol_table::none;
        }
        const u64 count = integer_value(v_.atom(range));
        u32 found = 0;
        for (u32 l = body_; l < v_[body_].end && count < max_registers; ++l) {
            if (v_.kind(l) != node_kind::label || !is_numbered(v_.atom(l), v_.atom(t), count)) continue;
            const u32 s = names_.find_label(v_[l].atom);
            if (s != symbol_table::none && names_[s].node == l) targets_.push_back(l), ++found;
        }
        return found == count;
    }
    /// Whether `word` is `prefix` and a number below `count`.
    [[nodiscard]] static constexpr bool is_numbered(std::string_view word, std::string_view prefix,
                                                    u64 count) noexcept {
        const std::string_view digits = word.substr(0, prefix.size()) == prefix ? word.substr(prefix.size()) : "";
        if (digits.empty() || digits.size() > 9 || (digits[0] == '0' && digits.size() != 1)) return false;
        u64 number = 0;
        for (const char c : digits) {
            if (c < '0' || c > '9') return false;
            number = number * 10 + static_cast<u64>(c - '0');
        }
        return number < count;
    }
    /// A new predicate: the index is `k`, and the guard of the branch holds.
    constexpr u32 is_index(u32 n, u32 index, u32 guard, u32 k) {
        const u32 condition = new_predicate(n, tok::setp, {tok::eq, tok::u32});
        operand(index);
        push(ir::head(ir::operand_kind::small_int, k));
        end_item(0, false);
        if (guard == 0) return (condition + 1) << 1;
        u32 holds = (guard >> 1) - 1;
        if ((guard & 1u) != 0) {
            const u32 negated = new_predicate(n, tok::not_, {tok::pred});
            push(ir::head(ir::operand_kind::reg, holds));
            end_item(0, false);
            holds = negated;
        }
        const u32 both = new_predicate(n, tok::and_, {tok::pred});
        push(ir::head(ir::operand_kind::reg, condition));
        push(ir::head(ir::operand_kind::reg, holds));
        end_item(0, false);
        return (both + 1) << 1;
    }
    /// Begins an instruction that writes a new predicate.
    constexpr u32 new_predicate(u32 n, tok opcode, std::initializer_list<tok> words) {
        const u32 made = k_.regs.size();
        k_.regs.push_back({isa::scalar::pred, 0});
        synthesise(n, opcode, 0, words);
        push(ir::head(ir::operand_kind::reg, made));
        return made;
    }
    constexpr void synthesise(u32 n, tok opcode, u32 guard, std::initializer_list<tok> words = {}) {
        tokens_.truncate(0);
        tokens_.push_back(static_cast<u32>(opcode));
        for (const tok t : words) tokens_.push_back(static_cast<u32>(t));
        begin_record(n, guard);
    }
    constexpr void end_item(u32 label, bool ends) {
        code_[open_] |= code_.size() - open_;
        items_.push_back({open_, label, label != 0, ends});
    }
    constexpr void begin_record(u32 n, u32 guard) {
        code_.push_back(ir::record_head(ir::record::instruction, tokens_.size(), 0));
        code_.push_back(0xffff0000u);
        code_.push_back(guard);
        code_.push_back(n);
        for (u32 i = 0; i < tokens_.size(); i += 2)
            code_.push_back(tokens_[i] | (i + 1 < tokens_.size() ? tokens_[i + 1] << 16 : 0));
        open_ = code_.size() - 4 - (tokens_.size() + 1) / 2;
    }
    /// A call's first operand is what it writes, where it writes something.
    constexpr void call_result(u32 c, u32 end) {
        u32 lists = 0;
        for (u32 a = c; a < end; a = v_[a].end)
            if (v_.kind(a) == node_kind::arguments && a == c) ++lists;
        if (lists == 0) push(ir::head(ir::operand_kind::sink, 0));
    }

    // ---- operands ----------------------------------------------------------------------------------------------

    constexpr void push(u32 head) {
        code_.push_back(head);
        code_[open_ + 1] += 1u << 8;
    }
    /// Number of the register that a word names, or `flow_block::none`.
    [[nodiscard]] constexpr u32 register_of(u32 word) const noexcept {
        const u32 s = names_.find(word);
        if (s == symbol_table::none || names_[s].kind != symbol_kind::reg) return flow_block::none;
        if (names_[s].range == 0 || names_.value(s) == flow_block::none) return names_.value(s);
        const std::string_view text = v_.word(word);
        u32 number = 0;
        for (std::size_t i = v_.word(names_[s].name).size(); i < text.size(); ++i)
            number = number * 10 + static_cast<u32>(text[i] - '0');
        return names_.value(s) + number;
    }
    constexpr void operand(u32 n) {
        switch (v_.kind(n)) {
            case node_kind::complement: return complement(n + 1);
            case node_kind::address: return address(n);
            case node_kind::vector: return vector(n, 0);
            case node_kind::arguments:
                for (u32 c = n + 1; c < v_[n].end; c = v_[c].end) operand(c);
                return;
            case node_kind::pair: return pair(n);
            case node_kind::name:
            case node_kind::negation:
            case node_kind::offset:
            case node_kind::index: {
                const u32 name = v_.kind(n) == node_kind::name ? n : n + 1;
                const u32 head = word_of(name);
                push(head);
                if (ir::kind_of(head) == ir::operand_kind::symbol)
                    code_.push_back(place_of(name) + (v_.kind(n) == node_kind::name ? 0 : offset_in(n)));
                return;
            }
            case node_kind::sink: return push(ir::head(ir::operand_kind::sink, 0));
            default: return constant(n);
        }
    }
    constexpr void complement(u32 n) {
        const u32 r = register_of(v_[n].atom);
        push(r == flow_block::none ? ir::head(ir::operand_kind::sink, 0) : ir::head(ir::operand_kind::not_pred, r));
    }
    /// One word for a name: register, special register, or a symbol behind which an offset has to follow.
    [[nodiscard]] constexpr u32 word_of(u32 n) const noexcept {
        const u32 r = register_of(v_[n].atom);
        if (r != flow_block::none) return ir::head(ir::operand_kind::reg, r);
        const u32 s = names_.find(v_[n].atom);
        if (s != symbol_table::none) return ir::head(ir::operand_kind::symbol, kind_of_symbol(names_[s], n));
        return ir::head(ir::operand_kind::special, special_of(n));
    }
    [[nodiscard]] constexpr u32 kind_of_symbol(const symbol& s, u32 n) const noexcept {
        if (s.sp == space::shared) return shared_symbol;
        if (s.sp == space::param) return first_parameter + parameter_of(n);
        return s.kind == symbol_kind::function && v_.atom(n) == "vprintf" ? ir::print_symbol : other_symbol;
    }
    [[nodiscard]] constexpr u32 special_of(u32 n) const noexcept {
        const std::string_view base = v_.atom(n);
        const std::string_view part = v_.has_children(n) ? v_.atom(n + 1) : std::string_view();
        for (u32 i = 0; i < static_cast<u32>(isa::special::count_); ++i) {
            const string_view name = isa::info(static_cast<isa::special>(i)).name;
            if (name.size() == base.size() + part.size() && name.substr(0, base.size()) == string_view(base) &&
                name.substr(base.size()) == string_view(part))
                return i;
        }
        return static_cast<u32>(isa::special::clock);  // of a vector, all components: differs from thread to thread
    }
    /// Which of the `.param` variables of a kernel a name is.
    [[nodiscard]] constexpr u32 parameter_of(u32 n) const noexcept { return names_.value(names_.find(v_[n].atom)); }
    [[nodiscard]] constexpr u32 place_of(u32 n) const noexcept {
        const u32 s = names_.find(v_[n].atom);
        return s != symbol_table::none && names_[s].sp == space::shared ? names_.value(s) : 0;
    }
    /// The constant in `name+4`, `name[4]`.
    [[nodiscard]] constexpr u32 offset_in(u32 n) const noexcept {
        const u32 c = v_[n + 1].end;
        return c < v_[n].end ? static_cast<u32>(constant_reader(v_).of(c).value) : 0;
    }
    constexpr void constant(u32 n) {
        const constant_value c = constant_reader(v_).of(n);
        if (c.is_float) {
            push(ir::head(ir::operand_kind::f32, 0));
            return code_.push_back(0);
        }
        if (ir::fits_small(c.value)) return push(ir::head(ir::operand_kind::small_int, static_cast<u32>(c.value)));
        push(ir::head(ir::operand_kind::integer, 0));
        code_.push_back(static_cast<u32>(static_cast<u64>(c.value)));
        code_.push_back(static_cast<u32>(static_cast<u64>(c.value) >> 32));
    }
    /// A constant of one word; a sink for one that does not fit, and for `_`.
    [[nodiscard]] constexpr u32 small_constant(u32 n) const noexcept {
        if (v_.kind(n) == node_kind::sink) return ir::head(ir::operand_kind::sink, 0);
        const constant_value c = constant_reader(v_).of(n);
        return c.is_float || !ir::fits_small(c.value)
                   ? ir::head(ir::operand_kind::sink, 0)
                   : ir::head(ir::operand_kind::small_int, static_cast<u32>(c.value));
    }
    /// Operands inside of operands are one word each.
    constexpr void element(u32 n) {
        const u32 head = v_.kind(n) == node_kind::name                                              ? word_of(n)
                         : v_.kind(n) == node_kind::negation || v_.kind(n) == node_kind::complement ? word_of(n + 1)
                                                                                                    : small_constant(n);
        const bool symbol = ir::kind_of(head) == ir::operand_kind::symbol;
        code_.push_back(symbol ? ir::head(ir::operand_kind::sink, 0) : head);
    }
    constexpr void vector(u32 n, u32 predicate) {
        push(ir::head(ir::operand_kind::vec, v_.children(n) + (predicate != 0 ? 1 : 0)));
        for (u32 c = n + 1; c < v_[n].end; c = v_[c].end) element(c);
        if (predicate != 0) element(predicate);
    }
    constexpr void pair(u32 n) {
        const u32 second = v_[n + 1].end;
        if (v_.kind(n + 1) == node_kind::vector) return vector(n + 1, second);
        push(ir::head(ir::operand_kind::pair, 2));
        element(n + 1);
        element(second);
    }
    constexpr void address(u32 n) {
        const u32 base = n + 1;
        const bool plain = v_.kind(base) == node_kind::name;
        const u32 name = plain ? base : base + 1;
        const bool named = plain || v_.kind(base) == node_kind::offset;
        u32 head = named ? word_of(name) : ir::head(ir::operand_kind::small_int, 0);
        const u32 rest = v_[base].end;
        if (rest != v_[n].end && v_.kind(rest) != node_kind::component) return tensor(n, head);
        u32 offset = named && !plain ? offset_in(base) : 0;
        if (head == ir::head(ir::operand_kind::symbol, shared_symbol))
            head = ir::head(ir::operand_kind::symbol, ir::smem_symbol), offset += place_of(name);
        push(ir::head(ir::operand_kind::address, 0));
        code_.push_back(head);
        code_.push_back(offset);
    }
    constexpr void tensor(u32 n, u32 base) {
        const u32 at = code_.size();
        push(0);
        code_.push_back(base);
        for (u32 c = v_[n + 1].end; c < v_[n].end; c = v_[c].end) {
            if (v_.kind(c) == node_kind::vector)
                for (u32 e = c + 1; e < v_[c].end; e = v_[e].end) element(e);
            else
                element(c);
        }
        code_[at] = ir::head(ir::operand_kind::tensor, code_.size() - at - 2);
    }

    // ---- writing -----------------------------------------------------------------------------------------------

    constexpr void write() {
        flow_graph g;
        make_blocks(g);
        if (unknown_) note_unknown();
        if (g.analyse()) {
            graph_ = &g;
            if (structure_printer(g, *this).run()) return;
            k_.words.truncate(0), loops_.truncate(0);
            if (unknown_) note_unknown();
        }
        // Flow without structure: the text as it is, and a branch that may lead anywhere.
        k_.words.push_back(ir::record_head(ir::record::instruction, 1, 5));
        for (const u32 w : {0xffff0000u, 0u, 0u, static_cast<u32>(tok::brx)}) k_.words.push_back(w);
        for (const item& it : items_) one(it);
    }
    constexpr void note_unknown() {
        k_.words.push_back(ir::record_head(ir::record::text, static_cast<u32>(ir::text_kind::raw), 4));
        for (int i = 0; i < 3; ++i) k_.words.push_back(0);
    }
    constexpr void make_blocks(flow_graph& g) {
        g.wild = wild_;
        list<u32> block_of;  // by item: block + 1 where one begins
        block_of.resize(items_.size() + 1, 0);
        block_of[0] = 1;
        for (const u32 at : label_at_)
            if (at != flow_block::none) block_of[at] = 1;
        for (u32 i = 0; i < items_.size(); ++i)
            if (items_[i].branch || items_[i].ends) block_of[i + 1] = 1;
        u32 count = 0;
        for (u32& b : block_of)
            if (b != 0) b = ++count;
        g.blocks.resize(count);
        for (u32 i = 0; i <= items_.size(); ++i) {
            if (block_of[i] != 0) {
                flow_block& b = g.blocks[block_of[i] - 1];
                b.first = b.last = i;
                b.where = i < items_.size() ? code_[items_[i].at + 3] : 0;
                b.next = block_of[i] < count ? block_of[i] : flow_block::none;
            }
            if (i == items_.size()) break;
            flow_block& b = g.blocks[current(block_of, i)];
            const item& it = items_[i];
            if (!it.branch) b.last = i + 1;
            if (it.ends) b.next = flow_block::none;
            if (!it.branch) continue;
            b.to = block_of[label_at_[it.label - body_]] - 1;
            b.guard = code_[it.at + 2], b.where = code_[it.at + 3];
        }
    }
    /// The block of item i; blocks are met in order.
    [[nodiscard]] constexpr u32 current(const list<u32>& block_of, u32 i) noexcept {
        if (block_of[i] != 0) current_ = block_of[i] - 1;
        return current_;
    }

public:
    // What `structure_printer` calls.
    constexpr void begin_if(u32 guard, u32 where) { region(ir::region::if_begin, where, (guard >> 1) - 1, guard & 1u); }
    constexpr void begin_else() { region(ir::region::else_begin, 0); }
    constexpr void end_if() { region(ir::region::if_end, 0); }
    constexpr void begin_loop(u32 id, u32 block) {
        const u32 first = graph_->blocks[block].first;
        loops_.push_back(k_.words.size());
        k_.words.push_back(ir::record_head(ir::record::region, static_cast<u32>(ir::region::loop_begin), 9));
        k_.words.push_back(first < items_.size() ? code_[items_[first].at + 3] : 0);
        const ir::counting none;
        for (const u32 w : {id, ir::unknown_count, none.counter, none.is_signed, none.first, none.bound, none.step})
            k_.words.push_back(w);
    }
    constexpr void end_loop(u32 id) {
        u32* const begin = k_.words.data() + loops_.back();
        loops_.pop_back();
        if (begin[4] == stepped_ && stepped_ != ir::unknown_count) begin[8] = step_;
        with_id(ir::region::loop_end, 0, id);
    }
    constexpr void begin_block(u32 id) {
        blocks_.push_back(k_.words.size());
        with_id(ir::region::block_begin, 0, id);
    }
    constexpr void end_block(u32 id, bool used) {
        const u32 at = blocks_.back();
        blocks_.pop_back();
        if (used) return with_id(ir::region::block_end, 0, id);
        k_.words[at] = ir::record_head(ir::record::line, 0, 3);  // says nothing
    }
    constexpr void jump(bool out, u32 id, u32 guard, u32 where) {
        with_id(out ? ir::region::break_ : ir::region::continue_, where, id);
        k_.words.push_back(guard);
        k_.words[k_.words.size() - 4] += 1;
    }
    [[nodiscard]] constexpr bool synchronises(u32 first, u32 last) const noexcept {
        for (u32 i = first; i < last; ++i) {
            const op o = ir::action_of(code_.data() + items_[i].at);
            if (o == op::bar || o == op::setmaxnreg || o == op::mbarrier || o == op::copy || o == op::wgmma ||
                o == op::tcgen05)
                return true;
        }
        return false;
    }
    constexpr void instructions(u32 first, u32 last) {
        for (u32 i = first; i < last; ++i) one(items_[i]);
    }

private:
    constexpr void region(ir::region code, u32 where) {
        k_.words.push_back(ir::record_head(ir::record::region, static_cast<u32>(code), 2));
        k_.words.push_back(where);
    }
    constexpr void region(ir::region code, u32 where, u32 predicate, u32 negated) {
        with_id(code, where, predicate << 1 | negated);
    }
    constexpr void with_id(ir::region code, u32 where, u32 id) {
        region(code, where);
        k_.words.push_back(id);
        k_.words[k_.words.size() - 3] += 1;
    }
    constexpr void one(const item& it) {
        const ir::cursor c{code_.data() + it.at};
        if (!loops_.empty() && k_.words.size() == loops_.back() + 9) counter(c);
        step(c);
        notes(c);
        for (u32 i = 0; i < c.size(); ++i) k_.words.push_back(c.w[i]);
    }
    /// `for`, as the DSL writes it and compilers do: `setp.ge` on the counter is the first thing in the loop.
    constexpr void counter(const ir::cursor& c) {
        if (c.tokens() < 3 || static_cast<tok>(c.token(0)) != tok::setp || static_cast<tok>(c.token(1)) != tok::ge ||
            c.operands() < 3 || ir::kind_of(operand_at(c, 1)[0]) != ir::operand_kind::reg)
            return;
        const auto type = static_cast<tok>(c.token(2));
        u32* const begin = k_.words.data() + loops_.back();
        begin[4] = ir::payload_of(operand_at(c, 1)[0]);
        begin[5] = type == tok::s32 || type == tok::s64 || type == tok::s16 ? 1 : 0;
    }
    /// The latest `add r, r, number` before a loop ends is its step, where `r` is its counter.
    constexpr void step(const ir::cursor& c) noexcept {
        const u32* const o = c.first_operand();
        if (static_cast<tok>(c.token(0)) != tok::add || c.operands() != 3 || o[0] != o[1] ||
            ir::kind_of(o[0]) != ir::operand_kind::reg || ir::kind_of(o[2]) != ir::operand_kind::small_int)
            return;
        stepped_ = ir::payload_of(o[0]), step_ = o[2];
    }

    // ---- notes -------------------------------------------------------------------------------------------------

    template <class... Payload>
    constexpr void note(ir::note code, u32 where, Payload... payload) {
        k_.words.push_back(ir::record_head(ir::record::note, static_cast<u32>(code), 2 + sizeof...(payload)));
        k_.words.push_back(where);
        (k_.words.push_back(static_cast<u32>(payload)), ...);
    }
    [[nodiscard]] static constexpr bool has(const ir::cursor& c, tok t) noexcept {
        for (u32 i = 1; i < c.tokens(); ++i)
            if (static_cast<tok>(c.token(i)) == t) return true;
        return false;
    }
    [[nodiscard]] static constexpr const u32* operand_at(const ir::cursor& c, u32 i) noexcept {
        const u32* o = c.first_operand();
        for (; i != 0; --i) o += ir::operand_words(o[0]);
        return o;
    }
    /// The constant of an operand, or `otherwise`.
    [[nodiscard]] constexpr u32 number(const ir::cursor& c, u32 i, u32 otherwise) {
        if (i >= c.operands()) return otherwise;
        const value v = operand_value(operand_at(c, i), 0);
        return v.is == value::kind::number && v.v >= 0 && v.v < 0x7fffffff ? static_cast<u32>(v.v) : otherwise;
    }
    constexpr void notes(const ir::cursor& c) {
        if (barriers_ == 0) return;
        switch (static_cast<tok>(c.token(0))) {
            case tok::mbarrier: return barrier_notes(c);
            case tok::cp: return copy_notes(c);
            case tok::tcgen05:
                if (static_cast<tok>(c.token(1)) != tok::commit) return;
                return arrival(c, 0,
                               has(c, tok::multicast__cluster) || has(c, tok::cta_group__2) ? ir::unknown_count : 1);
            case tok::clusterlaunchcontrol:
                if (static_cast<tok>(c.token(1)) == tok::try_cancel && c.operands() > 1)
                    copy(c, 1, has(c, tok::multicast__cluster__all) ? 0 : 16);
                return;
            default: return;
        }
    }
    constexpr void arrival(const ir::cursor& c, u32 operand, u32 count, u32 flags = 0) {
        const u32 b = operand < c.operands() ? barrier_at(operand_at(c, operand)) : flow_block::none;
        if (b == flow_block::none) return;
        if (count == ir::unknown_count) return note(ir::note::barrier_noarity, c.location(), b);
        note(ir::note::barrier_arrive, c.location(), b, 0u, count, flags);
    }
    constexpr void copy(const ir::cursor& c, u32 operand, u32 bytes) {
        const u32 b = operand < c.operands() ? barrier_at(operand_at(c, operand)) : flow_block::none;
        if (b != flow_block::none) note(ir::note::barrier_copy, c.location(), b, 0u, bytes, 1u);
    }
    constexpr void barrier_notes(const ir::cursor& c) {
        const auto what = static_cast<tok>(c.token(1));
        const u32 where = c.location();
        const bool result = ir::results_of(c.w) != 0;
        const u32 address = result ? 1 : 0;
        if (address >= c.operands()) return;
        const u32 b = barrier_at(operand_at(c, address));
        if (b == flow_block::none) return;
        switch (what) {
            case tok::init: return note(ir::note::barrier_init, where, b, 0u, 1u, number(c, 1, ir::unknown_count));
            case tok::arrive:
                if (!has(c, tok::expect_tx))
                    return arrival(c, 1, number(c, 2, c.operands() < 3 ? 1 : ir::unknown_count));
                arrival(c, 1, 1, 2);
                return note(ir::note::barrier_expect, where, b, 0u, number(c, 2, ir::unknown_count));
            case tok::arrive_drop:
                note(ir::note::barrier_noarity, where, b);
                if (has(c, tok::expect_tx))
                    note(ir::note::barrier_expect, where, b, 0u, number(c, 2, ir::unknown_count));
                return;
            case tok::expect_tx: return note(ir::note::barrier_expect, where, b, 0u, number(c, 1, ir::unknown_count));
            case tok::complete_tx: return copy(c, 0, number(c, 1, 0));
            case tok::try_wait:
            case tok::test_wait:
                return note(ir::note::barrier_wait, where, b, 0u,
                            has(c, tok::parity) ? number(c, 2, ir::unknown_count) : ir::unknown_count);
            default: return;
        }
    }
    /// Which operand of a copy is the mbarrier: the one behind the size, or behind the tensor.
    constexpr void copy_notes(const ir::cursor& c) {
        if (has(c, tok::mbarrier)) return arrival(c, 0, has(c, tok::noinc) ? 1 : 0);
        if (!has(c, tok::mbarrier__complete_tx__bytes)) return;
        if (has(c, tok::tensor)) return copy(c, 2, 0);
        copy(c, 3, has(c, tok::multicast__cluster) ? 0 : number(c, 2, 0));
    }

    detail::meanings names_;
    u32 shared_end_ = 0;
    u32 parameters_ = 0;  ///< `.param` variables of the kernel so far

    // Of the kernel at hand.
    list<u32> tokens_;
    list<u32> targets_;                           ///< labels that a branch by table may lead to
    list<u32> label_at_;                          ///< by node: the item behind a label
    list<u32> blocks_;                            ///< records of the blocks that are open
    list<u32> loops_;                             ///< and of the loops
    u32 stepped_ = ir::unknown_count, step_ = 0;  ///< register and literal of the latest `add r, r, literal`
    const flow_graph* graph_ = nullptr;
    u32 body_ = 0, open_ = 0, current_ = 0;
    bool too_big_ = false;  ///< not lowered: too large, or a condition is a register outside of it
    bool wild_ = false;
    bool unknown_ = false;  ///< has instructions of which nothing is known
};

}  // namespace ptxdsl::ptx
