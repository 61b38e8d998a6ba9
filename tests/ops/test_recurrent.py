"""Recurrent networks: values and gradients against PyTorch's modules and against each operator's definition, and their
promises."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

import baracuda
from baracuda.core.errors import InvalidProblemError, UnsupportedError
from baracuda.core.sku import MathPrecision
from tests.ops.recurrent_reference import layer

T, B, INPUTS, H = 6, 7, 5, 19
LENGTHS = [6, 3, 1, 5, 0, 2, 6]
F64 = torch.float64
BITS = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}


def close(got: Any, want: torch.Tensor, tolerance: float = 1e-12) -> None:
    got, want = got.detach().cpu().double(), want.detach().cpu().double()
    assert got.shape == want.shape
    if got.numel():
        assert (got - want).abs().max() <= tolerance * max(1.0, float(want.abs().max()))


def same(a: torch.Tensor, b: torch.Tensor) -> bool:
    bits = BITS[a.element_size()]
    return a.shape == b.shape and bool((a.contiguous().view(bits) == b.contiguous().view(bits)).all())


def flat(results: Any) -> list[torch.Tensor]:
    if isinstance(results, (tuple, list)):
        return [t for r in results for t in flat(r)]
    return [results]


def wish(bits: int) -> baracuda.PlanPreference | None:
    """That products are of integers of so many bits."""
    return baracuda.PlanPreference(math=MathPrecision(f"int{bits}")) if bits else None


# --- against torch.nn ---------------------------------------------------------------------------------------------------------

MODULES: list[tuple[str, dict[str, Any]]] = [
    ("LSTM", {}),
    ("LSTM", {"num_layers": 2, "bidirectional": True, "batch_first": True}),
    ("LSTM", {"proj_size": 6, "num_layers": 2, "bidirectional": True, "bias": False}),
    ("GRU", {"bidirectional": True}),
    ("GRU", {"num_layers": 3, "bias": False, "batch_first": True}),
    ("RNN", {"nonlinearity": "relu", "num_layers": 2}),
    ("RNN", {"bidirectional": True}),
]


def options(name: str, words: dict[str, Any]) -> dict[str, Any]:
    keys = ("num_layers", "bidirectional", "batch_first", "nonlinearity")
    return {k: words[k] for k in keys if k in words} | {"has_biases": words.get("bias", True)}


@pytest.mark.one_of(5)
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16, torch.float16], ids=str)
@pytest.mark.parametrize("with_lengths", [False, True])
@pytest.mark.parametrize("number", range(len(MODULES)))
def test_networks(number: int, with_lengths: bool, dtype: torch.dtype, device: str) -> None:
    check_network(*MODULES[number], with_lengths, dtype, device)


@pytest.mark.parametrize(
    ("number", "bits", "with_lengths", "dtype"),
    [(0, 23, True, torch.float32), (2, 15, False, torch.float16), (3, 15, True, torch.float32), (5, 23, False, torch.bfloat16)],
)
def test_integer_products(number: int, bits: int, with_lengths: bool, dtype: torch.dtype, device: str) -> None:
    with baracuda.preferring(wish(bits)):
        check_network(*MODULES[number], with_lengths, dtype, device, 2e-3 if bits == 15 else 0.0)


def check_network(
    name: str, words: dict[str, Any], with_lengths: bool, dtype: torch.dtype, device: str, least: float = 0.0
) -> None:
    """A network of PyTorch's, its gradients among its results; errors of `least` do not count."""
    number = [n for n, _ in MODULES].index(name)
    torch.manual_seed(number)
    module = getattr(torch.nn, name)(INPUTS, H, dtype=F64, **words)
    for p in module.parameters():
        p.data = p.data.to(dtype).double()
    directions, layers = 1 + words.get("bidirectional", False), words.get("num_layers", 1)
    hidden = words.get("proj_size", 0) or H
    states = [torch.randn(layers * directions, B, n, dtype=F64).to(dtype).double() for n in (hidden, H)[: 1 + (name == "LSTM")]]
    x = torch.randn((B, T, INPUTS) if words.get("batch_first") else (T, B, INPUTS), dtype=F64).to(dtype).double()
    leaves = [x, *states]
    for leaf in leaves:
        leaf.requires_grad_()
    lengths = torch.tensor([max(n, 1) for n in LENGTHS]) if with_lengths else None
    given: Any = x
    if lengths is not None:
        given = pack_padded_sequence(x, lengths, enforce_sorted=False, batch_first=words.get("batch_first", False))
    y, last = module(given, tuple(states) if name == "LSTM" else states[0])
    if lengths is not None:
        y, _ = pad_packed_sequence(y, total_length=T, batch_first=words.get("batch_first", False))
    want = [y, *(last if name == "LSTM" else [last])]
    cotangents = [torch.randn(t.shape, dtype=F64).to(dtype).double() for t in want]
    torch.autograd.backward(want, cotangents)
    params = [p.detach().to(dtype).to(device) for p in module._flat_weights]
    own = [t.detach().to(dtype).to(device) for t in leaves]
    hx: Any = own[1:] if name == "LSTM" else own[1]
    more = options(name, words) | ({} if lengths is None else {"lengths": lengths.to(device)})
    function, derived = getattr(baracuda, name.lower()), getattr(baracuda, f"{name.lower()}_backward")
    given_back = function(own[0], hx, params, saved=True, **more)
    got, saved = given_back[: len(want)], list(given_back[len(want) :])
    assert all(map(same, got, function(own[0], hx, params, **more)))
    tolerance = {torch.float64: 1e-13, torch.float32: 2e-6, torch.bfloat16: 2e-2, torch.float16: 3e-3}[dtype]
    tolerance = max(tolerance, least)
    for a, b in zip(got, want, strict=True):
        assert a.dtype == dtype
        close(a, b, tolerance)
    ends = dict(zip(("dh_n", "dc_n"), [t.to(dtype).to(device) for t in cotangents[1:]], strict=False))
    dy = cotangents[0].to(dtype).to(device)
    found = derived(dy, own[0], hx, params, y=got[0], saved=saved, **ends, **more)
    again = derived(dy, own[0], hx, params, **ends, **more)
    assert all(map(same, flat(found), flat(again)))
    wanted = [leaf.grad for leaf in leaves] + [p.grad for p in module._flat_weights]
    for a, c in zip(flat(found), wanted, strict=True):
        assert c is not None
        close(a, c, 4 * tolerance)
    (dx,) = derived(dy, own[0], hx, params, wrt=("x",), **ends, **more)
    assert same(dx, found[0])


