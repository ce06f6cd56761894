"""Tests of the package. They run the program as well, whose path is in MIMOSA."""

import doctest
import importlib.util
import json
import os
import shutil
import signal
import subprocess
import tempfile
import threading
import time
import unittest
from pathlib import Path

import gymnasium
import mimosa_lab as lab
import numpy as np
import polars
import pyarrow
from gymnasium.utils.env_checker import check_env
from mimosa_lab.environment import SessionEnv, SessionVectorEnv

ROOT = Path(__file__).resolve().parents[4]
LINK = {"duration": "5s", "link": {"rate": "20Mbit/s"}}
ALONE = lab.Scenario({**LINK, "flow": [{"frame_noise": 0.1}]})


# A link whose rate falls, with jitter and losses.
FALLING = """duration = "5s"
[link]
one_way_delay = "15ms"
jitter = { kind = "normal", deviation = "4ms", most = "12ms" }
loss = 0.005
queue = { kind = "droptail", limit = "400ms" }
steps = [{ at = "0s", rate = "20Mbit/s" }, { at = "2s", rate = "3Mbit/s" }]
[[flow]]
name = "game"
"""


class Numbers(unittest.TestCase):
    def test_the_figures_are_those_of_the_program(self):
        path = ROOT / "scenarios" / "three-flows.toml"
        command = [os.environ["MIMOSA"], "sim", path, "--json", "-", "--seeds", "3..4"]
        printed = subprocess.run(
            command, check=True, capture_output=True, text=True
        ).stdout
        told = [
            json.loads(line) for line in printed.splitlines() if line.startswith("{")
        ]
        result = lab.run(lab.Scenario.load(path), seeds=[3, 4])
        self.assertEqual(len(told), 2)
        for run, line in zip(result.figures, told, strict=True):
            self.assertEqual(run, line)

    def test_the_figures_are_about_the_window(self):
        path = ROOT / "scenarios" / "three-flows.toml"
        command = [os.environ["MIMOSA"], "sim", path, "--json", "-"]
        result = lab.run(lab.Scenario.load(path), window=("3s", "7s"))
        printed = subprocess.run(
            [*command, "--from", "3s", "--to", "7s"], check=True, capture_output=True
        ).stdout
        self.assertEqual(result.figures, [json.loads(printed)])
        self.assertEqual(result.window_ns, (3_000_000_000, 7_000_000_000))
        whole = lab.run(ALONE, record=["frames"])
        self.assertEqual(whole.window_ns, (0, 5_000_000_000))
        last = lab.run(ALONE, window=("2.5s", None), record=["frames"])
        self.assertEqual(last.window_ns, (2_500_000_000, 5_000_000_000))
        self.assertEqual(len(last.frames), len(whole.frames))
        handed_over = whole.frames.to_polars()["handed_over_ns"]
        counted = handed_over.is_between(*last.window_ns, closed="left").sum()
        self.assertEqual(last.figures[0]["flows"][0]["frames"], counted)
        self.assertLess(counted, whole.figures[0]["flows"][0]["frames"])

    def test_runs_repeat_in_any_order(self):
        both = lab.run(ALONE, seeds=[2, 1], record=["packets"])
        one = lab.run(ALONE, seeds=1, record=["packets"])
        packets = both.packets.to_polars()
        again = packets.filter(polars.col("seed") == 1)
        self.assertTrue(again.equals(one.packets.to_polars()))
        self.assertFalse(packets.filter(polars.col("seed") == 2).equals(again))


