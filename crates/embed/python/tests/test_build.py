"""Tests of scenarios from objects: that they say what files say, and have the keys that are documented."""

import doctest
import re
import tomllib
import unittest
from dataclasses import fields, replace
from pathlib import Path

import mimosa_lab as lab
from mimosa_lab import build
from mimosa_lab.build.keys import plain

ROOT = Path(__file__).resolve().parents[4]
PAGE = (ROOT / "docs/use/simulation.md").read_text(encoding="utf-8")
QUEUES = {
    kind.KIND: kind
    for kind in vars(build).values()
    if isinstance(kind, type)
    and getattr(kind, "KIND", None) not in (None, "tcp", "cbr")
}
FLOWS = {"video": build.Video, "tcp": build.Tcp, "cbr": build.Cbr}


def made(kind: type[build.Keys], keys: dict) -> build.Keys:
    """The object with the keys of a table, and objects for the tables in it."""
    keys = dict(keys)
    names = {own.metadata.get("key", own.name): own.name for own in fields(kind)}
    for key in ("queue", "inner"):
        if key in keys and key in names:
            inner = dict(keys[key])
            keys[key] = made(QUEUES[inner.pop("kind")], inner)
    for key, inner in {"class": build.HtbClass, "next": build.NextLink}.items():
        if key in keys and key in names:
            keys[key] = [made(inner, one) for one in keys[key]]
    if "reverse" in keys and kind is build.Link:
        keys["reverse"] = made(build.ReverseLink, keys["reverse"])
    if "steps" in keys and "steps" in names:
        keys["steps"] = [made(build.Step, step) for step in keys["steps"]]
    return kind(**{names[key]: value for key, value in keys.items()})


def flow_of(keys: dict) -> build.Keys:
    keys = dict(keys)
    return made(FLOWS[keys.pop("kind", "video")], keys)


def whole(described: dict) -> dict:
    """The scenario with objects for its link, flows and variants."""
    flow, variant = described["flow"], described.get("variant", [])
    variants = []
    for one in variant:
        parts = {"link": build.Link, "flow": build.Video}
        changed = {key: made(parts[key], one[key]) for key in parts if key in one}
        variants.append(build.Variant(one["name"], **changed))
    return {
        **described,
        "link": made(build.Link, described["link"]),
        "flow": [flow_of(one) for one in flow],
        **({"variant": variants} if variants else {}),
    }


def documented(begin: str, end: str) -> set[str]:
    """The keys in the first cells of the tables between two texts of the page."""
    part = PAGE.split(begin, 1)[1].split(end, 1)[0]
    rows = re.findall(r"^\| (`.*?) \|", part, flags=re.MULTILINE)
    return {key for row in rows for key in re.findall(r"`([\w-]+)`", row)}


def keys_of(kind: type[build.Keys]) -> set[str]:
    return {own.metadata.get("key", own.name) for own in fields(kind)}


class Build(unittest.TestCase):
    def test_every_scenario_of_the_repository_can_be_built(self):
        tried = 0
        for folder in ("scenarios", "lab", "experiments"):
            for path in sorted((ROOT / folder).rglob("*.toml")):
                described = tomllib.loads(path.read_text(encoding="utf-8"))
                if "flow" not in described or "link" not in described:
                    continue
                with self.subTest(path.name):
                    built = plain(whole(described))
                    # The kind of a video flow is what a flow without one has.
                    for flow in described["flow"]:
                        if flow.get("kind") == "video":
                            del flow["kind"]
                    self.assertEqual(built, described)
                    tried += 1
        self.assertGreater(tried, 100)

    def test_objects_run_as_their_file_does(self):
        path = ROOT / "lab/htb-l4s/htb-cubic-game.toml"
        described = tomllib.loads(path.read_text(encoding="utf-8"))
        described["duration"] = "2s"
        described["flow"][1] |= {
            "start": "1s",
            "steps": [{"at": "0s", "rate": "9Mbit/s"}],
        }
        objects = whole(described)
        link, flows, variants = (objects[key] for key in ("link", "flow", "variant"))
        built = lab.Scenario.of(link, flows, duration="2s", variants=variants)
        self.assertEqual(built.variants, ["01"])
        self.assertEqual(
            lab.run(built, seeds=3).figures,
            lab.run(lab.Scenario(described), seeds=3).figures,
        )
        other = replace(link, queue=build.DropTail(limit="20packets"))
        again = lab.Scenario.of(other, flows, duration="2s", variants=variants)
        self.assertNotEqual(again.text, built.text)

    def test_the_keys_are_those_of_the_page(self):
        link = documented("### `[link]`", "[Traces](traces.md) has")
        self.assertEqual(keys_of(build.Link), link | {"reverse", "next"})
        every, tcp, video = (
            documented("### `[[flow]]`", "TCP alone:"),
            documented("TCP alone:", "Video alone:"),
            documented("Video alone:", "### `[[variant]]`"),
        )
        self.assertEqual(keys_of(build.Video), (every | video) - {"kind", "rate"})
        self.assertEqual(keys_of(build.Tcp), (every | tcp) - {"kind", "pauses"})
        self.assertEqual(keys_of(build.Cbr), every - {"kind"})

    def test_queues_have_the_keys_of_the_page(self):
        part = PAGE.split("### Queues", 1)[1].split("A class has a `name`")[0]
        rows = dict(re.findall(r"^\| `([\w-]+)` \| (.*?) \|", part, flags=re.MULTILINE))
        rows.pop("kind")
        self.assertEqual(set(QUEUES), set(rows))
        for kind, cell in rows.items():
            keys = set(re.findall(r"`(\w+)(?: = \{.*?\})?`", cell))
            if kind == "fq-codel":
                keys = keys - {"codel"} | keys_of(build.Codel)
            with self.subTest(kind):
                self.assertEqual(keys_of(QUEUES[kind]), keys)

    def test_quantities_have_neither_exponents_nor_noise(self):
        for built, text in [
            (build.ms(10), "10ms"),
            (build.ms(1 / 3), "0.333333ms"),
            (build.ms(1e7), "10000000ms"),
            (build.mbps(0.1 + 0.2), "0.3Mbit/s"),
            (build.kilobytes(500), "500kB"),
        ]:
            self.assertEqual(built, text)

    def test_mistakes_are_told(self):
        with self.assertRaisesRegex(TypeError, "one_way_dealy"):
            build.Link(rate="1Mbit/s", one_way_dealy="1ms")
        with self.assertRaisesRegex(lab.ScenarioError, "has no unit"):
            lab.Scenario.of(build.Link(rate=20), [build.Video()], duration="1s")

    def test_the_examples_do_what_they_say(self):
        failed, tried = doctest.testmod(build)
        self.assertEqual(failed, 0)
        self.assertGreater(tried, 4)


if __name__ == "__main__":
    unittest.main()
