"""`sally serve`: serve games and studies in the browser."""

from __future__ import annotations

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

from sally.core.errors import BadInput, needs_extra
from sally.core.event_loop import run_coroutine
from sally.core.registry import registry
from sally.core.terminal_text import echo
from sally.output.tables.console import PATH, TOKENS, FiniteNumber, json_option, print_json
from sally.runner.budget import Budget, Meter
from sally.runner.config import find_config

SECRET = "SALLY_EXPERIMENTER_SECRET"
SHORTEST = 12  # minimum number of characters of the secret


@click.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", default=8000, show_default=True, type=click.IntRange(0, 65535))
@click.option(
    "--data",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("sally-serve"),
    show_default=True,
    help="Folder for the database and finished episodes.",
)
@click.option("--database", default="", help="Database: a file, or postgresql://user@host/name.")
@click.option(
    "--out",
    type=PATH,
    help="Store for finished episodes [in the data folder].",
)
@click.option(
    "--allow-model",
    "models",
    multiple=True,
    help="A model that visitors may play with: a name, or an alias in sally.toml.",
)
@click.option(
    "--budget-tokens",
    "tokens",
    type=TOKENS,
    help="Maximum tokens that all models may use in total.",
)
@click.option("--name", "names", multiple=True, help="A host name of this server; may be repeated.")
@click.option(
    "--patience",
    default=900.0,
    show_default=True,
    type=FiniteNumber(1),
    help="Seconds without an answer after which a person counts as having left.",
)
@click.option(
    "--rate",
    default=100.0,
    show_default=True,
    type=FiniteNumber(1),
    help="Requests per second from one address; raise it if a class shares one address.",
)
@click.option(
    "--study",
    "studies",
    multiple=True,
    type=click.Path(path_type=Path, dir_okay=False),
    help="TOML file of a study with people, or `pairs`; may be repeated. `sally people template` "
    "prints one.",
)
@click.option(
    "--store",
    "stores",
    multiple=True,
    type=click.Path(path_type=Path, file_okay=False),
    help="A store, or a folder of stores, for the explorer; may be repeated.",
)
@click.option(
    "--test",
    is_flag=True,
    help="Test the study: play as any participant from the experimenter's page. Data are kept "
    "in the folder `test` of the data folder.",
)
@click.option("--lobby", is_flag=True, help="Offer games to visitors beside the study.")
@click.option("--https", is_flag=True, help="Browsers use https, through a proxy.")
@json_option
def serve(
    *,
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
    studies: tuple[Path, ...],
    stores: tuple[Path, ...],
    test: bool,
    lobby: bool,
    https: bool,
    as_json: bool,
) -> None:
    """Serve games in the browser.

    Moves are on disk before they are acknowledged.
    """
    with needs_extra("web"):
        from sally.web.app import Settings, make_app
        from sally.web.study.definition import read_human_studies
        from sally.web.study.participants import prepare
    # A bad file is reported before anything starts.
    runs = [study for path in studies for study in read_human_studies(path)]
    os.umask(0o077)  # other users of this machine cannot read participants' data
    if test:
        if database:
            raise BadInput("--test has its own database; leave --database out.")
        data = data / "test"
    config = find_config()
    for name in models:
        registry.model(config.entry(name).name)  # fail now rather than when a game starts
    fixed_secret = _given_secret()
    if models and tokens is None:
        echo("Visitors may use the models without a limit; --budget-tokens sets one.", err=True)
    anywhere = host in ("0.0.0.0", "::")
    settings = Settings(
        database or str(data / "database.sqlite"),
        out or data / "episodes",
        models,
        () if anywhere and not names else ("localhost", "127.0.0.1", "::1", host, *names),
        fixed_secret or secrets.token_urlsafe(24),
        patience,
        rate,
        secure=https,
        stores=stores,
        studies=studies,
        own_process=True,
        test=test,
        lobby=lobby or not studies,
    )
    app = make_app(settings, Meter(Budget(tokens=tokens), config))
    app.state.live_matches.open_store()  # a store that cannot be opened is reported before serving
    app.state.database.open()
    for study in runs:
        run_coroutine(prepare(app.state.database, study))
    listening = _listening(host, port)
    name = names[0] if names else f"{host}:{listening.getsockname()[1]}"
    place = f"http{'s' * https}://{name}"
    addresses = {"Play at": f"{place}/"} if settings.lobby else {}
    addresses["Experimenters at"] = f"{place}/experimenter"
    links = dict.fromkeys(study.room or study.name for study in runs)
    addresses |= {
        "Study at" if len(links) == 1 else f"Study {name}": f"{place}/study/{name}"
        for name in links
    }
    addresses["Their secret"] = f"(from {SECRET})" if fixed_secret else settings.secret
    _announce(addresses, as_json)
    _run(app, listening, https)


def _given_secret() -> str:
    """Return the experimenter's secret from the environment, or an empty string.

    Raises:
        BadInput: The secret is too short.
    """
    secret = os.environ.get(SECRET, "")
    if secret and len(secret) < SHORTEST:
        raise BadInput(f"{SECRET} must have at least {SHORTEST} characters, not {len(secret)}.")
    return secret


def _listening(host: str, port: int) -> socket.socket:
    """Return a socket bound to this address.

    Raises:
        BadInput: The port cannot be opened.
    """
    try:
        family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listening = socket.socket(family)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
    except OSError as error:
        raise BadInput(f"Port {port} of {host} cannot be opened: {error.strerror}.") from None
    return listening


def _announce(addresses: Mapping[str, str], as_json: bool) -> None:
    if as_json:
        print_json({name.lower().replace(" ", "_"): value for name, value in addresses.items()})
    else:
        for name, value in addresses.items():
            echo(f"{name:<17} {value}")
    sys.stdout.flush()  # the parent process may be waiting for these lines


def _run(app: Any, listening: socket.socket, https: bool) -> None:
    """Serve until stopped by a signal."""
    import uvicorn

    from sally.web.connections import BoundedProtocol

    logging.basicConfig(stream=sys.stderr, format="%(levelname)s %(name)s: %(message)s")
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(
        resource.RLIMIT_NOFILE, (hard, hard)
    )  # every waiting client holds one file descriptor
    config = uvicorn.Config(
        app,
        http=BoundedProtocol,
        access_log=False,  # it would record participants' addresses
        log_level="warning",
        proxy_headers=https,
        server_header=False,
        date_header=False,
        ws="none",
        timeout_keep_alive=75,
        timeout_graceful_shutdown=5,
    )

    class Server(uvicorn.Server):
        """A server that releases waiting clients on a stop signal."""

        def handle_exit(self, sig: int, frame: Any) -> None:
            app.state.live_matches.stop_waiting()
            app.state.lobby.stop_waiting()
            super().handle_exit(sig, frame)

    Server(config).run([listening])
