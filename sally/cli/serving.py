"""`sally serve`: people at the table, in the browser."""

from __future__ import annotations

import asyncio
import logging
import os
import resource
import secrets
import socket
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from sally.core.errors import BadInput
from sally.core.registry import registry
from sally.output.tables.console import json_option, print_json
from sally.runner.budget import Budget, Meter
from sally.runner.config import find_config

SECRET = "SALLY_EXPERIMENTER_SECRET"
SHORTEST = 12  # characters of a secret that can hardly be guessed


@click.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option("--port", default=8000, show_default=True, type=click.IntRange(0, 65535))
@click.option(
    "--data",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("sally-serve"),
    show_default=True,
    help="A folder for the database and for finished episodes.",
)
@click.option("--database", default="", help="A file, or postgresql://user@host/name.")
@click.option("--out", type=click.Path(path_type=Path), help="Another store for finished episodes.")
@click.option(
    "--allow-model",
    "models",
    multiple=True,
    help="A model that visitors may play with, by name or by its alias in sally.toml.",
)
@click.option(
    "--tokens", type=click.IntRange(1), help="The most tokens that models may use altogether."
)
@click.option("--name", "names", multiple=True, help="A name under which this server is reached.")
@click.option(
    "--patience",
    default=900.0,
    show_default=True,
    type=click.FloatRange(1),
    help="Seconds without an answer after which a person counts as gone.",
)
@click.option(
    "--rate",
    default=100.0,
    show_default=True,
    type=click.FloatRange(1),
    help="Requests a second from one address; raise it if a whole class shares one.",
)
@click.option(
    "--study",
    type=click.Path(path_type=Path, dir_okay=False),
    help="The TOML file of a study with people; `sally people template` prints one.",
)
@click.option(
    "--store",
    "stores",
    multiple=True,
    type=click.Path(path_type=Path, file_okay=False),
    help="A store, or a folder of stores, for the experimenter's explorer.",
)
@click.option("--https", is_flag=True, help="Browsers reach this over https, through a proxy.")
@json_option
def serve(
    host: str,
    port: int,
    data: Path,
    database: str,
    out: Path | None,
    models: tuple[str, ...],
    tokens: int | None,
    names: tuple[str, ...],
    patience: float,
    rate: float,
    study: Path | None,
    stores: tuple[Path, ...],
    https: bool,
    as_json: bool,
) -> None:
    """Let people play in the browser; moves are on disk before they are acknowledged."""
    try:
        from sally.web.app import Settings, make_app
        from sally.web.study.participants import prepare
        from sally.web.study.reading import read_human_study
    except ImportError as why:
        raise BadInput(
            f"{why.name} is not installed; `pip install 'sally-lab[web]'` brings it."
        ) from None
    runs = None if study is None else read_human_study(study)  # a bad file is said at once
    os.umask(0o077)  # what people do here is nobody else's on this machine
    config = find_config()
    for name in models:
        registry.model(config.entry(name).name)  # refused now, not when somebody sits down
    given = _given_secret()
    if models and tokens is None:
        click.echo("Visitors may use the models without bound; --tokens sets one.", err=True)
    anywhere = host in ("0.0.0.0", "::")
    settings = Settings(
        database or str(data / "database.sqlite"),
        out or data / "episodes",
        models,
        () if anywhere and not names else ("localhost", "127.0.0.1", "::1", host, *names),
        given or secrets.token_urlsafe(24),
        patience,
        rate,
        secure=https,
        stores=stores,
        study=study,
        own_process=True,
    )
    app = make_app(settings, Meter(Budget(tokens=tokens), config))
    app.state.live_matches.open_store()  # what cannot be opened is said before anybody is let in
    app.state.database.open()
    if runs is not None:
        asyncio.run(prepare(app.state.database, runs))
    listening = _listening(host, port)
    name = names[0] if names else f"{host}:{listening.getsockname()[1]}"
    place = f"http{'s' * https}://{name}"
    where = {"Play at": f"{place}/", "Experimenters at": f"{place}/experimenter"}
    if runs is not None:
        where["Study at"] = f"{place}/study/{runs.name}"
    where["Their secret"] = f"(as {SECRET} has it)" if given else settings.secret
    _announce(where, as_json)
    _run(app, listening, https)


def _given_secret() -> str:
    """The experimenter's secret from the environment, or none."""
    given = os.environ.get(SECRET, "")
    if given and len(given) < SHORTEST:
        raise BadInput(f"{SECRET} must have at least {SHORTEST} characters, not {len(given)}.")
    return given


def _listening(host: str, port: int) -> socket.socket:
    """A socket of ours at this address."""
    try:
        family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listening = socket.socket(family)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
    except OSError as why:
        raise BadInput(f"Port {port} of {host} cannot be opened: {why.strerror}.") from None
    return listening


def _announce(where: Mapping[str, str], as_json: bool) -> None:
    if as_json:
        print_json({name.lower().replace(" ", "_"): value for name, value in where.items()})
    else:
        for name, value in where.items():
            click.echo(f"{name:<17} {value}")
    sys.stdout.flush()  # whoever started us may be waiting for it


def _run(app: Any, listening: socket.socket, https: bool) -> None:
    """Serve until somebody stops it."""
    import uvicorn

    from sally.web.connections import PatientProtocol

    logging.basicConfig(stream=sys.stderr, format="%(levelname)s %(name)s: %(message)s")
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))  # everybody who waits holds one
    config = uvicorn.Config(
        app,
        http=PatientProtocol,
        access_log=False,  # it would keep people's addresses
        log_level="warning",
        proxy_headers=https,
        server_header=False,
        date_header=False,
        ws="none",
        timeout_keep_alive=75,
        timeout_graceful_shutdown=5,
    )

    class Server(uvicorn.Server):
        """Lets those who wait for news go when it is asked to stop."""

        def handle_exit(self, sig: int, frame: Any) -> None:
            app.state.live_matches.hush()
            app.state.lobby.hush()
            super().handle_exit(sig, frame)

    Server(config).run([listening])
