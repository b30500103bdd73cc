// SPDX-License-Identifier: Apache-2.0
// What every fuzz target needs: a law that is broken ends the process, and a mutator that knows lines and words of PTX.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <string_view>
#include <vector>

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

namespace fuzz {

inline void law(bool holds, const char* which) {
    if (holds) return;
    std::fprintf(stderr, "law broken: %s\n", which);
    std::abort();
}

[[nodiscard]] inline std::string_view text(const std::uint8_t* data, std::size_t size) {
    return {reinterpret_cast<const char*>(data), size};
}

/// Bytes changed blindly are seldom PTX. This moves whole words and lines of the text about, so that what comes out
/// often still parses and reaches what stands behind the parser.
class mutator {
public:
    mutator(std::string_view source, unsigned seed) : source_(source), random_(seed) {}

    [[nodiscard]] std::string run() {
        for (unsigned n = 1 + below(4); n != 0; --n) source_ = below(2) == 0 ? edit(words()) : edit(lines());
        return std::move(source_);
    }

private:
    using pieces = std::vector<std::string>;

    [[nodiscard]] std::size_t below(std::size_t n) { return random_() % n; }

    [[nodiscard]] static bool in_word(char c) {
        return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$';
    }
    /// Words with their first `.`, `%` or `@`, blanks, and single characters.
    [[nodiscard]] pieces words() const {
        pieces out;
        for (std::size_t i = 0; i < source_.size();) {
            std::size_t end = i + 1;
            if (in_word(source_[i]) || ((source_[i] == '.' || source_[i] == '%') && end < source_.size()))
                while (end < source_.size() && in_word(source_[end])) ++end;
            out.push_back(source_.substr(i, end - i));
            i = end;
        }
        return out;
    }
    [[nodiscard]] pieces lines() const {
        pieces out;
        for (std::size_t i = 0; i < source_.size();) {
            const std::size_t newline = source_.find('\n', i);
            const std::size_t end = newline == std::string::npos ? source_.size() : newline + 1;
            out.push_back(source_.substr(i, end - i));
            i = end;
        }
        return out;
    }
    /// Takes away, doubles, swaps, replaces or moves one piece.
    [[nodiscard]] std::string edit(pieces p) {
        if (p.empty()) return {};
        const std::size_t a = below(p.size()), b = below(p.size());
        switch (below(5)) {
            case 0: p[a].clear(); break;
            case 1: p[a] += p[a]; break;
            case 2: std::swap(p[a], p[b]); break;
            case 3: p[a] = p[b]; break;
            default: p[a] += p[b]; break;
        }
        std::string out;
        for (const std::string& s : p) out += s;
        return out;
    }

    std::string source_;
    std::minstd_rand random_;
};

}  // namespace fuzz

/// libFuzzer looks for it by name; so it is not inline, and each target is one source file.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned seed) {
    if (size == 0 || seed % 3 == 0) return LLVMFuzzerMutate(data, size, max_size);
    const std::string out = fuzz::mutator(fuzz::text(data, size), seed).run().substr(0, max_size);
    for (std::size_t i = 0; i < out.size(); ++i) data[i] = static_cast<std::uint8_t>(out[i]);
    return out.size();
}
