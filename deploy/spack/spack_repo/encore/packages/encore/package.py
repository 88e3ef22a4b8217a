# SPDX-License-Identifier: BSD-3-Clause
"""Builds Encore with Spack: backends, MPI and optional libraries are variants. docs/guides/site_install.md says how to use
it. tests/system/deploy/spack_test.py compares versions, options and backends with CMakeLists.txt and cmake/."""

import os
import pathlib

from spack_repo.builtin.build_systems.cmake import CMakePackage, generator
from spack_repo.builtin.build_systems.cuda import CudaPackage
from spack_repo.builtin.build_systems.rocm import ROCmPackage

from spack.package import *


class Encore(CMakePackage, CudaPackage, ROCmPackage):
    """Encore trains Transformer models and records every training, so that its numbers can be compared, reported and
    verified bit for bit."""

    # The source is the clone of Encore's repository in which this recipe lies. A site that keeps the recipe elsewhere
    # names the repository in packages.yaml: packages: {encore: {package_attributes: {git: ADDRESS}}}
    git = "file://" + str(pathlib.Path(__file__).resolve().parents[6])

    license("BSD-3-Clause")

    # One commit: spack install encore@git.COMMIT=main
    version("main", branch="main")

    variant("mpi", default=True, description="Train one run with several ranks")
    variant("onednn", default=True, description="Compute products on the host with oneDNN", when="~cuda ~rocm")
    variant("sentencepiece", default=True, description="Build the tokenizer unigram, which models of MarianMT need")
    variant("re2", default=True, description="Build the step match, regular expressions in applications")
    variant("float16", default=False, description="Compile kernels for float16 too", when="~cuda")
    variant("float16", default=True, description="Compile kernels for float16 too", when="+cuda")
    variant("library", default=True, description="Install libencore_infer for C and C++, and the Python package encore")

    generator("ninja")

    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("git", type="build")  # the build records the commit of the source
    depends_on("pkgconfig", type="build")

    depends_on("boost@1.74: +program_options")
    depends_on("nlohmann-json@3.11:")
    depends_on("openssl@3:")
    depends_on("sqlite@3.40: +fts")
    depends_on("tomlplusplus@3:")
    depends_on("utf8proc +shared")
    depends_on("zstd")
    depends_on("onednn@2.6:", when="+onednn")
    depends_on("sentencepiece", when="+sentencepiece")
    depends_on("re2", when="+re2")
    depends_on("mpi@3:", when="+mpi")
    depends_on("python@3.9:", type="run", when="+library")
    depends_on("googletest@1.12:", type="test")
    depends_on("python@3.9:", type="test")

    # Kokkos: a shared library for the backend, in C++20. As Spack builds 4.7.00, it has the old views of Kokkos, with
    # which Encore has not been tried.
    depends_on("kokkos@4.7.01:4 +shared cxxstd=20")
    depends_on("kokkos +openmp", when="~cuda ~rocm")
    depends_on("kokkos +cuda +cmake_lang ~cuda_relocatable_device_code", when="+cuda")
    depends_on("kokkos +rocm", when="+rocm")
    depends_on("kokkos-kernels@4.7.01:4 +shared", when="+rocm")
    depends_on("cuda@12.2:", when="+cuda")
    depends_on("hip", when="+rocm")
    for arch in CudaPackage.cuda_arch_values:
        depends_on(f"kokkos cuda_arch={arch}", when=f"+cuda cuda_arch={arch}")
    for target in ROCmPackage.amdgpu_targets:
        depends_on(f"kokkos amdgpu_target={target}", when=f"+rocm amdgpu_target={target}")

    conflicts("+cuda", when="+rocm", msg="Encore is built for one backend: install one spec for each")
    conflicts("cuda_arch=none", when="+cuda", msg="name the GPU, such as encore +cuda cuda_arch=90")
    conflicts("%gcc@:11", msg="no GCC before 12 has compiled Encore")
    conflicts("platform=darwin", msg="Encore runs on Linux")

    # Users build their plugins with the compiler, not with Spack's wrapper, which needs the environment of a build.
    filter_compiler_wrappers("encore-toolchain.cmake", relative_root=os.path.join("lib", "cmake", "encore"))

    sanity_check_is_file = [
        os.path.join("bin", "exp"),
        os.path.join("bin", "encore-worker"),
        os.path.join("lib", "cmake", "encore", "encore-config.cmake"),
    ]

    def backend(self):
        if self.spec.satisfies("+cuda"):
            return "CUDA"
        return "HIP" if self.spec.satisfies("+rocm") else "OPENMP"

    def setup_build_environment(self, env):
        if self.spec.satisfies("+rocm"):
            env.set("HIP_PLATFORM", "amd")

    def cmake_args(self):
        args = [
            self.define("ENCORE_BACKEND", self.backend()),
            self.define("ENCORE_TESTS", self.run_tests),
            self.define_from_variant("ENCORE_FLOAT16", "float16"),
            self.define_from_variant("ENCORE_MPI", "mpi"),
            self.define_from_variant("ENCORE_SENTENCEPIECE", "sentencepiece"),
            self.define_from_variant("ENCORE_RE2", "re2"),
            self.define("ENCORE_ONEDNN", self.spec.satisfies("+onednn")),
            self.define("ENCORE_CCACHE", ""),  # Spack has an option of its own for ccache
            self.define("Kokkos_ROOT", self.spec["kokkos"].prefix),
        ]
        if self.spec.satisfies("+cuda"):
            args.append(self.define("CMAKE_CUDA_ARCHITECTURES", self.spec.variants["cuda_arch"].value[0]))
        if self.spec.satisfies("+rocm"):
            args.append(self.define("KokkosKernels_ROOT", self.spec["kokkos-kernels"].prefix))
            args.append(self.define("CMAKE_CXX_COMPILER", self.spec["hip"].hipcc))
        return args

    @run_after("install")
    def install_library(self):
        if self.spec.satisfies("+library"):
            with working_dir(self.build_directory):
                cmake("--build", ".", "--target", "encore_infer_library")
                cmake("--install", ".", "--component", "library")

    def setup_run_environment(self, env):
        """As the module file of an installation does (cmake/modulefile.in)."""
        env.set("ENCORE_ROOT", self.prefix)
        if self.spec.satisfies("+library"):
            env.prepend_path("PYTHONPATH", os.path.join(self.prefix.lib, "encore", "python"))

    def check(self):
        """Runs the tests of single parts. The tests of label system need a build as ./exp makes it."""
        with working_dir(self.build_directory):
            ctest("--output-on-failure", "--label-exclude", "system")

    def test_worker(self):
        """start exp and the worker"""
        exp = Executable(os.path.join(self.prefix.bin, "exp"))
        out = exp("version", "--worker", output=str.split, error=str.split)
        assert f"backend of this build: {self.backend().lower()}" in out
