"""Tests of fleets: what a study says, and that nothing is lost."""

import math
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

import mimosa_lab as lab
import numpy as np
import polars
from mimosa_lab.fleet import Study, StudyError, analysis, draw, scaling, work

ROOT = Path(__file__).resolve().parents[4]
STUDY = (ROOT / "lab/fleet/five-controllers.toml").read_text(encoding="utf-8")


def changed(text: str, **values: str) -> str:
    """The study with other values of these keys, each of which it has once at the beginning of a line."""
    for key, value in values.items():
        text, count = re.subn(f"(?m)^{key} = .*$", f"{key} = {value}", text)
        if count != 1:
            raise ValueError(f"{count} lines with {key}")
    return text


SMALL = changed(
    STUDY, sessions="24", users="8", length='{ median = "3s", spread = 0.2 }'
)


def rows(out: Path) -> polars.DataFrame:
    return work.sessions(out).drop("cpu_seconds")


class Studies(unittest.TestCase):
    def study(self, *changes: tuple[str, str]) -> Study:
        text = SMALL
        for before, after in changes:
            self.assertIn(before, text)
            text = text.replace(before, after, 1)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "study.toml"
            path.write_text(text, encoding="utf-8")
            return Study.load(path)

    def test_a_mistake_is_named_with_its_place(self):
        for before, after, says in [
            ("sessions = 24", "sessions = 0", "study.sessions must be one or more"),
            ("sessions = 24", "session = 24", "study lacks `sessions`"),
            ('title = "', 'titel = "x"\ntitle = "', "study: unknown key `titel`"),
            ('"randomised"', '"random"', "`paired` or `randomised`, not `random`"),
            ('median = "3s"', "median = 3", "study.length.median must be of type str"),
            ('median = "3s"', 'median = "3 parsecs"', "'3 parsecs' is no quantity"),
            (
                'baseline = "pudica"',
                'baseline = "reno"',
                "analysis.baseline is one of the arms",
            ),
            (
                '"stall_100ms"',
                '"stalls"',
                "analysis.metrics: unknown `stalls`; there is frame_delay_mean",
            ),
            ('controller = "sqp"', 'controller = "skp"', "arm `sqp`: scenario:"),
            ("leaves = [0.1, 0.5]", "leaves = [0.5]", "population[0].falls: `leaves`"),
            (
                'standard = "n"',
                'standard = "q"',
                "population `Wi-Fi`, arm `mimosa`: scenario",
            ),
            ("sessions = 24", "sessions = = 24", "study.toml: Invalid value"),
        ]:
            with self.subTest(after), self.assertRaises(StudyError) as raised:
                self.study((before, after))
            self.assertIn(says, str(raised.exception))

    def test_users_are_drawn_as_the_study_says(self):
        study = self.study(("users = 8", "users = 4000"))
        by_user = [draw.population_of(study, user) for user in range(study.users)]
        wifi = sum(population.name == "Wi-Fi" for population in by_user) / study.users
        self.assertAlmostEqual(wifi, 0.5, delta=0.03)
        arm, ethernet = study.arms[0], study.populations[0]
        trips = [
            2
            * float(
                draw.scenario(study, ethernet, user, user, arm)["link"][
                    "one_way_delay"
                ][:-2]
            )
            for user in range(study.users)
        ]
        # Fig. 3 of Pudica: half below 10 ms, nine tenths below 20 ms.
        self.assertAlmostEqual(float(np.quantile(trips, 0.5)), 10_000, delta=500)
        self.assertAlmostEqual(float(np.quantile(trips, 0.9)), 20_000, delta=1_500)

    def test_falls_come_as_often_as_the_study_says(self):
        study = self.study(
            ("users = 8", "users = 400"), ('median = "3s"', 'median = "30min"')
        )
        arm = study.arms[0]
        for population, share in zip(study.populations, (0.056, 0.355), strict=True):
            often = []
            for user in range(study.users):
                drawn = draw.scenario(study, population, user, user, arm)
                minutes = float(drawn["duration"][:-2]) / 6e4
                often.append((len(drawn["link"]["steps"]) - 1) / 2 / minutes)
            # Fig. 4 of Pudica: the share of users with five or more a minute. A fall lasts, so
            # that a few less fit.
            many = sum(falls >= 5 * 60 / (60 + 5) for falls in often) / len(often)
            self.assertAlmostEqual(many, share, delta=0.06)

    def test_sessions_are_spread_over_arms_or_played_in_each(self):
        study = self.study(("sessions = 24", "sessions = 4000"))
        arms = [
            draw.arms_of(study, session)[0].name for session in range(study.sessions)
        ]
        for arm in study.arms:
            self.assertAlmostEqual(arms.count(arm.name) / len(arms), 0.2, delta=0.03)
        paired = self.study(('"randomised"', '"paired"'))
        self.assertEqual(draw.arms_of(paired, 3), paired.arms)