@pytest.mark.parametrize("name", ["LSTM", "GRU", "RNN"])
@pytest.mark.parametrize("batch", [(B,), ()])
@pytest.mark.parametrize("bias", [True, False])
def test_cells(name: str, batch: tuple[int, ...], bias: bool, device: str) -> None:
    torch.manual_seed(3)
    module = getattr(torch.nn, f"{name}Cell")(INPUTS, H, bias=bias, dtype=F64)
    x = torch.randn(*batch, INPUTS, dtype=F64, requires_grad=True)
    states = [torch.randn(*batch, H, dtype=F64, requires_grad=True) for _ in range(1 + (name == "LSTM"))]
    want = module(x, tuple(states) if name == "LSTM" else states[0])
    want = list(want) if name == "LSTM" else [want]
    cotangents = [torch.randn_like(t) for t in want]
    torch.autograd.backward(want, cotangents)
    weights = [p.detach().to(device) for p in module.parameters()]
    own = [t.detach().to(device) for t in states]
    hx: Any = own if name == "LSTM" else own[0]
    got = flat(getattr(baracuda, f"{name.lower()}_cell")(x.detach().to(device), hx, *weights))
    for a, b in zip(got, want, strict=True):
        close(a, b)
    dy = [t.to(device) for t in cotangents]
    found = getattr(baracuda, f"{name.lower()}_cell_backward")(*dy, x.detach().to(device), hx, *weights)
    wanted = [x.grad, *(s.grad for s in states), *(p.grad for p in module.parameters())]
    for a, c in zip(flat(found), wanted, strict=True):
        assert c is not None
        close(a, c)


