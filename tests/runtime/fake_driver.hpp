// SPDX-License-Identifier: Apache-2.0
// A driver that is not there: answers like one with two Hopper GPUs, records what it is asked, fails where told to.
// Installed with `fake_driver f;` for the life of `f`; its functions may be called from many threads.
#pragma once

#include <ptxdsl/runtime.hpp>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace ptxdsl_test {

namespace px = ptxdsl;
namespace cu = ptxdsl::cu;

/// One launch as the driver saw it.
struct seen_launch {
    cu::launch_config config{};
    std::vector<cu::launch_attribute> attributes;
    cu::function function = nullptr;
    cu::context current = nullptr;
    std::vector<std::vector<unsigned char>> arguments;  ///< as many bytes of each as `argument_sizes` says
};

/// One copy or fill as the driver saw it.
struct seen_transfer {
    std::string call;
    cu::deviceptr to = 0, from = 0;  ///< device memory; 0: of the host
    const void* host = nullptr;
    std::size_t count = 0;  ///< bytes; of `memset_d32_async` words
    unsigned value = 0;
    cu::stream stream = nullptr;
};

class fake_driver {
public:
    // What the test sets.
    int devices = 2;
    int cuda_version = 13000;
    int major = 9, minor = 0;
    int clusters = 1;
    bool alive = true;
    std::size_t free_memory = 1 << 20;
    std::map<std::string, cu::status> fail;  ///< status of a call, by its name
    std::string jit_log;                     ///< with it, loading fails with invalid_ptx
    int static_shared = 0;
    int function_max_threads = 1024;
    std::vector<std::size_t> argument_sizes;
    bool keep_launches = true;

    // What it records.
    std::mutex mutex;
    std::vector<std::string> calls;
    std::vector<seen_launch> launches;
    std::vector<seen_transfer> transfers;
    std::vector<const void*> images;                 ///< of modules
    std::string loaded_text;                         ///< the last text it was given
    std::vector<unsigned long long> tensor_numbers;  ///< sizes, then strides, then box of the last tiled map
    std::atomic<int> launch_count{0};
    std::atomic<int> retained{0};
    std::atomic<int> modules{0};
    std::atomic<long long> live_bytes{0};

    fake_driver() : previous_(self()), override_(fill()) { self() = this; }
    ~fake_driver() { self() = previous_; }
    fake_driver(const fake_driver&) = delete;
    fake_driver& operator=(const fake_driver&) = delete;

    int count(const std::string& call) {
        const std::lock_guard lock(mutex);
        return static_cast<int>(std::count(calls.begin(), calls.end(), call));
    }
    /// The context current on the calling thread.
    static cu::context current() { return stack().empty() ? nullptr : stack().back(); }
    static std::size_t depth() { return stack().size(); }
    static std::vector<cu::context>& stack() {
        static thread_local std::vector<cu::context> s;
        return s;
    }
    px::driver_table& table() { return table_; }
    void set_version(int v) {
        cuda_version = v;
        table_.version = v;
    }

private:
    static fake_driver*& self() {
        static fake_driver* s = nullptr;
        return s;
    }
    static cu::status note(const char* call) {
        fake_driver& f = *self();
        const std::lock_guard lock(f.mutex);
        f.calls.emplace_back(call);
        const auto it = f.fail.find(call);
        return it == f.fail.end() ? cu::status::success : it->second;
    }
    static cu::status transfer(const seen_transfer& seen) {
        {
            const std::lock_guard lock(self()->mutex);
            self()->transfers.push_back(seen);
        }
        return note(seen.call.c_str());
    }
    template <class T>
    static T handle(std::uintptr_t n) {
        return reinterpret_cast<T>(n);
    }
    static int attribute(cu::device_attribute a) {
        using d = cu::device_attribute;
        fake_driver& f = *self();
        switch (a) {
            case d::compute_capability_major: return f.major;
            case d::compute_capability_minor: return f.minor;
            case d::multiprocessor_count: return 132;
            case d::l2_cache_size: return 50 << 20;
            case d::max_shared_memory_per_block: return 48 << 10;
            case d::max_shared_memory_per_block_optin: return 227 << 10;
            case d::max_shared_memory_per_multiprocessor: return 228 << 10;
            case d::max_threads_per_block: return 1024;
            case d::max_block_dim_x: return 1024;
            case d::max_block_dim_y: return 1024;
            case d::max_block_dim_z: return 64;
            case d::max_grid_dim_x: return 2147483647;
            case d::max_grid_dim_y: return 65535;
            case d::max_grid_dim_z: return 65535;
            case d::cluster_launch: return f.clusters;
            case d::cooperative_launch: return 1;
            case d::pageable_memory_access: return 0;
        }
        return 0;
    }

