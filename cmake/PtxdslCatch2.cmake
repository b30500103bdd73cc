# SPDX-License-Identifier: Apache-2.0
# Catch2, 2.13 or 3, behind one name. Test sources write `#include "catch.hpp"` (tests/catch.hpp), which picks the
# right header; tests/catch_main.cpp is the main function for both.
#
# ptxdsl_add_test(<name> SOURCES <file>... [LINK <target>...] [CORE_ONLY] [LABELS <label>...] [PROPERTIES <p> <v>...])
#
# builds <name> and gives CTest one test per TEST_CASE, named `<name>/<test case>` and labelled `unit` and <labels>.
# A test case that cannot run here calls PTXDSL_SKIP("reason") and counts as skipped.

find_package(Catch2 QUIET CONFIG)
if(TARGET Catch2::Catch2)
    message(STATUS "ptxdsl: tests use Catch2 ${Catch2_VERSION}")
    string(REGEX MATCH "^[0-9]+" PTXDSL_CATCH2_MAJOR "${Catch2_VERSION}")
    add_library(ptxdsl_catch STATIC "${PROJECT_SOURCE_DIR}/tests/catch_main.cpp")
    target_compile_features(ptxdsl_catch PUBLIC cxx_std_20)
    target_include_directories(ptxdsl_catch PUBLIC "${PROJECT_SOURCE_DIR}/tests")
    target_link_libraries(ptxdsl_catch PUBLIC Catch2::Catch2)
    # gcc 12 at -O2 and above sees overflows in Catch2 2.13's string code that are not there.
    target_compile_options(ptxdsl_catch PRIVATE -w)
else()
    message(STATUS "ptxdsl: Catch2 was not found, the tests written with it are skipped")
endif()

function(ptxdsl_add_test name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "CORE_ONLY" "" "SOURCES;LINK;LABELS;PROPERTIES")
    if(NOT arg_SOURCES)
        set(arg_SOURCES ${name}.cpp)
    endif()
    if(NOT TARGET ptxdsl_catch)
        ptxdsl_add_unavailable_test(${name} "Catch2 was not found" LABELS unit ${arg_LABELS})
        return()
    endif()
    set(core_only "")
    if(arg_CORE_ONLY)
        set(core_only CORE_ONLY)
    endif()
    ptxdsl_program(${name} SOURCES ${arg_SOURCES} LINK ptxdsl_catch ${arg_LINK} ${core_only})
    if(NOT TARGET ${name})
        return()
    endif()

    set(base "${CMAKE_CURRENT_BINARY_DIR}/${name}")
    set(labels unit ${arg_LABELS})
    set(properties "SKIP_RETURN_CODE 77 TIMEOUT 600 LABELS [==[${labels}]==]")
    string(APPEND properties " ENVIRONMENT [==[PTXDSL_PTXAS=${PTXDSL_PTXAS}]==]")
    foreach(value IN LISTS arg_PROPERTIES)
        string(APPEND properties " [==[${value}]==]")
    endforeach()
    file(CONFIGURE OUTPUT "${base}.properties" CONTENT "@properties@" @ONLY)

    set(script "${PROJECT_SOURCE_DIR}/cmake/PtxdslDiscover.cmake")
    set_property(TARGET ${name} APPEND PROPERTY LINK_DEPENDS "${script}" "${base}.properties")
    add_custom_command(TARGET ${name} POST_BUILD VERBATIM
        BYPRODUCTS "${base}.tests.cmake"
        COMMAND "${CMAKE_COMMAND}" "-DPROGRAM=$<TARGET_FILE:${name}>" -DNAME=${name}
            -DCATCH2_MAJOR=${PTXDSL_CATCH2_MAJOR} "-DPROPERTIES=${base}.properties" "-DOUTPUT=${base}.tests.cmake"
            -P "${script}")
    # Not built yet: one test that fails and says which.
    file(CONFIGURE OUTPUT "${base}.include.cmake" @ONLY CONTENT
        "if(EXISTS [==[@base@.tests.cmake]==])\n    include([==[@base@.tests.cmake]==])\nelse()\n    add_test(@name@_NOT_BUILT @name@_NOT_BUILT)\nendif()\n")
    set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES "${base}.include.cmake")
endfunction()

# A test that cannot run on this machine is still a test: it counts as skipped, with the reason.
function(ptxdsl_add_unavailable_test name reason)
    cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "LABELS")
    add_test(NAME "${name}" COMMAND "${CMAKE_COMMAND}" -E echo "skipped: ${reason}")
    set_tests_properties("${name}" PROPERTIES SKIP_REGULAR_EXPRESSION "^skipped: " LABELS "${arg_LABELS}")
endfunction()