# --- against definitions ------------------------------------------------------------------------------------------------------

Words = dict[str, Any]
DEFINED: list[tuple[str, Words]] = [
    ("lstm", {"peepholes": True, "clip": 0.8}),
    ("lstm", {"input_forget": True, "peepholes": True, "direction": "bidirectional"}),
    ("lstm", {"activations": ("hard_sigmoid", "scaled_tanh", "softsign"), "activation_alpha": (0.3, 1.7, 0.0),
              "activation_beta": (0.4, 0.6, 0.0), "direction": "reverse"}),
    ("lstm", {"activations": ("affine", "elu", "leaky_relu"), "activation_alpha": (0.1, 0.7, 0.2),
              "activation_beta": (0.1, 0.0, 0.0)}),
    ("gru", {"linear_before_reset": False, "direction": "bidirectional"}),
    ("gru", {"linear_before_reset": False, "clip": 0.5, "activations": ("sigmoid", "softplus")}),
    ("gru", {"clip": 0.7, "direction": "reverse"}),
    ("rnn", {"activations": ("thresholded_relu",), "activation_alpha": (0.2,), "activation_beta": (0.0,)}),
    ("slstm", {"direction": "bidirectional"}),
    ("slstm", {"num_heads": 3, "forget_gate": "exp"}),
]  # fmt: skip
GATES = {"lstm": 4, "gru": 3, "rnn": 1, "slstm": 4}
STATES = {"lstm": 2, "gru": 1, "rnn": 1, "slstm": 4}
DEFAULTS = {"lstm": ("sigmoid", "tanh", "tanh"), "gru": ("sigmoid", "tanh"), "rnn": ("tanh",), "slstm": ()}
NUMBERS = {"hard_sigmoid": (0.2, 0.5)}


