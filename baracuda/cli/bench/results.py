"""What a run of `baracuda bench` found: a row for each problem, the ceilings they are held against, and where it was."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from baracuda.cli.files import read_json
from baracuda.cli.schema import NOT_NEGATIVE, POSITIVE, Maybe, check
from baracuda.core.errors import InvalidProblemError

#: What stands first in every file.
KIND = "baracuda bench"
#: The contender that is this library with outputs made in advance; with results made in each call.
OURS, FRESH = "ours", "ours, fresh"
#: What a file of results holds, as JSON.
_SPREAD = (float, float, float)
_ROW = {
    **dict.fromkeys(("suite", "op", "family", "element", "shape_class"), str),
    **{f"{name}?": str for name in ("variant", "backend", "guarantee", "schedule", "checked")},
    "shape": [int],
    "us": {str: _SPREAD},
    "nbytes?": NOT_NEGATIVE,
    "operations?": NOT_NEGATIVE,
    "ratios?": {str: {"spread": _SPREAD, "against": str}},
    "dropped?": {str: str},
    "host_us?": float,
    "passes?": int,
    "cold?": bool,
    "disturbance?": float,
}
#: What tables of any file say of where it was made.
WHERE = {
    "device": str, "date": str, "versions": {str: str}, "kind?": str, "arch?": str, "driver?": str, "system?": str,
    "threads?": Maybe(int),
}  # fmt: skip
_RESULTS = {
    "kind": str,
    "environment": WHERE,
    "suites?": [str],
    "clocks?": {str: {str: float}},
    "ceilings?": {"copy_bandwidth?": NOT_NEGATIVE, "products?": {str: POSITIVE}},
    "rows": [_ROW],
    "failed?": {str: str},
    "skipped?": {str: str},
    "complete?": bool,
    "seconds?": float,
}
#: Processors used by others, above which a time on the CPU says little.
DISTURBED = 0.1

#: Lower end, median, upper end.
Spread = tuple[float, float, float]


@dataclass(frozen=True)
class Ratio:
    """A rival's time over ours, within a round: `against` is the contender that stands for us."""

    spread: Spread
    against: str = OURS

    @property
    def median(self) -> float:
        return self.spread[1]


@dataclass(frozen=True)
class Row:
    """One problem.

    Attributes
    ----------
    suite, op, family, element, shape_class, shape
        What was computed; `op` is the function's name.
    variant
        What else tells it from its neighbours: which plan was asked for, or how it was called; often empty.
    backend, guarantee, schedule
        Of the plan that was chosen; empty where several plans are at work.
    nbytes
        The least that any implementation moves: each input read once, each output written once.
    operations
        Arithmetic operations: of a product two for each multiplication and addition, of a formula one for each primitive
        and element.
    checked
        What the values were compared with before anything was timed.
    us
        Microseconds of one call of each contender: the median of all rounds, between the least 20th percentile and the
        greatest 80th percentile of a pass; the lower end is lower still by what the disturbance explains.
    ratios
        Of each rival.
    dropped
        Rivals that were asked for and not timed, with the reason.
    host_us
        Microseconds until a bound launch returns to the host, on a GPU; 0 on the CPU, where it returns when all is done.
    passes
        How often the problem was measured in the course of the run.
    cold
        Whether the tensors that take turns are larger than the last-level cache.
    disturbance
        How many processors other processes used meanwhile; 0 on a GPU.
    """

    suite: str
    op: str
    family: str
    element: str
    shape_class: str
    shape: tuple[int, ...]
    us: Mapping[str, Spread]
    variant: str = ""
    backend: str = ""
    guarantee: str = ""
    schedule: str = ""
    nbytes: int = 0
    operations: float = 0.0
    checked: str = ""
    ratios: Mapping[str, Ratio] = field(default_factory=dict)
    dropped: Mapping[str, str] = field(default_factory=dict)
    host_us: float = 0.0
    passes: int = 1
    cold: bool = True
    disturbance: float = 0.0

    @property
    def name(self) -> str:
        """What it is called in messages, and what the same problem has in another file."""
        words = (self.op, self.element, self.shape_class, "x".join(map(str, self.shape)), self.variant)
        return " ".join(w for w in words if w)

    @property
    def ours(self) -> Spread:
        return self.us[OURS]

    @property
    def seconds(self) -> float:
        return self.ours[1] * 1e-6

    @property
    def bandwidth(self) -> float:
        """Bytes a second, of the least bytes."""
        return self.nbytes / self.seconds

    @staticmethod
    def of(record: Mapping[str, Any]) -> Row:
        """From JSON."""
        record_fields = {f.name: record[f.name] for f in fields(Row) if f.name in record}
        record_fields["shape"] = tuple(record_fields["shape"])
        record_fields["us"] = {label: tuple(times) for label, times in record_fields["us"].items()}
        record_fields["ratios"] = {
            label: Ratio(tuple(r["spread"]), r["against"]) for label, r in record_fields.get("ratios", {}).items()
        }
        return Row(**record_fields)


