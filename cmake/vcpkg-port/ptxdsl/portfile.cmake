# SPDX-License-Identifier: Apache-2.0
# Overlay port: packages the checkout it lies in.
#
#   vcpkg install ptxdsl --overlay-ports=<checkout>/cmake/vcpkg-port

set(VCPKG_BUILD_TYPE release) # headers, and a library that is the same for a debug build
get_filename_component(SOURCE_PATH "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)

vcpkg_check_features(OUT_FEATURE_OPTIONS feature_options
    FEATURES
        runtime PTXDSL_RUNTIME
        kernels PTXDSL_KERNELS)

vcpkg_cmake_configure(
    SOURCE_PATH "${SOURCE_PATH}"
    OPTIONS
        ${feature_options}
        -DPTXDSL_INSTALL=ON
        -DPTXDSL_INSTALL_CMAKEDIR=share/ptxdsl
        -DPTXDSL_BUILD_TESTS=OFF
        -DPTXDSL_BUILD_EXAMPLES=OFF
        -DPTXDSL_BUILD_BENCH=OFF
        -DPTXDSL_BUILD_TOOLS=OFF)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup()

file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/share/licenses")
if(NOT "kernels" IN_LIST FEATURES)
    file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/lib")
endif()
file(INSTALL "${CMAKE_CURRENT_LIST_DIR}/usage" DESTINATION "${CURRENT_PACKAGES_DIR}/share/${PORT}")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
