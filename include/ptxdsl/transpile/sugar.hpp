// SPDX-License-Identifier: Apache-2.0
// Readable C++ from plain C++. Every step rewrites lines into C++ that makes the same calls in the same order, or
// nothing but the names of labels differs; where that cannot be seen from the lines alone they stay as they are.
//
//   branches over a block      -> k.if_(p, [&] { … }), with .else_
//   branches back              -> k.do_while, k.loop with break_if; k.spin_until for a wait of one instruction
//   repeated groups of calls   -> a C++ loop, where all numbers of a group step evenly
#pragma once

#include <ptxdsl/transpile/cpp_text.hpp>
#include <ptxdsl/transpile/output.hpp>

#include <cstddef>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace ptxdsl::ptx {

/// Folds branches of one function into constructs.
class structure_pass {
public:
    /// `uses`: how often the function names each label; `eliminated` gets those whose handles are not needed any more.
    structure_pass(const std::unordered_map<std::uint32_t, unsigned>& uses, cpp::names& names,
                   std::unordered_set<std::uint32_t>& eliminated)
        : uses_(uses), names_(names), eliminated_(eliminated) {}

    void run(std::vector<code_line>& lines) {
        std::vector<block> all;
        std::size_t at = 0;
        read(lines, at, all);
        fold(all);
        std::vector<code_line> out;
        write(all, out);
        lines = std::move(out);
    }

private:
    /// A line, or a construct with what is inside: `line` opens it, `end` closes it.
    struct block {
        code_line line;
        std::vector<block> inside;
        std::string end;
        bool is_scope = false, has_end = false;
    };

    static void read(std::vector<code_line>& lines, std::size_t& at, std::vector<block>& out) {
        while (at < lines.size()) {
            code_line& l = lines[at++];
            if (l.what == code_line::close) return;
            block b;
            b.line = std::move(l);
            b.is_scope = b.line.what == code_line::open;
            const bool scope = b.is_scope;
            out.push_back(std::move(b));
            if (scope) read(lines, at, out.back().inside);
        }
    }
    static void write(std::vector<block>& in, std::vector<code_line>& out) {
        for (block& b : in) {
            const bool nested = b.is_scope || b.has_end;
            if (nested) b.line.what = code_line::open;
            out.push_back(std::move(b.line));
            if (!nested) continue;
            write(b.inside, out);
            out.push_back({b.is_scope ? "}" : b.end, 0, code_line::close});
        }
    }

