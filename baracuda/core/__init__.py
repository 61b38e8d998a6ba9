"""The nouns that everything else is said in.

elements    what one element of a tensor is
errors      the named errors
device      devices and streams
dlpack      tensors of other libraries, through DLPack
tensor      TensorRef and TensorMut: a tensor as a pointer, a shape, strides, a kind and a device
layout_key       the same facts as a dictionary key, in a few hundred nanoseconds
layout      arithmetic of shapes and strides: what a tensor covers, and whether two overlap
axes        which axes of an iteration space a value varies along
spec        what a plan's tensors must look like, as data
plan        descriptors, args and plans: select once, run many times
locks       locks that a forked child can use, and what a fork waits for
lazy        attributes worked out when first asked for
workspace   scratch memory that the caller owns
sku         the identity of a kernel, what it guarantees, and what a caller may insist on
version     the version of the canonical arithmetic
"""
