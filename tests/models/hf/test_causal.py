"""Changing the residual stream: exact scores, and an effect only where the network carries it."""

import asyncio

import numpy as np
import pytest

import sally
from sally import store
from sally.core.prompt.model import User
from sally.models.hf import HF
from sally.models.hf.intervention import Edit, EditedPrompt, edited_scores
from sally.models.hf.residual_stream import ResidualStream
from sally.represent.activations import activations
from sally.represent.causal import by_player, cases, causal
from tests.models.hf import tiny, toy

OPTIONS = ("rock", "paper", "scissors cut paper", "J")


@pytest.fixture(scope="module")
def episodes(tmp_path_factory):
    folder = tmp_path_factory.mktemp("played")
    sally.run(toy.study(rounds=6), folder)
    return list(store.load(folder).episodes.values())


def check(episodes, network, folder, at):
    [rows] = by_player(cases(episodes, "their_move", at)).values()
    rows = [case for case in rows if case.decision.turn >= 2]  # the first two moves are not told
    streams = activations([case.decision for case in rows], network, folder)
    return causal(
        rows,
        streams,
        lambda asked: edited_scores(network, asked),
        model="toy",
        about="their_move",
        place=at,
        layers=[1, toy.LAYER],
        limit=24,
        doses=(0.125, 0.25, 0.5, 1.0),
    )


@pytest.fixture(scope="module")
def carrying(tmp_path_factory):
    return ResidualStream(f"hf:{toy.make(tmp_path_factory.mktemp('carries'))}?device=cpu")


@pytest.fixture(scope="module")
def blind(tmp_path_factory):
    folder = toy.make(tmp_path_factory.mktemp("blind"), carries=False, steps=40)
    return ResidualStream(f"hf:{folder}?device=cpu")


def of(found, layer, kind):
    return next(item for item in found.steered if (item.layer, item.kind) == (layer, kind))


@pytest.mark.parametrize("at", ["probe", "move"])
def test_forecast_and_reply_follow_the_direction_encoding_the_move(
    episodes, carrying, tmp_path, at
):
    result = check(episodes, carrying, tmp_path, at)
    probe, random = (of(result, toy.LAYER, kind) for kind in ("probe", "random"))
    assert result.decisions == 24
    assert probe.slope.low > 1
    assert abs(random.slope.value) < 0.5
    assert random.beyond.low > 1
    shifts = [dose.shift.value for dose in probe.doses]
    assert shifts == sorted(shifts)
    patched = next(item for item in result.patched if item.layer == toy.LAYER)
    assert patched.other.low > 1
    assert patched.beyond.low > 1


@pytest.mark.parametrize("at", ["probe", "move"])
def test_steering_has_no_effect_in_a_network_without_the_move(episodes, blind, tmp_path, at):
    result = check(episodes, blind, tmp_path, at)
    for item in result.steered:
        assert abs(item.slope.value) < 0.01
    for item in result.patched:
        assert abs(item.other.value) < 1e-3


# --- scores ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tiny.make(tmp_path_factory.mktemp("tiny"))


@pytest.fixture(scope="module")
def network(folder):
    return ResidualStream(f"hf:{folder}?device=cpu")


PAGES = (
    "Round 1: you chose rock, the other chose paper. You choose ",
    [User("What will the other choose in round 2?")],
    "Rock beats ",
)


def test_scores_without_edit_equal_those_of_the_model(folder, network):
    model = HF(str(folder), device="cpu", rows=2)
    try:
        expected_logprobs = [asyncio.run(model.score(page, OPTIONS)).logprobs for page in PAGES]
    finally:
        model.close()
    actual_scores = edited_scores(
        network, [EditedPrompt(page, OPTIONS, (None, None)) for page in PAGES]
    )
    for scores, logs in zip(actual_scores, expected_logprobs, strict=True):
        assert scores == pytest.approx(np.array([logs, logs]), abs=1e-3)


def test_zero_edit_changes_nothing_and_branches_are_independent(network):
    nothing = np.zeros(network.width)
    strong = np.full(network.width, 5.0)
    asked = [None, Edit(1, nothing), Edit(2, strong), None]
    [scores] = edited_scores(network, [EditedPrompt(PAGES[0], OPTIONS, tuple(asked))])
    assert scores[1] == pytest.approx(scores[0], abs=1e-4)
    assert scores[3] == pytest.approx(scores[0], abs=1e-4)
    assert np.abs(scores[2] - scores[0]).max() > 0.1


def test_own_activations_change_nothing_and_those_of_another_page_do(network):
    token, other_token = (network.tokens(page, OPTIONS) for page in (PAGES[0], PAGES[2]))
    own, theirs = (network.read([tokens])[0] for tokens in (token, other_token))
    last = network.layers - 1
    edits = (None, Edit(2, own[2], replace=True), Edit(last, theirs[last], replace=True))
    [scores] = edited_scores(network, [EditedPrompt(PAGES[0], ("rock", "J"), edits)])
    [natural] = edited_scores(network, [EditedPrompt(PAGES[2], ("rock", "J"), (None,))])
    assert scores[1] == pytest.approx(scores[0], abs=0.02)  # streams are kept in 16 bits
    first = [scores[2][1] - scores[0][1], natural[0][1] - scores[0][1]]  # J is one token
    assert first[0] == pytest.approx(first[1], abs=0.05)
