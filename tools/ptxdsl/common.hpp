// SPDX-License-Identifier: Apache-2.0
// What all commands share: arguments, files, messages with the line they are about.
#pragma once

#include <ptxdsl/parse.hpp>

#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

namespace tool {

namespace ptx = ptxdsl::ptx;

// Exit statuses of every command.
inline constexpr int good = 0;
inline constexpr int found_errors = 1;
inline constexpr int bad_usage = 2;

[[nodiscard]] inline int usage_error(std::string_view command, std::string_view words) {
    fmt::print(stderr, "ptxdsl {}: {}\nTry 'ptxdsl {} --help'.\n", command, words, command);
    return bad_usage;
}

/// Letters to insert, remove, replace or exchange with their neighbour to turn one word into the other.
[[nodiscard]] inline std::size_t distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), now(b.size() + 1);
    for (std::size_t k = 0; k <= b.size(); ++k) last[k] = k;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        now[0] = i;
        for (std::size_t k = 1; k <= b.size(); ++k) {
            now[k] = std::min({last[k] + 1, now[k - 1] + 1, last[k - 1] + (a[i - 1] == b[k - 1] ? 0 : 1)});
            if (i > 1 && k > 1 && a[i - 1] == b[k - 2] && a[i - 2] == b[k - 1])
                now[k] = std::min(now[k], before[k - 2] + 1);
        }
        before.swap(last);
        last.swap(now);
    }
    return last[b.size()];
}
/// "; did you mean 'check'?", or nothing: up to three of the names that are as near as any, and near enough for a slip.
template <class Names>
[[nodiscard]] std::string did_you_mean(std::string_view word, const Names& names) {
    std::size_t nearest = word.size() / 3 + 1;
    std::vector<std::string_view> found;
    for (const std::string_view name : names) {
        const std::size_t d = distance(word, name);
        if (d < nearest) found.clear(), nearest = d;
        if (d == nearest && found.size() < 3 && std::find(found.begin(), found.end(), name) == found.end())
            found.push_back(name);
    }
    std::string text;
    for (const std::string_view name : found)
        text += fmt::format("{}'{}'", text.empty() ? "; did you mean " : " or ", name);
    return text.empty() ? text : text + "?";
}

/// Arguments of one command: flags, options with a value, and the rest. `--` ends the options.
class arguments {
public:
    arguments(std::vector<std::string_view> all, std::vector<std::string_view> flags,
              std::vector<std::string_view> valued) {
        for (std::size_t i = 0; i < all.size(); ++i) {
            const std::string_view a = all[i];
            if (a == "--") {
                rest.insert(rest.end(), all.begin() + static_cast<std::ptrdiff_t>(i) + 1, all.end());
                break;
            }
            if (a.size() < 2 || a[0] != '-')
                rest.push_back(a);
            else if (contains(flags, a))
                given_.push_back(a);
            else if (const auto eq = a.find('='); eq != a.npos && contains(valued, a.substr(0, eq)))
                values_.emplace_back(a.substr(0, eq), a.substr(eq + 1));
            else if (!contains(valued, a))
                problem = fmt::format("unknown option '{}'{}", a, did_you_mean(a, both(flags, valued)));
            else if (i + 1 == all.size())
                problem = fmt::format("option '{}' needs a value", a);
            else
                values_.emplace_back(a, all[++i]);
        }
    }
    [[nodiscard]] bool has(std::string_view flag) const { return contains(given_, flag); }
    /// The value of an option, its last one if given twice.
    [[nodiscard]] std::string_view value(std::string_view option, std::string_view otherwise = {}) const {
        for (auto i = values_.rbegin(); i != values_.rend(); ++i)
            if (i->first == option) return i->second;
        return otherwise;
    }

    std::vector<std::string_view> rest;
    std::string problem;

private:
    [[nodiscard]] static bool contains(const std::vector<std::string_view>& list, std::string_view word) {
        for (std::string_view w : list)
            if (w == word) return true;
        return false;
    }
    [[nodiscard]] static std::vector<std::string_view> both(std::vector<std::string_view> a,
                                                            const std::vector<std::string_view>& b) {
        a.insert(a.end(), b.begin(), b.end());
        return a;
    }
    std::vector<std::string_view> given_;
    std::vector<std::pair<std::string_view, std::string_view>> values_;
};

/// Reads a file, or standard input for "-". False, with a message, when that fails. (A directory opens and does not
/// read; streams of the library throw then.)
[[nodiscard]] inline bool read_file(std::string_view name, std::string& out) {
    std::FILE* const in = name == "-" ? stdin : std::fopen(std::string(name).c_str(), "rb");
    bool whole = in != nullptr;
    char buffer[1 << 16];
    for (std::size_t n = 0; whole && (n = std::fread(buffer, 1, sizeof buffer, in)) != 0;) out.append(buffer, n);
    whole = whole && std::ferror(in) == 0;
    if (!whole) fmt::print(stderr, "ptxdsl: cannot read '{}': {}\n", name, std::strerror(errno));
    if (in != nullptr && in != stdin) std::fclose(in);
    return whole;
}

