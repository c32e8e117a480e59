"""Compiled functions of `scipy.special`, without the Python code around them.

`import scipy.special` also loads NumPy's testing tools and f2py. That takes far longer than loading
the compiled functions, and a quarter of the start of `sally score` (`python benchmarks/start.py`).
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

import scipy

PACKAGE = "scipy.special"
NAMES = ("betaln", "ndtr", "ndtri", "stdtr", "stdtrit")


def compiled_functions() -> Any:
    """Return the module of the compiled functions; the package itself if it is loaded already, or
    if this version of scipy keeps the functions elsewhere."""
    if PACKAGE not in sys.modules:
        package = ModuleType(PACKAGE)  # in the place of the real one while the import lasts
        package.__path__ = [f"{folder}/special" for folder in scipy.__path__]
        sys.modules[PACKAGE] = package
        try:
            from scipy.special import _ufuncs
        except ImportError:
            return scipy.special
        finally:
            if sys.modules.get(PACKAGE) is package:
                del sys.modules[PACKAGE]
        if all(hasattr(_ufuncs, name) for name in NAMES):
            return _ufuncs
    return scipy.special


betaln, ndtr, ndtri, stdtr, stdtrit = (getattr(compiled_functions(), name) for name in NAMES)
