// SPDX-License-Identifier: Apache-2.0
// NVIDIA's assembler as a child process, and the comparison of what it makes.
#pragma once

#include "child.hpp"
#include "common.hpp"

#include <cstdlib>
#include <filesystem>

namespace tool {

/// A path as it is named in another working directory; child processes run in scratch folders. Plain names stay.
[[nodiscard]] inline std::string from_anywhere(const std::string& path) {
    return path.find('/') == path.npos ? path : std::filesystem::absolute(path).string();
}

/// The ptxas to run: the option, else $PTXDSL_PTXAS, else the one in the PATH or under the usual toolkit directory;
/// empty when there is none.
[[nodiscard]] inline std::string find_ptxas(std::string_view option) {
    namespace fs = std::filesystem;
    if (!option.empty()) return from_anywhere(std::string(option));
    if (const char* e = std::getenv("PTXDSL_PTXAS"); e != nullptr && *e != '\0')
        return access(e, X_OK) == 0 ? from_anywhere(e) : std::string();
    std::string path = std::getenv("PATH") != nullptr ? std::getenv("PATH") : "";
    path += ":/usr/local/cuda/bin";
    for (std::size_t begin = 0; begin <= path.size();) {
        std::size_t end = path.find(':', begin);
        if (end == path.npos) end = path.size();
        const std::string file = path.substr(begin, end - begin) + "/ptxas";
        std::error_code unreadable;
        if (access(file.c_str(), X_OK) == 0 && !fs::is_directory(file, unreadable)) return from_anywhere(file);
        begin = end + 1;
    }
    return {};
}

/// The architecture to assemble for: the module's own, or what ptxas 13 has in its place.
[[nodiscard]] inline std::string architecture_of(ptxdsl::target t) {
    if (t.known()) t = t.assembled_as();
    return t.suffix != 0 ? fmt::format("sm_{}{}", t.sm, t.suffix) : fmt::format("sm_{}", t.sm);
}

/// Modules may name functions of others since PTX 3.1; before that ptxas wants whole programs.
[[nodiscard]] inline std::vector<std::string> mode_for(ptxdsl::ptx_version v) {
    if (v < ptxdsl::ptx_version{3, 1}) return {};
    return {"-c"};
}

/// A directory that goes away with the object.
class scratch {
public:
    scratch() {
        std::string name = (std::filesystem::temp_directory_path() / "ptxdsl-XXXXXX").string();
        if (mkdtemp(name.data()) != nullptr) path_ = name;
    }
    scratch(const scratch&) = delete;
    scratch& operator=(const scratch&) = delete;
    ~scratch() {
        std::error_code ignored;
        if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
    }
    [[nodiscard]] const std::string& path() const { return path_; }

private:
    std::string path_;
};

/// What ptxas said of a text.
struct assembly {
    bool good = false;
    std::string cubin;
    std::string log;
};

/// Assembles a text under a fixed file name, so that the name cannot make a difference.
[[nodiscard]] inline assembly assemble(const std::string& ptxas, const scratch& where, std::string_view text,
                                       const std::string& architecture, const std::vector<std::string>& options) {
    const std::string& d = where.path();
    assembly out;
    {
        std::ofstream f(d + "/module.ptx", std::ios::binary);
        f.write(text.data(), static_cast<std::streamsize>(text.size()));
    }
    std::vector<std::string> command{ptxas, "-arch=" + architecture, "-o", "module.cubin"};
    command.insert(command.end(), options.begin(), options.end());
    command.emplace_back("module.ptx");
    std::filesystem::remove(d + "/module.cubin");
    out.good = run(d, command, d + "/log") == 0;
    std::ifstream log(d + "/log", std::ios::binary);
    out.log.assign(std::istreambuf_iterator<char>(log), {});
    std::ifstream cubin(d + "/module.cubin", std::ios::binary);
    out.cubin.assign(std::istreambuf_iterator<char>(cubin), {});
    out.good = out.good && !out.cubin.empty();
    return out;
}

// ---- cubins -------------------------------------------------------------------------------------------------------

/// Sections of an ELF file, as far as their comparison needs it.
class elf_file {
public:
    struct section {
        std::string_view name;
        std::string_view bytes;
        std::string_view header;  ///< without name, offset and size
    };
    explicit elf_file(std::string_view all) : all_(all) {
        if (all.size() < 64 || all.substr(0, 4) !=
                                   "\x7f"
                                   "ELF")
            return;
        const std::uint64_t table = number(0x28, 8), count = number(0x3c, 2), names = number(0x3e, 2);
        if (table > all.size() || count * 64 > all.size() - table || names >= count) return;
        const std::uint64_t strings = number(table + 64 * names + 0x18, 8);
        for (std::uint64_t i = 0; i < count; ++i) add(table + 64 * i, strings);
    }
    std::vector<section> sections;

private:
    [[nodiscard]] std::uint64_t number(std::uint64_t at, unsigned bytes) const {
        std::uint64_t v = 0;
        for (unsigned i = bytes; i != 0; --i) v = v << 8 | static_cast<unsigned char>(all_[at + i - 1]);
        return v;
    }
    void add(std::uint64_t at, std::uint64_t strings) {
        constexpr std::uint64_t no_bits = 8, no_bits_cuda = 0x7000000a;
        const std::uint64_t name = strings + number(at, 4), type = number(at + 4, 4), offset = number(at + 0x18, 8);
        std::uint64_t size = number(at + 0x20, 8);
        if (type == no_bits || type == no_bits_cuda || offset > all_.size() || size > all_.size() - offset) size = 0;
        const std::string_view n =
            name < all_.size() ? all_.substr(name, all_.find('\0', name) - name) : std::string_view();
        sections.push_back({n, all_.substr(size == 0 ? 0 : offset, size), all_.substr(at + 4, 0x14)});
    }
    std::string_view all_;
};

inline constexpr std::string_view text_section = ".nv_debug_ptx_txt.";

/// The decimal number that ptxas appends to the name of the section with the text; empty when there is no such section.
[[nodiscard]] inline std::string text_number(const elf_file& f) {
    for (const elf_file::section& s : f.sections)
        if (s.name.substr(0, text_section.size()) == text_section)
            return std::string(s.name.substr(text_section.size()));
    return {};
}
[[nodiscard]] inline std::string replaced(std::string_view bytes, const std::string& what, const std::string& by) {
    std::string out(bytes);
    if (what.empty() || what.size() != by.size()) return out;
    for (std::size_t i = out.find(what); i != out.npos; i = out.find(what, i + by.size()))
        out.replace(i, what.size(), by);
    return out;
}

/// Whether two cubins differ in nothing but the copy of the text that ptxas keeps for debuggers, and its number.
[[nodiscard]] inline bool same_but_for_text(std::string_view a, std::string_view b) {
    const elf_file x(a), y(b);
    const std::string from = text_number(x), to = text_number(y);
    if (x.sections.empty() || x.sections.size() != y.sections.size() || from.size() != to.size()) return false;
    for (std::size_t i = 0; i < x.sections.size(); ++i) {
        const elf_file::section &s = x.sections[i], &t = y.sections[i];
        if (replaced(s.name, from, to) != t.name || s.header != t.header) return false;
        if (s.name.find(text_section) != s.name.npos) continue;  // sm_120 has a second one, under another prefix
        if (replaced(s.bytes, from, to) != t.bytes) return false;
    }
    return true;
}

}  // namespace tool
