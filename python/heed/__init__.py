"""Heed from Python: experiments from configs, their runs as data frames, statistics for results from anywhere, and
attention for PyTorch (heed.torch).

    >>> import heed
    >>> sweep = heed.run("configs/quickstart.toml", {"train.steps": 200})
    >>> sweep.table
    >>> report = heed.compare("results.csv", metric="accuracy", reference="baseline", margin=0.01)
    >>> report.table

Errors: heed.Refused (a ValueError) for input that is refused before any work, and heed.Failed (a RuntimeError) for an
error during the work. Their messages say where, what and how to mend it; of a configuration, `error.mistakes` has each
mistake with its file, line and column.
"""

from . import _heed
from ._heed import Failed, Refused
from ._messages import text_of_error
from ._mistakes import Mistake, mistakes_of
from ._program import PROGRAM

_heed.set_program(PROGRAM)
setattr(Refused, "mistakes", property(mistakes_of))
for _error in (Refused, Failed):
    setattr(_error, "__str__", text_of_error)

from ._attention import Attention, AttentionModule, Inspection  # noqa: E402
from ._compare import compare  # noqa: E402
from ._report import Report  # noqa: E402
from ._run import Run, Weights  # noqa: E402
from ._runs import load_run, runs  # noqa: E402
from ._schemas import schema  # noqa: E402
from ._sweep import Plan, Sweep, check, load, plan, run  # noqa: E402

__all__ = ["Attention", "AttentionModule", "Failed", "Inspection", "Mistake", "Plan", "Refused", "Report", "Run", "Sweep",
           "Weights", "check", "compare", "load", "load_run", "plan", "run", "runs", "schema"]
__version__ = _heed.version().split()[1]
