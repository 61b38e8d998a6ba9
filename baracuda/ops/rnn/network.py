"""Networks of recurrent layers as steps: layers one above the other, each in one direction or in both, forward and backward."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from baracuda.core.errors import UnsupportedError
from baracuda.core.lazy import cached_property
from baracuda.core.tensor import TensorMut, TensorRef
from baracuda.core.views import axis_at, expanded_dims, slab, view
from baracuda.ops.declaration.composition import Given
from baracuda.ops.elementwise.binary_ops import mul
from baracuda.ops.elementwise.conversions import in_element
from baracuda.ops.matmul.descriptor import labelled
from baracuda.ops.matmul.plan import MatmulPlan
from baracuda.ops.random.dropouts import dropout
from baracuda.ops.random.keys import rng_fold_in
from baracuda.ops.reductions.reductions import sum_
from baracuda.ops.rnn.descriptor import RecurrentDescriptor
from baracuda.ops.rnn.network_tensors import NetworkTensors
from baracuda.ops.rnn.plan import RecurrentBackwardPlan, RecurrentPlan
from baracuda.ops.rnn.weights import STATE_GRADIENTS, STATES, Weights, split


class Network(NetworkTensors):
    """The passes of a network."""

    @cached_property
    def _scale(self) -> float:
        return 1.0 / (1.0 - self.dropout)

    def masked(self, x: TensorRef, layer: int) -> TensorRef:
        """The input of a layer but the first, of which some numbers are dropped; so are those of its gradient."""
        if self.key is not None and self.dropout > 0:
            dropped: TensorRef = dropout(self.do, x, rng_fold_in(self.do, self.key, layer), self.dropout)
            return dropped
        if self.dropout_mask is None:
            return x
        mask = axis_at(self.dropout_mask, 0, layer - 1)
        mask = self.timed(mask) if self.whole else expanded_dims(mask, (0, 2), 3)
        kept = self.do.run(mul, {"a": x, "b": self._scale}) if self.dropout < 1.0 else x
        return in_element(self.do, self.do.run(mul, {"a": kept, "b": mask}), self.kind)

    # --- forward ------------------------------------------------------------------------------------------------------

    def descriptor(self, w: Weights, reverse: bool, **fields: Any) -> RecurrentDescriptor:
        return RecurrentDescriptor(
            self.cell,
            self.steps,
            self.batch,
            self.units // self.heads,
            self.kind,
            0 if w.w_hr is None else self.hidden,
            reverse,
            None if self.lengths is None else self.lengths.kind,
            self.has_biases,
            self.hx is not None,
            **fields,
        )

    def of_head(self, tensor: Any, head: int, axis: int = -1) -> Any:
        """The numbers of a tensor that are one head's."""
        if self.heads == 1 or tensor is None:
            return tensor
        axis %= len(tensor.shape)
        n = tensor.shape[axis] // self.heads
        return slab(tensor, axis, head * n, (head + 1) * n)

    def given(self, w: Weights, number: int, head: int) -> dict[str, Any]:
        """The tensors that the plans of both directions take."""
        gates = self.cell.gates
        w_hh = self.of_head(split(w.w_hh, 0, gates), head, 1)
        tensors: dict[str, Any] = {"w_hh": w_hh, "lengths": self.lengths, "peepholes": w.peepholes}
        if w.w_hr is not None:
            tensors["w_hr"] = expanded_dims(w.w_hr, (1, 2), 3)
        return tensors | self.states(self.hx, number, head, "{}0")

    def states(self, given: Sequence[Any] | None, number: int, head: int, name: str) -> dict[str, Any]:
        """States of one direction of one layer, called as `name` says."""
        if given is None:
            return {}
        pairs = zip(STATES[self.cell.kind], given, strict=True)
        return {name.format(n): self.of_head(self.state_of(t, number), head) for n, t in pairs}

    def forward(self, *, saves: bool = False) -> tuple[Any, list[Any], list[Any]]:
        """The last layer's hidden states, the last states of all, and what a backward pass reads: of each direction of each
        layer the gates and the further states, and of each layer but the last the hidden states."""
        do = self.do
        last = [do.rows(self.state_shape(n), self.kind) for n in STATES[self.cell.kind]]
        reserve: list[Any] = []
        x, result = self.inputs, None
        count = len(self.directions)
        for layer in range(self.num_layers):
            made, y = self.new_timed(count * self.hidden)
            for direction, reverse in enumerate(self.directions):
                number = layer * count + direction
                reserve += self._forward_one(x, y, number, direction, reverse, last, saves=saves)
            result = made
            if layer + 1 < self.num_layers:
                if saves:
                    reserve.append(made)
                x = self.masked(y, layer + 1)
        return result, last, reserve

    def sums(self, x: TensorRef, w: Weights) -> Any:
        """The products of a layer's inputs, (steps, batch, gates, units)."""
        gates = self.cell.gates
        made = self.do.rows((self.steps, self.batch, gates * self.units), self.kind.compute)
        d = labelled(x, w.w_ih, "tbk", "nk", "tbn", element=self.kind.compute)
        self.do.plan(MatmulPlan, d, {"a": x, "b": w.w_ih}, made)
        return split(made, 2, gates)

    def _forward_one(
        self, x: TensorRef, y: TensorMut, number: int, direction: int, reverse: bool, last: Sequence[Any], *, saves: bool
    ) -> list[Any]:
        do, w, gates = self.do, self.weights[number], self.cell.gates
        d = self.descriptor(w, reverse, saves=saves)
        sums, biases = self.sums(x, w), {}
        if self.has_biases:
            biases = {n: split(getattr(w, n), 0, gates) for n in ("b_ih", "b_hh")}
        y = slab(y, 2, direction * self.hidden, (direction + 1) * self.hidden)
        shapes = {"gates": d.gates_shape, "states": d.states_shape} if saves else {}
        saved = {
            n: do.rows((*shape[:-1], self.units), self.kind.compute)
            for n, shape in shapes.items()
            if n == "gates" or d.saves_states
        }
        for head in range(self.heads):
            tensors = {"x": self.of_head(sums, head), **self.given(w, number, head)}
            tensors |= {n: self.of_head(b, head) for n, b in biases.items()}
            written = {"y": self.of_head(y, head), **self.states(last, number, head, "{}_n")}
            written |= {n: self.of_head(t, head) for n, t in saved.items()}
            do.plan(RecurrentPlan, d, tensors, tuple(written.get(s.name) for s in RecurrentPlan.tensors if s.written))
        return list(saved.values())

    # --- backward -----------------------------------------------------------------------------------------------------

    def backward(
        self, dy: Given, dlast: Sequence[Given] | None, y: TensorRef, reserve: Sequence[TensorRef], wrt: Sequence[str]
    ) -> dict[str, Any]:
        """The gradients of x, of the state and of the parameters, given those of the results."""
        self.check_gradients(dy, [None] * len(STATES[self.cell.kind]) if dlast is None else dlast, y, reserve)
        if self.onnx:
            raise UnsupportedError("order: 'onnx' in a backward; expected 'torch', whose gates the gradients are in the order of")
        do, count, names = self.do, len(self.directions), STATES[self.cell.kind]
        each = 1 + bool(self.cell.further)
        ys = [*(self.timed(reserve[i]) for i in range(count * each, len(reserve), count * each + 1)), self.timed(y)]
        dhx = [do.rows(self.state_shape(n), self.kind) for n in names]
        last: list[TensorRef] | None = None
        if dlast is not None:
            filled = zip(names, dlast, strict=True)
            last = [do.filled(self.state_shape(n), self.kind, 0.0) if t is None else t for n, t in filled]
        given = None if dy is None else self.timed(dy)
        dparams: list[list[Any]] = [[] for _ in self.weights]
        for layer in reversed(range(self.num_layers)):
            x = self.inputs if layer == 0 else self.masked(ys[layer - 1], layer)
            needed = layer > 0 or "x" in wrt
            made, dx = self.new_timed(x.shape[2]) if needed else (None, None)
            total: Any = None
            for direction, reverse in enumerate(self.directions):
                number = layer * count + direction
                first = layer * (count * each + 1) + direction * each
                part = slice(direction * self.hidden, (direction + 1) * self.hidden)
                given_part = None if given is None else slab(given, 2, part.start, part.stop)
                into = dx if direction + 1 == count else None
                total, dparams[number] = self._backward_one(
                    x, slab(ys[layer], 2, part.start, part.stop), given_part, last, reserve[first : first + each], number,
                    reverse, dhx, total, into, needed=needed, weights="params" in wrt,
                )  # fmt: skip
            if dx is not None and layer > 0:
                given = self.masked(dx, layer)
        found: dict[str, Any] = {"hx": dhx, "params": [t for one in dparams for t in one]}
        if "x" in wrt:
            found["x"] = made
        return found

    def _backward_one(
        self,
        x: TensorRef,
        y: TensorRef,
        dy: Given,
        dlast: Sequence[TensorRef] | None,
        saved: Sequence[TensorRef],
        number: int,
        reverse: bool,
        dhx: Sequence[Any],
        total: Any,
        target: Any,
        *,
        needed: bool,
        weights: bool,
    ) -> tuple[Any, list[Any]]:
        """The gradient of a layer's input, added to that of the direction before, and those of its parameters."""
        do, w, cell = self.do, self.weights[number], self.cell
        d = self.descriptor(w, reverse, has_dy=dy is not None, has_dh=dlast is not None)
        made: dict[str, Any] = {}
        for s in RecurrentBackwardPlan.tensors:
            if s.written and s.presence(d) and s.name not in STATE_GRADIENTS:
                shape = s.expected_shape(d)
                made[s.name] = do.rows((*shape[:-1], shape[-1] * self.heads), s.expected_kind(d))
        for head in range(self.heads):
            tensors = {"dy": self.of_head(dy, head), "y": self.of_head(y, head), "gates": self.of_head(saved[0], head)}
            tensors |= {**self.given(w, number, head), **self.states(dlast, number, head, "d{}_n")}
            if cell.further:
                tensors["states"] = self.of_head(saved[1], head)
            written = {n: self.of_head(t, head) for n, t in made.items()} | self.states(dhx, number, head, "d{}0")
            into = tuple(written.get(s.name) for s in RecurrentBackwardPlan.tensors if s.written)
            do.plan(RecurrentBackwardPlan, d, tensors, into)
        rows = cell.gates * self.units
        dx = view(made["dx"], 0, (self.steps, self.batch, rows), made["dx"].strides[:1] + made["dx"].strides[1:2] + (1,))
        gradient = None
        if needed:
            product = labelled(dx, w.w_ih, "tbn", "nk", "tbk", c_shape=None if total is None else total.shape)
            gradient = do.plan(MatmulPlan, product, {"a": dx, "b": w.w_ih, "c": total}, target)
        return gradient, self._of_weights(w, x, dx, made) if weights else []

    def _of_weights(self, w: Weights, x: TensorRef, dx: TensorRef, made: dict[str, Any]) -> list[Any]:
        """The gradients of the parameters: sums over all steps and rows, in the order of the steps."""
        do, kind = self.do, self.kind
        dp = dx
        if "dp" in made:
            dp = view(made["dp"], 0, dx.shape, dx.strides)

        def outer(a: TensorRef, b: TensorRef, target: TensorMut) -> None:
            do.plan(MatmulPlan, labelled(a, b, "tbm", "tbn", "mn"), {"a": a, "b": b}, target)

        found = Weights(do.rows(w.w_ih.shape, kind), do.rows(w.w_hh.shape, kind))
        outer(dx, x, found.w_ih)
        if "reset" in made:
            two = 2 * self.units
            outer(slab(dp, 2, 0, two), made["h_before"], slab(found.w_hh, 0, 0, two))
            outer(slab(dp, 2, two, dp.shape[2]), made["reset"], slab(found.w_hh, 0, two, dp.shape[2]))
        else:
            blocks, target = split(dp, 2, self.cell.gates), split(found.w_hh, 0, self.cell.gates)
            for head in range(self.heads):
                a, b = self.of_head(blocks, head), self.of_head(made["h_before"], head)
                do.plan(MatmulPlan, labelled(a, b, "tbgm", "tbn", "gmn"), {"a": a, "b": b}, self.of_head(target, head, 1))
        if self.has_biases:
            found.b_ih = do.run(sum_, {"x": dx}, axis=(0, 1))
            found.b_hh = do.run(sum_, {"x": dp}, axis=(0, 1)) if dp is not dx else do.run(sum_, {"x": dx}, axis=(0, 1))
        if w.w_hr is not None:
            found.w_hr = do.rows(w.w_hr.shape, kind)
            outer(made["dhidden"], made["unprojected"], found.w_hr)
        listed = found.listed()
        if w.peepholes is not None:
            listed.append(in_element(do, do.run(sum_, {"x": made["dpeepholes"]}, axis=(0, 1)), kind))
        return listed
