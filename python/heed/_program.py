"""The program `heed` within the package."""

import os
import sys
from pathlib import Path

PROGRAM = Path(__file__).absolute().parent / "bin" / "heed"


def main() -> None:
    """The command `heed`: this process becomes the program."""
    os.execv(PROGRAM, ["heed", *sys.argv[1:]])
