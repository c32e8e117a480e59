"""The text environment: pages out, replies in, rewards in columns, and nothing held out leaks."""

from __future__ import annotations

import msgspec
import pytest

from sally import store
from sally.adapters.trainers.text import TextEnv, TextEnvs
from sally.adapters.trainers.text.splits import split_of
from sally.core.errors import BadInput
from sally.core.log.events import Forfeited, Instance, PlayerSpec, Setup, from_line, to_line
from sally.core.match.drive import Driver
from sally.core.match.engine import Match
from sally.core.match.playback import replay_episode
from sally.core.prompt.model import Reply
from sally.core.registry import registry
from sally.core.rules.chance import derived_seed
from sally.frames.measured_seat import measure_episode, seats_under_study
from sally.games.repeated_games.training import TRAINING
from sally.models.stub import reply_in_order
from sally.parts.training import Split, Task, check_split
from sally.runner.local import play, with_models
from sally.runner.seating import players_of, resolve_setup


def task(partner: PlayerSpec, game: str = "ipd", **params) -> Task:
    names = "_".join(f"{key}{value}" for key, value in params.items())
    return Task(Instance(f"{game}_{names}", game, params), "agent", {"partner": partner})


TIT_FOR_TAT = task(PlayerSpec("tit_for_tat"), rounds=4)


def play_games(env: TextEnv, *replies: str) -> list[tuple[float, bool, dict]]:
    return [env.step(reply)[1:] for reply in replies]


def test_reset_returns_page_and_step_takes_reply():
    env = TextEnv("ipd")
    page = env.begin(TIT_FOR_TAT, 1)
    assert "This is round 1." in page and page.rstrip().endswith("Option: <J or F>")
    page, _, done, info = env.step("Option: J")
    assert "Round 1: you picked Option J, the other player picked Option J." in page
    assert not done and info["kind"] == "move" and info["turn"] == 1


def test_regret_and_payoff_add_up_to_the_optimum():
    env = TextEnv("ipd")
    env.begin(TIT_FOR_TAT, 1)
    play_games(env, *["Option: F"] * 4)
    columns = [row.columns for row in env.rows()]
    paid = sum(c.payoff for c in columns)
    assert paid == 10 + 5 + 5 + 5
    assert sum(-c.regret for c in columns) + paid == 8 + 8 + 8 + 10  # kind until the last round
    assert columns[-1].regret == 0


def test_unreadable_reply_is_retried_then_forfeited_with_penalty():
    env = TextEnv("ipd", retries=1)
    env.begin(task(PlayerSpec("single_action", {"action": 0}), rounds=3), 1)
    (_, _, first), (reward, _, second) = play_games(env, "no", "no")
    assert first["retry"] and not second["retry"]
    assert second["columns"]["format"] == -1 and second["columns"]["regret"] == -10
    assert reward == -11
    assert "not played" in env.page and len(env.rows()[0].tries) == 2


def test_environment_reads_replies_as_the_evaluation_does():
    replies = ["nonsense", "Option: F", "Answer: J", "Option: J", "Option: F"]
    env = TextEnv("ipd", retries=1)
    env.begin(TIT_FOR_TAT, 7)
    for reply in replies:
        env.step(reply)
    assert env.asked is None
    setup = env.episode().setup
    match = Match(registry.game("ipd"), setup)
    model = reply_in_order(replies)
    players = players_of(match, with_models(setup.lineup, lambda seat, name: model))
    Driver(match, players).run()
    own_rows = [_without_usage(event) for event in env.episode().events]
    assert own_rows == [_without_usage(event) for event in match.episode().events]


def _without_usage(event):
    plain = msgspec.to_builtins(event)
    for call in plain.get("calls", ()):
        call.pop("usage", None)
    return plain


def test_probes_are_left_out_of_the_trace_and_scored_as_beliefs():
    env = TextEnv("ipd", probes=["their_odds"])
    env.begin(TIT_FOR_TAT, 1)
    env.step("J: 100\nF: 0")
    _, _, _, info = env.step("Option: F")
    assert info["columns"]["belief"] == 1.0 and info["columns"]["reply"] == 1.0
    assert [row.kind for row in env.rows()] == ["move"]
    assert env.rows(("their_odds",))[0].truth == 0
    assert "F: 0" not in env.page  # what was answered aside is on no later page


