"""The compiled functions are those of scipy.special, and a start of the command line loads no
other part of it."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
import scipy

from sally.stats import special_functions

PROBABILITIES = np.linspace(0.001, 0.999, 200)
LARGE = np.geomspace(1e-3, 1e6, 200)
ARGUMENTS = {
    "betaln": (LARGE, LARGE[::-1]),
    "ndtr": (np.linspace(-9, 9, 200),),
    "ndtri": (PROBABILITIES,),
    "stdtr": (np.arange(1, 201), np.linspace(-9, 9, 200)),
    "stdtrit": (np.arange(1, 201), PROBABILITIES),
}


@pytest.mark.parametrize("name", special_functions.NAMES)
def test_every_bit_is_that_of_scipy(name: str) -> None:
    ours = getattr(special_functions, name)(*ARGUMENTS[name])
    theirs = getattr(scipy.special, name)(*ARGUMENTS[name])
    assert np.isfinite(theirs).all()
    assert (ours == theirs).all()


LOADED = """
import sys
import sally.stats.cluster_interval, sally.stats.intervals
print("scipy.special" in sys.modules)
import scipy.special, scipy.stats
print(scipy.special.logsumexp([0.0, 0.0]) > 0.69)
"""


def test_package_is_loaded_only_when_it_is_used() -> None:
    output = subprocess.run(
        [sys.executable, "-c", LOADED], capture_output=True, text=True, check=True
    )
    assert output.stdout.split() == ["False", "True"]
