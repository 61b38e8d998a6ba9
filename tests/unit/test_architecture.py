"""Who may import whom, and what importing the library brings along."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import baracuda
from baracuda.frontends import families

PACKAGE = Path(__file__).resolve().parents[2] / "baracuda"
#: For each layer, the layers it may import, itself apart.
MAY_IMPORT = {
    "catalogue": set(),
    "native": set(),
    "core": set(),
    "formula": {"core"},
    "runtime": {"core", "native"},
    "codegen": {"core", "formula", "runtime"},
    "lowering": {"core", "formula", "runtime", "codegen"},
    "backends": {"core", "formula", "runtime", "codegen", "lowering"},
    "ops": {"core", "formula", "runtime", "codegen", "lowering", "backends"},
    "frontends": {"core", "formula", "runtime", "codegen", "lowering", "backends", "ops", "native"},
    "array_api": {"core", "formula", "runtime", "ops", "frontends"},
    "torch": {"core", "formula", "runtime", "ops", "frontends"},
    "onnx": {"core", "formula", "runtime", "ops", "frontends"},
    "cli": {"core", "formula", "runtime", "codegen", "lowering", "backends", "ops", "frontends", "onnx"},
}
FRAMEWORKS = {"torch", "jax", "cupy", "tensorflow", "mlx"}
#: Packages that only one folder may import.
OWN = {"onnx": "onnx", "google": "onnx"}


def imports(path: Path) -> Iterator[tuple[str, bool]]:
    """The modules that a file imports, and whether it does so as it is loaded itself."""
    tree = ast.parse(path.read_text())
    inside = {n for f in ast.walk(tree) if isinstance(f, (ast.FunctionDef, ast.AsyncFunctionDef)) for n in ast.walk(f)}
    for n in ast.walk(tree):
        if isinstance(n, ast.Import):
            yield from ((alias.name, n not in inside) for alias in n.names)
        elif isinstance(n, ast.ImportFrom):
            assert n.level == 0, f"{path}: relative import"
            yield str(n.module), n not in inside
            yield from ((f"{n.module}.{alias.name}", n not in inside) for alias in n.names)


def layer(module: str) -> str | None:
    """The layer that a module of the package is in; None for one of another package, and for the package itself."""
    parts = module.split(".")
    return parts[1] if parts[0] == "baracuda" and len(parts) > 1 and parts[1] in MAY_IMPORT else None


def files() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def test_every_folder_is_a_layer() -> None:
    assert {p.name for p in PACKAGE.iterdir() if p.is_dir() and p.name != "__pycache__"} <= set(MAY_IMPORT)


@pytest.mark.parametrize("folder", MAY_IMPORT)
def test_imports_point_one_way(folder: str) -> None:
    allowed = MAY_IMPORT[folder] | {folder}
    for path in (PACKAGE / folder).rglob("*.py"):
        for module, _ in imports(path):
            assert layer(module) in (None, *allowed), f"{path.relative_to(PACKAGE)} imports {module}"
            if folder not in ("cli", "array_api", "torch", "onnx"):
                assert module != "baracuda", f"{path.relative_to(PACKAGE)} imports the package as a whole"


def test_no_op_knows_a_device() -> None:
    for path in (PACKAGE / "ops").rglob("*.py"):
        below = [m.split(".") for m, _ in imports(path) if layer(m) in ("codegen", "lowering")]
        assert not [m for m in below if m[1] == "codegen" or {"cpu", "cuda"} & set(m)], path


def test_no_lowering_knows_an_op() -> None:
    names = ("softmax", "rms_norm", "alibi", "lerp", "quantize")
    for path in (PACKAGE / "lowering").rglob("*.py"):
        op_names = [n.value for n in ast.walk(ast.parse(path.read_text())) if isinstance(n, ast.Constant) and n.value in names]
        assert not op_names, path


def test_no_file_imports_a_framework() -> None:
    for path in files():
        folder = path.relative_to(PACKAGE).parts[0]  # that of a framework's programs imports the framework
        for module, _ in imports(path):
            top = module.partition(".")[0]
            assert top not in FRAMEWORKS - {folder}, f"{path.relative_to(PACKAGE)} imports {module}"
            assert OWN.get(top) in (None, folder), f"{path.relative_to(PACKAGE)} imports {module}"


def test_cuda_packages_are_imported_where_they_are_used() -> None:
    """They are an extra: no module may need them to be loaded."""
    for path in files():
        assert not [m for m, at_load in imports(path) if at_load and m.partition(".")[0] == "cuda"], path


def loaded_after(code: str) -> set[str]:
    """The top-level modules of a new interpreter that ran some code."""
    program = f"import sys\n{code}\nprint(*{{m.partition('.')[0] for m in sys.modules}})"
    return set(subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split())


def test_importing_the_library_is_light() -> None:
    heavy = {"numpy", "scipy", "llvmlite", "ml_dtypes", "cuda", "click", "rich"}
    assert not loaded_after("import baracuda") & (FRAMEWORKS | heavy | set(OWN))


def test_what_the_commands_do_needs_no_command_line_and_no_framework() -> None:
    modules = ", ".join(f"baracuda.cli.{m}" for m in ("doctor", "listing", "verify.run", "bench.run", "report.page"))
    loaded = loaded_after(f"import {modules}\nbaracuda.cli.listing.find('gelu')")
    assert not loaded & (FRAMEWORKS | {"cuda", "click", "rich"})


def test_a_call_brings_no_framework() -> None:
    loaded = loaded_after("import numpy as np, baracuda\nbaracuda.softmax(np.zeros(3, np.float32))")
    assert "llvmlite" in loaded
    assert not loaded & (FRAMEWORKS | {"scipy", "cuda"})


@pytest.mark.parametrize(
    ("wrong", "near"),
    [
        ("sofmax", "softmax"),
        ("Softmax", "softmax"),
        ("gelu_backwards", "gelu_backward"),
        ("SofmaxPlan", "SoftmaxPlan"),
        ("matmull", "matmul"),
        ("ctc_los", "ctc_loss"),
        ("Elementkind", "ElementKind"),
    ],
)
def test_a_misspelt_name_is_answered_with_the_nearest(wrong: str, near: str) -> None:
    with pytest.raises(
        AttributeError, match=rf"^module 'baracuda' has no attribute '{wrong}'; did you mean (\w+ or )*{near}( or |$)"
    ):
        getattr(baracuda, wrong)


def test_a_name_like_no_other_gets_no_answer() -> None:
    with pytest.raises(AttributeError, match=r"^module 'baracuda' has no attribute 'zzzzqqqq'$"):
        _ = baracuda.zzzzqqqq
    assert not hasattr(baracuda, "__wrapped__")


def test_names_that_are_none_are_not_remembered() -> None:
    before = families.composition.cache_info().currsize, families.function.cache_info().currsize
    for i in range(10):
        assert not hasattr(baracuda, f"no_such_op_{i}")
    assert before == (families.composition.cache_info().currsize, families.function.cache_info().currsize)


def test_importing_loads_nothing_that_takes_time() -> None:
    code = "import sys; before = set(sys.modules); import baracuda; print(*(set(sys.modules) - before))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True).stdout.split()
    assert {m for m in loaded if m.startswith("baracuda")} <= {"baracuda", "baracuda.core", "baracuda.core.locks"}
    assert {m.partition(".")[0] for m in loaded} <= {"baracuda", *sys.stdlib_module_names}
