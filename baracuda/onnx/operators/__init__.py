"""What serves each ONNX operator, a file a domain; importing them fills the table in `registry`."""

from baracuda.onnx.operators import (  # noqa: F401
    activations,
    contributed,
    control,
    creation,
    elements,
    elementwise,
    image,
    indexing,
    losses,
    normalization,
    older,
    products,
    quantization,
    recurrent,
    reductions,
    sequences,
    shapes,
    signal,
    training,
    windows,
)
