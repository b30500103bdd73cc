// SPDX-License-Identifier: Apache-2.0
// ptxdsl info
#pragma once

#include "ptxas.hpp"

#include <algorithm>
#include <map>

namespace tool {

inline constexpr std::string_view info_help = R"(usage: ptxdsl info [--json] [--ptxas PATH | --no-ptxas] FILE...

What a PTX module says about its kernels: parameters, directives, shared memory, barriers, registers declared, and how
often each instruction occurs. With ptxas at hand also the registers it uses, spills, and how many warps fit.

  --json         one JSON array on standard output
  --ptxas PATH   the assembler; default: $PTXDSL_PTXAS, the PATH, /usr/local/cuda/bin
  --no-ptxas     do not assemble

Exit status: 0, 1 when a file has syntax errors, 2 wrong usage or unreadable files.
)";

/// What ptxas -v says of one kernel.
struct ptxas_facts {
    bool known = false;
    unsigned registers = 0, spill_bytes = 0, stack_bytes = 0, shared_bytes = 0;
};

[[nodiscard]] inline unsigned number_before(std::string_view line, std::string_view words) {
    const std::size_t at = line.find(words);
    if (at == line.npos) return 0;
    std::size_t begin = at;
    while (begin > 0 && line[begin - 1] >= '0' && line[begin - 1] <= '9') --begin;
    unsigned v = 0;
    for (std::size_t i = begin; i < at; ++i) v = v * 10 + static_cast<unsigned>(line[i] - '0');
    return v;
}

/// Reads the log of `ptxas -v`: "Compiling entry function 'k'", "… bytes spill stores", "Used 32 registers".
[[nodiscard]] inline std::map<std::string, ptxas_facts> read_log(std::string_view log) {
    std::map<std::string, ptxas_facts> out;
    ptxas_facts* now = nullptr;
    while (!log.empty()) {
        const std::size_t end = log.find('\n');
        const std::string_view line = log.substr(0, end);
        log.remove_prefix(end == log.npos ? log.size() : end + 1);
        constexpr std::string_view entry = "Compiling entry function '";
        if (const std::size_t at = line.find(entry); at != line.npos) {
            const std::string_view rest = line.substr(at + entry.size());
            now = &out[std::string(rest.substr(0, rest.find('\'')))];
        } else if (now != nullptr && line.find("bytes spill stores") != line.npos) {
            now->stack_bytes = number_before(line, " bytes stack frame");
            now->spill_bytes = number_before(line, " bytes spill stores") + number_before(line, " bytes spill loads");
        } else if (now != nullptr && line.find(" registers") != line.npos) {
            now->known = true;
            now->registers = number_before(line, " registers");
            now->shared_bytes = number_before(line, " bytes smem");
        }
    }
    return out;
}

/// Warps of one multiprocessor (sm_90, sm_100) that fit, given a block's threads, registers and shared memory.
[[nodiscard]] inline unsigned resident_warps(unsigned threads, unsigned registers, unsigned shared) {
    if (threads == 0 || registers == 0) return 0;
    const unsigned warps = (threads + 31) / 32;
    const unsigned by_registers = 65536 / ((registers * 32 + 255) / 256 * 256) / warps;
    const unsigned by_shared = 228 * 1024 / (shared + 1024);
    return std::min({64 / warps, by_registers, by_shared, 32U}) * warps;
}

using mix = std::vector<std::pair<std::string, unsigned>>;

