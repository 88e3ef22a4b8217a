#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Measures faiss, for comparison with index_scale.cpp: the time of exact queries (IndexFlatIP in float32) on drawn
vectors of the same shape and spread. Run both in the same minutes on a quiet machine.

    pip install faiss-cpu numpy
    python3 tests/bench/index_scale_faiss.py [--rows N] [--width N] [--queries N] [--threads N]
"""
import argparse
import time

import faiss
import numpy


def main():
    arguments = argparse.ArgumentParser()
    for name, value in (("rows", 1_000_000), ("width", 384), ("queries", 200), ("threads", 2)):
        arguments.add_argument("--" + name, type=int, default=value)
    asked = arguments.parse_args()
    faiss.omp_set_num_threads(asked.threads)
    random = numpy.random.default_rng(1)
    centers = random.standard_normal((1000, asked.width), dtype=numpy.float32)

    def drawn(count):
        vectors = centers[random.integers(1000, size=count)] + random.standard_normal((count, asked.width), dtype=numpy.float32)
        return vectors / numpy.linalg.norm(vectors, axis=1, keepdims=True)

    index = faiss.IndexFlatIP(asked.width)
    for first in range(0, asked.rows, 50_000):
        index.add(drawn(min(50_000, asked.rows - first)))
    times = []
    for query in drawn(asked.queries):
        begin = time.perf_counter()
        index.search(query[None], 10)
        times.append(1e3 * (time.perf_counter() - begin))
    times.sort()
    print("faiss %s IndexFlatIP   %d queries   p50 %.1f ms   p95 %.1f ms   max %.1f ms" % (
        faiss.__version__, len(times), times[len(times) // 2], times[int(0.95 * (len(times) - 1))], times[-1]))


main()
