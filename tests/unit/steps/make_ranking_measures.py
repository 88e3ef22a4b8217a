#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes ranking_measures.json: the measures of 1,000 drawn rankings, computed by ir-measures.
ranking_measures_test.cpp draws the same rankings and compares. Run it by hand if a draw changes:

    pip install ir-measures
    python make_ranking_measures.py > ranking_measures.json

A ranking has few different scores, so most of its documents are tied with others, and names of several lengths,
whose order by bytes is not that of their numbers. Some judged documents are not in the ranking.
"""
import importlib.metadata
import json

import ir_measures
from ir_measures import AP, RR, R, nDCG

RANKINGS = 1000
MEASURES = [nDCG @ 10, nDCG @ 3, RR, R @ 5, AP]


class Draws:
    """A linear congruential generator; the test has the same one."""

    def __init__(self, seed):
        self.state = seed

    def below(self, count):
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) % 2**64
        return (self.state >> 33) % count


def ranking(number):
    draws = Draws(number)
    found, grades = {}, {}
    for _ in range(1 + draws.below(30)):
        name = "d%d" % draws.below(150)
        found[name] = draws.below(6) / 4
    for _ in range(draws.below(12)):
        name = "d%d" % draws.below(150)
        grades[name] = draws.below(4)
    names = list(found)
    for _ in range(1 + draws.below(6)):
        name = names[draws.below(len(names))]
        grades[name] = draws.below(4)
    name = "d%d" % draws.below(150)
    grades[name] = 1 + draws.below(3)
    return found, grades


def main():
    values = []
    for number in range(RANKINGS):
        found, grades = ranking(number)
        scored = ir_measures.calc_aggregate(MEASURES, {"q": grades}, {"q": found})
        values.append([scored[measure] for measure in MEASURES])
    lines = ",\n".join(json.dumps(line) for line in values)
    print('{"package": "ir-measures %s",' % importlib.metadata.version("ir-measures"))
    print('"measures": %s,' % json.dumps([str(measure) for measure in MEASURES]))
    print('"values": [\n%s]}' % lines)


main()