/// Instructions by opcode (with its second word where that says what it is), the most frequent first.
[[nodiscard]] inline mix instruction_mix(const ptx::tree_view& v, std::uint32_t entry) {
    std::map<std::string, unsigned> counts;
    for (std::uint32_t n = entry; n < v[entry].end; ++n) {
        if (v.kind(n) != ptx::node_kind::instruction) continue;
        std::string word(v.atom(n));
        const std::uint32_t m = v.child(n, ptx::node_kind::modifier);
        if (m != 0 && (word == "wgmma" || word == "tcgen05" || word == "mbarrier" || word == "cp" || word == "ld" ||
                       word == "st" || word == "atom" || word == "red"))
            word += v.atom(m);
        ++counts[word];
    }
    mix out(counts.begin(), counts.end());
    // No std::stable_sort: in libstdc++ 12 it calls what C++17 deprecates, and clang warns there.
    std::sort(out.begin(), out.end(), [](const auto& a, const auto& b) {
        return a.second != b.second ? a.second > b.second : a.first < b.first;
    });
    return out;
}

/// Calls `f(name, storage)` for each parameter of a kernel.
template <class F>
void for_each_parameter(const ptx::tree_view& v, std::uint32_t entry, F f) {
    const std::uint32_t list = v.child(entry, ptx::node_kind::parameters);
    for (std::uint32_t c = list + 1; list != 0 && c < v[list].end; c = v[c].end) {
        const std::uint32_t d = v.child(c, ptx::node_kind::declarator);
        f(v.atom(d), ptx::storage_of(v, c, d));
    }
}
[[nodiscard]] inline std::string parameter_text(const ptx::storage& s) {
    if (s.is_array) return fmt::format("{} bytes, aligned to {}", s.bytes, s.align);
    return fmt::format(".{}{}", ptxdsl::isa::name(s.type), s.is_pointer ? " pointer" : "");
}

inline constexpr std::string_view register_classes[] = {"pred", "8", "16", "32", "64", "128", "f32", "f64"};

inline void print_kernel(const ptx::tree_view& v, std::uint32_t entry, const ptxas_facts& p) {
    const ptx::kernel_facts f = ptx::facts_of(v, entry);
    const ptxdsl::kernel_resources& r = f.resources;
    fmt::print("kernel {}\n", v.atom(entry));
    for_each_parameter(v, entry, [](std::string_view name, const ptx::storage& s) {
        fmt::print("  parameter    {}: {}\n", name, parameter_text(s));
    });
    if (r.threads[0] != 0)
        fmt::print("  block        exactly {} x {} x {} threads\n", r.threads[0], r.threads[1], r.threads[2]);
    else if (r.max_threads != 0)
        fmt::print("  block        at most {} threads\n", r.max_threads);
    if (r.cluster[0] != 0) fmt::print("  cluster      {} x {} x {} blocks\n", r.cluster[0], r.cluster[1], r.cluster[2]);
    if (f.min_blocks != 0) fmt::print("  residency    at least {} blocks asked for\n", f.min_blocks);
    if (f.max_registers != 0) fmt::print("  registers    at most {} a thread\n", f.max_registers);
    fmt::print("  shared       {} bytes{}\n", r.static_shared_bytes, f.dynamic_shared ? ", and dynamic" : "");
    if (f.named_barriers != 0) fmt::print("  barriers     {}\n", f.named_barriers);
    if (r.uses_pdl_wait) fmt::print("  launch       waits for the kernel before it (griddepcontrol.wait)\n");
    std::string declared;
    for (unsigned k = 0; k < 8; ++k)
        if (f.registers[k] != 0)
            declared += fmt::format("{}{} {}", declared.empty() ? "" : ", ", f.registers[k], register_classes[k]);
    fmt::print("  declared     {}\n", declared.empty() ? "no registers" : declared);
    fmt::print("  instructions {}, {} labels\n", f.instructions, f.labels);
    std::string words;
    for (const auto& [word, count] : instruction_mix(v, entry)) words += fmt::format(" {} {}", word, count);
    fmt::print("  mix         {}\n", words);
    if (!p.known) return;
    fmt::print("  ptxas        {} registers, {} bytes spilled, {} bytes of stack\n", p.registers, p.spill_bytes,
               p.stack_bytes);
    if (const unsigned warps = resident_warps(r.max_threads, p.registers, p.shared_bytes); warps != 0)
        fmt::print("  occupancy    {} of 64 warps without dynamic shared memory\n", warps);
}

