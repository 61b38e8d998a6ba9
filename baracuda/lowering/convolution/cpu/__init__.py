"""The lowering of convolutions to LLVM IR."""