class Tables(unittest.TestCase):
    def test_tables_are_taken_without_copies(self):
        frames = lab.run(ALONE, record=["frames"]).frames
        first, second = pyarrow.table(frames), pyarrow.table(frames)
        address = [
            table["size_bytes"].chunk(0).buffers()[1].address
            for table in (first, second)
        ]
        self.assertEqual(address[0], address[1])
        self.assertEqual(len(frames), first.num_rows)
        self.assertEqual(frames.columns, first.column_names)

    def test_each_kind_of_table_is_read_by_polars_and_pandas(self):
        result = lab.run(ALONE, seeds=range(1, 3), record=["frames", "packets"])
        for name in ("flows", "frames", "packets", "decisions"):
            table = getattr(result, name)
            with self.subTest(name):
                one, other = table.to_polars(), table.to_pandas()
                self.assertEqual(one.columns, list(other.columns))
                self.assertEqual((len(one), len(other)), (len(table), len(table)))
        causes = result.decisions.to_polars()["cause"].cast(str).unique()
        self.assertIn("multiplicative-increase", causes)
        self.assertEqual(
            result.frames.meaning("delay_ns"),
            "Frame delay: `acknowledged_ns` less `handed_over_ns`.",
        )

    def test_frames_are_in_the_order_of_their_capture(self):
        flows = [{"name": "a"}, {"name": "b", "phase": "3ms"}]
        lossy = {"rate": "9Mbit/s", "one_way_delay": "20ms", "loss": 0.03}
        scenario = lab.Scenario({"duration": "5s", "link": lossy, "flow": flows})
        table = lab.run(scenario, seeds=[2, 1], record=["frames"]).frames.to_polars()
        in_order = polars.concat(
            table.filter(seed=seed).sort("due_ns", "flow") for seed in (2, 1)
        )
        self.assertTrue(table.equals(in_order))
        ends = table.filter(seed=1)["acknowledged_ns"].drop_nulls()
        self.assertFalse(ends.is_sorted(), "frames do overtake each other")

    def test_completed_frames_are_those_that_were_acknowledged(self):
        lossy = {"rate": "9Mbit/s", "one_way_delay": "60ms", "loss": 0.1}
        scenario = lab.Scenario({"duration": "5s", "link": lossy, "flow": [{}]})
        result = lab.run(scenario, record=["frames"])
        ends = result.frames.to_polars()["end"].cast(str).to_list()
        flow = result.flows.to_polars().row(0, named=True)
        self.assertEqual(flow["completed"], ends.count("acknowledged"))
        self.assertEqual(flow["frames"], len(ends))
        self.assertGreater(ends.count("given-up"), 0)

    def test_what_was_not_recorded_is_said(self):
        with self.assertRaisesRegex(ValueError, r'pass `record=\("frames",\)`'):
            _ = lab.run(ALONE).decisions


class Mistakes(unittest.TestCase):
    def test_a_scenario_is_refused_with_place_and_mend(self):
        for wrong, says in [
            (
                "duration = 3",
                'scenario:1: `3` has no unit; write the duration as e.g. "10ms"',
            ),
            (
                {**LINK, "flow": [{"controller": "pudicca"}]},
                "there is no controller `pudicca`",
            ),
            ({**LINK, "flow": []}, "there is no flow"),
            (
                {"duration": "1s", "link": {"trace": "x.csv"}, "flow": [{}]},
                "pass `folder=`",
            ),
        ]:
            with self.assertRaises(lab.ScenarioError) as raised:
                lab.Scenario(wrong)
            self.assertIn(says, str(raised.exception))
        with self.assertRaisesRegex(TypeError, "no values of type set"):
            lab.Scenario({"duration": {1}})

    def test_what_cannot_run_is_named(self):
        for arguments, says in [
            ({"controller": "cubic"}, "can have no controller `cubic`"),
            ({"controller": 3}, "takes a name, or a class"),
            ({"controller": "gcc", "flow": 1}, "the flow number 1 is not there"),
            ({"controller": lambda limits: 3}, "a method `handle"),
            ({"policy": lambda limits: 3}, "a policy must be callable"),
            ({"variant": "x"}, "there is no variant `x`"),
            ({"window": ("3", None)}, "`window`: `3` has no unit"),
            ({"window": ("3s", "2s")}, "let its first time be before its second"),
            ({"window": (None, "6s")}, "no part of the run, which lasts 5s"),
            ({"window": ("-1s", None)}, "`window`"),
            ({"record": ["frame"]}, "takes `frames` and `packets`, not `frame`"),
        ]:
            with self.subTest(says), self.assertRaisesRegex(Exception, says):
                lab.run(ALONE, **arguments)

    def test_texts_of_any_kind_come_back_as_they_went(self):
        name = 'quote " slash \\ é \u2192'
        scenario = lab.Scenario({**LINK, "flow": [{"name": name}]})
        self.assertEqual(scenario.flows, [(name, "video")])


class Fixed:
    """The Rust controller `fixed` in Python: the starting rate, paced at 2.5 times it."""

    def __init__(self, limits):
        rate = limits["start_bps"]
        pacing = {"kind": "bucket", "rate_bps": 2.5 * rate}
        self.decision = {"target_bps": rate, "pacing": pacing, "cause": "fixed"}

    def handle(self, now_ns, event):
        return self.decision


