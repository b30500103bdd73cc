# SPDX-License-Identifier: Apache-2.0
# Functions that examples/, tools/, bench/ and tests/ declare their programs with.
#
#   ptxdsl_program(<target> SOURCES <file>... [LINK <target>...] [CORE_ONLY])
#   ptxdsl_add_example(<name> [SOURCES <file>...] [LINK <target>...] [CORE_ONLY] [ARGS <arg>...] [LABELS <label>...])
#   ptxdsl_add_tool(<name> [SOURCES <file>...] [LINK <target>...])
#   ptxdsl_add_bench(<name> [SOURCES <file>...] [LINK <target>...] [CORE_ONLY])
#
# Sources default to <name>.cpp. Every program links ptxdsl::runtime unless it is CORE_ONLY, goes to <build>/bin and is
# compiled with the warnings below as errors.

if(PROJECT_IS_TOP_LEVEL AND NOT CMAKE_RUNTIME_OUTPUT_DIRECTORY)
    set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")
endif()
if(PROJECT_IS_TOP_LEVEL AND NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "Debug, Release, RelWithDebInfo or MinSizeRel" FORCE)
endif()
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_CXX_EXTENSIONS OFF)

set(PTXDSL_WARNINGS -Wall -Wextra -Wconversion -Wshadow)
if(PTXDSL_WERROR)
    list(APPEND PTXDSL_WARNINGS -Werror)
endif()

# The assembler that text is checked with. Tests that need it are skipped, and say so, where there is none.
find_program(PTXDSL_PTXAS NAMES ptxas HINTS /usr/local/cuda/bin DOC "NVIDIA's ptxas, 13.0 or newer")

function(ptxdsl_program target)
    cmake_parse_arguments(PARSE_ARGV 1 arg "CORE_ONLY" "" "SOURCES;LINK")
    if(NOT arg_CORE_ONLY AND NOT TARGET ptxdsl::runtime)
        message(STATUS "ptxdsl: ${target} is left out, it needs ptxdsl::runtime (PTXDSL_RUNTIME=ON)")
        return()
    endif()
    add_executable(${target} ${arg_SOURCES})
    target_compile_features(${target} PRIVATE cxx_std_20)
    target_compile_options(${target} PRIVATE ${PTXDSL_WARNINGS})
    if(arg_CORE_ONLY)
        target_link_libraries(${target} PRIVATE ptxdsl::ptxdsl ${arg_LINK})
    else()
        target_link_libraries(${target} PRIVATE ptxdsl::runtime ${arg_LINK})
    endif()
endfunction()

# An example is also a test: without a GPU it must say so, show its PTX and succeed.
function(ptxdsl_add_example name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "CORE_ONLY" "" "SOURCES;LINK;ARGS;LABELS")
    if(NOT arg_SOURCES)
        set(arg_SOURCES ${name}.cpp)
    endif()
    set(core_only "")
    if(arg_CORE_ONLY)
        set(core_only CORE_ONLY)
    endif()
    ptxdsl_program(${name} SOURCES ${arg_SOURCES} LINK ${arg_LINK} ${core_only})
    if(TARGET ${name} AND PTXDSL_BUILD_TESTS)
        add_test(NAME example.${name} COMMAND ${name} ${arg_ARGS})
        set_tests_properties(example.${name} PROPERTIES
            LABELS "example;${arg_LABELS}" TIMEOUT 600 SKIP_RETURN_CODE 77
            ENVIRONMENT "PTXDSL_PTXAS=${PTXDSL_PTXAS}")
    endif()
endfunction()

function(ptxdsl_add_tool name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LINK")
    if(NOT arg_SOURCES)
        set(arg_SOURCES ${name}.cpp)
    endif()
    ptxdsl_program(${name} SOURCES ${arg_SOURCES} LINK ${arg_LINK})
    if(TARGET ${name} AND PTXDSL_INSTALL)
        include(GNUInstallDirs)
        install(TARGETS ${name} RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
    endif()
endfunction()

function(ptxdsl_add_bench name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "CORE_ONLY" "" "SOURCES;LINK")
    if(NOT arg_SOURCES)
        set(arg_SOURCES ${name}.cpp)
    endif()
    set(core_only "")
    if(arg_CORE_ONLY)
        set(core_only CORE_ONLY)
    endif()
    ptxdsl_program(${name} SOURCES ${arg_SOURCES} LINK ${arg_LINK} ${core_only})
endfunction()