    px::driver_table& fill() {
        using st = cu::status;
        px::driver_table& t = table_;
        t.version = cuda_version;
        t.get_error_name = [](st s, const char** out) {
            *out = s == st::illegal_address ? "CUDA_ERROR_ILLEGAL_ADDRESS" : "CUDA_ERROR_FAKE";
            return st::success;
        };
        t.get_error_string = [](st, const char** out) {
            *out = "as the test asked";
            return st::success;
        };
        t.device_get_count = [](int* n) {
            *n = self()->devices;
            return note("device_get_count");
        };
        t.device_get = [](cu::device* d, int ordinal) {
            *d = ordinal;
            return st::success;
        };
        t.device_get_name = [](char* out, int n, cu::device) {
            std::strncpy(out, "Fake H200", static_cast<std::size_t>(n));
            return st::success;
        };
        t.device_get_attribute = [](int* out, cu::device_attribute a, cu::device) {
            *out = attribute(a);
            return st::success;
        };
        t.device_total_mem = [](std::size_t* out, cu::device) {
            *out = 1 << 30;
            return st::success;
        };
        t.primary_ctx_retain = [](cu::context* out, cu::device d) {
            ++self()->retained;
            *out = handle<cu::context>(0x1000u + static_cast<unsigned>(d));
            return note("primary_ctx_retain");
        };
        t.primary_ctx_release = [](cu::device) {
            --self()->retained;
            return st::success;
        };
        fill_contexts(t);
        fill_modules(t);
        fill_memory(t);
        fill_streams(t);
        fill_maps(t);
        return t;
    }

    static void fill_contexts(px::driver_table& t) {
        using st = cu::status;
        t.ctx_push_current = [](cu::context c) {
            stack().push_back(c);
            return note("ctx_push_current");
        };
        t.ctx_pop_current = [](cu::context* c) {
            *c = current();
            stack().pop_back();
            return note("ctx_pop_current");
        };
        t.ctx_get_current = [](cu::context* c) {
            *c = current();
            return st::success;
        };
        t.ctx_get_device = [](cu::device* d) {
            *d = static_cast<cu::device>(reinterpret_cast<std::uintptr_t>(current()) - 0x1000u);
            return st::success;
        };
        t.ctx_synchronize = [] { return note("ctx_synchronize"); };
    }

    static void fill_modules(px::driver_table& t) {
        using st = cu::status;
        t.module_load_data_ex = [](cu::module_* m, const void* image, unsigned n, cu::jit_option* keys, void** values) {
            const st s = note("module_load_data_ex");
            self()->images.push_back(image);
            const std::string& log = self()->jit_log;
            if (!log.empty()) {
                for (unsigned i = 0; i < n; ++i)
                    if (keys[i] == cu::jit_option::error_log_buffer)
                        std::memcpy(values[i], log.c_str(), log.size() + 1);
                return st::invalid_ptx;
            }
            self()->loaded_text = static_cast<const char*>(image);
            *m = handle<cu::module_>(0x2000u + static_cast<unsigned>(++self()->modules));
            return s;
        };
        t.module_unload = [](cu::module_) {
            --self()->modules;
            return st::success;
        };
        t.module_get_function = [](cu::function* f, cu::module_ m, const char* name) {
            *f = handle<cu::function>(reinterpret_cast<std::uintptr_t>(m) + 0x1000u + std::strlen(name));
            return note("module_get_function");
        };
        t.func_get_attribute = [](int* out, cu::function_attribute a, cu::function) {
            *out = a == cu::function_attribute::max_threads_per_block ? self()->function_max_threads
                   : a == cu::function_attribute::shared_size_bytes   ? self()->static_shared
                                                                      : 32;
            return st::success;
        };
        t.func_set_attribute = [](cu::function, cu::function_attribute a, int value) {
            return note(a == cu::function_attribute::max_dynamic_shared_size_bytes
                            ? fmt::format("max_dynamic {}", value).c_str()
                            : "non_portable");
        };
        t.launch_kernel_ex = [](const cu::launch_config* c, cu::function f, void** arguments, void**) {
            fake_driver& d = *self();
            ++d.launch_count;
            if (!d.keep_launches) return st::success;
            seen_launch l;
            l.config = *c;
            l.attributes.assign(c->attrs, c->attrs + c->num_attrs);
            l.function = f;
            l.current = current();
            for (std::size_t i = 0; i < d.argument_sizes.size(); ++i) {
                const auto* bytes = static_cast<const unsigned char*>(arguments[i]);
                l.arguments.emplace_back(bytes, bytes + d.argument_sizes[i]);
            }
            const st s = note("launch_kernel_ex");
            const std::lock_guard lock(d.mutex);
            d.launches.push_back(std::move(l));
            return s;
        };
    }

