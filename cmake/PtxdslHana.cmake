# SPDX-License-Identifier: Apache-2.0
# Finds the Boost.Hana headers and provides them as the imported target `ptxdsl::hana_headers`.
#
# Hana goes by three names: `Boost::headers` (a whole Boost), `Boost::hana` (a Boost built in parts) and `hana`
# (Hana on its own). ptxdsl only includes headers, so any of them will do, in this order. This file is installed: the
# package's config file and the build of ptxdsl itself find Hana in the same way.
#
# ptxdsl_find_hana(<found variable>)
#
# Call it in every directory scope that needs the target; imported targets are seen from where they were found and
# below. Set CMAKE_FIND_PACKAGE_TARGETS_GLOBAL first where a parent directory is to see them.
function(ptxdsl_find_hana found)
    set(provider "")
    foreach(candidate IN ITEMS Boost::headers Boost::hana)
        if(NOT provider AND TARGET ${candidate})
            set(provider ${candidate})
        endif()
    endforeach()

    if(NOT provider)
        find_package(Boost 1.74 QUIET CONFIG)
        if(NOT TARGET Boost::headers AND NOT TARGET Boost::hana)
            find_package(boost_hana QUIET CONFIG)
        endif()
        if(NOT TARGET Boost::headers AND NOT TARGET Boost::hana)
            find_package(Hana QUIET CONFIG)
        endif()
        foreach(candidate IN ITEMS Boost::headers Boost::hana hana)
            if(NOT provider AND TARGET ${candidate})
                set(provider ${candidate})
            endif()
        endforeach()
    endif()

    set(directory "")
    if(NOT provider)
        # Headers without any CMake package, as older distributions ship them.
        find_path(PTXDSL_HANA_INCLUDE_DIR NAMES boost/hana/tuple.hpp DOC "Directory that has boost/hana/tuple.hpp")
        mark_as_advanced(PTXDSL_HANA_INCLUDE_DIR)
        if(PTXDSL_HANA_INCLUDE_DIR)
            set(directory "${PTXDSL_HANA_INCLUDE_DIR}")
        endif()
    endif()

    if(provider OR directory)
        if(NOT TARGET ptxdsl::hana_headers)
            if(CMAKE_FIND_PACKAGE_TARGETS_GLOBAL)
                add_library(ptxdsl::hana_headers INTERFACE IMPORTED GLOBAL)
            else()
                add_library(ptxdsl::hana_headers INTERFACE IMPORTED)
            endif()
            if(provider)
                target_link_libraries(ptxdsl::hana_headers INTERFACE ${provider})
            else()
                target_include_directories(ptxdsl::hana_headers SYSTEM INTERFACE "${directory}")
            endif()
        endif()
        set(${found} TRUE PARENT_SCOPE)
    else()
        set(${found} FALSE PARENT_SCOPE)
    endif()
endfunction()
