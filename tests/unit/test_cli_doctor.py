"""`baracuda doctor`: machines without a GPU, with a broken one, with packages missing; and what it measures."""

from __future__ import annotations

import ctypes
import json
import tomllib
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from baracuda.cli import ceilings, doctor, driver, libraries, main
from baracuda.cli.driver import Driver
from baracuda.cli.libraries import Library, Requirement, satisfies
from baracuda.core.device import Device
from baracuda.core.elements import ElementKind as K
from baracuda.core.errors import BackendError

NO_DRIVER = Driver(False, problem="there is no NVIDIA driver: no libcuda", remedy="nothing")


class FakeCuda:
    """libcuda as ctypes would show it."""

    def __init__(self, init: int = 0, version: int = 13000, devices: int = 1, count_status: int = 0) -> None:
        self.init, self.version, self.devices, self.count_status = init, version, devices, count_status

    def cuInit(self, flags: int) -> int:
        return self.init

    def cuDriverGetVersion(self, version_out: Any) -> int:
        version_out._obj.value = self.version
        return 0

    def cuDeviceGetCount(self, count_out: Any) -> int:
        count_out._obj.value = self.devices
        return self.count_status

    def cuGetErrorName(self, status: int, text: Any) -> int:
        text._obj.value = b"CUDA_ERROR_SOMETHING"
        return 0


def absent(name: str) -> Any:
    raise OSError("cannot open shared object file")


# --- the driver -------------------------------------------------------------------------------------------------------


def test_no_driver_is_no_problem() -> None:
    report = driver.examine(absent)
    assert (report.found, report.broken) == (False, False)
    assert "cannot open shared object file" in report.problem


@pytest.mark.parametrize(
    ("fake", "problem", "remedy"),
    [
        (FakeCuda(init=999), "cuInit returned CUDA_ERROR_SOMETHING (999)", "nvidia-modprobe"),
        (FakeCuda(init=803), "cuInit returned CUDA_ERROR_SOMETHING (803)", "restart the machine"),
        (FakeCuda(init=100), "cuInit returned CUDA_ERROR_SOMETHING (100)", "--gpus all"),
        (FakeCuda(init=1), "cuInit returned CUDA_ERROR_SOMETHING (1)", "dmesg"),
        (FakeCuda(version=12040), "it runs CUDA up to 12.4; expected 13.0", "update the driver"),
        (FakeCuda(devices=0), "it shows no GPU", "CUDA_VISIBLE_DEVICES"),
        (FakeCuda(count_status=2), "cuDeviceGetCount returned CUDA_ERROR_SOMETHING (2)", "reinstall"),
        (SimpleNamespace(), "does not work: ", "reinstall"),
    ],
)
def test_a_broken_driver_is_told_with_its_remedy(fake: Any, problem: str, remedy: str) -> None:
    report = driver.examine(lambda name: fake)
    assert report.broken
    assert problem in report.problem
    assert remedy in report.remedy


def test_a_driver_that_works() -> None:
    report = driver.examine(lambda name: FakeCuda(devices=2))
    assert (report.cuda, report.devices, report.problem) == ("13.0", 2, "")


def test_the_driver_of_this_machine_is_examined_without_an_exception() -> None:
    try:
        ctypes.CDLL(driver.library_name())
        there = True
    except OSError:
        there = False
    assert driver.examine().found is there


# --- packages ---------------------------------------------------------------------------------------------------------


def test_requirements_are_those_of_the_project() -> None:
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    required = {(r.package, r.extra): r.versions for r in libraries.requirements()}
    for extra, packages in {"": project["dependencies"], **project["optional-dependencies"]}.items():
        for package in packages if extra in ("", *libraries.EXTRAS) else ():
            name, _, least = package.partition(">=")
            assert required.pop((name, extra)) == f">={least}"
    assert not required


def test_versions() -> None:
    assert satisfies("2.4.6", ">=2.0")
    assert satisfies("2.13.0+cpu", "==2.13.0")
    assert satisfies("13.0", ">=13.0.0")
    assert satisfies("1.5", ">=1.2,<2")
    assert not satisfies("1.26.4", ">=2.0")
    assert not satisfies("2.1", ">=1.2,<2")
    assert not satisfies("8.0.4", ">=8.1")


def test_missing_old_and_unloadable_packages_get_a_command() -> None:
    missing = libraries.examined(Requirement("no-such-package-here", ">=3"), None)
    assert (missing.version, missing.problem, missing.remedy) == (None, "missing", "pip install 'no-such-package-here>=3'")
    old = libraries.examined(Requirement("numpy", ">=99.0"), None)
    assert old.problem.endswith("is installed; expected >=99.0")
    assert old.remedy == "pip install 'numpy>=99.0'"

    def broken(name: str) -> object:
        raise ImportError("undefined symbol")

    unloadable = libraries.examined(Requirement("numpy", ">=2.0"), broken)
    assert unloadable.problem == "does not load: undefined symbol"
    assert "--force-reinstall" in unloadable.remedy
    assert Path(unloadable.where).is_dir()


# --- the report -------------------------------------------------------------------------------------------------------


def library(package: str, extra: str, problem: str = "missing") -> Library:
    return Library(package, extra, ">=1", None, "", problem, f"pip install '{package}>=1'" if problem else "")


