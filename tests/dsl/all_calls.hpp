// SPDX-License-Identifier: Apache-2.0
// Sends modules that are lists of calls through ptxas: the frame of all all_calls.cpp beside it.
//
//   <program> [--ptxas PATH] [--work DIR] [--print]
//
// Exit codes: 0 all modules assemble, 1 one does not, 77 no ptxas (skipped).
#pragma once

#include <ptxdsl/assemble/run_time.hpp>
#include <ptxdsl/ptxdsl.hpp>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace all_calls {

namespace px = ptxdsl;

template <class T>
struct type {
    using t = T;
};
template <class... T, class F>
constexpr void each(F f) {
    (f(type<T>()), ...);
}
template <px::tok... T, class F>
constexpr void each_tok(F f) {
    (f(std::integral_constant<px::tok, T>()), ...);
}
template <unsigned... N, class F>
constexpr void counts(F f) {
    (f(std::integral_constant<unsigned, N>()), ...);
}

constexpr bool is_blackwell(px::target t) { return t.has_tensor_memory(); }
using byte_ptr = px::global_ptr<px::u8, 128>;

/// Stores a result, so that ptxas keeps the instruction.
template <class K, class T>
constexpr void put(K& k, byte_ptr to, const px::reg<T>& r) {
    if constexpr (std::is_same_v<T, px::pred>)
        k.at(r).st(to.as<px::u32>(), 1u);
    else
        k.st(to.as<T>(), r);
}
template <class K, class T, unsigned N>
constexpr void put(K& k, byte_ptr to, const px::vec<T, N>& v) {
    for (unsigned i = 0; i < N; ++i) put(k, to, v[i]);
}

/// Registers of any type, loaded from one buffer, and a place for results.
template <px::target Tgt>
struct source {
    px::builder<Tgt>& k;
    byte_ptr data;

    template <class T>
    constexpr px::reg<T> get() const {
        if constexpr (std::is_same_v<T, px::pred>)
            return k.template setp<px::ne>(k.ld(data.as<px::u32>()), 0u);
        else
            return k.ld(data.as<T>());
    }
    template <class R>
    constexpr void put(const R& result) const {
        all_calls::put(k, data, result);
    }
    /// Assigning to a handle that names a register emits a `mov`.
    template <class T>
    constexpr void set(px::reg<T> to, const px::reg<T>& value) const {
        to = value;
    }
    template <px::fragment_role Role, class T, px::u32 M, px::u32 K>
    constexpr void fill(const px::mma_fragment<Role, T, M, K>& f) const {
        for (unsigned i = 0; i < f.size; ++i) set(f[i], get<typename px::mma_fragment<Role, T, M, K>::register_type>());
    }
    template <px::fragment_role Role, class T, px::u32 M, px::u32 K>
    constexpr void keep(const px::mma_fragment<Role, T, M, K>& f) const {
        for (unsigned i = 0; i < f.size; ++i) put(f[i]);
    }
};

class runner {
public:
    /// `flags`: what ptxas needs besides the architecture.
    runner(int argc, char** argv, std::string prefix, std::string flags = {})
        : prefix_(std::move(prefix)), flags_(std::move(flags)) {
        for (int i = 1; i < argc; ++i) {
            const std::string a = argv[i];
            if (a == "--ptxas" && i + 1 < argc)
                ptxas_ = argv[++i];
            else if (a == "--work" && i + 1 < argc)
                work_ = argv[++i];
            else if (a == "--print")
                print_ = true;
        }
        have_ = std::system(("\"" + ptxas_ + "\" --version > /dev/null 2>&1").c_str()) == 0;
    }