    [[nodiscard]] bool used_once(std::uint32_t label) const { return uses(label) == 1; }
    [[nodiscard]] unsigned uses(std::uint32_t label) const {
        const auto u = uses_.find(label);
        return u == uses_.end() ? 0 : u->second;
    }
    [[nodiscard]] static bool is_branch(const block& b) { return b.line.what == code_line::branch; }
    [[nodiscard]] static bool is_label(const block& b) { return b.line.what == code_line::label; }
    /// Labels and declarations must not move into a lambda: others may name them.
    [[nodiscard]] static bool movable(const std::vector<block>& list, std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i)
            if (is_label(list[i]) || list[i].line.what == code_line::declaration ||
                list[i].line.what == code_line::lookup)
                return false;
        return true;
    }
    [[nodiscard]] static std::string condition(const code_line& branch, bool when_taken) {
        return branch.negated != when_taken ? branch.guard : "px::unless(" + branch.guard + ")";
    }
    /// Replaces [begin, end) of the list by one construct with [first, last) inside.
    static block& replace(std::vector<block>& list, std::size_t begin, std::size_t end, std::size_t first,
                          std::size_t last, std::string open, std::string close) {
        block b;
        b.line.text = std::move(open);
        b.end = std::move(close);
        b.has_end = true;
        for (std::size_t i = first; i < last; ++i) b.inside.push_back(std::move(list[i]));
        list.erase(list.begin() + static_cast<std::ptrdiff_t>(begin) + 1,
                   list.begin() + static_cast<std::ptrdiff_t>(end));
        list[begin] = std::move(b);
        return list[begin];
    }

    /// Innermost constructs first: each pass may make the next one possible.
    void fold(std::vector<block>& list) {
        for (block& b : list)
            if (b.is_scope) fold(b.inside);
        for (bool changed = true; changed;) {
            changed = false;
            for (std::size_t i = 0; i < list.size(); ++i) changed |= loop_at(list, i) || if_at(list, i);
        }
    }
    /// The next label of the list from `i` on, but for the one at `i` itself.
    [[nodiscard]] static std::size_t next_label(const std::vector<block>& list, std::size_t i) {
        for (++i; i < list.size(); ++i)
            if (is_label(list[i])) return i;
        return list.size();
    }
    bool if_at(std::vector<block>& list, std::size_t i) {
        if (!is_branch(list[i]) || list[i].line.guard.empty() || !used_once(list[i].line.target)) return false;
        const std::size_t end = next_label(list, i);
        if (end == list.size() || list[end].line.target != list[i].line.target || end == i + 1 ||
            !movable(list, i + 1, end))
            return false;
        eliminated_.insert(list[end].line.target);
        const std::string head = "k.if_(" + condition(list[i].line, false) + ", [&] {";
        const block& last = list[end - 1];
        const std::uint32_t out = last.line.target;
        const bool jumps = is_branch(last) && last.line.guard.empty() && used_once(out);
        const std::size_t join = jumps ? next_label(list, end) : list.size();
        if (jumps && join != list.size() && list[join].line.target == out && movable(list, end + 1, join)) {
            eliminated_.insert(out);
            block other;
            for (std::size_t b = end + 1; b < join; ++b) other.inside.push_back(std::move(list[b]));
            block& b = replace(list, i, join + 1, i + 1, end - 1, head, "}).else_([&] {");
            // The else part is a construct of its own behind the first: `}).else_([&] {` closes and opens.
            b.inside.push_back({});
            b.inside.back().line.text = "}).else_([&] {";
            b.inside.back().line.what = code_line::turn;
            for (block& x : other.inside) b.inside.push_back(std::move(x));
            b.end = "});";
            return true;
        }
        replace(list, i, end + 1, i + 1, end, head, "});");
        return true;
    }
    /// A label at `i` that one branch further on goes back to.
    bool loop_at(std::vector<block>& list, std::size_t i) {
        if (!is_label(list[i]) || !used_once(list[i].line.target)) return false;
        const std::uint32_t label = list[i].line.target;
        std::size_t end = i + 1;
        while (end < list.size() && !(is_branch(list[end]) && list[end].line.target == label)) ++end;
        if (end == list.size() || !movable(list, i + 1, end)) return false;
        if (list[end].line.guard.empty()) return endless(list, i, end);
        if (list[end].line.negated) return false;
        eliminated_.insert(label);
        block back;
        back.line.text = "return " + list[end].line.guard + ";";
        block& b = replace(list, i, end + 1, i + 1, end, "k.do_while([&] {", "});");
        b.inside.push_back(std::move(back));
        return true;
    }
    /// `L: …; @p bra D; …; bra L; D:`
    bool endless(std::vector<block>& list, std::size_t i, std::size_t end) {
        if (end + 1 >= list.size() || !is_label(list[end + 1])) return false;
        const std::uint32_t done = list[end + 1].line.target;
        if (end == i + 3 && list[i + 2].line.what == code_line::uniform && list[i + 2].line.target == done &&
            !list[i + 2].line.negated && used_once(done) && list[end].line.text.find("bra_uni(") != std::string::npos)
            return wait(list, i, end, "k.spin_until<px::tok::uni>([&] {");
        unsigned breaks = 0;
        for (std::size_t b = i + 1; b < end; ++b) breaks += is_branch(list[b]) && list[b].line.target == done;
        if (breaks == 0 || breaks != uses(done)) return false;
        const bool waits =
            end == i + 3 && is_branch(list[i + 2]) && !list[i + 2].line.guard.empty() && !list[i + 2].line.negated;
        if (waits) return wait(list, i, end, "k.spin_until([&] {");
        eliminated_.insert(list[i].line.target);
        eliminated_.insert(done);
        const std::string loop = names_.make("loop");
        for (std::size_t b = i + 1; b < end; ++b) {
            if (!is_branch(list[b]) || list[b].line.target != done) continue;
            code_line& l = list[b].line;
            l.text = loop + (l.guard.empty() ? ".break_();" : ".break_if(" + condition(l, true) + ");");
            l.what = code_line::plain;
        }
        replace(list, i, end + 2, i + 1, end, "k.loop([&](px::loop_handle " + loop + ") {", "});");
        return true;
    }

    /// `L: one; @p bra D; bra L; D:`, `end` the branch back.
    bool wait(std::vector<block>& list, std::size_t i, std::size_t end, const char* open) {
        eliminated_.insert(list[i].line.target);
        eliminated_.insert(list[end + 1].line.target);
        const std::string guard = list[i + 2].line.guard;
        block& b = replace(list, i, end + 2, i + 1, i + 2, open, "});");
        b.inside.push_back({});
        b.inside.back().line.text = "return " + guard + ";";
        return true;
    }

    const std::unordered_map<std::uint32_t, unsigned>& uses_;
    cpp::names& names_;
    std::unordered_set<std::uint32_t>& eliminated_;
};

/// Folds groups of lines that repeat with evenly stepping numbers into C++ loops.
class repeat_pass {
public:
    explicit repeat_pass(const std::string& counter) : counter_(counter) {}

    void run(std::vector<code_line>& lines) {
        read(lines);
        std::vector<code_line> out;
        for (std::size_t i = 0; i < lines.size();) {
            std::size_t period = 0, count = 0;
            find(i, period, count);
            if (count == 0) {
                out.push_back(std::move(lines[i++]));
                continue;
            }
            write(lines, i, period, count, out);
            i += period * count;
        }
        lines = std::move(out);
    }

private:
    static constexpr std::size_t longest = 24;  ///< lines of a group
    /// A line cut at its numbers: those that are whole arguments or indices, never parts of template arguments and
    /// strings.
    struct shape {
        std::vector<std::string> text;  ///< one more than numbers
        std::vector<long> numbers;
        std::size_t id = 0;  ///< lines with the same text have the same; 0 for lines that cannot repeat
    };

