"""`baracuda list`: ops by their names in every framework, by what they take and promise, and near names."""

from __future__ import annotations

import json

import pytest

from baracuda.cli import listing, main
from baracuda.core.elements import ElementKind as K
from baracuda.core.errors import InvalidProblemError
from baracuda.core.op_table import aliases, table
from baracuda.core.sku import PROMISES
from baracuda.frontends.catalogue import catalogue


@pytest.mark.parametrize(
    ("name", "op"),
    [
        ("gelu", "gelu"),
        ("torch.nn.functional.gelu", "gelu"),
        ("F.gelu", "gelu"),
        ("onnx.Gelu", "gelu"),
        ("jnp.tanh", "tanh"),
        ("jax.numpy.tanh", "tanh"),
        ("lax.erf", "erf"),
        ("torch.special.erf", "erf"),
        ("scipy.special.erf", "erf"),
        ("torch.erf_", "erf"),
        ("torch.Tensor.add_", "add"),
        ("np.absolute", "abs"),
        ("jax.nn.softmax", "softmax"),
        ("array_api.sum", "sum"),
        ("LogSoftmax", "log_softmax"),
        ("baracuda.rms_norm", "rms_norm"),
    ],
)
def test_names_of_every_framework(name: str, op: str) -> None:
    assert [e.row.op for e in listing.named(name)] == [op]


def test_every_name_of_every_op_finds_it() -> None:
    for entry in catalogue():
        for name in listing.names_of(entry):
            assert entry in listing.named(name), (entry.row.op, name)


def test_every_alias_is_of_an_op_or_says_why_not() -> None:
    for alias in aliases().values():
        assert (alias.op in table()) is bool(alias.op)
    assert listing.out_of_scope("torch.AcceleratorError").reason == "class / type / exception"  # type: ignore[union-attr]
    assert listing.out_of_scope("torch.erf") is None


def test_filters() -> None:
    softmaxes = listing.find(family="softmax")
    assert {"softmax", "log_softmax", "sparsemax"} <= {one.entry.row.op for one in softmaxes}
    assert {one.entry.row.family for one in softmaxes} == {"softmax"}
    takes = listing.find(element="complex64")
    assert takes
    assert all(K.C64 in one.entry.elements for one in takes)
    assert listing.find(element="bfloat16") == listing.find(element="bf16")
    assert [one.entry.row.op for one in listing.find("gelu", backend="formula-cuda", promises=tuple(PROMISES))] == ["gelu"]
    assert listing.find("gelu", backend="cudnn") == []
    assert {"layer_norm", "rms_norm", "group_norm"} <= {one.entry.row.op for one in listing.find("norm")}
    with pytest.raises(InvalidProblemError, match="element 'float1'; expected one of f16, "):
        listing.find(element="float1")


def test_absent_ops_are_listed_where_they_are_asked_for() -> None:
    lacking = next(e for e in catalogue() if not e.present)
    assert lacking.row.op not in {one.entry.row.op for one in listing.find()}
    assert lacking.row.op in {one.entry.row.op for one in listing.find(absent=True)}
    (one,) = listing.find(lacking.row.op)
    assert one.record()["present"] is False
    assert one.promises == ()


def test_near_names() -> None:
    assert listing.near("softmx")[0] == "softmax"
    assert listing.near("F.gellu")[0] == "gelu"
    assert listing.near("zzzzqqqq") == []


def test_elements_in_a_few_words() -> None:
    assert listing.elements_summary((K.F16, K.BF16, K.F32, K.F64, K.BOOL)) == "floats bool"
    assert listing.elements_summary((K.F16, K.F32)) == "f16 f32"


def test_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", "torch.nn.functional.gelu"]) == 0
    out = capsys.readouterr().out
    assert "gelu, gelu_backward" in out
    assert "backends formula-cpu, formula-cuda" in out
    assert "torch.nn.functional.gelu, jax.nn.gelu" in out
    assert "\x1b[" not in out
    assert main(["list", "--family", "softmax", "--dtype", "bf16", "--json"]) == 0
    records = json.loads(capsys.readouterr().out)
    assert {r["family"] for r in records} == {"softmax"}
    assert all("bf16" in r["elements"] for r in records)


@pytest.mark.parametrize(
    ("name", "text"),
    [("softmx", "near it: softmax"), ("torch.AcceleratorError", "is no op: class / type / exception"), ("qqqq", "nothing fits")],
)
def test_nothing_found_is_status_1(name: str, text: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", name]) == 1
    assert text in capsys.readouterr().out


def test_wrong_options_are_status_2(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", "--backend", "tpu"]) == 2
    assert main(["list", "--guarantee", "luck"]) == 2
    assert "'luck' is not one of" in capsys.readouterr().err


def test_a_family_that_there_is_none_of_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", "--family", "sofmax"]) == 1
    err = capsys.readouterr().err
    assert err.startswith("InvalidProblemError: family 'sofmax'; expected one of ")
    assert "softmax" in err
