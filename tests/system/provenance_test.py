#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests two facts of every run: the source of Encore that trained it, and the repository of its experiment
file.

    tests/system/provenance_test.py build/openmp [KEEP]

CTest runs it as provenance_test. It tests cmake/source_record.cmake, record/source_record.hpp, and what run,
show, report, bundle and verify make of them. Small trees stand for Encore's source: only what git and
cmake/source_record.cmake report of it matters. The programs are those of the build, copied into a folder for
each situation with the record of its tree, so that a real worker reads it and a real database, report, bundle
and `exp verify --build` show it. build_itself() tests the record of the build itself.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(sys.argv[1]).resolve()
SCRIPT = ROOT / "cmake/source_record.cmake"
FAKE_EXP = """#!/bin/sh
folder=$(dirname "$0")/build/$2/bin
mkdir -p "$folder"
cp "$(dirname "$0")/framework/bundle/mark.txt" "$folder/mark.txt"
printf '#!/bin/sh\\necho "built: $(cat "$(dirname "$0")/mark.txt")"\\n' >"$folder/exp"
chmod +x "$folder/exp"
"""
EXPERIMENT = """
name = "tiny"
seed = 1
[task]
type = "ner"
[data]
type = "conll"
train = "train.conll"
dev = "train.conll"
test = "train.conll"
max_length = 32
[tokenizer]
type = "wordpiece"
vocab_size = 60
[model]
width = 16
layers = 1
block = ["feed_forward"]
[model.layer.feed_forward]
type = "feed_forward"
hidden = 32
[model.head]
type = "linear"
[optimizer]
type = "adamw"
learning_rate = 1e-2
[schedule]
type = "constant"
[train]
epochs = 1
batch_size = 8
"""

if not shutil.which("git"):
    print("skipped: git is not installed")
    sys.exit(77)
ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith(("GIT_", "ENCORE_"))}
ENVIRONMENT.update({"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null", "OMP_NUM_THREADS": "1",
                    "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "protocol.file.allow", "GIT_CONFIG_VALUE_0": "always"})


def call(*words, cwd, code=0, **more):
    done = subprocess.run([str(word) for word in words], cwd=cwd, env={**ENVIRONMENT, **more}, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, errors="replace")
    assert done.returncode == code, f"{words} in {cwd}: {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout if code == 0 else done.stderr


def git(folder, *words):
    return call("git", "-c", "user.name=a", "-c", "user.email=b", *words, cwd=folder).strip()


def commit_all(folder):
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "one")
    return git(folder, "rev-parse", "HEAD")


def make_tree(folder):
    """Makes a tree that looks like Encore's source to git, to the script and to verify --build."""
    (folder / "framework/bundle").mkdir(parents=True)
    (folder / "framework/bundle/CMakeLists.txt").write_text("\n")
    (folder / "framework/bundle/mark.txt").write_text("as committed\n")
    (folder / "plugins").mkdir()
    (folder / "plugins/one.cpp").write_text("int one;\n")
    (folder / "CMakeLists.txt").write_text("\n")
    (folder / ".gitignore").write_text("/build/\n")
    (folder / "exp").write_text(FAKE_EXP)
    (folder / "exp").chmod(0o755)
    return folder


def make_experiment(folder):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "tiny.toml").write_text(EXPERIMENT)
    (folder / "train.conll").write_text("".join(f"Ada B-PER\nsang O\nin O\nRome{i % 3} B-LOC\n\n" for i in range(24)))
    return folder


def take_state(tree, state):
    call("cmake", f"-DROOT={tree}", f"-DSTATE={state}", "-P", SCRIPT, cwd=tree)


