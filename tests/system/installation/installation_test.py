#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests that a build and its installation depend on no folder and no user.

    installation_test.py TREE build/openmp openmp [--site-libraries] [--lint-only]

CTest runs it as an_installation_names_no_folder (cmake/install.cmake and cmake/encore_plugin.cmake are
tested). No program, library, plugin or manifest names the folder of the sources, of the build or of the user
who built it; RUNPATH is relative; installing changes no byte. What is compiled in two folders is equal: an
object of the kernels, and a plugin made against the build and against an installation that has been moved.
--site-libraries: RUNPATH may name folders of the site (its Kokkos, CUDA), outside of the tree, the build and
the home. two_builds.sh beside this file does the same with two whole builds.
"""
import argparse
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

problems = []
OBJECT = "framework/kernels/mean_rows.cpp"   # small, and its checks name their place in the source


def expect(condition, what):
    if not condition:
        problems.append(what)


def sha256(path):
    return hashlib.sha256(open(path, "rb").read()).hexdigest()


def files_below(folder, skipped=()):
    for root, folders, names in os.walk(folder):
        folders[:] = [each for each in folders if os.path.join(root, each) not in skipped]
        for name in names:
            path = os.path.join(root, name)
            if os.path.isfile(path) and not os.path.islink(path):
                yield path


def is_elf(path):
    with open(path, "rb") as file:
        return file.read(4) == b"\x7fELF"


def run_paths(path):
    text = subprocess.run(["readelf", "-d", path], text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    return [each for entry in re.findall(r"\((?:RUNPATH|RPATH)\).*\[(.*)\]", text) for each in entry.split(":") if each]


def lint(files, forbidden, site_libraries):
    """Checks that no file contains a forbidden folder and no RUNPATH is absolute."""
    count = 0
    for path in files:
        count += 1
        content = open(path, "rb").read()
        for folder in forbidden:
            at = content.find(folder.encode())
            text = content[at:at + 120].split(b"\0")[0].decode(errors="replace")
            expect(at < 0, f"{path} names a folder of the user who built it: {text}")
        if is_elf(path) and not site_libraries:   # an MPI of the system has a folder of its own
            absolute = [each for each in run_paths(path) if not each.startswith(("$ORIGIN", "/usr/"))]
            expect(not absolute, f"{path} has an absolute RUNPATH: {absolute}")
    return count


def shell(command, folder=None, **environment):
    done = subprocess.run(command, cwd=folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          env={**os.environ, "CCACHE_DISABLE": "1", **environment})
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)} failed:\n{done.stdout}")
    return done.stdout


def install(build, prefix, programs):
    """Installs, and checks that every file of `programs` kept its bytes and that others can read it, whatever the umask."""
    before = os.umask(0o077)
    shell(["cmake", "--install", build, "--prefix", prefix])
    os.umask(before)
    for path in programs:
        installed = os.path.join(prefix, os.path.relpath(path, build))
        expect(os.path.exists(installed), f"{path} is not installed")
        if os.path.exists(installed):
            expect(sha256(path) == sha256(installed), f"installing has changed {path}")
    modules = os.path.join(prefix, "share", "encore", "modulefiles", "encore")
    expect(os.path.isdir(modules) and len(os.listdir(modules)) == 1, f"{modules} has one module file (modules_test loads it)")
    for root, _, names in os.walk(prefix):
        for path in [root] + [os.path.join(root, name) for name in names]:
            if path != prefix and not os.path.islink(path):
                expect(os.stat(path).st_mode & 0o004, f"{path} cannot be read by other users")


def compile_in(folder, tree, build):
    """Returns the bytes of the kernels' object, compiled as in the build, but in a copy of the tree."""
    copy, copied_build = os.path.join(folder, "tree"), os.path.join(folder, "tree", "build", "here")
    shutil.copytree(os.path.join(tree, "framework"), os.path.join(copy, "framework"))
    os.makedirs(os.path.join(copied_build, "lib", "encore"))
    kokkos = os.path.join(build, "lib", "encore", "kokkos")
    if os.path.exists(kokkos):
        shutil.copytree(kokkos, os.path.join(copied_build, "lib", "encore", "kokkos"), symlinks=True)
    commands = json.load(open(os.path.join(build, "compile_commands.json"), encoding="utf-8"))
    entry = next(each for each in commands if each["file"] == os.path.join(tree, OBJECT))
    out = os.path.join(copied_build, "object.o")
    command = re.sub(r" -o \S+", f" -o {out}", entry["command"]).replace(build, copied_build).replace(tree, copy)
    shell(["sh", "-c", f"cd '{copied_build}' && {command}"])
    content = open(out, "rb").read()
    expect(OBJECT.encode() in content, f"{OBJECT}: the object names its source from the root of the tree")
    expect(folder.encode() not in content, f"{OBJECT}: the object names the folder that it was compiled in")
    return content


def build_plugin(folder, prefix, home, backend):
    """Builds a plugin from the template with the Encore in `prefix` and returns the files that a run records."""
    os.makedirs(folder)
    os.makedirs(home)
    exp = os.path.join(prefix, "bin", "exp")
    shell([exp, "plugin", "new", "my_layer", "--kind", "layer"], folder, HOME=home)
    shell([exp, "plugin", "build", "my_layer"], folder, HOME=home)
    made = os.path.join(folder, "my_layer", "build", backend, "plugins")
    expect(lint(files_below(made), [folder, home, prefix], False) == 2, f"{made} holds a plugin and its manifest")
    return {name: sha256(os.path.join(made, name)) for name in os.listdir(made)}


def main():
    parser = argparse.ArgumentParser()
    for name in ("tree", "build", "backend"):
        parser.add_argument(name)
    parser.add_argument("--site-libraries", action="store_true")
    parser.add_argument("--lint-only", action="store_true")
    options = parser.parse_args()
    tree, build = os.path.abspath(options.tree), os.path.abspath(options.build)

    cache = os.environ.get("ENCORE_CACHE") or os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "encore")
    home = os.path.expanduser("~").rstrip("/")
    forbidden = [each for each in [tree, build, cache, home + "/" if home else ""] if each]
    # The tests' own programs name the folders of their data, the package of the build the sources beside it.
    built = list(files_below(os.path.join(build, "bin"), {os.path.join(build, "bin", "tests")}))
    built += [each for each in files_below(os.path.join(build, "lib"), {os.path.join(build, "lib", "cmake")})
              if ".so" in each or each.endswith(".json")]
    print(f"{lint(built, forbidden, options.site_libraries)} files of the build")
    with tempfile.TemporaryDirectory(prefix="encore-installation-") as work:
        prefix = os.path.join(work, "prefix")
        install(build, prefix, [each for each in built if "libencore_infer." not in each])   # which is installed if asked for
        print(f"{lint(files_below(prefix), forbidden + [prefix], options.site_libraries)} files of the installation")
        if not options.lint_only:
            objects = [compile_in(os.path.join(work, each), tree, build) for each in ("a", "another/and/longer")]
            expect(objects[0] == objects[1], f"{OBJECT} has other bytes in another folder")
            moved = os.path.join(work, "moved", "elsewhere")
            os.makedirs(os.path.dirname(moved))
            os.rename(prefix, moved)
            plugins = [build_plugin(os.path.join(work, folder), encore, os.path.join(work, folder + "-home"), options.backend)
                       for folder, encore in (("p", moved), ("plugin/in/another", build))]
            expect(plugins[0] == plugins[1], f"a plugin has other bytes in another folder and with another Encore: {plugins}")
            print("an object and a plugin, each compiled in two folders")
    for problem in problems:
        print("FAILED  " + problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
