// SPDX-License-Identifier: Apache-2.0
// Kernels that another program printed: a PTX text, and next to it a few lines that say how it is launched. So a peer
// that is written in another language runs in the same process and the same rounds as ours.
//
//   kernel NAME              the entry
//   ptx FILE                 its text, beside the description
//   grid X Y Z               blocks
//   block X Y Z              threads
//   cluster X Y Z            blocks of a cluster; may be left out
//   shared BYTES             dynamic shared memory; may be left out
//   programmatic             it waits for the kernel ahead itself and may start earlier; may be left out
//
// and then one line for each parameter, in their order:
//
//   tensor NAME              the address of one of our tensors
//   u32 N | u64 N | f32 X    a number
//   table FILE               the address of 32-bit numbers, which FILE lists
//   map NAME TYPE size N… stride BYTES… box N… swizzle 0|32|64|128
//                            the address of a tensor map of one of our tensors (f32, f16, bf16); innermost dimension
//                            first, and a stride for each but that one
//
// `#` begins a comment. bench/pyptx_peer.py writes such files, and launch_recorder.hpp does for our kernels.
#pragma once

#include <ptxdsl/runtime.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bench {

namespace px = ptxdsl;

/// One parameter as the description has it.
struct printed_parameter {
    enum class kind { tensor, number, table, map };
    kind what = kind::number;
    std::string name;          ///< tensor and map: the tensor's; table: the file's
    std::uint64_t number = 0;  ///< as it is in memory
    px::tensor_map_spec map;
    px::tensor_geometry geometry;  ///< without the address
};

struct printed_description {
    std::string kernel, ptx;
    px::launch_config launch;
    std::vector<printed_parameter> parameters;
};

namespace printed_detail {

/// One line as words, taken from the front.
class words {
public:
    explicit words(std::string_view line) {
        std::istringstream in{std::string(line.substr(0, line.find('#')))};
        for (std::string w; in >> w;) all_.push_back(w);
    }
    /// The next word; empty at the end.
    [[nodiscard]] std::string next() { return at_ < all_.size() ? all_[at_++] : std::string(); }
    /// The numbers up to the next word that is none.
    [[nodiscard]] std::vector<std::uint64_t> numbers() {
        std::vector<std::uint64_t> list;
        for (; at_ < all_.size(); ++at_) {
            const auto n = whole(all_[at_]);
            if (!n) break;
            list.push_back(*n);
        }
        return list;
    }
    [[nodiscard]] bool done() const { return at_ == all_.size(); }

