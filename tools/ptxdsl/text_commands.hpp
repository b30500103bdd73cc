// SPDX-License-Identifier: Apache-2.0
// ptxdsl fmt, roundtrip, diff
#pragma once

#include "common.hpp"

#include <map>

namespace tool {

inline constexpr std::string_view fmt_help = R"(usage: ptxdsl fmt [--strip] [-i | --check | -o FILE] FILE...

Prints PTX in the canonical layout: one statement a line, four blanks for each scope. It is printed from the syntax
tree, so ptxas makes the same code of it (see docs/parser.md for what line numbers do to debug information).

  FILE        a PTX file; '-' reads standard input
  --strip     without the comments
  -i          write each file back in place, when that changes it
  --check     print nothing; exit 1 when a file is not in this layout
  -o FILE     write to FILE instead of standard output

Exit status: 0, 1 when a file is not PTX (or, with --check, not formatted), 2 wrong usage or unreadable files.
)";

inline constexpr std::string_view roundtrip_help = R"(usage: ptxdsl roundtrip FILE...

Reads each file and prints it again from its tokens and the blanks and comments between them; says where the bytes
differ, if they do. Files with syntax errors are compared too.

Exit status: 0 all the same, 1 a difference or a syntax error, 2 wrong usage or unreadable files.
)";

inline constexpr std::string_view diff_help = R"(usage: ptxdsl diff [--brief] OLD NEW

Compares two modules by structure: header, variables, functions, and the statements of functions that both have.
Layout and comments do not count, nor the order of functions.

  --brief     names of what differs only

Exit status: 0 the same, 1 different, 2 wrong usage, unreadable files or syntax errors.
)";

[[nodiscard]] inline std::string formatted(const module_file& m, ptx::layout l) {
    ptx::text out(static_cast<std::uint32_t>(m.source.size() + 1024));
    ptx::print_canonical(m.tree.read(), out, l);
    return std::string(out.view());
}

[[nodiscard]] inline bool write_file(std::string_view name, std::string_view text) {
    std::ofstream f(std::string(name), std::ios::binary);
    f.write(text.data(), static_cast<std::streamsize>(text.size()));
    f.close();
    if (!f) fmt::print(stderr, "ptxdsl: cannot write '{}': {}\n", name, std::strerror(errno));
    return static_cast<bool>(f);
}

inline int fmt_command(const std::vector<std::string_view>& words) {
    const arguments a(words, {"--strip", "-i", "--check"}, {"-o"});
    if (!a.problem.empty()) return usage_error("fmt", a.problem);
    if (a.rest.empty()) return usage_error("fmt", "no file");
    if (int{a.has("-i")} + int{a.has("--check")} + int{!a.value("-o").empty()} > 1)
        return usage_error("fmt", "-i, --check and -o exclude each other");
    int status = good;
    std::string all;
    for (std::string_view name : a.rest) {
        module_file m;
        if (!load(name, m)) return bad_usage;
        if (!m.tree.ok()) {
            print_messages(name, m.source, m.tree.messages);
            status = found_errors;
            continue;
        }
        const std::string text = formatted(m, a.has("--strip") ? ptx::layout::canonical : ptx::layout::commented);
        if (a.has("--check")) {
            if (text == m.source) continue;
            fmt::print("{}: not formatted\n", name);
            status = found_errors;
        } else if (a.has("-i")) {
            if (text != m.source && !write_file(name, text)) return bad_usage;
        } else {
            all += text;
        }
    }
    if (const std::string_view to = a.value("-o"); !to.empty()) return write_file(to, all) ? status : bad_usage;
    return write_all(all) ? status : bad_usage;
}

/// Offset of the first difference; npos when there is none.
[[nodiscard]] inline std::size_t first_difference(std::string_view a, std::string_view b) {
    const std::size_t n = a.size() < b.size() ? a.size() : b.size();
    for (std::size_t i = 0; i < n; ++i)
        if (a[i] != b[i]) return i;
    return a.size() == b.size() ? std::string_view::npos : n;
}

