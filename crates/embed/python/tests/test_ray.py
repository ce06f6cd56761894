"""A study on a real cluster of Ray with two nodes, one of which is killed; `make ray-test` installs Ray and runs this."""

import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from importlib.util import find_spec
from pathlib import Path

import mimosa_lab as lab
import polars
from mimosa_lab.fleet import work
from test_fleet import STUDY, changed

#: Sessions of a minute, in twelve tasks.
LONGER = changed(STUDY, sessions="48", users="8", length='"60s"')
#: A name by which Ray's workers are known while they run a task of a study.
BUSY = b"ray::_play_task"
LONG = 180


def busy() -> list[int]:
    """The processes that run a task of a study."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if (entry / "cmdline").read_bytes().startswith(BUSY):
                found.append(int(entry.name))
        except OSError:
            continue
    return found


@unittest.skipUnless(find_spec("ray"), "Ray is not installed: `make ray-test` does")
class Cluster(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
        package = str(Path(lab.__file__).resolve().parents[1])
        # The nodes' workers import the package from where this process has it.
        os.environ["PYTHONPATH"] = package
        from ray.cluster_utils import Cluster as RayCluster

        cls.folder = tempfile.TemporaryDirectory()
        cls.path = Path(cls.folder.name) / "study.toml"
        cls.path.write_text(LONGER, encoding="utf-8")
        out = Path(cls.folder.name) / "alone"
        work.run(work.prepare(cls.path, out), out)
        cls.alone = work.sessions(out).drop("cpu_seconds")
        head = {"num_cpus": 1, "include_dashboard": False}
        cls.cluster = RayCluster(initialize_head=True, head_node_args=head)
        cls.second = cls.cluster.add_node(num_cpus=1)

    @classmethod
    def tearDownClass(cls):
        cls.cluster.shutdown()
        cls.folder.cleanup()

    def wait_for(self, what, is_so) -> None:
        end = time.monotonic() + LONG
        while not is_so():
            self.assertLess(time.monotonic(), end, what)
            time.sleep(0.02)

    def test_a_killed_worker_and_then_a_killed_node_lose_nothing(self):
        out = Path(self.folder.name) / "cluster"
        command = [sys.executable, "-m", "mimosa_lab.fleet", "run", self.path]
        driver = subprocess.Popen(
            [*command, "--out", out, "--cluster", self.cluster.address],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        parts = out / "parts"
        self.wait_for("a task is done", lambda: list(parts.glob("*.parquet")))
        self.wait_for("both nodes work", lambda: len(busy()) >= 2)
        killed = busy()[0]
        os.kill(killed, signal.SIGKILL)
        self.wait_for("the worker is gone", lambda: killed not in busy())
        self.wait_for("another takes its place", lambda: len(busy()) >= 2)
        self.cluster.remove_node(self.second, allow_graceful=False)
        self.wait_for("one node is left", lambda: len(busy()) <= 1)
        done = len(list(parts.glob("*.parquet")))
        self.assertLess(done, 12, "the node was killed on the way")
        said = driver.communicate(timeout=LONG)[1]
        self.assertEqual(driver.returncode, 0, said)
        rows: polars.DataFrame = work.sessions(out).drop("cpu_seconds")
        self.assertTrue(rows.equals(self.alone), "as on one machine, row for row")


if __name__ == "__main__":
    unittest.main()
