#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests the recipe for Spack (deploy/spack), which is executed with a small stand-in for Spack's package API.

    spack_test.py TREE build/openmp

CTest runs it as spack_recipe_fits_the_build. The stand-in accepts only the directives that Spack's documentation
describes. Compared with the build: each library that CMake requires is a dependency with CMake's oldest version, each
option of CMake is set or left out on purpose, and each backend gets its options. CMake configures the tree with the
arguments of the recipe, and with the Kokkos of the build as that of Spack. Spack itself is not tested:
dependencies are not solved.
"""
import contextlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import types

problems = []
RECIPE = "deploy/spack/spack_repo/encore/packages/encore/package.py"
# Packages of Spack for what CMake looks for, by the name in cmake/.
PACKAGE_OF = {"OpenSSL": "openssl", "SQLite3": "sqlite", "Boost": "boost", "nlohmann_json": "nlohmann-json", "PkgConfig": "pkgconfig",
              "libutf8proc": "utf8proc", "libzstd": "zstd", "toml++/toml.h": "tomlplusplus", "sentencepiece": "sentencepiece", "re2": "re2",
              "oneapi/dnnl/dnnl.hpp": "onednn", "MPI": "mpi", "GTest": "googletest", "Python3": "python", "KokkosKernels": "kokkos-kernels"}
NOT_PACKAGES = {"Threads", "OpenMP", "Kokkos"}   # of the compiler; tested by itself
# For contributors, for packages (cmake/package.sh), and module files, which Spack writes itself.
LEFT_OUT = {"ENCORE_WARNINGS_AS_ERRORS", "ENCORE_SANITIZE", "ENCORE_ONE_WORKER", "ENCORE_ONLY_WORKER", "ENCORE_MODULES"}
LEFT_OUT_BACKENDS = {"SERIAL"}   # for measurements


def expect(condition, what):
    if not condition:
        problems.append(what)


class Version(tuple):
    def __new__(cls, text):
        return super().__new__(cls, (int(part) for part in text.split(".")))


class Dependency:
    """One depends_on: "sqlite@3.40: +fts" with what it is for and when it holds."""

    def __init__(self, spec, type=("build", "link"), when=""):
        found = re.fullmatch(r"([a-z][a-z0-9-]*)(?:@([\d.]*)(:?)([\d.]*))?((?: ?[+~]\w+| \w+=[\w.:+-]+)*)", spec)
        assert found, f"depends_on({spec!r}) is not a spec"
        self.name, self.oldest, self.spec, self.when = found.group(1), found.group(2), spec, when
        self.kinds = {type} if isinstance(type, str) else set(type)


class Spec:
    """A concrete spec of the stand-in: variants and the prefixes of dependencies."""

    def __init__(self, variants, prefix="/spack/opt"):
        self.chosen, self.root = variants, prefix
        self.variants = {name: types.SimpleNamespace(value=value) for name, value in variants.items()}

    def satisfies(self, condition):
        for sign, name, value in re.findall(r"([+~])(\w+)|(?:^| )(\w+=\w+)", condition):
            if value:
                key, wanted = value.split("=")
                if wanted not in self.chosen.get(key, ()):
                    return False
            elif bool(self.chosen.get(name)) is not (sign == "+"):
                return False
        return True

    def __getitem__(self, package):
        prefix = self.root if package == "kokkos" else f"/spack/opt/{package}"
        return types.SimpleNamespace(prefix=prefix, hipcc=f"{prefix}/bin/hipcc")


class Recipe:
    """What the directives of one class body have declared."""

    def __init__(self):
        self.dependencies, self.variants, self.conflicts, self.versions = [], [], [], []
        self.generator = self.filtered = None

    def define(self, option, value):
        kind = "BOOL" if isinstance(value, bool) else "STRING"
        return f"-D{option}:{kind}={('ON' if value else 'OFF') if kind == 'BOOL' else value}"


def load(tree):
    """Executes the recipe with the stand-in; returns the class and what it has declared."""
    recipe = Recipe()

    class PackageBase:
        run_tests = False

        def define(self, option, value):
            return recipe.define(option, value)

        def define_from_variant(self, option, variant):
            assert variant in self.spec.chosen, f"define_from_variant: this spec has no variant {variant}"
            return recipe.define(option, self.spec.chosen[variant])

    def mixin(name, **members):
        return type(name, (PackageBase,), members)

    def variant(name, default, description, when="", values=None):
        assert description
        recipe.variants.append((name, default, when))

    api = types.ModuleType("spack.package")
    for name, value in {
            "version": lambda name, branch=None, tag=None, commit=None: recipe.versions.append((name, branch)),
            "variant": variant,
            "depends_on": lambda spec, type=("build", "link"), when="": recipe.dependencies.append(Dependency(spec, type, when)),
            "conflicts": lambda spec, when="", msg="": recipe.conflicts.append((spec, when, msg)),
            "license": lambda name: expect(name == "BSD-3-Clause", "the licence differs from LICENSE"),
            "filter_compiler_wrappers": lambda *files, relative_root: setattr(recipe, "filtered", (files, relative_root)),
            "run_after": lambda phase: lambda function: function,
            "working_dir": contextlib.nullcontext, "Executable": None, "cmake": None, "ctest": None}.items():
        setattr(api, name, value)
    modules = {"spack": types.ModuleType("spack"), "spack.package": api}
    for name, members in {"cmake": {"CMakePackage": mixin("CMakePackage"), "generator": lambda name: setattr(recipe, "generator", name)},
                          "cuda": {"CudaPackage": mixin("CudaPackage", cuda_arch_values=("80", "90"))},
                          "rocm": {"ROCmPackage": mixin("ROCmPackage", amdgpu_targets=("gfx90a", "gfx90a:xnack-"))}}.items():
        module = types.ModuleType(f"spack_repo.builtin.build_systems.{name}")
        module.__dict__.update(members)
        modules[module.__name__] = module
    for name in ("spack_repo", "spack_repo.builtin", "spack_repo.builtin.build_systems"):
        modules[name] = types.ModuleType(name)
    sys.modules.update(modules)
    path = os.path.join(tree, RECIPE)
    scope = {"__file__": path, "__name__": "recipe"}
    exec(compile(open(path, encoding="utf-8").read(), path, "exec"), scope)   # pylint: disable=exec-used
    return scope["Encore"], recipe


def without_comments(path):
    return re.sub(r"#.*", "", open(path, encoding="utf-8").read())


def check_libraries(tree, recipe):
    """Every package that CMake looks for is a dependency, with the oldest version that CMake takes."""
    text = without_comments(os.path.join(tree, "cmake", "dependencies.cmake")) + without_comments(os.path.join(tree, "cmake", "kokkos.cmake"))
    looked_for = {name: version for name, version in re.findall(r"find_package\((\w+)(?: ([\d.]+))?", text)}
    looked_for |= {name: "" for name in re.findall(r"pkg_check_modules\(\w+ (?:REQUIRED|QUIET) IMPORTED_TARGET ([\w-]+)\)", text)}
    looked_for |= {name: "" for name in re.findall(r"find_path\(\w+ ([\w./+]+?)(?: REQUIRED)?\)", text)}
    expect({"OpenSSL", "libzstd", "toml++/toml.h"} <= looked_for.keys(), f"the test found only {sorted(looked_for)} in cmake/")
    by_name = {each.name: each for each in recipe.dependencies if each.oldest}
    all_names = {each.name for each in recipe.dependencies}
    for name, version in looked_for.items():
        if name in NOT_PACKAGES:
            continue
        expect(name in PACKAGE_OF, f"cmake/ looks for {name}, for which this test knows no package of Spack: add it to the recipe and here")
        package = PACKAGE_OF.get(name, "")
        expect(package in all_names, f"cmake/ looks for {name}, and the recipe has no depends_on({package!r})")
        if version and package in by_name:
            expect(by_name[package].oldest == version, f"cmake/ takes {name} from {version} on, the recipe from {by_name[package].oldest} on")
    oldest = re.search(r"set\(kokkos_oldest ([\d.]+)\)", text).group(1)
    kokkos = by_name["kokkos"]
    expect(Version(kokkos.oldest)[:2] == Version(oldest) and "@" + kokkos.oldest + ":4 " in kokkos.spec, f"Kokkos must be {oldest} or a later 4.x")
    minimum = re.search(r"cmake_minimum_required\(VERSION ([\d.]+)\)", open(os.path.join(tree, "CMakeLists.txt"), encoding="utf-8").read()).group(1)
    expect(by_name["cmake"].oldest == minimum, f"the tree needs CMake {minimum}")
    optional = {"onednn": "+onednn", "sentencepiece": "+sentencepiece", "re2": "+re2", "mpi": "+mpi"}
    for package, condition in optional.items():
        expect(by_name.get(package, next(each for each in recipe.dependencies if each.name == package)).when == condition,
               f"{package} must depend on {condition}")
    for each in recipe.dependencies:
        if each.name == "googletest":
            expect(each.kinds == {"test"}, "googletest is for tests only")


def check_options(tree, package, recipe):
    """Every option of CMake is set by the recipe, or left out on purpose, and every backend has its own arguments."""
    text = without_comments(os.path.join(tree, "cmake", "options.cmake")) + without_comments(os.path.join(tree, "cmake", "dependencies.cmake"))
    text += without_comments(os.path.join(tree, "cmake", "install.cmake"))
    known = set(re.findall(r"option\((ENCORE_\w+)", text)) | set(re.findall(r"set\((ENCORE_\w+) [^)]*CACHE (?:STRING|PATH|BOOL)", text))
    known |= set(re.findall(r"find_program\((ENCORE_\w+)", text))
    backends = set(re.search(r"STRINGS ([A-Z ]+)\)", text).group(1).split())
    seen = {}
    common = {"mpi": True, "sentencepiece": True, "re2": True, "library": True}
    for backend, variants in {"OPENMP": {"onednn": True, "float16": False}, "CUDA": {"cuda": True, "cuda_arch": ("90",), "float16": True},
                              "HIP": {"rocm": True, "amdgpu_target": ("gfx90a",), "float16": False}}.items():
        self = package()
        self.spec = Spec({**common, **variants})
        args = dict(re.fullmatch(r"-D(\w+):\w+=(.*)", each).groups() for each in self.cmake_args())
        seen[backend] = args
        for option in args:
            expect(option in known or option.startswith(("CMAKE_", "Kokkos")), f"the recipe sets {option}, which cmake/ does not declare")
        expect(known - set(args) <= LEFT_OUT, f"{backend}: the recipe does not set {sorted(known - set(args) - LEFT_OUT)}")
        expect(args["ENCORE_BACKEND"] == backend, f"{backend}: ENCORE_BACKEND is {args['ENCORE_BACKEND']}")
        refused = [message for spec, when, message in recipe.conflicts if spec.startswith(("+", "cuda_arch")) and
                   self.spec.satisfies(spec) and self.spec.satisfies(when)]
        expect(not refused, f"{backend} is refused: {refused}")
        needed = [each.spec for each in recipe.dependencies if each.name == "kokkos" and self.spec.satisfies(each.when)]
        expect(any({"OPENMP": "+openmp", "CUDA": "+cuda", "HIP": "+rocm"}[backend] in each for each in needed), f"{backend}: Kokkos is {needed}")
        env = types.SimpleNamespace(of={}, set=lambda name, value, of={}: of.__setitem__(name, value), prepend_path=lambda *words: None)
        self.setup_build_environment(env)
    expect(backends - LEFT_OUT_BACKENDS == seen.keys(), f"the backends of cmake/options.cmake are {sorted(backends)}")
    expect(seen["CUDA"]["CMAKE_CUDA_ARCHITECTURES"] == "90", "CUDA: the architecture of the GPU must be that of Kokkos")
    expect(seen["HIP"]["CMAKE_CXX_COMPILER"].endswith("hipcc") and "KokkosKernels_ROOT" in seen["HIP"], "HIP: hipcc and Kokkos Kernels")
    both = Spec({**common, "cuda": True, "rocm": True, "cuda_arch": ("none",)})
    messages = [message for spec, when, message in recipe.conflicts if both.satisfies(spec) and both.satisfies(when) and not spec.startswith(("%", "platform"))]
    expect(len(messages) == 2 and all(messages), f"two backends and a GPU without a name must be refused with a reason: {messages}")
    for name, default, when in recipe.variants:   # the defaults of the build, where it has them
        option = re.search(rf"option\(ENCORE_{name.upper()} \"[^\"]*\" (ON|OFF)\)", text)
        if option and not when:
            expect((option.group(1) == "ON") is default, f"variant {name}: the default of cmake/ is {option.group(1)}")
    expect(recipe.generator == "ninja" and recipe.versions == [("main", "main")], "generator and version")
    files, folder = recipe.filtered
    expect(f"{files[0]}.in" in os.listdir(os.path.join(tree, "cmake")) and folder == "lib/cmake/encore", "the toolchain file names the compiler")


def check_configuration(tree, build, package, work):
    """CMake takes the arguments of the recipe, and uses each of them."""
    kokkos = os.path.join(build, "lib", "encore", "kokkos")
    if not os.path.isdir(kokkos):
        print("not configured: this build has the Kokkos of a site")
        return
    self = package()
    self.spec = Spec({"mpi": False, "sentencepiece": False, "re2": False, "library": True, "onednn": False, "float16": False}, kokkos)
    done = subprocess.run(["cmake", "-G", "Ninja", "-S", tree, "-B", os.path.join(work, "configured"), *self.cmake_args()],
                          text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    expect(done.returncode == 0, f"CMake refuses the arguments of the recipe:\n{done.stdout}")
    expect("not used by the project" not in done.stdout, f"CMake does not know an argument of the recipe:\n{done.stdout}")
    expect(f"of this site, which programs and plugins name: {kokkos}" in done.stdout, f"the Kokkos of Spack is not used:\n{done.stdout}")
    expect("Ranks: none" in done.stdout and "unigram is left out" in done.stdout, f"a variant has no effect:\n{done.stdout}")


def main():
    tree, build = (os.path.abspath(path) for path in sys.argv[1:3])
    package, recipe = load(tree)
    check_libraries(tree, recipe)
    check_options(tree, package, recipe)
    expect(os.path.samefile(package.git[len("file://"):], tree), f"the source is {package.git}, and not the tree of the recipe")
    description = open(os.path.join(tree, "deploy", "spack", "spack_repo", "encore", "repo.yaml"), encoding="utf-8").read()
    expect(re.search(r"^  namespace: encore\n  api: v2\.\d+$", description, re.M), "repo.yaml: the namespace must be the name of the folder")
    if os.path.exists(os.path.join(build, "CMakeCache.txt")) and shutil.which("ninja"):
        with tempfile.TemporaryDirectory(prefix="encore-spack-") as work:
            check_configuration(tree, build, package, work)
    for problem in problems:
        print("FAILED  " + problem)
    print(f"{len(recipe.dependencies)} dependencies, {len(recipe.variants)} variants")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
