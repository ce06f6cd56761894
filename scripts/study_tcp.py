"""Writes at each RATE, in Mbit/s, for STEP seconds to the first program that connects to port 5201.

    python3 scripts/study_tcp.py CONGESTION-CONTROL STEP RATE...

`scripts/study.py` starts it beside a host. What could not be written in time is written later.
"""

import socket
import sys
import time

PIECE = bytes(1 << 14)


def main() -> None:
    congestion, step = sys.argv[1], float(sys.argv[2])
    rates = [float(rate) for rate in sys.argv[3:]]
    here = socket.socket()
    here.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    here.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, congestion.encode())
    here.bind(("", 5201))
    here.listen()
    there, _ = here.accept()
    begun, written = time.monotonic(), 0
    while (passed := time.monotonic() - begun) < step * len(rates):
        whole = int(passed // step)
        due = sum(rates[:whole]) * step + rates[whole] * (passed - whole * step)
        if written < due * 1e6 / 8:
            there.sendall(PIECE)
            written += len(PIECE)
        else:
            time.sleep(0.002)


if __name__ == "__main__":
    main()