class Controllers(unittest.TestCase):
    def test_a_controller_in_python_decides_as_its_twin(self):
        def decisions(controller):
            result = lab.run(
                ALONE, controller=controller, seeds=range(1, 4), record=["frames"]
            )
            # The first packet is the first thing that a controller hears of.
            return result.frames.to_polars().filter(polars.col("frame") > 0)

        self.assertTrue(decisions(Fixed).equals(decisions("fixed")))
        self.assertFalse(decisions(Fixed).equals(decisions("pudica")))

    def test_an_object_a_process_and_a_module_decide_the_same(self):
        folder = ROOT / "crates" / "platform" / "outside" / "controllers"
        spec = importlib.util.spec_from_file_location("aimd", folder / "aimd.py")
        aimd = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(aimd)

        def anonymous(figures):
            flows = [{**flow, "controller": "aimd"} for flow in figures["flows"]]
            return {**figures, "flows": flows}

        result = lab.run(lab.Scenario(FALLING), controller=aimd.Aimd, seeds=[1, 2])
        objects = [anonymous(run) for run in result.figures]
        for controller in ("process:python3 aimd.py", "wasm:aimd.wasm"):
            with tempfile.TemporaryDirectory() as here:
                for name in ("aimd.py", "aimd.wasm"):
                    shutil.copy(folder / name, here)
                path = Path(here) / "run.toml"
                path.write_text(f'{FALLING}controller = "{controller}"\n')
                command = [os.environ["MIMOSA"], "sim", path, "--json", "-"]
                command += ["--seeds", "1..2", "--allow-processes"]
                printed = subprocess.run(
                    command, check=True, capture_output=True, text=True
                ).stdout
            lines = [json.loads(line) for line in printed.splitlines()]
            self.assertEqual(len(lines), 2)
            for line, expected in zip(lines, objects, strict=True):
                told = anonymous(line)
                for name, value in expected.items():
                    self.assertEqual(told[name], value, f"{controller}: {name}")

    def test_a_controller_hears_every_kind_of_event_and_asks_for_timers(self):
        heard, timers = {}, []

        class Listener:
            def __init__(self, limits):
                pass

            def handle(self, now_ns, event):
                heard.setdefault(event["kind"], event)
                if event["kind"] == "timer":
                    timers.append(now_ns)
                return {"timer_ns": now_ns + 100_000_000} if len(timers) < 9 else None

        lab.run(ALONE, controller=Listener)
        self.assertLessEqual(
            {"frame-due", "frame-encoded", "packet-sent", "feedback"}, heard.keys()
        )
        report = heard["feedback"]["reports"][0]
        self.assertGreater(report["arrived_ns"], report["sent_ns"])

    def test_the_error_of_a_controller_is_the_error_of_the_run(self):
        class Failing:
            def __init__(self, limits):
                pass

            def handle(self, now_ns, event):
                return {"target_bps": -1} if now_ns > 1_000_000_000 else None

        with self.assertRaisesRegex(
            ValueError, "`target_bps` must be a number from zero"
        ):
            lab.run(ALONE, controller=Failing, seeds=range(8))

    def test_a_policy_is_asked_for_each_frame(self):
        seen = []

        def policy(limits):
            def act(observation):
                seen.append(observation)
                return 8.0, 1.0, 2.0

            return act

        flow = lab.run(ALONE, policy=policy).figures[0]["flows"][0]
        self.assertAlmostEqual(flow["bitrate_mbps"], 8.0, delta=0.4)
        self.assertEqual(len(seen), flow["frames"])
        self.assertEqual(len(seen[0]), len(lab.OBSERVATION))


class Interrupts(unittest.TestCase):
    def test_ctrl_c_ends_a_long_run_at_once(self):
        long = lab.Scenario({**LINK, "duration": "20h", "flow": [{}]})
        # A shell ignores Ctrl-C for what it starts in the background.
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        self.addCleanup(signal.signal, signal.SIGINT, before)
        begun = time.monotonic()
        threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
        with self.assertRaises(KeyboardInterrupt):
            lab.run(long, seeds=range(4))
        # Twenty hours for each of four seeds take minutes.
        self.assertLess(time.monotonic() - begun, 20)

    def test_progress_is_told_and_may_stop_the_runs(self):
        told = []
        lab.run(ALONE, seeds=range(5), progress=lambda *so_far: told.append(so_far))
        self.assertEqual(told, [(done, 5) for done in range(6)])

        def stop(done, runs):
            if done:
                raise RuntimeError("enough")

        with self.assertRaisesRegex(RuntimeError, "enough"):
            lab.run(ALONE, seeds=range(1000), progress=stop)


