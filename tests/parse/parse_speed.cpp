// SPDX-License-Identifier: Apache-2.0
// Time to read and to print PTX files, and the growth with their size.
//
//   parse_speed FILE...     one line a file; the last one is repeated up to 50 MB as one module
#include <ptxdsl/parse.hpp>

#include <chrono>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

namespace ptx = ptxdsl::ptx;

namespace {

struct timing {
    double read = 0, print = 0;
};

double seconds_since(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// The best of some repetitions.
timing measure(const std::string& source, int repetitions) {
    timing best{1e9, 1e9};
    for (int i = 0; i < repetitions; ++i) {
        auto start = std::chrono::steady_clock::now();
        const ptx::tree t = ptxdsl::parse(source);
        const double read = seconds_since(start);
        start = std::chrono::steady_clock::now();
        ptx::text out(static_cast<std::uint32_t>(source.size()));
        ptx::print_canonical(t.read(), out);
        const double print = seconds_since(start);
        if (!t.ok()) return {};
        if (read < best.read) best.read = read;
        if (print < best.print) best.print = print;
    }
    return best;
}

void report(const char* name, const std::string& source, int repetitions) {
    const timing t = measure(source, repetitions);
    std::printf("%-40s %10zu bytes  read %9.3f ms  print %9.3f ms  %6.1f ns/byte\n", name, source.size(), t.read * 1e3,
                t.print * 1e3, (t.read + t.print) * 1e9 / static_cast<double>(source.size()));
}

}  // namespace

int main(int argc, char** argv) {
    std::string last;
    for (int i = 1; i < argc; ++i) {
        std::ifstream f(argv[i], std::ios::binary);
        last.assign(std::istreambuf_iterator<char>(f), {});
        report(argv[i], last, 20);
    }
    const std::size_t entry = last.find(".visible .entry");
    if (entry == last.npos) return 0;
    const std::string head = last.substr(0, entry), kernel = last.substr(entry);
    for (std::size_t size = 100000; size <= 50000000; size *= 10) {
        std::string s = head;
        for (int copy = 0; s.size() < size; ++copy) {
            std::string k = kernel;
            k.replace(k.find(".entry ") + 7, 1, "k" + std::to_string(copy) + "_");
            s += k;
        }
        report("repeated", s, 3);
        if (size == 10000000) size = 5000000;
    }
}
