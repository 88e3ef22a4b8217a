#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes a wheel for pip: the Python package `encore`, with a packaged Encore in its folder `_native`, and the command
`exp`. cmake/package.sh calls it. The same input gives the same bytes: files are sorted, and have one date.

    cmake/package_wheel.py STAGE PYTHON --version V --glibc 2.N -o DIR

STAGE: the folder with bin/exp. PYTHON: the folder that contains encore/__init__.py. Prints the path of the wheel, whose
tag says which glibc its files need (PEP 600).
"""
import argparse
import base64
import hashlib
import os
import stat
import sys
import time
import zipfile

# pip makes the command `exp` from this function.
COMMAND = '''# SPDX-License-Identifier: BSD-3-Clause
"""Starts the program exp of this package."""
import os
import sys


def main() -> None:
    program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "_native", "bin", "exp")
    os.environ.setdefault("ENCORE_COMMAND", "exp")
    os.execv(program, [program, *sys.argv[1:]])
'''

METADATA = """Metadata-Version: 2.1
Name: encore-exp
Version: {version}
Summary: Training of Transformers whose results can be proved
License: BSD-3-Clause
Requires-Python: >=3.9
Provides-Extra: pandas
Requires-Dist: pandas; extra == "pandas"
"""


def files_below(folder):
    """Yields (path, relative path) of all files, sorted."""
    for base, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            path = os.path.join(base, name)
            yield path, os.path.relpath(path, folder)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("stage")
    parser.add_argument("python")
    parser.add_argument("--version", required=True)
    parser.add_argument("--glibc", required=True)
    parser.add_argument("-o", "--out", required=True)
    arguments = parser.parse_args()
    version = arguments.version
    tag = "py3-none-manylinux_" + arguments.glibc.replace(".", "_") + "_x86_64"
    info = f"encore_exp-{version}.dist-info"
    seconds = max(int(os.environ.get("SOURCE_DATE_EPOCH", "315532800")), 315532800)  # zip begins at 1980
    date = time.gmtime(seconds)[:6]
    record = []

    def add(archive, name, content, executable=False):
        entry = zipfile.ZipInfo(name, date)
        entry.compress_type = zipfile.ZIP_DEFLATED
        entry.external_attr = (stat.S_IFREG | (0o755 if executable else 0o644)) << 16
        archive.writestr(entry, content, compresslevel=9)
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        record.append(f"{name},sha256={digest},{len(content)}")

    path = os.path.join(arguments.out, f"encore_exp-{version}-{tag}.whl")
    with zipfile.ZipFile(path + ".part", "w") as archive:
        for file, name in files_below(arguments.python):
            if name.endswith((".py", "py.typed")):
                with open(file, "rb") as source:
                    add(archive, name, source.read())
        add(archive, "encore/_command.py", COMMAND.encode())
        for file, name in files_below(arguments.stage):
            if os.path.islink(file):
                sys.exit(f"package_wheel.py: {file} is a link, which a wheel cannot contain")
            with open(file, "rb") as source:
                add(archive, "encore/_native/" + name, source.read(), os.access(file, os.X_OK))
        add(archive, f"{info}/METADATA", METADATA.format(version=version).encode())
        add(archive, f"{info}/WHEEL", f"Wheel-Version: 1.0\nGenerator: encore\nRoot-Is-Purelib: false\nTag: {tag}\n".encode())
        add(archive, f"{info}/entry_points.txt", b"[console_scripts]\nexp = encore._command:main\n")
        record.append(f"{info}/RECORD,,")
        entry = zipfile.ZipInfo(f"{info}/RECORD", date)
        entry.external_attr = (stat.S_IFREG | 0o644) << 16
        archive.writestr(entry, "\n".join(record) + "\n")
    os.replace(path + ".part", path)
    print(path)


if __name__ == "__main__":
    main()
