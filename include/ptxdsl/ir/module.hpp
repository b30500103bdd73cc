// SPDX-License-Identifier: Apache-2.0
// The one program representation. Everything that produces PTX (DSL, parser) fills it, everything that consumes it
// (assembler, verifier, simulator, transpiler) reads it through `ir::view`.
//
// A program is a stream of 32-bit words cut into records. One flat array is what constant evaluation copies, grows
// and returns cheaply; a struct per instruction costs three times as much (docs/design.md, "Cost budget").
//
//   instruction   w0 kind:8 | modifiers:8 | words:16      w1 form:16 | operands:8 | flags:8
//                 w2 guard: 0, or (register + 1) << 1 | negated        w3 location index
//                 then the tokens, two to a word, opcode first; then the operands
//   label         w0 (`label_kind` in the modifiers field), w1 location, w2 label id, then what the kind says
//   region        w0 (code in the modifiers field), w1 location, payload        structure, prints nothing
//   note          w0 (code in the modifiers field), w1 location, payload        meaning, prints nothing
//   text          w0 (`text_kind` in the modifiers field), w1 location, w2 pool offset, w3 length
//                 a line by its text: a raw one, the only unchecked door, or one of a module's directives
//   line          w0, w1 location, w2 number                                    what follows stands on this line of the
//   text
//
// An operand is a head word kind:4 | payload:28, followed by what its kind says (see `operand_kind`).
#pragma once

#include <ptxdsl/detail/string_view.hpp>
#include <ptxdsl/isa/targets.hpp>
#include <ptxdsl/isa/types.hpp>

#include <cstdint>
#include <source_location>

namespace ptxdsl::ir {

enum class record : std::uint8_t { instruction, label, region, note, text, line };

/// What an operand's head word means, and the words that follow it.
enum class operand_kind : std::uint8_t {
    reg,        ///< payload: register id
    not_pred,   ///< payload: predicate register id, printed `!%p`
    small_int,  ///< payload: 28-bit signed integer
    integer,    ///< payload: scalar; then low word, high word
    f32,        ///< then the bits
    f64,        ///< then low word, high word
    address,    ///< payload: bit 0 prints an offset of 0 too, bit 1 is `.unified`; then a one-word base (register,
                ///< symbol, small) and a signed offset:  [base+offset]
    tensor,     ///< payload: n; then a one-word base and n one-word coordinates:             [base, {c0, c1}]
    vec,        ///< payload: n; then n one-word operands; a predicate at the end is joined:  {a, b}   {a, b}|p
    range,      ///< payload: n; then the first register id; ids are consecutive:             {a, …, z}
    label,      ///< payload: label id
    symbol,     ///< payload: symbol id; then a signed offset:                                name+offset
    sink,       ///< `_`; payload not 0: the second word of a register with a selector (`selected`)
    special,    ///< payload: isa::special
    pair,       ///< payload: n; then n one-word operands joined by `|`:                      p|q
                ///< a register and a `selected` word: the register with sign and video selector  -a.b0
    text,       ///< payload: pool offset; then length
};

/// What stands behind the colon of a label.
enum class label_kind : std::uint8_t {
    place,           ///< nothing: a place of the program
    branch_targets,  ///< then label ids:                          table: .branchtargets a, b;
    call_targets,    ///< then symbol ids:                         table: .calltargets f, g;
    prototype,       ///< then the number of results, and scalars:  proto: .callprototype (.reg .b32 _) _ ();
};

/// What the line of a `text` record is. A module (dsl/module.hpp) consists of such lines and of instructions.
enum class text_kind : std::uint8_t {
    raw,             ///< an instruction nobody checked
    statement,       ///< a declaration or directive inside a body
    directive,       ///< a line outside of functions
    parameter,       ///< one parameter of the function being declared
    function_begin,  ///< `{`
    function_end,    ///< `}`
    declaration,     ///< a variable of the kernel's own, which no rule follows
};

/// Structure of the program, for readers that follow control flow.
enum class region : std::uint8_t {
    if_begin,    ///< predicate << 1 | negated
    else_begin,  ///< no payload
    if_end,
    loop_begin,  ///< loop id, constant trip count or `unknown_count`; of a loop that counts also what `counting` has
    loop_body,   ///< loop id: behind the test of a loop that counts
    loop_step,   ///< loop id: in front of its step
    loop_end,    ///< loop id
    break_,      ///< loop id, guard like w2
    continue_,   ///< loop id, guard like w2
    scope_begin,
    scope_end,
    block_begin,  ///< id: what follows can be left with `break_`, and runs once
    block_end,    ///< id
};
inline constexpr std::uint32_t unknown_count = 0xffffffffu;

/// `for (counter = first; counter < bound; counter += step)`, as `loop_begin` has it.
struct counting {
    std::uint32_t counter = unknown_count;  ///< register id; `unknown_count`: the loop does not count
    std::uint32_t is_signed = 0;
    std::uint32_t first = nothing, bound = nothing, step = nothing;  ///< operands of one word

