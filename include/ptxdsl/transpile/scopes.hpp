// SPDX-License-Identifier: Apache-2.0
// What the names of a module mean while it is translated, and the C++ handles that stand for them.
#pragma once

#include <ptxdsl/parse/symbols.hpp>
#include <ptxdsl/transpile/cpp_text.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ptxdsl::ptx {

/// Two register types of one class and size: which handle may stand for which instruction type (dsl/declared.hpp).
[[nodiscard]] inline bool handle_fits(isa::scalar declared, isa::scalar wanted) {
    const auto class_type = [](isa::scalar s) {
        switch (isa::info(s).reg) {
            case isa::scalar::u16:
            case isa::scalar::s16: return isa::scalar::b16;
            case isa::scalar::u32:
            case isa::scalar::s32: return isa::scalar::b32;
            case isa::scalar::u64:
            case isa::scalar::s64: return isa::scalar::b64;
            default: return isa::info(s).reg;
        }
    };
    const isa::scalar have = class_type(declared), want = class_type(wanted);
    const bool untyped =
        isa::info(declared).cls == isa::type_class::bits || isa::info(wanted).cls == isa::type_class::bits;
    return have == want || (untyped && isa::bits(have) == isa::bits(want));
}

/// The C++ handle of one PTX name: a register, a range of registers, a variable, a label.
struct handle {
    std::string cpp;          ///< its C++ name
    std::string declaration;  ///< the expression that makes it
    isa::scalar type = isa::scalar::none;
    bool array = false;  ///< registers of a range
    bool plain = true;   ///< false: the builder has no handle of its kind (vector registers, textures)
    bool used = false;
    std::size_t place = 0;  ///< the statement that declares it
    std::string_view ptx;   ///< its PTX name
    std::vector<std::pair<std::uint32_t, std::string>>
        aliases;                                             ///< registers of the range that have names of their own
    std::vector<std::string> groups;                         ///< declarations of accumulators among them
    std::vector<std::pair<isa::scalar, std::string>> views;  ///< `r.as<px::s32>()` under a name of its own
};

/// A register, as an operand names it.
struct register_ref {
    std::uint32_t handle = 0;
    std::uint32_t number = 0;
};

}  // namespace ptxdsl::ptx
