# SPDX-License-Identifier: Apache-2.0
"""Conan 2 recipe. `conan create .` builds the package and tests/packaging/conan against it.

`-o ptxdsl/*:header_only=False` adds the compiled kernel library (ptxdsl::kernels), shared with `-o ptxdsl/*:shared=True`.

Boost and fmt come from the system unless `-o ptxdsl/*:system_deps=False`; then Conan's own packages are used.
"""
import os
import re

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load
from conan.tools.scm import Version

required_conan_version = ">=2.0"


class PtxdslRecipe(ConanFile):
    name = "ptxdsl"
    description = "Write NVIDIA PTX kernels in C++20; the C++ compiler assembles them and refuses the wrong ones"
    license = "Apache-2.0"
    topics = ("cuda", "ptx", "gpu", "dsl", "header-only", "constexpr")
    package_type = "library"
    settings = "os", "arch", "compiler", "build_type"
    options = {"runtime": [True, False], "system_deps": [True, False], "header_only": [True, False],
               "shared": [True, False]}
    default_options = {"runtime": True, "system_deps": True, "header_only": True, "shared": False}
    exports_sources = "CMakeLists.txt", "LICENSE", "cmake/*", "include/*", "src/*"
    no_copy_source = True
    test_package_folder = "tests/packaging/conan"

    def set_version(self):
        text = load(self, os.path.join(self.recipe_folder, "include", "ptxdsl", "version.hpp"))
        parts = (re.search(rf"#define PTXDSL_VERSION_{part} (\d+)", text)[1] for part in ("MAJOR", "MINOR", "PATCH"))
        self.version = ".".join(parts)

    def configure(self):
        if self.options.header_only:
            self.options.rm_safe("shared")

    def layout(self):
        cmake_layout(self)

    def requirements(self):
        if not self.options.system_deps:
            self.requires("boost/[>=1.74 <2]", transitive_headers=True, options={"header_only": True})
            if self.options.runtime:
                self.requires("fmt/[>=9 <13]", transitive_headers=True)

    def package_id(self):
        if self.info.options.header_only:  # one package for all
            self.info.settings.clear()
            self.info.requires.clear()

    def validate(self):
        check_min_cppstd(self, 20)
        oldest = {"gcc": "12", "clang": "16"}.get(str(self.settings.compiler))
        if oldest and Version(self.settings.compiler.version) < oldest:
            raise ConanInvalidConfiguration(f"ptxdsl needs {self.settings.compiler} {oldest} or newer")
        if not self.options.header_only and not self.options.runtime:
            raise ConanInvalidConfiguration("ptxdsl::kernels needs the runtime")

    def generate(self):
        if not self.options.system_deps:
            CMakeDeps(self).generate()
        toolchain = CMakeToolchain(self)
        for part in ("TESTS", "EXAMPLES", "BENCH", "TOOLS"):
            toolchain.cache_variables[f"PTXDSL_BUILD_{part}"] = False
        toolchain.cache_variables["PTXDSL_INSTALL"] = True
        toolchain.cache_variables["PTXDSL_RUNTIME"] = bool(self.options.runtime)
        toolchain.cache_variables["PTXDSL_KERNELS"] = not self.options.header_only
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        if not self.options.header_only:
            cmake.build(target="ptxdsl_kernels")

    def package(self):
        CMake(self).install()
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))

    def package_info(self):
        # The package's own CMake files are used, as everywhere else; they find Boost and fmt by the names that
        # Conan's packages of them have too.
        self.cpp_info.set_property("cmake_find_mode", "none")
        self.cpp_info.builddirs = [os.path.join("share", "cmake", "ptxdsl")]
        self.cpp_info.bindirs = []
        self.cpp_info.libdirs = [] if self.options.header_only else ["lib"]