    /// A step or bound that is not known, or takes more than one word.
    static constexpr std::uint32_t nothing = static_cast<std::uint32_t>(operand_kind::sink) << 28;
};

/// Meaning that the text no longer shows: which object an address belongs to, how many bytes a copy brings.
enum class note : std::uint8_t {
    barrier_init,    ///< barrier, first stage, stages, arrivals
    barrier_arrive,  ///< barrier, stage or `unknown_count`, arrivals, flags (1: remote, 2: with bytes, 4: frees a slot,
                     ///< 8: at the same barrier of several blocks)
    barrier_expect,  ///< barrier, stage, bytes
    barrier_wait,    ///< barrier, stage, parity (0, 1 or `unknown_count`)
    barrier_copy,    ///< barrier, stage, bytes (0: not constant), multicast
    barrier_noarity,  ///< barrier: the author vouches for its arrivals (`k.assume_arrivals`)
    role_begin,       ///< threads in this role
    role_end,
    tile_write,           ///< allocation, stage: written through the generic proxy
    tile_async_read,      ///< allocation, stage: read by the async proxy (bulk store, wgmma)
    bulk_store,           ///< allocation, stage, bytes: what a tensor store of the current group reads
    thread_dependent,     ///< the next instruction's operands differ from thread to thread
    single_thread_begin,  ///< following instructions run in one thread of the warp or block
    single_thread_end,
    pipeline,      ///< barrier that counts filled slots, barrier that counts freed ones, name
    part_of_tile,  ///< one-word index, number of parts it chooses among, allocation, location of the choice
    warp_number,   ///< one-word operand that stands for the number of the warp, modulo 4; location
};

struct name {
    std::uint32_t offset = 0;
    std::uint32_t length = 0;
};

/// One register: its type and the prefix its printed name starts with.
struct reg_info {
    isa::scalar type = isa::scalar::none;
    std::uint16_t prefix = 0;
};

/// Whether the library names and declares the registers of a prefix or the author does.
enum class naming : std::uint8_t { automatic, numbered, single };

/// What a register's printed name starts with; all registers of one prefix have one type.
struct prefix_info {
    name id;
    isa::scalar type = isa::scalar::none;
    bool in_signature = false;  ///< declared by a function's parameter list, not by `.reg`
    naming how = naming::automatic;
    std::uint32_t first = 0;  ///< numbered: the register called `<id>0`
};

enum class param_kind : std::uint8_t { scalar, pointer, tensor_map };

/// One kernel parameter.
struct param {
    param_kind kind = param_kind::scalar;
    isa::scalar type = isa::scalar::none;
    space sp = space::generic;
    bool is_const = false;
    bool nullable = false;
    std::uint16_t align = 0;
    name id;
};

enum class allocation_kind : std::uint8_t { raw, tile, barrier };

/// One shared-memory allocation. Offsets are bytes from the start of the block's `smem` array.
struct allocation {
    allocation_kind kind = allocation_kind::raw;
    bool placed_by_author = false;
    std::uint16_t stages = 1;
    std::uint32_t offset = 0;
    std::uint32_t stage_bytes = 0;
    std::uint32_t align = 16;
    std::uint32_t repeat = 0;  ///< swizzle repeat in bytes that the base must be a multiple of; 0: none
    name id;
    std::uint32_t where = 0;  ///< location index
    [[nodiscard]] constexpr std::uint32_t bytes() const noexcept { return stage_bytes * stages; }
};

struct label_info {
    name id;
    std::uint32_t placed = 0;  ///< how often
    std::uint32_t used = 0;
    std::uint32_t where = 0;
    bool own_name = false;  ///< the author's name, printed as it is
};

/// One device function (`.func`), or a declaration: lines of text in front of the kernel. Its registers are the
/// program's; its words lie in `view::function_words`.
struct function {
    name id;
    std::uint32_t begin = 0, end = 0;  ///< words
    std::uint32_t first_reg = 0;       ///< index into `function_regs`: results, then parameters
    std::uint16_t results = 0, params = 0;
    bool declaration = false;
};

/// What no device runs, or `ptxas` does not take, of a kernel's attributes.
enum class attribute_fault : std::uint8_t { none, threads, depth, extent, two_sizes, blocks, opt_in };

/// Kernel attributes; they appear as PTX directives (PTX ISA 11.4, 11.7). Zero means "not given".
struct attributes {
    struct dim3 {
        std::uint32_t x = 0, y = 1, z = 1;
        [[nodiscard]] constexpr std::uint32_t count() const noexcept { return x * y * z; }
        [[nodiscard]] constexpr bool given() const noexcept { return x != 0; }
        /// Whether the product of the extents is over `most`.
        [[nodiscard]] constexpr bool exceeds(std::uint32_t most) const noexcept {
            return x > most || y > most || z > most || std::uint64_t{x} * y * z > most;
        }
        /// Whether some extents are 0 and others are not.
        [[nodiscard]] constexpr bool lacks_extent() const noexcept {
            return x == 0 ? y > 1 || z > 1 : y == 0 || z == 0;
        }
        constexpr bool operator==(const dim3&) const = default;
    };
    dim3 reqntid{};  ///< exact block size: `.reqntid`
    dim3 maxntid{};  ///< largest block size: `.maxntid`
    std::uint32_t minnctapersm = 0;
    std::uint32_t maxnreg = 0;
    dim3 cluster{};                     ///< exact cluster size: `.explicitcluster` + `.reqnctapercluster`
    bool non_portable_cluster = false;  ///< allows clusters of 9 to 16 blocks
    bool line_comments = false;         ///< end every line with a comment naming its C++ line
    ptx_version version{};              ///< fixes `.version`; without it the lowest that has every form used
    constexpr bool operator==(const attributes&) const = default;

