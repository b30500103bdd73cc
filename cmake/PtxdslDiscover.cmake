# SPDX-License-Identifier: Apache-2.0
# Run after a Catch2 program was linked: asks it for its test cases and writes one CTest test for each.
#
# Catch2 brings such a script too, but its versions differ in how often they unpack a list (labels) and in the exit
# code they take for "skipped".
#
#   cmake -DPROGRAM=<file> -DNAME=<prefix> -DCATCH2_MAJOR=<2 or 3> -DPROPERTIES=<file> -DOUTPUT=<file> -P this
cmake_minimum_required(VERSION 3.25)

if(CATCH2_MAJOR EQUAL 2)
    set(list --list-test-names-only)
else()
    set(list --list-tests --verbosity quiet)
endif()
execute_process(COMMAND "${PROGRAM}" ${list} OUTPUT_VARIABLE names RESULT_VARIABLE status ERROR_VARIABLE problem)
if(NOT status EQUAL 0)
    message(FATAL_ERROR "${NAME} does not list its test cases: ${status} ${problem}")
endif()

file(READ "${PROPERTIES}" properties)
set(script "")
# Line by line; a name may have semicolons and brackets, so it must not become a list.
while(names MATCHES "^([^\n]*)\n(.*)$")
    set(test "${CMAKE_MATCH_1}")
    set(names "${CMAKE_MATCH_2}")
    if(test STREQUAL "")
        continue()
    endif()
    # What Catch2's filter language gives a meaning to.
    string(REGEX REPLACE "([\\,[])" "\\\\\\1" filter "${test}")
    string(APPEND script "add_test([==[${NAME}/${test}]==] [==[${PROGRAM}]==] [==[${filter}]==])\n"
        "set_tests_properties([==[${NAME}/${test}]==] PROPERTIES ${properties})\n")
endwhile()
if(script STREQUAL "")
    message(FATAL_ERROR "${NAME} has no test cases")
endif()
file(WRITE "${OUTPUT}" "${script}")
