// SPDX-License-Identifier: Apache-2.0
// The library's attention as a shared library with C calls: bench/bench_attention.py loads it into a process where
// torch and jax run the peers, and times all of them in the same rounds.
#define PTXDSL_KERNELS_HEADER_ONLY
#include <ptxdsl/kernels/attention.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <exception>
#include <string_view>

namespace px = ptxdsl;
namespace kn = ptxdsl::kernels;

// What a call is about: the fields of `Request` in bench_attention.py, in its order. Tensors are contiguous.
struct bench_attention_request {
    std::uint64_t q, k, v, out, stream;
    std::uint64_t query_starts, key_starts;  ///< 0: a batch of sequences of one length
    std::uint64_t batch, queries, keys;      ///< packed: sequences; the longest one's queries; rows of all keys
    std::uint64_t heads, kv_heads, size;
    std::uint64_t rows;  ///< packed: rows of all queries
    std::uint32_t causal;
    std::uint32_t window_left;  ///< 0: none
    // Keys in pages: `keys` of them. Calls take turns with `tables` tables.
    std::uint64_t pages, lengths, workspace;  ///< 0: not in pages
    std::uint64_t page, pages_per_sequence, workspace_size, tables;
};

namespace {

const px::context& primary() {
    static const px::context ctx = px::check(px::context::primary(0));
    return ctx;
}

px::result<void> call(const px::stream& s, const bench_attention_request& r, std::uint64_t turn) {
    using px::bf16;
    const px::device_ptr<const bf16> q(r.q), k(r.k), v(r.v);
    const px::device_ptr<bf16> out(r.out);
    kn::attention_options o{.causal = r.causal != 0};
    if (r.window_left != 0) o.window_left = r.window_left;
    if (r.pages != 0) {
        const px::device_ptr<const px::s32> tables(r.pages);
        const kn::paged_keys keys{.pages = tables + turn % r.tables * r.batch * r.pages_per_sequence,
                                  .pages_per_sequence = r.pages_per_sequence,
                                  .lengths = px::device_ptr<const px::s32>(r.lengths),
                                  .workspace = px::device_ptr<float>(r.workspace),
                                  .workspace_size = r.workspace_size};
        return kn::attention(s, px::tensor_view(q, r.batch, r.queries, r.heads, r.size),
                             px::tensor_view(k, r.keys, r.page, r.kv_heads, r.size),
                             px::tensor_view(v, r.keys, r.page, r.kv_heads, r.size),
                             px::tensor_view(out, r.batch, r.queries, r.heads, r.size), keys, o);
    }
    if (r.query_starts == 0)
        return kn::attention(s, px::tensor_view(q, r.batch, r.queries, r.heads, r.size),
                             px::tensor_view(k, r.batch, r.keys, r.kv_heads, r.size),
                             px::tensor_view(v, r.batch, r.keys, r.kv_heads, r.size),
                             px::tensor_view(out, r.batch, r.queries, r.heads, r.size), o);
    const kn::packed_sequences sequences{.query_starts = px::device_ptr<const px::s32>(r.query_starts),
                                         .key_starts = px::device_ptr<const px::s32>(r.key_starts),
                                         .count = r.batch,
                                         .most_queries = r.queries};
    return kn::attention(s, px::tensor_view(q, r.rows, r.heads, r.size), px::tensor_view(k, r.keys, r.kv_heads, r.size),
                         px::tensor_view(v, r.keys, r.kv_heads, r.size), px::tensor_view(out, r.rows, r.heads, r.size),
                         sequences, o);
}

}  // namespace

/// Enqueues the call `times` times. 0, or 1 and a sentence in `message`.
extern "C" __attribute__((visibility("default"))) int bench_attention_call(const bench_attention_request* r,
                                                                           std::uint32_t times, char* message,
                                                                           std::size_t size) {
    const auto say = [&](std::string_view text) {
        const std::size_t n = std::min(text.size(), size - 1);
        std::memcpy(message, text.data(), n);
        message[n] = 0;
        return 1;
    };
    try {
        const px::stream s =
            px::stream::borrow(primary(), reinterpret_cast<px::cu::stream>(static_cast<std::uintptr_t>(r->stream)));
        for (std::uint32_t i = 0; i < times; ++i)
            if (const auto done = call(s, *r, i); !done) return say(done.error().message());
        return 0;
    } catch (const std::exception& e) {
        return say(e.what());
    }
}
