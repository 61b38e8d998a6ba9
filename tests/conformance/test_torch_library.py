"""`torch.ops.baracuda`: what PyTorch asks of operators, `torch.library.opcheck`, and programs with them compiled and exported."""

from __future__ import annotations

import io
from collections import Counter
from typing import Any

import numpy as np
import pytest
import torch

import baracuda
import baracuda.torch as bt
from baracuda.core.errors import UnsupportedError
from baracuda.torch.library import functions, gradients, register, schemas
from baracuda.torch.library.exceptions import LEFT_OUT
from tests.conformance.library_calls import (
    NO_CALL,
    NOT_CHECKED,
    NotExpressedError,
    OperatorCall,
    is_valid,
    operator_call,
    sample_names,
)

OPS = torch.ops.baracuda
CHECKS = ("test_schema", "test_autograd_registration", "test_faketensor", "test_aot_dispatch_dynamic")
#: Without --full one of so many operators is checked.
SHARE = 64
_FLOAT8 = (torch.float8_e4m3fn, torch.float8_e5m2)


def calls(name: str, most: int, samples: dict[str, list[Any]], gradients_too: bool = True) -> list[OperatorCall]:
    """Valid calls of an operator."""
    found: list[OperatorCall] = []
    for sample in samples[name]:
        call = sample.make()
        if len(found) == most or not is_valid(call):
            continue
        try:
            found.append(operator_call(call, gradients_too=gradients_too))
        except NotExpressedError:
            continue
    return found


def checked(call: OperatorCall, check: str) -> str:
    """What a check of PyTorch's says of a call: "" where all is well."""
    answer = torch.library.opcheck(call.operator, call.arguments, call.keywords, test_utils=check, raise_exception=False)[check]
    if answer == "SUCCESS":
        return ""
    if isinstance(answer, (UnsupportedError, NotImplementedError)):
        return f"unsupported: {answer}"
    if "are different in eager-mode" in str(answer) and _same_but_for_nan(call):
        return ""
    return f"{type(answer).__name__}: {answer}"


def _same_but_for_nan(call: OperatorCall) -> bool:
    """Whether a compiled call gives what an eager one does, NaN included, which PyTorch's check takes for different."""
    torch._dynamo.reset()
    compiled = torch.compile(lambda *a: call.operator(*a, **call.keywords), backend="aot_eager", dynamic=True)
    found = []
    for function in (lambda *a: call.operator(*a, **call.keywords), compiled):
        results = _flat(function(*call.arguments))
        leaves = [t for t in call.tensors() if t.requires_grad]
        outputs = [r.sum() for r in results if r.requires_grad]
        slopes = torch.autograd.grad(outputs, leaves, allow_unused=True) if outputs else ()
        found.append([*results, *(s for s in slopes if s is not None)])
    nan = any(bool(t.isnan().any()) for t in found[0])
    return nan and all(torch.allclose(a, b, rtol=0, atol=0, equal_nan=True) for a, b in zip(*found, strict=True))


def outcomes(name: str, most: int, samples: dict[str, list[Any]]) -> dict[str, str]:
    """What each check says of an operator: "" where all is well, else the first complaint."""
    found: dict[str, str] = {}
    plain = calls(name, most, samples, gradients_too=False)
    for i, call in enumerate(calls(name, most, samples)):
        for check in CHECKS:
            if (name, check) in NOT_CHECKED or (check == "test_schema" and any(t.dtype in _FLOAT8 for t in call.tensors())):
                continue  # PyTorch's own check has no arithmetic for them
            said = checked(call, check)
            if said.startswith("unsupported: "):  # a gradient that has none itself says so
                said = checked(plain[i], check)
            found[check] = found.get(check) or said
    return found


@pytest.fixture(scope="module")
def samples() -> dict[str, list[Any]]:
    return sample_names()


# --- what there is ------------------------------------------------------------------------------------------------------


def test_every_function_is_an_operator_or_has_a_reason() -> None:
    public = [n for n in dir(baracuda) if callable(getattr(baracuda, n)) and not isinstance(getattr(baracuda, n), type)]
    assert not [n for n in LEFT_OUT if n not in public]
    for name in public:
        if name in LEFT_OUT:
            with pytest.raises(AttributeError, match=name):
                getattr(OPS, name)
            continue
        for overload in schemas.overloads(name):
            parsed = torch._C.parse_schema(str(overload))
            own = [a.name for keyword in (False, True) for a in overload.arguments if a.keyword is keyword]
            assert parsed.name == name
            assert [a.name for a in parsed.arguments] == own


