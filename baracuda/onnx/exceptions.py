"""Which operators are left out on purpose, and why."""

from __future__ import annotations

from typing import Any

#: By operator: it computes nothing that this library has tensors for.
LEFT_OUT = {
    "StringConcat": "strings",
    "StringNormalizer": "strings",
    "StringSplit": "strings",
    "RegexFullMatch": "strings",
    "TfIdfVectorizer": "strings: n-grams of words",
    "ImageDecoder": "files of pictures, which no formula reads",
    "Bernoulli": "random: the recorded outputs are another generator's",
    "RandomUniformLike": "random: the recorded outputs are another generator's",
}
#: By domain.
DOMAINS_LEFT_OUT = {"ai.onnx.ml": "trees, encoders and linear models of other libraries"}
_STRING = 8


def reason(case: Any) -> str | None:
    """Why a test case is left out; None where it is not."""
    for n in case.model.graph.node:
        if n.domain in DOMAINS_LEFT_OUT:
            return DOMAINS_LEFT_OUT[n.domain]
        if n.op_type in LEFT_OUT:
            return LEFT_OUT[n.op_type]
        if n.op_type == "Dropout" and "train" in case.name and "zero_ratio" not in case.name:
            return "random: the recorded outputs are another generator's"
    for v in (*case.model.graph.input, *case.model.graph.output):
        if v.type.tensor_type.elem_type == _STRING:
            return "strings"
    return None
