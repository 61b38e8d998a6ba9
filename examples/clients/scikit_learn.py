"""scikit-learn with `array_api_dispatch=True` on our arrays: what its documentation lists, as far as no matrix is decomposed.

`KMeans` and what else it does not list takes them as NumPy's arrays, without dispatch and on the CPU.
"""

from __future__ import annotations

import os
import sys

os.environ["SCIPY_ARRAY_API"] = "1"  # which SciPy reads when it is imported

import sklearn
from compare import GUESSES, LABELS, NUMBERS, ROWS, Call, compare
from sklearn import metrics
from sklearn.calibration import CalibratedClassifierCV
from sklearn.cluster import KMeans
from sklearn.linear_model import LogisticRegression, PoissonRegressor
from sklearn.metrics import cluster, pairwise
from sklearn.mixture import GaussianMixture
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold, cross_val_predict, cross_val_score, train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    Binarizer,
    FunctionTransformer,
    KernelCenterer,
    LabelBinarizer,
    LabelEncoder,
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    PolynomialFeatures,
    StandardScaler,
)

CLASSES = "accuracy_score balanced_accuracy_score f1_score precision_score recall_score jaccard_score zero_one_loss hamming_loss "
CLASSES += "cohen_kappa_score confusion_matrix multilabel_confusion_matrix precision_recall_fscore_support"
ERRORS = "mean_squared_error root_mean_squared_error mean_absolute_error median_absolute_error max_error r2_score "
ERRORS += "d2_absolute_error_score explained_variance_score mean_absolute_percentage_error mean_squared_log_error "
ERRORS += "mean_poisson_deviance mean_gamma_deviance mean_tweedie_deviance mean_pinball_loss d2_tweedie_score"
KERNELS = "cosine_similarity cosine_distances euclidean_distances linear_kernel rbf_kernel polynomial_kernel sigmoid_kernel "
KERNELS += "chi2_kernel laplacian_kernel additive_chi2_kernel paired_cosine_distances paired_euclidean_distances "
KERNELS += "manhattan_distances paired_manhattan_distances pairwise_distances"
CLUSTERS = "adjusted_mutual_info_score adjusted_rand_score completeness_score fowlkes_mallows_score homogeneity_score "
CLUSTERS += "mutual_info_score normalized_mutual_info_score rand_score v_measure_score"
SCORES = "average_precision_score brier_score_loss d2_brier_score d2_log_loss_score log_loss"
TRANSFORMERS = [
    StandardScaler(), MinMaxScaler(), MaxAbsScaler(), Normalizer(), Binarizer(threshold=0.5), PolynomialFeatures(degree=2),
    FunctionTransformer(),
]  # fmt: skip


def _transformed(transformer: object) -> Call:
    return lambda array: transformer.fit_transform(array(ROWS))  # type: ignore[attr-defined]


def _fitted(estimator: object, *results: str) -> Call:
    """What an estimator says of the rows once it knows their labels, and what it has learned."""

    def call(array: object) -> object:
        made = estimator.fit(array(ROWS), array(LABELS))  # type: ignore[attr-defined, operator]
        return [getattr(made, r) if r.endswith("_") else getattr(made, r)(array(ROWS)) for r in results]  # type: ignore[operator]

    return call


def _of_numpy(array: object) -> object:
    with sklearn.config_context(array_api_dispatch=False):
        return KMeans(3, random_state=0, n_init=1).fit(array(ROWS)).cluster_centers_  # type: ignore[operator]


def _metric(name: str, first: object, second: object, module: object = metrics) -> Call:
    return lambda array: getattr(module, name)(array(first), array(second))


CALLS: dict[str, Call] = {
    **{type(t).__name__: _transformed(t) for t in TRANSFORMERS},
    "KernelCenterer": lambda array: KernelCenterer().fit_transform(array(ROWS @ ROWS.T)),
    "LabelEncoder": lambda array: LabelEncoder().fit_transform(array(LABELS)),
    "train_test_split": lambda array: train_test_split(array(ROWS), array(NUMBERS), random_state=0),
    **{name: _metric(name, LABELS, GUESSES) for name in CLASSES.split()},
    **{name: _metric(name, NUMBERS, ROWS[:, 0] + 0.1) for name in ERRORS.split()},
    **{name: _metric(name, LABELS, NUMBERS.clip(0.05, 0.95)) for name in SCORES.split()},
    **{name: _metric(name, LABELS, GUESSES, cluster) for name in CLUSTERS.split()},
    **{name: _metric(name, ROWS, LABELS, cluster) for name in ("calinski_harabasz_score", "davies_bouldin_score")},
    **{name: _metric(name, LABELS, NUMBERS) for name in ("precision_recall_curve", "det_curve")},
    "roc_curve": lambda array: metrics.roc_curve(array(LABELS), array(NUMBERS), drop_intermediate=False)[:2],
    "fbeta_score": lambda array: metrics.fbeta_score(array(LABELS), array(GUESSES), beta=0.5),
    **{name: _metric(name, ROWS, ROWS[::-1].copy(), pairwise) for name in KERNELS.split()},
    "pairwise_distances_argmin": lambda array: metrics.pairwise_distances_argmin(array(ROWS), array(ROWS[:4])),
    "LabelBinarizer": lambda array: LabelBinarizer().fit_transform(array(LABELS)),
    "GaussianNB": _fitted(GaussianNB(), "predict_proba", "predict", "theta_"),
    "LogisticRegression": _fitted(LogisticRegression(), "predict_proba", "coef_"),
    "PoissonRegressor": _fitted(PoissonRegressor(solver="lbfgs"), "predict", "coef_"),
    "GaussianMixture": _fitted(
        GaussianMixture(2, covariance_type="diag", init_params="random_from_data", random_state=0), "means_", "predict"
    ),
    "CalibratedClassifierCV": _fitted(CalibratedClassifierCV(GaussianNB(), method="temperature", cv=3), "predict_proba"),
    "GridSearchCV": _fitted(GridSearchCV(GaussianNB(), {"var_smoothing": [1e-9, 1e-2]}, cv=3, error_score="raise"), "predict"),
    "Pipeline": _fitted(make_pipeline(StandardScaler(), GaussianNB()), "predict"),
    "cross_val_predict": lambda array: cross_val_predict(GaussianNB(), array(ROWS), array(LABELS), cv=3),
    "cross_val_score": lambda array: cross_val_score(GaussianNB(), array(ROWS), array(LABELS), cv=3),
    "KFold": lambda array: [i for pair in KFold(3).split(array(ROWS)) for i in pair],
    "StratifiedKFold": lambda array: [i for pair in StratifiedKFold(3).split(array(ROWS), array(LABELS)) for i in pair],
    "KMeans-without-dispatch": _of_numpy,
}

if __name__ == "__main__":
    sklearn.set_config(array_api_dispatch=True)
    sys.exit(compare(CALLS, on_host=f"{CLUSTERS} CalibratedClassifierCV KMeans-without-dispatch") > 0)
