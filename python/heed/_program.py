"""The program `heed` within the package."""

import importlib.util
import os
import sys
from pathlib import Path

PROGRAM = Path(__file__).absolute().parent / "bin" / "heed"


def main() -> None:
    """The command `heed`: this process becomes the program, or the server of `heed mcp`."""
    if sys.argv[1:2] == ["mcp"]:
        if sys.argv[2:]:
            sys.exit("heed: heed mcp takes no arguments: it serves the Model Context Protocol on standard input and output")
        if importlib.util.find_spec("mcp") is None:
            sys.exit("heed: heed mcp needs the package mcp: pip install 'mcp>=2.3,<3'")
        from ._mcp import main as serve

        serve()
        return
    os.execv(PROGRAM, ["heed", *sys.argv[1:]])
