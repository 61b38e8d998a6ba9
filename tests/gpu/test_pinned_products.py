"""Products that are pinned to an architecture: a row's bits do not depend on the number of rows, whoever computes them."""

from __future__ import annotations

from typing import Any

import pytest

import baracuda as bc
from baracuda.backends import cublaslt, cublaslt_pinned

OURS, LIBRARY = bc.BackendKind.FORMULA_CUDA, bc.BackendKind.CUBLASLT
PROMISES = ["deterministic", "batch_invariant"]
PINNED = bc.PlanPreference(fastest=True, require=PROMISES)
MATH = {"bfloat16": bc.MathPrecision.BF16, "float16": bc.MathPrecision.F16}


def ours(dtype: str) -> bc.PlanPreference:
    return bc.PlanPreference(backend=OURS, math=MATH[dtype])


def theirs(dtype: str) -> bc.PlanPreference:
    return bc.PlanPreference(backend=LIBRARY, math=MATH[dtype], require=PROMISES)


def drawn(torch: Any, shape: tuple[int, ...], dtype: str, seed: int, *, turned: bool = False) -> Any:
    generator = torch.Generator(device="cuda").manual_seed(seed)
    made = torch.randn(shape, generator=generator, device="cuda").to(getattr(torch, dtype))
    return made.mT.contiguous().mT if turned else made


def bits(x: Any) -> Any:
    import torch

    return x.contiguous().view({2: torch.int16, 4: torch.int32}[x.element_size()])


def same(torch: Any, x: Any, y: Any) -> bool:
    return bool(torch.equal(bits(x), bits(y)))


def descriptor(m: int, n: int, k: int, element: Any = None, **fields: Any) -> bc.MatmulDescriptor:
    return bc.MatmulDescriptor.matmul((m, k), (k, n), element or bc.ElementKind.BF16, **fields)


@pytest.fixture
def library(torch: Any) -> None:
    pytest.importorskip("nvmath.bindings")


@pytest.mark.parametrize("preference", ["ours", "pinned", "math"])
@pytest.mark.parametrize("turned", [False, True], ids=["n contiguous", "k contiguous"])
@pytest.mark.parametrize(
    ("n", "k", "dtype"), [(1024, 2048, "bfloat16"), (768, 1000, "float16"), (100, 515, "bfloat16"), (40, 640, "bfloat16")]
)
def test_rows_are_equal_over_all_m(torch: Any, preference: str, turned: bool, n: int, k: int, dtype: str) -> None:
    wish = {"ours": ours(dtype), "pinned": PINNED, "math": bc.PlanPreference(math=MATH[dtype])}[preference]
    a, b = drawn(torch, (300, k), dtype, 0), drawn(torch, (k, n), dtype, 1, turned=turned)
    whole = bc.matmul(a, b, preference=wish)
    reference = a.double() @ b.double()
    assert (whole.double() - reference).abs().max() <= {"bfloat16": 1e-2, "float16": 2e-3}[dtype] * reference.abs().max()
    different = [m for m in range(1, 301) if not same(torch, bc.matmul(a[:m], b, preference=wish), whole[:m])]
    assert not different
    moved = [m for m in (1, 5, 16, 33, 65, 128) if not same(torch, bc.matmul(a[7 : 7 + m], b, preference=wish), whole[7 : 7 + m])]
    assert not moved


@pytest.mark.parametrize("dtype", MATH)
@pytest.mark.parametrize("turned", [(False, False), (False, True), (True, False), (True, True)], ids=str)
def test_the_library_has_our_bits(torch: Any, library: None, dtype: str, turned: tuple[bool, bool]) -> None:
    """On whole problems, and not on the samples that were tried when the plan was selected."""
    accepted = []
    for m, n, k in (
        (64, 4096, 4096),
        (100, 512, 1000),
        (128, 8192, 8192),
        (300, 1000, 776),
        (1024, 1024, 1024),
        (4096, 4096, 4096),
    ):
        a, b = drawn(torch, (m, k), dtype, 2, turned=turned[0]), drawn(torch, (k, n), dtype, 3, turned=turned[1])
        try:
            found = bc.matmul(a, b, preference=theirs(dtype))
        except bc.UnsupportedError as error:
            assert "split k" in str(error) or "multiple of" in str(error), error  # noqa: PT017  (what it says is the test)
            continue
        accepted.append((m, n, k))
        assert same(torch, found, bc.matmul(a, b, preference=ours(dtype))), (m, n, k)
    assert (1024, 1024, 1024) in accepted
    assert (4096, 4096, 4096) in accepted


