"""Options that are whole numbers refuse impossible sizes in one sentence, in every command."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator

import click
import pytest

import sally
from sally.output.tables.console import WholeNumber


def commands() -> Iterator[tuple[str, click.Command]]:
    """Yield all commands with their names, also those that another command calls as a view."""
    for module in pkgutil.walk_packages(sally.__path__, "sally."):
        if ".cli." in module.name or module.name.endswith(".commands"):
            content = vars(importlib.import_module(module.name))
            for name, command in content.items():
                if isinstance(command, click.Command):
                    yield f"{module.name}.{name}", command


NUMBERS = [
    pytest.param(option, id=f"{name} {option.opts[0]}")
    for name, command in commands()
    for option in command.params
    if isinstance(option.type, WholeNumber)
]


def test_every_number_has_bounds():
    """A number without a type of this kind would accept any size."""
    plain = [
        f"{name} {option.opts[0]}"
        for name, command in commands()
        for option in command.params
        if isinstance(option.type, click.types.IntParamType) and option.opts != ["--port"]
    ]
    assert plain == [] and len(NUMBERS) > 25


@pytest.mark.parametrize("option", NUMBERS)
def test_number_outside_its_bounds_is_refused(option):
    context = click.Context(click.Command("command"))
    kind = option.type
    assert option.type_cast_value(context, str(kind.least)) == kind.least
    assert option.type_cast_value(context, str(kind.most)) == kind.most
    with pytest.raises(click.BadParameter, match=f"at least {kind.least:,}"):
        option.type_cast_value(context, str(kind.least - 1))
    with pytest.raises(click.BadParameter, match=f"at most {kind.most:,}"):
        option.type_cast_value(context, str(10**40))
    with pytest.raises(click.BadParameter, match="not a valid integer"):
        option.type_cast_value(context, "many")