def test_two_probes_of_one_name_are_scored_separately():
    env = TextEnv("toma_po", strategy="lm", probes=["their_choice"])
    env.begin(Task(Instance("x", "toma_po", {"scenario": "po2-L1-2026-11"}), "player"), 1)
    while env.asked is not None:
        env.step([-float(n) for n in range(len(env.asked.candidates))])
    about = [row.about for row in env.rows(("their_choice",))]
    assert len(about) == len(set(about)) == 2


def test_scoring_strategy_requires_log_probabilities():
    env = TextEnv("rps", strategy="lm")
    env.begin(task(PlayerSpec("single_action"), "rps", rounds=2), 1)
    assert env.asked.candidates == ("R", "P", "S")
    with pytest.raises(BadInput, match="one log-probability for each of R, P, S"):
        env.step("R")
    with pytest.raises(BadInput, match="cannot be used"):
        env.step([0.0, float("nan"), -1.0])
    env.step([-2.0, -0.1, -3.0])
    assert env.rows()[0].move == 1 and env.rows()[0].columns.regret == 0


def test_episode_can_be_stored_replayed_and_profiled(tmp_path):
    env = TextEnv("ipd", trained_on={"name": "ipd, doing"})
    env.begin(TIT_FOR_TAT, 1)
    play_games(env, *["Option: F"] * 4)
    episode = from_line(to_line(env.episode("train")))
    assert episode.used["agent"]["trained_on"]["name"] == "ipd, doing"
    assert seats_under_study(episode.setup) == ("agent",)
    assert replay_episode(registry.game("ipd"), episode).states[-1].agent_total == 25
    assert measure_episode(episode, ("agent",))[0].doing == 25 / 4
    with store.Writer(tmp_path) as writer:
        writer.add(episode)
    assert list(store.read(tmp_path)) == [episode]


# --- seeds and splits -----------------------------------------------------------------------------


def test_seed_fixes_task_and_chance_and_split_parts_differ():
    env, other_text_env = TextEnv("rps"), TextEnv("rps")
    assert env.reset(5) == other_text_env.reset(5)
    train = env._table.match.setup
    other_text_env.reset(5, "held_out")
    setup = other_text_env._table.match.setup
    assert train.seed != setup.seed and train.lineup != setup.lineup


def test_reset_without_seed_never_repeats_an_episode():
    env = TextEnv("rps")
    seeds = set()
    for _ in range(20):
        env.reset()
        seeds.add(env._table.match.setup.seed)
    assert len(seeds) == 20


UNSPLIT = ("elicitation", "toma_ag", "tradecraft")


@pytest.mark.parametrize("game", sorted({*registry.games()} - {*UNSPLIT}))
def test_split_parts_of_every_game_do_not_overlap(game):
    split = split_of(game)
    assert set(split.parts) == {"train", "validation", "held_out"}
    env = TextEnv(game)
    assert env.reset(1, "held_out") and env.task in split.part("held_out")


def test_game_without_split_is_refused():
    with pytest.raises(BadInput, match="tradecraft declares no split"):
        TextEnv("tradecraft")


def test_equivalent_partner_under_another_name_is_an_overlap():
    seen_task = task(PlayerSpec("opponent_previous_plus", {"follow": 1.0}), "rps", rounds=10)
    same_task = task(PlayerSpec("tit_for_tat"), "rps", rounds=10)
    split = Split("leaky", "", {"train": (seen_task,), "held_out": (same_task,)})
    with pytest.raises(BadInput, match=r"leaky overlaps: train contains .*behaves the same after"):
        check_split(split, TRAINING.alike)
    TextEnv("rps", Split("apart", "", {"train": (seen_task,), "held_out": (_alone(seen_task),)}))
    with pytest.raises(BadInput, match="overlaps"):
        TextEnv("rps", split)


def _alone(seen: Task) -> Task:
    return msgspec.structs.replace(seen, others={"partner": PlayerSpec("single_action")})


