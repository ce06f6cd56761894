"""Writes 5.7-short-tcp.toml: ten sources of short downloads (RFC 8868, section 5.1).

Each source downloads files of 30 to 50 kB, evenly distributed, with idle periods from an
exponential distribution of mean 10 s; a download is taken to last a second. Two begin with
a download, eight with an idle period.
"""

import random
from pathlib import Path

HEAD = """\
# RFC 8867, section 5.7: beside ten sources of short downloads, each a TCP flow of its own.
# Audio of 20 kbit/s is a packet of 50 B every 20 ms, with headers of 40 B.
# `make_short_tcp.py` writes this file.
duration = "300s"

[link]
rate = "2Mbit/s"
one_way_delay = "50ms"
jitter = { kind = "normal" }
return_jitter = { kind = "normal" }
queue = { kind = "droptail", limit = "300ms" }
"""
MEDIA = """
[[flow]]
name = "video{0}"
fps = 30
min_bitrate = "150kbit/s"
start_bitrate = "150kbit/s"
max_bitrate = "1.5Mbit/s"
encoder = "rfc8593"
overhead = "40B"
start = "5s"
stop = "299s"

[[flow]]
name = "audio{0}"
kind = "cbr"
rate = "36kbit/s"
packet_size = "90B"
start = "5s"
stop = "299s"
"""
DOWNLOAD = """
[[flow]]
name = "source{}-{}"
kind = "tcp"
controller = "reno"
start = "{}ms"
size = "{}B"
"""
TAIL = """
[[variant]]
name = "drop-tail"

# ECN as in section 6.2: PIE (RFC 8033) marks what it would drop.
[[variant]]
name = "ECN"
flow.ecn = "ect0"
link.queue = { kind = "pie" }
"""


def main():
    draw = random.Random(8867)
    text = HEAD + MEDIA.format(1) + MEDIA.format(2)
    for source in range(1, 11):
        at = 0.0 if source <= 2 else draw.expovariate(0.1)
        number = 0
        while at < 295:
            number += 1
            size = draw.randint(30_000, 50_000)
            text += DOWNLOAD.format(source, number, round(at * 1000), size)
            at += 1 + draw.expovariate(0.1)
    (Path(__file__).parent / "5.7-short-tcp.toml").write_text(text + TAIL)


main()
