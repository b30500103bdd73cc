# SPDX-License-Identifier: Apache-2.0
# Programs that must not compile.
#
# ptxdsl_misuse_test(<file> [COMPILERS gcc clang])
#
# gives CTest one test per compiler, `misuse.<stem>.<compiler>`, that runs tests/misuse/run_misuse.py on the file. The
# cases, their controls and what the compiler has to say stand in the file itself; the runner's help has the notation.
# The compilers run at their default constant-evaluation limits. A compiler that is not there makes skipped tests.

if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    set(PTXDSL_MISUSE_GCC "${CMAKE_CXX_COMPILER}" CACHE FILEPATH "g++ that the misuse tests run")
else()
    find_program(PTXDSL_MISUSE_GCC NAMES g++ g++-15 g++-14 g++-13 g++-12 DOC "g++ that the misuse tests run")
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 19)
    set(PTXDSL_MISUSE_CLANG "${CMAKE_CXX_COMPILER}" CACHE FILEPATH "clang++, 19 or newer, that the misuse tests run")
else()
    find_program(PTXDSL_MISUSE_CLANG NAMES clang++-19 clang++-20 clang++-21 clang++-22
        DOC "clang++, 19 or newer, that the misuse tests run")
endif()
mark_as_advanced(PTXDSL_MISUSE_GCC PTXDSL_MISUSE_CLANG)

find_package(Python3 QUIET COMPONENTS Interpreter)

function(ptxdsl_misuse_test file)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "COMPILERS")
    if(NOT arg_COMPILERS)
        set(arg_COMPILERS gcc clang)
    endif()
    cmake_path(ABSOLUTE_PATH file)
    cmake_path(GET file STEM stem)

    # Headers of other projects that ours include. Only the directories, not the options: the limits stay as they are.
    set(directories "$<TARGET_PROPERTY:ptxdsl::hana_headers,INTERFACE_INCLUDE_DIRECTORIES>")
    if(TARGET fmt::fmt)
        list(APPEND directories "$<TARGET_PROPERTY:fmt::fmt,INTERFACE_INCLUDE_DIRECTORIES>")
    endif()
    foreach(compiler IN LISTS arg_COMPILERS)
        set(test "misuse.${stem}.${compiler}")
        string(TOUPPER "${compiler}" upper)
        if(NOT Python3_Interpreter_FOUND)
            ptxdsl_add_unavailable_test(${test} "python3 was not found" LABELS misuse ${compiler})
        elseif(NOT PTXDSL_MISUSE_${upper})
            ptxdsl_add_unavailable_test(${test} "no ${compiler} to check the refusals with" LABELS misuse ${compiler})
        else()
            add_test(NAME ${test}
                COMMAND Python3::Interpreter "${PROJECT_SOURCE_DIR}/tests/misuse/run_misuse.py"
                    --compiler "${compiler}=${PTXDSL_MISUSE_${upper}}"
                    -I "${PROJECT_SOURCE_DIR}/include"
                    --isystem "$<JOIN:${directories},:>"
                    --jobs 1
                    --pch "${PROJECT_BINARY_DIR}/misuse-pch"
                    --count "${PROJECT_BINARY_DIR}/misuse-counts/${test}"
                    "${file}")
            set_tests_properties(${test} PROPERTIES LABELS "misuse;${compiler}" TIMEOUT 900)
        endif()
    endforeach()
endfunction()