def test_noisy_copy_counts_as_same_partner():
    seen_task = task(PlayerSpec("win_nil_lose_plus", {"follow": 1.0}), "rps", rounds=10)
    noisy = task(PlayerSpec("win_nil_lose_plus", {"follow": 0.7}), "rps", rounds=10)
    assert "the same" in TRAINING.alike(seen_task, noisy)


def test_partner_that_can_turn_into_a_known_one_counts_as_new():
    defects = task(PlayerSpec("single_action", {"action": 1}), rounds=10)
    grim = task(PlayerSpec("grim_trigger"), rounds=10)
    assert TRAINING.alike(defects, grim) == "" and TRAINING.alike(grim, defects) != ""


# --- what is refused ------------------------------------------------------------------------------


def test_bad_input_raises_clear_error_and_changes_nothing():
    env = TextEnv("ipd")
    with pytest.raises(BadInput, match="No episode has begun"):
        env.step("Option: J")
    with pytest.raises(BadInput, match="part of the split ipd"):
        env.reset(1, "test")
    page = env.begin(task(PlayerSpec("tit_for_tat"), rounds=1), 1)
    with pytest.raises(BadInput, match="A reply must be a text, not int"):
        env.step(3)
    assert env.page == page
    env.step("Option: J")
    with pytest.raises(BadInput, match="The episode is over; call reset"):
        env.step("Option: J")
    with pytest.raises(BadInput, match="seat of ipd"):
        TextEnv("ipd", seat="dealer")
    with pytest.raises(BadInput, match="reward column"):
        TextEnv("ipd", weights={"glory": 1})


@pytest.mark.parametrize(
    "reply", [b"\xff\xfe\x00", b"", "\ud800", "\x00" * 9, "Option: " * 5000, "J" * 10**6]
)
def test_replies_of_arbitrary_bytes_are_forfeits(reply):
    env = TextEnv("ipd", retries=0)
    env.begin(task(PlayerSpec("tit_for_tat"), rounds=2), 1)
    env.step(reply)
    assert env._table.match.turn == 1
    assert isinstance(env._table.match.events[0], Forfeited)


def test_reply_cut_by_length_is_read_by_whole_lines():
    env = TextEnv("ipd", retries=0)
    env.begin(task(PlayerSpec("tit_for_tat"), rounds=2), 1)
    env.step(Reply("Option: J", finish="length"))
    assert env.rows()[0].columns.format == -1


def test_aborted_episode_has_no_payoffs():
    env = TextEnv("ipd")
    env.begin(TIT_FOR_TAT, 1)
    env.censor("limit", "token limit")
    assert env.asked is None and env.episode().payoffs is None


# --- many at once ---------------------------------------------------------------------------------


def test_many_environments_run_side_by_side():
    envs = TextEnvs(lambda: TextEnv("rps", strategy="lm", sample=True), 50)
    envs.reset([derived_seed("many", n) for n in range(50)])
    rounds = 0
    while waiting := envs.asked():
        envs.step({i: [-1.0] * len(request.candidates) for i, request in waiting.items()})
        rounds += 1
    assert rounds == 10 and all(env.episode().payoffs for env in envs.envs)
    with pytest.raises(BadInput, match="Environment 3 is not waiting"):
        envs.step({3: [-1.0] * 3})
    with pytest.raises(BadInput, match="2 episodes were given for 50"):
        envs.reset([1, 2])


def test_trained_model_name_cannot_be_called_outside_the_environment():
    lineup = {
        "agent": PlayerSpec("language", {"model": "trained:x"}),
        "partner": PlayerSpec("tit_for_tat"),
    }
    episode = play(resolve_setup(Setup(Instance("ipd", "ipd", {"rounds": 2}), 1, lineup)))
    assert "cannot be called" in episode.end.detail


# --- what is kept from one episode to the next ----------------------------------------------------


def test_episode_is_unaffected_by_previous_episode_in_same_environment():
    for game in sorted({*registry.games()} - {*UNSPLIT}):
        used, fresh = TextEnv(game), TextEnv(game)
        used.reset(1)
        used.step("no answer at all")
        assert used.reset(2) == fresh.reset(2), game
        assert used.step("once more none")[0] == fresh.step("once more none")[0], game
