"""Probes find what activations carry, and nothing where they carry nothing or a fold is broken."""

import numpy as np
import pytest

pytest.importorskip("sklearn", reason="needs scikit-learn")

from sally.core.errors import BadInput
from sally.represent import probes
from sally.represent.folds import Fold, crossed_folds, held_out, leak, units_of
from sally.represent.probes import Groups
from sally.represent.prompts import Decision
from sally.represent.results import ALL, arms, fit_representation, read_results, write_results
from sally.represent.surface import NONE, code, features, label_decisions

PARTNERS, INSTANCES, TURNS, LAYERS, WIDTH = 2, 10, 7, 2, 60


def decision(partner=0, instance=0, turn=0, value=0, said=None, past=(), twin=False, **options):
    names = (("J", "F"), ("F", "J"), ("Q", "X"), ("X", "Q"))[instance % 4]
    return Decision(
        prompt=f"page {partner} {instance} {turn} J F Q X",
        candidates=("J", "F"),
        hash=f"{partner}-{instance}-{turn}-{twin}",
        episode=f"{partner}-{instance}",
        cell="c",
        game="ipd",
        instance=f"i{instance}",
        player="model lm",
        partner=f"partner {partner}",
        seat="agent",
        turn=turn,
        about="partner",
        twin=twin,
        choices=(0, 1),
        names=names,
        value=value,
        true=value,
        forecast=value if said is None else said,
        did=options.pop("did", 0),
        best=(0,),
        loss=1.0,
        options=2,
        past=past,
        own_moves=tuple(0 for _ in past),
        **options,
    )


def rows(twin=False, seed=1):
    """Decisions whose labels are independent of everything else on the page."""
    rng = np.random.default_rng(seed)
    results = []
    for partner in range(PARTNERS):
        for instance in range(INSTANCES):
            past = ()
            for turn in range(TURNS):
                value = int(rng.integers(2))
                said = int(rng.integers(2))
                results.append(decision(partner, instance, turn, value, said, past, twin=twin))
                past = (*past, value)
    return results


def streams(found, carried, seed=0, strength=2.5):
    """Noise; in layer 1 one direction carries `carried`, if any."""
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(len(found), LAYERS, WIDTH)) * np.linspace(0.5, 2, WIDTH)
    if carried is not None:
        values[:, 1] += strength * np.outer(np.asarray(carried) * 2 - 1, np.ones(WIDTH) / 2)
    return values.astype(np.float16)


def result(found, made, **options):
    labels = label_decisions(found, "action")
    return fit_representation(
        labels, made, model="toy", about="their_move", place="move", **options
    )


@pytest.fixture(scope="module")
def carrying():
    actual_rows = rows()
    labels = [actual_row.value for actual_row in actual_rows]
    twins = rows(twin=True, seed=5)
    return result(
        actual_rows,
        streams(actual_rows, labels),
        untrained=streams(actual_rows, None, 9),
        twins=(
            label_decisions(twins, "action"),
            streams(twins, [actual_row.value for actual_row in twins], 3),
        ),
    )


def test_probe_finds_the_encoding_layer_and_exceeds_every_control(carrying):
    assert set(carrying.chosen_layers) == {1}
    assert carrying.accuracy.value > 0.9
    for difference in (carrying.beyond, carrying.selectivity, carrying.beyond_untrained):
        assert difference.low > 0.2
    assert carrying.layers[0].accuracy.value < 0.65 < carrying.layers[1].accuracy.value
    assert carrying.layers[1].control < 0.65
    assert carrying.held_out == ("instance", "partner")
    assert carrying.twin.value > 0.9
    assert carrying.twins == PARTNERS * INSTANCES * TURNS


def test_probe_finds_nothing_in_uninformative_activations():
    actual_rows = rows()
    nothing = result(actual_rows, streams(actual_rows, None))
    assert nothing.beyond.low < 0.05
    assert nothing.selectivity.low < 0.05
    assert nothing.accuracy.low < 0.5 + 0.05


