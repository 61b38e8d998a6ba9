"""LLVM IR: a writer of its text, and the operations of the contract on vectors and in memory."""