    [[nodiscard]] static std::optional<std::uint64_t> whole(std::string_view w) {
        std::uint64_t n = 0;
        const auto r = std::from_chars(w.data(), w.data() + w.size(), n);
        return !w.empty() && r.ec == std::errc() && r.ptr == w.data() + w.size() ? std::optional(n) : std::nullopt;
    }

private:
    std::vector<std::string> all_;
    std::size_t at_ = 0;
};

[[nodiscard]] inline bool read_extent(words& w, px::extent3& e) {
    const auto n = w.numbers();
    if (n.size() != 3 || std::any_of(n.begin(), n.end(), [](auto v) { return v == 0 || v > 0x7fffffff; })) return false;
    const auto at = [&n](std::size_t i) { return static_cast<std::uint32_t>(n[i]); };
    e = px::extent3{at(0), at(1), at(2)};
    return w.done();
}

[[nodiscard]] inline std::optional<px::isa::scalar> map_element(std::string_view type) {
    if (type == "f32") return px::isa::scalar::f32;
    if (type == "f16") return px::isa::scalar::f16;
    if (type == "bf16") return px::isa::scalar::bf16;
    return std::nullopt;
}
[[nodiscard]] inline std::optional<px::map_swizzle> map_swizzle_of(std::uint64_t bytes) {
    switch (bytes) {
        case 0: return px::map_swizzle::none;
        case 32: return px::map_swizzle::b32;
        case 64: return px::map_swizzle::b64;
        case 128: return px::map_swizzle::b128;
        default: return std::nullopt;
    }
}

/// What follows `map`. The L2 promotion is none, as pyptx encodes its maps.
[[nodiscard]] inline bool read_map(words& w, printed_parameter& p) {
    p.name = w.next();
    const auto element = map_element(w.next());
    const auto after = [&w](std::string_view word) {
        return w.next() == word ? w.numbers() : std::vector<std::uint64_t>{};
    };
    const auto size = after("size"), stride = after("stride"), box = after("box"), swizzle = after("swizzle");
    if (p.name.empty() || !element || size.empty() || size.size() > 5 || stride.size() + 1 != size.size() ||
        box.size() != size.size() || swizzle.size() != 1 || !w.done())
        return false;
    const auto swizzled = map_swizzle_of(swizzle[0]);
    if (!swizzled || std::any_of(box.begin(), box.end(), [](auto v) { return v == 0 || v > 256; })) return false;
    p.map.element = *element;
    p.map.rank = static_cast<std::uint8_t>(size.size());
    p.map.swizzle = *swizzled;
    p.map.promotion = px::l2_promotion::none;
    for (std::size_t i = 0; i < size.size(); ++i) {
        p.geometry.size[i] = size[i];
        p.geometry.stride_bytes[i] = i == 0 ? 0 : stride[i - 1];
        p.map.box[i] = static_cast<std::uint32_t>(box[i]);
    }
    return true;
}

/// A number of the line's type, as it is in memory.
[[nodiscard]] inline bool read_number(std::string_view type, words& w, printed_parameter& p) {
    const std::string word = w.next();
    if (type == "f32") {
        char* end = nullptr;
        p.number = std::bit_cast<std::uint32_t>(std::strtof(word.c_str(), &end));
        return !word.empty() && *end == '\0' && w.done();
    }
    const auto n = words::whole(word);
    p.number = n.value_or(0);
    return n && (type == "u64" || *n <= 0xffffffff) && w.done();
}

/// False when the line is none of a description.
[[nodiscard]] inline bool read_line(std::string_view line, printed_description& d) {
    words w(line);
    const std::string first = w.next();
    if (first.empty()) return true;
    if (first == "kernel" || first == "ptx")
        return !((first == "ptx" ? d.ptx : d.kernel) = w.next()).empty() && w.done();
    if (first == "block") return read_extent(w, d.launch.block);
    if (first == "cluster") return read_extent(w, d.launch.cluster);
    if (first == "grid") {
        px::extent3 e{};
        if (!read_extent(w, e)) return false;
        d.launch.grid = {e.x, e.y, e.z};
        return true;
    }
    if (first == "shared") {
        const auto n = w.numbers();
        if (n.size() != 1 || n[0] > 1 << 20 || !w.done()) return false;
        d.launch.dynamic_shared_bytes = static_cast<std::uint32_t>(n[0]);
        return true;
    }
    if (first == "programmatic") {
        d.launch.programmatic = true;
        return w.done();
    }
    printed_parameter p;
    using kind = printed_parameter::kind;
    const bool number = first == "u32" || first == "u64" || first == "f32";
    if (!number && first != "tensor" && first != "table" && first != "map") return false;
    p.what = number ? kind::number : first == "tensor" ? kind::tensor : first == "table" ? kind::table : kind::map;
    bool read = false;
    if (number)
        read = read_number(first, w, p);
    else if (p.what == kind::map)
        read = read_map(w, p);
    else
        read = !(p.name = w.next()).empty() && w.done();
    d.parameters.push_back(std::move(p));
    return read;
}

[[nodiscard]] inline px::result<std::string> text_of(const std::filesystem::path& file) {
    std::ifstream in(file, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    if (!in) return px::error{px::errc::bad_argument, fmt::format("cannot read {}", file.string())};
    return text.str();
}

}  // namespace printed_detail

/// Reads a description; `name` is for messages.
[[nodiscard]] inline px::result<printed_description> read_description(std::string_view text, std::string_view name) {
    printed_description d;
    d.launch.grid = {0};  // until a line gives it
    const auto wrong = [&](std::size_t line, std::string_view what) {
        return px::error{px::errc::bad_argument, fmt::format("{}:{}: {}", name, line, what)};
    };
    std::size_t number = 0;
    for (std::string_view rest = text; !rest.empty();) {
        const auto end = std::min(rest.find('\n'), rest.size());
        const std::string_view line = rest.substr(0, end);
        rest.remove_prefix(std::min(end + 1, rest.size()));
        ++number;
        if (!printed_detail::read_line(line, d))
            return wrong(number, fmt::format("`{}` is no line of a description (see bench/printed_kernel.hpp)", line));
    }
    if (d.kernel.empty() || d.ptx.empty() || d.launch.grid.x == 0 || !d.launch.block.given())
        return wrong(number, "a description needs the lines kernel, ptx, grid and block");
    return d;
}

/// Such a kernel, loaded and bound to tensors, which outlive it.
class printed_kernel {
public:
    /// `tensors`: addresses by name. Errors: the description's, a tensor it names and we have not, those of loading.
    static px::result<printed_kernel> load(const px::context& ctx, const std::filesystem::path& file,
                                           const std::map<std::string, std::uint64_t>& tensors) {
        const auto text = printed_detail::text_of(file);
        if (!text) return text.error();
        auto description = read_description(*text, file.string());
        if (!description) return description.error();
        const auto ptx = printed_detail::text_of(file.parent_path() / description->ptx);
        if (!ptx) return ptx.error();
        auto module = px::load_module(ctx, *ptx, {.name = description->kernel});
        if (!module) return module.error();
        printed_kernel k(std::move(*description), std::move(*module));
        for (const printed_parameter& p : k.description_.parameters)
            if (auto e = k.bind(ctx, p, file, tensors)) return e;
        return k;
    }

