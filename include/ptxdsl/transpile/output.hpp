// SPDX-License-Identifier: Apache-2.0
// C++ under construction: lines with the PTX they stand for.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ptxdsl::ptx {

/// One line of C++, or several that belong together, without indentation.
struct code_line {
    enum kind : std::uint8_t {
        plain,
        open,          ///< ends with `{`
        close,         ///< begins with `}`
        turn,          ///< `} else {`
        lookup,        ///< a handle that is left out when nothing uses it
        declaration,   ///< a handle that later lines may use
        label_handle,  ///< a label's handle, left out when `--sugar` has no use for it
        label,         ///< places the label `target`
        branch,        ///< goes to the label `target`, where `guard` says so
        uniform,       ///< the same with `.uni` and a guard
    };
    std::string text;
    std::uint32_t node = 0;  ///< what it was
    kind what = plain;
    std::uint32_t target = 0;
    std::string guard = {};  ///< C++ of the predicate
    bool negated = false;
};

/// One C++ function of the output.
struct cpp_function {
    std::string cpp_name;
    std::string_view ptx_name;
    bool is_entry = false;
    bool has_body = false;
    std::uint32_t node = 0;
    std::vector<code_line> lines;
};

/// Appends lines with four blanks for each open brace.
inline void print_lines(const std::vector<code_line>& lines, unsigned depth, std::string& out) {
    for (const code_line& l : lines) {
        if (l.what == code_line::close || l.what == code_line::turn) --depth;
        for (std::size_t at = 0; at < l.text.size();) {
            std::size_t end = l.text.find('\n', at);
            if (end == l.text.npos) end = l.text.size();
            if (end != at) out.append(4 * std::size_t{depth}, ' ').append(l.text, at, end - at) += '\n';
            at = end + 1;
        }
        if (l.what == code_line::open || l.what == code_line::turn) ++depth;
    }
}

}  // namespace ptxdsl::ptx