    [[nodiscard]] static shape cut(const std::string& s) {
        shape r;
        r.text.emplace_back();
        unsigned angles = 0;
        for (std::size_t i = 0; i < s.size();) {
            if (s[i] == '"') {
                const std::size_t end = string_end(s, i);
                r.text.back().append(s, i, end - i);
                i = end;
                continue;
            }
            if (s[i] == '<') ++angles;
            if (s[i] == '>' && angles != 0) --angles;
            const std::size_t end = angles == 0 ? number_end(s, i) : i;
            if (end == i) {
                r.text.back() += s[i++];
                continue;
            }
            r.numbers.push_back(std::stol(s.substr(i, end - i)));
            r.text.emplace_back();
            i = end;
        }
        return r;
    }
    [[nodiscard]] static std::size_t string_end(const std::string& s, std::size_t i) {
        for (++i; i < s.size() && s[i] != '"'; ++i)
            if (s[i] == '\\') ++i;
        return i + 1;
    }
    /// Behind a decimal number that stands alone between brackets, commas and parentheses; `i` when there is none.
    [[nodiscard]] static std::size_t number_end(const std::string& s, std::size_t i) {
        const bool opens =
            i != 0 && (s[i - 1] == '[' || s[i - 1] == '(' || (s[i - 1] == ' ' && i > 1 && s[i - 2] == ','));
        if (!opens) return i;
        std::size_t end = i + (s[i] == '-' ? 1 : 0);
        const std::size_t digits = end;
        while (end < s.size() && s[end] >= '0' && s[end] <= '9') ++end;
        if (end == digits || end - digits > 8 || end == s.size() || (s[digits] == '0' && end != digits + 1)) return i;
        return s[end] == ']' || s[end] == ',' || s[end] == ')' ? end : i;
    }
    void read(const std::vector<code_line>& lines) {
        std::unordered_map<std::string, std::size_t> ids;
        for (const code_line& l : lines) {
            shape s;
            if (l.what == code_line::plain && !l.text.empty() && l.text.find('\n') == l.text.npos) {
                // Places in sources repeat as they are: they do not step.
                s = l.text.find("k.loc(") == l.text.npos ? cut(l.text) : shape{{l.text}, {}};
                std::string key;
                for (const std::string& t : s.text) key += t + '\x01';
                s.id = ids.emplace(key, ids.size() + 1).first->second;
            }
            shapes_.push_back(std::move(s));
        }
    }
    /// How often the group of `period` lines at `i` repeats with the steps of its second time.
    [[nodiscard]] std::size_t repeats(std::size_t i, std::size_t period) const {
        std::size_t n = 1;
        for (;; ++n) {
            const std::size_t at = i + n * period;
            if (at + period > shapes_.size()) return n;
            for (std::size_t j = 0; j < period; ++j) {
                const shape &first = shapes_[i + j], &second = shapes_[i + period + j], &now = shapes_[at + j];
                if (first.id == 0 || now.id != first.id) return n;
                for (std::size_t k = 0; k < first.numbers.size(); ++k)
                    if (now.numbers[k] !=
                        first.numbers[k] + static_cast<long>(n) * (second.numbers[k] - first.numbers[k]))
                        return n;
            }
        }
    }
    void find(std::size_t i, std::size_t& period, std::size_t& count) const {
        std::size_t best = 0;
        if (shapes_[i].id == 0) return;
        for (std::size_t p = 1; p <= longest && i + 3 * p <= shapes_.size(); ++p) {
            if (shapes_[i + p].id != shapes_[i].id) continue;
            const std::size_t n = repeats(i, p);
            if (n < 3 || n * p < p + 5 || n * p - p <= best) continue;
            best = n * p - p, period = p, count = n;
        }
    }
    [[nodiscard]] std::string stepping(long first, long step) const {
        if (step == 0) return std::to_string(first);
        const std::string term =
            (step == 1 || step == -1) ? counter_ : std::to_string(step < 0 ? -step : step) + " * " + counter_;
        if (first == 0) return (step < 0 ? "-" : "") + term;
        return std::to_string(first) + (step < 0 ? " - " : " + ") + term;
    }
    void write(const std::vector<code_line>& lines, std::size_t i, std::size_t period, std::size_t count,
               std::vector<code_line>& out) const {
        out.push_back(
            {"for (int " + counter_ + " = 0; " + counter_ + " < " + std::to_string(count) + "; ++" + counter_ + ") {",
             lines[i].node, code_line::open});
        for (std::size_t j = 0; j < period; ++j) {
            const shape &first = shapes_[i + j], &second = shapes_[i + period + j];
            std::string s = first.text[0];
            for (std::size_t k = 0; k < first.numbers.size(); ++k)
                s += stepping(first.numbers[k], second.numbers[k] - first.numbers[k]) + first.text[k + 1];
            out.push_back({std::move(s), lines[i + j].node});
        }
        out.push_back({"}", lines[i].node, code_line::close});
    }

    std::string counter_;
    std::vector<shape> shapes_;
};

}  // namespace ptxdsl::ptx
