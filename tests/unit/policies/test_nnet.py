"""Networks in .nnet files."""

import numpy as np
import pytest
from tests.support.networks import grid, nnet_text, plain_scores, random_network, same_network

from surefoot import InputError, load_policy
from surefoot.policies import nnet
from surefoot.policies.interface import Input

NETWORK = random_network(1, 3, 5, 4, precision="float64")


def write(tmp_path, text, name="policy.nnet"):
    file = tmp_path / name
    file.write_text(text)
    return file


def error_of(tmp_path, text):
    with pytest.raises(InputError) as caught:
        nnet.read(write(tmp_path, text))
    assert caught.value.code == "bad-nnet"
    assert caught.value.file.endswith("policy.nnet")
    return caught.value


def replaced(number, line):
    """Return the file of the network with another line ``number``, counted from 1."""
    lines = nnet_text(NETWORK).splitlines()
    lines[number - 1] = line
    return "\n".join(lines)


def test_numbers_are_read_as_they_were_written(tmp_path):
    loaded = nnet.read(write(tmp_path, nnet_text(NETWORK)))
    assert same_network(loaded.model, NETWORK)
    assert loaded.interface is None
    assert loaded.model.precision == "float64"


def test_trailing_commas_and_blank_lines_do_not_matter(tmp_path):
    text = nnet_text(NETWORK).replace(",\n", "\n").replace("\n", "\r\n\n")
    assert same_network(nnet.read(write(tmp_path, "// more\n" + text)).model, NETWORK)


def test_widest_layer_is_not_looked_at(tmp_path):
    assert same_network(nnet.read(write(tmp_path, replaced(2, "2,3,4,99"))).model, NETWORK)


def test_alone_it_takes_all_variables_and_all_actions_in_order(tmp_path):
    task = grid(3, 4)
    policy = load_policy(str(write(tmp_path, nnet_text(NETWORK))), task)
    assert [one.variable for one in policy.interface.inputs] == ["v0", "v1", "v2"]
    assert policy.interface.outputs == ("a0", "a1", "a2", "a3")
    state = task.state(v0=7, v1=2, v2=9)
    expected = plain_scores(NETWORK, np.array([[7.0, 2.0, 9.0]]))[0]
    assert list(policy.scores(state).values()) == pytest.approx(list(expected), rel=1e-12)
    assert policy.decide(state) == f"a{expected.argmax()}"


def test_minima_and_maxima_do_not_clip(tmp_path):
    lines = nnet_text(NETWORK).splitlines()
    lines[4], lines[5] = "5,5,5", "6,6,6"
    task = grid(3, 4)
    policy = load_policy(str(write(tmp_path, "\n".join(lines))), task)
    expected = plain_scores(NETWORK, np.array([[9.0, 0.0, 1.0]]))[0]
    scores = policy.scores(task.state(v0=9, v1=0, v2=1))
    assert list(scores.values()) == pytest.approx(list(expected))


def test_means_and_ranges_scale_the_inputs(tmp_path):
    text = nnet_text(NETWORK, means=[1, 0, -2.5, 7], ranges=[2, 1, 0.5, 3])
    loaded = nnet.read(write(tmp_path, text))
    assert loaded.interface.inputs == (
        Input(mean=1, scale=2), Input(), Input(mean=-2.5, scale=0.5),
    )  # fmt: skip
    task = grid(3, 4)
    policy = load_policy(str(tmp_path / "policy.nnet"), task)
    fed = np.array([[(7 - 1) / 2, 2.0, (9 + 2.5) / 0.5]])
    expected = plain_scores(NETWORK, fed)[0]
    state = task.state(v0=7, v1=2, v2=9)
    assert list(policy.scores(state).values()) == pytest.approx(list(expected))
    assert policy.decide(state) == f"a{expected.argmax()}"


BAD = {
    "range of 0": (nnet_text(NETWORK, ranges=[1, 0, 1, 1]), "8"),
    "negative range of the output": (nnet_text(NETWORK, ranges=[1, 1, 1, -1]), "8"),
    "head disagrees on layers": (replaced(2, "3,3,4,5"), "2"),
    "head disagrees on outputs": (replaced(2, "2,3,5,5"), "2"),
    "head is short": (replaced(2, "2,3"), "2"),
    "a size of 0": (replaced(3, "3,0,4"), "3"),
    "half a neuron": (replaced(3, "3,2.5,4"), "3"),
    "weights are missing in a row": (replaced(9, "1,2"), "9"),
    "too many weights in a row": (replaced(9, "1,2,3,4"), "9"),
    "a weight is a word": (replaced(9, "1,x,3"), "9"),
    "a weight is not a number": (replaced(9, "1,nan,3"), "9"),
    "a weight is infinite": (replaced(9, "1,1e999,3"), "9"),
    "a weight is empty": (replaced(9, "1,,3"), "9"),
    "a bias too many": (nnet_text(NETWORK) + "1,\n", "27"),
    "sizes beyond the file": (replaced(3, "3,100000,4"), "2"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_files_name_the_line(tmp_path, case):
    text, line = BAD[case]
    assert error_of(tmp_path, text).place == line


@pytest.mark.parametrize("lines", [0, 1, 2, 7, 8, 20, 25])
def test_files_that_end_too_early(tmp_path, lines):
    text = "\n".join(nnet_text(NETWORK).splitlines()[:lines])
    error_of(tmp_path, text)


def test_a_file_that_is_no_text(tmp_path):
    file = tmp_path / "policy.nnet"
    file.write_bytes(b"\xff\xfe\x00\x01")
    with pytest.raises(InputError) as caught:
        nnet.read(file)
    assert caught.value.code == "bad-nnet"
