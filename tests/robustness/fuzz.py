"""Attack every public function with calls that are wrong in one to three ways, in processes of their own.

    python -m tests.robustness.fuzz --calls 100000       progress, and a table of what became of the calls
    python -m tests.robustness.fuzz --replay NAME SEED   one call in this process, as a report quotes it
    python -m tests.robustness.fuzz --only NAME          samples whose name contains this

A worker that ends is a finding: the call that ended it is told, and the others go on after it.
"""

from __future__ import annotations

import argparse
import json
import os
import queue
import re
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

_ROOT = Path(__file__).parents[2]
#: Seconds that one call may take.
_PATIENCE = 60.0


@dataclass
class Report:
    """What a run found."""

    calls: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    changes: Counter[str] = field(default_factory=Counter)
    findings: list[dict[str, Any]] = field(default_factory=list)
    seconds: float = 0.0

    def classes(self) -> dict[tuple[str, str], list[dict[str, Any]]]:
        """Findings by what is wrong and where."""
        groups: dict[tuple[str, str], list[dict[str, Any]]] = {}
        for f in self.findings:
            where = re.sub(r".* at ", "", str(f["detail"])) if "unnamed" in f["wrong"] else str(f["sample"]).partition("#")[0]
            if where == "the call itself":
                where = f"{str(f['detail'])[:70]}"
            groups.setdefault((", ".join(dict.fromkeys(f["wrong"])), where), []).append(f)
        return groups

    def table(self) -> str:
        """What became of the calls, and every class of findings with a call to repeat it."""
        lines = [f"{self.calls:,} calls in {self.seconds:.0f} s, {len(self.findings)} findings in {len(self.classes())} classes"]
        lines += [f"  {count:>9,}  {name}" for name, count in self.outcomes.most_common()]
        lines += ["changes", *(f"  {count:>9,}  {name}" for name, count in self.changes.most_common())]
        for (wrong, where), failures in sorted(self.classes().items(), key=lambda item: -len(item[1])):
            first = failures[0]
            names = sorted({str(f["sample"]).partition("#")[0] for f in failures})
            lines.append(f"{len(failures):>5}  {wrong}: {where}: {', '.join(names[:6])}{' ...' if len(names) > 6 else ''}")
            lines.append(f"       {first['detail']}".rstrip())
            lines.append(f"       --replay {first['sample']!r} {first['seed']}   {first['changes']}")
        return "\n".join(lines)


class _Worker:
    """A process that makes one part of the calls, started again after each call that ends it."""

    def __init__(self, part: int, parts: int, calls: int, options: Sequence[str]) -> None:
        self.part, self.parts, self.calls, self.options = part, parts, calls, options
        self.next = 0

    def run(self, tell: Callable[[dict[str, Any]], None], until: float) -> None:
        while self.next < self.calls and time.monotonic() < until:
            self._once(tell, until)

    def _once(self, tell: Callable[[dict[str, Any]], None], until: float) -> None:
        command = [sys.executable, "-m", "tests.robustness.worker", "--part", str(self.part), "--parts", str(self.parts)]
        command += ["--first", str(self.next), "--calls", str(self.calls), *self.options]
        process = subprocess.Popen(
            command,
            cwd=_ROOT,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": str(_ROOT)},
        )
        errors: list[str] = []
        lines: queue.Queue[str | None] = queue.Queue()
        assert process.stdout is not None
        assert process.stderr is not None
        reader = threading.Thread(target=lambda: [*map(lines.put, process.stdout or ()), lines.put(None)], daemon=True)
        other = threading.Thread(target=lambda: errors.extend(process.stderr or ()), daemon=True)
        reader.start()
        other.start()
        started, hung, stopped = None, False, False
        while True:
            try:
                line = lines.get(timeout=_PATIENCE)
            except queue.Empty:
                hung = True
                process.send_signal(signal.SIGABRT)  # faulthandler then says where it is
                break
            if line is None:
                break
            if line.startswith("start "):
                started = int(line[6:])
                if time.monotonic() > until:
                    stopped = True
                    process.kill()
                    break
            elif line.startswith("{"):
                tell(json.loads(line))
        code = process.wait()
        other.join(5)
        reader.join(5)
        for pipe in (process.stdout, process.stderr):
            pipe.close()
        if started is None:
            raise RuntimeError(f"the worker did not start:\n{''.join(errors)}")
        self.next = started + 1
        if code and not stopped:
            tell({"ended": started, "part": self.part, "parts": self.parts, "wrong": ["hung" if hung else f"ended with {code}"],
                  "detail": _place("".join(errors))})  # fmt: skip


