"""Commands on a terminal."""

import fcntl
import os
import pty
import struct
import subprocess
import termios


def on_a_terminal(command, columns=100, errors=False, **options):
    """The bytes that a command writes on a terminal of so many columns; with `errors`, its standard error, too."""
    ours, its = pty.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    environment = {**{name: value for name, value in os.environ.items() if name != "NO_COLOR"}, "TERM": "xterm"}
    process = subprocess.Popen(command, stdout=its, stderr=its if errors else subprocess.PIPE, env=environment, **options)
    os.close(its)
    written = b""
    while True:
        try:
            piece = os.read(ours, 65536)
        except OSError:  # the other end is closed
            break
        if not piece:
            break
        written += piece
    process.communicate()
    os.close(ours)
    return written
