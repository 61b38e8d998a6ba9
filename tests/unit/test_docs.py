"""The documentation is true: its code runs, what it quotes is there, its links lead somewhere, generated pages are up to date."""

from __future__ import annotations

import doctest
import importlib.util
import pkgutil
import re
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

import baracuda
from baracuda.frontends import families

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), *(ROOT / "benchmarks").rglob("*.md")])
QUOTE = re.compile(r"<!-- quoted from (\S+) -->\n```python\n(.*?)```", re.DOTALL)
BLOCK = re.compile(r"```python\n(.*?)```", re.DOTALL)
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")


def named(page: Path) -> str:
    return str(page.relative_to(ROOT))


def tool(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / "tools" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def modules_with_examples() -> list[str]:
    names = [m.name for m in pkgutil.walk_packages(baracuda.__path__, "baracuda.") if not m.name.endswith("__main__")]
    files = {n: Path(str(import_module(n).__file__)) for n in names}
    return [n for n, file in files.items() if file.suffix == ".py" and ">>>" in file.read_text()]


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_code_runs(page: Path) -> None:
    """The blocks of a page, one after another, as one program; a block of prompts as a doctest."""
    program: dict[str, object] = {"__name__": "__documentation__"}
    for code in BLOCK.findall(QUOTE.sub("", page.read_text())):
        if code.startswith(">>>"):
            test = doctest.DocTestParser().get_doctest(code, program, named(page), named(page), 0)
            assert doctest.DocTestRunner().run(test).failed == 0
        else:
            exec(compile(code, named(page), "exec"), program)


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_quotes_are_verbatim(page: Path) -> None:
    for source, code in QUOTE.findall(page.read_text()):
        assert code in (ROOT / source).read_text(), f"{source} has no longer:\n{code}"


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_links_lead_somewhere(page: Path) -> None:
    for link in LINK.findall(page.read_text()):
        target = link.partition("#")[0]
        assert "://" in link or (page.parent / target).exists(), f"{named(page)}: {link}"


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_files_that_are_mentioned_exist(page: Path) -> None:
    """Paths in backticks, from the root of the repository or from the package."""
    for path in re.findall(r"`((?:[\w.]+/)+[\w.]+\.\w+)`", page.read_text()):
        assert (ROOT / path).exists() or (ROOT / "baracuda" / path).exists(), f"{named(page)}: {path}"


def test_the_plans_page_is_up_to_date() -> None:
    assert (ROOT / "docs" / "plans.md").read_text() == tool("make_docs").text(), "run `make docs`"


def test_the_readme_names_every_plan_and_function() -> None:
    text = (ROOT / "README.md").read_text()
    plans = [name for name in baracuda.__all__ if name.endswith("Plan") and name != "Plan"]
    missing = [name for name in plans if f"`{name}`" not in text]
    assert len(plans) >= 12
    assert not missing


def test_the_readme_has_a_place_for_the_performance_table() -> None:
    text = (ROOT / "README.md").read_text()
    assert text.count("<!-- performance -->") == text.count("<!-- /performance -->") == 1


@pytest.mark.parametrize("name", modules_with_examples())
def test_examples_in_docstrings(name: str) -> None:
    assert doctest.testmod(import_module(name)).failed == 0


def test_every_op_is_found_without_loading_the_others() -> None:
    """catalogue/modules.tsv is what `python -m tools.make_catalogue` writes."""
    families.ops()
    assert families.modules() == dict(line.split("\t") for line in tool("make_catalogue").modules().splitlines())
    assert {*families.ops(), *families.compositions()} == set(families.modules())
