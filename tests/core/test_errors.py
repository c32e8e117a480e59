"""Messages of errors that several modules share."""

import re

import pytest

from sally.core.errors import BadInput, NotInstalled, install_command, needs_extra


@pytest.mark.parametrize(
    ("why", "says"),
    [
        (ImportError("no", name="polars"), "polars is not installed; `{}` installs it."),
        (ImportError("no", name="sklearn"), "scikit-learn is not installed; `{}` installs it."),
        (
            ImportError("libomp.so is missing"),
            "An import failed (libomp.so is missing); `{}` installs the packages that it needs.",
        ),
    ],
)
def test_failed_import_states_the_package_or_the_reason(why: ImportError, says: str) -> None:
    with pytest.raises(NotInstalled) as failed, needs_extra("adversary"):
        raise why
    assert str(failed.value) == says.format(install_command("adversary"))
    assert isinstance(failed.value, BadInput)
    assert failed.value.name == why.name


def test_install_command_uses_the_constraints_of_the_clone() -> None:
    command = install_command("web")
    assert re.fullmatch(r"pip install -c '(.*?)/?constraints.txt' (-e )?'(\1|\.)\[web\]'", command)
