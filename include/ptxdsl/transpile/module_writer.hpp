// SPDX-License-Identifier: Apache-2.0
// A module as C++: one function for each kernel and device function, and one that writes the whole module.
#pragma once

#include <ptxdsl/transpile/calls.hpp>
#include <ptxdsl/transpile/declaration_head.hpp>
#include <ptxdsl/transpile/function_handles.hpp>
#include <ptxdsl/transpile/output.hpp>
#include <ptxdsl/transpile/roles.hpp>
#include <ptxdsl/transpile/sugar.hpp>

#include <ranges>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace ptxdsl::ptx {

/// Whether the cubin depends on the lines the text's statements stand on (docs/parser.md, "Two laws").
enum class line_use : std::uint8_t {
    none,     ///< it does not
    statics,  ///< variables of functions are named after their line
    all,      ///< debug information
};

/// Writes the C++ statements of a module.
class module_writer : public function_handles {
public:
    module_writer(const tree_view& v, line_use lines, bool sugar = false)
        : function_handles(v, sugar),
          lines_use_(lines),
          target_(v.target().known() ? v.target().assembled_as() : v.target()),
          calls_(v, scope_, *this, target_) {
        if (sugar) structured_ = !names_of_constructs();
        if (lines != line_use::none) number_lines();
        match_braces();
    }

    /// False when variables of functions cannot be put on their lines without placing everything else too.
    [[nodiscard]] bool run() {
        // With all lines placed nothing is left out, even where a line cannot be kept.
        for (u32 c = 1; c < v_[0].end && (fits_ || lines_use_ == line_use::all); c = v_[c].end) item(c);
        if (lines_use_ == line_use::all) at_line(u32{0}, v_.n_tokens - 1, module_);
        return fits_;
    }

    std::vector<code_line> module_;  ///< the body of `write_module`
    std::vector<cpp_function> functions;
    [[nodiscard]] const call_counts& counts() const { return calls_.counts; }
    bool uses_strings = false;  ///< std::string occurs in what was written

    [[nodiscard]] ptxdsl::target target() const { return target_; }

    /// Variables of these spaces, declared inside a function, have the line in their symbol's name.
    [[nodiscard]] static bool names_its_line(std::string_view space) {
        return space == ".shared" || space == ".global" || space == ".const";
    }
    /// How much the lines of this module matter.
    [[nodiscard]] static line_use lines_of(const tree_view& v) {
        line_use use = line_use::none;
        u32 depth_end = 0;
        for (u32 n = 1; n < v.n_nodes; ++n) {
            const node_kind k = v.kind(n);
            if (k == node_kind::loc || k == node_kind::dwarf || k == node_kind::section) return line_use::all;
            if (k == node_kind::entry || k == node_kind::function) depth_end = v[n].end;
            if (k == node_kind::space && n < depth_end && names_its_line(v.atom(n))) use = line_use::statics;
        }
        return use;
    }

private:
    using u32 = std::uint32_t;

    /// Whether a label of the module could be one that the constructs make up.
    [[nodiscard]] bool names_of_constructs() const {
        for (u32 n = 1; n < v_.n_nodes; ++n) {
            if (v_.kind(n) != node_kind::label) continue;
            for (const std::string_view own : {"$loop_", "$else_", "$end_", "$done_"})
                if (v_.atom(n).substr(0, own.size()) == own) return true;
        }
        return false;
    }
    // ---- lines -----------------------------------------------------------------------------------------------

    void number_lines() {
        u32 line = 1;
        for (u32 i = 0; i < v_.n_tokens; ++i) {
            const token& t = v_.tokens[i];
            for (char c : v_.word(t.trivia)) line += c == '\n';
            line_of_.push_back(line);
            if (t.kind == kind::string)
                for (char c : v_.word(t.spelling)) line += c == '\n';
        }
    }
    void match_braces() {
        closing_.assign(v_.n_tokens, 0);
        std::vector<u32> open;
        for (u32 i = 0; i < v_.n_tokens; ++i) {
            if (v_.tokens[i].kind == kind::left_brace) open.push_back(i);
            if (v_.tokens[i].kind != kind::right_brace || open.empty()) continue;
            closing_[open.back()] = i;
            open.pop_back();
        }
    }
    /// Puts the line that is written next where the original has the token.
    void at_line(u32 node, u32 token, std::vector<code_line>& out) {
        if (lines_use_ == line_use::none) return;
        const u32 wanted = line_of_[token];
        if (wanted == line_) return;
        if (wanted + 1 < line_) {
            fits_ = false;
            return;
        }
        out.push_back({"m.at_line(" + std::to_string(wanted) + ");", node});
        line_ = wanted;
    }
    void place(u32 node, std::vector<code_line>& out) {
        if (lines_use_ == line_use::all) at_line(node, v_[node].token, out);
    }
    void wrote_line() { ++line_; }

