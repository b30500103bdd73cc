# SPDX-License-Identifier: Apache-2.0
import os

from conan import ConanFile
from conan.errors import ConanException
from conan.tools.build import can_run
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout


class PtxdslTestPackage(ConanFile):
    settings = "os", "arch", "compiler", "build_type"

    def requirements(self):
        self.requires(self.tested_reference_str)

    def layout(self):
        cmake_layout(self)

    def generate(self):
        CMakeDeps(self).generate()
        toolchain = CMakeToolchain(self)
        toolchain.user_presets_path = False  # leave the checkout as it is
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def test(self):
        package = self.dependencies["ptxdsl"].package_folder
        if not os.path.isfile(os.path.join(package, "licenses", "LICENSE")):
            raise ConanException("the package has no licence in it")
        if can_run(self):
            for program in ("test_package", "test_package_runtime"):
                path = os.path.join(self.cpp.build.bindir, program)
                if os.path.exists(path):
                    self.run(path, env="conanrun")