def test_batches_and_strides(torch: Any) -> None:
    wish = ours("bfloat16")
    a, b = drawn(torch, (5, 40, 264), "bfloat16", 4), drawn(torch, (5, 264, 96), "bfloat16", 5)
    whole = bc.matmul(a, b, preference=wish)
    for i in range(5):
        assert same(torch, bc.matmul(a[i], b[i], preference=wish), whole[i])
        assert same(torch, bc.matmul(a[i, 3:4], b[i], preference=wish), whole[i, 3:4])
    shared = bc.matmul(a, b[0], preference=wish)
    assert same(torch, shared[0], whole[0])
    wide = drawn(torch, (80, 529), "bfloat16", 6)
    strided = wide[::2, 1::2]
    assert same(torch, bc.matmul(strided, b[0], preference=wish), bc.matmul(strided.contiguous(), b[0], preference=wish))
    off = wide[:40, 3:267]
    assert same(torch, bc.matmul(off, b[0], preference=wish), bc.matmul(off.contiguous(), b[0], preference=wish))
    assert same(torch, bc.matmul(b[0].mT, a[0].mT, preference=wish).mT, whole[0])


def test_epilogues(torch: Any, library: None) -> None:
    """What follows the sums is the same formula, within our kernel and after the library's."""
    for m in (5, 256):
        x, weight = drawn(torch, (m, 512), "bfloat16", 7), drawn(torch, (1024, 512), "bfloat16", 8)
        bias, c = drawn(torch, (1024,), "bfloat16", 9), drawn(torch, (m, 1024), "bfloat16", 10)
        own = ours("bfloat16")
        for wish in (PINNED, bc.PlanPreference(math=bc.MathPrecision.BF16)):
            assert same(torch, bc.linear(x, weight, bias, preference=wish), bc.linear(x, weight, bias, preference=own))
            first, second = (bc.addmm(c, x, weight.mT, alpha=0.5, beta=2.0, preference=p) for p in (wish, own))
            assert same(torch, first, second)
        dy = drawn(torch, (m, 1024), "bfloat16", 11)
        for first, second in zip(*(bc.linear_backward(dy, x, weight, bias, preference=p) for p in (PINNED, own)), strict=True):
            assert same(torch, first, second)


def test_what_is_chosen(torch: Any, library: None) -> None:
    stream = bc.Stream(bc.Device.cuda(0))

    def chosen(m: int, preference: bc.PlanPreference) -> tuple[bc.BackendKind, str]:
        plan = bc.MatmulPlan.select(stream, descriptor(m, 4096, 4096), preference)
        return plan.sku().backend, str(plan.precision_guarantee())

    for wish in (PINNED, bc.PlanPreference(math=bc.MathPrecision.BF16)):
        assert chosen(1, wish)[1] == chosen(4096, wish)[1] == "bf16+f32/dbs"
        assert chosen(4096, wish)[0] is LIBRARY
    assert chosen(4096, bc.PlanPreference(fastest=True)) == (LIBRARY, "bf16+f32/ds")
    assert chosen(4096, bc.PlanPreference(fastest=True, math=bc.MathPrecision.BF16)) == (LIBRARY, "bf16+f32/ds")
    assert chosen(4096, bc.PlanPreference())[1].endswith("/dbsx")
    assert chosen(4096, bc.PlanPreference(fastest=True, require=["bit_stable_across_hardware"]))[1].endswith("/dbsx")
    assert chosen(4096, ours("bfloat16")) == (OURS, "bf16+f32/dbs")