    // ---- module ----------------------------------------------------------------------------------------------

    void put(const std::string& s, u32 node, std::vector<code_line>& out) {
        out.push_back({s, node});
        wrote_line();
    }
    void item(u32 n) {
        if (v_.kind(n) == node_kind::entry || v_.kind(n) == node_kind::function) return function(n);
        if (v_.kind(n) == node_kind::section) return section(n);
        place(n, module_);
        switch (v_.kind(n)) {
            case node_kind::version:
                put("m.version(" + std::to_string(v_.version().major) + ", " + std::to_string(v_.version().minor) +
                        ");",
                    n, module_);
                break;
            case node_kind::target: put("m.target(" + cpp::quoted(target_words(n)) + ");", n, module_); break;
            case node_kind::address_size:
                put("m.address_size(" + std::to_string(integer_value(v_.atom(n))) + ");", n, module_);
                break;
            case node_kind::declaration: module_declaration(n); break;
            case node_kind::file: put(file(n), n, module_); break;
            case node_kind::alias:
                put("m.alias(" + cpp::quoted(v_.atom(n + 1)) + ", " + cpp::quoted(v_.atom(v_[n + 1].end)) + ");", n,
                    module_);
                break;
            default: put("m.directive(" + cpp::quoted(printed(v_, n)) + ");", n, module_); break;
        }
    }
    [[nodiscard]] std::string target_words(u32 n) const {
        std::string s;
        for (u32 c = n + 1; c < v_[n].end; ++c) s += (s.empty() ? "" : ", ") + std::string(v_.atom(c));
        return s;
    }
    [[nodiscard]] std::string file(u32 n) const {
        if (v_.children(n) != 2) return "m.directive(" + cpp::quoted(printed(v_, n)) + ");";
        std::string_view name = v_.atom(n + 2);
        name.remove_prefix(1), name.remove_suffix(1);
        return "m.file(" + std::to_string(integer_value(v_.atom(n + 1))) + ", " + cpp::quoted(name) + ");";
    }
    /// Debug sections are data: their lines are kept as text.
    void section(u32 n) {
        place(n, module_);
        if (lines_use_ == line_use::all && is_on_one_line(n)) return put(section_in_one(n), n, module_);
        put("m.directive(" + cpp::quoted(".section " + std::string(v_.atom(n))) + ");", n, module_);
        put("m.directive(\"{\");", n, module_);
        for (u32 c = n + 1; c < v_[n].end; c = v_[c].end) {
            place(c, module_);
            put("m.directive(" + cpp::quoted(section_line(c)) + ");", c, module_);
        }
        put("m.directive(\"}\");", n, module_);
    }
    [[nodiscard]] std::string section_line(u32 n) const {
        return v_.kind(n) == node_kind::label ? std::string(v_.atom(n)) + ":" : printed(v_, n);
    }
    [[nodiscard]] bool is_on_one_line(u32 n) const {
        u32 t = v_[n].token;
        while (t < v_.n_tokens && v_.tokens[t].kind != kind::left_brace) ++t;
        return t < v_.n_tokens && line_of_[closing_[t]] == line_of_[v_[n].token];
    }
    [[nodiscard]] std::string section_in_one(u32 n) const {
        std::string s = ".section " + std::string(v_.atom(n)) + " { ";
        for (u32 c = n + 1; c < v_[n].end; c = v_[c].end) s += section_line(c) + ' ';
        return "m.directive(" + cpp::quoted(s + "}") + ");";
    }

    // ---- declarations ----------------------------------------------------------------------------------------

