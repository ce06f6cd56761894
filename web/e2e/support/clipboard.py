"""A program with a clipboard: argument 1 is the file for what it pastes.

Once it has pasted something, it copies that with `back: ` in front.
"""

import ctypes
import pathlib
import sys
import time

X = ctypes.CDLL("libX11.so.6")
for function in (
    "XOpenDisplay",
    "XDefaultRootWindow",
    "XCreateSimpleWindow",
    "XInternAtom",
):
    getattr(X, function).restype = ctypes.c_ulong
SELECTION_REQUEST, SELECTION_NOTIFY, CURRENT = 30, 31, 0


def main() -> None:
    """Pastes again and again, and answers who pastes."""
    display = ctypes.c_void_p(X.XOpenDisplay(None))
    root = ctypes.c_ulong(X.XDefaultRootWindow(display))
    shape = (0, 0, 64, 64, 0, 0, 0)
    window = ctypes.c_ulong(X.XCreateSimpleWindow(display, root, *shape))
    X.XMapWindow(display, window)
    atom = {
        name: ctypes.c_ulong(X.XInternAtom(display, name.encode(), 0))
        for name in ("CLIPBOARD", "UTF8_STRING", "PASTED")
    }
    text = b""
    # Every member of an XEvent of interest has eight bytes, or fills them.
    event = (ctypes.c_ulong * 24)()
    while True:
        if not text:
            X.XConvertSelection(
                display,
                atom["CLIPBOARD"],
                atom["UTF8_STRING"],
                atom["PASTED"],
                window,
                CURRENT,
            )
        X.XFlush(display)
        time.sleep(0.1)
        while X.XPending(display):
            X.XNextEvent(display, ctypes.byref(event))
            kind = event[0] & 0xFFFFFFFF
            if kind == SELECTION_NOTIFY and event[7] and not text:
                pasted = read(display, window, atom["PASTED"])
                if pasted:
                    pathlib.Path(sys.argv[1]).write_bytes(pasted)
                    text = b"back: " + pasted
                    X.XSetSelectionOwner(display, atom["CLIPBOARD"], window, CURRENT)
            elif kind == SELECTION_REQUEST:
                give(display, event, atom["UTF8_STRING"], text)


def read(
    display: ctypes.c_void_p, window: ctypes.c_ulong, place: ctypes.c_ulong
) -> bytes:
    """What stands in a property of the window."""
    kind, form = ctypes.c_ulong(), ctypes.c_int()
    count, rest = ctypes.c_ulong(), ctypes.c_ulong()
    value = ctypes.POINTER(ctypes.c_char)()
    answers = [ctypes.byref(answer) for answer in (kind, form, count, rest, value)]
    any_kind, longest = ctypes.c_ulong(0), ctypes.c_long(1 << 16)
    X.XGetWindowProperty(
        display, window, place, ctypes.c_long(0), longest, 1, any_kind, *answers
    )
    return value[: count.value] if value else b""


def give(
    display: ctypes.c_void_p,
    request: ctypes.Array[ctypes.c_ulong],
    known: ctypes.c_ulong,
    text: bytes,
) -> None:
    """Answers with the text, if that is what is asked for."""
    _, _, _, _, _, requestor, selection, target, place, moment = request[:10]
    if target == known.value:
        where = (
            ctypes.c_ulong(requestor),
            ctypes.c_ulong(place),
            ctypes.c_ulong(target),
        )
        X.XChangeProperty(display, *where, 8, 0, text, len(text))
    else:
        place = 0
    answer = (ctypes.c_ulong * 24)()
    answer[0] = SELECTION_NOTIFY
    answer[4:9] = [requestor, selection, target, place, moment]
    X.XSendEvent(
        display, ctypes.c_ulong(requestor), 0, ctypes.c_long(0), ctypes.byref(answer)
    )


if __name__ == "__main__":
    main()
