"""Packages that only some functions need."""

import importlib
from types import ModuleType

# The name of each package's extra in pyproject.toml.
_EXTRAS = {"pandas": "frames", "matplotlib": "figures", "torch": "torch", "IPython": "notebook"}


def need(package: str, what: str) -> ModuleType:
    """The package. Where it is missing, an ImportError that says what needs it and how to install it."""
    name = package.partition(".")[0]
    try:
        return importlib.import_module(package)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        raise ImportError(f"{what} needs {name}, which is not installed: pip install {name.lower()}   "
                          f"(or, in Heed's checkout: pip install '.[{_EXTRAS[name]}]')", name=name) from None