    [[nodiscard]] px::result<void> launch(px::stream_ref s) {
        std::vector<void*> arguments;
        for (std::uint64_t& v : values_) arguments.push_back(&v);
        px::kernel_resources resources;
        resources.uses_pdl_wait = description_.launch.programmatic;
        return px::launch_untyped(module_, description_.kernel, s, description_.launch, arguments, resources);
    }
    [[nodiscard]] const printed_description& description() const { return description_; }

private:
    printed_kernel(printed_description d, px::loaded_module m) : description_(std::move(d)), module_(std::move(m)) {}

    px::error bind(const px::context& ctx, const printed_parameter& p, const std::filesystem::path& file,
                   const std::map<std::string, std::uint64_t>& tensors) {
        using kind = printed_parameter::kind;
        if (p.what == kind::number) return values_.push_back(p.number), px::error{};
        if (p.what == kind::table) return bind_table(ctx, file.parent_path() / p.name);
        const auto tensor = tensors.find(p.name);
        if (tensor == tensors.end())
            return {px::errc::bad_argument, fmt::format("{}: there is no tensor '{}' here", file.string(), p.name)};
        if (p.what == kind::tensor) return values_.push_back(tensor->second), px::error{};
        px::tensor_geometry g = p.geometry;
        g.address = tensor->second;
        const auto map = px::encode_tensor_map(ctx, p.map, g, p.name);
        if (!map) return map.error();
        const auto bytes = std::bit_cast<std::array<std::uint32_t, 32>>(*map);
        return keep(ctx, {bytes.begin(), bytes.end()});
    }
    px::error bind_table(const px::context& ctx, const std::filesystem::path& file) {
        const auto text = printed_detail::text_of(file);
        if (!text) return text.error();
        std::istringstream in(*text);
        std::vector<std::uint32_t> numbers;
        for (std::string word; in >> word;) {
            const auto n = printed_detail::words::whole(word);
            if (!n || *n > 0xffffffff)
                return {px::errc::bad_argument, fmt::format("{}: '{}' is no 32-bit number", file.string(), word)};
            numbers.push_back(static_cast<std::uint32_t>(*n));
        }
        if (numbers.empty()) return {px::errc::bad_argument, fmt::format("{}: an empty table", file.string())};
        return keep(ctx, numbers);
    }
    /// A copy on the device, whose address is the next argument. (The driver's allocations are aligned to 256 bytes.)
    px::error keep(const px::context& ctx, const std::vector<std::uint32_t>& words) {
        auto copy = px::device_buffer<std::uint32_t>::from(ctx, words);
        if (!copy) return copy.error();
        values_.push_back(copy->ptr().address);
        memory_.push_back(std::move(*copy));
        return {};
    }

    printed_description description_;
    px::loaded_module module_;
    std::vector<px::device_buffer<std::uint32_t>> memory_;
    std::vector<std::uint64_t> values_;
};

}  // namespace bench