def test_a_machine_without_a_gpu_is_well(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "libraries", lambda: [library("cuda-bindings", "cuda")])
    report = doctor.examine(lambda: NO_DRIVER)
    assert report.problems() == []
    assert report.gpus == []
    assert json.loads(json.dumps(report.record()))["well"] is True


def test_a_driver_without_the_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "libraries", lambda: [library("cuda-bindings", "cuda"), library("nvidia-cuda-nvrtc", "cuda")])
    report = doctor.examine(lambda: Driver(True, "580", "13.0", 2))
    (packages, *gpus) = report.problems()
    assert packages == ("cuda-bindings: missing; nvidia-cuda-nvrtc: missing", "pip install 'baracuda[cuda]'")
    assert [gpu.index for gpu in report.gpus] == [0, 1]
    assert len(gpus) == 2


def test_a_gpu_whose_driver_calls_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(index: int) -> tuple[int, int, int]:
        raise BackendError("cuDeviceGetAttribute", "CUDA_ERROR_LAUNCH_FAILED")

    monkeypatch.setattr(doctor, "libraries", list)
    monkeypatch.setattr(doctor, "device_count", lambda: 1)
    monkeypatch.setattr(doctor, "architecture", failing)
    report = doctor.examine(lambda: Driver(True, "580", "13.0", 1))
    assert [what for what, _ in report.problems()] == [
        "cuda:0: BackendError: cuDeviceGetAttribute returned CUDA_ERROR_LAUNCH_FAILED"
    ]
    assert all("cuda" not in what for what, _ in doctor.measurements(report))


def test_packages_that_cannot_use_the_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "libraries", list)
    monkeypatch.setattr(doctor, "device_count", lambda: 0)
    report = doctor.examine(lambda: Driver(True, "580", "13.0", 1))
    assert "cannot use this driver" in report.problems()[0][0]


def test_what_fails_while_measuring_is_told_and_the_rest_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(clock: Any, device: Device) -> float:
        raise BackendError("cuMemAlloc", "CUDA_ERROR_OUT_OF_MEMORY")

    monkeypatch.setattr(ceilings, "copy_bandwidth", failing)
    monkeypatch.setattr(ceilings, "EXTENT", {"cpu": 64})
    report = doctor.examine(lambda: NO_DRIVER)
    for _, step in doctor.measurements(report):
        step()
    (measured,) = report.measured
    assert measured.problems == ["copy bandwidth: BackendError: cuMemAlloc returned CUDA_ERROR_OUT_OF_MEMORY"]
    assert measured.copy_bandwidth is None
    assert measured.launch is not None
    assert 0 < measured.launch.bound < 1e5
    assert {r.element for r in measured.products} == {"bf16", "f32"}


def test_copy_bandwidth_copies_everything() -> None:
    from concurrent.futures import ThreadPoolExecutor

    import numpy as np

    source, target = np.arange(1000, dtype=np.uint8), np.zeros(1000, np.uint8)
    with ThreadPoolExecutor(3) as pool:
        ceilings._host_copy(pool, 3, source, target)()
    assert (target == source).all()


def test_products_are_those_of_the_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    from baracuda.cli.timing import CpuClock

    monkeypatch.setattr(ceilings, "EXTENT", {"cpu": 96})
    rate = ceilings.product_rate(CpuClock(), Device.cpu(), K.F32, fastest=False)
    assert (rate.extent, rate.backend, rate.promises) == (96, "formula-cpu", "f32+f32/dbsx")
    assert rate.operations > 0


# --- the command ------------------------------------------------------------------------------------------------------


def fake_report(examined_driver: Driver) -> Any:
    return lambda: doctor.Report(
        doctor.environment(Device.cpu()),
        examined_driver,
        [],
        [library("numpy", "", "")],
        {"path": "/x", "entries": 2, "bytes": 4096},
    )


def test_the_command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    monkeypatch.setattr(doctor, "examine", fake_report(NO_DRIVER))
    out = tmp_path / "doctor.json"
    assert main(["doctor", "--no-measure", "--out", str(out)]) == 0
    text = capsys.readouterr().out
    assert "none: there is no NVIDIA driver: no libcuda" in text
    assert "/x: 2 kernels, 4.0 KiB" in text
    assert "nothing is missing, on the CPU" in text
    assert "\x1b[" not in text
    assert json.loads(out.read_text())["cache"] == {"path": "/x", "entries": 2, "bytes": 4096}
    assert main(["doctor", "--no-measure", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["driver"]["found"] is False


def test_a_broken_driver_is_status_1(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(doctor, "examine", fake_report(Driver(True, "580.1", "13.0", 0, "cuInit returned X (999)", "restart")))
    assert main(["doctor", "--no-measure"]) == 1
    assert "NVIDIA driver 580.1: cuInit returned X (999)\n  restart\n" in capsys.readouterr().out


def test_an_interruption_keeps_what_was_measured(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    def interrupted(clock: Any, device: Device) -> float:
        raise KeyboardInterrupt

    monkeypatch.setattr(doctor, "examine", fake_report(NO_DRIVER))
    monkeypatch.setattr(ceilings, "copy_bandwidth", interrupted)
    out = tmp_path / "doctor.json"
    assert main(["doctor", "--out", str(out)]) == 130
    (measured,) = json.loads(out.read_text())["measured"]
    assert measured["launch"]["bound"] > 0
    assert measured["copy_bandwidth"] is None