def test_names_of_overloads_are_data_of_the_function() -> None:
    assert {o.name for o in schemas.overloads("mul")} == {"", "a", "b"}
    assert {o.name for o in schemas.overloads("conv2d")} == {"", "padding"}
    assert [o.results for o in schemas.overloads("layer_norm")] == [1, 3]
    assert str(schemas.overloads("gelu")[0]) == 'gelu(Tensor x, str approximate="none") -> Tensor'


def test_the_namespace_knows_names_and_refuses_others() -> None:
    assert {"gelu", "gelu_backward", "matmul"} <= set(dir(OPS))
    assert "fuse" not in dir(OPS)
    with pytest.raises(AttributeError, match="no attribute 'gelou'"):
        OPS.gelou  # noqa: B018
    with pytest.raises(AttributeError, match="takes a function"):
        OPS.flex_attention  # noqa: B018


def test_registered_operators_are_known_to_the_dispatcher() -> None:
    bt.register_ops(["digamma"])
    assert torch._C._jit_get_schemas_for_operator("baracuda::digamma")
    with pytest.raises(UnsupportedError, match="Python"):
        bt.register_ops(["item"])


# --- opcheck ------------------------------------------------------------------------------------------------------------


def _sampled(full: bool) -> list[str]:
    return list(register.names())[:: 1 if full else SHARE]


def test_opcheck(full: bool, samples: dict[str, list[Any]]) -> None:
    """All four checks of `torch.library.opcheck` on an operator's own examples; with --full on all operators, with a table."""
    passed: Counter[str] = Counter()
    failures: list[str] = []
    without: list[str] = []
    for name in _sampled(full):
        found = outcomes(name, 2 if full else 1, samples) if name in samples else {}
        if not found:
            without.append(name)
        passed.update(check for check, said in found.items() if not said)
        failures += [f"{name}: {check}: {said}" for check, said in found.items() if said]
    print(f"\n{len(_sampled(full))} operators, {len(without)} without a call")
    for check in CHECKS:
        print(f"{check:30} {passed[check]}")
    assert not failures, "\n".join(failures)
    assert not [n for n in without if n not in NO_CALL]


def test_an_operator_that_lies_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    from baracuda.torch.library import fake

    wrong = fake.described
    monkeypatch.setattr(fake, "described", lambda shape, *a, **k: wrong((*shape[:-1], shape[-1] + 1), *a, **k))
    x = torch.ones(3, 4)
    with pytest.raises(Exception, match=r"shape|size|mismatch"):
        torch.library.opcheck(OPS.tanh.default, (x,), test_utils="test_faketensor")


# --- derivatives --------------------------------------------------------------------------------------------------------

GRADIENTS: dict[str, Any] = {
    "gelu": lambda x, w, b: OPS.gelu(x, approximate="tanh"),
    "layer_norm": OPS.layer_norm,
    "linear": lambda x, w, b: OPS.linear(x, torch.stack([w, b]), activation="silu"),
    "softmax": lambda x, w, b: OPS.softmax(x * w, axis=0),
    "attention": lambda x, w, b: OPS.scaled_dot_product_attention(
        *(t.reshape(1, 1, 3, 4) for t in (x, x * w, x + b)), causal=True
    ),
    "sort": lambda x, w, b: OPS.sort(x, axis=-1),
    "concat": lambda x, w, b: OPS.concat([x, (w * b).reshape(1, 4)], axis=0),
    "unbind": lambda x, w, b: [t * i for i, t in enumerate(OPS.unbind(x, axis=0))],
    "einsum": lambda x, w, b: OPS.einsum("ij,j->i", [x, w]),
    "lstm": lambda x, w, b: OPS.lstm(
        x.reshape(3, 1, 4), [w[:1].reshape(1, 1, 1), b[:1].reshape(1, 1, 1)], [x[:1].expand(4, 4), *[w.reshape(4, 1)], w, b]
    ),
    "where": lambda x, w, b: OPS.where(x > 0, w, 0.0) + OPS.mul(2.0, b),
    "topk": lambda x, w, b: OPS.topk(x, 2)[0],
    "std": lambda x, w, b: OPS.std_mean(x, axis=0),
}


