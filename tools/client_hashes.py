"""Bits of models of transformers in the mode: `python -m tools.client_hashes [--device cuda] [--write]`.

A line for each client and program: its hash, the largest error of logits against float64 beside PyTorch's own, and milliseconds.
The hashes that are known are in tests/conformance/clients.json.
"""

from __future__ import annotations

import argparse
import json
import logging
import warnings
from collections.abc import Callable, Iterator
from time import perf_counter
from typing import Any

import baracuda.torch as bt
from tests.conformance import clients
from tests.conformance.clients import CLASSIFYING, CLIENTS, ELEMENTS, GENERATIONS, HASHES, TRAININGS


def inference(name: str, element: str, attention: str, device: str) -> tuple[Any, str]:
    """Logits, and what they are away from float64, in parts of the largest, beside PyTorch's."""
    own = ELEMENTS[element]
    model = clients.made(name, attention).to(device=device, dtype=own)
    given = clients.on(device, clients.inputs(name, element=own))
    with bt.reproducible():
        ours = clients.logits(model, given)
    theirs = clients.logits(model, given)
    want = clients.logits(model.double(), {n: v.double() if v.is_floating_point() else v for n, v in given.items()})
    error, other = ((y - want).abs().max() / want.abs().max() for y in (ours, theirs))
    return [ours], f"error {error:.1e}, PyTorch's {other:.1e}"


def training(name: str, how: str, device: str) -> tuple[Any, str]:
    """Parameters after ten steps, and the first and last loss."""
    model, losses = clients.trained(name, TRAININGS[how], device)
    return clients.parameters(model), f"loss {losses[0]:.3f} to {losses[-1]:.3f}"


def generation(name: str, how: str, element: str, device: str) -> tuple[Any, str]:
    """Tokens, and how many are not PyTorch's."""
    own = ELEMENTS[element]
    model = clients.made(name).to(device=device, dtype=own)
    given = clients.on(device, clients.inputs(name, element=own))
    with bt.reproducible():
        ours = clients.generated(model, given, how)
    theirs = clients.generated(model, given, how)
    return [ours], "" if how == "sampled" else f"{(ours != theirs).sum()} tokens are not PyTorch's"


def programs(name: str, device: str) -> Iterator[tuple[str, Callable[[], tuple[Any, str]]]]:
    """What a client is asked for."""
    for element in ELEMENTS:
        for attention in clients.ATTENTIONS:
            yield f"logits {element} {attention}", lambda e=element, a=attention: inference(name, e, a, device)
    for how in TRAININGS:
        yield f"training {how}", lambda h=how: training(name, h, device)
    if name not in CLASSIFYING:
        for element in ("f32", "bf16"):
            for how in GENERATIONS:
                yield f"{how} {element}", lambda h=how, e=element: generation(name, h, e, device)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--write", action="store_true", help="write the file anew")
    parser.add_argument("--only", default="", help="programs with this in their name")
    parser.add_argument("--brief", action="store_true", help="print what differs or fails alone")
    parser.add_argument("--whole", action="store_true", help="print whole hashes")
    parser.add_argument("clients", nargs="*")
    options = parser.parse_args()
    warnings.filterwarnings("ignore")
    logging.disable(logging.WARNING)
    known = clients.HASHES_KNOWN
    same = 0
    for name in options.clients or CLIENTS:
        for program, run in programs(name, options.device):
            if options.only not in program:
                continue
            key, began = f"{name} {program}", perf_counter()
            try:
                tensors, note = run()
            except Exception as error:  # one client's failure is a line of the table
                cause = error.__cause__ or error
                print(f"{key:32} FAILS {type(cause).__name__}: {str(cause)[:250]}", flush=True)
                continue
            found = clients.digest(*tensors)
            expected = clients.known(key, options.device)
            verdict = "new" if expected is None else "as known" if expected == found else "DIFFERS"
            same += verdict == "as known"
            if options.write:
                known[key] = found
            if not options.brief or verdict != "as known":
                shown, spent = found if options.whole else found[:12], 1e3 * (perf_counter() - began)
                print(f"{key:32} {shown} {verdict:8} {note}, {spent:.0f} ms", flush=True)
    print(f"{same} as known")
    if options.write:
        HASHES.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()