def test_direction_per_instance_or_partner_is_not_mistaken_for_the_label():
    """Activations that only say which partner it is are decodable in random folds, not in ours."""
    decisions = [decision(p, i, t, p % 2) for p in range(2) for i in range(8) for t in range(8)]
    labels = label_decisions(decisions, "action")
    new_streams = streams(decisions, None)
    for n, first_decision in enumerate(decisions):
        new_streams[n, 1, int(first_decision.partner[-1])] += 20
    ours = fit_representation(labels, new_streams, model="toy", about="x", place="move")
    groups = Groups(
        [first_decision.partner for first_decision in decisions],
        [first_decision.instance for first_decision in decisions],
    )
    mixed = np.random.default_rng(0).permutation(len(decisions))
    random = [Fold(np.setdiff1d(mixed, part), part) for part in np.array_split(mixed, 4)]
    (leaky,) = probes.fit(new_streams[:, 1], labels.y, 2, groups, random)
    assert (leaky.likeliest_class == labels.y).mean() > 0.85
    assert ours.accuracy.value < 0.65


def test_control_labels_are_learned_only_when_instances_leak():
    actual_rows = rows()
    y = np.array([actual_row.value for actual_row in actual_rows])
    instances = [actual_row.instance for actual_row in actual_rows]
    other_ints = probes.control_labels(y, 2, instances, seed=1)
    assert len({(i, label) for i, label in zip(instances, other_ints, strict=True)}) == INSTANCES
    assert len(set(other_ints.tolist())) == 2
    stream = streams(actual_rows, y)[:, 1]
    for n, actual_row in enumerate(actual_rows):  # one axis an instance: its label can be memorised
        stream[n, int(actual_row.instance[1:])] += 30
    groups = Groups([actual_row.partner for actual_row in actual_rows], instances)
    (ours,) = probes.fit(stream, other_ints, 2, groups, crossed_folds(groups.partners, instances))
    by_partner = [
        Fold(np.flatnonzero(own_array), np.flatnonzero(~own_array))
        for own_array in (
            np.array([p != name for p in groups.partners]) for name in set(groups.partners)
        )
    ]
    (broken,) = probes.fit(stream, other_ints, 2, groups, by_partner)
    assert (broken.likeliest_class == other_ints).mean() > 0.85
    assert (ours.likeliest_class == other_ints).mean() < 0.7


# --- folds ----------------------------------------------------------------------------------------


def test_folds_share_no_partner_no_instance_and_no_letters():
    actual_rows = rows()
    partners = [actual_row.partner for actual_row in actual_rows]
    instances = [actual_row.instance for actual_row in actual_rows]
    letters = [f"set {int(actual_row.instance[1:]) % 6}" for actual_row in actual_rows]
    folds = crossed_folds(partners, units_of(instances, letters))
    groups = held_out(partners, instances, letters)
    assert list(groups) == ["instance", "partner", "set of letters"]
    assert leak(folds, groups) is None
    tested = np.concatenate([fold.test for fold in folds])
    assert sorted(tested.tolist()) == list(range(len(actual_rows)))


@pytest.mark.parametrize("shared", ["partner", "instance", "set of letters"])
def test_leaking_fold_is_refused(shared):
    """Folds by one group alone leak the others; the check names what leaks."""
    actual_rows = rows()
    groups = {
        "partner": [actual_row.partner for actual_row in actual_rows],
        "instance": [actual_row.instance for actual_row in actual_rows],
        "set of letters": [f"set {int(actual_row.instance[1:]) % 6}" for actual_row in actual_rows],
    }
    sound = crossed_folds(groups["partner"], groups["set of letters"])
    assert leak(sound, groups) is None
    first = sound[0]
    guilty = next(
        row
        for row in range(len(actual_rows))
        if groups[shared][row] == groups[shared][first.test[0]] and row not in first.test
    )
    broken = [Fold(np.append(first.train, guilty), first.test), *sound[1:]]
    assert shared in leak(broken, {shared: groups[shared]})


