"""What somebody who may watch costs the player, whatever they do: the table of docs/how-it-works/attacks.md.

    python3 scripts/viewers.py [ROUNDS]      five rounds unless named otherwise, 2.5 minutes each

A host streams its demo, 320x240 at 60 frames a second, to a headless native client on the same machine. Beside it, in
turn, there is nobody; a viewer who watches; or somebody with the token for watching who sends as many requests or
connectivity checks as they can. Each attack has a control, which sends as much and asks for nothing that costs: what
the attacker itself takes of the processors is in both. Attacks go on from before the player comes until it has left.
MIMOSA names the program; without it, target/play/mimosa.
"""

import hashlib
import hmac
import http.client
import json
import multiprocessing
import re
import socket
import statistics
import struct
import subprocess
import sys
import tempfile
import time
import zlib
from collections.abc import Callable
from pathlib import Path

from played import MIMOSA, ROOT, fill

PAGE = ROOT / "docs" / "how-it-works" / "attacks.md"
SECONDS = 14
HTTP, UDP = 7180, 7181
PLAY, WATCH = "a-token-for-playing", "a-token-for-watching"
SERVE = (
    f"serve --bind 127.0.0.1 --http-port {HTTP} --udp-port {UDP} --tls off --announce off --size 320x240 --sound off "
    f"--log error --token {PLAY} --view-token {WATCH}"
)
# What a host gives a session that never connects; an attacker comes again before.
RENEWED = 10
# Requests, and checks, a second: as many as the host takes from one address, and twenty times that.
REQUESTS, CHECKS = 50, 1000
OFFER = """v=0
o=- 1 2 IN IP4 127.0.0.1
s=-
t=0 0
a=group:BUNDLE 0
m=video 9 UDP/TLS/RTP/SAVPF 96
c=IN IP4 0.0.0.0
a=ice-ufrag:abcd
a=ice-pwd:abcdabcdabcdabcdabcdabcd
a=fingerprint:sha-256 FINGERPRINT
a=setup:actpass
a=mid:0
a=recvonly
a=rtcp-mux
a=rtpmap:96 H264/90000
a=rtcp-fb:96 transport-cc
a=fmtp:96 level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=42e01f
""".replace("FINGERPRINT", ":".join(["AB"] * 32)).replace("\n", "\r\n")


class Viewer:
    """Somebody with the token for watching, at the host's HTTP port."""

    def __init__(self) -> None:
        # Another address than the player's: the host counts requests by address.
        self.http = http.client.HTTPConnection(
            "127.0.0.1", HTTP, timeout=30, source_address=("127.9.9.9", 0)
        )

    def ask(
        self, method: str, path: str, body: str, kind: str
    ) -> tuple[int, str, str | None]:
        """Sends a request; gives status, body and place of the answer."""
        headers = {"Content-Type": kind, "Authorization": f"Bearer {WATCH}"}
        try:
            self.http.request(method, path, body, headers)
            answer = self.http.getresponse()
            text = answer.read().decode()
        except (OSError, http.client.HTTPException):
            self.http.close()
            return 0, "", None
        return answer.status, text, answer.getheader("Location")

    def offer(self) -> tuple[str, str]:
        """Begins a session, as soon as the host takes an offer; gives its answer and its place."""
        while True:
            status, text, place = self.ask(
                "POST", "/whep?role=viewer", OFFER, "application/sdp"
            )
            if status == 201:
                return text, f"/{place}"
            time.sleep(0.1)


def paced(rate: float, act: Callable[[int], None]) -> None:
    """Calls `act` so many times a second, or as often as it returns, for as long as a session that never connects
    lasts."""
    begun = time.monotonic()
    for number in range(int(rate * RENEWED)):
        time.sleep(max(0.0, begun + number / rate - time.monotonic()))
        act(number)


def candidates(has_any: bool) -> None:
    """Sends requests with 32 candidates each, or as long ones without any."""
    viewer = Viewer()
    while True:
        _, place = viewer.offer()

        def send(number: int, place: str = place) -> None:
            line = "a=candidate:{0} 1 udp {0} 10.{1}.{2}.7 {3} typ host\r\n"
            lines = (
                line.format(number * 32 + place, number % 256, place, 1024 + number)
                for place in range(32)
            )
            text = "".join(lines)
            body = text if has_any else "a=" + "x" * (len(text) - 4) + "\r\n"
            viewer.ask("PATCH", place, body, "application/trickle-ice-sdpfrag")

        paced(REQUESTS, send)


