"""What each strategy shows a model, what it takes from the reply, and what it keeps."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import pytest

from sally.core.log.events import (
    Episode,
    Forfeited,
    Moved,
    PlayerSpec,
    Reported,
    from_line,
    to_line,
)
from sally.core.match.strategy import PromptContext
from sally.core.prompt.model import Reply
from sally.core.registry import registry
from sally.models.stub import Answer
from sally.runner.check import check
from sally.runner.local import play
from sally.strategies.self_consistency import elect_reply
from tests.conversations import Recorder, conversation, place, said, setup_of, strategies
from tests.fixtures.haggle_rules import Pass
from tests.strategies.talk import MINE, ORACLE, THEIRS, Listener, moves, reports, says, talk
from tests.table import match_of, table

EVERY = sorted(registry.entries("strategies"))
FULL = (
    "Thoughts: hm.\nReasoning: hm.\nPlan: stay.\nPlans: stay.\nInsights: none.\n"
    "Predicted Action: J\nOption: F"
)


# --- all of them --------------------------------------------------------------------------------


@pytest.mark.parametrize("strategy", strategies(), ids=lambda s: s.name)
def test_golden_conversation_is_unchanged(strategy: object) -> None:
    assert conversation(strategy) == place(strategy).read_text("utf-8")  # type: ignore[arg-type]


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("game", ["rps", "ibs", "ipd"])
def test_prompts_replay_from_disk(name: str, game: str) -> None:
    strategy = registry.entries("strategies")[name]
    names = registry.game(game).defaults["names"]

    def script(page: str, call: int) -> Answer:
        if call % 5 == 2:
            return "Hm, let me see."  # unreadable now and then, so that retries replay too
        return said(page, names)

    episode, _ = talk(
        script,
        name,
        game=game,
        rounds=5,
        retries=3,
        arm=THEIRS if "after" not in strategy.points else MINE,
        injected=(ORACLE,) if "told" in strategy.needs else (),
    )
    replay_check = check([from_line(to_line(episode))])
    assert (replay_check.replayed, replay_check.mismatches, replay_check.unchecked) == (1, [], [])


def test_changed_reply_in_the_log_is_detected() -> None:
    """The reply of a turn is on the next pages of reflexion: another one is another prompt."""
    episode, _ = talk(says(FULL), "reflexion", rounds=3)
    line = to_line(episode).replace(b"Plan: stay.", b"Plan: leave", 1)
    replay_check = check([from_line(line)])
    assert replay_check.replayed == 0 and len(replay_check.mismatches) == 1


@pytest.mark.parametrize("name", EVERY)
def test_every_strategy_declares_calls_and_source(name: str) -> None:
    strategy = registry.entries("strategies")[name]
    assert strategy.name == name
    assert strategy.about and strategy.source and strategy.calls
    assert strategy.needs <= {"finite", "scoring", "told", "probe"}


# --- retries ------------------------------------------------------------------------------------


def test_unreadable_reply_is_asked_again_with_the_reason() -> None:
    episode, pages = talk(says("Hm.", "Option: F"), "qa", rounds=1)
    assert "could not be used" not in pages[0]
    assert "Your last answer could not be used. Answer with `Option:`" in pages[1]
    assert moves(episode)[0].tries == 2


def test_round_is_forfeited_after_the_last_try() -> None:
    episode, pages = talk(says("Hm."), "qa", rounds=1)
    assert len(pages) == 2
    (forfeit,) = [e for e in episode.events if isinstance(e, Forfeited)]
    assert (forfeit.reason, forfeit.tries) == ("unreadable", 2)
    assert moves(episode) == []


def test_reply_cut_by_length_is_read_by_whole_lines_only() -> None:
    def cut(page: str, call: int) -> Answer:
        return Reply("Option: J" if call == 1 else "Option: J\nbecause they", finish="length")

    episode, _ = talk(cut, "qa", rounds=1)
    assert (moves(episode)[0].action, moves(episode)[0].tries) == (0, 2)
    episode, _ = talk(lambda page, call: Reply("Option: J", finish="length"), "qa", rounds=1)
    (forfeit,) = [e for e in episode.events if isinstance(e, Forfeited)]
    assert forfeit.reason == "length"


def test_summary_is_not_written_again_for_a_retry() -> None:
    _, pages = talk(says("They play J.", "Hm.", "Option: F"), "s2a", rounds=1)
    assert len(pages) == 3
    assert pages[1].startswith("They play J.\n\n")
    assert pages[2].startswith("Your last answer could not be used.")


def test_retry_repeats_only_the_failed_call() -> None:
    _, pages = talk(says("Hm.", "Option: J", "Option: F"), "social_qa", rounds=1)
    assert ["could not be used" in page for page in pages] == [False, True, False]


# --- one by one ---------------------------------------------------------------------------------


def test_qa_probe_states_the_own_move() -> None:
    _, pages = talk(says("Option: F"), "qa", rounds=1, arm=MINE)
    assert "In this round you pick Option F. Which option does the other player pick" in pages[1]


def test_lm_acts_on_the_likeliest_name_and_probes_in_two_orders() -> None:
    episode_after, pages = talk(says(""), "lm", rounds=2, arm=MINE)
    assert [m.action for m in moves(episode_after)] == [1, 1]  # F comes before J in this scorer
    assert pages[0].endswith("Option J or Option F?\nAnswer: Option ")
    assert pages[3].endswith("Round 2: you picked Option F, the other player picked Option ")
    episode_before, pages = talk(says(""), "lm", rounds=2, arm=THEIRS)
    asked_page = next(p for p in pages if p.endswith("Round 2: the other player picked Option "))
    assert "Round 1: the other player picked Option J, you picked Option F." in asked_page
    odds = reports(episode_before)[0].odds
    assert odds is not None and sum(odds) == pytest.approx(1) and odds[1] > odds[0]


def test_lm_can_sample_by_probability() -> None:
    episode, _ = talk(says(""), "lm", rounds=20, sample=True)
    assert {m.action for m in moves(episode)} == {0, 1}


def test_worked_examples_are_between_rules_and_past() -> None:
    _, pages = talk(says(FULL), "cot_3shot", game="ibs", rounds=2)
    rules, index, past = (pages[1].index(t) for t in ("When you", "Three examples", "Round 1:"))
    assert rules < index < past
    assert pages[1].count("Thoughts: ") == 3
    assert "Against Option J I do best with Option J, which wins me 10 points." in pages[1]


def test_plans_and_insights_go_to_the_probe_of_this_round_and_the_move_of_the_next() -> None:
    replies = says(
        "Plans: one\nInsights: uno\nOption: J",
        "Option: J",
        "Plans: two\nInsights: due\nOption: F",
        "Option: F",
    )
    _, pages = talk(replies, "plans_insights", rounds=2, arm=MINE)
    assert "plans" not in pages[0].partition("This is round")[0].casefold()
    assert "Your plans in this turn: one\nYour insights in this turn: uno" in pages[1]
    assert "Your plans from the last turn: one\nYour insights from the last turn: uno" in pages[2]
    assert "turn: two" in pages[3] and "turn: one" not in pages[3]
    assert pages[3].rstrip().endswith("of this form:\nOption: <J or F>")  # a plain Option


def test_missing_plans_are_requested() -> None:
    _, pages = talk(says("Option: J", FULL), "plans_insights", rounds=1)
    assert "Write a paragraph `Plans:` and a paragraph `Insights:` first." in pages[1]


@pytest.mark.parametrize("memory", [1, 2, 3])
def test_reflexion_shows_its_last_plans_oldest_first(memory: int) -> None:
    def script(page: str, call: int) -> Answer:
        return f"Plan: plan {call}" if "begins with `Plan:`" in page else "Option: J"

    _, pages = talk(script, "reflexion", rounds=5, memory=memory)
    assert len(pages) == 9  # nothing to look back at in round 1, two calls in each other round
    parts = [line for line in pages[-1].split("\n") if line.startswith("Your plan")]
    plans = {1: "Your plan from the last turn: plan 8", 2: "Your plan from 2 turns ago: plan 6"}
    plans[3] = "Your plan from 3 turns ago: plan 4"
    assert parts == [plans[age] for age in range(memory, 0, -1)]


def test_social_predicts_before_it_acts_and_is_given_its_prediction() -> None:
    for name in ("social_qa", "social_lm"):
        episode, pages = talk(says("Option: F"), name, rounds=1)
        assert "In this round you pick" not in pages[0]
        assert "You have predicted that in this round the other player picks Option F." in pages[1]
        (report,) = reports(episode)
        assert (report.probe, report.value, report.source) == ("their_move", 1, "decision")


def test_s2a_replaces_rules_and_past_by_separate_summaries() -> None:
    def script(page: str, call: int) -> Answer:
        return f"summary {call}" if "nothing but your summary" in page else "Option: J"

    _, pages = talk(script, "s2a", rounds=2, arm=MINE)
    assert "decide what to do next" in pages[0] and "guess what the others" in pages[2]
    assert pages[1].startswith("summary 1\n\nThis is round 1.")
    assert pages[3].startswith("summary 3\n\nThis is round 1.\nIn this round you pick Option J.")
    assert not any("When you pick" in page for page in (pages[1], pages[3]))


@pytest.mark.parametrize("name", ["oracle", "oracle_max"])
def test_oracle_page_states_the_partners_actual_move(name: str) -> None:
    _, pages = talk(says("Option: F"), name, rounds=3, injected=(ORACLE,))
    told = ["will pick Option J.\nWhich option do you pick" in page for page in pages]
    assert told == [True, False, False]  # tit for tat opens with J and then copies F
    assert ("the most points" in pages[0]) == (name == "oracle_max")


def test_past_and_payoffs_can_be_removed_from_the_oracle_page() -> None:
    full, blind, fresh = (
        talk(says("Option: F"), "oracle_max", rounds=2, injected=(ORACLE,), **switch)[1]
        for switch in ({"payoffs": True}, {"payoffs": False}, {"history": False})
    )
    assert "When you pick" in full[1] and "Round 1:" in full[1]
    assert "When you pick" not in blind[1] and "Round 1:" in blind[1]
    assert "When you pick" in fresh[1] and "Round 1:" not in fresh[1]


def test_self_consistency_plays_the_majority_of_samples() -> None:
    replies = says("Option: J", "Hm.", "Option: F", "J or F?", "Option: F")
    episode, pages = talk(replies, "self_consistency", rounds=1, n=5)
    assert moves(episode)[0].action == 1 and moves(episode)[0].tries == 1
    assert len(pages) == 5 and len(set(pages)) == 1
    assert len({call.settings["seed"] for call in moves(episode)[0].calls}) == 5


def test_self_consistency_resolves_ties_by_the_first_sample() -> None:
    episode, _ = talk(says("Option: F", "Option: J"), "self_consistency", rounds=1, n=2)
    assert moves(episode)[0].action == 1


def test_tom_cot_records_its_prediction_as_a_report() -> None:
    episode, pages = talk(says(FULL), "tom_cot", rounds=1)
    assert len(pages) == 1
    (report,) = reports(episode)
    assert (report.probe, report.about, report.value) == ("their_move", "partner", 0)
    assert report.source == "decision"


def test_unreadable_prediction_is_missing_and_does_not_cost_the_move() -> None:
    episode, _ = talk(says("Reasoning: who knows.\nOption: F"), "tom_cot", rounds=1)
    assert [r.value for r in reports(episode)] == [None]
    assert moves(episode)[0].action == 1


def test_tom_guide_decides_with_its_predictions_given() -> None:
    episode, pages = talk(says("Reasoning: x\nPredicted Action: F", "Option: J"), "tom_guide")
    assert "Option: <J or F>" not in pages[0] and "Predicted Action: <name>" in pages[0]
    assert "You have predicted that in this round the other player picks Option F." in pages[1]
    assert reports(episode)[0].value == 1
    assert [call.purpose for call in moves(episode)[0].calls] == ["predict", "move"]


def test_unreadable_predictions_are_requested_again() -> None:
    _, pages = talk(says("Hm.", "Predicted Action: F", "Option: J"), "tom_guide", rounds=1)
    assert "Give each prediction with a line `Predicted Action: <name>`." in pages[1]
    assert "could not be used" not in pages[2]


# --- other games --------------------------------------------------------------------------------


def test_game_without_own_examples_uses_the_general_ones() -> None:
    words = registry.game("cups").words(registry.game("cups").build(), registry.game("cups").texts)
    assert len(words.examples("hider")) == 3  # type: ignore[arg-type]
    assert all(e.startswith("Thoughts: ") for e in words.examples("hider"))  # type: ignore[arg-type]


SAY = '{"kind": "say", "text": "I have wood."}'
PASS = '{"kind": "pass"}'


def haggling(strategy: str, script: Callable[[str, int], Answer], **with_: object) -> Episode:
    """A free-text game with a model in the first seat, played until its first words are out."""
    model = Listener(script)
    registry.add("models", "listener", lambda name: model)
    agent = {"model": "listener", "strategy": strategy, "with_": with_}
    return play(table("haggle", 2, ada=PlayerSpec("language", agent)))


@pytest.mark.parametrize("name", ["qa", "cot", "reflexion", "plans_insights", "self_consistency"])
def test_free_text_moves_work_with_strategies_that_need_no_menu(name: str) -> None:
    full = FULL.replace("Option: F", SAY)
    episode = haggling(name, says(full), **({"n": 2} if name == "self_consistency" else {}))
    first = next(e for e in episode.events if isinstance(e, Moved) and e.seat == "ada")
    assert "I have wood." in str(first.action)
    replay_check = check([from_line(to_line(episode))])
    assert (replay_check.replayed, replay_check.mismatches) == (1, [])


def test_free_text_vote_is_by_kind_and_keeps_the_first_winner() -> None:
    replies = [PASS] + [SAY.replace("wood", f"{n} wood") for n in (1, 2)]
    turn = match_of(table("haggle")).asks()[0]
    prompt = PromptContext(msgspec.structs.replace(turn, options=(Pass(), *turn.options)))
    kept_reply = elect_reply(prompt, [Reply(text) for text in (*replies, "Hm.")])
    assert kept_reply.text == replies[1]


def test_tom_guide_predicts_the_false_belief_in_cups() -> None:
    model = Listener(says("Reasoning: x\nPredicted Action: left", "Option: swap"))
    registry.add("models", "listener", lambda name: model)
    agent = PlayerSpec("language", {"model": "listener", "strategy": "tom_guide"})
    episode = play(table("cups", hider=agent))
    (report,) = [e for e in episode.events if isinstance(e, Reported)]
    assert (report.probe, report.value, report.source) == ("false_belief", "left", "decision")


def test_golden_conversation_setups_have_injections_only_if_needed() -> None:
    registry.add("models", "recorder", lambda _: Recorder(("J", "F")))  # as a conversation does
    for strategy in strategies():
        setup = setup_of("ipd", strategy)
        assert bool(setup.injections) == ("told" in strategy.needs)