    void module_declaration(u32 n) {
        const declaration_head h = read_head(v_, n);
        if (!h.written || h.space == ".reg") {
            put("m.directive(" + cpp::quoted(printed(v_, n) + ";") + ");", n, module_);
            return declare_names(n, h, h.space == ".reg");
        }
        bool first = true;
        for (u32 c = n + 1; c < v_[n].end; c = v_[c].end) {
            if (v_.kind(c) != node_kind::declarator) continue;
            if (!first) place(n, module_);
            first = false;
            put("m.variable<" + cpp::type(h.type) + ">(" + cpp::space_name(h.sp) + ", " + cpp::quoted(v_.atom(c)) +
                    declarator_options(v_, h, c) + ");",
                n, module_);
        }
        declare_names(n, h, false);
    }
    /// Names without handles of their own: functions look variables of the module up.
    void declare_names(u32 n, const declaration_head& h, bool registers) {
        for (u32 c = n + 1; c < v_[n].end; c = v_[c].end) {
            if (v_.kind(c) != node_kind::declarator) continue;
            handle x;
            x.type = h.type;
            x.plain = false;
            declare(c, h, registers, std::move(x));
        }
    }
    u32 declare(u32 declarator, const declaration_head& h, bool is_register, handle x) {
        symbol s;
        s.kind = is_register ? symbol_kind::reg : symbol_kind::variable;
        s.type = h.type;
        s.sp = h.sp;
        s.vector = static_cast<std::uint8_t>(h.lanes);
        s.name = v_[declarator].atom;
        s.node = declarator;
        if (const u32 r = v_.child(declarator, node_kind::range); r != 0)
            s.range = static_cast<u32>(integer_value(v_.atom(r)));
        x.array = s.range != 0;
        x.ptx = v_.atom(declarator);
        return scope_.declare(s, std::move(x));
    }

    // ---- functions -------------------------------------------------------------------------------------------

