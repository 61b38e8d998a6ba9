/* Launching the kernels of a CUDA program: what `baracuda.runtime.cuda` has in LLVM IR too, for where no C compiler was. Its address
 * is all that Python sees of it.
 *
 * A block of 64-bit words says what to launch:
 *
 *     number of steps, address of the stream's word, context, kernelParams, cuLaunchKernel, cuCtxGetCurrent, cuCtxPushCurrent,
 *     cuCtxPopCurrent, the one kernel parameter
 *     for each step: function, grid x, y, z, threads of a block, bytes of shared memory
 */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>

typedef int (*launch_kernel)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **);
typedef int (*get_current)(void **);
typedef int (*push_current)(void *);

#define HEADER 9
#define STEP 6

/* The driver's status: 0, or that of the call that failed, after which nothing more is launched. */
static int launch(const uint64_t *block) {
    void *stream = *(void **)(uintptr_t)block[1], *context = (void *)(uintptr_t)block[2], *current = NULL;
    const launch_kernel start = (launch_kernel)(uintptr_t)block[4];
    const get_current get = (get_current)(uintptr_t)block[5], pop = (get_current)(uintptr_t)block[7];
    const push_current push = (push_current)(uintptr_t)block[6];
    get(&current);
    const int elsewhere = current != context;
    int status = elsewhere ? push(context) : 0;
    if (status) return status;
    const uint64_t *step = block + HEADER;
    for (uint64_t i = 0; i < block[0] && !status; ++i, step += STEP)
        status = start((void *)(uintptr_t)step[0], (unsigned)step[1], (unsigned)step[2], (unsigned)step[3], (unsigned)step[4], 1, 1,
                       (unsigned)step[5], stream, (void **)(uintptr_t)block[3], NULL);
    if (elsewhere) pop(&current);
    return status;
}

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT, "baracuda.native.launch", "Launching the kernels of a CUDA program.", -1, NULL};

PyMODINIT_FUNC PyInit_launch(void) {
    PyObject *made = PyModule_Create(&module);
    if (made && PyModule_AddObject(made, "ADDRESS", PyLong_FromVoidPtr((void *)(uintptr_t)launch))) Py_CLEAR(made);
    return made;
}