def test_probes_refuse_folds_that_leak():
    actual_rows = rows()
    y = np.array([actual_row.value for actual_row in actual_rows])
    groups = Groups(
        [actual_row.partner for actual_row in actual_rows],
        [actual_row.instance for actual_row in actual_rows],
    )
    halves = np.arange(len(actual_rows)) % 2 == 0
    broken = [Fold(np.flatnonzero(halves), np.flatnonzero(~halves))]
    with pytest.raises(AssertionError, match="also learns from"):
        probes.fit_layers(streams(actual_rows, y), y, 2, groups, broken, [0])


def test_folds_need_at_least_two_instances():
    with pytest.raises(BadInput, match="at least two instances"):
        crossed_folds(["a", "b"], ["i", "i"])


# --- labels and surface ---------------------------------------------------------------------------


def test_canonical_label_does_not_follow_the_letter():
    swapped = [decision(instance=0, value=0), decision(instance=1, value=0)]
    assert [item.names[0] for item in swapped] == ["J", "F"]
    assert label_decisions(swapped, "action").y.tolist() == [0, 0]
    assert label_decisions(swapped, "shown").y.tolist() == [1, 0]


def test_shown_labels_need_the_same_letters_in_all_instances():
    with pytest.raises(BadInput, match="different letters"):
        label_decisions([decision(instance=0), decision(instance=2)], "shown")


def test_change_label_states_whether_the_last_value_repeats():
    first_decision = decision(turn=2, value=1, past=(0, 1))
    assert code(first_decision, 1, "change") == 1
    assert code(first_decision, 0, "change") == 0
    assert code(decision(value=1), 1, "change") == NONE


def test_surface_features_predict_a_cycle_of_several_moves():
    results = []
    for instance in range(8):
        for partner in range(2):
            past = ()
            for turn in range(9):
                value = (0, 0, 1)[(turn + instance) % 3]
                results.append(decision(partner, instance, turn, value, past=past))
                past = (*past, value)
    late = [item for item in results if item.turn > 5]
    labels = label_decisions(late, "action")
    names, x = features(labels)
    column = names.index("after these two: 1")
    assert (x[:, column] == labels.y).all()


# --- the joint table, and files -------------------------------------------------------------------


def test_joint_table_counts_each_decision_once():
    decisions = [decision(0, i, 0, 1, said=i % 2, did=i // 4) for i in range(8)]
    labels = label_decisions(decisions, "action")
    odds = np.array([[0.2, 0.8] if i < 6 else [0.8, 0.2] for i in range(8)])
    (table,) = arms(labels, probes.HeldOutPredictions(odds, [], []))
    assert table.partner == ALL
    assert table.n == 8
    assert table.represented.value == 6 / 8
    assert table.said.value == 4 / 8
    assert table.done.value == 4 / 8  # move 0 is optimal
    assert sum(value.value for value in table.joint.values()) == pytest.approx(1)
    assert table.joint["represented"].value == 1 / 8  # neither said nor done: i = 4
    assert table.joint["done"].value == 0
    assert sum(table.independent.values()) == pytest.approx(1)
    assert table.blind == 0.5


def test_results_round_trip_through_the_file(carrying, tmp_path):
    write_results([carrying], tmp_path / "represented" / "toy.json")
    (repeated_result,) = read_results(tmp_path)
    assert repeated_result == carrying
    (tmp_path / "represented" / "toy.json").write_text("[1]")
    with pytest.raises(BadInput, match="was not written by `sally represent`"):
        read_results(tmp_path)
    assert read_results(tmp_path / "nowhere") == []


def test_profile_and_report_show_probe_results_only_if_stored(carrying, tmp_path):
    from click.testing import CliRunner

    from sally.cli import cli

    folder = tmp_path / "store"
    only = ["--game", "ibs", "--limit", "6", "--out", str(folder)]
    assert CliRunner().invoke(cli, ["run", "quickstart", *only]).exit_code == 0
    page = tmp_path / "page.html"
    for there in (False, True):
        if there:
            write_results([carrying], folder / "represented" / "toy.json")
        printed = CliRunner().invoke(cli, ["profile", str(folder)]).output
        CliRunner().invoke(cli, ["report", str(folder), "--out", str(page), "--no-profile"])
        assert ("beyond rules" in printed and "three arms" in printed) is there
        assert ("Represented, said, done" in page.read_text(encoding="utf-8")) is there