@dataclass
class Ceilings:
    """What the device did at most in the same run: bytes read and written in a second by its own copy, and operations in a
    second of a matrix product, by element."""

    copy_bandwidth: float = 0.0
    products: dict[str, float] = field(default_factory=dict)

    def peak(self, row: Row) -> float:
        """Operations in a second that bound a row; 0 where none was measured. Formulas of 16-bit floats compute in f32."""
        product = row.family in ("gemm", "attention") or row.suite == "demo"
        wide = row.element if product or row.element == "f64" else "f32"
        return self.products.get(wide, 0.0)

    def floor(self, row: Row) -> float:
        """The least seconds that a row could take, by its bytes and its operations; 0 where nothing bounds it."""
        memory = row.nbytes / self.copy_bandwidth if self.copy_bandwidth else 0.0
        peak = self.peak(row)
        return max(memory, row.operations / peak if peak else 0.0)

    def bound_by_memory(self, row: Row) -> bool:
        """Whether the bytes and not the operations make the floor."""
        return bool(self.copy_bandwidth) and self.floor(row) <= row.nbytes / self.copy_bandwidth

    def fraction(self, row: Row) -> float:
        """The floor over the time."""
        return self.floor(row) / row.seconds


@dataclass
class Results:
    """One run.

    Attributes
    ----------
    environment
        Device, driver, versions, date.
    suites
        What was asked for.
    clocks
        The device's clock rates, at the run's beginning and end.
    ceilings
        The better of the run's beginning and end.
    rows, failed
        What was measured; and the problems that gave an error or a wrong value, with what it was.
    skipped
        What could not be tried, with the reason.
    complete
        Whether everything that was asked for was measured; not after an interruption.
    seconds
        How long it took.
    """

    environment: dict[str, Any]
    suites: tuple[str, ...] = ()
    clocks: dict[str, Any] = field(default_factory=dict)
    ceilings: Ceilings = field(default_factory=Ceilings)
    rows: list[Row] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)
    skipped: dict[str, str] = field(default_factory=dict)
    complete: bool = False
    seconds: float = 0.0

    def record(self) -> dict[str, Any]:
        """As it is written to JSON."""
        return {"kind": KIND, **asdict(self)}

    @staticmethod
    def of(record: Mapping[str, Any]) -> Results:
        """From JSON; raises `InvalidProblemError` for another kind of file, and for one with a wrong value."""
        if not isinstance(record, Mapping) or record.get("kind") != KIND:
            raise InvalidProblemError(f"kind: {record.get('kind') if isinstance(record, Mapping) else None!r}; expected {KIND!r}")
        check(record, _RESULTS, "results")
        for i, row in enumerate(record["rows"]):
            check(row["us"], {OURS: (float, POSITIVE, float)}, f"results.rows[{i}].us")
        record_fields = {f.name: record[f.name] for f in fields(Results) if f.name in record}
        record_fields["suites"] = tuple(record_fields.get("suites", ()))
        ceilings = record_fields.get("ceilings", {})
        record_fields["ceilings"] = Ceilings(ceilings.get("copy_bandwidth", 0.0), ceilings.get("products", {}))
        record_fields["rows"] = [Row.of(row) for row in record_fields["rows"]]
        return Results(**record_fields)

    @staticmethod
    def load(path: Path) -> Results:
        """From a file; raises `InvalidProblemError` where it is none of these."""
        try:
            return Results.of(read_json(path))
        except InvalidProblemError as error:
            raise InvalidProblemError(f"{path}: {error}; expected a file that `baracuda bench --out` wrote") from error

    @property
    def heading(self) -> str:
        """Where and when, in one sentence."""
        e = self.environment
        threads = f", {e['threads']} threads" if e.get("threads") else ""
        driver = f", driver {e['driver']}" if e.get("driver") else ""
        rivals = "".join(f", {name} {e['versions'][name]}" for name in ("torch", "jax", "cupy") if name in e["versions"])
        copy = self.ceilings.copy_bandwidth
        copied = f"; copy {copy / 1e9:,.{0 if copy > 1e11 else 1}f} GB/s in the same run" if copy else ""
        return f"{e['device']}{threads}{driver}, {e['date']}{rivals}{copied}"


def geometric_mean(values: Iterable[float]) -> float:
    """NaN of no values."""
    logarithms = [math.log(v) for v in values]
    return math.exp(sum(logarithms) / len(logarithms)) if logarithms else math.nan