def check(user: str, password: str) -> bytes:
    """A connectivity check (RFC 8445, section 7.2.2), signed with this password."""

    def attribute(kind: int, value: bytes) -> bytes:
        return struct.pack(">HH", kind, len(value)) + value + bytes(-len(value) % 4)

    def header(length: int) -> bytes:
        return struct.pack(">HHI", 1, length, 0x2112A442) + b"twelve bytes"

    body = attribute(0x0006, f"{user}:abcd".encode())
    body += attribute(0x0024, struct.pack(">I", 1862270975))
    body += attribute(0x802A, bytes(8))
    signed = header(len(body) + 24) + body
    body += attribute(
        0x0008, hmac.new(password.encode(), signed, hashlib.sha1).digest()
    )
    summed = header(len(body) + 8) + body
    body += attribute(0x8028, struct.pack(">I", zlib.crc32(summed) ^ 0x5354554E))
    return header(len(body)) + body


def checks(is_right: bool) -> None:
    """Sends connectivity checks of its session, right ones or with a wrong password, each from another address."""
    viewer = Viewer()
    while True:
        answer, _ = viewer.offer()
        user, password = (
            re.search(rf"a=ice-{name}:(\S+)", answer)[1] for name in ("ufrag", "pwd")
        )
        message = check(user, password if is_right else "wrong-wrong-wrong-wrong-")

        def send(number: int, message: bytes = message) -> None:
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as out:
                out.bind((f"127.6.{number // 250 % 250}.{1 + number % 250}", 0))
                out.sendto(message, ("127.0.0.1", UDP))

        paced(CHECKS, send)


def joins() -> None:
    """Begins sessions and ends them, as often as the host takes offers."""
    viewer = Viewer()
    while True:
        _, place = viewer.offer()
        viewer.ask("DELETE", place, "", "text/plain")


def watches() -> None:
    """Watches with the native client."""
    play([f"http://127.0.0.1:{HTTP}/#token={WATCH}", "--watch"], 10 * SECONDS)


def play(flags: list[str], seconds: int) -> subprocess.CompletedProcess:
    words = [MIMOSA, "play", *flags, "--headless", "--seconds", str(seconds)]
    return subprocess.run(words, capture_output=True, check=False)


# What somebody does, the control beside which it is judged, and who does it.
CASES: dict[str, tuple[str | None, Callable | None, tuple]] = {
    "nobody else": (None, None, ()),
    "a viewer watches": ("nobody else", watches, ()),
    "joins and leaves as often as the host takes offers": ("nobody else", joins, ()),
    "50 requests a second without candidates": (None, candidates, (False,)),
    "50 requests a second with 32 candidates each": (
        "50 requests a second without candidates",
        candidates,
        (True,),
    ),
    "1000 checks a second, wrong password": (None, checks, (False,)),
    "1000 checks a second from 10,000 addresses": (
        "1000 checks a second, wrong password",
        checks,
        (True,),
    ),
}


def measured(case: str) -> tuple[float, float]:
    """Pictures a second that the player sees, and the 99th percentile of the time between two, in ms."""
    with tempfile.TemporaryDirectory() as name:
        report = Path(name) / "report.json"
        host = subprocess.Popen(
            [str(MIMOSA), *SERVE.split()],
            stdout=subprocess.PIPE,
            cwd=name,
            text=True,
            env={"HOME": name, "XDG_RUNTIME_DIR": name},
        )
        for line in host.stdout:
            if line.startswith("watch"):
                break
        _, act, words = CASES[case]
        other = act and multiprocessing.Process(target=act, args=words, daemon=True)
        if other:
            other.start()
        time.sleep(2)
        player = f"http://127.0.0.1:{HTTP}/#token={PLAY}"
        done = play([player, "--report", str(report)], SECONDS)
        if other:
            other.kill()
            subprocess.run(["pkill", "-f", f"token={WATCH}"], check=False)
        host.terminate()
        host.wait()
        if done.returncode != 0:
            sys.exit(done.stderr.decode())
        seen = json.loads(report.read_text())
        return seen["frames"]["shown"] / SECONDS, seen["interval"]["p99"]


def main() -> None:
    rounds = int((sys.argv[1:] or ["5"])[0])
    seen: dict[str, list[tuple[float, float]]] = {case: [] for case in CASES}
    for number in range(rounds):
        # Each round begins elsewhere, so that none always comes after the same.
        order = list(CASES)
        for case in order[number % len(order) :] + order[: number % len(order)]:
            seen[case].append(measured(case))
            print(case, seen[case][-1], flush=True)
    heads = [
        "beside the player",
        "pictures a second, of 60",
        "fewer than the control, median (least to most)",
        "time between pictures, p99, ms",
    ]
    lines = [f"| {' | '.join(heads)} |", "|---|--:|--:|--:|"]
    for case, (control, _, _) in CASES.items():
        shown, between = zip(*seen[case], strict=True)
        fewer = "control"
        if control:
            lost = [
                other[0] - one[0]
                for one, other in zip(seen[case], seen[control], strict=True)
            ]
            fewer = (
                f"{statistics.median(lost):+.1f} ({min(lost):+.1f} to {max(lost):+.1f})"
            )
        lines.append(
            f"| {case} | {statistics.median(shown):.1f} | {fewer} | {statistics.median(between):.0f} |"
        )
    fill(PAGE, "viewers", lines)


if __name__ == "__main__":
    main()
