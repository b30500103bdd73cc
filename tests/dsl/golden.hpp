// SPDX-License-Identifier: Apache-2.0
// Compares what a body emits with the lines a test expects: the frame of all golden.cpp beside it.
#pragma once

#include <ptxdsl/assemble/run_time.hpp>
#include <ptxdsl/ptxdsl.hpp>

#include <cstdio>
#include <string_view>

namespace golden {

namespace px = ptxdsl;

inline int failed = 0;

/// Next line of `text` that is an instruction, without indentation; skips labels, loads of parameters and the final
/// `ret`.
inline std::string_view next_instruction(std::string_view& text) {
    while (!text.empty()) {
        const std::size_t end = text.find('\n');
        const std::string_view line = text.substr(0, end);
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
        if (!line.starts_with("    ") || line.starts_with("    .") || line.starts_with("    ld.param") ||
            line == "    ret;")
            continue;
        return line.substr(4);
    }
    return {};
}

/// The version and the instructions of an assembled program.
template <class Program>
void compare(const char* name, px::ptx_version version, const Program& p, std::string_view expected) {
    if (p.version() != version) {
        std::printf("FAILED %s: version %u.%u, expected %u.%u\n", name, p.version().major, p.version().minor,
                    version.major, version.minor);
        ++failed;
    }
    std::string_view text = p.text();
    while (true) {
        const std::string_view got = next_instruction(text);
        const std::size_t end = expected.find('\n');
        const std::string_view want = expected.substr(0, end);
        expected.remove_prefix(end == std::string_view::npos ? expected.size() : end + 1);
        if (got != want) {
            std::printf("FAILED %s\n  expected: %.*s\n  found:    %.*s\n", name, static_cast<int>(want.size()),
                        want.data(), static_cast<int>(got.size()), got.data());
            ++failed;
            return;
        }
        if (got.empty()) return;
    }
}

namespace kernels {
/// A whole kernel, which the verifier accepts.
template <class Body>
void check(const char* name, px::ptx_version version, const Body& body, std::string_view expected) {
    const auto p = px::assemble_at_run_time("golden", body);
    if (!p.ok()) {
        std::printf("FAILED %s: %.*s\n", name, static_cast<int>(p.error().size()), p.error().data());
        ++failed;
        return;
    }
    compare(name, version, p, expected);
}
}  // namespace kernels

namespace calls {
/// A list of calls: the verifier is not asked, what the builder itself finds counts.
template <class Body>
void check(const char* name, px::ptx_version version, const Body& body, std::string_view expected) {
    px::ir::program p;
    px::detail::write_program(p, "golden", {}, body);
    for (const px::ir::finding& f : p.findings) {
        const std::string_view text = p.text(f.text);
        std::printf("FAILED %s: %s %.*s\n", name, f.id, static_cast<int>(text.size()), text.data());
        ++failed;
    }
    compare(name, version, px::assembled_program<typename px::detail::body_traits<Body>::params>(p), expected);
}
}  // namespace calls

/// What `main` returns.
inline int result() {
    if (failed == 0)
        std::puts("all texts as expected");
    else
        std::printf("%d golden checks failed\n", failed);
    return failed == 0 ? 0 : 1;
}

}  // namespace golden
