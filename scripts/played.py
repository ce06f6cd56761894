"""A host and a headless native client at the two ends of an emulated link, for measurements."""

import json
import os
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MIMOSA = Path(os.environ.get("MIMOSA", ROOT / "target" / "play" / "mimosa")).absolute()

SERVE = """
"$MIMOSA" serve --bind "$MIMOSA_LINK_ADDRESS" --http-port 7080 --udp-port 7081 \\
    --tls off --token a-token-for-a-table "$@" 2>serve.txt &
while ! [ -e over ]; do sleep 0.1; done
kill $!
wait
"""
PLAY = """
trap 'touch over' EXIT
sleep "$2"
"$MIMOSA" play "http://$MIMOSA_LINK_PEER:7080/#token=a-token-for-a-table" \\
    --headless --report report.json --seconds "$1" --log warn,mimosa_client=debug 2>play.txt
"""


# The client begins this long after the host, and what is judged of the host some seconds later, in seconds.
BEGINS = 3
FROM = BEGINS + 5


def play(
    network: str,
    host: list[str],
    seconds: int,
    *,
    sound: str = "off",
    record: bool = False,
) -> dict:
    """What the client reports after so many seconds across `network`, of a host with these flags.

    `network` is what `mimosa link` reads. What the client logs is under `log`, and what the host recorded of
    the session from its sixth second on, if it is to `record`, under `host`, as `mimosa report` gives it. Needs
    the rights to make network namespaces.
    """
    host = ["--sound", sound, *host, *(["--record", "records"] if record else [])]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "path.toml").write_text(network)
        serve = SERVE.replace('"$@"', " ".join(f"'{word}'" for word in host))
        (folder / "serve.sh").write_text(serve)
        (folder / "play.sh").write_text(PLAY)
        words = [MIMOSA, "link", "run", "path.toml", "--isolated"]
        words += [
            "--peer",
            "sh serve.sh",
            "--",
            "sh",
            "play.sh",
            str(seconds),
            str(BEGINS),
        ]
        environment = {
            **os.environ,
            "MIMOSA": str(MIMOSA),
            "XDG_CONFIG_HOME": str(folder),
        }
        subprocess.run(
            words, cwd=folder, env=environment, check=True, capture_output=True
        )
        report = json.loads((folder / "report.json").read_text())
        recorded = {"host": recording(folder / "records")} if record else {}
        return {**report, **recorded, "log": (folder / "play.txt").read_text()}


def recording(folder: Path) -> dict:
    """What `mimosa report` says of the one session that was recorded in `folder`."""
    (file,) = folder.glob("*.parquet")
    words = [MIMOSA, "report", file, "--json", "--from", f"{FROM}s"]
    return json.loads(subprocess.run(words, check=True, capture_output=True).stdout)


def fill(page: Path, mark: str, lines: list[str]) -> None:
    """Puts lines between `<!-- mark -->` and `<!-- end mark -->` of a page."""
    begin, end = f"<!-- {mark} -->", f"<!-- end {mark} -->"
    before, rest = page.read_text().split(begin)
    _, after = rest.split(end)
    table = "\n".join(lines)
    page.write_text(f"{before}{begin}\n\n{table}\n\n{end}{after}")
