#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests compare.py, which measures Encore's speed against PyTorch and oneDNN, with fake programs that answer
at once.

    python3 tests/bench/compare_test.py

CTest runs it as compare_script. Tested are the rows and ratios, failing programs, interruption and --resume,
--minutes, the Markdown page, and the statistics of rows.py and measurements.py; no speed is checked. A peer
is a program that Encore is compared with; "price_of_order" is the member of the JSON of `exp bench` for the
time that a fixed order of additions costs.
"""
import json, os, pathlib, sqlite3, subprocess, sys, tempfile, unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import measurements, rows  # noqa: E402

EXP = """#!/usr/bin/env python3
import json, sys
if "bench" not in sys.argv:
    sys.exit(0)
if any(name.startswith("OMP_") for name in __import__("os").environ):
    sys.exit("the environment steers OpenMP")
threads = sys.argv[sys.argv.index("--threads") + 1].split(",")
steps = [{"name": t, "settings": {"threads": int(t)}, "price_of_order": {"median": -0.01}, "matmul_flops": 1e11,
          **{k: {"median": v} for k, v in dict(tokens_per_second=3000.0, step_seconds=0.24 / int(t), matmul_seconds=0.2 / int(t),
                                               gemm_seconds=0.2, step_over_matmul=1.2).items()}} for t in threads]
peaks = [{"precision": p, "instructions": "any", "flops_per_second": {"median": f}} for p, f in (("float32", 5e11), ("bfloat16", 8e11), ("float32", 1e12))]
print(json.dumps({"summary": {"steps": steps, "machines": [{"core_peaks": peaks, "triad_bytes_per_second": {"median": 2e10}}]}, "notes": [], "settings": {"places": {}},
                  "cases": [{"name": t, "facts": {"tokens": 700.0}, "samples": {"step": [0.24]}, "environment": {"device": "A CPU"}} for t in threads]}))
"""
TORCH = """import json, sys
if "--residual-norm" not in sys.argv:
    sys.exit("ModuleNotFoundError: No module named 'torch'")