def _place(errors: str) -> str:
    """The calls that a worker was in when it ended, the innermost first."""
    frames = re.findall(r'File "[^"]*/(baracuda/[^"]*|tests/robustness/[^"]*)", line (\d+) in (\w+)', errors)
    if not frames:
        return errors[-300:]
    return "; ".join(f"{file}:{line} {name}" for file, line, name in frames[:4])


def fuzz(
    calls: int,
    *,
    workers: int = 2,
    seed: int = 0,
    only: str = "",
    unoptimised: str = "",
    seconds: float = 1e9,
    progress: bool = False,
) -> Report:
    """Make calls; what became of them. With a directory to keep code in as `unoptimised`, kernels are compiled as they are
    written, which takes a fifth of the time."""
    from tests.robustness.worker import number, part_of

    workers = min(workers, len(part_of(0, 1, only)))
    report, lock, begun = Report(), threading.Lock(), time.monotonic()
    last_report = [begun]

    def tell(line: dict[str, Any]) -> None:
        with lock:
            if "done" in line:
                report.calls += sum(line["outcomes"].values())
                report.outcomes.update(line["outcomes"])
                report.changes.update(line["changes"])
                if progress and time.monotonic() - last_report[0] > 15:
                    last_report[0] = time.monotonic()
                    print(
                        f"{last_report[0] - begun:6.0f} s  {report.calls:>8,} calls  {len(report.findings)} findings", flush=True
                    )
                return
            if "ended" in line:
                sample, turn = number(line["ended"], line["part"], line["parts"], only)
                line |= {"sample": sample.name, "seed": seed + turn, "changes": []}
                report.calls += 1
                report.outcomes[line["wrong"][0]] += 1
            report.findings.append(line)
            if progress:
                print("finding:", *(line[k] for k in ("wrong", "sample", "seed", "changes", "detail")), flush=True)

    options = ["--seed", str(seed), "--only", only, "--unoptimised", unoptimised]
    threads = [
        threading.Thread(target=_Worker(k, workers, calls // workers, options).run, args=(tell, begun + seconds))
        for k in range(workers)
    ]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    report.seconds = time.monotonic() - begun
    return report


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=10_000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=1e9)
    parser.add_argument("--only", default="", help="samples whose name contains this")
    parser.add_argument("--unoptimised", default="", metavar="DIRECTORY", help="compile kernels as written, and keep them here")
    parser.add_argument("--replay", nargs=2, metavar=("NAME", "SEED"))
    parser.add_argument("--json", type=Path, help="write the findings here")
    options = parser.parse_args()
    if options.replay:
        return _replay(options.replay[0], int(options.replay[1]))
    report = fuzz(
        options.calls,
        workers=options.workers,
        seed=options.seed,
        only=options.only,
        unoptimised=options.unoptimised,
        seconds=options.seconds,
        progress=True,
    )
    print(report.table())
    if options.json:
        options.json.write_text(json.dumps(report.findings, indent=1))
    return bool(report.findings)


def _replay(name: str, seed: int) -> int:
    import faulthandler
    import traceback

    from tests.robustness import attack
    from tests.robustness.samples import samples

    faulthandler.enable()
    attack.install()
    attack.SHOWN = traceback.print_exc
    outcome = attack.attack(next(s for s in samples() if s.name == name), seed)
    print(outcome)
    return bool(outcome.wrong)


if __name__ == "__main__":
    sys.exit(main())