def test_refusals(torch: Any, library: None, monkeypatch: pytest.MonkeyPatch) -> None:
    stream, wish = bc.Stream(bc.Device.cuda(0)), theirs("bfloat16")
    monkeypatch.setattr(cublaslt_pinned, "_has_our_bits", lambda *_: False)
    with pytest.raises(bc.UnsupportedError, match="has the bits of the tensor cores' chain"):
        bc.MatmulPlan.select(stream, descriptor(512, 512, 512), wish)
    plan = bc.MatmulPlan.select(stream, descriptor(512, 512, 512), PINNED)
    assert plan.sku().backend is OURS
    monkeypatch.setattr(cublaslt.Algorithm, "splits_k", lambda _: True)
    with pytest.raises(bc.UnsupportedError, match="no algorithm without split k"):
        bc.MatmulPlan.select(stream, descriptor(512, 512, 512), wish)
    with pytest.raises(bc.UnsupportedError, match="an address that is a multiple of 2; expected 16"):
        bc.matmul(torch.zeros(64, 513, device="cuda", dtype=torch.bfloat16)[:, 1:], torch.zeros(512, 64, device="cuda", dtype=torch.bfloat16), preference=wish)  # fmt: skip  # noqa: E501
    with pytest.raises(bc.UnsupportedError, match="f32, and the preference asks for bf16"):
        bc.MatmulPlan.select(stream, descriptor(64, 64, 64, bc.ElementKind.F32), bc.PlanPreference(math=bc.MathPrecision.BF16))


def test_a_trial_finds_other_bits(torch: Any, library: None) -> None:
    """An algorithm that splits k, forced upon the trial, is told apart."""
    from baracuda.backends.cublaslt import Algorithm, LtCall
    from baracuda.backends.products import LibraryMatmulProblem, Matrix
    from baracuda.core.elements import ElementKind as K

    k = 8192
    problem = LibraryMatmulProblem(
        Matrix(K.BF16, 256, k, 256, False, 0),
        Matrix(K.BF16, k, 16, k, False, 0),
        Matrix(K.BF16, 256, 16, 256, False, 0),
        k,
        1,
        False,
    )
    free = LtCall(0, problem, K.F32)
    (algorithm,) = free.algorithms
    assert isinstance(algorithm, Algorithm)
    if not algorithm.splits_k():
        pytest.skip("the heuristic does not split k here")
    assert not cublaslt_pinned._tried(bc.Device.cuda(0), algorithm, problem)


def test_selected_beside_a_capture_and_unseen(torch: Any, library: None) -> None:
    """A trial takes no part in what is captured, and a call that is made again launches the product alone."""
    a, b = drawn(torch, (96, 704), "bfloat16", 12), drawn(torch, (704, 320), "bfloat16", 13)
    out = torch.empty(96, 320, device="cuda", dtype=torch.bfloat16)
    want = bc.matmul(a, b, preference=ours("bfloat16"))
    cublaslt_pinned._outcomes.clear()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        bc.matmul(a, b, out=out, preference=PINNED)
    out.zero_()
    graph.replay()
    torch.cuda.synchronize()
    assert same(torch, out, want)
    for _ in range(4):
        assert same(torch, bc.matmul(a, b, preference=PINNED), want)


@pytest.mark.parametrize("m", [1, 16, 48, 256])
def test_deterministic_over_streams(torch: Any, m: int) -> None:
    a, b = drawn(torch, (m, 4096), "bfloat16", 14), drawn(torch, (4096, 2048), "bfloat16", 15)
    torch.cuda.synchronize()
    want, streams = bc.matmul(a, b, preference=PINNED), [torch.cuda.Stream() for _ in range(3)]
    torch.cuda.synchronize()
    found = []
    for _ in range(5):
        for stream in streams:
            with torch.cuda.stream(stream):
                found.append(bc.matmul(a, b, preference=PINNED))
    torch.cuda.synchronize()
    assert all(same(torch, x, want) for x in found)