    /// Threads of one block if the attributes fix or bound them, else 0.
    [[nodiscard]] constexpr std::uint32_t threads() const noexcept {
        return reqntid.given() ? reqntid.count() : maxntid.given() ? maxntid.count() : 0;
    }
    /// Blocks of one cluster, 1 without clusters.
    [[nodiscard]] constexpr std::uint32_t cluster_size() const noexcept {
        return cluster.given() ? cluster.count() : 1;
    }
    [[nodiscard]] constexpr attribute_fault fault() const noexcept {
        using f = attribute_fault;
        if (reqntid.lacks_extent() || maxntid.lacks_extent() || cluster.lacks_extent()) return f::extent;
        if (reqntid.exceeds(1024) || maxntid.exceeds(1024)) return f::threads;
        if (reqntid.z > 64) return f::depth;
        if (reqntid.given() && maxntid.given()) return f::two_sizes;
        if (cluster.exceeds(16)) return f::blocks;
        return cluster.exceeds(8) && !non_portable_cluster ? f::opt_in : f::none;
    }
};

/// A finding of the builder or the verifier.
struct finding {
    char id[4] = {};  ///< "E01"; printed as PTXDSL-E01
    bool warning = false;
    std::uint32_t where = 0;  ///< location index
    name text;                ///< in the finding pool
};

/// The type `ld.param` and `.param` name: parameters have no packed or brain types, they travel as bits of their size.
[[nodiscard]] constexpr isa::scalar param_type(isa::scalar t) noexcept {
    const isa::type_class cls = isa::info(t).cls;
    const bool own = cls != isa::type_class::floating && cls != isa::type_class::packed;
    if (own || t == isa::scalar::f32 || t == isa::scalar::f64) return t;
    switch (isa::bits(t)) {
        case 8: return isa::scalar::b8;
        case 16: return isa::scalar::b16;
        case 32: return isa::scalar::b32;
        default: return isa::scalar::b64;
    }
}

/// Sizes of one program: what a fixed-size image must hold.
struct sizes {
    std::uint32_t words = 0, locations = 0, regs = 0, prefixes = 0, params = 0, allocations = 0, labels = 0,
                  symbols = 0, pool = 0, findings = 0, functions = 0, function_words = 0, function_regs = 0;
};

/// Read access to a program wherever its arrays live: heap, stack or static storage.
struct view {
    const std::uint32_t* words = nullptr;
    const std::source_location* locations = nullptr;
    const reg_info* regs = nullptr;
    const prefix_info* prefixes = nullptr;
    const param* params = nullptr;
    const allocation* allocations = nullptr;
    const label_info* labels = nullptr;
    const name* symbols = nullptr;
    const char* pool = nullptr;
    const finding* findings = nullptr;
    const function* functions = nullptr;
    const std::uint32_t* function_words = nullptr;
    const std::uint32_t* function_regs = nullptr;
    sizes n;
    name kernel;
    ptxdsl::target target;
    ptx_version version;
    attributes attrs;
    std::uint32_t shared_bytes = 0;
    std::uint32_t shared_align = 16;
    bool from_text = false;  ///< lowered from PTX: addresses belong to allocations only where they are known exactly

