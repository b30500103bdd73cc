// SPDX-License-Identifier: Apache-2.0
#include <ptxdsl/ptxdsl.hpp>
#include <ptxdsl/runtime.hpp>

#include <cstdio>
#include <vector>

namespace px = ptxdsl;

constexpr void add_one(px::builder<px::sm_90a>& k, px::global_ptr<float> data, px::reg<px::u32> count) {
    const auto i = k.mad_lo(k.mov(px::ctaid.x), k.mov(px::ntid.x), k.mov(px::tid.x));
    k.if_(i < count, [&] {
        const auto p = data + i;
        k.st(p, k.ld(p) + 1.0f);
    });
}

constexpr auto add_one_ptx = px::assemble<px::kernel<"add_one", add_one, px::attributes{.reqntid = {256}}>>();

int main() {
    const auto ctx = px::context::primary(0);
    if (!ctx) {
        std::printf("%s\n", ctx.error().message());
        return 77;
    }
    try {
        const auto stream = px::check(px::stream::create(*ctx));
        auto data = px::check(px::device_buffer<float>::from(*ctx, std::vector<float>(1000, 41.0f)));
        px::check(px::launch(stream, add_one_ptx, px::grid{4}, data, 1000u));
        px::check(stream.synchronize());
        std::vector<float> back(1000);
        px::check(data.download(back));
        std::printf("first %g, last %g\n", back.front(), back.back());
        return back.front() == 42.0f && back.back() == 42.0f ? 0 : 1;
    } catch (const px::exception& e) {
        std::printf("%s\n", e.what());
        return 1;
    }
}
