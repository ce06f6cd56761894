"""Fills the tables of docs/use/proxy.md: applications without and with the proxy.

python3 scripts/proxy.py [falling] [beside]

Needs root, ffmpeg, iperf3, and GStreamer with its bindings for Python (python3-gi). MIMOSA names
the program; without it, target/play/mimosa, built with the features `lab` and `proxy`. Times are
this machine's: run it when nothing else runs.
"""

import json
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from played import MIMOSA, ROOT, fill

SECONDS = 20
FALL = 10
MOST_KBPS = 18_000
PORT, FAR_PORT, NEAR_PORT = 5004, 6004, 7004

FALLING = f"""
[link]
steps = [{{ at = "0s", rate = "20Mbit/s" }}, {{ at = "{FALL}s", rate = "5Mbit/s" }}]
one_way_delay = "10ms"
queue = {{ kind = "droptail", limit = "625kB" }}
"""
DUALPI2 = """
[link]
rate = "20Mbit/s"
one_way_delay = "10ms"
queue = { kind = "dualpi2" }
"""


def unpack(packet: bytes) -> tuple[bool, int, int, int]:
    """Marker, number, timestamp and SSRC of an RTP packet."""
    _, second, number, timestamp, ssrc = struct.unpack_from("!BBHII", packet)
    return bool(second & 0x80), number, timestamp, ssrc


def receive() -> None:
    """Writes each packet that arrives: time in seconds, bytes, timestamp, SSRC, number."""
    udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    udp.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
    udp.bind(("0.0.0.0", PORT))
    udp.settimeout(0.2)
    begun, seen = time.monotonic(), []
    while time.monotonic() < begun + SECONDS:
        try:
            packet = udp.recv(2048)
        except TimeoutError:
            continue
        if len(packet) < 12 or 192 <= packet[1] <= 223:
            continue
        _, number, timestamp, ssrc = unpack(packet)
        seen.append(
            (time.monotonic() - begun, len(packet) + 28, timestamp, ssrc, number)
        )
    Path("seen.json").write_text(json.dumps(seen))


