// SPDX-License-Identifier: Apache-2.0
// Writes the PTX of kernels, one file a kernel, to the folder named on the command line: the frame of print_gemm.cpp
// and print_rows.cpp. Exit code 1 when one does not assemble, 2 without a folder.
#pragma once

#include <cstdio>
#include <string>

namespace print_kernels {

inline std::string folder;
inline int failures = 0;

template <class Program>
void write(const std::string& name, const Program& p) {
    if (!p.ok()) {
        std::printf("%s: %.*s\n", name.c_str(), static_cast<int>(p.error().size()), p.error().data());
        ++failures;
        return;
    }
    std::FILE* out = std::fopen((folder + "/" + name + ".ptx").c_str(), "w");
    if (out == nullptr || std::fwrite(p.text().data(), 1, p.text().size(), out) != p.text().size()) ++failures;
    if (out != nullptr) std::fclose(out);
}

/// What `main` returns: `all` writes the kernels.
template <class All>
int run(int argc, char** argv, All all) {
    if (argc != 2) return 2;
    folder = argv[1];
    all();
    return failures == 0 ? 0 : 1;
}

}  // namespace print_kernels
