"""Tests of reading what the program writes, whose path is in MIMOSA."""

import doctest
import os
import subprocess
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import mimosa_lab as lab
import polars
from mimosa_lab import reading

SCENARIO = """duration = "3s"
[link]
rate = "9Mbit/s"
[[flow]]
name = "game"
controller = "gcc"
frame_noise = 0.2
[[flow]]
name = "download"
kind = "tcp"
start = "1s"
"""


class Files(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        kept = tempfile.TemporaryDirectory()
        cls.addClassCleanup(kept.cleanup)
        cls.folder = Path(kept.name)
        (cls.folder / "scenario.toml").write_text(SCENARIO, encoding="utf-8")
        command = f"{os.environ['MIMOSA']} sim scenario.toml --seeds 4..5"
        outputs = "--json out.jsonl --frames frames.parquet --packets packets.parquet"
        subprocess.run(
            f"{command} {outputs}".split(),
            check=True,
            cwd=cls.folder,
            capture_output=True,
        )
        scenario = lab.Scenario.load(cls.folder / "scenario.toml")
        cls.run_here = lab.run(scenario, seeds=(4, 5), record=("frames", "packets"))

    def test_a_recording_has_the_rows_and_meanings_of_a_run(self):
        for name in ("frames", "packets"):
            with self.subTest(name):
                recording = lab.Recording(self.folder / f"{name}.parquet")
                table = getattr(self.run_here, name)
                self.assertEqual(recording.kind, "simulation")
                self.assertEqual(recording.about, SCENARIO)
                self.assertEqual(recording.columns, table.columns)
                for column in table.columns:
                    self.assertEqual(recording.meaning(column), table.meaning(column))
                read, here = recording.to_polars(), table.to_polars()
                # A run's texts are in a dictionary, and its seeds have no sign.
                self.assertTrue(read.equals(here.cast(dict(read.schema))))
                self.assertGreater(len(read), 300)
                pandas = recording.to_pandas()
                self.assertEqual(list(pandas.columns), read.columns)
                self.assertEqual(len(pandas), len(read))

    def test_pyarrow_alone_is_enough(self):
        path = self.folder / "frames.parquet"
        with mock.patch.dict("sys.modules", {"polars": None}):
            recording = lab.Recording(path)
        self.assertEqual(recording.about, lab.Recording(path).about)
        self.assertIn("acknowledged_ns", recording.meaning("delay_ns"))

    def test_another_file_is_no_recording(self):
        path = self.folder / "other.parquet"
        polars.DataFrame({"delay_ns": [1]}).write_parquet(path)
        with self.assertRaisesRegex(ValueError, "is no recording of mimosa"):
            lab.Recording(path)
        with self.assertRaisesRegex(KeyError, "no column `delay`"):
            lab.Recording(self.folder / "frames.parquet").meaning("delay")

    def test_records_are_a_table_of_flows(self):
        records = lab.read_records(self.folder / "out.jsonl")
        self.assertEqual([record["seed"] for record in records], [4, 5])
        read, here = records.to_polars("flows"), self.run_here.flows.to_polars()
        self.assertEqual(read["flow"].to_list(), ["game", "download"] * 2)
        # A run's table has a column for whatever a flow may have, and the file for what one has.
        for column in here.columns:
            expected = read[column].to_list() if column in read.columns else [None] * 4
            self.assertEqual(here[column].to_list(), expected, column)
        self.assertEqual(set(read.columns) - set(here.columns), set())
        self.assertEqual(records, self.run_here.figures)
        self.assertEqual(
            records.rows("flows"), self.run_here.figures.rows("flows"), "tables too"
        )
        pandas = records.to_pandas("flows")
        self.assertEqual(sorted(pandas.columns), sorted(read.columns))
        self.assertEqual(len(records.to_polars()), 2)


class Suites(unittest.TestCase):
    def test_a_suite_and_its_files_are_tables(self):
        chosen = {"controllers": ["pudica"], "seeds": (1, 2), "cases": ["constant-8"]}
        with tempfile.TemporaryDirectory() as folder:
            records, page = lab.run_suite("scoreboard", folder, **chosen)
            written = lab.read_records(page.with_name("results.jsonl"))
            means = lab.read_records(page.with_name("means.json")).to_polars()
        self.assertEqual(records, written)
        table = records.to_polars("flows")
        self.assertEqual(len(table), 4)
        # The record's controller is that of its flow.
        self.assertTrue((table["controller"] == table["flow_controller"]).all())
        by_controller = dict(means.select("controller", "frame p95").iter_rows())
        for controller, mean in by_controller.items():
            values = table.filter(controller=controller)["frame_delay_p95_ms"]
            self.assertAlmostEqual(values.mean(), mean, places=6)


class Documentation(unittest.TestCase):
    def test_the_examples_do_what_they_say(self):
        failed, tried = doctest.testmod(reading)
        self.assertEqual(failed, 0)
        self.assertGreater(tried, 2)


if __name__ == "__main__":
    unittest.main()