[[nodiscard]] inline std::string kernel_json(const ptx::tree_view& v, std::uint32_t entry, const ptxas_facts& p) {
    const ptx::kernel_facts f = ptx::facts_of(v, entry);
    const ptxdsl::kernel_resources& r = f.resources;
    std::string out = fmt::format("{{\"name\": {}, \"parameters\": [", json_string(v.atom(entry)));
    bool first = true;
    for_each_parameter(v, entry, [&](std::string_view name, const ptx::storage& s) {
        out += fmt::format("{}{{\"name\": {}, \"type\": \"{}\", \"bytes\": {}, \"align\": {}, \"pointer\": {}}}",
                           first ? "" : ", ", json_string(name), ptxdsl::isa::name(s.type), s.bytes, s.align,
                           s.is_pointer);
        first = false;
    });
    out += fmt::format(
        "], \"threads\": [{}, {}, {}], \"maxThreads\": {}, \"cluster\": [{}, {}, {}], \"sharedBytes\": {}, \"dynamicShared\": {}, \"barriers\": {}, \"instructions\": {}, \"mix\": {{",
        r.threads[0], r.threads[1], r.threads[2], r.max_threads, r.cluster[0], r.cluster[1], r.cluster[2],
        r.static_shared_bytes, f.dynamic_shared, f.named_barriers, f.instructions);
    first = true;
    for (const auto& [word, count] : instruction_mix(v, entry))
        out += fmt::format("{}{}: {}", first ? "" : ", ", json_string(word), count), first = false;
    out += "}";
    if (p.known)
        out += fmt::format(", \"ptxas\": {{\"registers\": {}, \"spillBytes\": {}, \"stackBytes\": {}}}", p.registers,
                           p.spill_bytes, p.stack_bytes);
    return out + "}";
}

inline int info_command(const std::vector<std::string_view>& words) {
    const arguments a(words, {"--json", "--no-ptxas"}, {"--ptxas"});
    if (!a.problem.empty()) return usage_error("info", a.problem);
    if (a.rest.empty()) return usage_error("info", "no file");
    const std::string ptxas = a.has("--no-ptxas") ? std::string() : find_ptxas(a.value("--ptxas"));
    const scratch where;
    int status = good;
    std::string json;
    for (std::string_view name : a.rest) {
        module_file m;
        if (!load(name, m)) return bad_usage;
        if (!m.tree.ok()) {
            print_messages(name, m.source, m.tree.messages);
            status = found_errors;
            continue;
        }
        const ptx::tree_view v = m.tree.read();
        std::map<std::string, ptxas_facts> used;
        if (!ptxas.empty())
            used = read_log(assemble(ptxas, where, m.source, architecture_of(v.target()), {"-c", "-v"}).log);
        const ptxdsl::ptx_version version = v.version();
        if (!a.has("--json"))
            fmt::print("{}: PTX {}.{} for {}\n", shown_name(name), version.major, version.minor,
                       v.atom(v.child(0, ptx::node_kind::target) + 1));
        json += fmt::format("{}{{\"file\": {}, \"version\": \"{}.{}\", \"target\": {}, \"kernels\": [",
                            json.empty() ? "" : ",\n", json_string(name), version.major, version.minor,
                            json_string(v.atom(v.child(0, ptx::node_kind::target) + 1)));
        bool first = true;
        for (std::uint32_t n = 1; n < v[0].end; n = v[n].end) {
            if (v.kind(n) != ptx::node_kind::entry || v.child(n, ptx::node_kind::body) == 0) continue;
            const ptxas_facts p = used[std::string(v.atom(n))];
            if (!a.has("--json")) print_kernel(v, n, p);
            json += (first ? "" : ", ") + kernel_json(v, n, p);
            first = false;
        }
        json += "]}";
    }
    if (a.has("--json")) fmt::print("[{}]\n", json);
    return status;
}

}  // namespace tool
