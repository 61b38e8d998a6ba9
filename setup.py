"""What is compiled from C: without a compiler it is left out, and its counterparts serve."""

from glob import glob

import numpy
from setuptools import Extension, setup

CALLS = Extension(
    "baracuda.native.calls",
    ["baracuda/native/calls.c"],
    depends=glob("baracuda/native/*.h"),
    include_dirs=[numpy.get_include()],
    extra_compile_args=["-O2"],
    optional=True,
)
LAUNCH = Extension("baracuda.native.launch", ["baracuda/native/launch.c"], extra_compile_args=["-O2"], optional=True)
setup(ext_modules=[CALLS, LAUNCH])
