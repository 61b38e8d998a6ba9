"""SciPy with `SCIPY_ARRAY_API=1` on our arrays: special functions, statistics, signals and what else its documentation lists."""

from __future__ import annotations

import os
import sys
from typing import Any

os.environ["SCIPY_ARRAY_API"] = "1"  # which SciPy reads when it is imported

import numpy as np
from compare import NUMBERS, ROWS, Call, compare
from scipy import cluster, constants, differentiate, fft, integrate, ndimage, optimize, signal, special, stats
from scipy.optimize import elementwise
from scipy.spatial.transform import RigidTransform, Rotation

OTHERS, COUNTS = ROWS[:, 1] + 0.1, [16.0, 18.0, 16.0, 14.0, 12.0, 12.0]
FILTER = signal.butter(2, 0.2, output="sos")
OF_ONE = "log_ndtr ndtr ndtri erf erfc erfcx erfinv i0 i0e i1 i1e j0 j1 y0 y1 k0 k1 gamma gammaln gammasgn psi expit logit entr "
OF_ONE += "exp1 expi exp2 cbrt sinc spence"
OF_TWO = "rel_entr kl_div xlogy xlog1py chdtr chdtrc betaln gammainc gammaincc stdtr boxcox boxcox1p poch"
OF_ROWS = (
    "skew kurtosis gmean hmean tmean tvar variation sem zscore lmoment rankdata skewtest kurtosistest normaltest jarque_bera "
)
OF_ROWS += "differential_entropy entropy circmean circvar circstd gstd iqr gzscore tmin tmax tstd tsem"
OF_PAIRS = (
    "ttest_ind ttest_rel pearsonr bartlett f_oneway levene kruskal spearmanrho alexandergovern ansari brunnermunzel ranksums "
)
OF_PAIRS += "linregress siegelslopes theilslopes zmap"
TRANSFORMS = "fft ifft rfft irfft hfft ihfft fft2 ifft2 rfft2 fftn ifftn rfftn irfftn dct idct dst idst fftshift ifftshift"
SPECTRA = "hilbert envelope periodogram welch spectrogram stft"
WINDOWS = "hann hamming blackman bartlett cosine nuttall"
#: What SciPy computes on the CPU for all libraries but some that it knows by name.
ON_HOST = (
    "stats.lmoment stats.ranksums stats.linregress stats.siegelslopes stats.theilslopes stats.expectile "
    "stats.obrientransform stats.trimboth stats.trim1 signal.detrend signal.convolve signal.correlate signal.lfilter "
    "signal.filtfilt signal.zpk2tf signal.bilinear signal.upfirdn signal.resample_poly signal.decimate signal.sosfilt "
    "signal.sosfiltfilt signal.medfilt signal.periodogram signal.welch signal.spectrogram signal.stft signal.csd "
    "signal.coherence cluster.vq.vq cluster.vq.kmeans cluster.vq.kmeans2 cluster.hierarchy.linkage "
    "cluster.hierarchy.cophenet integrate.simpson ndimage.gaussian_filter ndimage.laplace ndimage.zoom fft.dct fft.idct "
    "fft.dst fft.idst"
)


def array_namespace(x: Any) -> Any:
    """The array API namespace of an array."""
    return np if isinstance(x, np.ndarray) else x.__array_namespace__()


def _of_one(module: object, name: str, values: object) -> Call:
    return lambda array: getattr(module, name)(array(values))


def _of_two(module: object, name: str, first: object, second: object) -> Call:
    return lambda array: getattr(module, name)(array(first), array(second))


def _window(name: str) -> Call:
    return lambda array: getattr(signal.windows, name)(9, xp=array_namespace(array(NUMBERS)))


def _mean(x: Any, axis: int) -> Any:
    return array_namespace(x).mean(x, axis=axis)


def _cube(x: Any) -> Any:
    return x**3


def _cube_less(x: Any, c: Any) -> Any:
    return x**3 - c


def _area(x: Any) -> Any:
    return x[:, 0] ** 2 * x[:, 1]