inline int roundtrip_command(const std::vector<std::string_view>& words) {
    const arguments a(words, {}, {});
    if (!a.problem.empty()) return usage_error("roundtrip", a.problem);
    if (a.rest.empty()) return usage_error("roundtrip", "no file");
    int status = good;
    for (std::string_view name : a.rest) {
        module_file m;
        if (!load(name, m)) return bad_usage;
        print_messages(name, m.source, m.tree.messages);
        if (!m.tree.ok()) status = found_errors;
        ptx::text out(static_cast<std::uint32_t>(m.source.size()));
        ptx::print_lossless(m.tree.read(), out);
        const std::size_t where = first_difference(out.view(), m.source);
        if (where == std::string_view::npos) {
            fmt::print("{}: identical, {} bytes\n", name, m.source.size());
            continue;
        }
        const ptx::position p = line_index(m.source).at(static_cast<std::uint32_t>(where));
        fmt::print("{}:{}:{}: differs\n", name, p.line, p.column);
        status = found_errors;
    }
    return status;
}

// ---- diff ---------------------------------------------------------------------------------------------------------

/// A module cut into named parts, each a list of lines in the canonical layout.
using parts = std::map<std::string, std::vector<std::string>>;

[[nodiscard]] inline std::vector<std::string> lines_of(std::string_view text) {
    std::vector<std::string> out;
    while (!text.empty()) {
        const std::size_t end = text.find('\n');
        out.emplace_back(text.substr(0, end));
        if (end == text.npos) break;
        text.remove_prefix(end + 1);
    }
    return out;
}

[[nodiscard]] inline parts cut(const ptx::tree_view& v) {
    using ptx::node_kind;
    parts out;
    for (std::uint32_t n = 1; n < v[0].end; n = v[n].end) {
        ptx::text t;
        ptx::canonical_printer(v, t).item(n);
        const node_kind k = v.kind(n);
        std::string key = "header";
        if (k == node_kind::entry)
            key = fmt::format("kernel {}", v.atom(n));
        else if (k == node_kind::function)
            key = fmt::format("function {}", v.atom(n));
        else if (k == node_kind::section)
            key = fmt::format("section {}", v.atom(n));
        else if (k == node_kind::declaration)
            key = fmt::format("variable {}", v.atom(v.child(n, node_kind::declarator)));
        else if (k > node_kind::address_size)
            key = "directives";
        for (std::string& l : lines_of(t.view())) out[key].push_back(std::move(l));
    }
    return out;
}

/// The shortest edit from a to b (Myers), printed with `-` and `+` and up to two lines around each change.
class line_diff {
public:
    line_diff(const std::vector<std::string>& a, const std::vector<std::string>& b) : a_(a), b_(b) {}

    void print() {
        trim();
        walk();
        for (std::size_t i = 0; i < edits_.size(); ++i)
            if (near_change(i)) fmt::print("{} {}\n", edits_[i].sign, *edits_[i].line);
    }

private:
    struct edit {
        char sign;
        const std::string* line;
    };
    static constexpr std::size_t around = 2;
    static constexpr std::size_t largest = 20000;  // lines on both sides together; beyond that all is shown as replaced

