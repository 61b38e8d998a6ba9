"""What is done to lists of tensors around a step: gradients limited by their norm, masters rounded to a model's parameters."""

from __future__ import annotations

from typing import Annotated, Any

from baracuda.core.bounds import AtLeast
from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.frontends.call import describe, public
from baracuda.frontends.declared import declared
from baracuda.frontends.multi_tensor import applied
from baracuda.frontends.parts import of_parts
from baracuda.ops.declaration.words import Dtype
from baracuda.ops.elementwise.conversions import cast
from baracuda.ops.optimizers.norms import clipped

_Limit = Annotated[float, AtLeast(0)]


@of_parts
@declared(grads="list ... : float")
def clip_grad_norm(
    grads: Any,
    max_norm: _Limit,
    p: float = 2.0,
    *,
    error_if_nonfinite: bool = False,
    in_place: bool = False,
    out: Any = None,
) -> tuple[Any, list[Any]]:
    """A list of gradients limited by the norm of them all: each times min(max_norm / (norm + 1e-6), 1).

    Returns the norm before, which is `grad_norm` of order p, and the gradients: new tensors, those of `out`, or with
    in_place=True the very list. The factor is computed in the kind that a gradient computes in, and multiplied to each element,
    also where it is 1 (a norm that is infinite gives gradients of 0 and NaN, one that is NaN gives NaN; error_if_nonfinite=True
    raises `InvalidProblemError` before anything is written, for which the host waits). All is a few launches, however many
    tensors there are, and max_norm may change from call to call without another compilation. The same bits on every device.

    Source: torch.nn.utils.clip_grad_norm_.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> grads = [np.array([3.0, 0.0]), np.array([[4.0]])]
    >>> norm, _ = baracuda.clip_grad_norm(grads, 1.0, in_place=True)
    >>> float(norm), [g.round(3).tolist() for g in grads]
    (5.0, [[0.6, 0.0], [[0.8]]])
    """
    norm = public("grad_norm")(grads, p=p, error_if_nonfinite=error_if_nonfinite)
    written = None if out is None else (out,)
    return norm, applied(clipped, (grads, norm), {"max_norm": max_norm}, written, in_place)


@of_parts
@declared(masters="list ... : float")
def master_weight_cast(masters: Any, dtype: Dtype = None, *, out: Any = None) -> list[Any]:
    """Master weights in a model's element: each tensor of a list rounded to `dtype`, to nearest even, or into a tensor of `out`.

    With `out`, a list of tensors of the same shapes and any elements, dtype may be left out. All is one launch for each pair of
    elements. The steps with a tensor `model_param` (`adamw_step`, ...) write it in the same pass as the master, which costs less.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> params = [np.zeros(2, np.float16), np.zeros(1, np.float64)]
    >>> _ = baracuda.master_weight_cast([np.float32([0.1, 1]), np.float32([2])], out=params)
    >>> [p.tolist() for p in params]
    [[0.0999755859375, 1.0], [2.0]]
    """
    if dtype is None and out is None:
        raise InvalidProblemError("dtype: None; expected an element, or tensors in out")
    if out is None:
        return list(applied(cast, (masters,), {"dtype": dtype}))
    if not isinstance(out, (list, tuple)) or len(out) != len(masters):
        raise InvalidProblemError(f"out: {type(out).__name__}; expected a list of as many tensors as masters has")
    groups: dict[ElementKind, list[int]] = {}
    for i, t in enumerate(out):
        own = describe(t, f"out[{i}]").kind
        if dtype is not None and own is not dtype:
            raise InvalidProblemError(f"out[{i}]: element is {own}; expected {dtype}")
        groups.setdefault(own, []).append(i)
    for own, items in groups.items():
        applied(cast, ([masters[i] for i in items],), {"dtype": own}, ([out[i] for i in items],))
    return list(out)
