"""`sally serve`: people at the table, in the browser."""

from __future__ import annotations

import logging
import os
import secrets
import sys
from pathlib import Path

import click

from sally.core import shelf
from sally.core.errors import BadInput
from sally.runner.budget import Budget, Meter
from sally.runner.config import find_config

SECRET = "SALLY_EXPERIMENTER_SECRET"


@click.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen at.")
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
@click.option("--allow-model", "models", multiple=True, help="A model that visitors may play with.")
@click.option(
    "--tokens", type=click.IntRange(1), help="The most tokens that models may use altogether."
)
@click.option("--name", "names", multiple=True, help="A name under which this server is reached.")
@click.option(
    "--patience",
    default=900.0,
    show_default=True,
    type=click.FloatRange(1),
    help="Seconds without an answer after which a person has left.",
)
@click.option(
    "--rate",
    default=100.0,
    show_default=True,
    type=click.FloatRange(1),
    help="Requests a second from one address; raise it for a room full of people behind one.",
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
) -> None:
    """Let people play in the browser; moves are on disk before they are acknowledged."""
    try:
        import uvicorn

        from sally.adapters.web.app import Settings, make_app
        from sally.adapters.web.studies import read_human_study
    except ImportError as why:
        raise BadInput(
            f"{why.name} is not installed; `pip install 'sally[web]'` brings it."
        ) from None
    runs = None if study is None else read_human_study(study)  # a bad file is said at once
    for name in models:
        shelf.model(name)  # refused now, not when somebody sits down
    given = os.environ.get(SECRET, "")
    secret = given or secrets.token_urlsafe(24)
    anywhere = host in ("0.0.0.0", "::")
    settings = Settings(
        database or str(data / "book.sqlite"),
        out or data / "episodes",
        models,
        () if anywhere and not names else ("localhost", "127.0.0.1", "::1", host, *names),
        secret,
        patience,
        rate,
        secure=https,
        stores=stores,
        study=study,
    )
    logging.basicConfig(stream=sys.stderr, format="%(levelname)s %(name)s: %(message)s")
    meter = Meter(Budget(tokens=tokens), find_config())
    app = make_app(settings, meter)
    app.state.book.open()  # a database that cannot be opened is said before anything else
    click.echo(f"Play at           http{'s' * https}://{host}:{port}/", err=True)
    if runs is not None:
        click.echo(
            f"Study at          http{'s' * https}://{host}:{port}/study/{runs.name}", err=True
        )
    click.echo(f"Experimenters at  http{'s' * https}://{host}:{port}/experimenter", err=True)
    said = f"as {SECRET} has it" if given else secret
    click.echo(f"Their secret      {said}", err=True)
    uvicorn.run(
        app,
        host=host,
        port=port,
        access_log=False,  # addresses of people, and nothing that the book does not know
        log_level="warning",
        proxy_headers=https,
        server_header=False,
        date_header=False,
        ws="none",
        timeout_keep_alive=75,
        limit_concurrency=None,
        h11_max_incomplete_event_size=32 * 1024,
        timeout_graceful_shutdown=3,
    )