[[nodiscard]] inline std::string_view shown_name(std::string_view file) { return file == "-" ? "<stdin>" : file; }

[[nodiscard]] inline bool write_all(std::string_view text, std::FILE* to = stdout) {
    return std::fwrite(text.data(), 1, text.size(), to) == text.size();
}

/// Finds lines of one text; made once, asked often.
class line_index {
public:
    explicit line_index(std::string_view text) : text_(text), starts_{0} {
        for (std::size_t i = 0; i < text.size(); ++i)
            if (text[i] == '\n') starts_.push_back(static_cast<std::uint32_t>(i + 1));
    }
    [[nodiscard]] ptx::position at(std::uint32_t offset) const {
        std::size_t low = 0, high = starts_.size();
        while (high - low > 1) {
            const std::size_t middle = (low + high) / 2;
            (starts_[middle] <= offset ? low : high) = middle;
        }
        return {static_cast<std::uint32_t>(low + 1), offset - starts_[low] + 1};
    }
    [[nodiscard]] std::string_view line(std::uint32_t number) const {
        const std::size_t begin = starts_[number - 1];
        std::size_t end = number < starts_.size() ? starts_[number] - 1 : text_.size();
        if (end > begin && text_[end - 1] == '\r') --end;
        return text_.substr(begin, end - begin);
    }

private:
    std::string_view text_;
    std::vector<std::uint32_t> starts_;
};

/// Whether messages are coloured: only on a terminal, and not against NO_COLOR.
[[nodiscard]] inline bool use_colour(std::FILE* to) {
    const char* const no = std::getenv("NO_COLOR");
    const char* const term = std::getenv("TERM");
    if (no != nullptr && *no != '\0') return false;
    return isatty(fileno(to)) != 0 && term != nullptr && std::string_view(term) != "dumb";
}

/// A source line as it is shown: tabs kept, other control characters and invalid bytes replaced, cut around the column.
struct shown_line {
    std::string text;
    std::string marker;
};
[[nodiscard]] inline shown_line show_line(std::string_view line, std::uint32_t column, std::uint32_t length) {
    constexpr std::size_t width = 160;
    shown_line s;
    std::size_t begin = 0;
    if (column > width) begin = column - width / 2;
    const std::size_t end = line.size() < begin + width ? line.size() : begin + width;
    for (std::size_t i = begin; i < end; ++i)
        s.text.push_back(static_cast<unsigned char>(line[i]) < 0x20 && line[i] != '\t' ? '?' : line[i]);
    for (std::size_t i = begin; i + 1 < column && i < end; ++i) s.marker.push_back(line[i] == '\t' ? '\t' : ' ');
    s.marker.push_back('^');
    for (std::size_t i = column; i + 1 < std::size_t{column} + length && i < end; ++i) s.marker.push_back('~');
    return s;
}

/// Prints messages as compilers do: `file:line:column: error: words [PTXDSL-P21]`, the line and a caret.
inline void print_messages(std::string_view file, std::string_view source, const ptx::diagnostics& messages,
                           std::FILE* to = stderr) {
    const line_index lines(source);
    const bool colour = use_colour(to);
    for (const ptx::diagnostic& d : messages) {
        const ptx::position p = lines.at(d.offset);
        const std::string_view on = !colour                                ? ""
                                    : d.severity == ptx::severity::error   ? "\x1b[1;31m"
                                    : d.severity == ptx::severity::warning ? "\x1b[1;35m"
                                                                           : "\x1b[1;36m";
        const std::string_view bold = colour ? "\x1b[1m" : "";
        const std::string_view off = colour ? "\x1b[0m" : "";
        fmt::print(to, "{}{}:{}:{}:{} {}{}:{} {} [PTXDSL-{}]\n", bold, shown_name(file), p.line, p.column, off, on,
                   ptx::name(d.severity), off, messages.text(d), std::string_view(d.id, 3));
        const shown_line l = show_line(lines.line(p.line), p.column, d.length);
        fmt::print(to, "{:5} | {}\n      | {}{}{}\n", p.line, l.text, on, l.marker, off);
    }
    if (messages.errors() > ptx::diagnostics::limit)
        fmt::print(to, "{}: {} errors, the first {} are shown\n", shown_name(file), messages.errors(),
                   ptx::diagnostics::limit);
}

/// A file and its tree.
struct module_file {
    std::string name;
    std::string source;
    ptx::tree tree{0};
};
[[nodiscard]] inline bool load(std::string_view name, module_file& m) {
    m.name = name;
    if (!read_file(name, m.source)) return false;
    m.tree = ptxdsl::parse(m.source);
    return true;
}

/// JSON's idea of a string.
[[nodiscard]] inline std::string json_string(std::string_view s) {
    std::string out = "\"";
    for (char c : s) {
        const auto u = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\')
            out += '\\', out += c;
        else if (u < 0x20 || u >= 0x7f)
            out += fmt::format("\\u{:04x}", u);
        else
            out += c;
    }
    return out + '"';
}

}  // namespace tool
