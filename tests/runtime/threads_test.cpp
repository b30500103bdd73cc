// SPDX-License-Identifier: Apache-2.0
// Many threads, two devices, one kernel: loads happen once, launches do not disturb each other. Meant to run under TSan
// too.
#include "catch.hpp"
#include "fake_driver.hpp"

#include <thread>

using namespace ptxdsl_test;

namespace {
template <class Work>
void in_threads(int count, Work work) {
    std::vector<std::thread> threads;
    for (int i = 0; i < count; ++i) threads.emplace_back([=] { work(i); });
    for (auto& t : threads) t.join();
}
}  // namespace

TEST_CASE("one text is loaded once however many threads ask") {
    fake_driver f;
    f.keep_launches = false;
    const auto zero = px::context::primary(0).value_or_throw();
    const auto one = px::context::primary(1).value_or_throw();
    std::atomic<int> failures{0};
    in_threads(8, [&](int i) {
        const auto s = px::stream::create(i % 2 == 0 ? zero : one);
        for (int n = 0; s && n < 500; ++n)
            if (!px::launch(*s, test_kernel<px::u32>{}, px::grid{1}, n)) ++failures;
        if (!s) ++failures;
    });
    CHECK(failures == 0);
    CHECK(f.launch_count == 8 * 500);
    CHECK(f.count("module_load_data_ex") == 2);
    CHECK(f.count("module_get_function") == 2);
}

TEST_CASE("a handle is launched from many threads; attributes are raised once") {
    fake_driver f;
    f.keep_launches = false;
    const auto ctx = px::context::primary(0).value_or_throw();
    const auto k = px::load(ctx, test_kernel<px::u32>{}).value_or_throw();
    std::atomic<int> failures{0};
    in_threads(8, [&](int i) {
        const px::launch_config config{
            .grid = {16}, .cluster = {16, 1, 1}, .dynamic_shared_bytes = 100 << 10, .non_portable_cluster = true};
        for (int n = 0; n < 500; ++n)
            if (!k.launch(cu::stream{nullptr}, config, i)) ++failures;
    });
    CHECK(failures == 0);
    CHECK(f.count("max_dynamic 102400") == 1);
    CHECK(f.count("non_portable") == 1);
}

TEST_CASE("threads that open and drop the same context do not leak it") {
    fake_driver f;
    f.keep_launches = false;
    std::atomic<int> failures{0};
    in_threads(8, [&](int i) {
        for (int n = 0; n < 100; ++n) {
            const auto ctx = px::context::primary(i % 2);
            if (!ctx || !px::load(*ctx, test_kernel<>{})) ++failures;
        }
    });
    CHECK(failures == 0);
    CHECK(f.retained == 0);
    CHECK(f.modules == 0);
}
