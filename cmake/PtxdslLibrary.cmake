# SPDX-License-Identifier: Apache-2.0
# The targets a user links: ptxdsl::ptxdsl (headers, Boost.Hana), ptxdsl::runtime (adds fmt and the loader) and
# ptxdsl::kernels (compiled).

include("${CMAKE_CURRENT_LIST_DIR}/headers.cmake")
include(PtxdslHana)

# A list that is out of date must not keep anyone from building; the test headers.list keeps it from going unnoticed.
foreach(list IN ITEMS PTXDSL_CORE_HEADERS PTXDSL_RUNTIME_HEADERS)
    foreach(header IN LISTS ${list})
        if(NOT EXISTS "${PROJECT_SOURCE_DIR}/include/${header}")
            message(WARNING "ptxdsl: include/${header} is listed in cmake/headers.cmake but is not there")
            list(REMOVE_ITEM ${list} "${header}")
        endif()
    endforeach()
endforeach()

# What is found here must also be seen by the directory that called add_subdirectory(ptxdsl).
set(CMAKE_FIND_PACKAGE_TARGETS_GLOBAL ON)
ptxdsl_find_hana(ptxdsl_hana_found)
if(NOT ptxdsl_hana_found)
    message(FATAL_ERROR
        "ptxdsl: the Boost.Hana headers were not found. Install them (Debian and Ubuntu: libboost-dev) or set "
        "CMAKE_PREFIX_PATH to a Boost of 1.74 or newer.")
endif()
if(PTXDSL_RUNTIME)
    find_package(Threads REQUIRED)
    if(NOT TARGET fmt::fmt)
        find_package(fmt 9 QUIET CONFIG)
        # fmt promises compatibility within a major version only; every major from 9 on has what the runtime uses.
        if(NOT TARGET fmt::fmt)
            find_package(fmt QUIET CONFIG)
        endif()
    endif()
    if(NOT TARGET fmt::fmt)
        message(FATAL_ERROR
            "ptxdsl: fmt was not found, which ptxdsl::runtime needs. Install it (Debian and Ubuntu: libfmt-dev), set "
            "CMAKE_PREFIX_PATH, or configure with -DPTXDSL_RUNTIME=OFF for the compile-time part alone.")
    endif()
endif()
unset(CMAKE_FIND_PACKAGE_TARGETS_GLOBAL)

# -- ptxdsl::ptxdsl --------------------------------------------------------------------------------------------------
add_library(ptxdsl INTERFACE)
add_library(ptxdsl::ptxdsl ALIAS ptxdsl)
list(TRANSFORM PTXDSL_CORE_HEADERS PREPEND "${PROJECT_SOURCE_DIR}/include/" OUTPUT_VARIABLE ptxdsl_files)
target_sources(ptxdsl INTERFACE
    FILE_SET HEADERS BASE_DIRS "${PROJECT_SOURCE_DIR}/include" FILES ${ptxdsl_files})
target_compile_features(ptxdsl INTERFACE cxx_std_20)
target_link_libraries(ptxdsl INTERFACE ptxdsl::hana_headers)

# A header cannot raise its user's constant-evaluation limits, a usage requirement can. The kernels that ship with
# ptxdsl compile without; a user's own kernel may be larger. One target goes without by setting its property
# PTXDSL_DEFAULT_CONSTEXPR_LIMITS.
if(NOT PTXDSL_DEFAULT_CONSTEXPR_LIMITS)
    set(ptxdsl_raise "$<NOT:$<BOOL:$<TARGET_PROPERTY:PTXDSL_DEFAULT_CONSTEXPR_LIMITS>>>")
    target_compile_options(ptxdsl INTERFACE
        "$<$<AND:${ptxdsl_raise},$<COMPILE_LANG_AND_ID:CXX,GNU>>:-fconstexpr-ops-limit=1073741824>"
        "$<$<AND:${ptxdsl_raise},$<COMPILE_LANG_AND_ID:CXX,GNU>>:-fconstexpr-loop-limit=16777216>"
        "$<$<AND:${ptxdsl_raise},$<COMPILE_LANG_AND_ID:CXX,Clang,AppleClang>>:-fconstexpr-steps=1073741824>")
endif()

# -- ptxdsl::runtime -------------------------------------------------------------------------------------------------
if(PTXDSL_RUNTIME)
    add_library(ptxdsl_runtime INTERFACE)
    add_library(ptxdsl::runtime ALIAS ptxdsl_runtime)
    set_target_properties(ptxdsl_runtime PROPERTIES EXPORT_NAME runtime)
    list(TRANSFORM PTXDSL_RUNTIME_HEADERS PREPEND "${PROJECT_SOURCE_DIR}/include/" OUTPUT_VARIABLE ptxdsl_files)
    target_sources(ptxdsl_runtime INTERFACE
        FILE_SET HEADERS BASE_DIRS "${PROJECT_SOURCE_DIR}/include" FILES ${ptxdsl_files})
    target_link_libraries(ptxdsl_runtime INTERFACE ptxdsl::ptxdsl fmt::fmt Threads::Threads ${CMAKE_DL_LIBS})
endif()

# -- ptxdsl::kernels -------------------------------------------------------------------------------------------------
if(PTXDSL_RUNTIME AND PTXDSL_KERNELS)
    include(PtxdslKernels)
endif()