    void function(u32 n) {
        symbol s;
        s.kind = symbol_kind::function;
        s.type = isa::scalar::b64;
        s.name = v_[n].atom, s.node = n;
        scope_.declare(s, {});
        begin_function(n);
        function_head(n);
        if (const u32 b = v_.child(n, node_kind::body))
            body(n, b);
        else
            semicolon(n), put("fn.declare();", n, *out_);
        end_function();
    }
    /// The token in front of the next item is the end of this one.
    void semicolon(u32 n) {
        if (lines_use_ == line_use::all)
            at_line(n, (v_[n].end < v_[0].end ? v_[v_[n].end].token : v_.n_tokens - 1) - 1, *out_);
    }
    void begin_function(u32 n) {
        forget_function();
        if (sugar_) accumulators_ = accumulator_finder(v_).run(n);
        if (sugar_)
            for (const auto& [name, role] : role_finder(v_).run(n)) roles_.emplace(name, role);
        first_handle_ = static_cast<u32>(scope_.handles.size());
        scope_.open();
        functions.emplace_back();
        cpp_function& f = functions.back();
        f.ptx_name = v_.atom(n);
        f.is_entry = v_.kind(n) == node_kind::entry;
        f.node = n;
        f.cpp_name = function_names_.make("write_" + std::string(readable(v_.atom(n))));
        long_name_ = sugar_ && v_.atom(n).size() > longest_name && v_.child(n, node_kind::parameters) != 0;
        if (long_name_) names_.reserve("name"), uses_strings = true;
        f.has_body = v_.child(n, node_kind::body) != 0;
        module_.push_back({f.cpp_name + "(m);", n});
        out_ = &f.lines;
    }
    void function_head(u32 n) {
        if (lines_use_ == line_use::all) place(n, *out_);
        std::string make = v_.kind(n) == node_kind::entry ? "m.entry(" : "m.func(";
        if (long_name_) out_->push_back({"const std::string name = " + cpp::quoted(v_.atom(n)) + ";", n});
        make += long_name_ ? "name" : cpp::quoted(v_.atom(n));
        const u32 l = v_.child(n, node_kind::linkage), a = v_.child(n, node_kind::attribute_list);
        if (l != 0 || a != 0) make += ", " + (l == 0 ? std::string("px::linkage::none") : linkage_name(v_.atom(l)));
        if (a != 0) {
            const std::string s = printed(v_, a);
            make += ", " + cpp::quoted(s.substr(11, s.size() - 12));
        }
        out_->push_back({"auto fn = " + make + ");", n});
        if (const u32 r = v_.child(n, node_kind::results)) results(r);
        const u32 p = v_.child(n, node_kind::parameters);
        const bool some = p != 0 && v_.has_children(p);
        if (lines_use_ != line_use::none) out_->push_back({some ? "fn.head();" : "fn.head(false);", n});
        wrote_line();
        if (some)
            for (u32 c = p + 1; c < v_[p].end; c = v_[c].end) parameter(c);
        for (u32 c = n + 1; c < v_[n].end; c = v_[c].end)
            if (v_.kind(c) == node_kind::tuning || v_.kind(c) == node_kind::pragma)
                place(c, *out_), put(tuning(c), c, *out_);
    }
    void results(u32 n) {
        if (v_.children(n) != 1) {
            out_->push_back({"fn.result_text(" + cpp::quoted(printed(v_, n)) + ");", n});
            for (u32 c = n + 1; c < v_[n].end; c = v_[c].end) declare_names(c, read_head(v_, c), true);
            return;
        }
        const declaration_head h = read_head(v_, n + 1);
        const u32 d = v_.child(n + 1, node_kind::declarator);
        if (!h.written || h.lanes != 1 || (h.space != ".reg" && h.space != ".param")) {
            out_->push_back({"fn.result_text(" + cpp::quoted(printed(v_, n)) + ");", n});
            return declare_names(n + 1, h, h.space == ".reg");
        }
        signature(n + 1, h, d, h.space == ".reg" ? "fn.reg_result<" : "fn.result<");
    }
    void parameter(u32 n) {
        place(n, *out_);
        const declaration_head h = read_head(v_, n);
        const u32 d = v_.child(n, node_kind::declarator);
        if (!h.written || (h.space == ".reg" && h.lanes != 1)) {
            const std::string name(v_.atom(d));
            handle x;
            x.cpp = names_.make(name);
            x.declaration = "fn.param_text(" + cpp::quoted(printed(v_, n)) + ", " + cpp::quoted(name) + ")";
            x.place = out_->size();
            x.plain = h.space != ".reg";
            x.type = h.type;
            put("", n, *out_);
            out_->back().what = code_line::declaration;
            declare(d, h, h.space == ".reg", std::move(x));
            return;
        }
        signature(n, h, d, h.space == ".reg" ? "fn.reg_param<" : "fn.param<");
        wrote_line();
    }
    void signature(u32 n, const declaration_head& h, u32 d, const char* call) {
        handle x;
        x.cpp = names_.make(parameter_name(v_.atom(d)));
        x.declaration =
            call + cpp::type(h.type) + ">(" + parameter_text(v_.atom(d)) + declarator_options(v_, h, d) + ")";
        x.place = out_->size();
        x.type = h.type;
        out_->push_back({"", n, code_line::declaration});
        declare(d, h, h.space == ".reg", std::move(x));
    }
    /// What follows the function's name in one of its parameters: `_param_3`; empty for other names.
    [[nodiscard]] std::string_view behind_function(std::string_view parameter) const {
        const std::string_view f = functions.back().ptx_name;
        return parameter.size() > f.size() && parameter.substr(0, f.size()) == f ? parameter.substr(f.size())
                                                                                 : std::string_view();
    }
    [[nodiscard]] std::string parameter_name(std::string_view name) const {
        const std::string_view rest = behind_function(name);
        if (!sugar_ || rest.substr(0, 7) != "_param_") return std::string(name);
        return "arg" + std::string(rest.substr(6));  // its value in a register is called param_3
    }
    [[nodiscard]] std::string parameter_text(std::string_view name) const {
        const std::string_view rest = behind_function(name);
        return long_name_ && !rest.empty() ? "name + " + cpp::quoted(rest) : cpp::quoted(name);
    }
    [[nodiscard]] std::string tuning(u32 n) const {
        if (v_.kind(n) == node_kind::pragma) {
            std::string s = printed(v_, n);
            if (v_.children(n) == 1)
                return "fn.pragma(" + cpp::quoted(std::string(v_.atom(n + 1)).substr(1, v_.atom(n + 1).size() - 2)) +
                       ");";
            return "fn.tuning(" + cpp::quoted(s) + ");";
        }
        static constexpr std::string_view own[] = {".maxntid",        ".reqntid",         ".minnctapersm",
                                                   ".maxnreg",        ".explicitcluster", ".reqnctapercluster",
                                                   ".maxclusterrank", ".noreturn"};
        bool named = false;
        for (std::string_view s : own) named |= s == v_.atom(n);
        // With fewer numbers the directive means the same as with ones for the rest.
        std::string list;
        for (u32 c = n + 1; c < v_[n].end; ++c)
            list += (list.empty() ? "" : ", ") + std::to_string(integer_value(v_.atom(c)));
        if (named) return "fn." + std::string(v_.atom(n).substr(1)) + "(" + list + ");";
        return "fn.tuning(" + cpp::quoted(v_.atom(n)) + (list.empty() ? "" : ", ") + list + ");";
    }
    /// Declarations of handles that are used, and lookups of what the module declares.
    void end_function() {
        scope_.close();
        const u32 end = static_cast<u32>(scope_.handles.size());
        std::vector<code_line>& lines = *out_;
        for (u32 h = first_handle_; h < end; ++h) {
            const handle& x = scope_.handles[h];
            if (x.declaration.empty() || (!x.used && lines[x.place].what == code_line::lookup)) continue;
            lines[x.place].text += (x.used ? "const auto " + x.cpp + " = " : std::string()) + x.declaration + ";";
            for (const auto& [type, name] : x.views)
                lines[x.place].text += "\nconst auto " + name + " = " + x.cpp + ".as<" + cpp::type(type) + ">();";
            for (const std::string& declaration : x.groups) lines[x.place].text += "\n" + declaration;
            for (const auto& [number, name] : x.aliases)
                lines[x.place].text += "\nconst auto " + name + " = " + x.cpp + "[" + std::to_string(number) + "];";
        }
        std::string lookups;
        for (const u32 spelling : symbol_order_)
            if (used_symbols_[spelling])
                lookups +=
                    "\nconst auto " + symbols_[spelling] + " = k.symbol(" + cpp::quoted(v_.word(spelling)) + ");";
        if (!lookups.empty()) lines[begin_].text += lookups;
        if (functions.back().has_body && !uses_body(lines)) lines[begin_].text = "static_cast<void>(fn.begin());";
        if (sugar_) sweeten(lines);
    }
    /// Whether a function's lines use its body `k`; empty functions do not.
    [[nodiscard]] bool uses_body(const std::vector<code_line>& lines) const {
        for (std::size_t i = begin_; i < lines.size(); ++i)
            if (lines[i].text.find("k.") != std::string::npos || lines[i].text.find("(k)") != std::string::npos)
                return true;
        return false;
    }
    void sweeten(std::vector<code_line>& lines) {
        if (structured_) {
            std::unordered_set<u32> eliminated;
            structure_pass(label_uses(), names_, eliminated).run(lines);
            std::erase_if(lines, [&](const code_line& l) {
                return l.what == code_line::label_handle && eliminated.count(l.target) != 0;
            });
        }
        name_in_place(lines);
        repeat_pass(names_.make("i")).run(lines);
    }
    /// Labels that no statement names (debug sections may) need no variable: `k.place(k.named_label("$L__tmp0"));`
    void name_in_place(std::vector<code_line>& lines) const {
        constexpr std::string_view begin = "const auto ", is = " = ";
        const std::unordered_map<u32, unsigned> uses = label_uses();
        std::unordered_map<std::string, std::string> made;  // the statement that places it, and what makes it
        for (const code_line& l : lines) {
            const std::size_t at = l.text.find(is);
            if (l.what != code_line::label_handle || uses.count(l.target) != 0 || at == l.text.npos) continue;
            const std::string name = l.text.substr(begin.size(), at - begin.size());
            made["k.place(" + name + ");"] = l.text.substr(at + is.size(), l.text.size() - at - is.size() - 1);
        }
        std::unordered_set<u32> placed;
        for (code_line& l : lines) {
            const auto found = l.what == code_line::label ? made.find(l.text) : made.end();
            if (found == made.end() || !placed.insert(l.target).second) continue;
            l.text = "k.place(" + found->second + ");";
        }
        std::erase_if(lines, [&](const code_line& l) {
            return l.what == code_line::label_handle && placed.count(l.target) != 0;
        });
    }
    /// The labels of one scope: their handles by their spelling.
    [[nodiscard]] std::unordered_map<u32, u32> labels_of(u32 scope) const {
        std::unordered_map<u32, u32> out;
        for (u32 c = scope + 1; c < v_[scope].end; c = v_[c].end) {
            if (v_.kind(c) != node_kind::label) continue;
            const auto found = label_handles_.find(c);
            if (found != label_handles_.end()) out[v_[c].atom] = found->second;
        }
        return out;
    }
    /// How often the function being written names each label, by handle.
    [[nodiscard]] std::unordered_map<u32, unsigned> label_uses() const {
        struct scope {
            u32 end;
            std::unordered_map<u32, u32> labels;  ///< handles by spelling
        };
        std::unordered_map<u32, unsigned> uses;
        std::vector<scope> open;
        const u32 function = functions.back().node;
        for (u32 n = function; n < v_[function].end; ++n) {
            while (!open.empty() && n >= open.back().end) open.pop_back();
            const node_kind k = v_.kind(n);
            if (k == node_kind::body) open.push_back({v_[n].end, labels_of(n)});
            if (k != node_kind::name && k != node_kind::declarator && k != node_kind::inlined) continue;
            for (const auto& s : std::ranges::reverse_view(open)) {
                const auto found = s.labels.find(v_[n].atom);
                if (found == s.labels.end()) continue;
                ++uses[found->second];
                break;
            }
        }
        return uses;
    }