def gstreamer(host: str, port: str, place: str) -> None:
    """Sends video by GStreamer's x264enc, and obeys what is said at `place`, if anything is."""
    import gi

    gi.require_version("Gst", "1.0")
    gi.require_version("GstVideo", "1.0")
    from gi.repository import Gst, GstVideo

    Gst.init(None)
    pipeline = Gst.parse_launch(
        "videotestsrc is-live=true pattern=snow ! video/x-raw,width=480,height=270,"
        "framerate=60/1,format=I420 ! x264enc name=encoder tune=zerolatency "
        f"speed-preset=ultrafast key-int-max=100000 vbv-buf-capacity=50 bitrate={MOST_KBPS} "
        f"! rtph264pay mtu=1400 config-interval=-1 ! udpsink host={host} port={port} sync=false"
    )
    encoder = pipeline.get_by_name("encoder")
    pipeline.set_state(Gst.State.PLAYING)
    if place == "-":
        time.sleep(SECONDS + 60)
    for message in messages(place):
        if message["type"] == "bitrate":
            kbps = min(message["bitsPerSecond"] // 1000, MOST_KBPS)
            encoder.set_property("bitrate", kbps)
        if message["type"] == "keyframe":
            event = GstVideo.video_event_new_upstream_force_key_unit(
                Gst.CLOCK_TIME_NONE, True, 0
            )
            encoder.get_static_pad("src").send_event(event)


def messages(place: str):
    """What the near end says at a Unix socket, which it may still have to make."""
    unix = socket.socket(socket.AF_UNIX)
    while unix.connect_ex(place) != 0:
        time.sleep(0.05)
    for line in unix.makefile():
        yield json.loads(line)


def ffmpeg(host: str, port: str, told: str) -> None:
    """Sends video by ffmpeg, which begins anew for each bitrate in the file `told`."""
    program, kbps = None, MOST_KBPS
    signal.signal(signal.SIGTERM, lambda *_: (program and program.kill(), sys.exit()))
    while True:
        wanted = Path(told)
        if wanted.exists() and wanted.read_text().strip():
            now = min(int(wanted.read_text()) // 1000, MOST_KBPS)
            if abs(now - kbps) > kbps // 10 and program:
                program.kill()
                program.wait()
                program = None
            kbps = now if program is None else kbps
        if program is None:
            program = subprocess.Popen(
                ["ffmpeg", "-loglevel", "error", "-re", "-f", "lavfi", "-i"]
                + ["testsrc2=size=480x270:rate=60,noise=alls=80:allf=t"]
                + ["-c:v", "libx264", "-preset", "ultrafast", "-tune", "zerolatency"]
                + ["-g", "100000", "-b:v", f"{kbps}k", "-maxrate", f"{kbps}k"]
                + ["-bufsize", f"{kbps // 20}k", "-pix_fmt", "yuv420p", "-f", "rtp"]
                + [f"rtp://{host}:{port}?pkt_size=1400"]
            )
        time.sleep(0.05)


SENDER = """
cd {folder}
begun=
{near}
sleep 0.5
{tcp}
{python} {script} {application} {host} {port} {told} >application.txt 2>&1 &
begun="$begun $!"
while ! [ -e over ]; do sleep 0.1; done
kill $begun 2>kill.txt || true
wait
"""
RECEIVER = """
cd {folder}
trap 'touch over; sleep 1' EXIT
begun=
{far}
iperf3 -s -1 >iperf.txt 2>&1 &
begun="$begun $!"
{python} {script} receive
kill $begun 2>kill.txt || true
"""


def run(network: str, application: str, controller: str | None, tcp: bool) -> dict:
    """What came of an application across `network`, with a controller or without the proxy."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "path.toml").write_text(network)
        common = {
            "folder": folder,
            "python": sys.executable,
            "script": Path(__file__).absolute(),
        }
        near = (
            f"{MIMOSA} proxy near --listen 127.0.0.1:{NEAR_PORT} --codec h264"
            f" --to $MIMOSA_LINK_PEER:{FAR_PORT} --controller {controller}"
            f" --interface {folder}/place --start-bitrate 10Mbit/s"
            " --on-bitrate 'echo {bits_per_second} > told' 2>near.txt >near-at.txt &"
            '\nbegun="$begun $!"'
        )
        far = (
            f"{MIMOSA} proxy far --listen 0.0.0.0:{FAR_PORT} --to 127.0.0.1:{PORT}"
            " 2>far.txt >far-at.txt &"
            '\nbegun="$begun $!"'
        )
        told = "told" if application == "ffmpeg" else f"{folder}/place"
        sender = SENDER.format(
            near=near if controller else "",
            tcp=f"iperf3 -c $MIMOSA_LINK_PEER -C cubic -t {SECONDS - 3} --json >tcp.json &"
            if tcp
            else "",
            application=application,
            host="127.0.0.1" if controller else "$MIMOSA_LINK_PEER",
            port=NEAR_PORT if controller else PORT,
            told=told if controller else "-",
            **common,
        )
        (folder / "send.sh").write_text(sender)
        receiver = RECEIVER.format(far=far if controller else "", **common)
        (folder / "receive.sh").write_text(receiver)
        words = [MIMOSA, "link", "run", "path.toml", "--isolated"]
        words += ["--peer", "sh send.sh", "--", "sh", "receive.sh"]
        with (folder / "link.txt").open("w") as log:
            subprocess.run(words, cwd=folder, stdout=log, stderr=log, check=True)
        seen = json.loads((folder / "seen.json").read_text())
        rate = 0.0
        if tcp and (folder / "tcp.json").exists():
            end = json.loads((folder / "tcp.json").read_text())["end"]
            rate = end["sum_received"]["bits_per_second"] / 1e6
        return {"seen": seen, "tcp": rate}


def measured(seen: list, begin: float, end: float) -> tuple[float, float, float, float]:
    """Rate in Mbit/s, delay of frames over the smallest in ms (p50, p95), and share lost."""
    frames: dict = {}
    for at, _, timestamp, ssrc, _ in seen:
        frames[ssrc, timestamp] = at
    late: dict = {}
    for (ssrc, timestamp), at in frames.items():
        late.setdefault(ssrc, []).append((at, at - timestamp / 90_000))
    delays = []
    for all_of_one in late.values():
        least = min(delay for _, delay in all_of_one)
        delays += [1e3 * (d - least) for at, d in all_of_one if begin <= at < end]
    delays.sort()
    inside = [one for one in seen if begin <= one[0] < end]
    numbers: dict = {}
    for _, _, _, ssrc, number in inside:
        numbers.setdefault(ssrc, []).append(number)
    sent = sum(((all_of[-1] - all_of[0]) & 0xFFFF) + 1 for all_of in numbers.values())
    rate = 8e-6 * sum(size for _, size, *_ in inside) / (end - begin)
    lost = 100 * max(0.0, 1 - len(inside) / max(sent, 1))
    if not delays:
        return rate, 0.0, 0.0, lost
    return rate, delays[len(delays) // 2], delays[len(delays) * 95 // 100], lost


def falling() -> None:
    """The table of a link that falls."""
    lines = [
        (
            "| application | controller | at 20 Mbit/s: Mbit/s | later by, ms, p50, p95"
            " | at 5: Mbit/s | later by, ms, p50, p95 | not arrived, % |"
        ),
        "|---|---|--:|--:|--:|--:|--:|",
    ]
    for application in ("gstreamer", "ffmpeg"):
        for controller in (None, "mimosa", "scream"):
            seen = run(FALLING, application, controller, False)["seen"]
            early = measured(seen, 4, FALL)
            late = measured(seen, FALL, SECONDS)
            lines.append(
                f"| {application} | {controller or 'none'} | {early[0]:.1f} "
                f"| {early[1]:.0f}, {early[2]:.0f} | {late[0]:.1f} "
                f"| {late[1]:.0f}, {late[2]:.0f} | {late[3]:.1f} |"
            )
            print(lines[-1], flush=True)
    fill(ROOT / "docs" / "use" / "proxy.md", "falling", lines)


def beside() -> None:
    """The table of a queue shared with the kernel's CUBIC."""
    lines = [
        "| controller | Mbit/s | later by, ms, p50, p95 | not arrived, % | CUBIC, Mbit/s |",
        "|---|--:|--:|--:|--:|",
    ]
    for controller in (None, "mimosa", "scream", "prague"):
        came = run(DUALPI2, "gstreamer", controller, True)
        late = measured(came["seen"], 6, SECONDS - 4)
        lines.append(
            f"| {controller or 'none'} | {late[0]:.1f} | {late[1]:.0f}, {late[2]:.0f} "
            f"| {late[3]:.1f} | {came['tcp']:.1f} |"
        )
        print(lines[-1], flush=True)
    fill(ROOT / "docs" / "use" / "proxy.md", "beside", lines)


def main() -> None:
    """Runs what was named, or all."""
    parts = {"falling": falling, "beside": beside}
    tools = {"receive": receive, "gstreamer": gstreamer, "ffmpeg": ffmpeg}
    words = sys.argv[1:]
    if words and words[0] in tools:
        tools[words[0]](*words[1:])
        return
    for name in words or list(parts):
        parts[name]()


if __name__ == "__main__":
    main()