    /// A list of calls, no program: the verifier is not asked, the builder's own findings are.
    template <class Body>
    void calls(const std::string& name, const Body& body, const std::string& arch,
               const px::attributes& attributes = {}) {
        px::ir::program p;
        px::detail::write_program(p, name, attributes, body);
        for (const px::ir::finding& f : p.findings) {
            const std::string_view text = p.text(f.text);
            std::printf("FAILED %s %s, line %u: %s %.*s\n", name.c_str(), arch.c_str(), p.locations[f.where].line(),
                        f.id, static_cast<int>(text.size()), text.data());
            ++failed_;
        }
        note_forms(name, arch, p);
        assemble(name, arch, px::assembled_program<typename px::detail::body_traits<Body>::params>(p).text());
    }
    /// A kernel that the verifier accepts too.
    template <class Body>
    void kernel(const std::string& name, const Body& body, const std::string& arch) {
        px::ir::program written;
        px::detail::write_program(written, name, {}, body);
        note_forms(name, arch, written);
        const auto p = px::assemble_at_run_time(name, body);
        if (p.ok()) return assemble(name, arch, p.text());
        std::printf("FAILED %s %s: %.*s\n", name.c_str(), arch.c_str(), static_cast<int>(p.error().size()),
                    p.error().data());
        ++failed_;
    }

    /// What `main` returns.
    [[nodiscard]] int result() const {
        if (failed_ != 0) return 1;
        if (!have_) {
            std::puts("skipped: no ptxas, the modules were written but not assembled");
            return 77;
        }
        std::printf("%d modules assemble\n", passed_);
        return 0;
    }

private:
    /// Which form of the table each call has emitted, for tests/isa/check_row_calls.py: form, mnemonic, line, column,
    /// file.
    void note_forms(const std::string& name, const std::string& arch, const px::ir::program& p) const {
        std::FILE* const f = std::fopen((work_ + "/" + prefix_ + "_" + name + "_" + arch + ".forms").c_str(), "w");
        if (f == nullptr) return;
        const px::u32* const end = p.words.data() + p.words.size();
        for (const px::u32* w = p.words.data(); w < end; w += w[0] & 0xffffu) {
            const px::ir::cursor c{w};
            const px::u32 form = w[1] >> 16;
            if (!c.is_instruction() || form == px::isa::verdict::no_form) continue;
            const auto& where = p.locations[c.location()];
            const px::string_view word = px::isa::spelling(static_cast<px::tok>(c.token(0)));
            std::fprintf(f, "%u %.*s %u %u %s\n", form, static_cast<int>(word.size()), word.data(), where.line(),
                         where.column(), where.file_name());
        }
        std::fclose(f);
    }
    void assemble(const std::string& name, const std::string& arch, px::string_view text) {
        if (print_) std::puts(text.data());
        const std::string file = work_ + "/" + prefix_ + "_" + name + "_" + arch + ".ptx";
        if (std::FILE* f = std::fopen(file.c_str(), "w")) {
            std::fputs(text.data(), f);
            std::fclose(f);
        }
        if (!have_) return;
        const std::string said = file + ".txt";
        const std::string command = "\"" + ptxas_ + "\" " + flags_ + " -arch=" + arch + " -o /dev/null \"" + file +
                                    "\" > \"" + said + "\" 2>&1";
        if (std::system(command.c_str()) == 0) {
            ++passed_;
            return;
        }
        std::printf("FAILED %s: ptxas refuses %s\n", name.c_str(), file.c_str());
        ++failed_;
        show_errors(said);
    }
    static void show_errors(const std::string& file) {
        std::FILE* const f = std::fopen(file.c_str(), "r");
        if (f == nullptr) return;
        char line[512];
        for (int shown = 0; shown < 20 && std::fgets(line, sizeof line, f) != nullptr;) {
            if (std::string_view(line).find("error") == std::string_view::npos) continue;
            std::fputs(line, stdout);
            ++shown;
        }
        std::fclose(f);
    }

    std::string ptxas_ = "ptxas", work_ = ".", prefix_, flags_;
    bool print_ = false, have_ = false;
    int failed_ = 0, passed_ = 0;
};

}  // namespace all_calls
