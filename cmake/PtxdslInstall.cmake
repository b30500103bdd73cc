# SPDX-License-Identifier: Apache-2.0
# Install rules and the CMake package `ptxdsl`, for the install tree and for the build tree.
#
# The package has three components: `core` is always there, `runtime` adds ptxdsl::runtime, `kernels` ptxdsl::kernels
# where the library was built.

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(PTXDSL_INSTALL_CMAKEDIR "${CMAKE_INSTALL_DATAROOTDIR}/cmake/ptxdsl" CACHE STRING
    "Where the CMake package goes, below the install prefix")

install(TARGETS ptxdsl EXPORT ptxdsl-core FILE_SET HEADERS DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
install(EXPORT ptxdsl-core NAMESPACE ptxdsl:: FILE ptxdslCoreTargets.cmake DESTINATION "${PTXDSL_INSTALL_CMAKEDIR}")
export(EXPORT ptxdsl-core NAMESPACE ptxdsl:: FILE "${PROJECT_BINARY_DIR}/ptxdslCoreTargets.cmake")
if(PTXDSL_RUNTIME)
    install(TARGETS ptxdsl_runtime EXPORT ptxdsl-runtime FILE_SET HEADERS DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
    install(EXPORT ptxdsl-runtime NAMESPACE ptxdsl:: FILE ptxdslRuntimeTargets.cmake
        DESTINATION "${PTXDSL_INSTALL_CMAKEDIR}")
    export(EXPORT ptxdsl-runtime NAMESPACE ptxdsl:: FILE "${PROJECT_BINARY_DIR}/ptxdslRuntimeTargets.cmake")
endif()

if(TARGET ptxdsl_kernels)
    # Where it was not built there is nothing to install: the kernels come from the headers then.
    install(TARGETS ptxdsl_kernels EXPORT ptxdsl-kernels
        ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" OPTIONAL
        LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" OPTIONAL)
    install(EXPORT ptxdsl-kernels NAMESPACE ptxdsl:: FILE ptxdslKernelsTargets.cmake
        DESTINATION "${PTXDSL_INSTALL_CMAKEDIR}")
    export(EXPORT ptxdsl-kernels NAMESPACE ptxdsl:: FILE "${PROJECT_BINARY_DIR}/ptxdslKernelsTargets.cmake")
endif()

# The instruction table is data that tools outside this repository can read.
install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/ptxdsl/" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/ptxdsl"
    FILES_MATCHING PATTERN "*.isa")
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DATAROOTDIR}/licenses/ptxdsl")

set(PTXDSL_LIBDIR "${CMAKE_INSTALL_LIBDIR}")
configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/ptxdslConfig.cmake.in"
    "${PROJECT_BINARY_DIR}/ptxdslConfig.cmake"
    INSTALL_DESTINATION "${PTXDSL_INSTALL_CMAKEDIR}"
    NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file("${PROJECT_BINARY_DIR}/ptxdslConfigVersion.cmake"
    COMPATIBILITY SameMinorVersion # until 1.0 a minor version may change the interface
    ARCH_INDEPENDENT)
configure_file("${PROJECT_SOURCE_DIR}/cmake/PtxdslHana.cmake" "${PROJECT_BINARY_DIR}/PtxdslHana.cmake" COPYONLY)
install(FILES
    "${PROJECT_BINARY_DIR}/ptxdslConfig.cmake"
    "${PROJECT_BINARY_DIR}/ptxdslConfigVersion.cmake"
    "${PROJECT_SOURCE_DIR}/cmake/PtxdslHana.cmake"
    DESTINATION "${PTXDSL_INSTALL_CMAKEDIR}")
