// SPDX-License-Identifier: Apache-2.0
// The driver interface that driver_api.hpp declares, against the real header where this machine has one. Compiling is
// most of the test: sizes, offsets, values and prototypes are compared by static_assert.
#include "catch.hpp"

#include <ptxdsl/ir/signature.hpp>
#include <ptxdsl/runtime/driver.hpp>
#include <ptxdsl/runtime/driver_api.hpp>

#if __has_include(<cuda.h>) && __has_include(<cudaTypedefs.h>)
#define PTXDSL_TEST_HAS_CUDA_H 1
#include <cuda.h>
#include <cudaTypedefs.h>

#include <type_traits>
#else
#define PTXDSL_TEST_HAS_CUDA_H 0
#endif

#if PTXDSL_TEST_HAS_CUDA_H

namespace {

namespace cu = ptxdsl::cu;

template <class Ours, class Theirs>
constexpr bool same(Ours a, Theirs b) {
    return static_cast<long long>(a) == static_cast<long long>(b) && sizeof(Ours) <= sizeof(Theirs);
}

// Handles are the very same types, so users pass theirs unconverted.
static_assert(std::is_same_v<cu::context, CUcontext> && std::is_same_v<cu::module_, CUmodule> &&
              std::is_same_v<cu::function, CUfunction>);
static_assert(std::is_same_v<cu::stream, CUstream> && std::is_same_v<cu::event, CUevent> &&
              std::is_same_v<cu::graph, CUgraph> && std::is_same_v<cu::graph_exec, CUgraphExec>);
static_assert(std::is_same_v<cu::device, CUdevice> && sizeof(cu::deviceptr) == sizeof(CUdeviceptr));

static_assert(sizeof(cu::tensor_map) == sizeof(CUtensorMap) && alignof(cu::tensor_map) >= alignof(CUtensorMap));
static_assert(sizeof(cu::launch_config) == sizeof(CUlaunchConfig) &&
              alignof(cu::launch_config) == alignof(CUlaunchConfig));
static_assert(offsetof(cu::launch_config, grid_z) == offsetof(CUlaunchConfig, gridDimZ) &&
              offsetof(cu::launch_config, block_x) == offsetof(CUlaunchConfig, blockDimX));
static_assert(offsetof(cu::launch_config, shared_bytes) == offsetof(CUlaunchConfig, sharedMemBytes) &&
              offsetof(cu::launch_config, hstream) == offsetof(CUlaunchConfig, hStream));
static_assert(offsetof(cu::launch_config, attrs) == offsetof(CUlaunchConfig, attrs) &&
              offsetof(cu::launch_config, num_attrs) == offsetof(CUlaunchConfig, numAttrs));
static_assert(sizeof(cu::launch_attribute) == sizeof(CUlaunchAttribute) &&
              offsetof(cu::launch_attribute, value) == offsetof(CUlaunchAttribute, value));
static_assert(sizeof(cu::launch_attribute_value) == sizeof(CUlaunchAttributeValue) &&
              alignof(cu::launch_attribute_value) == alignof(CUlaunchAttributeValue));
static_assert(sizeof(cu::status) == sizeof(CUresult) && sizeof(cu::jit_option) == sizeof(CUjit_option));

static_assert(same(cu::status::invalid_value, CUDA_ERROR_INVALID_VALUE) &&
              same(cu::status::out_of_memory, CUDA_ERROR_OUT_OF_MEMORY));
static_assert(same(cu::status::not_initialized, CUDA_ERROR_NOT_INITIALIZED) &&
              same(cu::status::deinitialized, CUDA_ERROR_DEINITIALIZED));
static_assert(same(cu::status::stub_library, CUDA_ERROR_STUB_LIBRARY) &&
              same(cu::status::call_requires_newer_driver, CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER));
static_assert(same(cu::status::device_unavailable, CUDA_ERROR_DEVICE_UNAVAILABLE) &&
              same(cu::status::no_device, CUDA_ERROR_NO_DEVICE));
static_assert(same(cu::status::invalid_device, CUDA_ERROR_INVALID_DEVICE) &&
              same(cu::status::invalid_image, CUDA_ERROR_INVALID_IMAGE));
static_assert(same(cu::status::invalid_context, CUDA_ERROR_INVALID_CONTEXT) &&
              same(cu::status::no_binary_for_gpu, CUDA_ERROR_NO_BINARY_FOR_GPU));
static_assert(same(cu::status::ecc_uncorrectable, CUDA_ERROR_ECC_UNCORRECTABLE) &&
              same(cu::status::invalid_ptx, CUDA_ERROR_INVALID_PTX));
static_assert(same(cu::status::nvlink_uncorrectable, CUDA_ERROR_NVLINK_UNCORRECTABLE) &&
              same(cu::status::jit_compiler_not_found, CUDA_ERROR_JIT_COMPILER_NOT_FOUND));
static_assert(same(cu::status::unsupported_ptx_version, CUDA_ERROR_UNSUPPORTED_PTX_VERSION) &&
              same(cu::status::jit_compilation_disabled, CUDA_ERROR_JIT_COMPILATION_DISABLED));
static_assert(same(cu::status::contained, CUDA_ERROR_CONTAINED) &&
              same(cu::status::invalid_handle, CUDA_ERROR_INVALID_HANDLE));
static_assert(same(cu::status::not_found, CUDA_ERROR_NOT_FOUND) && same(cu::status::not_ready, CUDA_ERROR_NOT_READY));
static_assert(same(cu::status::illegal_address, CUDA_ERROR_ILLEGAL_ADDRESS) &&
              same(cu::status::launch_out_of_resources, CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES));
static_assert(same(cu::status::launch_timeout, CUDA_ERROR_LAUNCH_TIMEOUT) &&
              same(cu::status::context_is_destroyed, CUDA_ERROR_CONTEXT_IS_DESTROYED));
static_assert(same(cu::status::device_assert, CUDA_ERROR_ASSERT) &&
              same(cu::status::hardware_stack_error, CUDA_ERROR_HARDWARE_STACK_ERROR));
static_assert(same(cu::status::illegal_instruction, CUDA_ERROR_ILLEGAL_INSTRUCTION) &&
              same(cu::status::misaligned_address, CUDA_ERROR_MISALIGNED_ADDRESS));
static_assert(same(cu::status::invalid_address_space, CUDA_ERROR_INVALID_ADDRESS_SPACE) &&
              same(cu::status::invalid_pc, CUDA_ERROR_INVALID_PC));
static_assert(same(cu::status::launch_failed, CUDA_ERROR_LAUNCH_FAILED) &&
              same(cu::status::cooperative_launch_too_large, CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE));
static_assert(same(cu::status::tensor_memory_leak, CUDA_ERROR_TENSOR_MEMORY_LEAK) &&
              same(cu::status::not_supported, CUDA_ERROR_NOT_SUPPORTED));
static_assert(same(cu::status::system_driver_mismatch, CUDA_ERROR_SYSTEM_DRIVER_MISMATCH) &&
              same(cu::status::stream_capture_unsupported, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED));
static_assert(same(cu::status::stream_capture_invalidated, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED) &&
              same(cu::status::stream_capture_implicit, CUDA_ERROR_STREAM_CAPTURE_IMPLICIT));
static_assert(same(cu::status::invalid_cluster_size, CUDA_ERROR_INVALID_CLUSTER_SIZE) &&
              same(cu::status::unknown, CUDA_ERROR_UNKNOWN));

using da = cu::device_attribute;
static_assert(same(da::max_threads_per_block, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK) &&
              same(da::max_block_dim_x, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X));
static_assert(same(da::max_block_dim_y, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y) &&
              same(da::max_block_dim_z, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z));
static_assert(same(da::max_grid_dim_x, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X) &&
              same(da::max_grid_dim_y, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y) &&
              same(da::max_grid_dim_z, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z));
static_assert(same(da::max_shared_memory_per_block, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK) &&
              same(da::multiprocessor_count, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT));
static_assert(same(da::l2_cache_size, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE) &&
              same(da::compute_capability_major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR));
static_assert(same(da::compute_capability_minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR) &&
              same(da::pageable_memory_access, CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS));
static_assert(same(da::max_shared_memory_per_multiprocessor,
                   CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR) &&
              same(da::cooperative_launch, CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH));
static_assert(same(da::max_shared_memory_per_block_optin, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN) &&
              same(da::cluster_launch, CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH));

using fa = cu::function_attribute;
static_assert(same(fa::max_threads_per_block, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK) &&
              same(fa::shared_size_bytes, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES));
static_assert(same(fa::local_size_bytes, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES) &&
              same(fa::num_regs, CU_FUNC_ATTRIBUTE_NUM_REGS));
static_assert(same(fa::max_dynamic_shared_size_bytes, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES) &&
              same(fa::non_portable_cluster_size_allowed, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED));

using jo = cu::jit_option;
static_assert(same(jo::info_log_buffer, CU_JIT_INFO_LOG_BUFFER) &&
              same(jo::info_log_buffer_size_bytes, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES));
static_assert(same(jo::error_log_buffer, CU_JIT_ERROR_LOG_BUFFER) &&
              same(jo::error_log_buffer_size_bytes, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES));
static_assert(same(jo::log_verbose, CU_JIT_LOG_VERBOSE) && same(jo::generate_line_info, CU_JIT_GENERATE_LINE_INFO));

using la = cu::launch_attribute_id;
static_assert(same(la::cooperative, CU_LAUNCH_ATTRIBUTE_COOPERATIVE) &&
              same(la::cluster_dimension, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION));
static_assert(same(la::programmatic_stream_serialization, CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION));
static_assert(same(cu::pointer_attribute::memory_type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE) &&
              same(cu::memory_type_host, CU_MEMORYTYPE_HOST));
static_assert(same(cu::capture_mode::thread_local_, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL) &&
              same(cu::stream_non_blocking, CU_STREAM_NON_BLOCKING));
static_assert(same(cu::event_disable_timing, CU_EVENT_DISABLE_TIMING));

using dt = cu::data_type;
static_assert(same(dt::uint8, CU_TENSOR_MAP_DATA_TYPE_UINT8) && same(dt::uint16, CU_TENSOR_MAP_DATA_TYPE_UINT16) &&
              same(dt::uint32, CU_TENSOR_MAP_DATA_TYPE_UINT32));
static_assert(same(dt::int32, CU_TENSOR_MAP_DATA_TYPE_INT32) && same(dt::uint64, CU_TENSOR_MAP_DATA_TYPE_UINT64) &&
              same(dt::int64, CU_TENSOR_MAP_DATA_TYPE_INT64));
static_assert(same(dt::float16, CU_TENSOR_MAP_DATA_TYPE_FLOAT16) &&
              same(dt::float32, CU_TENSOR_MAP_DATA_TYPE_FLOAT32) && same(dt::float64, CU_TENSOR_MAP_DATA_TYPE_FLOAT64));
static_assert(same(dt::bfloat16, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16) &&
              same(dt::float32_ftz, CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ));
static_assert(same(dt::tfloat32, CU_TENSOR_MAP_DATA_TYPE_TFLOAT32) &&
              same(dt::tfloat32_ftz, CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ));

using ptxdsl::map_interleave;
using ptxdsl::map_swizzle;
static_assert(static_cast<int>(map_swizzle::b128) == CU_TENSOR_MAP_SWIZZLE_128B &&
              static_cast<int>(map_swizzle::b32) == CU_TENSOR_MAP_SWIZZLE_32B);
static_assert(static_cast<int>(map_swizzle::b64) == CU_TENSOR_MAP_SWIZZLE_64B &&
              static_cast<int>(map_interleave::b32) == CU_TENSOR_MAP_INTERLEAVE_32B);
static_assert(static_cast<int>(ptxdsl::l2_promotion::b256) == CU_TENSOR_MAP_L2_PROMOTION_L2_256B);
static_assert(static_cast<int>(ptxdsl::oob_fill::nan) == CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA);
#if CUDA_VERSION >= 12080
static_assert(same(dt::u4_align8, CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN8B) &&
              same(dt::u4_align16, CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN16B));
static_assert(same(dt::u6_align16, CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B));
static_assert(static_cast<int>(map_swizzle::b128_atom_32b) == CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B &&
              static_cast<int>(map_swizzle::b128_atom_64b) == CU_TENSOR_MAP_SWIZZLE_128B_ATOM_64B);
static_assert(static_cast<int>(map_swizzle::b128_atom_32b_flip_8b) == CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B_FLIP_8B);
static_assert(static_cast<int>(ptxdsl::im2col_wide_mode::w128) == CU_TENSOR_MAP_IM2COL_WIDE_MODE_W128);
#endif

// Prototypes: same number of parameters, each of the same size and kind as in the driver's version asked for.
template <class A, class B>
constexpr bool same_argument = sizeof(A) == sizeof(B) && std::is_pointer_v<A> == std::is_pointer_v<B>;
template <class F, class G>
constexpr bool same_prototype = false;
template <class R, class... A, class S, class... B>
    requires(sizeof...(A) == sizeof...(B))
constexpr bool same_prototype<R (*)(A...), S (*)(B...)> = sizeof(R) == sizeof(S) && (same_argument<A, B> && ...);

#define PTXDSL_SAME(slot, theirs) static_assert(same_prototype<decltype(ptxdsl::driver_table::slot), theirs>)
PTXDSL_SAME(init, PFN_cuInit_v2000);
PTXDSL_SAME(driver_get_version, PFN_cuDriverGetVersion_v2020);
PTXDSL_SAME(get_error_name, PFN_cuGetErrorName_v6000);
PTXDSL_SAME(get_error_string, PFN_cuGetErrorString_v6000);
PTXDSL_SAME(device_get_count, PFN_cuDeviceGetCount_v2000);
PTXDSL_SAME(device_get, PFN_cuDeviceGet_v2000);
PTXDSL_SAME(device_get_name, PFN_cuDeviceGetName_v2000);
PTXDSL_SAME(device_get_attribute, PFN_cuDeviceGetAttribute_v2000);
PTXDSL_SAME(device_total_mem, PFN_cuDeviceTotalMem_v3020);
PTXDSL_SAME(primary_ctx_retain, PFN_cuDevicePrimaryCtxRetain_v7000);
PTXDSL_SAME(primary_ctx_release, PFN_cuDevicePrimaryCtxRelease_v11000);
PTXDSL_SAME(ctx_push_current, PFN_cuCtxPushCurrent_v4000);
PTXDSL_SAME(ctx_pop_current, PFN_cuCtxPopCurrent_v4000);
PTXDSL_SAME(ctx_get_current, PFN_cuCtxGetCurrent_v4000);
PTXDSL_SAME(ctx_get_device, PFN_cuCtxGetDevice_v2000);
PTXDSL_SAME(ctx_synchronize, PFN_cuCtxSynchronize_v2000);
PTXDSL_SAME(module_load_data_ex, PFN_cuModuleLoadDataEx_v2010);
PTXDSL_SAME(module_unload, PFN_cuModuleUnload_v2000);
PTXDSL_SAME(module_get_function, PFN_cuModuleGetFunction_v2000);
PTXDSL_SAME(func_set_attribute, PFN_cuFuncSetAttribute_v9000);
PTXDSL_SAME(func_get_attribute, PFN_cuFuncGetAttribute_v2020);
PTXDSL_SAME(launch_kernel_ex, PFN_cuLaunchKernelEx_v11060);
PTXDSL_SAME(occupancy_max_active_clusters, PFN_cuOccupancyMaxActiveClusters_v11070);
PTXDSL_SAME(occupancy_max_active_blocks, PFN_cuOccupancyMaxActiveBlocksPerMultiprocessor_v6050);
PTXDSL_SAME(stream_create_with_priority, PFN_cuStreamCreateWithPriority_v5050);
PTXDSL_SAME(stream_destroy, PFN_cuStreamDestroy_v4000);
PTXDSL_SAME(stream_synchronize, PFN_cuStreamSynchronize_v2000);
PTXDSL_SAME(stream_query, PFN_cuStreamQuery_v2000);
PTXDSL_SAME(stream_wait_event, PFN_cuStreamWaitEvent_v3020);
PTXDSL_SAME(stream_begin_capture, PFN_cuStreamBeginCapture_v10010);
PTXDSL_SAME(stream_end_capture, PFN_cuStreamEndCapture_v10000);
PTXDSL_SAME(graph_instantiate_with_flags, PFN_cuGraphInstantiateWithFlags_v11040);
PTXDSL_SAME(graph_launch, PFN_cuGraphLaunch_v10000);
PTXDSL_SAME(graph_destroy, PFN_cuGraphDestroy_v10000);
PTXDSL_SAME(graph_exec_destroy, PFN_cuGraphExecDestroy_v10000);
PTXDSL_SAME(event_create, PFN_cuEventCreate_v2000);
PTXDSL_SAME(event_destroy, PFN_cuEventDestroy_v4000);
PTXDSL_SAME(event_record, PFN_cuEventRecord_v2000);
PTXDSL_SAME(event_synchronize, PFN_cuEventSynchronize_v2000);
PTXDSL_SAME(event_query, PFN_cuEventQuery_v2000);
PTXDSL_SAME(event_elapsed_time, PFN_cuEventElapsedTime_v2000);
PTXDSL_SAME(mem_get_info, PFN_cuMemGetInfo_v3020);
PTXDSL_SAME(mem_alloc, PFN_cuMemAlloc_v3020);
PTXDSL_SAME(mem_free, PFN_cuMemFree_v3020);
PTXDSL_SAME(memcpy_htod_async, PFN_cuMemcpyHtoDAsync_v3020);
PTXDSL_SAME(memcpy_dtoh_async, PFN_cuMemcpyDtoHAsync_v3020);
PTXDSL_SAME(memcpy_dtod_async, PFN_cuMemcpyDtoDAsync_v3020);
PTXDSL_SAME(memset_d8_async, PFN_cuMemsetD8Async_v3020);
PTXDSL_SAME(memset_d32_async, PFN_cuMemsetD32Async_v3020);
PTXDSL_SAME(pointer_get_attribute, PFN_cuPointerGetAttribute_v4000);
PTXDSL_SAME(tensor_map_encode_tiled, PFN_cuTensorMapEncodeTiled_v12000);
PTXDSL_SAME(tensor_map_encode_im2col, PFN_cuTensorMapEncodeIm2col_v12000);
#if CUDA_VERSION >= 12080
PTXDSL_SAME(tensor_map_encode_im2col_wide, PFN_cuTensorMapEncodeIm2colWide_v12080);
#endif
#undef PTXDSL_SAME

}  // namespace

TEST_CASE("the declared driver interface is the header's") {
    SUCCEED("compared with CUDA " << CUDA_VERSION / 1000 << "." << CUDA_VERSION % 1000 / 10);
}

#else
TEST_CASE("the declared driver interface is the header's") { PTXDSL_SKIP("no cuda.h on this machine to compare with"); }
#endif

TEST_CASE("every slot of the table has one entry") {
    ptxdsl::driver_table t;
    int slots = 0;
    ptxdsl::runtime_detail::for_each_entry(t, [&](const char*, int version, auto& slot, auto) {
        ++slots;
        CHECK(slot == nullptr);
        CHECK(version >= 2000);
    });
    CHECK(static_cast<std::size_t>(slots) * sizeof(void*) + sizeof(void*) == sizeof(t));
}
