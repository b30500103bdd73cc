// SPDX-License-Identifier: Apache-2.0
// Loading PTX and cubins: checked before the driver sees them, errors with the assembler's words and both source lines.
#pragma once

#include <ptxdsl/ir/signature.hpp>
#include <ptxdsl/runtime/context.hpp>

#include <charconv>
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

// Closed at the end of this file.
#include <ptxdsl/detail/prologue.hpp>

namespace ptxdsl {

/// How to load an image.
struct load_options {
    std::string_view name = {};                             ///< what messages call it: the kernel or the file
    std::function<source_line(std::uint32_t)> source = {};  ///< C++ line of a PTX line (counted from 1), if known
    bool line_info = false;                                 ///< keep `.loc` lines for profilers and debuggers
};

/// What the first lines of a PTX text declare.
struct ptx_header {
    std::optional<ptx_version> version;
    std::optional<ptxdsl::target> target;
};

namespace runtime_detail {

/// Skips blanks and comments.
[[nodiscard]] inline std::string_view skip_trivia(std::string_view s) noexcept {
    for (;;) {
        const auto start = s.find_first_not_of(" \t\r\n\f\v");
        if (start == std::string_view::npos) return {};
        s.remove_prefix(start);
        const bool line = s.starts_with("//");
        if (!line && !s.starts_with("/*")) return s;
        const auto end = line ? s.find('\n') : s.find("*/", 2);
        if (end == std::string_view::npos) return {};
        s.remove_prefix(end + (line ? 1 : 2));
    }
}

/// Reads a number off the front of `s`.
[[nodiscard]] inline std::optional<unsigned> take_number(std::string_view& s) noexcept {
    unsigned value = 0;
    const auto r = std::from_chars(s.data(), s.data() + s.size(), value);
    if (r.ec != std::errc{}) return std::nullopt;
    s.remove_prefix(static_cast<std::size_t>(r.ptr - s.data()));
    return value;
}

[[nodiscard]] inline bool take(std::string_view& s, std::string_view word) noexcept {
    if (!s.starts_with(word)) return false;
    s.remove_prefix(word.size());
    return true;
}

/// Line `number` (from 1) of a text, without its end.
[[nodiscard]] inline std::string_view line_of(std::string_view text, std::uint32_t number) noexcept {
    for (std::uint32_t i = 1; i < number; ++i) {
        const auto end = text.find('\n');
        if (end == std::string_view::npos) return {};
        text.remove_prefix(end + 1);
    }
    text = text.substr(0, text.find('\n'));
    const auto first = text.find_first_not_of(" \t");
    const auto last = text.find_last_not_of(" \t\r");
    return first == std::string_view::npos ? std::string_view{} : text.substr(first, last - first + 1);
}

}  // namespace runtime_detail

/// Reads `.version` and `.target`, which PTX has before anything else but comments.
[[nodiscard]] inline ptx_header read_header(std::string_view text) noexcept {
    ptx_header h;
    text = runtime_detail::skip_trivia(text);
    if (!runtime_detail::take(text, ".version")) return h;
    text = runtime_detail::skip_trivia(text);
    const auto major = runtime_detail::take_number(text);
    if (!major || !runtime_detail::take(text, ".")) return h;
    const auto minor = runtime_detail::take_number(text);
    if (!minor) return h;
    h.version = ptx_version{static_cast<std::uint8_t>(*major), static_cast<std::uint8_t>(*minor)};
    text = runtime_detail::skip_trivia(text);
    if (!runtime_detail::take(text, ".target")) return h;
    text = runtime_detail::skip_trivia(text);
    if (!runtime_detail::take(text, "sm_")) return h;
    const ptxdsl::target t = target_numbered(text.substr(0, text.find_first_of(" \t\r\n,/")));
    if (t.at_least(1)) h.target = t;
    return h;
}

namespace runtime_detail {

/// What a kernel for this device alone is assembled for.
[[nodiscard]] inline target own_target(const context_state& c) {
    target own{static_cast<std::uint16_t>(c.info.major * 10 + c.info.minor), 'a'};
    if (!own.known()) own.suffix = 0;
    return own;
}

/// J03: a kernel for an architecture this device is not.
inline error check_target(const context_state& c, std::string_view kernel, target t) {
    if (runs_on(t, c.info.major, c.info.minor)) return {};
    const char* rule = t.suffix == 'a'   ? "an 'a' target runs on exactly that architecture"
                       : t.suffix == 'f' ? "an 'f' target runs only within its family"
                                         : "code runs on its own and later architectures only";
    return {
        errc::wrong_target,
        fmt::format(
            "PTXDSL-J03: kernel '{}' is for {} but {} is not one: {}; assemble the kernel for {} or choose another device",
            kernel, target_text(t), c.info.text(), rule, target_text(own_target(c)))};
}

/// J04: PTX newer than the driver's assembler.
inline error check_version(const context_state& c, std::string_view kernel, ptx_version v) {
    const auto newest = ptx_of_driver(c.driver->version);
    if (!newest || v <= *newest) return {};
    const int needed = driver_for_ptx(v);
    return {
        errc::ptx_too_new,
        fmt::format(
            "PTXDSL-J04: kernel '{}' is PTX {}.{} but the installed driver (CUDA {}) assembles PTX {}.{} at most; install a driver for CUDA {} or newer, or assemble the kernel "
            "without the forms that need PTX {}.{}",
            kernel, v.major, v.minor, cuda_version_text(c.driver->version), newest->major, newest->minor,
            needed != 0 ? cuda_version_text(needed) : std::string("of that release"), v.major, v.minor)};
}

/// The assembler's first complaint: the line it names (0 if none) and its words.
struct log_line {
    std::uint32_t line = 0;
    std::string_view text;
};

[[nodiscard]] inline log_line first_complaint(std::string_view log) {
    log_line fallback;
    while (!log.empty()) {
        const auto end = log.find('\n');
        std::string_view row = line_of(log, 1);
        log.remove_prefix(end == std::string_view::npos ? log.size() : end + 1);
        if (row.empty()) continue;
        if (fallback.text.empty()) fallback.text = row;
        const auto at = row.find("line ");
        if (at == std::string_view::npos) continue;
        std::string_view number = row.substr(at + 5);
        if (const auto n = take_number(number)) return {*n, row};
    }
    return fallback;
}

/// J05: the driver's assembler refused the text.
inline error rejected(const context_state& c, cu::status s, std::string_view text, std::string log,
                      const load_options& o) {
    const log_line first = first_complaint(log);
    std::string words =
        fmt::format("PTXDSL-J05: the driver's assembler refused kernel '{}' on {}: {}", o.name, c.info.text(),
                    first.text.empty() ? status_text(*c.driver, s) : std::string(first.text));
    if (first.line != 0) {
        words += fmt::format("; PTX line {}: `{}`", first.line, line_of(text, first.line));
        const source_line from = o.source ? o.source(first.line) : source_line{};
        if (from.line != 0) words += fmt::format("; written at {}:{}", from.file, from.line);
    }
    words += "; correct the instruction (the complete log is in error::log)";
    return {errc::ptx_rejected, std::move(words), s, std::move(log)};
}

/// Whether the status says that the image, not the machine, is at fault.
[[nodiscard]] constexpr bool is_image_fault(cu::status s) noexcept {
    return s == cu::status::invalid_ptx || s == cu::status::invalid_image || s == cu::status::no_binary_for_gpu ||
           s == cu::status::unsupported_ptx_version;
}

/// Loads `m.image`. The caller holds `m.mutex`.
inline error load_image(const context_state& c, module_entry& m, const load_options& o) {
    std::string info(8 << 10, '\0');
    std::string errors(64 << 10, '\0');
    const auto as_value = [](std::size_t n) { return reinterpret_cast<void*>(n); };
    cu::jit_option keys[] = {cu::jit_option::info_log_buffer, cu::jit_option::info_log_buffer_size_bytes,
                             cu::jit_option::error_log_buffer, cu::jit_option::error_log_buffer_size_bytes,
                             cu::jit_option::generate_line_info};
    void* values[] = {info.data(), as_value(info.size()), errors.data(), as_value(errors.size()),
                      as_value(o.line_info ? 1 : 0)};
    const current_context current(c);
    if (current.status() != cu::status::success)
        return driver_failed(*c.driver, current.status(),
                             fmt::format("loading kernel '{}' on {}", o.name, c.info.text()));
    const unsigned count = o.line_info ? 5 : 4;
    const auto s = c.driver->module_load_data_ex(&m.handle, m.image.c_str(), count, keys, values);
    if (s == cu::status::success) return {};
    m.handle = nullptr;
    errors.resize(std::min(errors.find('\0'), errors.size()));
    if (is_image_fault(s) || !errors.empty()) return rejected(c, s, m.image, std::move(errors), o);
    if (s == cu::status::jit_compiler_not_found)
        return {
            errc::driver_error,
            "libnvidia-ptxjitcompiler.so.1 is missing: the driver is installed without its PTX assembler; install the driver's complete set of libraries",
            s};
    return driver_failed(*c.driver, s, fmt::format("loading kernel '{}' on {}", o.name, c.info.text()));
}

/// Names of the entries a PTX text defines, for the message about one that is missing.
inline std::string entry_names(std::string_view text) {
    std::string names;
    for (auto at = text.find(".entry"); at != std::string_view::npos; at = text.find(".entry")) {
        text = skip_trivia(text.substr(at + 6));
        const auto end = std::min(text.find_first_of(" \t\r\n({"), text.size());
        names += fmt::format("{}'{}'", names.empty() ? "" : ", ", text.substr(0, end));
        if (names.size() > 200) return names + ", ...";
    }
    return names.empty() ? "none" : names;
}

inline void read_kernel_facts(const driver_table& t, kernel_slot& k) {
    const auto get = [&](cu::function_attribute a) {
        int value = 0;
        return t.func_get_attribute(&value, a, k.function) == cu::status::success ? static_cast<std::uint32_t>(value)
                                                                                  : 0u;
    };
    k.static_shared = get(cu::function_attribute::shared_size_bytes);
    k.max_threads = get(cu::function_attribute::max_threads_per_block);
    k.registers = get(cu::function_attribute::num_regs);
    k.local_bytes = get(cu::function_attribute::local_size_bytes);
    k.dynamic_allowed = k.static_shared < shared_without_optin ? shared_without_optin - k.static_shared : 0;
}

/// The slot of an entry, looked up in the driver once.
inline result<kernel_slot*> find_kernel(const context_state& c, module_entry& m, std::string_view name) {
    const std::lock_guard lock(m.mutex);
    if (const auto it = m.kernels.find(name); it != m.kernels.end()) return it->second.get();
    auto slot = std::make_unique<kernel_slot>();
    slot->name = name;
    const current_context current(c);
    const auto s = current.status() == cu::status::success
                       ? c.driver->module_get_function(&slot->function, m.handle, slot->name.c_str())
                       : current.status();
    if (s == cu::status::not_found)
        return error{errc::kernel_not_found,
                     fmt::format("the module has no kernel '{}'; its entries are: {}", name, entry_names(m.image)), s};
    if (s != cu::status::success)
        return driver_failed(*c.driver, s, fmt::format("looking up kernel '{}' on {}", name, c.info.text()));
    read_kernel_facts(*c.driver, *slot);
    kernel_slot* raw = slot.get();
    m.kernels.emplace(slot->name, std::move(slot));
    return raw;
}

/// The cached, loaded entry for an image. A failed load is not remembered: the next call tries again.
inline result<module_entry*> load_cached(context_state& c, std::string_view image, const load_options& o) {
    module_entry& m = c.entry(image);
    const std::lock_guard lock(m.mutex);
    if (m.handle == nullptr)
        if (auto e = load_image(c, m, o)) return e;
    return &m;
}

inline result<module_entry*> load_text(context_state& c, std::string_view ptx, const load_options& o) {
    if (!ptx.empty() && ptx.back() == '\0') ptx.remove_suffix(1);
    if (ptx.find('\0') != std::string_view::npos)
        return error{
            errc::ptx_rejected,
            fmt::format(
                "PTXDSL-J05: the PTX of kernel '{}' has a NUL character inside, where the driver would stop reading; pass text only",
                o.name)};
    const ptx_header h = read_header(ptx);
    if (!h.version)
        return error{
            errc::ptx_rejected,
            fmt::format("PTXDSL-J05: the text of kernel '{}' does not begin with a `.version` directive; it is not PTX",
                        o.name)};
    if (auto e = check_version(c, o.name, *h.version)) return e;
    if (h.target)
        if (auto e = check_target(c, o.name, *h.target)) return e;
    return load_cached(c, ptx, o);
}

}  // namespace runtime_detail

/// A loaded image of one context. A handle: copies share the image, which stays loaded as long as its context lives.
class loaded_module {
public:
    loaded_module(std::shared_ptr<runtime_detail::context_state> c, runtime_detail::module_entry& m) noexcept
        : state_(std::move(c)), entry_(&m) {}
    [[nodiscard]] cu::module_ handle() const noexcept { return entry_->handle; }
    /// One of its kernels, for `launch_untyped`. Error: `kernel_not_found`, with the names there are.
    [[nodiscard]] result<runtime_detail::kernel_slot*> kernel(std::string_view name) const {
        return runtime_detail::find_kernel(*state_, *entry_, name);
    }
    [[nodiscard]] const std::shared_ptr<runtime_detail::context_state>& state() const noexcept { return state_; }

private:
    std::shared_ptr<runtime_detail::context_state> state_;
    runtime_detail::module_entry* entry_;
};

/// Loads PTX text; the same text is loaded once per context. Errors: `wrong_target`, `ptx_too_new` (both before the
/// driver sees the text), `ptx_rejected`. A failed load leaves the context usable.
inline result<loaded_module> load_module(const context& ctx, std::string_view ptx, const load_options& options = {}) {
    const auto m = runtime_detail::load_text(*ctx.state(), ptx, options);
    if (!m) return m.error();
    return loaded_module(ctx.state(), **m);
}

/// Loads a cubin or fatbin.
inline result<loaded_module> load_cubin(const context& ctx, std::span<const std::byte> image,
                                        const load_options& options = {}) {
    const auto m =
        runtime_detail::load_cached(*ctx.state(), {reinterpret_cast<const char*>(image.data()), image.size()}, options);
    if (!m) return m.error();
    return loaded_module(ctx.state(), **m);
}

}  // namespace ptxdsl

#include <ptxdsl/detail/epilogue.hpp>
