"""Advantages of a policy's steps."""

from __future__ import annotations

from baracuda.formula.expr import Expr, cast, select
from baracuda.formula.scans import linear_recurrence
from baracuda.ops.declaration.op import op
from baracuda.ops.declaration.traced import Own, UnitInterval


@op(rows=True, results=("y", "returns"))
def gae_advantage(
    rewards: Expr,
    values: Expr,
    next_values: Expr,
    done: Own | None = None,
    *,
    gamma: UnitInterval = 0.99,
    lam: UnitInterval = 0.95,
) -> dict[str, Expr]:
    """Generalised advantage estimation (Schulman et al. 2016) along the axis of time, and the returns, y + values:

        delta_t = rewards_t + gamma * next_values_t * (1 - done_t) - values_t
        y_t     = delta_t + gamma * lam * (1 - done_t) * y_(t+1)

    `next_values` are the values one step later (a view of the same memory, where they lie in one); `done` (bool or numbers 0
    and 1) marks the last step of an episode.
    """
    factor = gamma if done is None else select(cast(done, rewards.kind) > 0.0, 0.0, gamma)
    delta = rewards + factor * next_values - values
    y = linear_recurrence(factor * lam, delta, reverse=True)
    return {"y": y, "returns": y + values}