class Environments(unittest.TestCase):
    def test_gymnasium_finds_nothing_wrong(self):
        check_env(SessionEnv(ALONE), skip_render_check=True)

    def test_a_vector_of_sessions_gives_what_each_alone_gives(self):
        actions = (
            np.random.default_rng(1).uniform(-1, 0.5, (400, 2, 3)).astype(np.float32)
        )
        both = SessionVectorEnv([ALONE], 2, seed=7)
        together = [both.reset()[0], *(both.step(action)[0] for action in actions)]
        for place in range(2):
            env = SessionEnv(ALONE, seed=7 + place)
            alone = [env.reset()[0]]
            for action in actions[:, place]:
                observation, _, _, over, _ = env.step(action)
                if over:
                    break
                alone.append(observation)
            self.assertGreater(len(alone), 290)
            same = np.allclose(
                [seen[place] for seen in together[: len(alone)]], alone, rtol=1e-4
            )
            self.assertTrue(same)

    def test_the_oracle_gives_the_regret_of_each_step(self):
        def sums(target):
            env = SessionEnv(ALONE, oracle=True)
            env.reset(seed=3)
            regrets = rewards = 0.0
            over = False
            while not over:
                action = np.array([target, 0, 0], np.float32)
                _, reward, _, over, info = env.step(action)
                regrets += info.get("regret", 0.0)
                rewards += reward
            return regrets, regrets + rewards

        little, oracle = sums(0.0)
        much, same = sums(0.5)
        self.assertAlmostEqual(oracle, same, msg="the oracle's session is one")
        self.assertTrue(0 < much < little, (much, little))
        vector = SessionVectorEnv([ALONE], 1, seed=3, oracle=True)
        vector.reset()
        regrets, over = 0.0, False
        while not over:
            _, _, _, [over], info = vector.step(np.array([[0.5, 0, 0]], np.float32))
            regrets += info["regret"][0]
            self.assertEqual(info["_regret"][0], not over)
        self.assertAlmostEqual(regrets, much, places=3)
        env = SessionEnv(ALONE)
        env.reset()
        self.assertNotIn("regret", env.step(np.zeros(3, np.float32))[4])

    def test_sessions_begin_anew_over_all_scenarios(self):
        short = [
            lab.Scenario(
                {"duration": "1s", "link": {"rate": f"{rate}Mbit/s"}, "flow": [{}]}
            )
            for rate in (5, 50)
        ]
        env = SessionVectorEnv(short, 3)
        env.reset()
        self.assertIsInstance(env, gymnasium.vector.VectorEnv)
        ends, trains = 0, set()
        train = lab.OBSERVATION.index("train_mbps")
        for _ in range(300):
            observation, _, terminated, over, _ = env.step(np.ones((3, 3), np.float32))
            ends += over.sum()
            trains |= {round(float(rate)) for rate in observation[:, train] * 20}
            self.assertFalse(terminated.any())
        self.assertGreaterEqual(ends, 12)
        self.assertTrue({5} <= trains and max(trains) > 40, trains)


class Suites(unittest.TestCase):
    def test_a_suite_goes_on_where_it_stopped(self):
        self.assertIn("scoreboard", lab.suites())
        folder = ROOT / "out" / f"python-suite-{os.getpid()}"
        chosen = {"controllers": ["pudica"], "seeds": (1, 1), "cases": ["constant-8"]}
        told = []
        records, page = lab.run_suite(
            "scoreboard", folder, **chosen, progress=lambda *it: told.append(it)
        )
        self.assertTrue(page.exists())
        again, _ = lab.run_suite(
            "scoreboard", folder, **chosen, progress=lambda *it: told.append(it)
        )
        self.assertEqual(records, again)
        self.assertEqual(told[-1], (0, 0), "nothing is run again")
        with self.assertRaisesRegex(ValueError, "there is no suite `x`; there is"):
            lab.run_suite("x", folder)


class Documentation(unittest.TestCase):
    def test_the_examples_do_what_they_say(self):
        failed, tried = doctest.testmod(lab)
        self.assertEqual(failed, 0)
        self.assertGreater(tried, 3)


if __name__ == "__main__":
    unittest.main()