mode = sys.argv[sys.argv.index("--batching") + 1]
preloaded = __import__("os").environ.get("LD_PRELOAD")
print("# a line before")
print(json.dumps({"torch": "2.0", "real_tokens_per_second": (1500.0 if mode == "sorted" else 1200.0) * (2 if preloaded else 1), "peak_mb": 1000}))
"""
TASK = """import json, sys
print("# a line before")
print(json.dumps({"real_tokens_per_second": 1500.0 if sys.argv[sys.argv.index("--dtype") + 1] == "fp32" else 1000.0}))
"""
PRODUCTS = """import json, sys
assert sys.argv[1:] == ["--rows", "700", "--threads", "2"], sys.argv
print(json.dumps({"torch": "2.0", "float32": {"all": 200}, "bfloat16": {"all": 400, "y 700x384x384": 500}}))
"""
LIMIT = """#!/bin/sh
echo "float32  tokens $1: 120.0 ms"; echo "bfloat16 tokens $1: 60.0 ms"
"""


class Compare(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)
        data = self.folder / "wikineural_en"
        data.mkdir()
        for part in ("train", "dev", "test"):
            (data / f"{part}.conll").write_text("A\tO\n\n")
        (self.folder / "vocab.txt").write_text("[PAD]\n")
        for name, text in (("exp", EXP), ("torch_ner.py", TORCH), ("limit", LIMIT)):
            (self.folder / name).write_text(text)
            (self.folder / name).chmod(0o755)

    def compare(self, *arguments, code=0):
        path = self.folder
        command = [sys.executable, str(HERE / "compare.py"), "--data", str(path / "wikineural_en"), "--vocab", str(path / "vocab.txt"),
                   "--exp", str(path / "exp"), "--torch-ner", str(path / "torch_ner.py"), "--matmul-limit", str(path / "limit"), "--threads", "2",
                   "--torch-allocator=", *arguments]
        done = subprocess.run(command, capture_output=True, text=True, cwd=path, env={**os.environ, "OMP_WAIT_POLICY": "passive"})
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def row(self, output, name):
        return next(line.split() for line in output.splitlines() if line.startswith(name + " "))

    def samples(self):
        return json.loads((self.folder / "s.json").read_text())

    def test_rows_are_ratios_within_a_round(self):
        output = self.compare("--rounds", "2", "--only", "step_float32,frozen_bfloat16,torch_float32,order,threads", "--out", "s.json")
        self.assertEqual(self.row(output, "step_float32")[1], "1.200")
        self.assertEqual(self.row(output, "frozen_bfloat16")[1], "2.000", "0.12 s over 0.06 s")
        self.assertEqual(self.row(output, "torch_float32")[1], "2.00", "the fastest mode counts")
        self.assertEqual(self.row(output, "order")[1], "-1.0")
        self.assertEqual(self.row(output, "threads")[1], "1.000")
        self.assertEqual(len(self.samples()["rounds"]), 2)
        self.assertEqual(self.samples()["rounds"][0]["limit"]["tokens"], 700, "as many as Encore's batches have")

    def test_the_fastest_allocator_of_pytorch_counts(self):
        output = self.compare("--rounds", "1", "--only", "torch_float32,torch_bfloat16", "--torch-allocator", "libc.so.6", "--out", "s.json",
                              "--markdown", "page.md")
        self.assertEqual(self.row(output, "torch_float32")[1], "1.00", "3,000 over the 3,000 of the second allocator")
        self.assertIn("torch_seed_bfloat16_unpadded_bf16-weights_allocator", self.samples()["rounds"][0])
        self.assertIn("| seed model, float32: PyTorch sorted, fp32, other allocator | 3,000 tokens/s |", (self.folder / "page.md").read_text())

    def test_products_are_judged_by_the_measured_peak(self):
        output = self.compare("--rounds", "1", "--only", "own_float32,peak_float32,peak_bfloat16")
        self.assertEqual(self.row(output, "own_float32")[1], "0.600", "0.12 s over 0.2 s")
        self.assertEqual(self.row(output, "peak_float32")[1], "0.500", "1e11 operations in 0.2 s over the higher peak, 1e12")
        self.assertIn("measured peaks (medians): bfloat16 800 GFLOP/s, float32 1,000 GFLOP/s, triad 20 GB/s", output)
        self.assertRegex(output, r"family \S+, model \S+, stepping")

    def test_products_are_compared_by_their_rates(self):
        (self.folder / "products.py").write_text(PRODUCTS)
        output = self.compare("--rounds", "1", "--only", "products_float32,products_bfloat16", "--torch-products", "products.py")
        self.assertEqual(self.row(output, "products_bfloat16")[1], "1.25", "500 GFLOP/s over 400")
        self.assertEqual(self.row(output, "products_float32")[1], "2.50")

    def test_a_peer_that_fails_costs_only_its_rows_and_is_named(self):
        output = self.compare("--rounds", "2", "--only", "step_float32,small_float32", "--out", "s.json", code=1)
        self.assertEqual(self.row(output, "step_float32")[1], "1.200")
        self.assertIn("torch_small_float32_sorted_fp32 failed and is left out: ModuleNotFoundError: No module named 'torch' (exit code 1:", output)
        self.assertIn("torch_small_float32_sorted_fp32 failed", " ".join(self.row(output, "small_float32")))
        self.assertEqual(output.count("sorted_fp32 failed and is left out"), 1, "it is not tried again")

    def test_tasks_are_measured_against_the_peers_faster_type(self):
        for name in ("translate.py", "tune.py"):
            (self.folder / name).write_text(TASK)
        chosen = ("--rounds", "1", "--only", "translation_float32,translation_bfloat16,tuning_bfloat16", "--out", "s.json")
        output = self.compare(*chosen, "--torch-translate", "translate.py", "--multi30k", ".")
        self.assertEqual(self.row(output, "translation_float32")[1], "2.00")
        self.assertEqual(self.row(output, "translation_bfloat16")[1], "2.00", "3,000 over the 1,500 of float32")
        self.assertIn("not measured", output, "the other peer was not named")
        output = self.compare(*chosen, "--resume", "--hf-ner", "tune.py", "--minilm", ".", "--wnut17", ".")
        self.assertEqual(self.row(output, "tuning_bfloat16")[1], "2.00")
        self.assertIn("there is no absent.py", self.compare("--hf-ner", "absent.py", code=1))

    def test_a_mode_that_fails_leaves_the_others(self):
        text = TORCH.replace('mode = ', 'if "unpadded" in sys.argv: sys.exit("no unpadded")\nmode = ')
        (self.folder / "torch_ner.py").write_text(text)
        self.assertEqual(self.row(self.compare("--rounds", "1", "--only", "torch_float32", code=1), "torch_float32")[1], "2.00")

    def test_an_invalid_answer_is_a_failure(self):
        (self.folder / "exp").write_text("#!/bin/sh\necho '{}'\n")
        output = self.compare("--rounds", "1", "--only", "step_float32", code=1)
        self.assertIn("its answer lacks what is needed: KeyError('summary')", output)
        (self.folder / "exp").write_text("#!/bin/sh\necho no\n")
        self.assertIn("its answer is not JSON", self.compare("--rounds", "1", "--only", "step_float32", code=1))

    def test_resume_measures_only_what_is_missing(self):
        self.compare("--rounds", "1", "--only", "step_float32", "--out", "s.json")
        self.assertIn("s.json exists: pass --resume to continue it", self.compare("--rounds", "1", "--out", "s.json", code=1))
        first = self.samples()["rounds"][0]
        output = self.compare("--rounds", "2", "--only", "step_float32,step_bfloat16", "--out", "s.json", "--resume")
        self.assertIn("3 measurements in 2 rounds", output)
        self.assertEqual(self.samples()["rounds"][0]["encore_seed_float32"], first["encore_seed_float32"])
        self.assertEqual(self.row(output, "step_bfloat16")[3], "..", "two rounds have a range")

    def test_resume_refuses_other_conditions(self):
        self.compare("--rounds", "1", "--only", "step_float32", "--out", "s.json")
        self.assertIn("was measured with --batches 8", self.compare("--batches", "4", "--out", "s.json", "--resume", code=1))
        record = self.samples()
        (self.folder / "s.json").write_text(json.dumps({**record, "host": "elsewhere"}))
        self.assertIn("was measured with the host elsewhere", self.compare("--out", "s.json", "--resume", code=1))
        (self.folder / "s.json").write_text("[]")
        self.assertIn("is not what this script writes", self.compare("--out", "s.json", "--resume", code=1))

    def test_minutes_are_kept(self):
        output = self.compare("--rounds", "3", "--only", "step_float32", "--minutes", "0.01")
        self.assertIn("would end beyond --minutes 0.01: 3 measurements are left out", output)
        self.assertEqual(self.row(output, "step_float32")[1:], ["0", "not", "measured"], "no number is made up")

    def test_markdown_goes_between_the_marks(self):
        page = self.folder / "page.md"
        page.write_text("before\n<!-- measured: begin -->\nformer figures\n<!-- measured: end -->\nafter\n")
        self.compare("--rounds", "1", "--only", "step_float32", "--markdown", "page.md")
        text = page.read_text()
        self.assertTrue(text.startswith("before\n") and text.endswith("after\n"), text)
        self.assertNotIn("former figures", text)
        self.assertIn("| the same, as oneDNN computes them, float32 | 1.200 |  | 1 |  |  |  |", text)
        page.write_text("no place\n")
        self.assertIn("has no place for the tables", self.compare("--rounds", "0", "--markdown", "page.md", code=1))

    def test_what_cannot_be_measured_is_refused_first(self):
        self.assertIn('unknown row "speed"; there are own_float32', self.compare("--only", "speed", code=1))
        self.assertIn("there is no /absent/exp", self.compare("--exp", "/absent/exp", code=1))
        self.assertIn("--resume continues a file", self.compare("--resume", code=2))
        self.assertIn("first_step_warm", self.compare("--only", "list"))

    def test_quality_is_read_from_databases(self):
        for name, precision, scores in (("a.db", "float32", (0.50, 0.52, 0.51, 0.5, 0.5)), ("b.db", "bfloat16", (0.51, 0.51, 0.51, 0.5, 0.49))):
            connection = sqlite3.connect(self.folder / name)
            connection.executescript("CREATE TABLE run (number INTEGER, seed INTEGER, state TEXT, removed REAL, result TEXT);"
                                     "CREATE TABLE param (run INTEGER, key TEXT, value ANY);")
            for seed, score in enumerate(scores):
                connection.execute("INSERT INTO run VALUES (?, ?, 'completed', NULL, ?)", (seed, seed, json.dumps({"measures": {"test/f1": score}})))
                connection.executemany("INSERT INTO param VALUES (?, ?, ?)", [(seed, "train.precision", precision), (seed, "data.root", "/d/wikineural_en")])
            connection.commit()
            connection.close()
        output = self.compare("--only", "quality", "--quality-db", "a.db", "--quality-db", "b.db")
        self.assertEqual(self.row(output, "quality")[1], "0.20")
        self.assertIn("0 seeds completed in both precisions; 5 are needed", self.compare("--only", "quality", "--quality-db", "none.db", code=1))


class Numbers(unittest.TestCase):
    def test_intervals_are_order_statistics(self):
        self.assertEqual(rows.interval([3, 1, 2]), (1, 3))
        self.assertEqual(rows.interval(list(range(1, 21))), (6, 15), "binomial(20, 1/2)")

    def test_verdicts(self):
        least = next(row for row in rows.rows() if row.name == "torch_bfloat16")
        self.assertEqual([rows.verdict(least, v) for v in (1.9, 2.0, 2.4)], ["missed", "met", "beyond"])
        most = next(row for row in rows.rows() if row.name == "own_float32")
        self.assertEqual([rows.verdict(most, v) for v in (1.13, 1.12, 1.08)], ["missed", "met", "beyond"])

    def test_full_sequences_have_all_their_words(self):
        with tempfile.TemporaryDirectory() as folder:
            source, target = pathlib.Path(folder, "a"), pathlib.Path(folder, "b")
            source.write_text("A\tO\nB\tO\n\nC\tO\n\n")
            measurements.join_sentences(source, target, 2, 4)
            self.assertEqual(target.read_text(), "A\tO\nB\tO\nC\tO\nA\tO\n\nB\tO\nC\tO\nA\tO\nB\tO\n\n")


if __name__ == "__main__":
    unittest.main()
