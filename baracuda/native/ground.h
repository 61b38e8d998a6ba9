/* What launches need of memory: results, scratch, the address of each source; and the stream. */
#ifndef BARACUDA_GROUND_H
#define BARACUDA_GROUND_H
#include "call.h"

/* A small tensor of PyTorch's and its memory, in one block. */
static void free_block(DLManagedTensorVersioned *self) { free(self); }

static PyObject *new_torch(const Result *r, char **data) {
    size_t head = (sizeof(DLManagedTensorVersioned) + 16 * (size_t)r->rank + 63) & ~(size_t)63;
    char *block = aligned_alloc(64, (head + (size_t)r->nbytes + 63) & ~(size_t)63);
    if (block == NULL) return PyErr_NoMemory();
    DLManagedTensorVersioned *m = (DLManagedTensorVersioned *)block;
    int64_t *shape = (int64_t *)(m + 1);
    *m = (DLManagedTensorVersioned){.version = {1, 1}, .deleter = free_block};
    memcpy(shape, r->shape, 8 * (size_t)r->rank);
    memcpy(shape + r->rank, r->strides, 8 * (size_t)r->rank);
    *data = block + head;
    m->dl_tensor = (DLTensor){*data, {DL_CPU, 0}, r->rank, r->dtype, shape, shape + r->rank, 0};
    void *made;
    if (known.torch->managed_tensor_to_py_object_no_sync(m, &made)) { free(block); return NULL; }
    return made;
}

static PyObject *new_result(const Result *r, PyObject *like, char **data) {
    if (r->way == NEW_NUMPY) {
        Py_INCREF(r->descr);
        PyObject *made = PyArray_NewFromDescr(&PyArray_Type, (PyArray_Descr *)r->descr, r->rank, (npy_intp *)r->shape, NULL, NULL, 0, NULL);
        if (made != NULL) *data = PyArray_BYTES((PyArrayObject *)made);
        return made;
    }
    if (r->way == NEW_TORCH) return new_torch(r, data);
    if (r->way == NEW_ARRAY) return new_array(r->descr, r->nbytes, data);
    PyObject *made = PyObject_CallOneArg(r->allocate, like);
    if (made == NULL) return NULL;
    Key of_result;
    begin_key(&of_result); /* one tensor fits */
    int library = library_of(made);
    if (!library || put_tensor(&of_result, made, library, 1) <= 0) {
        Py_DECREF(made);
        if (!PyErr_Occurred()) PyErr_SetString(PyExc_RuntimeError, "a new tensor has no address");
        return NULL;
    }
    *data = of_result.tensor[0].data;
    return made;
}

/* The thread's own scratch memory for calls on the CPU, which have ended when they return; it goes with the thread. */
static pthread_key_t ends_with_thread;
static _Thread_local struct { char *memory; int64_t nbytes; int taken; } scratch;

static char *scratch_of(int64_t nbytes) {
    if (scratch.nbytes < nbytes) {
        int64_t size = (nbytes + 4095) & ~(int64_t)4095;
        free(scratch.memory);
        scratch.memory = aligned_alloc(256, (size_t)size);
        scratch.nbytes = scratch.memory == NULL ? 0 : size;
        pthread_setspecific(ends_with_thread, scratch.memory);
    }
    return scratch.memory;
}

enum { FEW_RESULTS = 32, FEW_SOURCES = FEW_TENSORS + FEW_RESULTS + 2 };

/* What launches need: the address of each source, results, scratch memory, the stream. */
typedef struct {
    char **address;
    PyObject **made, *memory;
    int allocated, own_scratch;
    uint64_t stream;
    char *few_addresses[FEW_SOURCES];
    PyObject *few_made[FEW_RESULTS];
} Ground;