    [[nodiscard]] constexpr string_view text(name s) const noexcept { return {pool + s.offset, s.length}; }
    /// Shared memory over 48 KiB must be the launch's dynamic kind.
    [[nodiscard]] constexpr bool dynamic_shared() const noexcept { return shared_bytes > 48u << 10; }
};

/// Symbol ids with a fixed meaning; kernel parameters follow.
inline constexpr std::uint32_t smem_symbol = 0;
/// In a program lowered from text, which has no names: the device's `vprintf`.
inline constexpr std::uint32_t print_symbol = 3;

[[nodiscard]] constexpr std::uint32_t head(operand_kind kind, std::uint32_t payload) noexcept {
    return static_cast<std::uint32_t>(kind) << 28 | (payload & 0x0fffffffu);
}
[[nodiscard]] constexpr operand_kind kind_of(std::uint32_t head_word) noexcept {
    return static_cast<operand_kind>(head_word >> 28);
}
[[nodiscard]] constexpr std::uint32_t payload_of(std::uint32_t head_word) noexcept { return head_word & 0x0fffffffu; }
// Register ids that no register has. An operand that a handle without a register left behind says so wherever it ends
// up.
inline constexpr std::uint32_t no_register = 0x0fffffffu;       ///< of a handle that nothing has been assigned to
inline constexpr std::uint32_t lost_register = 0x0ffffffeu;     ///< of a part of such a handle: assigning to it is lost
inline constexpr std::uint32_t foreign_register = 0x0ffffffdu;  ///< of a register of another kernel, in a list
inline constexpr std::uint32_t lost_literal = 0x0ffffffcu;  ///< of a handle that got what names no kernel, a literal
/// Sign-extends the 28-bit payload of a `small`.
[[nodiscard]] constexpr std::int32_t small_value(std::uint32_t head_word) noexcept {
    return static_cast<std::int32_t>(head_word << 4) >> 4;
}
[[nodiscard]] constexpr bool fits_small(std::int64_t v) noexcept { return v >= -(1 << 27) && v < (1 << 27); }

/// The word behind a register in a pair that says how the register is written: `isa::video_selector`, negated or not.
[[nodiscard]] constexpr std::uint32_t selected(std::uint32_t selector, bool minus) noexcept {
    return head(operand_kind::sink, 1u << 17 | (minus ? 1u << 16 : 0u) | selector);
}

/// Words an operand takes, its head included.
[[nodiscard]] constexpr std::uint32_t operand_words(std::uint32_t head_word) noexcept {
    switch (kind_of(head_word)) {
        case operand_kind::integer:
        case operand_kind::f64:
        case operand_kind::address: return 3;
        case operand_kind::f32:
        case operand_kind::range:
        case operand_kind::symbol:
        case operand_kind::text: return 2;
        case operand_kind::tensor: return 2 + payload_of(head_word);
        case operand_kind::vec:
        case operand_kind::pair: return 1 + payload_of(head_word);
        default: return 1;
    }
}

/// Reads one record. Cheap to make; holds a pointer into the stream.
struct cursor {
    const std::uint32_t* w = nullptr;

    [[nodiscard]] constexpr record kind() const noexcept { return static_cast<record>(w[0] >> 24); }
    [[nodiscard]] constexpr std::uint32_t code() const noexcept { return w[0] >> 16 & 0xffu; }
    [[nodiscard]] constexpr std::uint32_t size() const noexcept { return w[0] & 0xffffu; }
    [[nodiscard]] constexpr bool is_instruction() const noexcept { return kind() == record::instruction; }
    // Instructions.
    [[nodiscard]] constexpr std::uint32_t tokens() const noexcept { return code(); }
    [[nodiscard]] constexpr std::uint16_t token(std::uint32_t i) const noexcept {
        return static_cast<std::uint16_t>(i % 2 == 0 ? w[4 + i / 2] & 0xffffu : w[4 + i / 2] >> 16);
    }
    [[nodiscard]] constexpr std::uint32_t operands() const noexcept { return w[1] >> 8 & 0xffu; }
    [[nodiscard]] constexpr std::uint32_t guard() const noexcept { return w[2]; }
    [[nodiscard]] constexpr const std::uint32_t* first_operand() const noexcept { return w + 4 + (tokens() + 1) / 2; }
    /// Whether it is a label that names a place, no table or prototype.
    [[nodiscard]] constexpr bool is_place() const noexcept { return kind() == record::label && code() == 0; }
    // Everything else: payload behind the location.
    [[nodiscard]] constexpr std::uint32_t payload(std::uint32_t i) const noexcept { return w[2 + i]; }
    /// Of a `loop_begin`.
    [[nodiscard]] constexpr counting counts() const noexcept {
        return size() < 9 ? counting() : counting{w[4], w[5], w[6], w[7], w[8]};
    }

    [[nodiscard]] constexpr std::uint32_t location() const noexcept { return is_instruction() ? w[3] : w[1]; }
};

[[nodiscard]] constexpr std::uint32_t record_head(record kind, std::uint32_t code, std::uint32_t size) noexcept {
    return static_cast<std::uint32_t>(kind) << 24 | code << 16 | size;
}

}  // namespace ptxdsl::ir
