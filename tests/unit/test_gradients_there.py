"""Every gradient that the catalogue promises is there."""

from __future__ import annotations

import baracuda


def test_every_gradient_is_there() -> None:
    promised = [e for e in baracuda.catalogue() if e.present and e.row.backward == "yes"]
    assert len(promised) > 300
    assert [e.row.op for e in promised if e.backward != f"{e.row.op}_backward"] == []
    assert all(callable(getattr(baracuda, e.backward)) for e in promised)
