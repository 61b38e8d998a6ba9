"""The plans of what SciPy computes: lifecycle, promises, layouts, elements, refusals."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
import scipy.special
import torch

import baracuda
from baracuda.core.device import Device, Stream
from baracuda.core.errors import InvalidProblemError, UnsupportedError, WorkspaceTooSmallError
from baracuda.core.sku import BackendKind, PlanPreference
from baracuda.core.workspace import Workspace
from baracuda.frontends.families import function

A, B = np.array([0.5, 1.5, 2.5, 3.0]), np.array([[1.0], [2.0], [3.0]])
C, X = np.array([3.25]), np.linspace(-0.9, 0.9, 12).reshape(3, 4)


def test_lifecycle():
    descriptor = function("hyp2f1").describe(A, B, C, X)
    plan = baracuda.Hyp2f1Plan.select(None, descriptor)
    y = np.full_like(X, np.nan)
    args = baracuda.Hyp2f1Args(A, B, C, X, y)
    assert plan.can_implement(args) is None
    with pytest.raises(WorkspaceTooSmallError):
        plan.run(None, None, args)
    assert np.isnan(y).all()
    plan.run(None, Workspace.allocate(plan.workspace_size()), args)
    assert np.array_equal(y, scipy.special.hyp2f1(A, B, C, X))
    y[:] = np.nan
    plan.bind(None, Workspace.allocate(plan.workspace_size()), args)()
    assert np.array_equal(y, scipy.special.hyp2f1(A, B, C, X))
    with pytest.raises(InvalidProblemError, match="shape is"):
        plan.run(None, None, baracuda.Hyp2f1Args(A, B, C, X.T, y))


def test_promises():
    descriptor = function("hyp2f1").describe(A, A, A, A)
    plan = baracuda.Hyp2f1Plan.select(None, descriptor)
    promised = plan.precision_guarantee()
    assert plan.sku().backend is BackendKind.SCIPY
    assert promised.deterministic
    assert promised.batch_invariant
    assert promised.bit_stable_on_same_hardware
    assert not promised.bit_stable_across_hardware
    with pytest.raises(UnsupportedError, match="it is not bit_stable_across_hardware"):
        baracuda.Hyp2f1Plan.select(None, descriptor, PlanPreference(require={"bit_stable_across_hardware"}))
    with pytest.raises(UnsupportedError, match="the preference asks for formula-cpu"):
        baracuda.Hyp2f1Plan.select(None, descriptor, PlanPreference(backend=BackendKind.FORMULA_CPU))


def test_a_gpu_is_refused():
    descriptor = function("hyp2f1").describe(A, A, A, A)
    (candidate,) = baracuda.Hyp2f1Plan.candidates(Stream(Device.cuda(0)), descriptor)
    assert candidate.reason_refused is not None
    assert "copy the tensors to the CPU" in candidate.reason_refused
    with pytest.raises(UnsupportedError, match="SciPy computes on the CPU only"):
        baracuda.Hyp2f1Plan.select(Stream(Device.cuda(0)), descriptor)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16, ml_dtypes.bfloat16])
def test_elements(dtype):
    a, x = A.astype(dtype), (X / 4.0).astype(dtype)
    exact = scipy.special.hyp2f1(*(v.astype(np.float64) for v in (a, a, a + 1, x)))
    got = baracuda.hyp2f1(a, a, a + 1, x)
    assert got.dtype == dtype
    unit = float(ml_dtypes.finfo(dtype).eps)
    assert np.all(abs(got.astype(np.float64) - exact) <= unit * (2.0 * exact + unit))


def test_layouts():
    wide = np.full((6, 8), np.nan)
    x = wide[::-2, 1::2]
    x[:] = X
    assert np.array_equal(baracuda.hyp2f1(A[::-1], B, C, x), scipy.special.hyp2f1(A[::-1], B, C, X))
    out = np.full((4, 3), np.nan)
    baracuda.hyp2f1(A, B, C, X, out=out.T)
    assert np.array_equal(out.T, scipy.special.hyp2f1(A, B, C, X))
    assert baracuda.hyp2f1(A[:0], B, C, X[:, :0]).shape == (3, 0)
    assert np.array_equal(baracuda.hyp2f1(1.5, 2.5, 3.5, X), scipy.special.hyp2f1(1.5, 2.5, 3.5, X))
    assert torch.equal(baracuda.hyp2f1(*map(torch.from_numpy, (A, B, C, X))), torch.from_numpy(scipy.special.hyp2f1(A, B, C, X)))


def test_rows_do_not_depend_on_their_neighbours():
    rng = np.random.default_rng(0)
    a, x = rng.uniform(0.1, 20, (2, 257)), rng.uniform(-0.9, 0.9, 257)
    whole = baracuda.hyp2f1(a, 1.5, 2.5, x)
    assert all(baracuda.hyp2f1(a[:, i], 1.5, 2.5, x[i : i + 1]).tobytes() == whole[:, i].tobytes() for i in range(257))


def test_complex():
    z = X + 1j * X[::-1]
    w = scipy.special.wofz(z)
    assert np.array_equal(baracuda.wofz(z), w)
    assert np.array_equal(baracuda.wofz(z.T), w.T)
    slope = 2j / np.sqrt(np.pi) - 2 * z * w
    np.testing.assert_allclose(baracuda.wofz_backward(z, z), z * np.conj(slope), rtol=1e-13)
    assert np.array_equal(baracuda.loggamma(z), scipy.special.loggamma(z))
    np.testing.assert_allclose(baracuda.loggamma(X), scipy.special.loggamma(X), rtol=1e-14)
    assert baracuda.LoggammaPlan.select(None, function("loggamma").describe(X)).sku().backend is BackendKind.FORMULA_CPU


def test_gradients_are_summed_over_what_was_broadcast():
    dx = baracuda.hyp2f1_backward(np.ones((3, 4)), A, B, C, X[0], wrt=["x"])
    np.testing.assert_allclose(dx, (A * B / C * scipy.special.hyp2f1(A + 1, B + 1, C + 1, X[0])).sum(0), rtol=1e-14)


def test_gradients_there_are_not():
    with pytest.raises(UnsupportedError, match="hyp2f1 has no derivative by argument 0"):
        baracuda.hyp2f1_backward(A, A, A, A, A, wrt=["a"])


def test_catalogue_says_so():
    entries = {e.row.op: e for e in baracuda.catalogue()}
    assert all("scipy" in entries[op].guarantee for op in ("hyp2f1", "wofz", "loggamma"))
    assert all("scipy" not in entries[op].guarantee for op in ("exp1", "igamma", "igammac", "betainc", "hyp1f1"))
