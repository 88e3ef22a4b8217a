#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes the data of experiments/apps/dialogsum_summary.toml from the files of DialogSum: objects with a text, which is the
dialogue, and the list of its summaries. Dialogues of the test set have three summaries, which are three members of an object.

    python3 tests/bench/dialogsum.py $ENCORE_DATA/dialogsum -o dialogsum
    ENCORE_DIALOGSUM=$PWD/dialogsum ./exp run experiments/apps/dialogsum_summary.toml

Called by hand; docs/guides/summaries.md has its results, and dialogsum_test.py tests it.
"""
import argparse, json, os, sys


def converted(line, place):
    row = json.loads(line)
    summaries = [row[key] for key in ("summary", "summary2", "summary3") if key in row]
    if "dialogue" not in row or not summaries:
        sys.exit(f"dialogsum: {place}: expected the members dialogue and summary, as DialogSum has them")
    return {"text": row["dialogue"], "summaries": summaries}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", metavar="FOLDER", help="the folder with dev.jsonl and test.jsonl")
    parser.add_argument("-o", "--out", metavar="FOLDER", required=True, help="the folder to write to")
    a = parser.parse_args()
    os.makedirs(a.out, exist_ok=True)
    for name in ("dev.jsonl", "test.jsonl"):
        with open(f"{a.data}/{name}", encoding="utf-8") as file:
            rows = [converted(line, f"{name}:{number}") for number, line in enumerate(file, 1) if line.strip()]
        with open(f"{a.out}/{name}", "w", encoding="utf-8") as file:
            file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


if __name__ == "__main__":
    main()