/* Whether it is all there; if not, and there is no error, the long way has to be taken. To be let go in either case. */
static inline int prepare(Ground *g, const Call *call, const Key *key) {
    g->address = g->few_addresses;
    g->made = g->few_made;
    g->memory = NULL;
    g->allocated = g->own_scratch = 0;
    g->stream = 0;
    if (call->cuda && known.found_wrong != NULL && *known.found_wrong) {
        PyObject *none = PyObject_CallNoArgs(known.raise_pending);
        if (none == NULL) return 0;
        Py_DECREF(none);
    }
    int sources = key->tensors + call->results + 2;
    if (sources > FEW_SOURCES) g->address = malloc(sizeof(char *) * (size_t)sources);
    if (call->results > FEW_RESULTS) g->made = malloc(sizeof(PyObject *) * (size_t)call->results);
    if (g->address == NULL || g->made == NULL) { PyErr_NoMemory(); return 0; }
    PyObject *like = key->tensor[call->like].object;
    g->address[0] = NULL;
    for (int i = 0; i < key->tensors; i++) g->address[1 + i] = key->tensor[i].data;
    for (; g->allocated < call->results; g->allocated++) {
        char **at = &g->address[1 + key->tensors + g->allocated];
        g->made[g->allocated] = new_result(&call->result[g->allocated], like, at);
        if (g->made[g->allocated] == NULL) return 0;
        if (alignment(*at) < 16) { g->allocated++; return 0; }
    }
    char **scratch_at = &g->address[1 + key->tensors + call->results];
    *scratch_at = NULL;
    if (call->scratch && !call->cuda && call->scratch <= SMALL_SCRATCH && !scratch.taken) {
        g->own_scratch = scratch.taken = 1;
        *scratch_at = scratch_of(call->scratch);
        if (*scratch_at == NULL) { PyErr_NoMemory(); return 0; }
    } else if (call->scratch) {
        Result by_python = {.way = NEW_BY_PYTHON, .allocate = call->scratch_on};
        g->memory = new_result(&by_python, like, scratch_at);
        if (g->memory == NULL) return 0;
    }
    if (call->cuda) {
        const Tensor *t = &key->tensor[call->like];
        void *current;
        if (t->library == OF_TORCH) {
            if (known.torch->current_work_stream(DL_CUDA, t->device_id, &current)) return 0;
            g->stream = (uint64_t)current;
        } else {
            PyObject *handle = PyObject_CallOneArg(known.stream_of, like);
            if (handle == NULL) return 0;
            g->stream = PyLong_AsUnsignedLongLong(handle);
            Py_DECREF(handle);
        }
    } else if (call->threads) {
        PyObject *started = PyObject_CallNoArgs(known.start_threads);
        if (started == NULL) return 0;
        Py_DECREF(started);
    }
    return 1;
}

static inline void let_go(Ground *g) {
    if (g->own_scratch) scratch.taken = 0;
    Py_XDECREF(g->memory);
    for (int i = 0; i < g->allocated; i++) Py_DECREF(g->made[i]);
    if (g->address != g->few_addresses) free(g->address);
    if (g->made != g->few_made) free(g->made);
}

/* What a call returns, of its tensors and of those it made. */
static PyObject *answer_of(const Call *call, const Key *key, PyObject *const *made) {
    int single = call->returns == 1 && call->rebuild == Py_None;
    PyObject *tuple = single ? NULL : PyTuple_New(call->returns);
    for (int i = 0; single || (tuple != NULL && i < call->returns); i++) {
        int source = call->returned[i];
        PyObject *object = source == 0 ? Py_None : source <= key->tensors ? key->tensor[source - 1].object : made[source - 1 - key->tensors];
        if (single) return Py_NewRef(object);
        PyTuple_SET_ITEM(tuple, i, Py_NewRef(object));
    }
    if (tuple == NULL || call->rebuild == Py_None || call->rebuild == Py_True) return tuple;
    PyObject *answer = PyObject_CallOneArg(call->rebuild, tuple);
    Py_DECREF(tuple);
    return answer;
}

#endif
