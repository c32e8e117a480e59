"""The causal check with a network that is a matrix: what it reads is known exactly."""

import numpy as np
import pytest

from sally.cli import causal as causal_command
from sally.core.errors import BadInput
from sally.output.figures.causal import dose_figure
from sally.represent.causal import Case, _index_names, causal, pairs, spaced_layers
from sally.represent.prompts import Decision

WIDTH, LAYER = 24, 1
READ = np.zeros((2, WIDTH))  # log-odds of the two options, from the stream
READ[0, 0], READ[1, 0] = 1.0, -1.0


def decision(instance, partner, turn, value):
    return Decision(
        prompt=f"{instance}/{partner}/{turn}",
        candidates=("J", "F"),
        hash="",
        episode=f"{instance}/{partner}",
        cell="",
        game="ibs",
        instance=instance,
        player="model",
        partner=partner,
        seat="agent",
        turn=turn,
        about="partner",
        twin=False,
        choices=(0, 1),
        names=("J", "F"),
        value=value,
    )


def table(carried):
    """Decisions whose stream has the move in its first place, or noise only."""
    results, streams, rng = [], [], np.random.default_rng(46)
    for n in range(8):
        for partner in ("a", "b", "c", "d"):
            for turn in range(4):
                value = int(rng.integers(2))
                stream = rng.normal(size=(2, WIDTH))
                stream[LAYER, 0] = (1 - 2 * value) * 2.0 if carried else rng.normal()
                results.append(Case(decision(f"i{n}", partner, turn, value), ((0,), (1,))))
                streams.append(stream)
    return results, np.array(streams)


def scorer(found, streams, read=READ):
    """Score as a network that reads the stream of one layer by a matrix."""
    held_streams = {
        case.decision.prompt: stream for case, stream in zip(found, streams, strict=True)
    }

    def score(asked):
        scores = []
        for item in asked:
            rows = []
            for edit in item.edits:
                stream = held_streams[item.prompt][LAYER].copy()
                if edit is not None and edit.layer == LAYER:
                    stream = edit.vector if edit.replace else stream + edit.vector
                logits = read @ stream
                rows.append(logits - np.logaddexp.reduce(logits))
            scores.append(np.array(rows))
        return scores

    return score


def check(found, streams, score, layers=(LAYER,), limit=None):
    return causal(
        found,
        streams,
        score,
        model="m",
        about="their_move",
        place="probe",
        layers=layers,
        limit=limit,
    )


def test_outputs_follow_the_probe_direction_and_not_the_controls():
    found, streams = table(carried=True)
    result = check(found, streams, scorer(found, streams))
    probe, shuffled, random = result.steered
    assert [item.kind for item in result.steered] == ["probe", "shuffled", "random"]
    assert result.decisions == len(found)
    assert probe.slope.low > 5
    assert abs(random.slope.value) < 1
    assert shuffled.beyond.low > 3
    assert random.beyond.low > 5
    # a linear network: twice the dose, twice the shift
    first, second = (dose.shift.value for dose in probe.doses[:2])
    assert second == pytest.approx(2 * first)


def test_results_are_printed_and_drawn(capsys):
    found, streams = table(carried=True)
    result = check(found, streams, scorer(found, streams), limit=20)
    causal_command.say([result])
    output = capsys.readouterr().out
    assert "20 held-out decisions" in output
    assert all(word in output for word in ("shuffled", "random", "does otherwise"))
    [axes] = [a for a in dose_figure([result]).axes if a.get_title(loc="left") or a.get_title()]
    assert len(axes.collections) == 3  # a band for each kind of direction


def test_encoded_but_unused_direction_changes_nothing():
    found, streams = table(carried=True)
    alternative = np.roll(READ, 5, axis=1)
    result = check(found, streams, scorer(found, streams, alternative))
    assert abs(result.steered[0].slope.value) < 2  # 6.9 where it is read
    assert check(found, streams, scorer(found, streams), layers=(0,)).steered[0].slope.value == 0


def test_patched_activations_shift_the_answer_to_the_paired_page():
    found, streams = table(carried=True)
    [patched] = check(found, streams, scorer(found, streams)).patched
    assert patched.other.value == pytest.approx(8.0)  # from -4 to 4 in log-odds
    assert patched.natural.value == pytest.approx(patched.other.value)
    assert patched.same.value == pytest.approx(0.0)
    assert patched.beyond.low > 5


def test_pairs_differ_only_in_the_partner():
    found, _ = table(carried=False)
    for row, (counterpart, same) in pairs(found, range(len(found))).items():
        own_decision, their_decision = found[row].decision, found[counterpart].decision
        assert (own_decision.instance, own_decision.turn) == (
            their_decision.instance,
            their_decision.turn,
        )
        assert own_decision.partner != their_decision.partner
        assert own_decision.value != their_decision.value
        if same is not None:
            assert found[same].decision.value == own_decision.value
            assert found[same].decision.partner != own_decision.partner


def test_directions_are_fitted_on_other_partners_and_instances():
    found, streams = table(carried=True)
    recorded = []
    plain = scorer(found, streams)

    def score(asked):
        recorded.append(asked)
        return plain(asked)

    check(found, streams, score)
    # a scrambled stream of the tested rows leaves their own directions as they were
    first = recorded[0]
    tested = {edit.prompt for edit in first}
    scrambled = streams.copy()
    for row, case in enumerate(found):
        if case.decision.prompt in tested:
            scrambled[row] = -scrambled[row]
    recorded.clear()
    check(found, scrambled, score)
    for edit, other_edit in zip(first[0].edits[1:], recorded[0][0].edits[1:], strict=True):
        assert np.allclose(edit.vector, other_edit.vector)


def test_number_of_edited_decisions_is_limited():
    found, streams = table(carried=True)
    assert check(found, streams, scorer(found, streams), limit=20).decisions == 20


def test_decisions_with_one_label_are_refused():
    found, streams = table(carried=True)
    matches = [n for n, case in enumerate(found) if case.decision.value == 0]
    with pytest.raises(BadInput, match="same label"):
        check([found[n] for n in matches], streams[matches], scorer(found, streams))


def test_option_names_are_matched_to_candidates_in_page_order():
    assert _index_names(("F", "J"), ("J", "F")) == (1, 0)
    assert _index_names(("10.", "1."), ("1", "10")) == (1, 0)
    assert _index_names((), ("J", "F")) is None
    assert _index_names(("J", "F"), ("J", "B")) is None


def test_change_classes_collect_the_options_of_all_choices():
    first_decision = decision("i", "a", 2, 1)
    case = Case(
        Decision(
            **{
                **{
                    name: getattr(first_decision, name) for name in first_decision.__struct_fields__
                },
                "candidates": ("R", "P", "S"),
                "choices": (0, 1, 2),
                "names": ("R", "P", "S"),
                "past": (0, 2),
            }
        ),
        ((0,), (1,), (2,)),
    )
    assert case.options_of(1, "change") == (2,)
    assert case.options_of(0, "change") == (0, 1)
    assert case.options_of(1, "action") == (1,)


def test_layers_are_spaced_evenly():
    assert spaced_layers(25) == [5, 10, 14, 19]
    assert spaced_layers(4) == [1, 2]
    assert spaced_layers(2) == [1]
