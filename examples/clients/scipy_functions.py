"""SciPy with `SCIPY_ARRAY_API=1` on our arrays: special functions, statistics, signals and what else its documentation lists."""

from __future__ import annotations

import os
import sys

os.environ["SCIPY_ARRAY_API"] = "1"  # which SciPy reads when it is imported

from compare import NUMBERS, ROWS, Call, compare
from scipy import cluster, constants, integrate, ndimage, signal, special, stats
from scipy.spatial.transform import Rotation

OTHERS, COUNTS = ROWS[:, 1] + 0.1, [16.0, 18.0, 16.0, 14.0, 12.0, 12.0]
FILTER = signal.butter(2, 0.2, output="sos")
OF_ONE = "log_ndtr ndtr ndtri erf erfc i0 i0e i1 i1e gammaln expit logit entr"
OF_TWO = "rel_entr xlogy chdtr chdtrc betaln gammainc gammaincc stdtr"
OF_ROWS = (
    "skew kurtosis gmean hmean tmean tvar variation sem zscore lmoment rankdata skewtest kurtosistest normaltest jarque_bera "
)
OF_ROWS += "differential_entropy entropy circmean circvar circstd gstd iqr"
OF_PAIRS = "ttest_ind ttest_rel pearsonr bartlett f_oneway levene kruskal spearmanrho"


def _of_one(module: object, name: str, values: object) -> Call:
    return lambda array: getattr(module, name)(array(values))


def _of_two(module: object, name: str, first: object, second: object) -> Call:
    return lambda array: getattr(module, name)(array(first), array(second))


CALLS: dict[str, Call] = {
    **{f"special.{name}": _of_one(special, name, NUMBERS / 2) for name in OF_ONE.split()},
    **{f"special.{name}": _of_two(special, name, NUMBERS + 1, OTHERS) for name in OF_TWO.split()},
    **{f"special.{name}": _of_one(special, name, ROWS) for name in ("logsumexp", "softmax", "log_softmax")},
    **{f"stats.{name}": _of_one(stats, name, ROWS) for name in OF_ROWS.split()},
    **{f"stats.{name}": _of_two(stats, name, NUMBERS, OTHERS) for name in OF_PAIRS.split()},
    "stats.describe": lambda array: stats.describe(array(ROWS))[2:],
    "stats.moment": lambda array: stats.moment(array(ROWS), 3),
    "stats.pmean": lambda array: stats.pmean(array(ROWS), 2),
    "stats.ttest_1samp": lambda array: stats.ttest_1samp(array(ROWS), 0.5),
    "stats.chisquare": lambda array: stats.chisquare(array(COUNTS)),
    "stats.power_divergence": lambda array: stats.power_divergence(array(COUNTS)),
    "stats.combine_pvalues": lambda array: stats.combine_pvalues(array(NUMBERS / 2)),
    "stats.mannwhitneyu": lambda array: stats.mannwhitneyu(array(NUMBERS), array(OTHERS), method="asymptotic"),
    "stats.wilcoxon": lambda array: stats.wilcoxon(array(NUMBERS - OTHERS), method="asymptotic"),
    "stats.quantile": lambda array: stats.quantile(array(NUMBERS), array([0.2, 0.5])),
    "stats.trim_mean": lambda array: stats.trim_mean(array(NUMBERS), 0.1),
    "stats.boxcox_llf": lambda array: stats.boxcox_llf(0.5, array(NUMBERS)),
    "signal.detrend": lambda array: signal.detrend(array(NUMBERS)),
    "signal.convolve": lambda array: signal.convolve(array(NUMBERS), array(OTHERS[:7]), method="direct"),
    "signal.lfilter": lambda array: signal.lfilter(array([1.0, 0.5]), array([1.0, -0.3]), array(NUMBERS)),
    "signal.sosfilt": lambda array: signal.sosfilt(array(FILTER), array(NUMBERS)),
    "signal.medfilt": lambda array: signal.medfilt(array(NUMBERS)),
    "signal.resample": lambda array: signal.resample(array(NUMBERS), 30),
    "cluster.vq.whiten": lambda array: cluster.vq.whiten(array(ROWS)),
    "cluster.vq.vq": lambda array: cluster.vq.vq(array(ROWS), array(ROWS[:4])),
    "integrate.trapezoid": lambda array: integrate.trapezoid(array(NUMBERS)),
    "integrate.cumulative_trapezoid": lambda array: integrate.cumulative_trapezoid(array(NUMBERS)),
    "ndimage.gaussian_filter": lambda array: ndimage.gaussian_filter(array(ROWS), 1.0),
    "spatial Rotation.as_matrix": lambda array: Rotation.from_quat(array(ROWS[:, :4])).as_matrix(),
    "spatial Rotation.apply": lambda array: Rotation.from_quat(array(ROWS[:, :4])).apply(array(ROWS[:, :3])),
    "constants.convert_temperature": lambda array: constants.convert_temperature(array(NUMBERS), "C", "F"),
}

if __name__ == "__main__":
    sys.exit(compare(CALLS) > 0)
