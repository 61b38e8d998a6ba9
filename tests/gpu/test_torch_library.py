"""`torch.ops.baracuda` on a GPU: the bits of the CPU, forward and backward, eager and compiled."""

from __future__ import annotations

from typing import Any

from baracuda.core.errors import Error
from tests.robustness.samples import Call

#: Without --full one of so many operators is called.
SHARE = 24


def flat(results: Any) -> list[Any]:
    if isinstance(results, (list, tuple)):
        return [t for r in results for t in flat(r)]
    return [] if results is None else [results]


def same(torch: Any, a: Any, b: Any) -> bool:
    """Whether two tensors have the same elements, zeros of the same sign, NaN where the other has NaN."""
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    a, b = (t.detach().cpu().contiguous() for t in (a, b))
    if a.is_floating_point() and a.itemsize > 1:
        nan = a.isnan()
        if not torch.equal(nan, b.isnan()):
            return False
        a, b = (torch.where(nan, 0, t) for t in (a, b))
    return bool(torch.equal(*(t.reshape(-1).view(torch.uint8) for t in (a, b))))


def slopes(torch: Any, call: Any, results: Any) -> list[Any]:
    """The gradients of a call for given ones of its results; none where there are none."""
    leaves = [t for t in call.tensors() if t.requires_grad]
    outputs = [r for r in flat(results) if r.requires_grad]
    if not leaves or not outputs:
        return []
    given = [torch.linspace(0.5, 1.5, o.numel(), dtype=torch.float64).reshape(o.shape).to(o.device, o.dtype) for o in outputs]
    try:
        return [g for g in torch.autograd.grad(outputs, leaves, given, allow_unused=True) if g is not None]
    except Error:
        return []


def test_bits_of_the_cpu(torch: Any, full: bool) -> None:
    from tests.conformance.library_calls import NotExpressedError, is_valid, operator_call, sample_names

    names = [n for n in sample_names() if "_double_" not in n and not n.startswith("empty")]
    different, called = [], 0
    for name in names[:: 1 if full else SHARE]:
        for sample in sample_names()[name]:
            made: Call = sample.make()
            if not is_valid(made):
                continue
            try:
                calls = [operator_call(made, device=device) for device in ("cpu", "cuda")]
            except NotExpressedError:
                continue
            results = [c.operator(*c.arguments, **c.keywords) for c in calls]
            both = [[*flat(r), *slopes(torch, c, r)] for c, r in zip(calls, results, strict=True)]
            called += 1
            if len(both[0]) != len(both[1]) or not all(same(torch, a, b) for a, b in zip(*both, strict=True)):
                different.append(sample.name)
            if any(t.device.type != "cuda" for t in both[1]):
                different.append(f"{sample.name}: on the CPU")
            break
    assert called
    assert not different


def test_a_compiled_program_has_the_bits_of_the_cpu(torch: Any) -> None:
    import baracuda.torch  # noqa: F401

    ops = torch.ops.baracuda

    def program(x: Any, w: Any, scale: Any) -> Any:
        y = ops.gelu(ops.linear(ops.rms_norm(x, scale), w))
        return ops.sum(ops.softmax(y, axis=-1) * y, axis=0)

    torch.manual_seed(0)
    drawn = [torch.randn(*shape) for shape in ((33, 48), (64, 48), (48,))]
    found = []
    for device in ("cpu", "cuda"):
        for compiled in (False, True):
            torch._dynamo.reset()
            leaves = [t.to(device).requires_grad_() for t in drawn]
            function = torch.compile(program, backend="aot_eager", fullgraph=True) if compiled else program
            y = function(*leaves)
            found.append([y, *torch.autograd.grad(y.square().sum(), leaves)])
    for other in found[1:]:
        assert same(torch, found[0][0], other[0])
    for eager, compiled in (found[:2], found[2:]):
        assert all(same(torch, a, b) for a, b in zip(eager, compiled, strict=True))
