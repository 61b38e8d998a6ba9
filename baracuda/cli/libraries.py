"""The packages that baracuda needs or gets along with: which there are, where, and the command that brings those missing."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import PackageNotFoundError, distribution, requires
from pathlib import Path

from baracuda.cli.environment import RIVALS

#: Extras that a user may want; the others are for working on baracuda itself.
EXTRAS = ("cuda", "cli")
#: What is imported to see whether a package works, where its name is another.
MODULES = {
    "cuda-bindings": "cuda.bindings.driver",
    "nvidia-cuda-nvrtc": "cuda.bindings.nvrtc",
    "nvmath-python": "nvmath.bindings",
    "llvmlite": "llvmlite.binding",
    "nvidia-cudnn-frontend": "cudnn",
}
_REQUIREMENT = re.compile(r"^([A-Za-z0-9._-]+)(\[[^\]]*\])?\s*((?:[<>=!~]=?[^;,]+,?)*)\s*(?:;\s*extra\s*==\s*[\"'](.+)[\"'])?$")


@dataclass(frozen=True)
class Requirement:
    """A package that is asked for: its name, the versions that will do (">=2.0"), and the extra it belongs to ("" for none)."""

    package: str
    versions: str = ""
    extra: str = ""

    @property
    def install(self) -> str:
        """The command that brings it."""
        return f"pip install '{self.package}{self.versions}'"


@dataclass(frozen=True)
class Library:
    """A package as it was found.

    Attributes
    ----------
    package, extra, wanted
        Its name; the extra that asks for it ("" is baracuda itself, "interoperates" nothing); the versions asked for.
    version, where
        What is installed; None and "" where nothing is.
    problem, remedy
        What is wrong with it, and the command that helps; empty where nothing is.
    """

    package: str
    extra: str
    wanted: str
    version: str | None
    where: str
    problem: str = ""
    remedy: str = ""


def requirements() -> list[Requirement]:
    """What baracuda and its extras ask for, from the installed package's metadata or the source tree's pyproject.toml."""
    try:
        lines = requires("baracuda") or []
    except PackageNotFoundError:
        lines = list(_from_source(Path(__file__).resolve().parents[2] / "pyproject.toml"))
    required = []
    for line in lines:
        match = _REQUIREMENT.match(line.strip())
        if match and match[1] != "baracuda" and (match[4] or "") in ("", *EXTRAS):
            required.append(Requirement(match[1], match[3].strip(), match[4] or ""))
    return required


def _from_source(path: Path) -> Iterable[str]:
    if not path.is_file():
        return
    project = tomllib.loads(path.read_text())["project"]
    yield from project["dependencies"]
    for extra, packages in project["optional-dependencies"].items():
        yield from (f'{package}; extra == "{extra}"' for package in packages)


def libraries(importer: Callable[[str], object] = import_module) -> list[Library]:
    """Every package that is asked for, then those that baracuda gets along with and that are there."""
    dependencies = [examined(r, importer) for r in requirements()]
    rivals = (examined(Requirement(name, "", "interoperates"), None) for name in RIVALS)
    return [*dependencies, *(r for r in rivals if r.version is not None)]


def examined(wanted: Requirement, importer: Callable[[str], object] | None) -> Library:
    """One package; `importer` loads a module, None: it is not loaded."""
    name, remedy = wanted.package, wanted.install
    try:
        installed = distribution(name)
    except PackageNotFoundError:
        return Library(name, wanted.extra, wanted.versions, None, "", "missing", remedy)
    version, where = installed.version, str(installed.locate_file(""))
    problem = "" if satisfies(version, wanted.versions) else f"{version} is installed; expected {wanted.versions}"
    if not problem and importer is not None:
        try:
            importer(MODULES.get(name, name.replace("-", "_")))
        except (ImportError, OSError, RuntimeError) as error:
            problem = f"does not load: {error}"
            remedy = f"pip install --force-reinstall '{name}{wanted.versions}'"
    return Library(name, wanted.extra, wanted.versions, version, where, problem, remedy if problem else "")


def satisfies(version: str, wanted: str) -> bool:
    """Whether a version is one of those asked for, by its numbers."""
    for clause in filter(None, wanted.split(",")):
        operator = clause.rstrip("0123456789.*abrcdevpost+ ").strip()
        installed, required = _numbers(version), _numbers(clause[len(operator) :])
        length = max(len(installed), len(required))
        a, b = (n + (0,) * (length - len(n)) for n in (installed, required))
        if not {">=": a >= b, "==": a == b, "<": a < b, "<=": a <= b, ">": a > b, "!=": a != b}.get(operator, True):
            return False
    return True


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(n) for n in re.findall(r"\d+", version.partition("+")[0])[:4])
