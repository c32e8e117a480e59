"""`sally represent` on a toy: it finds the partner's next move where it is, and nowhere else."""

import json

import numpy as np
import pytest
from click.testing import CliRunner

import sally
from sally.cli import cli
from sally.models.hf.residual_stream import ResidualStream
from sally.represent.results import read_results
from tests.models.hf import tiny, toy
from tests.models.hf.tiny import torch, transformers

pytest.importorskip("sklearn", reason="needs scikit-learn")


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    folder = tmp_path_factory.mktemp("played")
    sally.run(toy.study(rounds=6), folder)
    return folder


def represent(played, network, out, *options):
    arguments = ["represent", str(played), "--model", f"hf:{network}?device=cpu", "--out", str(out)]
    done = CliRunner().invoke(cli, [*arguments, "--at", "move", "--json", *options])
    assert done.exception is None, done.output
    (data,) = json.loads(done.stdout)
    return data


def test_probe_finds_the_move_in_the_layer_that_encodes_it(played, tmp_path):
    network = toy.make(tmp_path / "carries")
    result = represent(played, network, tmp_path / "out", "--as", "action")
    right = [layer["accuracy"]["value"] for layer in result["layers"]]
    assert right[toy.LAYER] > 0.8  # two of six moves are not told by the page: 5/6 at most
    assert right[0] < 0.65  # the last token alone tells nothing
    assert result["accuracy"]["value"] > 0.8
    for difference in ("beyond", "beyond_untrained"):
        assert result[difference]["low"] > 0.1
    assert result["selectivity"]["value"] > 0.1
    assert result["held_out"] == ["instance", "partner"]
    directions = np.load(next((tmp_path / "out").glob("*.npz")))
    assert all(array.shape == (2, toy.WIDTH) for array in directions.values())
    kept_files = list((tmp_path / "out" / "activations").rglob("*.npy"))
    times_before = {path: path.stat().st_mtime_ns for path in kept_files}
    second_result = represent(played, network, tmp_path / "out", "--as", "action")
    assert second_result == result  # nothing is read twice
    assert {path: path.stat().st_mtime_ns for path in kept_files} == times_before
    assert len(read_results(next((tmp_path / "out").glob("*.json")))) == 1


def test_probe_finds_nothing_in_a_network_without_the_move(played, tmp_path):
    network = toy.make(tmp_path / "blind", carries=False, steps=40)
    result = represent(played, network, tmp_path / "out", "--no-untrained")
    assert result["accuracy"]["value"] < 0.65
    assert result["selectivity"]["low"] < 0.05
    assert result["beyond"]["low"] < 0


def test_activations_equal_those_of_the_plain_network(tmp_path):
    """Prompts of different length in one batch have the hidden states of transformers alone."""
    folder = tiny.make(tmp_path / "tiny")
    network = ResidualStream(f"hf:{folder}?device=cpu")
    prompts = [network.tokens(text, ("J", "F")) for text in ("Round 1: Option ", "Rock, " * 30)]
    result = network.read(prompts)
    plain = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    for row, tokens in zip(result, prompts, strict=True):
        with torch.inference_mode():
            states = plain(torch.tensor(tokens)[None], output_hidden_states=True).hidden_states
        for layer in range(network.layers - 1):  # the last of transformers is normalised
            assert np.allclose(row[layer], states[layer][0, -1], atol=2e-2, rtol=2e-2)
    other_stream = ResidualStream(f"hf:{folder}?device=cpu", untrained=True)
    assert other_stream.layers == network.layers
    assert not np.allclose(other_stream.read(prompts)[:, 0], result[:, 0], atol=0.05)