    static void fill_memory(px::driver_table& t) {
        using st = cu::status;
        t.mem_get_info = [](std::size_t* free, std::size_t* total) {
            *free = self()->free_memory;
            *total = 1 << 30;
            return st::success;
        };
        t.mem_alloc = [](cu::deviceptr* p, std::size_t n) {
            if (n > self()->free_memory) return st::out_of_memory;
            *p = 0x7000'0000u + 0x10'0000u * static_cast<unsigned>(self()->live_bytes % 64);
            ++self()->live_bytes;
            return note("mem_alloc");
        };
        t.mem_free = [](cu::deviceptr) {
            --self()->live_bytes;
            return note("mem_free");
        };
        t.memcpy_htod_async = [](cu::deviceptr to, const void* from, std::size_t n, cu::stream s) {
            return transfer({"memcpy_htod_async", to, 0, from, n, 0, s});
        };
        t.memcpy_dtoh_async = [](void* to, cu::deviceptr from, std::size_t n, cu::stream s) {
            return transfer({"memcpy_dtoh_async", 0, from, to, n, 0, s});
        };
        t.memcpy_dtod_async = [](cu::deviceptr to, cu::deviceptr from, std::size_t n, cu::stream s) {
            return transfer({"memcpy_dtod_async", to, from, nullptr, n, 0, s});
        };
        t.memset_d8_async = [](cu::deviceptr to, unsigned char value, std::size_t n, cu::stream s) {
            return transfer({"memset_d8_async", to, 0, nullptr, n, value, s});
        };
        t.memset_d32_async = [](cu::deviceptr to, unsigned value, std::size_t n, cu::stream s) {
            return transfer({"memset_d32_async", to, 0, nullptr, n, value, s});
        };
        t.pointer_get_attribute = [](void* out, cu::pointer_attribute, cu::deviceptr p) {
            const unsigned device_memory = 2;
            std::memcpy(out, &device_memory, sizeof(device_memory));
            return p >= 0x7000'0000 && p < 0x8000'0000 ? st::success : st::invalid_value;
        };
    }

    static void fill_streams(px::driver_table& t) {
        using st = cu::status;
        t.stream_create_with_priority = [](cu::stream* s, unsigned, int) {
            *s = handle<cu::stream>(0x5000);
            return note("stream_create");
        };
        t.stream_destroy = [](cu::stream) { return note("stream_destroy"); };
        t.stream_synchronize = [](cu::stream) { return note("stream_synchronize"); };
        t.stream_query = [](cu::stream) { return note("stream_query"); };
        t.stream_wait_event = [](cu::stream, cu::event, unsigned) { return note("stream_wait_event"); };
        t.stream_begin_capture = [](cu::stream, cu::capture_mode) { return note("stream_begin_capture"); };
        t.stream_end_capture = [](cu::stream, cu::graph* g) {
            *g = handle<cu::graph>(0x6000);
            return note("stream_end_capture");
        };
        t.graph_instantiate_with_flags = [](cu::graph_exec* e, cu::graph, unsigned long long) {
            *e = handle<cu::graph_exec>(0x6100);
            return note("graph_instantiate");
        };
        t.graph_launch = [](cu::graph_exec, cu::stream) { return note("graph_launch"); };
        t.graph_destroy = [](cu::graph) { return note("graph_destroy"); };
        t.graph_exec_destroy = [](cu::graph_exec) { return note("graph_exec_destroy"); };
        t.event_create = [](cu::event* e, unsigned) {
            *e = handle<cu::event>(0x6200);
            return note("event_create");
        };
        t.event_destroy = [](cu::event) { return note("event_destroy"); };
        t.event_record = [](cu::event, cu::stream) { return note("event_record"); };
        t.event_synchronize = [](cu::event) { return note("event_synchronize"); };
        t.event_query = [](cu::event) { return note("event_query"); };
        t.event_elapsed_time = [](float* ms, cu::event, cu::event) {
            *ms = 1.5F;
            return st::success;
        };
    }

