// SPDX-License-Identifier: Apache-2.0
// Launch arguments that do not fit the kernel.
// expect-1: PTXDSL-J01 "too few launch arguments"
// expect-2: PTXDSL-J01 "too many launch arguments"
// expect-3: PTXDSL-J01 "points to const elements but the kernel writes"
// expect-4: PTXDSL-J01 "not of its parameter's type"
// expect-5: PTXDSL-J01 "not of its parameter's type"
// expect-6: PTXDSL-J01 "another element type"
// expect-7: PTXDSL-J06 "nullptr"
// expect-8: PTXDSL-J01 "not a pointer"
// expect-9: PTXDSL-J01 "points to const elements but the kernel writes"
// expect-10: PTXDSL-J02 "another element type"
// expect-11: PTXDSL-J02 "another rank"
// expect-12: PTXDSL-J01 "not a tensor"
// expect-13: PTXDSL-J01 "view is of const elements"
// expect-14: PTXDSL-J02 "made for another parameter type"
// expect-15: PTXDSL-F02 "breaks a rule of tensor maps"
// expect-17: PTXDSL-J01 "third argument"
// expect-18: PTXDSL-J01 "third argument"
// expect-19: PTXDSL-J01 "first argument"
// expect-20: PTXDSL-J01 "second argument"
// expect-21: PTXDSL-J01 "second argument"
// expect-22: PTXDSL-J01 "px::check"
// control-16: what converts without loss of meaning
#include <ptxdsl/runtime.hpp>

namespace px = ptxdsl;

template <px::u32 Rows>
struct map_of {
    static constexpr px::tensor_map_spec spec = [] {
        px::tensor_map_spec s;
        s.element = px::isa::scalar::bf16;
        s.rank = 2;
        s.box[0] = 64;
        s.box[1] = Rows;
        return s;
    }();
};

struct kernel {
    static std::string_view text() { return ".version 8.0\n.target sm_90a\n"; }
    static std::string_view name() { return "k"; }
    static px::target target() { return px::sm_90a; }
    static px::ptx_version version() { return {8, 0}; }
    static px::kernel_resources resources() { return {}; }
};
struct saxpy : kernel {
    using params = px::param_list<px::pointer_param<const float>, px::pointer_param<float>, float, px::u32>;
};
struct copy : kernel {
    using params = px::param_list<px::tensor_map_param<map_of<64>>, px::tensor_map_param<map_of<64>, true>>;
};

void launches(const px::stream& s, const float* x, float* y, px::u32 n, px::tensor_view<const px::bf16, 2> a,
              px::tensor_view<px::bf16, 2> b) {
    const px::grid g{1};
#if PTXDSL_CASE == 1
    (void)px::launch(s, saxpy{}, g, x, y, 2.0F);
#elif PTXDSL_CASE == 2
    (void)px::launch(s, saxpy{}, g, x, y, 2.0F, n, n);
#elif PTXDSL_CASE == 3
    (void)px::launch(s, saxpy{}, g, y, x, 2.0F, n);
#elif PTXDSL_CASE == 4
    (void)px::launch(s, saxpy{}, g, x, y, 2.0, n);
#elif PTXDSL_CASE == 5
    (void)px::launch(s, saxpy{}, g, x, y, 2.0F, 1.0F);
#elif PTXDSL_CASE == 6
    (void)px::launch(s, saxpy{}, g, x, reinterpret_cast<double*>(y), 2.0F, n);
#elif PTXDSL_CASE == 7
    (void)px::launch(s, saxpy{}, g, x, nullptr, 2.0F, n);
#elif PTXDSL_CASE == 8
    (void)px::launch(s, saxpy{}, g, x, reinterpret_cast<px::u64>(y), 2.0F, n);
#elif PTXDSL_CASE == 9
    (void)px::launch(s, saxpy{}, g, x, px::device_ptr<const float>(y), 2.0F, n);
#elif PTXDSL_CASE == 10
    (void)px::launch(s, copy{}, g, px::tensor_view{x, 64, 64}, b);
#elif PTXDSL_CASE == 11
    (void)px::launch(s, copy{}, g, px::tensor_view{a.data(), 1, 64, 64}, b);
#elif PTXDSL_CASE == 12
    (void)px::launch(s, copy{}, g, a.data(), b);
#elif PTXDSL_CASE == 13
    (void)px::launch(s, copy{}, g, a, a);
#elif PTXDSL_CASE == 14
    (void)px::launch(s, copy{}, g, px::make_tensor_map<map_of<32>>(s.ctx(), a).value_or_throw(), b);
#elif PTXDSL_CASE == 15
    (void)px::make_tensor_map<map_of<300>>(s.ctx(), a).value_or_throw();
#elif PTXDSL_CASE == 16
    (void)px::launch(s, saxpy{}, g, y, y, 2.0F, std::size_t{n});
    (void)px::launch(s, saxpy{}, g, px::device_ptr<float>(y), px::device_ptr<float>(y), 2.0F, 100);
    (void)px::launch(s, copy{}, g, px::make_tensor_map<map_of<64>>(s.ctx(), a).value_or_throw(), b);
#elif PTXDSL_CASE == 17
    (void)px::launch(s, saxpy{}, 1, x, y, 2.0F, n);
#elif PTXDSL_CASE == 18
    (void)px::launch(s, saxpy{});
#elif PTXDSL_CASE == 19
    (void)px::launch(s.ctx(), saxpy{}, g, x, y, 2.0F, n);
#elif PTXDSL_CASE == 20
    (void)px::launch(s, launches, g, x, y, 2.0F, n);
#elif PTXDSL_CASE == 21
    (void)px::launch(saxpy{}, s, g, x, y, 2.0F, n);
#elif PTXDSL_CASE == 22
    (void)px::launch(s, saxpy{}, g, px::device_buffer<float>::allocate(s.ctx(), 4), y, 2.0F, n);
#else
    (void)px::launch(s, saxpy{}, g, x, y, 2.0F, n);
    (void)px::launch(s, saxpy{}, {.grid = {1}, .block = {128}}, x, y, 2.0F, n);
    (void)px::launch(s, px::load(s.ctx(), saxpy{}).value_or_throw(), g, x, y, 2.0F, n);
    (void)px::launch(px::stream_ref(s), px::load(s.ctx(), saxpy{}).value_or_throw(), {.grid = {1}}, x, y, 2.0F, n);
    (void)px::launch(s, copy{}, g, a, b);
#endif
    (void)s, (void)x, (void)y, (void)n, (void)a, (void)b, (void)g;
}
