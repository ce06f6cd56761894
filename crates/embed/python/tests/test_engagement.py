"""Tests of the model of engagement: it does what Pudica says of Fig. 2, and says that it is a model."""

import dataclasses
import json
import tempfile
import unittest
from pathlib import Path

import numpy as np
import polars
from mimosa_lab.fleet import Engagement, Study, StudyError, analysis

MODEL = Engagement()


def studied(engagement: bool | dict) -> Study:
    """A study of two arms, whose analysis has this key."""
    population = {"name": "p", "share": 1, "round_trip": "10ms", "rate": "9Mbit/s"}
    return Study.read(
        {
            "title": "t",
            "sessions": 4,
            "users": 2,
            "length": "1s",
            "population": [{**population, "buffers": ["9kB"]}],
            "arm": [{"name": "a"}, {"name": "b"}],
            "analysis": {
                "baseline": "a",
                "metrics": ["stall_100ms"],
                "resamples": 50,
                "engagement": engagement,
            },
        }
    )


ROWS = polars.DataFrame(
    {
        "session": [0, 1, 0, 1],
        "user": [0, 1, 0, 1],
        "population": ["p"] * 4,
        "arm": ["a", "a", "b", "b"],
        "seconds": [1.0, 9.0, 1.0, 9.0],
        "frames": [60, 540, 60, 540],
        "stall_100ms": [0.0, 0.0, 0.0, 0.01],
        "frame_delay_mean_ms": [20.0, 20.0, 20.0, 20.0],
        "bitrate_mbps": [50.0, 50.0, 50.0, 50.0],
        "cpu_seconds": [0.1] * 4,
    }
)


class Curves(unittest.TestCase):
    def test_the_best_session_is_one_and_a_worse_one_is_shorter(self):
        self.assertAlmostEqual(float(MODEL.play_time(0, 0, 50)), 1)
        grid = np.linspace(0, 0.03, 40)
        stalls = MODEL.play_time(grid, 20, 50)
        delays = MODEL.play_time(0, np.linspace(0, 200, 40), 50)
        rates = MODEL.play_time(0, 20, np.linspace(1, 50, 40))
        for name, curve in [("stalls", -stalls), ("delays", -delays), ("rates", rates)]:
            with self.subTest(name):
                self.assertTrue((np.diff(curve) > 0).all())
                self.assertTrue((0 <= np.abs(curve)).all())
                self.assertTrue((np.abs(curve) <= 1).all())

    def test_stalls_cost_more_than_in_proportion(self):
        loss = 1 - MODEL.play_time(np.array([0.001, 0.002, 0.004]), 0, 50)
        self.assertGreater(loss[1], 2 * loss[0])
        self.assertGreater(loss[2], 2 * loss[1])
        self.assertAlmostEqual(float(MODEL.play_time(0.01, 0, 50)), 0.5)

    def test_delay_below_40_ms_costs_less_than_stalls_and_more_beyond(self):
        of_delay = 1 - float(MODEL.play_time(0, 40, 50))
        of_stalls = 1 - float(MODEL.play_time(0.01, 0, 50))
        self.assertLess(of_delay, of_stalls / 2)
        halved = float(MODEL.play_time(0, 80, 50) / MODEL.play_time(0, 40, 50))
        self.assertAlmostEqual(halved, 0.5)

    def test_bitrate_saturates(self):
        low, middle, full, more = MODEL.play_time(0, 0, np.array([10, 30, 50, 90]))
        self.assertGreater(middle - low, full - middle)
        self.assertEqual(full, more)

    def test_complaints_are_ten_times_as_many_from_one_in_a_thousand(self):
        stalls = np.array([0, 0.000_99, 0.001, 0.009, 0.5])
        self.assertEqual(MODEL.complaints(stalls).tolist(), [1, 1, 10, 10, 10])

    def test_a_session_without_a_frame_is_not_played(self):
        self.assertEqual(float(MODEL.play_time(np.nan, np.nan, np.nan)), 0)
        self.assertEqual(float(MODEL.play_time(1.0, np.nan, 0.0)), 0)
        self.assertEqual(float(MODEL.complaints(np.nan)), 10)


class Parameters(unittest.TestCase):
    def test_a_study_may_choose_its_own(self):
        self.assertIsNone(studied(False).engagement)
        self.assertEqual(studied(True).engagement, MODEL)
        chosen = studied({"stall_half": 0.02, "stall_power": 2}).engagement
        changed = dataclasses.replace(MODEL, stall_half=0.02, stall_power=2.0)
        self.assertEqual(chosen, changed)
        self.assertAlmostEqual(float(chosen.play_time(0.02, 0, 50)), 0.5)

    def test_a_mistake_is_named_with_its_place(self):
        for engagement, says in [
            ({"stall_half": 0}, "analysis.engagement: `stall_half` must be above zero"),
            ({"stall_power": 1}, "`stall_power` must be above one"),
            ({"stal_half": 1}, "analysis.engagement: unknown key `stal_half`"),
            ({"stall_half": "1"}, "analysis.engagement.stall_half must be of type"),
            ({"stall_half": True}, "analysis.engagement.stall_half must be of type"),
            (1, "analysis.engagement must be of type bool or dict"),
        ]:
            with self.subTest(says), self.assertRaises(StudyError) as raised:
                studied(engagement)
            self.assertIn(says, str(raised.exception))


class Pages(unittest.TestCase):
    def test_the_model_has_columns_and_says_what_it_is(self):
        with tempfile.TemporaryDirectory() as folder:
            out = Path(folder)
            page = analysis.write(studied(True), ROWS, out).read_text(encoding="utf-8")
            results = json.loads((out / "results.json").read_text(encoding="utf-8"))
            self.assertTrue((out / "cdf-all-modelled_play_time.svg").exists())
            plain = analysis.write(studied(False), ROWS, out).read_text(
                encoding="utf-8"
            )
        self.assertIn(
            "| stall_100ms | modelled_play_time | modelled_complaints |", page
        )
        self.assertIn("They are no measurement", page)
        self.assertIn("`stall_half` 0.01", page)
        self.assertNotIn("modelled", plain)
        means = {
            (one["arm"], one["metric"]): one["mean"]
            for one in results
            if one["population"] is None
        }
        # Over sessions, long or short; stalls are over frames.
        good, bad = MODEL.play_time(np.array([0, 0.01]), 20, 50)
        self.assertAlmostEqual(means["a", "modelled_play_time"], good)
        self.assertAlmostEqual(means["b", "modelled_play_time"], (good + bad) / 2)
        self.assertAlmostEqual(means["b", "modelled_complaints"], 5.5)
        self.assertAlmostEqual(means["b", "stall_100ms"], 0.009)


if __name__ == "__main__":
    unittest.main()