    void trim() {
        while (first_ < a_.size() && first_ < b_.size() && a_[first_] == b_[first_]) ++first_;
        a_end_ = a_.size(), b_end_ = b_.size();
        while (a_end_ > first_ && b_end_ > first_ && a_[a_end_ - 1] == b_[b_end_ - 1]) --a_end_, --b_end_;
    }
    void walk() {
        const std::size_t lead = first_ > around ? first_ - around : 0;
        for (std::size_t i = lead; i < first_; ++i) edits_.push_back({' ', &a_[i]});
        if (a_end_ - first_ + b_end_ - first_ > largest)
            replace_all();
        else
            shortest();
        for (std::size_t i = a_end_; i < a_.size() && i < a_end_ + around; ++i) edits_.push_back({' ', &a_[i]});
    }
    void replace_all() {
        for (std::size_t i = first_; i < a_end_; ++i) edits_.push_back({'-', &a_[i]});
        for (std::size_t i = first_; i < b_end_; ++i) edits_.push_back({'+', &b_[i]});
    }
    void shortest() {
        const auto n = static_cast<long>(a_end_ - first_), m = static_cast<long>(b_end_ - first_);
        const long most = n + m;
        std::vector<long> v(static_cast<std::size_t>(2 * most + 2), 0);
        std::vector<std::vector<long>> trace;
        const auto at = [most](long k) { return static_cast<std::size_t>(k + most); };
        for (long d = 0; d <= most; ++d) {
            trace.emplace_back(v.begin() + (most - d), v.begin() + (most + d + 1));
            for (long k = -d; k <= d; k += 2) {
                long x = k == -d || (k != d && v[at(k - 1)] < v[at(k + 1)]) ? v[at(k + 1)] : v[at(k - 1)] + 1;
                while (x < n && x - k < m &&
                       a_[first_ + static_cast<std::size_t>(x)] == b_[first_ + static_cast<std::size_t>(x - k)])
                    ++x;
                v[at(k)] = x;
                if (x >= n && x - k >= m) return back(trace, d, n, m);
            }
        }
    }
    void back(const std::vector<std::vector<long>>& trace, long d, long x, long y) {
        std::vector<edit> reversed;
        for (; d > 0; --d) {
            const std::vector<long>& v = trace[static_cast<std::size_t>(d)];  // diagonals -d … d
            const auto at = [d, &v](long k) { return k < -d || k > d ? -1L : v[static_cast<std::size_t>(k + d)]; };
            const long k = x - y;
            const long before = k == -d || (k != d && at(k - 1) < at(k + 1)) ? k + 1 : k - 1;
            const long px = at(before), py = px - before;
            while (x > px && y > py) reversed.push_back({' ', &a_[first_ + static_cast<std::size_t>(--x)]}), --y;
            if (x == px)
                reversed.push_back({'+', &b_[first_ + static_cast<std::size_t>(--y)]});
            else
                reversed.push_back({'-', &a_[first_ + static_cast<std::size_t>(--x)]});
        }
        while (x > 0) reversed.push_back({' ', &a_[first_ + static_cast<std::size_t>(--x)]});
        edits_.insert(edits_.end(), reversed.rbegin(), reversed.rend());
    }
    [[nodiscard]] bool near_change(std::size_t i) const {
        const std::size_t low = i > around ? i - around : 0;
        for (std::size_t k = low; k < edits_.size() && k <= i + around; ++k)
            if (edits_[k].sign != ' ') return true;
        return false;
    }

    const std::vector<std::string>& a_;
    const std::vector<std::string>& b_;
    std::size_t first_ = 0, a_end_ = 0, b_end_ = 0;
    std::vector<edit> edits_;
};

[[nodiscard]] inline bool load_good(std::string_view name, module_file& m) {
    if (!load(name, m)) return false;
    if (!m.tree.ok()) print_messages(name, m.source, m.tree.messages);
    return m.tree.ok();
}

inline int diff_command(const std::vector<std::string_view>& words) {
    const arguments a(words, {"--brief"}, {});
    if (!a.problem.empty()) return usage_error("diff", a.problem);
    if (a.rest.size() != 2) return usage_error("diff", "two files are compared");
    module_file old_file, new_file;
    if (!load_good(a.rest[0], old_file) || !load_good(a.rest[1], new_file)) return bad_usage;
    const parts olds = cut(old_file.tree.read()), news = cut(new_file.tree.read());
    int status = good;
    for (const auto& [name, lines] : olds) {
        const auto other = news.find(name);
        if (other == news.end())
            fmt::print("only in {}: {}\n", a.rest[0], name), status = found_errors;
        else if (other->second != lines) {
            fmt::print("{} differs\n", name);
            status = found_errors;
            if (!a.has("--brief")) line_diff(lines, other->second).print();
        }
    }
    for (const auto& [name, lines] : news)
        if (olds.find(name) == olds.end()) fmt::print("only in {}: {}\n", a.rest[1], name), status = found_errors;
    return status;
}

}  // namespace tool
