"""Emitters that know no problem: what writes LLVM IR and CUDA C++ for one operation, one value, one loop."""
