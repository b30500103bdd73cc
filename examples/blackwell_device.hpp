// SPDX-License-Identifier: Apache-2.0
// The device of the Blackwell examples: one that runs sm_100a, or the sentence why there is none.
#pragma once

#include "../tools/util/demo.hpp"

namespace demo {

/// A context on a GPU of compute capability 10.0. Other GPUs, and none, are an error with both names in its sentence.
[[nodiscard]] inline px::result<px::context> open_blackwell() {
    auto ctx = open_device();
    if (!ctx) return ctx;
    const px::device_info& d = ctx->device();
    if (d.major == 10 && d.minor == 0) return ctx;
    return px::error{
        px::errc::wrong_target,
        fmt::format("{} is not a Blackwell data-centre GPU: kernels for sm_100a need compute capability 10.0",
                    d.text())};
}

}  // namespace demo
