#!/usr/bin/env python3
"""How serve_load.py looks for a capacity and looks at answers, with a server that is made up: no speed is measured."""
import argparse, json, os, sys, unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import serve_load


class MadeUp(serve_load.Measured):
    """Bears `capacity` requests/s for a short probe and `longer` for a long one."""

    def __init__(self, capacity, longer, wrong=0):
        super().__init__("made up", None, argparse.Namespace(probe_seconds=1, confirm_seconds=60))
        self.limits, self.wrong, self.asked = {1: capacity, 60: longer}, wrong, []

    def hold(self, asked, rate, seconds, what):
        self.asked.append((rate, seconds))
        return {"p99": 0.1 if rate <= self.limits[seconds] else 0.3, "refused": 0, "lost": 0, "wrong": self.wrong}


class Capacity(unittest.TestCase):
    def test_is_found_from_below_and_from_above(self):
        for first in (10, 1000):
            found = MadeUp(100, 100).capacity(None, first)
            self.assertLessEqual(found, 100)
            self.assertGreaterEqual(found, 100 / serve_load.STEP)

    def test_is_what_is_borne_for_long(self):
        server = MadeUp(100, 85)
        found = server.capacity(None, 50)
        self.assertLessEqual(found, 85)
        self.assertGreaterEqual(found, 85 / serve_load.STEP**2)
        self.assertEqual(server.asked[-1], (found, 60))

    def test_is_none_where_an_answer_is_wrong_or_nothing_is_borne(self):
        self.assertEqual(MadeUp(100, 100, wrong=1).capacity(None, 50), 0)
        self.assertEqual(MadeUp(100, 1).capacity(None, 50), 0)


class Answers(unittest.TestCase):
    def body(self, kind):
        return json.dumps({"results": [{"entities": [kind]}]}).encode()

    def test_equal_bytes_or_equal_content_are_right_and_nothing_else(self):
        asked = serve_load.Asked("/v1/predict", ["a", "b"], [{"entities": ["PER"]}, {"entities": ["LOC"]}])
        self.assertTrue(asked.is_right(0, self.body("PER")))
        self.assertTrue(asked.is_right(0, self.body("PER")))
        self.assertTrue(asked.is_right(0, self.body("PER").replace(b" ", b"")))
        self.assertFalse(asked.is_right(0, self.body("LOC")))
        self.assertFalse(asked.is_right(1, self.body("PER")))
        self.assertTrue(asked.is_right(1, self.body("LOC")))

    def test_quantiles_of_nothing_are_infinite(self):
        self.assertEqual(serve_load.quantile([], 0.99), float("inf"))
        self.assertEqual(serve_load.quantile(list(range(100)), 0.99), 99)


if __name__ == "__main__":
    unittest.main()
