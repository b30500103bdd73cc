// SPDX-License-Identifier: Apache-2.0
// From a row kernel's body (rms_norm_kernel.hpp, softmax_kernel.hpp) and a row length to a loaded kernel: the plan is
// chosen for the length and the same body that is a constant in the example is assembled at run time with it.
#pragma once

#include "../tools/util/rows.hpp"

#include <ptxdsl/runtime.hpp>

#include <optional>
#include <string_view>
#include <type_traits>

namespace rows {

/// How many blocks to launch: one for each group of rows, or a few for each multiprocessor that walk over the rows.
struct grid_rule {
    u32 blocks_per_sm = 0;  ///< 0: one block for each group of rows
    [[nodiscard]] px::grid operator()(const px::device_info& d, const plan& c, u32 row_count) const {
        const u32 groups = (row_count + c.rows_per_block - 1) / c.rows_per_block;
        const u32 resident = blocks_per_sm * static_cast<u32>(d.sm_count);
        return {blocks_per_sm == 0 || resident > groups ? groups : resident};
    }
};

/// A row kernel loaded for one row length.
template <class Program>
struct loaded_rows {
    px::loaded<Program> kernel;
    plan c;
    grid_rule rule;

    /// Arguments: those of the body before `row_count`; then the rows and columns; then the rest.
    [[nodiscard]] px::grid grid(u32 row_count) const { return rule(kernel.ctx().device(), c, row_count); }
};

/// Assembles and loads `body` for rows of `columns` elements in accesses of `Width`. Error: the assembler's or the
/// driver's.
template <class T, u32 Width, class Body>
[[nodiscard]] auto load_rows(const px::context& ctx, std::string_view name, const Body& body, u32 columns,
                             std::optional<plan> forced = {}, grid_rule rule = {}) {
    const plan c = forced.value_or(plan_for_columns<T, Width>(columns));
    const auto program = px::assemble_at_run_time(name, body, c.attributes(), c);
    using program_type = std::remove_const_t<decltype(program)>;
    using loaded = px::result<loaded_rows<program_type>>;
    if (!program.ok()) return loaded(px::error{px::errc::ptx_rejected, std::string(program.error())});
    const auto kernel = px::load(ctx, program);
    if (!kernel) return loaded(kernel.error());
    return loaded(loaded_rows<program_type>{*kernel, c, rule});
}

}  // namespace rows
