"""What samplers on CUDA make of a row's elements, one by one: the formulas of the order as functions, and `Row`."""

from __future__ import annotations

from collections.abc import Mapping

from baracuda.codegen.cuda.emit import Emitter
from baracuda.codegen.cuda.prelude import COMPUTE_TYPE, STORAGE_TYPE
from baracuda.formula.expr import Expr
from baracuda.lowering.sampling import arithmetic as a
from baracuda.lowering.sampling.cuda.machine import ROOM, THREADS
from baracuda.lowering.sampling.problem import Sampling

LOWEST = "__uint_as_float(0xff800000u)"


def _function(name: str, result: Expr, parameters: Mapping[Expr, str]) -> str:
    """A formula as a function."""
    emitter = Emitter(parameters.get)
    value = emitter.value(result)
    takes = ", ".join(f"{COMPUTE_TYPE[p.kind]} {text}" for p, text in parameters.items())
    body = "\n".join(f"  {line}" for line in [*emitter.lines, f"return {value};"])
    return f"__device__ __forceinline__ {COMPUTE_TYPE[result.kind]} {name}({takes}) {{\n{body}\n}}\n"


def row_functions(problem: Sampling) -> str:
    """What a row is made of, element by element."""
    named = [
        ("held", a.LOGIT_HELD, {a.LOGIT: "l"}),
        ("level_of", a.LEVEL_OF, {a.M: "m", a.X: "x"}),
        ("typical_level_of", a.TYPICAL_LEVEL_OF, {a.V: "v", a.MU: "mu"}),
        ("mean_term_of", a.MEAN_TERM_OF, {a.E: "e", a.V: "v"}),
        ("steps_of", a.STEPS_OF, {a.V: "v"}),
        ("limit_of", a.LIMIT_OF, {a.S1: "s1", a.S2: "s2", a.COUNT: "c", a.NSIGMA: "nsigma"}),
        ("least_of", a.LEAST_OF, {a.MIN_P: "min_p"}),
        ("target_of", a.TARGET_OF, {a.P: "p", a.W: "w"}),
        ("mu_of", a.MU_OF, {a.R: "r", a.W: "w"}),
        ("place_of", a.PLACE_OF, {a.WORD: "word", a.W: "w"}),
        ("x_of", a.X_OF, {a.LOGIT: "l", a.TEMPERATURE: "t"}),
        ("share_of", a.SHARE_OF, {a.LOGIT: "l", a.TOP: "top"}),
        ("e_of", a.E_OF, {a.V: "v"}),
    ]
    word = a.word_of(problem.bits, problem.stream, folded=problem.folded)
    named.append(("word_of", word, {a.KEY0: "k0", a.KEY1: "k1", a.ROW: "row"}))
    constants = f"""
typedef {STORAGE_TYPE[problem.kind]} L;
constexpr int T = {THREADS}, WARPS = T / 32, E = 16 / sizeof(L), BINS = 2048, DIGITS = 256, ROOM = {ROOM};
constexpr bool UNIT = {str(problem.unit).lower()};
"""
    # of logits so far below the largest the weight is 0; of what is typical their e counts
    near = "true" if problem.probabilities or problem.typical else f"v < {a.FADED}f"
    row = f"""
// `WEIGHT_OF` in one instruction.
__device__ __forceinline__ unsigned weight_of(float e) {{ return __float2uint_rn(e * {a.ONE}f); }}
// What a row says of its elements; each thread has it all.
struct Row {{
  float top, temperature, m, mu, limit;
  unsigned least, deepest;
  __device__ __forceinline__ bool out(float l) const {{ return !(l > {"0.0f" if problem.probabilities else LOWEST}); }}
  __device__ __forceinline__ float x(float l) const {{
    return {"temperature > 0.0f ? x_of(l, temperature) : l" if problem.tempered else "l"};
  }}
  __device__ __forceinline__ float share(float l, float v) const {{
    return {"share_of(l, top)" if problem.probabilities else "e_of(v)"};
  }}
  // Whether an element, held, is left by all but the last threshold.
  __device__ __forceinline__ bool look(float l, float& v, float& e, unsigned& level, unsigned& weight) const {{
    const float own = x(l);
    v = m - own;
    level = level_of(m, own);
    if (!(top - l <= limit) || level > deepest) return false;
    weight = 0;
    if ({near}) {{
      e = share(l, v);
      weight = weight_of(e);
    }}
    return weight >= least;
  }}
}};
"""
    return constants + "".join(_function(*f) for f in named) + row