class Runs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.path = Path(cls.folder.name) / "study.toml"
        cls.path.write_text(SMALL, encoding="utf-8")
        cls.whole = cls.run_whole("whole")

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    @classmethod
    def run_whole(cls, name: str) -> polars.DataFrame:
        out = Path(cls.folder.name) / name
        work.run(work.prepare(cls.path, out), out)
        return rows(out)

    def begin(self, out: Path) -> subprocess.Popen:
        command = [
            sys.executable,
            "-m",
            "mimosa_lab.fleet",
            "run",
            self.path,
            "--out",
            out,
        ]
        return subprocess.Popen(
            [*command, "--workers", "2"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def wait_for_parts(self, out: Path, count: int) -> None:
        end = time.monotonic() + 60
        while len(list((out / "parts").glob("*.parquet"))) < count:
            self.assertLess(time.monotonic(), end)
            time.sleep(0.01)

    def workers_of(self, driver: subprocess.Popen) -> list[int]:
        children = Path(f"/proc/{driver.pid}/task/{driver.pid}/children").read_text()
        return [
            int(child)
            for child in children.split()
            if b"spawn_main" in Path(f"/proc/{child}/cmdline").read_bytes()
        ]

    def test_a_killed_driver_loses_nothing_and_repeats_nothing(self):
        out = Path(self.folder.name) / "driver"
        driver = self.begin(out)
        self.wait_for_parts(out, 2)
        workers = self.workers_of(driver)
        self.assertTrue(workers)
        driver.kill()
        driver.wait()
        end = time.monotonic() + 20
        while any(Path(f"/proc/{worker}").exists() for worker in workers):
            self.assertLess(time.monotonic(), end, "no worker outlives its driver")
            time.sleep(0.01)
        study = work.prepare(self.path, out)
        kept = {
            part: part.stat().st_mtime_ns for part in (out / "parts").glob("*.parquet")
        }
        self.assertLess(len(kept), 6, "it was killed on the way")
        work.run(study, out)
        self.assertTrue(rows(out).equals(self.whole))
        again = {part: part.stat().st_mtime_ns for part in kept}
        self.assertEqual(again, kept, "what was there was not written again")

    def test_a_killed_worker_loses_nothing(self):
        out = Path(self.folder.name) / "worker"
        driver = self.begin(out)
        self.wait_for_parts(out, 1)
        workers = self.workers_of(driver)
        self.assertTrue(workers)
        os.kill(workers[0], signal.SIGKILL)
        self.assertEqual(driver.wait(timeout=120), 0)
        self.assertTrue(rows(out).equals(self.whole))

    def fleet(self, *arguments: str | Path, **options) -> subprocess.Popen:
        """The program's command, with this Python, in the folder of the tests."""
        command = [
            os.environ["MIMOSA"],
            "fleet",
            *arguments,
            "--python",
            sys.executable,
        ]
        package = Path(lab.__file__).resolve().parents[1]
        return subprocess.Popen(
            command,
            cwd=self.folder.name,
            env={**os.environ, "PYTHONPATH": str(package)},
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            **options,
        )

    def test_the_program_runs_a_study_and_goes_on_after_ctrl_c(self):
        out = Path(self.folder.name) / "fleet-results" / "study"
        # A shell ignores Ctrl-C for what it starts in the background.
        driver = self.fleet(
            "run",
            "study.toml",
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        )
        self.wait_for_parts(out, 1)
        driver.send_signal(signal.SIGINT)
        said = driver.communicate(timeout=60)[1]
        self.assertEqual(driver.returncode, 130, said)
        self.assertIn("the same command goes on from here", said)
        driver = self.fleet("run", "study.toml", "--cluster", "local")
        told, said = driver.communicate(timeout=120)
        self.assertEqual(driver.returncode, 0, said)
        self.assertEqual(told, "fleet-results/study/page.md\n")
        self.assertTrue(rows(out).equals(self.whole))

    def test_the_program_tells_what_is_wrong_as_the_package_does(self):
        driver = self.fleet("analyse", "nowhere")
        told, said = driver.communicate(timeout=60)
        self.assertEqual((driver.returncode, told), (1, ""))
        self.assertIn("nowhere/study.toml", said)

    def test_scaling_is_measured_in_turns(self):
        command = ["scaling", "study.toml", "--workers", "2,1"]
        driver = self.fleet(*command, "--tasks", "2", "--repeats", "2")
        told, said = driver.communicate(timeout=120)
        self.assertEqual(driver.returncode, 0, said)
        self.assertIn("4 of 4", said)
        rows = [line.strip("| ").split(" | ") for line in told.splitlines()[2:]]
        self.assertEqual([row[0] for row in rows], ["2", "1"])
        self.assertEqual(rows[0][3:], ["1.00", "100"])
        self.assertEqual(len(rows[1][2].split(", ")), 2)

    def test_the_table_of_scaling_compares_with_its_first_row(self):
        paces = [scaling.Pace(1, [10, 12, 11]), scaling.Pace(2, [5, 6, 5.5])]
        last = list(scaling.table([*paces, scaling.Pace(4, [5.5, 5.5, 5.5])]))[-2:]
        self.assertEqual(last[0], "| 2 | 5.5 | 5.0, 6.0, 5.5 | 2.00 | 100 |")
        self.assertEqual(last[1], "| 4 | 5.5 | 5.5, 5.5, 5.5 | 2.00 | 50 |")

    def test_scaling_beyond_this_machine_is_simulated(self):
        # Two workers take 3 and 2 seconds, and the first to be free takes the last task.
        self.assertEqual(scaling.beyond([3.0, 2.0, 2.0], 2, 0.0), 4.0)
        self.assertEqual(scaling.beyond([3.0, 2.0, 2.0], 1, 0.0), 7.0)
        # As many workers as tasks wait for the longest, and no task waits for more workers.
        self.assertEqual(scaling.beyond([3.0, 2.0, 2.0], 9, 0.0), 3.0)
        # A driver that is slower than the workers decides.
        self.assertEqual(scaling.beyond([3.0, 2.0, 2.0], 3, 5.0), 17.0)
        whole = Path(self.folder.name) / "whole"
        told = "\n".join(scaling.simulated(whole, [1, 1000]))
        self.assertRegex(told, r"^6 tasks of \d")
        one, most = [line.strip("| ").split(" | ") for line in told.splitlines()[-2:]]
        self.assertEqual([one[0], *one[2:]], ["1", "1.0", "100"])
        self.assertTrue(1.0 <= float(most[2]) <= 6.0, told)

    def test_another_study_is_refused(self):
        out = Path(self.folder.name) / "whole"
        other = Path(self.folder.name) / "other.toml"
        other.write_text(SMALL.replace("users = 8", "users = 9"), encoding="utf-8")
        with self.assertRaisesRegex(StudyError, "sessions of another study"):
            work.prepare(other, out)

    def test_the_page_has_every_arm_and_drawings(self):
        out = Path(self.folder.name) / "whole"
        study = Study.load(out / "study.toml")
        page = analysis.write(study, work.sessions(out), out).read_text(
            encoding="utf-8"
        )
        for arm in study.arms:
            self.assertIn(f"| {arm.name} |", page)
        self.assertIn(
            "<polyline",
            (out / "cdf-all-frame_delay_p95_ms.svg").read_text(encoding="utf-8"),
        )


class Analysis(unittest.TestCase):
    def test_intervals_hold_what_they_say(self):
        study = Study.read(
            {
                "title": "t",
                "sessions": 1,
                "users": 40,
                "length": "1s",
                "population": [
                    {
                        "name": "p",
                        "share": 1,
                        "round_trip": "10ms",
                        "rate": "9Mbit/s",
                        "buffers": ["9kB"],
                    }
                ],
                "arm": [{"name": "a"}, {"name": "b"}],
                "analysis": {
                    "baseline": "a",
                    "metrics": ["frame_delay_mean_ms"],
                    "resamples": 400,
                },
            }
        )
        random = np.random.default_rng(5)
        held = ratios = 0
        for _ in range(100):
            # Users differ, and the sessions of one are alike: 40 users with 10 sessions in each arm.
            user = np.repeat(np.arange(40), 10)
            level = random.normal(20, 4, 40)[user]
            tables = [
                polars.DataFrame(
                    {
                        "user": user,
                        "population": ["p"] * 400,
                        "arm": [arm] * 400,
                        "frames": np.full(400, 100),
                        "frame_delay_mean_ms": factor
                        * (level + random.normal(0, 1, 400)),
                    }
                )
                for arm, factor in (("a", 1.0), ("b", 1.1))
            ]
            found = analysis.estimates(study, polars.concat(tables))
            by_arm = {one["arm"]: one for one in found if one["population"] is None}
            low, high = by_arm["a"]["interval"]
            held += low <= 20 <= high
            low, high = by_arm["b"]["ratio_interval"]
            ratios += low <= 1.1 <= high
            self.assertTrue(math.isclose(by_arm["a"]["ratio"], 1.0))
        self.assertTrue(87 <= held <= 99, held)
        self.assertTrue(87 <= ratios <= 100, ratios)


if __name__ == "__main__":
    unittest.main()
