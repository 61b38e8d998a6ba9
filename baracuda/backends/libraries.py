"""Which libraries compute what, and why one does not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from baracuda.backends import blas, cublaslt, cublaslt_pinned, cudnn, cudnn_convolution, cufft, scipy_fft
from baracuda.core.device import Device
from baracuda.core.elements import ElementKind
from baracuda.core.implementation import Found, Implementation
from baracuda.core.sku import BackendKind
from baracuda.core.spec import TensorSpec


def matmul(device: Device, problem: Any, specs: Sequence[TensorSpec], descriptor: Any) -> Found:
    """The libraries' matrix products, with how to make each or the reason why it cannot do this one.

    `descriptor` is a `MatmulDescriptor`, `problem` its `LabelledMatmul`, from whose `matmul_problem` a library gets the strides
    of its operands. TF32 stands before f32: it is refused unless the preference allows it.
    """
    arguments = device, problem, specs, descriptor
    on_gpu = cublaslt.refusal(device, descriptor)
    make = partial(cublaslt.CublasLtMatmul, *arguments)
    products: list[tuple[BackendKind, Callable[[], Implementation] | str]] = []
    if on_gpu is None and cublaslt.takes_tf32(descriptor):
        products.append((BackendKind.CUBLASLT, partial(make, tf32=True)))
    products.append((BackendKind.CUBLASLT, on_gpu or make))
    products.append((BackendKind.BLAS, blas.refusal(device, descriptor) or partial(blas.BlasMatmul, *arguments)))
    return tuple(products)


def pinned_matmul(device: Device, problem: Any, specs: Sequence[TensorSpec], descriptor: Any) -> Found:
    """The libraries' matrix products whose rows have the same bits whatever their number, on one architecture."""
    refused = cublaslt.refusal(device, descriptor)
    make = partial(cublaslt_pinned.PinnedCublasLtMatmul, device, problem, specs, descriptor)
    return ((BackendKind.CUBLASLT, refused or make),)


def attention(device: Device, specs: Sequence[TensorSpec], descriptor: Any) -> Found:
    """The libraries' attention, for an `AttentionDescriptor` or its backward, with how to make it or why it cannot."""
    make = partial(cudnn.CudnnAttention, device, specs, descriptor)
    return ((BackendKind.CUDNN, cudnn.refusal(device, descriptor) or make),)


def convolution(device: Device, specs: Sequence[TensorSpec], descriptor: Any) -> Found:
    """The libraries' convolutions, for a `ConvolutionDescriptor`, with how to make each or why it cannot.

    TF32 stands before f32: it is refused unless the preference allows it.
    """
    refused = cudnn_convolution.refusal(device, descriptor)
    make = partial(cudnn_convolution.CudnnConvolution, device, specs, descriptor)
    if refused is None and descriptor.element is ElementKind.F32:
        return ((BackendKind.CUDNN, partial(make, tf32=True)), (BackendKind.CUDNN, make))
    return ((BackendKind.CUDNN, refused or make),)


def fourier(device: Device, descriptor: Any) -> tuple[Found, Found]:
    """The libraries' Fourier transforms, for a `FourierDescriptor`: those faster than generated kernels, and the others."""
    on_gpu, on_cpu = cufft.refusal(device, descriptor), scipy_fft.refusal(device, descriptor)
    return (
        ((BackendKind.CUFFT, on_gpu or partial(cufft.CufftTransform, device, descriptor)),),
        ((BackendKind.SCIPY, on_cpu or partial(scipy_fft.ScipyTransform, device, descriptor)),),
    )
