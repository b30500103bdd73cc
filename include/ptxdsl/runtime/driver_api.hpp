// SPDX-License-Identifier: Apache-2.0
// The part of the CUDA driver's binary interface that the runtime calls, declared here so that no CUDA header is needed
// to build. tests/runtime/abi_test.cpp compares every size, offset and value with <cuda.h> where there is one.
#pragma once

#include <cstddef>
#include <cstdint>

// The driver's opaque handles. These tags are NVIDIA's and part of its ABI; declaring (never defining) them makes our
// handles the same types as `CUstream`, `cudaStream_t`, `CUcontext`..., so that either side's handles pass unconverted.
struct CUctx_st;
struct CUmod_st;
struct CUfunc_st;
struct CUstream_st;
struct CUevent_st;
struct CUgraph_st;
struct CUgraphNode_st;
struct CUgraphExec_st;

namespace ptxdsl::cu {

using context = CUctx_st*;
using module_ = CUmod_st*;
using function = CUfunc_st*;
using stream = CUstream_st*;
using event = CUevent_st*;
using graph = CUgraph_st*;
using graph_exec = CUgraphExec_st*;
using device = int;
using deviceptr = std::uint64_t;

/// `CUresult`. Only the values the runtime acts on are named; any other value is passed through.
enum class status : int {
    success = 0,
    invalid_value = 1,
    out_of_memory = 2,
    not_initialized = 3,
    deinitialized = 4,
    stub_library = 34,
    call_requires_newer_driver = 36,
    device_unavailable = 46,
    no_device = 100,
    invalid_device = 101,
    invalid_image = 200,
    invalid_context = 201,
    no_binary_for_gpu = 209,
    ecc_uncorrectable = 214,
    invalid_ptx = 218,
    nvlink_uncorrectable = 220,
    jit_compiler_not_found = 221,
    unsupported_ptx_version = 222,
    jit_compilation_disabled = 223,
    contained = 226,
    invalid_handle = 400,
    not_found = 500,
    not_ready = 600,
    illegal_address = 700,
    launch_out_of_resources = 701,
    launch_timeout = 702,
    context_is_destroyed = 709,
    device_assert = 710,
    hardware_stack_error = 714,
    illegal_instruction = 715,
    misaligned_address = 716,
    invalid_address_space = 717,
    invalid_pc = 718,
    launch_failed = 719,
    cooperative_launch_too_large = 720,
    tensor_memory_leak = 721,
    not_supported = 801,
    system_driver_mismatch = 803,
    stream_capture_unsupported = 900,
    stream_capture_invalidated = 901,
    stream_capture_implicit = 906,
    invalid_cluster_size = 912,
    unknown = 999,
};

enum class device_attribute : int {
    max_threads_per_block = 1,
    max_block_dim_x = 2,
    max_block_dim_y = 3,
    max_block_dim_z = 4,
    max_grid_dim_x = 5,
    max_grid_dim_y = 6,
    max_grid_dim_z = 7,
    max_shared_memory_per_block = 8,
    multiprocessor_count = 16,
    l2_cache_size = 38,
    compute_capability_major = 75,
    compute_capability_minor = 76,
    max_shared_memory_per_multiprocessor = 81,
    pageable_memory_access = 88,
    cooperative_launch = 95,
    max_shared_memory_per_block_optin = 97,
    cluster_launch = 120,
};

enum class function_attribute : int {
    max_threads_per_block = 0,
    shared_size_bytes = 1,
    local_size_bytes = 3,
    num_regs = 4,
    max_dynamic_shared_size_bytes = 8,
    non_portable_cluster_size_allowed = 14,
};

enum class jit_option : int {
    info_log_buffer = 3,
    info_log_buffer_size_bytes = 4,
    error_log_buffer = 5,
    error_log_buffer_size_bytes = 6,
    log_verbose = 12,
    generate_line_info = 13,
};

enum class launch_attribute_id : int { cooperative = 2, cluster_dimension = 4, programmatic_stream_serialization = 6 };
enum class pointer_attribute : int { memory_type = 2 };
enum class capture_mode : int { global = 0, thread_local_ = 1, relaxed = 2 };
enum class data_type : int {
    uint8,
    uint16,
    uint32,
    int32,
    uint64,
    int64,
    float16,
    float32,
    float64,
    bfloat16,
    float32_ftz,
    tfloat32,
    tfloat32_ftz,
    u4_align8,
    u4_align16,
    u6_align16,
};

inline constexpr unsigned stream_default = 0;
inline constexpr unsigned stream_non_blocking = 1;
inline constexpr unsigned event_default = 0;
inline constexpr unsigned event_disable_timing = 2;
inline constexpr unsigned memory_type_host = 1;

/// `CUtensorMap`: 128 opaque bytes, passed to kernels by value.
struct alignas(128) tensor_map {
    std::uint64_t opaque[16];
};

/// `CUlaunchAttributeValue`, 64 bytes.
union launch_attribute_value {
    char pad[64];
    std::uint64_t align;
    int cooperative;
    struct {
        unsigned x, y, z;
    } cluster_dim;
    int programmatic_stream_serialization_allowed;
};

struct launch_attribute {
    launch_attribute_id id;
    char pad[4];
    launch_attribute_value value;
};

/// `CUlaunchConfig`.
struct launch_config {
    unsigned grid_x, grid_y, grid_z;
    unsigned block_x, block_y, block_z;
    unsigned shared_bytes;
    stream hstream;
    launch_attribute* attrs;
    unsigned num_attrs;
};

static_assert(sizeof(tensor_map) == 128 && alignof(tensor_map) == 128);
static_assert(sizeof(launch_attribute) == 72 && sizeof(launch_config) == 56);
static_assert(sizeof(void*) == 8, "PTXDSL-J08: the CUDA driver interface declared here is the 64-bit one");

}  // namespace ptxdsl::cu