def install(folder, state):
    """The programs of the build with the record of a tree, as building in it would leave them."""
    for name in ("bin/exp", "bin/exp-report", "bin/encore-worker"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(BUILD / name, folder / name)
    shutil.copytree(BUILD / "lib", folder / "lib", symlinks=True)
    shutil.copytree(BUILD / "share/encore/reports", folder / "share/encore/reports")
    call("cmake", f"-DFOLDER={folder}", f"-DSTATE={state}", "-P", SCRIPT, cwd=folder)
    return folder


class Situation:
    def __init__(self, folder, tree, experiment):
        self.tree, self.experiment, self.work = tree, experiment, folder / "work"
        self.work.mkdir(parents=True)
        take_state(tree, folder / "state")
        self.prefix = install(folder / "prefix", folder / "state")
        self.exp("run", experiment / "tiny.toml", "-q")
        self.exp("bundle", "tiny", "--data", "-o", "tiny.tar.zst")

    def exp(self, *words, code=0):
        return call(self.prefix / "bin/exp", *words, cwd=self.work, code=code, ENCORE_CACHE=str(self.work / "cache"),
                    LD_LIBRARY_PATH=str(self.prefix / "lib"))

    def expect(self, what, commit, changed, repository, archive=""):
        """`commit`: of Encore, or empty if its tree came as an archive, whose folder is then `archive`; `repository`:
        the commit of the experiment's repository, or empty."""
        attempt = json.loads(self.exp("show", "tiny", "--json"))["attempts"][-1]
        source = attempt["source"]
        assert source, f"{what}: no source; build {attempt['build']}"
        assert source["commit"] == commit and source["archive"] == archive, f"{what}: {source}"
        assert bool(source["diff"]) == changed, f"{what}: {source['diff']}"
        assert len(source["sha256"]) == (64 if archive else 0), f"{what}: {source}"
        assert attempt["commit"] == repository, f"{what}: {attempt['commit']}"
        shown = self.exp("show", "tiny")
        short = (commit or source["sha256"])[:10] + ("+" if changed else "")
        assert f" {short} " in shown and (not repository or repository[:10] in shown), f"{what}: {shown}"
        self.exp("report", "tiny", "-o", "report.html")
        report = (self.work / "report.html").read_text()
        assert (commit or source["sha256"]) in report, f"{what}: the report lacks the source"
        assert (f"git checkout {commit}" in report) == bool(commit), what
        if repository != commit:
            assert f"git checkout {repository}" not in report or not repository, what
        assert (repository in report) if repository else ("does not lie in a git repository" in report), f"{what}: {report}"
        bundle = json.loads(self.exp("bundle", "show", "tiny.tar.zst", "--json"))
        assert [one["commit"] for one in bundle["claimed"]["source"]] == [commit], f"{what}: {bundle['claimed']['source']}"
        assert [one["commit"] for one in bundle["claimed"]["code"]] == [repository], f"{what}: {bundle['claimed']['code']}"
        text = self.exp("bundle", "show", "tiny.tar.zst")
        assert "as this program" in text and (commit or archive) in text, f"{what}: {text}"
        if shutil.which("zstd"):
            crate = call("sh", "-c", "zstd -dc tiny.tar.zst | tar xO encore-bundle/ro-crate-metadata.json", cwd=self.work)
            graph = json.loads(crate)["@graph"]
            versions = {one["version"] for one in graph if one["@type"] == "SoftwareSourceCode"}
            assert versions == {commit or source["sha256"]} | ({repository} if repository else set()), f"{what}: {versions}"
        else:
            print(f"skipped: the crate of {what}, for there is no program zstd here")
        assert str(self.tree) not in json.dumps(source), f"{what}: an absolute path is in the record"
        self.verify(what, commit, changed)

    def verify(self, what, commit, changed):
        clone = ["--clone", self.tree]
        if not commit:
            error = self.exp("verify", "tiny.tar.zst", "--build", *clone, code=2)
            assert "was built without git from the folder" in error, f"{what}: {error}"
            return
        if changed:
            error = self.exp("verify", "tiny.tar.zst", "--build", *clone, code=2)
            assert "pass --with-diff to apply it" in error, f"{what}: {error}"
            clone.append("--with-diff")
        built = self.exp("verify", "tiny.tar.zst", "--build", *clone)
        assert ("built: as changed" if changed else "built: as committed") in built, f"{what}: {built}"


def situations(folder):
    tree = make_tree(folder / "encore")
    git(tree, "init", "-q")
    commit = commit_all(tree)
    own = make_experiment(folder / "own")
    git(own, "init", "-q")
    repository = commit_all(own)
    nowhere = make_experiment(folder / "nowhere")

    first = Situation(folder / "1", tree, own)
    first.expect("an experiment in its own repository", commit, False, repository)
    Situation(folder / "2", tree, nowhere).expect("one in no repository", commit, False, "")

    # A newer commit in the tree must not change what the installation records: it was made from the older one.
    (tree / "plugins/one.cpp").write_text("int two;\n")
    newer = commit_all(tree)
    first.exp("run", own / "tiny.toml", "-q", "--fresh")
    attempt = json.loads(first.exp("show", "tiny-2", "--json"))["attempts"][-1]
    assert attempt["source"]["commit"] == commit != newer, attempt["source"]

    dirty = folder / "dirty"
    git(folder, "clone", "-q", tree, dirty)
    (dirty / "framework/bundle/mark.txt").write_text("as changed\n")
    (dirty / "framework/new file.cpp").write_text("int untracked;\n")
    (dirty / "notes.txt").write_text("not compiled\n")
    three = Situation(folder / "3", dirty, nowhere)
    three.expect("a clone with changes", newer, True, "")
    diff = json.loads(three.exp("show", "tiny", "--json"))["attempts"][-1]["source"]["diff"]
    assert "+int untracked;" in diff and "not compiled" not in diff, diff
    assert "+int untracked;" in three.exp("bundle", "show", "tiny.tar.zst", "--diff")
    assert git(dirty, "status", "--porcelain").count("?? ") == 2, "the user's index is not touched"

    # Unpacked inside another repository, whose commit does not describe it.
    archive = own / "encore-1.0"
    shutil.copytree(tree, archive, ignore=shutil.ignore_patterns(".git"))
    four = Situation(folder / "4", archive, own)
    four.expect("an archive without git", "", False, repository, archive="encore-1.0")
    before = json.loads(four.exp("show", "tiny", "--json"))["attempts"][-1]["source"]["sha256"]
    listed = call("sh", "-c", "find framework plugins CMakeLists.txt exp -type f | LC_ALL=C sort | xargs sha256sum | sha256sum",
                  cwd=archive)
    assert listed.split()[0] == before, "the hash is the one of docs/concepts/identity.md"
    shutil.rmtree(archive)

    user = make_experiment(folder / "user")
    git(user, "init", "-q")
    git(user, "submodule", "--quiet", "add", str(tree), "encore")
    repository = commit_all(user)
    Situation(folder / "5", user / "encore", user).expect("a submodule", newer, False, repository)

    git(tree, "worktree", "add", "-q", "--detach", str(folder / "worktree"), commit)
    Situation(folder / "6", folder / "worktree", nowhere).expect("a work tree", commit, False, "")

    # A bundle that came here is shown by another program: its facts are its own.
    shutil.copy2(first.work / "tiny.tar.zst", three.work / "other.tar.zst")
    shown = three.exp("bundle", "show", "other.tar.zst")
    assert commit in shown and f"this program is from commit {newer[:12]}" in shown, shown
    three.exp("db", "merge", "other.tar.zst")
    taken = [json.loads(three.exp("show", name, "--json")) for name in ("tiny", "tiny-2")]
    assert [run["attempts"][-1]["source"]["commit"] for run in taken] == [newer, commit], taken
    assert taken[0]["origin"] is None and taken[1]["origin"]["kind"] == "bundle", taken[1]["origin"]
    assert len(taken[1]["origin"]["sha256"]) == 64
    assert "recorded by" in three.exp("show", "tiny-2")
    three.exp("db", "check")

    # Where programs and record disagree, nothing is said rather than something wrong.
    with open(first.prefix / "bin/encore-worker", "ab") as worker:
        worker.write(b"\0")
    first.exp("run", own / "tiny.toml", "-q", "--fresh")
    attempt = json.loads(first.exp("show", "tiny-3", "--json"))["attempts"][-1]
    assert attempt["source"] is None, attempt["source"]
    assert "bin/encore-worker is not the file" in attempt["build"]["source_problem"], attempt["build"]


def build_itself(folder):
    """The record of this build: its commit where git knows the tree, and believed by its own worker."""
    record = BUILD / "share/encore/source.json"
    assert record.exists(), f"{record} is missing; run ./exp build"
    version = json.loads(call(BUILD / "bin/exp", "version", "--worker", "--json", cwd=folder))
    build = version["worker"]["build"]
    assert "source" in build, build
    text = record.read_text()
    assert str(ROOT) not in text and str(BUILD) not in text, "an absolute path is in the record"
    assert json.loads(text)["commit"] == build["source"]["commit"]
    # A build with nothing to do writes no file again.
    state = folder / "state"
    take_state(ROOT, state)
    before = [(folder / f"state.{ending}").stat().st_mtime_ns for ending in ("json", "diff")]
    take_state(ROOT, state)
    assert before == [(folder / f"state.{ending}").stat().st_mtime_ns for ending in ("json", "diff")]


with tempfile.TemporaryDirectory() as temporary:
    place = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else temporary).resolve()
    build_itself(place)
    situations(place)
print("every situation has both facts")
