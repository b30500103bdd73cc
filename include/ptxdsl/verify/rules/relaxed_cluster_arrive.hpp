// SPDX-License-Identifier: Apache-2.0
// E07: a block reads what another one wrote, and the cluster barrier between was arrived at with .relaxed, which makes
// no write visible (PTX ISA 9.7.13.4).
#pragma once

#include <ptxdsl/verify/knowledge/cluster.hpp>
#include <ptxdsl/verify/rules/rule.hpp>

namespace ptxdsl::verify {

template <class Facts>
struct relaxed_cluster_arrive : rule<Facts> {
    constexpr void instruction(Facts& f, op what, const ir::cursor& c) {
        if (f.m.attrs.cluster.given() && f.m.attrs.cluster_size() == 1) return;
        if (what == op::bar && token_at(c, 1) == tok::cluster) return on_barrier(f, c);
        if (what == op::fence && token_at(c, 1) != tok::proxy &&
            (has_token(c, tok::cluster) || has_token(c, tok::gpu) || has_token(c, tok::sys)))
            return forget();
        if (what == op::atomic || what == op::call || what == op::unknown || what == op::mbarrier) return forget();
        if (f.places_used == 0 || (what != op::store && what != op::load)) return;
        const bool cluster = has_token(c, tok::shared__cluster);
        if (!cluster && !has_token(c, tok::shared) && !has_token(c, tok::shared__cta)) return;
        if (!is_weak(c)) return forget();
        const place& p = f.places[0];
        const u32 peer = p.form == 0 ? 0 : f.forms[p.form - 1].peer, array = cluster ? peer : p.allocation;
        if (array == 0 || array > 32 || has_token(c, tok::async)) return;
        if (cluster && (p.mapped == 0 || !reaches_another(f, mapping_at(f, p.mapped)))) return;
        const u32 mask = 1u << (array - 1);
        if (what == op::store) {
            (cluster ? written_[1] : written_[0]) |= mask;
            return;
        }
        if ((unseen_[cluster ? 0 : 1] & mask) == 0 || f.is_function || f.opaque || f.unstructured) return;
        unseen_[0] = unseen_[1] = 0;
        f.out.add(catalogue::E07_relaxed, f.where).with(f.name_of(array - 1)).at(f.source(arrived_));
    }

private:
    constexpr void on_barrier(const Facts& f, const ir::cursor& c) noexcept {
        if (token_at(c, 2) == tok::arrive) {
            relaxed_ = has_token(c, tok::relaxed), arrived_ = f.where;
            if (!relaxed_) written_[0] = written_[1] = 0;
            return;
        }
        for (u32 k = 0; k < 2; ++k) unseen_[k] = relaxed_ && f.guard == 0 ? unseen_[k] | written_[k] : 0;
    }
    constexpr void forget() noexcept { written_[0] = written_[1] = unseen_[0] = unseen_[1] = 0; }

    /// Bit per array: of the own block, of other blocks; written since something released to the cluster, and the same
    /// behind a barrier.
    u32 written_[2] = {}, unseen_[2] = {};
    u32 arrived_ = 0;
    bool relaxed_ = false;
};

}  // namespace ptxdsl::verify