@pytest.mark.parametrize("name", GRADIENTS)
def test_gradients(name: str) -> None:
    torch.manual_seed(0)
    x, w, b = (torch.randn(*s, dtype=torch.float64, requires_grad=True) for s in ((3, 4), (4,), (4,)))
    again = name in ("gelu", "layer_norm", "softmax", "where")
    assert torch.autograd.gradcheck(GRADIENTS[name], (x, w, b), atol=1e-6)
    if again:
        assert torch.autograd.gradgradcheck(GRADIENTS[name], (x, w, b), atol=1e-5)


def test_gradients_that_are_not_needed_are_not_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []
    own = gradients.Call._backward
    monkeypatch.setattr(gradients.Call, "_backward", lambda self, values: (asked.append(values.get("wrt")), own(self, values))[1])
    x, w = torch.ones(3, 4, requires_grad=True), torch.ones(4, 5)
    OPS.matmul(x, w).sum().backward()
    assert asked == [["a"]]


def test_what_has_no_gradient_says_so() -> None:
    x = torch.ones(3, requires_grad=True)
    with pytest.raises(UnsupportedError, match="baracuda::nextafter has no gradient"):
        OPS.nextafter(x, x).sum().backward()
    (slope,) = torch.autograd.grad(OPS.embedding(torch.tensor([0, 1]), x.reshape(3, 1)).sum(), x, create_graph=True)
    assert torch.equal(slope, torch.tensor([1.0, 1.0, 0.0]))


# --- compiled and exported ----------------------------------------------------------------------------------------------


class Block(torch.nn.Module):
    """Some operators, one after the other."""

    def __init__(self) -> None:
        super().__init__()
        self.weight, self.out = torch.nn.Parameter(torch.randn(12, 8)), torch.nn.Parameter(torch.randn(8, 4))
        self.scale = torch.nn.Parameter(torch.ones(8))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        q, k, v = OPS.split(OPS.linear(OPS.rms_norm(x, self.scale), self.weight), 4, axis=-1)
        y = OPS.scaled_dot_product_attention(q.unsqueeze(1), k.unsqueeze(1), v.unsqueeze(1), causal=True).squeeze(1)
        return OPS.mean(OPS.gelu(OPS.linear(y, self.out)) + x, axis=-1)


@pytest.fixture
def block() -> Block:
    torch.manual_seed(1)
    return Block()


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_compiled(block: Block, backend: str) -> None:
    torch._dynamo.reset()
    compiled = torch.compile(block, backend=backend, fullgraph=True, dynamic=True)
    for n in (3, 5):
        x = torch.randn(2, n, 8)
        expected, found = block(x), compiled(x)
        assert torch.equal(expected, found)
        slopes = [torch.autograd.grad(y.square().sum(), block.parameters()) for y in (expected, found)]
        assert all(map(torch.equal, *slopes))


def test_compiled_with_the_library_s_backend(block: Block) -> None:
    from baracuda.torch.compiled.backend import baracuda_backend

    torch._dynamo.reset()
    x = torch.randn(2, 3, 8)
    with bt.reproducible():
        expected = block(x)
        slopes = torch.autograd.grad(expected.square().sum(), block.parameters())
    found = torch.compile(block, backend=baracuda_backend, fullgraph=True)(x)
    assert torch.equal(expected, found)
    assert all(map(torch.equal, slopes, torch.autograd.grad(found.square().sum(), block.parameters())))


