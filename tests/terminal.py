"""Commands on a terminal."""

import fcntl
import os
import pty
import struct
import subprocess
import termios
import threading


def on_a_terminal(command, columns=100, errors=False, interrupt=None, **options):
    """The bytes that a command writes on a terminal of so many columns; with `errors`, its standard error, too. If
    `interrupt` is given, it is called, and Ctrl-C is pressed when it returns; the bytes are those from then on."""
    ours, its = pty.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    environment = {**{name: value for name, value in os.environ.items() if name != "NO_COLOR"}, "TERM": "xterm"}
    if interrupt:
        options |= {"start_new_session": True, "preexec_fn": lambda: fcntl.ioctl(1, termios.TIOCSCTTY, 0)}
    process = subprocess.Popen(command, stdout=its, stderr=its if errors else subprocess.PIPE, env=environment, **options)
    os.close(its)
    written, pressed = bytearray(), 0

    def press():
        nonlocal pressed
        interrupt()
        pressed = len(written)
        os.write(ours, b"\x03")

    pressing = threading.Thread(target=press) if interrupt else None
    if pressing:
        pressing.start()
    while True:
        try:
            piece = os.read(ours, 65536)
        except OSError:  # the other end is closed
            break
        if not piece:
            break
        written += piece
    process.communicate()
    if pressing:
        pressing.join()
    os.close(ours)
    return bytes(written[pressed:])