    static void fill_maps(px::driver_table& t) {
        t.tensor_map_encode_tiled = [](cu::tensor_map* out, cu::data_type type, std::uint32_t rank, void* base,
                                       const std::uint64_t* sizes, const std::uint64_t* strides,
                                       const std::uint32_t* box, const std::uint32_t*, int interleave, int swizzle,
                                       int promotion, int fill) {
            std::memset(out, 0, sizeof(*out));
            out->opaque[0] = reinterpret_cast<std::uint64_t>(base);
            out->opaque[1] = static_cast<std::uint64_t>(type);
            out->opaque[2] = static_cast<std::uint64_t>(interleave * 1000 + swizzle * 100 + promotion * 10 + fill);
            fake_driver& f = *self();
            const cu::status s = note("tensor_map_encode_tiled");
            const std::lock_guard lock(f.mutex);
            f.tensor_numbers.assign(sizes, sizes + rank);
            f.tensor_numbers.insert(f.tensor_numbers.end(), strides, strides + rank - 1);
            f.tensor_numbers.insert(f.tensor_numbers.end(), box, box + rank);
            return s;
        };
        t.tensor_map_encode_im2col = [](cu::tensor_map* out, cu::data_type, std::uint32_t, void*, const std::uint64_t*,
                                        const std::uint64_t*, const int* lower, const int* upper,
                                        std::uint32_t channels, std::uint32_t pixels, const std::uint32_t*, int, int,
                                        int, int) {
            std::memset(out, 0, sizeof(*out));
            fake_driver& f = *self();
            const cu::status s = note("tensor_map_encode_im2col");
            const std::lock_guard lock(f.mutex);
            f.tensor_numbers = {static_cast<unsigned long long>(lower[0] + 1000),
                                static_cast<unsigned long long>(upper[0] + 1000), channels, pixels};
            return s;
        };
    }

    fake_driver* previous_;
    px::driver_table table_;
    px::driver_override override_;
};

/// A kernel as the DSL would give it, wholly its type.
template <class... P>
struct test_kernel {
    static std::string_view text() {
        return ".version 8.0\n.target sm_90a\n.address_size 64\n"
               ".visible .entry probe(.param .u64 p) {\n  ret;\n}\n";
    }
    static std::string_view name() { return "probe"; }
    static px::target target() { return px::sm_90a; }
    static px::ptx_version version() { return {8, 0}; }
    static px::kernel_resources resources() { return {0, 0, {128, 1, 1}, 0, {0, 0, 0}, false}; }
    static std::string_view param_name(std::size_t i) {
        constexpr std::string_view names[] = {"x", "y", "a", "n"};
        return i < 4 ? names[i] : "more";
    }
    using params = px::param_list<P...>;
};

/// A kernel as a value: text and resources are chosen by the test.
template <class... P>
struct value_kernel {
    std::string content = std::string(test_kernel<>::text());
    px::kernel_resources need = test_kernel<>::resources();
    px::target where = px::sm_90a;
    px::ptx_version of{8, 0};
    [[nodiscard]] std::string_view text() const { return content; }
    [[nodiscard]] std::string_view name() const { return "probe"; }
    [[nodiscard]] px::target target() const { return where; }
    [[nodiscard]] px::ptx_version version() const { return of; }
    [[nodiscard]] px::kernel_resources resources() const { return need; }
    [[nodiscard]] px::source_line source_of(std::uint32_t line) const { return {"kernel.cpp", line + 100}; }
    using params = px::param_list<P...>;
};

}  // namespace ptxdsl_test
