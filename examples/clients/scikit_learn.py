"""scikit-learn with `array_api_dispatch=True` on our arrays: what its documentation lists, as far as no matrix is decomposed."""

from __future__ import annotations

import os
import sys

os.environ["SCIPY_ARRAY_API"] = "1"  # which SciPy reads when it is imported

import sklearn
from compare import GUESSES, LABELS, NUMBERS, ROWS, Call, compare
from sklearn import metrics
from sklearn.metrics import pairwise
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import (
    Binarizer,
    KernelCenterer,
    LabelEncoder,
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    PolynomialFeatures,
    StandardScaler,
)

CLASSES = "accuracy_score balanced_accuracy_score f1_score precision_score recall_score jaccard_score zero_one_loss hamming_loss "
CLASSES += "cohen_kappa_score confusion_matrix multilabel_confusion_matrix"
ERRORS = "mean_squared_error root_mean_squared_error mean_absolute_error median_absolute_error max_error r2_score "
ERRORS += "d2_absolute_error_score explained_variance_score mean_absolute_percentage_error mean_squared_log_error "
ERRORS += "mean_poisson_deviance mean_gamma_deviance mean_tweedie_deviance mean_pinball_loss d2_tweedie_score"
KERNELS = "cosine_similarity cosine_distances euclidean_distances linear_kernel rbf_kernel polynomial_kernel sigmoid_kernel "
KERNELS += "chi2_kernel laplacian_kernel additive_chi2_kernel paired_cosine_distances paired_euclidean_distances"
TRANSFORMERS = [
    StandardScaler(), MinMaxScaler(), MaxAbsScaler(), Normalizer(), Binarizer(threshold=0.5), PolynomialFeatures(degree=2),
]  # fmt: skip


def _transformed(transformer: object) -> Call:
    return lambda array: transformer.fit_transform(array(ROWS))  # type: ignore[attr-defined]


def _metric(name: str, first: object, second: object, module: object = metrics) -> Call:
    return lambda array: getattr(module, name)(array(first), array(second))


CALLS: dict[str, Call] = {
    **{type(t).__name__: _transformed(t) for t in TRANSFORMERS},
    "KernelCenterer": lambda array: KernelCenterer().fit_transform(array(ROWS @ ROWS.T)),
    "LabelEncoder": lambda array: LabelEncoder().fit_transform(array(LABELS)),
    "train_test_split": lambda array: train_test_split(array(ROWS), array(NUMBERS), random_state=0),
    **{name: _metric(name, LABELS, GUESSES) for name in CLASSES.split()},
    **{name: _metric(name, NUMBERS, ROWS[:, 0] + 0.1) for name in ERRORS.split()},
    **{name: _metric(name, LABELS, NUMBERS.clip(0.05, 0.95)) for name in ("log_loss", "brier_score_loss")},
    **{name: _metric(name, LABELS, NUMBERS) for name in ("precision_recall_curve", "det_curve")},
    **{name: _metric(name, ROWS, ROWS[::-1].copy(), pairwise) for name in KERNELS.split()},
}

if __name__ == "__main__":
    sklearn.set_config(array_api_dispatch=True)
    sys.exit(compare(CALLS) > 0)
