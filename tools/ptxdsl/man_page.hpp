// SPDX-License-Identifier: Apache-2.0
// ptxdsl --man: the manual page, made of what --help of every command says.
#pragma once

#include "common.hpp"

#include <ptxdsl/version.hpp>

namespace tool {

/// Writes one command's help as roff (man(7)).
class man_section {
public:
    man_section(std::string_view name, std::string_view help) {
        out_ = fmt::format(".SS {}\n", name);
        std::vector<std::string_view> lines;
        while (!help.empty()) {
            const std::size_t end = help.find('\n');
            lines.push_back(help.substr(0, end));
            help.remove_prefix(end == help.npos ? help.size() : end + 1);
        }
        for (const std::string_view l : lines) line(l);
        end_usage();
    }
    [[nodiscard]] const std::string& text() const { return out_; }

    /// Backslashes and hyphens as they are; no line that begins like a request.
    [[nodiscard]] static std::string escaped(std::string_view s) {
        std::string out;
        if (!s.empty() && (s[0] == '.' || s[0] == '\'')) out += "\\&";
        for (const char c : s) {
            if (c == '\\')
                out += "\\e";
            else if (c == '-')
                out += "\\-";
            else
                out += c;
        }
        return out;
    }

private:
    void line(std::string_view l) {
        const std::size_t indent = l.find_first_not_of(' ');
        if (indent == l.npos) {
            end_usage();
            fresh_ = true;
        } else if (l.substr(0, 7) == "usage: ") {
            out_ += ".nf\n.B " + escaped(l.substr(7)) + "\n";
            usage_ = true;
        } else if (usage_ && indent != 0) {
            out_ += ".B " + escaped(l.substr(indent)) + "\n";
        } else if (indent == 2) {
            entry(l.substr(2));
        } else {
            paragraph(l.substr(indent), indent == 0);
        }
    }
    /// `--json   messages as JSON`: an item and what it means. Without a gap the line is an example.
    void entry(std::string_view l) {
        const std::size_t gap = l.find("  ");
        if (gap == l.npos) {
            out_ += ".PP\n.nf\n    " + escaped(l) + "\n.fi\n";
        } else {
            out_ += ".TP\n.B " + escaped(l.substr(0, gap)) + "\n";
            out_ += escaped(l.substr(l.find_first_not_of(' ', gap))) + "\n";
        }
        in_entry_ = gap != l.npos;
        fresh_ = false;
    }
    void paragraph(std::string_view l, bool at_margin) {
        if (fresh_ || (at_margin && in_entry_)) out_ += ".PP\n";
        fresh_ = false;
        in_entry_ = in_entry_ && !at_margin;
        out_ += escaped(l) + "\n";
    }
    void end_usage() {
        if (usage_) out_ += ".fi\n";
        usage_ = false;
    }

    std::string out_;
    bool usage_ = false;     ///< inside the lines that say how it is called
    bool in_entry_ = false;  ///< an item's text may go on
    bool fresh_ = true;      ///< a blank line came before
};

/// The page; `commands` are name, summary and help of each.
template <class Commands>
[[nodiscard]] std::string man_page(const Commands& commands) {
    std::string out = fmt::format(".TH PTXDSL 1 \"\" \"ptxdsl {}.{}.{}\" \"User Commands\"\n", PTXDSL_VERSION_MAJOR,
                                  PTXDSL_VERSION_MINOR, PTXDSL_VERSION_PATCH);
    out +=
        ".SH NAME\nptxdsl \\- read, check, print and translate NVIDIA PTX\n"
        ".SH SYNOPSIS\n.B ptxdsl\n.I command\n.RI [ argument ...]\n"
        ".SH DESCRIPTION\nEach command reads PTX text. No GPU and no CUDA toolkit is needed, except where a command says "
        "that it runs\n.BR ptxas .\n";
    for (const auto& c : commands)
        out += ".TP\n.B " + man_section::escaped(c.name) + "\n" + man_section::escaped(c.summary) + "\n";
    out += ".SH COMMANDS\n";
    for (const auto& c : commands) out += man_section(c.name, c.help).text();
    out +=
        ".SH ENVIRONMENT\n"
        ".TP\n.B PTXDSL_PTXAS\nThe assembler, where no option names it and before the search in PATH.\n"
        ".TP\n.B CXX\nThe C++ compiler of\n.BR corpus .\n"
        ".TP\n.B NO_COLOR\nWhen set and not empty, messages are not coloured; nor are they when\n.B TERM\nis unset or "
        "\\(lqdumb\\(rq, or the output is no terminal.\n"
        ".SH EXIT STATUS\n0 when nothing is wrong, 1 when something is, 2 for wrong usage and files that cannot be "
        "read. Commands with other meanings say so above.\n"
        ".SH SEE ALSO\n.BR ptxas (1),\nthe PTX ISA (NVIDIA), and the pages in docs/, which\n.B ptxdsl explain\nshows.\n";
    return out;
}

}  // namespace tool
