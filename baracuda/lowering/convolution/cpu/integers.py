"""The factors of a convolution as integers with a scale for each block, on the CPU."""

from __future__ import annotations

from baracuda.codegen.llvm.ir import Value, constant, i64
from baracuda.codegen.llvm.memory import load
from baracuda.formula.integer_products import BLOCK
from baracuda.lowering.convolution.problem import ConvolutionProblem
from baracuda.lowering.convolution.quantized import Quantized
from baracuda.lowering.nest.cpu.kernel import Kernel
from baracuda.lowering.nest.cpu.strided_iterator import StridedIterator
from baracuda.runtime.program import Launch

_NAN, _INFINITY = 0x7FC00000, 0x7F800000


def quantize(f: Quantized, p: ConvolutionProblem, kernel: Kernel) -> Launch:
    """One step: a unit for each row and block."""
    b, bits, kind = kernel.b, p.bits, f.source.kind
    start = kernel.workspace
    with b.at_entry():
        to, scales = b.at(start, kernel.integer(f.integers)), b.at(start, kernel.integer(f.scales))
    strides = {
        0: kernel.integers([*(s * kind.itemsize for s in f.source_rows), f.source_channel * kind.itemsize * BLOCK]),
        1: kernel.integers([*(s * 4 for s in f.integer_rows), f.integer_channel * 4 * BLOCK]),
        2: kernel.integers([*(s * 4 for s in f.scale_rows), f.scale_block * 4]),
    }
    extents = kernel.integers([*f.rows, p.blocks])
    iterator = StridedIterator(b, extents, strides, {0: kernel.operand(f.operand), 1: to, 2: scales})
    channels = kernel.integer(p.channels)
    step, put = kernel.integers([f.source_channel * kind.itemsize, f.integer_channel * 4])
    iterator.start(kernel.begin)
    with b.loop(kernel.begin, kernel.end):
        pointers, block = iterator.pointers(), iterator.indices()[-1]
        count = b.min(BLOCK, b.sub(channels, b.mul(block, BLOCK)))
        largest = b.variable(constant("i32", 0))
        with b.loop(0, count) as c:
            magnitude = b.and_(b.convert("bitcast", load(b, kind, b.at(pointers[0], b.mul(c, step)), 1), "i32"), 0x7FFFFFFF)
            magnitude = b.select(b.compare("icmp ult", magnitude, _INFINITY), magnitude, constant("i32", 0))
            old = largest.get()
            largest.set(b.select(b.compare("icmp ugt", magnitude, old), magnitude, old))
        # the exponent of frexp, one more where the significand is above 127/128
        wide = b.convert("bitcast", b.convert("fpext", b.convert("bitcast", largest.get(), "float"), "double"), "i64")
        above = b.convert("zext", b.compare("icmp ugt", b.and_(wide, (1 << 52) - 1), 63 << 46), "i64")
        exponent = b.add(b.sub(b.shr(wide, 52), 1022), above)
        lowest = i64(bits - 149)
        exponent = b.select(b.less(exponent, lowest), lowest, exponent)

        def power(e: Value) -> Value:
            return b.convert("bitcast", b.shl(b.add(e, 1023), 52), "double")

        factor = power(b.sub(bits, exponent))
        b.store(b.convert("fptrunc", power(b.sub(exponent, bits)), "float"), pointers[2], 4)
        with b.loop(0, count) as c:
            x = load(b, kind, b.at(pointers[0], b.mul(c, step)), 1)
            scaled = b.call("double", "llvm.roundeven.f64", b.op("fmul", b.convert("fpext", x, "double"), factor))
            magnitude = b.and_(b.convert("bitcast", x, "i32"), 0x7FFFFFFF)
            finite = b.compare("icmp ult", magnitude, _INFINITY)
            q = b.select(finite, b.convert("fptrunc", scaled, "float"), constant("float", _NAN))
            b.store(q, b.at(pointers[1], b.mul(c, put)), 4)
        iterator.advance()
    return kernel.step(f.count * p.blocks, 4.0 * min(p.channels, BLOCK) + 10)