    // ---- bodies ----------------------------------------------------------------------------------------------

    void body(u32 function, u32 n) {
        if (lines_use_ == line_use::all) at_line(n, v_[n].token, *out_);
        begin_ = out_->size();
        put("const auto k = fn.begin();", n, *out_);
        out_->back().what = code_line::declaration;
        std::vector<u32> open{n};
        labels(n);
        for (u32 c = n + 1;;) {
            while (c == v_[open.back()].end) {
                const u32 closed = open.back();
                open.pop_back();
                if (!open.empty() && declares_nothing(closed)) continue;
                if (lines_use_ == line_use::all) at_line(closed, closing_[v_[closed].token], *out_);
                if (open.empty()) return put("fn.end();", function, *out_);
                out_->push_back({"}", closed, code_line::close});
                wrote_line();
                scope_.close();
            }
            if (v_.kind(c) == node_kind::body && declares_nothing(c)) {
                open.push_back(c++);
            } else if (v_.kind(c) == node_kind::body) {
                place(c, *out_);
                open.push_back(c);
                scope_.open();
                out_->push_back({"{", c, code_line::open});
                put("const px::scope " + names_.make("scope") + "(k);", c, *out_);
                labels(c);
                ++c;
            } else if (const u32 end = v_.kind(c) == node_kind::instruction ? descriptor_here(c) : 0) {
                c = end;
            } else {
                statement(c);
                c = v_[c].end;
            }
        }
    }
    /// A scope without names of its own is only a pair of braces. They count as lines where those count.
    [[nodiscard]] bool declares_nothing(u32 n) const {
        if (!sugar_ || lines_use_ == line_use::all) return false;
        for (u32 c = n + 1; c < v_[n].end; c = v_[c].end)
            if (v_.kind(c) == node_kind::declaration || v_.kind(c) == node_kind::label) return false;
        return true;
    }
    /// Labels are known in the whole scope. Their handles are made at its start.
    void labels(u32 n) {
        for (u32 c = n + 1; c < v_[n].end; c = v_[c].end) {
            if (v_.kind(c) != node_kind::label) continue;
            symbol s;
            s.kind = symbol_kind::label;
            s.name = v_[c].atom, s.node = c;
            handle x;
            x.cpp = names_.make(v_.atom(c));
            x.declaration = label_call(c) + "(" + cpp::quoted(v_.atom(c)) + ")";
            x.place = out_->size();
            x.used = true;
            const u32 h = label_handles_[c] = scope_.declare(s, std::move(x));
            out_->push_back({"", c, code_line::label_handle, h});
        }
    }
    /// What makes the handle of a label, which may be the name of a list or prototype.
    [[nodiscard]] std::string label_call(u32 n) const {
        if (lists_labels(v_, n)) return "k.named_table";
        if (lists_functions(v_, n)) return "k.named_targets";
        const std::string prototype = prototype_types(v_, n);
        return prototype.empty() ? "k.named_label" : "k.named_prototype<" + prototype + ">";
    }
    [[nodiscard]] bool all_known(u32 list) const {
        for (u32 c = list + 1; c < v_[list].end; c = v_[c].end)
            if (scope_.find_label(v_[c].atom) == nullptr) return false;
        return true;
    }
    /// The elements of a list, which its label has written: `, {a, b}`.
    [[nodiscard]] std::string listed(u32 label) {
        std::string s;
        const bool labels = lists_labels(v_, label);
        if (!labels && !lists_functions(v_, label)) return s;
        const u32 n = v_[label].end;
        for (u32 c = n + 1; c < v_[n].end; c = v_[c].end)
            s += (s.empty() ? ", {" : ", ") + (labels ? this->label(v_[c].atom) : named(v_[c].atom));
        keep(true);
        return s + "}";
    }
    void statement(u32 n) {
        if (written_with_label(n)) return;
        place(n, *out_);
        switch (v_.kind(n)) {
            case node_kind::label: label_here(n); break;
            case node_kind::instruction: instruction_here(n); break;
            case node_kind::declaration: declaration(n); break;
            case node_kind::loc: put(loc(n), n, *out_); break;
            case node_kind::pragma: put(pragma(n), n, *out_); break;
            default: put("k.directive(" + cpp::quoted(printed(v_, n) + ";") + ");", n, *out_); break;
        }
    }
    /// `and`, `shr`, `cvt`, `or` that make a matrix descriptor of a shared address, as one call. Behind the last of
    /// them.
    [[nodiscard]] u32 descriptor_here(u32 n) {
        if (!sugar_ || lines_use_ == line_use::all) return 0;
        u32 end = 0;
        const std::string s = calls_.descriptor(n, end);
        if (s.empty()) return 0;
        put(s, n, *out_);
        for (int line = 1; line < 4; ++line) wrote_line();
        return end;
    }
    void instruction_here(u32 n) {
        put(calls_.statement(n), n, *out_);
        const call_writer::branch& b = calls_.last_branch;
        if (!b.is) return;
        code_line& l = out_->back();
        l.what = b.uniform ? code_line::uniform : code_line::branch;
        l.target = scope_.handle_of(*scope_.find_label(b.label));
        l.guard = b.guard;
        l.negated = b.negated;
    }
    void label_here(u32 n) {
        const u32 h = scope_.handle_of(*scope_.find_label(v_[n].atom));
        const bool names_directive = label_call(n) != "k.named_label";
        if (lists_labels(v_, n) && !all_known(v_[n].end)) {
            put("k.directive(" + cpp::quoted(std::string(v_.atom(n)) + ":" + printed(v_, v_[n].end) + ";") + ");", n,
                *out_);
            return note_directive(n);
        }
        put("k.place(" + scope_.handles[h].cpp + listed(n) + ");", n, *out_);
        if (names_directive) return note_directive(n);
        out_->back().what = code_line::label;
        out_->back().target = h;
    }
    /// The directive behind this label is written with it.
    void note_directive(u32 label) { with_label_ = v_[label].end; }
    [[nodiscard]] bool written_with_label(u32 n) const { return n == with_label_; }
    [[nodiscard]] std::string loc(u32 n) const {
        std::string s = "k.loc(", inlined;
        unsigned numbers = 0;
        for (u32 c = n + 1; c < v_[n].end; c = v_[c].end) {
            if (v_.kind(c) == node_kind::inlined)
                inlined = ", " + inlined_text(c);
            else
                s += (numbers++ == 0 ? "" : ", ") + std::to_string(integer_value(v_.atom(c)));
        }
        return s + inlined + ");";
    }
    [[nodiscard]] std::string inlined_text(u32 n) const {
        std::string name(v_.atom(n));
        u32 c = n + 1;
        if (v_[n].flags == node::has_offset) name += "+" + std::string(v_.atom(c++));
        std::string s = "{" + cpp::quoted(name);
        for (; c < v_[n].end; ++c) s += ", " + std::to_string(integer_value(v_.atom(c)));
        return s + "}";
    }
    [[nodiscard]] std::string pragma(u32 n) const {
        if (v_.children(n) != 1) return "k.directive(" + cpp::quoted(printed(v_, n)) + ");";
        const std::string s(v_.atom(n + 1));
        return "k.pragma(" + cpp::quoted(s.substr(1, s.size() - 2)) + ");";
    }
    void declaration(u32 n) {
        const declaration_head h = read_head(v_, n);
        const bool registers = h.space == ".reg";
        const bool vectors = registers && (h.lanes != 1 || h.options.find("align") != std::string::npos);
        if (lines_use_ == line_use::statics && names_its_line(h.space)) at_line(n, v_[n].token, *out_);
        if (!h.written || vectors || (!registers && h.space == ".reg")) {
            put("k.directive(" + cpp::quoted(printed(v_, n) + ";") + ");", n, *out_);
            return declare_text(n, h, registers);
        }
        bool first = true;
        for (u32 c = n + 1; c < v_[n].end; c = v_[c].end) {
            if (v_.kind(c) != node_kind::declarator) continue;
            if (!first) place(c, *out_);
            first = false;
            if (lines_use_ == line_use::statics && names_its_line(h.space)) at_line(c, v_[c].token, *out_);
            registers ? declare_register(c, h) : declare_variable(c, h);
        }
    }
    /// Declared as text: registers have no handle, variables are looked up by their name.
    void declare_text(u32 n, const declaration_head& h, bool registers) {
        for (u32 c = n + 1; c < v_[n].end; c = v_[c].end) {
            if (v_.kind(c) != node_kind::declarator) continue;
            handle x;
            x.type = h.type;
            x.plain = !registers;
            if (!registers) {
                x.cpp = names_.make(readable(v_.atom(c)));
                x.place = out_->size();
                x.declaration = "k.symbol(" + cpp::quoted(v_.atom(c)) + ")";
                out_->push_back({"", c, code_line::lookup});
            }
            declare(c, h, registers, std::move(x));
        }
    }
    void declare_register(u32 c, const declaration_head& h) {
        handle x;
        x.cpp = names_.make(v_.atom(c));
        x.type = h.type;
        x.place = out_->size();
        const u32 range = v_.child(c, node_kind::range);
        const std::string count = range == 0 ? std::string() : ", " + std::to_string(integer_value(v_.atom(range)));
        x.declaration = (range == 0 ? "k.named_reg<" : "k.registers<") + cpp::type(h.type) + ">(" +
                        cpp::quoted(v_.atom(c)) + count + ")";
        put("", c, *out_);
        out_->back().what = code_line::declaration;
        declare(c, h, true, std::move(x));
    }
    void declare_variable(u32 c, const declaration_head& h) {
        handle x;
        x.cpp = names_.make(readable(v_.atom(c)));
        x.type = h.type;
        x.place = out_->size();
        x.declaration = "k.variable<" + cpp::type(h.type) + ">(" + cpp::space_name(h.sp) + ", " +
                        cpp::quoted(v_.atom(c)) + declarator_options(v_, h, c) + ")";
        put("", c, *out_);
        out_->back().what = code_line::declaration;
        declare(c, h, false, std::move(x));
    }

    line_use lines_use_;
    ptxdsl::target target_;
    call_writer calls_;
    std::vector<u32> line_of_;  ///< by token
    std::vector<u32> closing_;  ///< by token of an opening brace
    u32 line_ = 1;              ///< of the text that the C++ prints
    bool fits_ = true;
    cpp::names function_names_;
    std::size_t begin_ = 0;  ///< the line with `f.begin()`
    u32 with_label_ = 0;     ///< the directive that its label has written
    std::vector<code_line>* out_ = nullptr;
    std::unordered_map<u32, u32> label_handles_;     ///< by node
    static constexpr std::size_t longest_name = 32;  ///< that is written more than once
    bool long_name_ = false;                         ///< the function's name has a variable of its own
    bool structured_ = false;                        ///< labels may be given up for constructs
};

}  // namespace ptxdsl::ptx