@pytest.mark.one_of(2)
@pytest.mark.parametrize("start", [True, False], ids=["given", "zero"])
@pytest.mark.parametrize("number", range(len(DEFINED)))
def test_definitions(number: int, start: bool, device: str) -> None:
    kind, words = DEFINED[number]
    torch.manual_seed(number)
    heads, units = words.get("num_heads", 1), 6
    directions = 2 if words.get("direction") == "bidirectional" else 1
    x = torch.randn(T, B, INPUTS, dtype=F64, requires_grad=True)
    params: list[torch.Tensor] = []
    peepholes: list[torch.Tensor] = []
    for _ in range(directions):
        rows = GATES[kind] * units
        params += [torch.randn(rows, INPUTS, dtype=F64) * 0.6, torch.randn(rows, units // heads, dtype=F64) * 0.6,
                   torch.randn(rows, dtype=F64), torch.randn(rows, dtype=F64)]  # fmt: skip
        peepholes.append(torch.randn(3, units, dtype=F64) * 0.5)
    states = [torch.rand(directions, B, units, dtype=F64) + 0.5 for _ in range(STATES[kind])]
    names = words.get("activations", DEFAULTS[kind])
    alphas, betas = words.get("activation_alpha"), words.get("activation_beta")
    chosen = [
        (n, alphas[i] if alphas else NUMBERS.get(n, (1.0, 0.0))[0], betas[i] if betas else NUMBERS.get(n, (1.0, 0.0))[1])
        for i, n in enumerate(names)
    ]
    used = peepholes if words.get("peepholes") else []
    leaves = [x, *(states if start else []), *params, *used]
    for leaf in leaves:
        leaf.requires_grad_()
    ys, ends = [], []
    for d in range(directions):
        w = dict(zip(("w_ih", "w_hh", "b_ih", "b_hh"), params[4 * d : 4 * d + 4], strict=True)) | {"gates": GATES[kind]}
        if used:
            w["peepholes"] = used[d]
        zeros = [torch.zeros(B, units, dtype=F64) for _ in states]
        if kind == "slstm":
            zeros[3] = torch.full((B, units), -torch.inf, dtype=F64)
        y, end = layer(
            kind, x, [s[d] for s in states] if start else zeros, w, LENGTHS,
            reverse=words.get("direction") == "reverse" or d == 1, activations=chosen, clip=words.get("clip"),
            input_forget=words.get("input_forget", False), reset_after=words.get("linear_before_reset", True), heads=heads,
            exponential=words.get("forget_gate") == "exp",
        )  # fmt: skip
        ys.append(y)
        ends.append(end)
    want = [torch.cat(ys, -1), *(torch.stack(e) for e in zip(*ends, strict=True))]
    own = {k: v for k, v in words.items() if k != "peepholes"} | {"lengths": torch.tensor(LENGTHS).to(device)}
    on = [t.detach().to(device) for t in (x, *params)]
    hx: Any = [s.detach().to(device) for s in states] if start else None
    hx = hx[0] if start and len(states) == 1 else hx
    if used:
        own["peepholes"] = [p.detach().to(device) for p in used]
    got = getattr(baracuda, kind)(on[0], hx, on[1:], **own)
    for a, b in zip(got, want, strict=True):
        if not start and kind == "slstm":
            a, b = a.nan_to_num(), b.nan_to_num()  # of a row without steps
        close(a, b)
    finite = [torch.where(t.isfinite(), t, torch.zeros_like(t)) for t in want]
    cotangents = [torch.randn_like(t) for t in finite]
    cotangents = [c * t.isfinite() for c, t in zip(cotangents, want, strict=True)]
    torch.autograd.backward(finite, cotangents)
    on_device = [c.to(device) for c in cotangents]
    last = dict(zip(("dh_n", "dc_n", "dn_n", "dm_n"), on_device[1:], strict=False))
    found = getattr(baracuda, f"{kind}_backward")(on_device[0], on[0], hx, on[1:], **last, **own)
    dx, dhx, dparams = found[0], found[1 : 1 + len(states)], found[1 + len(states) :]
    assert x.grad is not None
    close(dx, x.grad)
    for a, s in zip(dhx, states if start else [], strict=start):
        assert s.grad is not None
        close(a, s.grad)
    wanted = [t for d in range(directions) for t in (*params[4 * d : 4 * d + 4], *(used[d : d + 1] if used else []))]
    for a, p in zip(dparams, wanted, strict=True):
        assert p.grad is not None
        close(a, p.grad)


def test_gates_in_the_order_of_onnx(device: str) -> None:
    torch.manual_seed(1)
    for kind, order in (("lstm", (0, 3, 1, 2)), ("gru", (1, 0, 2))):
        gates = GATES[kind]
        params = [torch.randn(gates * H, n) for n in (INPUTS, H)] + [torch.randn(gates * H) for _ in range(2)]
        onnx = [torch.cat([p.chunk(gates)[o] for o in order]).to(device) for p in params]
        x = torch.randn(T, B, INPUTS, device=device)
        function = getattr(baracuda, kind)
        got = function(x, None, onnx, order="onnx")
        assert all(map(same, got, function(x, None, [p.to(device) for p in params])))


# --- promises -----------------------------------------------------------------------------------------------------------------


def drawn(kind: str, units: int, batch: int, dtype: torch.dtype, device: str) -> tuple[torch.Tensor, Any, list[torch.Tensor]]:
    torch.manual_seed(5)
    gates = GATES[kind]
    shapes = [(gates * units, INPUTS), (gates * units, units), (gates * units,), (gates * units,)]
    params = [(torch.randn(s) * 0.4).to(dtype).to(device) for s in shapes]
    states = [torch.rand(1, batch, units).to(dtype).to(device) for _ in range(STATES[kind])]
    x = torch.randn(T, batch, INPUTS).to(dtype).to(device)
    return x, states if len(states) > 1 else states[0], params


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
@pytest.mark.parametrize(("kind", "bits"), [("lstm", 0), ("gru", 0), ("slstm", 0), ("gru", 15)])
def test_a_row_does_not_see_its_neighbours(kind: str, bits: int, dtype: torch.dtype, device: str) -> None:
    with baracuda.preferring(wish(bits)):
        check_rows(kind, dtype, device)


def check_rows(kind: str, dtype: torch.dtype, device: str) -> None:
    x, hx, params = drawn(kind, 37, 70, dtype, device)
    function, derived = getattr(baracuda, kind), getattr(baracuda, f"{kind}_backward")
    lengths = (torch.arange(70) % (T + 1)).to(device)
    for b in range(70):  # what lies beyond a row's length is not seen
        x[int(lengths[b]) :, b] = torch.nan
    y = function(x, hx, params, lengths=lengths)[0]
    dy = torch.randn(y.shape).to(dtype).to(device)
    dx = derived(dy, x, hx, params, lengths=lengths, wrt=("x",))[0]
    assert not y.isnan().any()
    for b in (0, 33, 69):
        part = slice(b, b + 1)
        states = [s[:, part].contiguous() for s in hx] if isinstance(hx, list) else hx[:, part].contiguous()
        one = x[:, part].contiguous()
        assert same(function(one, states, params, lengths=lengths[part])[0], y[:, part])
        alone = derived(dy[:, part].contiguous(), one, states, params, lengths=lengths[part], wrt=("x",))[0]
        assert same(alone, dx[:, part])


def test_any_strides(device: str) -> None:
    x, hx, params = drawn("lstm", 21, B, torch.float32, device)
    want = flat(baracuda.lstm(x, hx, params))
    dy = torch.randn(want[0].shape, device=device)
    gradients = flat(baracuda.lstm_backward(dy, x, hx, params))

    def turned(t: torch.Tensor) -> torch.Tensor:
        apart = torch.full((*t.shape[:-1], 2 * t.shape[-1]), torch.nan, device=device)
        apart[..., ::2] = t
        return apart[..., ::2]

    def other(t: torch.Tensor) -> torch.Tensor:
        return t.transpose(0, -1).contiguous().transpose(0, -1)

    for change in (turned, other):
        given = change(x), [change(h) for h in hx], [change(p) for p in params]
        assert all(map(same, flat(baracuda.lstm(*given)), want))
        assert all(map(same, flat(baracuda.lstm_backward(change(dy), *given)), gradients))
    numpy = [x.cpu().numpy()[::-1], [h.cpu().numpy() for h in hx], [p.cpu().numpy() for p in params]]
    backwards = baracuda.lstm(*numpy)[0]
    assert (backwards == baracuda.lstm(np.ascontiguousarray(numpy[0]), *numpy[1:])[0]).all()


def test_a_cell_is_a_step(device: str) -> None:
    x, hx, params = drawn("lstm", 33, B, torch.float32, device)
    y, h, c = baracuda.lstm(x, hx, params)
    state = [s[0].contiguous() for s in hx]
    for t in range(T):
        state = list(baracuda.lstm_cell(x[t].contiguous(), state, *params))
        assert same(state[0], y[t].contiguous())
    assert same(state[1], c[0].contiguous())
    assert same(state[0], h[0].contiguous())


def test_dropout(device: str) -> None:
    torch.manual_seed(2)
    module = torch.nn.LSTM(INPUTS, H, num_layers=2)
    params = [p.detach().to(device) for p in module._flat_weights]
    x = torch.randn(T, B, INPUTS, device=device)
    mask = (torch.rand(1, T, B, H) > 0.5).float().to(device)
    first = baracuda.lstm(x, None, params[:4])[0]
    want = baracuda.lstm(first * 2.0 * mask[0], None, params[4:])[0]
    words: dict[str, Any] = {"num_layers": 2, "dropout": 0.5, "train": True}
    assert same(baracuda.lstm(x, None, params, dropout_mask=mask, **words)[0], want)
    with pytest.raises(InvalidProblemError, match=r"dropout: 0.5 with neither of key and dropout_mask"):
        baracuda.lstm(x, None, params, **words)
    dy = torch.randn(want.shape, device=device)
    dx, *_ = baracuda.lstm_backward(dy, x, None, params, dropout_mask=mask, **words)
    inner = baracuda.lstm_backward(dy, first * 2.0 * mask[0], None, params[4:], wrt=("x",))[0]
    assert same(dx, baracuda.lstm_backward(inner * 2.0 * mask[0], x, None, params[:4], wrt=("x",))[0])
    key = baracuda.rng_key(7, like=x)
    kept = baracuda.dropout(first, baracuda.rng_fold_in(key, 1), 0.5)
    assert same(baracuda.lstm(x, None, params, key=key, **words)[0], baracuda.lstm(kept, None, params[4:])[0])
    dx, *_ = baracuda.lstm_backward(dy, x, None, params, key=key, **words)
    inner = baracuda.lstm_backward(dy, kept, None, params[4:], wrt=("x",))[0]
    inner = baracuda.dropout_backward(inner, baracuda.rng_fold_in(key, 1), 0.5)
    assert same(dx, baracuda.lstm_backward(inner, x, None, params[:4], wrt=("x",))[0])


@pytest.mark.parametrize(("steps", "batch"), [(0, 3), (4, 0), (1, 1)])
def test_nothing(steps: int, batch: int, device: str) -> None:
    x, _, params = drawn("lstm", 9, 1, torch.float32, device)
    x = torch.randn(steps, batch, INPUTS, device=device)
    hx = [torch.randn(1, batch, 9, device=device) for _ in range(2)]
    y, h, c = baracuda.lstm(x, hx, params)
    assert y.shape == (steps, batch, 9)
    if steps == 0:
        assert same(h, hx[0])
        assert same(c, hx[1])
    dx, *dhx = baracuda.lstm_backward(torch.ones_like(y), x, hx, params, dh_n=torch.ones_like(h))
    assert dx.shape == x.shape
    if steps == 0:
        assert (dhx[0] == 1).all()
    if 0 in (steps, batch):
        assert all((p == 0).all() for p in dhx[2:])


def test_errors() -> None:
    x, hx, params = drawn("lstm", 9, B, torch.float32, "cpu")
    with baracuda.preferring(baracuda.PlanPreference(math=MathPrecision.BF16)), pytest.raises(UnsupportedError, match="bf16"):
        baracuda.lstm(x, hx, params)
    with baracuda.preferring(wish(23)), pytest.raises(UnsupportedError, match="int23"):
        baracuda.lstm(x.double(), [t.double() for t in hx], [t.double() for t in params])
    with pytest.raises(InvalidProblemError, match="params: 3 tensors; expected 4 for each of 1"):
        baracuda.lstm(x, hx, params[:3])
    with pytest.raises(InvalidProblemError, match=r"params\[0\]: w_ih has shape \(36, 5\); expected \(36, 4\)"):
        baracuda.lstm(x[..., :4], hx, params)
    with pytest.raises(InvalidProblemError, match=r"hx\[0\]: shape is \(1, 6, 9\); expected \(1, 7, 9\)"):
        baracuda.lstm(x, [hx[0][:, 1:], hx[1]], params)
    with pytest.raises(InvalidProblemError, match=r"hx: 1 tensors; expected 2"):
        baracuda.lstm(x, hx[:1], params)
    with pytest.raises(InvalidProblemError, match="lengths"):
        baracuda.lstm(x, hx, params, lengths=torch.ones(3, dtype=torch.int64))
    with pytest.raises(InvalidProblemError, match=r"activations: 1; expected 3"):
        baracuda.lstm(x, hx, params, activations=("tanh",))
    gates = [params[0], params[1][:, :4], *params[2:]]
    with pytest.raises(InvalidProblemError, match="num_heads: 2; expected a divisor"):
        baracuda.slstm(x, None, gates, num_heads=2)
    with pytest.raises(InvalidProblemError, match=r"saved: 1 tensors; expected the 2"):
        baracuda.lstm_backward(torch.zeros(T, B, 9), x, hx, params, y=torch.zeros(T, B, 9), saved=hx[:1])
    with pytest.raises(InvalidProblemError, match=r"params\[1\]: w_hh has shape \(36,\)"):
        baracuda.lstm(x, hx, [params[0], params[2], *params[2:]])
    with pytest.raises(InvalidProblemError, match="peepholes: 0 tensors; expected 1"):
        baracuda.lstm(x, hx, params, peepholes=[])
    with pytest.raises(InvalidProblemError, match="dy: None"):
        baracuda.lstm_backward(None, x, hx, params)
