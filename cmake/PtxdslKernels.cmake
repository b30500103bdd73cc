# SPDX-License-Identifier: Apache-2.0
# ptxdsl::kernels: the kernel library, compiled. Static, or shared with BUILD_SHARED_LIBS.
#
# Who links it includes <ptxdsl/kernels.hpp> and compiles none of the kernels. Who links ptxdsl::runtime alone gets them
# from the headers.

# One source a set of element types and one a row kernel, so that they compile side by side. Both lists are derived.
set(ptxdsl_parts "${CMAKE_CURRENT_BINARY_DIR}/kernels")
set(ptxdsl_gemm_sets "${PROJECT_SOURCE_DIR}/include/ptxdsl/kernels/gemm/compiled.hpp")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${ptxdsl_gemm_sets}")
file(STRINGS "${ptxdsl_gemm_sets}" ptxdsl_gemm_sets REGEX "^    {{isa::scalar")
set(ptxdsl_gemm_parts "")
set(ptxdsl_set 0)
foreach(ignored IN LISTS ptxdsl_gemm_sets)
    set(ptxdsl_part "${ptxdsl_parts}/gemm_set_${ptxdsl_set}.cpp")
    file(CONFIGURE OUTPUT "${ptxdsl_part}" @ONLY CONTENT
"#include \"gemm_part.hpp\"
template const ptxdsl::kernels::detail::gemm_kernels* ptxdsl::kernels::detail::kernels_of_set<@ptxdsl_set@>(bool);
")
    list(APPEND ptxdsl_gemm_parts "${ptxdsl_part}")
    math(EXPR ptxdsl_set "${ptxdsl_set} + 1")
endforeach()

file(GLOB ptxdsl_calls CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}/include"
    "${PROJECT_SOURCE_DIR}/include/ptxdsl/kernels/rows/*_call.hpp")
set(ptxdsl_row_parts "")
foreach(header IN LISTS ptxdsl_calls)
    cmake_path(GET header STEM name)
    set(ptxdsl_part "${ptxdsl_parts}/${name}.cpp")
    file(CONFIGURE OUTPUT "${ptxdsl_part}" @ONLY CONTENT "#include <@header@>\n")
    list(APPEND ptxdsl_row_parts "${ptxdsl_part}")
endforeach()

# Objects, so that a test can link them once more as a shared library.
add_library(ptxdsl_kernels_objects OBJECT EXCLUDE_FROM_ALL
    "${PROJECT_SOURCE_DIR}/src/kernels/attention.cpp" "${PROJECT_SOURCE_DIR}/src/kernels/gemm.cpp"
    "${PROJECT_SOURCE_DIR}/src/kernels/grouped_gemm.cpp" ${ptxdsl_gemm_parts} ${ptxdsl_row_parts})
target_include_directories(ptxdsl_kernels_objects PRIVATE "${PROJECT_SOURCE_DIR}/src/kernels")
target_link_libraries(ptxdsl_kernels_objects PRIVATE ptxdsl::runtime)
target_compile_definitions(ptxdsl_kernels_objects PRIVATE PTXDSL_KERNELS_SOURCE)
set_target_properties(ptxdsl_kernels_objects PROPERTIES
    POSITION_INDEPENDENT_CODE ON CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON CXX_EXTENSIONS OFF)
# A kernel is written once in each context, in a millisecond: code that does so is not worth an optimiser's minutes. What
# runs at every launch of a product is in gemm.cpp, and of a row kernel short.
set_source_files_properties(${ptxdsl_gemm_parts} PROPERTIES COMPILE_OPTIONS "-O0;-U_FORTIFY_SOURCE")
set_source_files_properties(${ptxdsl_row_parts} "${PROJECT_SOURCE_DIR}/src/kernels/attention.cpp"
    "${PROJECT_SOURCE_DIR}/src/kernels/grouped_gemm.cpp" PROPERTIES COMPILE_OPTIONS "$<$<NOT:$<CONFIG:Debug>>:-O1>")

function(ptxdsl_kernels_library target)
    add_library(${target} ${ARGN} $<TARGET_OBJECTS:ptxdsl_kernels_objects>)
    target_link_libraries(${target} PUBLIC ptxdsl::runtime)
    target_compile_definitions(${target} INTERFACE PTXDSL_KERNELS_COMPILED)
    set_target_properties(${target} PROPERTIES EXPORT_NAME kernels LINKER_LANGUAGE CXX
        VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
endfunction()

# In another project it is built when something links it.
set(ptxdsl_all "")
if(NOT PROJECT_IS_TOP_LEVEL)
    set(ptxdsl_all EXCLUDE_FROM_ALL)
endif()
ptxdsl_kernels_library(ptxdsl_kernels ${ptxdsl_all})
add_library(ptxdsl::kernels ALIAS ptxdsl_kernels)