def test_one_program_for_all_sizes() -> None:
    torch._dynamo.reset()
    counter = torch._dynamo.testing.CompileCounterWithBackend("aot_eager")

    def program(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        return OPS.sum(OPS.softmax(OPS.gelu(OPS.matmul(x, w)), axis=-1) * OPS.layer_norm(OPS.matmul(x, w)), axis=0)

    compiled = torch.compile(program, backend=counter, fullgraph=True, dynamic=True)
    w = torch.randn(6, 5, requires_grad=True)
    for n in (3, 4, 7, 11):
        x = torch.randn(n, 6)
        assert torch.equal(compiled(x, w), program(x, w))
        assert torch.equal(*(torch.autograd.grad(f(x, w).sum(), w)[0] for f in (compiled, program)))
    assert counter.frame_count == 1


def test_one_network_for_all_batches() -> None:
    torch._dynamo.reset()
    counter = torch._dynamo.testing.CompileCounterWithBackend("aot_eager")
    weight, scale = torch.randn(6, 3, 3, 3, requires_grad=True), torch.ones(6)

    def network(x: torch.Tensor) -> torch.Tensor:
        y = OPS.max_pool2d(OPS.silu(OPS.group_norm(OPS.conv2d(x, weight, padding=1), scale, scale, num_groups=3)), 2)
        q, k, v = OPS.split(OPS.concat([y, y, y], axis=1), 6, axis=1)
        return OPS.mean(OPS.scaled_dot_product_attention(q, k, v), axis=[1, 2, 3])

    compiled = torch.compile(network, backend=counter, fullgraph=True)
    for n in (3, 5, 6):
        x = torch.randn(n, 3, 8, 8)
        torch._dynamo.mark_dynamic(x, 0)
        assert torch.equal(compiled(x), network(x))
        assert torch.equal(*(torch.autograd.grad(f(x).sum(), weight)[0] for f in (compiled, network)))
    assert counter.frame_count == 1


def test_extents_that_follow_from_values() -> None:
    torch._dynamo.reset()

    def program(x: torch.Tensor) -> torch.Tensor:
        return OPS.relu(OPS.masked_select(x, x > 0) - 1.0)

    with torch._dynamo.config.patch(capture_dynamic_output_shape_ops=True):
        compiled = torch.compile(program, backend="aot_eager", fullgraph=True)
        for seed in range(3):
            x = torch.from_numpy(np.random.default_rng(seed).standard_normal((4, 5)).astype(np.float32))
            assert torch.equal(compiled(x), program(x))


def test_exported_saved_and_loaded(block: Block) -> None:
    x = torch.randn(2, 3, 8)
    exported = torch.export.export(block, (x,), strict=False)
    names = {str(node.target) for node in exported.graph.nodes if node.op == "call_function"}
    assert {"baracuda.linear.default", "baracuda.scaled_dot_product_attention.default"} <= names
    held = io.BytesIO()
    torch.export.save(exported, held)
    held.seek(0)
    assert torch.equal(torch.export.load(held).module()(x), block(x))


def test_exported_with_a_batch_of_any_size() -> None:
    class Layer(torch.nn.Module):
        def forward(self, x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
            return OPS.softmax(OPS.matmul(x, w), axis=-1)

    batch = torch.export.Dim("batch", min=2, max=64)
    w = torch.randn(6, 5)
    exported = torch.export.export(Layer(), (torch.randn(3, 6), w), dynamic_shapes=({0: batch}, None))
    x = torch.randn(17, 6)
    assert torch.equal(exported.module()(x, w), OPS.softmax(OPS.matmul(x, w)))


# --- transforms, modes, bits --------------------------------------------------------------------------------------------


def test_vmap() -> None:
    x, w = torch.randn(4, 3, 5), torch.randn(5, 5)
    assert torch.equal(torch.vmap(OPS.gelu)(x), OPS.gelu(x))
    assert torch.equal(torch.vmap(lambda a: OPS.softmax(a, axis=0))(x), OPS.softmax(x, axis=1))
    assert torch.equal(torch.vmap(OPS.sum)(x), OPS.sum(x, axis=[1, 2]))
    assert torch.equal(torch.vmap(lambda a: OPS.matmul(a, w))(x), OPS.matmul(x, w))
    assert torch.equal(torch.vmap(lambda a: OPS.add(a, w[0]), in_dims=1, out_dims=1)(x), OPS.add(x, w[0]))
    assert torch.equal(torch.vmap(lambda a: OPS.layer_norm(a, w[0], w[1]))(x), OPS.layer_norm(x, w[0], w[1]))
    assert torch.equal(
        torch.vmap(lambda a: OPS.sort.return_indices(a, axis=0))(x)[1], OPS.sort(x, axis=1, return_indices=True)[1]
    )
    assert torch.equal(torch.vmap(lambda a, b: OPS.concat([a, b]), (0, None))(x, w), torch.cat([x, w.expand(4, 5, 5)], 1))


def test_vmap_gives_what_a_loop_gives(full: bool, samples: dict[str, list[Any]]) -> None:
    """Each operator under `torch.vmap`, two members, against a call for each of them, in all bits."""
    different = []
    for name in list(register.names())[5 :: 1 if full else 2 * SHARE]:
        if name in schemas.WRITES or name.startswith("empty"):
            continue
        for call in calls(name, 1, samples, gradients_too=False) if name in samples else []:
            members = [_scaled(call.arguments, factor) for factor in (1, 0.5)]
            expected = [_flat(call.operator(*m, **call.keywords)) for m in members]
            if len({tuple(t.shape for t in e) for e in expected}) > 1:
                continue  # extents that follow from values
            dims = tuple(_dims(a) for a in call.arguments)
            if 0 not in (d for a in dims for d in (a if isinstance(a, list) else [a])):
                continue
            stacked = [_stacked(*both) for both in zip(*members, strict=True)]
            found = _flat(torch.vmap(lambda *a, c=call: c.operator(*a, **c.keywords), in_dims=dims)(*stacked))
            together = [torch.stack(list(ts)) for ts in zip(*expected, strict=True)]
            if not all(_same_bits(a, b) for a, b in zip(found, together, strict=True)):
                different.append(name)
    assert not different


def _flat(results: Any) -> list[torch.Tensor]:
    return [results] if isinstance(results, torch.Tensor) else list(results)


def _scaled(arguments: Any, factor: float) -> list[Any]:
    """Arguments with other values, of floats."""
    return [
        [_scaled([t], factor)[0] for t in a]
        if isinstance(a, list)
        else a * factor
        if isinstance(a, torch.Tensor) and a.is_floating_point() and a.itemsize > 1
        else a
        for a in arguments
    ]


def _dims(argument: Any) -> Any:
    if isinstance(argument, list):
        return [_dims(a) for a in argument] if any(isinstance(a, torch.Tensor) for a in argument) else None
    return 0 if isinstance(argument, torch.Tensor) and argument.is_floating_point() and argument.itemsize > 1 else None


def _stacked(first: Any, second: Any) -> Any:
    if isinstance(first, list):
        return [_stacked(a, b) for a, b in zip(first, second, strict=True)]
    return torch.stack([first, second]) if _dims(first) == 0 else first


def _same_bits(a: torch.Tensor, b: torch.Tensor) -> bool:
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    if a.itemsize == 1:
        return torch.equal(a.view(torch.uint8), b.view(torch.uint8))
    return torch.allclose(a, b, rtol=0, atol=0, equal_nan=True)


def test_functional_transforms() -> None:
    x, w = torch.randn(4, 3, 5), torch.randn(5, 5)

    def loss(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return OPS.sum(OPS.tanh(OPS.matmul(a, b)))

    each = torch.vmap(torch.func.grad(loss, argnums=1), (0, None))(x, w)
    leaf = w.clone().requires_grad_()
    loss(x, leaf).backward()
    torch.testing.assert_close(each.sum(0), leaf.grad)
    v = torch.randn(5, dtype=torch.float64)
    expected = torch.func.hessian(lambda a: torch.tanh(a).sum())(v)
    torch.testing.assert_close(torch.func.jacrev(torch.func.jacrev(lambda a: OPS.sum(OPS.tanh(a))))(v), expected)
    with pytest.raises(UnsupportedError, match="baracuda::tanh has no derivative in forward mode"):
        torch.func.jvp(OPS.tanh, (v,), (v,))


def test_under_the_mode() -> None:
    x = torch.randn(3, 4, requires_grad=True)
    with bt.reproducible() as mode:
        y = OPS.gelu(x + 1)
        y.sum().backward()
    assert torch.equal(y.detach(), torch.as_tensor(baracuda.gelu((x + 1).detach().numpy())))
    assert not mode.report().by_pytorch if hasattr(mode.report(), "by_pytorch") else True


def test_results_are_those_of_functions_and_share_no_memory() -> None:
    x = torch.randn(3, 4)
    for name, arguments in (
        ("permute", ([1, 0],)),
        ("reshape", ([4, 3],)),
        ("contiguous_copy", ()),
        ("squeeze", ()),
        ("softmax", ()),
    ):
        found = getattr(OPS, name)(x, *arguments)
        expected = getattr(baracuda, name)(x.numpy(), *map(tuple, arguments))
        assert np.array_equal(found.numpy(), expected)
        assert found.untyped_storage().data_ptr() != x.untyped_storage().data_ptr()


def test_an_argument_that_is_written() -> None:
    cache, new = torch.zeros(1, 1, 4, 2), torch.ones(1, 1, 1, 2)
    assert OPS.kv_cache_append(cache, new, 2) is None
    assert cache[0, 0, :, 0].tolist() == [0.0, 0.0, 1.0, 0.0]


def test_errors_are_the_library_s() -> None:
    with pytest.raises(baracuda.InvalidProblemError, match="approximate"):
        OPS.gelu(torch.ones(3), approximate="some")
    with pytest.raises(baracuda.InvalidProblemError, match="preference: 'quick'"):
        OPS.matmul(torch.ones(2, 2), torch.ones(2, 2), preference="quick")
    assert functions.function("gelu") is not None
