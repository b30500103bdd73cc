// SPDX-License-Identifier: Apache-2.0
// Three forms of the matrix product and a norm from the compiled library, on a driver that is not there.
#include "../../runtime/fake_driver.hpp"

#include <ptxdsl/kernels.hpp>

#include <cstdio>

namespace px = ptxdsl;
namespace kn = ptxdsl::kernels;

px::result<void> own_configuration(const px::stream& s, px::tensor_view<const px::bf16, 2> a,
                                   px::tensor_view<const px::bf16, 2> b, px::tensor_view<px::bf16, 2> c);

int main() {
    ptxdsl_test::fake_driver driver;
    const auto ctx = px::check(px::context::primary(0));
    const auto s = px::check(px::stream::create(ctx));
    const px::tensor_view a(px::device_ptr<const px::bf16>(0x1000000), 256, 512);
    const px::tensor_view b(px::device_ptr<const px::bf16>(0x2000000), 1024, 512);
    const px::tensor_view c(px::device_ptr<px::bf16>(0x3000000), 256, 1024);
    const px::tensor_view half(px::device_ptr<px::bf16>(0x4000000), 256, 512);
    const px::tensor_view w(px::device_ptr<const px::bf16>(0x5000000), 512);
    px::check(kn::gemm(s, a, b, c));
    px::check(kn::gemm<kn::gemm_form{.act = kn::activation::gelu, .bias = true}>(
        s, a, b, c, {.bias = px::device_ptr<const px::bf16>(0x6000000)}));
    px::check(kn::gemm<kn::gemm_form{.act = kn::activation::silu, .gated = true}>(s, a, b, half));
    px::check(kn::rms_norm(s, a, w, half));
    px::check(own_configuration(s, a, b, c));
    std::printf("%d launches\n", driver.launch_count.load());
    return driver.launch_count == 5 ? 0 : 1;
}