def _ends(array: Any) -> Any:
    return array(NUMBERS * 0), array(NUMBERS * 0 + 2)


CALLS: dict[str, Call] = {
    **{f"special.{name}": _of_one(special, name, NUMBERS / 2) for name in OF_ONE.split()},
    **{f"special.{name}": _of_two(special, name, NUMBERS + 1, OTHERS) for name in OF_TWO.split()},
    **{f"special.{name}": _of_one(special, name, ROWS) for name in ("logsumexp", "softmax", "log_softmax")},
    **{f"fft.{name}": _of_one(fft, name, ROWS) for name in TRANSFORMS.split()},
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
    "special.betainc": lambda array: special.betainc(array(NUMBERS + 1), array(OTHERS), array(NUMBERS / 2)),
    "special.fdtrc": lambda array: special.fdtrc(array(NUMBERS + 1), array(OTHERS), array(NUMBERS / 2)),
    "stats.friedmanchisquare": lambda array: stats.friedmanchisquare(*(array(ROWS[:, i]) for i in range(3))),
    "stats.pointbiserialr": lambda array: stats.pointbiserialr(array(ROWS[:, 0] > 0.5), array(NUMBERS)),
    "stats.directional_stats": lambda array: stats.directional_stats(array(ROWS[:, :3])).mean_direction,
    "stats.bootstrap": lambda array: stats.bootstrap((array(NUMBERS),), _mean, n_resamples=99, rng=0).standard_error,
    "stats.false_discovery_control": lambda array: stats.false_discovery_control(array(NUMBERS / 2)),
    "stats.expectile": lambda array: stats.expectile(array(NUMBERS)),
    "stats.kstat": lambda array: stats.kstat(array(NUMBERS)),
    "stats.kstatvar": lambda array: stats.kstatvar(array(NUMBERS)),
    "stats.obrientransform": lambda array: stats.obrientransform(array(NUMBERS), array(OTHERS)),
    "stats.sigmaclip": lambda array: stats.sigmaclip(array(NUMBERS))[0],
    "stats.trimboth": lambda array: stats.trimboth(array(NUMBERS), 0.1),
    "stats.trim1": lambda array: stats.trim1(array(NUMBERS), 0.1),
    "signal.detrend": lambda array: signal.detrend(array(NUMBERS)),
    "signal.convolve": lambda array: signal.convolve(array(NUMBERS), array(OTHERS[:7]), method="direct"),
    "signal.correlate": lambda array: signal.correlate(array(NUMBERS), array(OTHERS[:7])),
    "signal.fftconvolve": lambda array: signal.fftconvolve(array(NUMBERS), array(OTHERS[:7])),
    "signal.oaconvolve": lambda array: signal.oaconvolve(array(NUMBERS), array(OTHERS[:7])),
    "signal.lfilter": lambda array: signal.lfilter(array([1.0, 0.5]), array([1.0, -0.3]), array(NUMBERS)),
    "signal.filtfilt": lambda array: signal.filtfilt(array([1.0, 0.5]), array([1.0, -0.3]), array(NUMBERS)),
    "signal.freqz": lambda array: signal.freqz(array([1.0, 0.5]), array([1.0, -0.3]), 8),
    "signal.zpk2tf": lambda array: signal.zpk2tf(array([0.5]), array([0.1, 0.2]), 2.0),
    "signal.bilinear": lambda array: signal.bilinear(array([1.0, 0.5]), array([1.0, 3.0])),
    "signal.upfirdn": lambda array: signal.upfirdn(array([1.0, 0.5]), array(NUMBERS), 2),
    "signal.resample_poly": lambda array: signal.resample_poly(array(NUMBERS), 2, 3),
    "signal.decimate": lambda array: signal.decimate(array(NUMBERS), 2),
    "signal.sosfilt": lambda array: signal.sosfilt(array(FILTER), array(NUMBERS)),
    "signal.sosfiltfilt": lambda array: signal.sosfiltfilt(array(FILTER), array(NUMBERS)),
    "signal.medfilt": lambda array: signal.medfilt(array(NUMBERS)),
    "signal.resample": lambda array: signal.resample(array(NUMBERS), 30),
    **{f"signal.{name}": _of_one(signal, name, NUMBERS) for name in SPECTRA.split()},
    **{f"signal.{name}": _of_two(signal, name, NUMBERS, OTHERS) for name in ("csd", "coherence")},
    **{f"signal.windows.{name}": _window(name) for name in WINDOWS.split()},
    "cluster.vq.whiten": lambda array: cluster.vq.whiten(array(ROWS)),
    "cluster.vq.vq": lambda array: cluster.vq.vq(array(ROWS), array(ROWS[:4])),
    "cluster.vq.kmeans": lambda array: cluster.vq.kmeans(array(ROWS), array(ROWS[:3])),
    "cluster.vq.kmeans2": lambda array: cluster.vq.kmeans2(array(ROWS), array(ROWS[:3]), minit="matrix"),
    "cluster.hierarchy.linkage": lambda array: cluster.hierarchy.linkage(array(ROWS[:9])),
    "cluster.hierarchy.cophenet": lambda array: cluster.hierarchy.cophenet(cluster.hierarchy.linkage(array(ROWS[:9]))),
    "integrate.trapezoid": lambda array: integrate.trapezoid(array(NUMBERS)),
    "integrate.cumulative_trapezoid": lambda array: integrate.cumulative_trapezoid(array(NUMBERS)),
    "integrate.simpson": lambda array: integrate.simpson(array(NUMBERS)),
    "integrate.cumulative_simpson": lambda array: integrate.cumulative_simpson(array(NUMBERS), dx=0.5),
    "integrate.romb": lambda array: integrate.romb(array(NUMBERS[:33])),
    "integrate.tanhsinh": lambda array: integrate.tanhsinh(_cube, array(NUMBERS * 0), array(NUMBERS)).integral,
    "integrate.cubature": lambda array: integrate.cubature(_area, array([0.0, 0.0]), array([1.0, 1.0])).estimate,
    "differentiate.derivative": lambda array: differentiate.derivative(_cube, array(NUMBERS)).df,
    "differentiate.jacobian": lambda array: differentiate.jacobian(_cube, array(NUMBERS)).df,
    "optimize.rosen": lambda array: optimize.rosen(array(NUMBERS[:5])),
    "optimize.rosen_der": lambda array: optimize.rosen_der(array(NUMBERS[:5])),
    "optimize.rosen_hess": lambda array: optimize.rosen_hess(array(NUMBERS[:5])),
    "optimize.find_root": lambda array: elementwise.find_root(_cube_less, _ends(array), args=(array(NUMBERS),)).x,
    "optimize.bracket_root": lambda array: elementwise.bracket_root(_cube_less, *_ends(array), args=(array(NUMBERS),)).bracket,
    "ndimage.gaussian_filter": lambda array: ndimage.gaussian_filter(array(ROWS), 1.0),
    "ndimage.laplace": lambda array: ndimage.laplace(array(ROWS)),
    "ndimage.zoom": lambda array: ndimage.zoom(array(ROWS), 2.0),
    "spatial.Rotation.as_matrix": lambda array: Rotation.from_quat(array(ROWS[:, :4])).as_matrix(),
    "spatial.Rotation.apply": lambda array: Rotation.from_quat(array(ROWS[:, :4])).apply(array(ROWS[:, :3])),
    "spatial.Rotation.from_euler": lambda array: Rotation.from_euler("xyz", array(ROWS[:, :3])).as_rotvec(),
    "spatial.RigidTransform": lambda array: RigidTransform.from_translation(array(ROWS[:, :3])).apply(array(ROWS[:, :3])),
    "constants.convert_temperature": lambda array: constants.convert_temperature(array(NUMBERS), "C", "F"),
}

if __name__ == "__main__":
    sys.exit(compare(CALLS, on_host=ON_HOST) > 0)
