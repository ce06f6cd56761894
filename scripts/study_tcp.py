"""Writes 10, 20, 30, 40 and 45 Mbit/s to the first that connects to port 5201, each for STEP seconds.

    python3 scripts/study_tcp.py CONGESTION-CONTROL STEP

`scripts/study.py` starts it beside a host. What could not be written in time is written later.
"""

import socket
import sys
import time

RATES = [10, 20, 30, 40, 45]
PIECE = bytes(1 << 14)


def main() -> None:
    congestion, step = sys.argv[1], float(sys.argv[2])
    here = socket.socket()
    here.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    here.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, congestion.encode())
    here.bind(("", 5201))
    here.listen()
    there, _ = here.accept()
    begun, written = time.monotonic(), 0
    while (passed := time.monotonic() - begun) < step * len(RATES):
        whole = int(passed // step)
        due = sum(RATES[:whole]) * step + RATES[whole] * (passed - whole * step)
        if written < due * 1e6 / 8:
            there.sendall(PIECE)
            written += len(PIECE)
        else:
            time.sleep(0.002)


if __name__ == "__main__":
    main()
