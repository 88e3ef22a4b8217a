#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests how serve_load.py searches a capacity and checks answers, with a simulated server: no speed is
measured. CTest runs it as serve_load_script.
"""
import argparse, asyncio, json, os, sys, unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import serve_client
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


class Connections(unittest.TestCase):
    def test_that_the_server_closed_while_idle_are_opened_anew(self):
        async def two_answers():
            async def answer(reader, writer):
                await reader.readuntil(b"\r\n\r\n")
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
                writer.close()

            server = await asyncio.start_server(answer, "127.0.0.1", 0)
            connection = serve_client.Connection(server.sockets[0].getsockname()[1])
            request = b"GET / HTTP/1.1\r\n\r\n"
            first = await connection.ask(request)
            while not connection.streams[0].at_eof():
                await asyncio.sleep(0)
            second = await connection.ask(request)
            connection.close()
            server.close()
            return first, second

        self.assertEqual(asyncio.run(two_answers()), ((200, b"ok"), (200, b"ok")))


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
