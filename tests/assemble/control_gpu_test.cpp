// SPDX-License-Identifier: Apache-2.0
// Runs every kernel of control_kernels.hpp on the GPU and compares each thread's word with C++. Exits 77 without a GPU.
#include "control_kernels.hpp"

#include <ptxdsl/runtime.hpp>

#include <cstdio>
#include <vector>

namespace {

namespace px = ptxdsl;

int run(const px::context& ctx, const control_kernels::entry& e) {
    const auto program = px::assemble_at_run_time(e.name, e.body, control_kernels::block);
    if (!program.ok()) {
        std::printf("%s: %s\n", e.name, program.error().data());
        return 1;
    }
    const auto kernel = px::load(ctx, program).value_or_throw();
    const auto stream = px::stream::create(ctx).value_or_throw();
    auto out = px::device_buffer<px::u32>::allocate(ctx, 64).value_or_throw();
    std::vector<px::u32> host(64, 0xdeadbeefu);
    px::check(out.upload(host));
    px::check(kernel.launch(stream, px::grid{1}, out));
    px::check(stream.synchronize());
    px::check(out.download(host));
    int wrong = 0;
    for (px::u32 i = 0; i < 64; ++i)
        if (host[i] != e.expected(i)) {
            if (wrong++ == 0) std::printf("%s: thread %u has %u, expected %u\n", e.name, i, host[i], e.expected(i));
        }
    std::printf("%s: %s\n", e.name, wrong == 0 ? "right in all 64 threads" : "WRONG");
    return wrong == 0 ? 0 : 1;
}

}  // namespace

int main() {
    const auto ctx = px::context::primary(0);
    if (!ctx) {
        std::printf("skipped: %s\n", ctx.error().message());
        return 77;
    }
    int failures = 0;
    for (const auto& e : control_kernels::all) failures += run(*ctx, e);
    return failures == 0 ? 0 : 1;
}
