/* Repeated calls of functions: what a call's arguments look like as a key, and the launches that such a call comes down to.
 *
 * `Function` is a callable around a function of Python's. A call is looked up by the layouts of its tensors, the types of its
 * numbers and the values of all else. Where there is a `Call` for that, results are allocated and kernels launched from here;
 * where there is none the function is called, and `record` sees what it does. baracuda/frontends/call_cache.py has the same in
 * Python, for where this file was not compiled, and says what a call must be like for that.
 */
#define PY_SSIZE_T_CLEAN
#define NPY_NO_DEPRECATED_API NPY_1_7_API_VERSION
#include <Python.h>
#include <numpy/arrayobject.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <structmember.h>

/* --- DLPack's exchange of tensors, as far as it is used (dmlc/dlpack, version 1.3) ---------------------------------- */

typedef struct { int32_t type, id; } DLDevice;
typedef struct { uint8_t code, bits; uint16_t lanes; } DLDataType;
typedef struct {
    void *data;
    DLDevice device;
    int32_t ndim;
    DLDataType dtype;
    int64_t *shape, *strides;
    uint64_t byte_offset;
} DLTensor;
typedef struct DLManagedTensorVersioned {
    struct { uint32_t major, minor; } version;
    void *manager_ctx;
    void (*deleter)(struct DLManagedTensorVersioned *self);
    uint64_t flags;
    DLTensor dl_tensor;
} DLManagedTensorVersioned;
typedef struct {
    struct { struct { uint32_t major, minor; } version; void *prev_api; } header;
    int (*managed_tensor_allocator)(DLTensor *, DLManagedTensorVersioned **, void *, void (*)(void *, const char *, const char *));
    int (*managed_tensor_from_py_object_no_sync)(void *, DLManagedTensorVersioned **);
    int (*managed_tensor_to_py_object_no_sync)(DLManagedTensorVersioned *, void **);
    int (*dltensor_from_py_object_no_sync)(void *, DLTensor *);
    int (*current_work_stream)(int32_t, int32_t, void **);
} DLPackExchangeAPI;
enum { DL_CPU = 1, DL_CUDA = 2, DL_COMPLEX = 5 };

/* --- what the module knows ------------------------------------------------------------------------------------------ */

static struct {
    const DLPackExchangeAPI *torch;          /* NULL until PyTorch is there */
    PyObject *tensor, *parameter;            /* its types */
    PyObject *is_neg, *is_conj;              /* their methods */
    PyObject *layout_of;                     /* of arrays of our own: (address, layout) or None */
    PyObject *plain;                         /* types whose values hash and hold nothing, as a frozenset */
    PyObject *interned;                      /* values of them: equal ones become one object */
    PyObject *start_threads;                 /* sees to it that the CPU's workers are there */
    PyObject *stream_of;                     /* the handle of the stream that a tensor's library works on */
    PyObject *array;                         /* the type of arrays of our own */
    const volatile int64_t *found_wrong;     /* not 0 once a device has found something wrong; NULL before any looks */
    PyObject *raise_pending;                 /* raises what it found */
} known;
/* While it is not 0, functions are called as they are: somebody watches. */
static Py_ssize_t watchers = 0;
static _Thread_local Py_ssize_t thread_watchers = 0;

enum { MOST_WORDS = 320, MOST_TENSORS = 40, MOST_NUMBERS = 16, MOST_KEPT = 512, MOST_RANK = 32, MOST_ATTEMPTS = 3,
       MOST_INTERNED = 4096, MOST_CALLS = 4096 };
enum { SMALL_RESULT = 64 * 1024, SMALL_SCRATCH = 16 << 20, BRIEF = 32 * 1024 };

/* --- keys ----------------------------------------------------------------------------------------------------------- */

enum { OF_NUMPY = 1, OF_TORCH, OF_OTHERS, NONE_, TRUE_, FALSE_, INTEGER, FLOAT_, COMPLEX_, NUMBER, TUPLE_, LIST_, PLAIN, KEYWORDS };

typedef struct {
    PyObject *object;
    char *data;
    int64_t low, high; /* bytes from the first element's to where the memory begins and ends */
    int library, device_type, device_id;
} Tensor;

typedef struct {
    uint64_t words[MOST_WORDS];
    int length, tensors, numbers;
    Tensor tensor[MOST_TENSORS];
    uint64_t number[2 * MOST_NUMBERS]; /* type and bits of each */
    int64_t bytes;                     /* that all tensors have together */
} Key;

/* Whether one more word could be added. */
static inline int put(Key *key, uint64_t word) {
    if (key->length >= MOST_WORDS) return 0;
    key->words[key->length++] = word;
    return 1;
}

static inline uint64_t alignment(const void *pointer) {
    uint64_t address = (uint64_t)pointer, low = address & (~address + 1);
    return address == 0 || low > 16 ? 16 : low;
}

static void reach(Tensor *t, int rank, const int64_t *shape, const int64_t *strides, int64_t unit, int64_t itemsize) {
    int64_t low = 0, high = itemsize;
    for (int a = 0; a < rank; a++) {
        if (shape[a] == 0) { t->low = t->high = 0; return; }
        int64_t span = (shape[a] - 1) * strides[a] * unit;
        if (span < 0) low += span; else high += span;
    }
    t->low = low;
    t->high = high;
}

/* Add a tensor to a key: 1 if it is there, 0 if only the long way can tell, -1 for an error. */
static int put_tensor(Key *key, PyObject *object, int library, int written) {
    if (key->tensors >= MOST_TENSORS) return 0;
    Tensor *t = &key->tensor[key->tensors];
    t->object = object;
    t->library = library;
    t->device_type = DL_CPU;
    t->device_id = 0;
    if (library == OF_NUMPY) {
        PyArrayObject *array = (PyArrayObject *)object;
        int rank = PyArray_NDIM(array);
        t->data = PyArray_BYTES(array);
        uint64_t writeable = PyArray_ISWRITEABLE(array) != 0;
        if (rank > MOST_RANK || key->length + 2 * rank + 2 > MOST_WORDS) return 0;
        put(key, OF_NUMPY | (uint64_t)rank << 8 | alignment(t->data) << 16 | writeable << 24);
        put(key, (uint64_t)PyArray_DESCR(array));
        for (int a = 0; a < rank; a++) put(key, (uint64_t)PyArray_DIMS(array)[a]);
        for (int a = 0; a < rank; a++) put(key, (uint64_t)PyArray_STRIDES(array)[a]);
        reach(t, rank, (int64_t *)PyArray_DIMS(array), (int64_t *)PyArray_STRIDES(array), 1, PyArray_ITEMSIZE(array));
    } else if (library == OF_TORCH) {
        DLTensor d;
        if (known.torch->dltensor_from_py_object_no_sync(object, &d)) { PyErr_Clear(); return 0; }
        t->data = (char *)d.data + d.byte_offset;
        if (d.data == NULL || (d.device.type != DL_CPU && d.device.type != DL_CUDA) || d.ndim > MOST_RANK) return 0;
        if (d.dtype.lanes != 1 || d.dtype.bits < 8 || key->length + 2 * d.ndim + 2 > MOST_WORDS) return 0;
        /* Views that PyTorch negates or conjugates when they are read have the memory of their base. */
        for (int i = 0; i < (d.dtype.code == DL_COMPLEX ? 2 : 1); i++) {
            PyObject *lazy = PyObject_CallOneArg(i ? known.is_conj : known.is_neg, object);
            if (lazy == NULL) { PyErr_Clear(); return 0; }
            Py_DECREF(lazy);
            if (lazy != Py_False) return 0;
        }
        if (written) {
            PyObject *differentiated = PyObject_GetAttrString(object, "requires_grad");
            if (differentiated == NULL) { PyErr_Clear(); return 0; }
            Py_DECREF(differentiated);
            if (differentiated != Py_False) return 0;
        }
        t->device_type = d.device.type;
        t->device_id = d.device.id;
        put(key, OF_TORCH | (uint64_t)d.ndim << 8 | alignment(t->data) << 16 | (uint64_t)d.dtype.code << 24
                     | (uint64_t)d.dtype.bits << 32 | (uint64_t)d.device.type << 48);
        put(key, (uint64_t)d.device.id);
        int64_t dense[MOST_RANK], step = 1; /* the strides of tensors that say none */
        for (int a = d.ndim - 1; a >= 0 && d.strides == NULL; a--) { dense[a] = step; step *= d.shape[a]; }
        const int64_t *strides = d.strides == NULL ? dense : d.strides;
        for (int a = 0; a < d.ndim; a++) put(key, (uint64_t)d.shape[a]);
        for (int a = 0; a < d.ndim; a++) put(key, (uint64_t)strides[a]);
        reach(t, d.ndim, d.shape, strides, d.dtype.bits / 8, d.dtype.bits / 8);
    } else {
        PyObject *found = PyObject_CallFunctionObjArgs(known.layout_of, object, written ? Py_True : Py_False, NULL);
        if (found == NULL) { PyErr_Clear(); return 0; }
        if (found == Py_None) { Py_DECREF(found); return 0; }
        /* (address, layout) and layout = (low, high, device type, device id), one object for each layout, which is kept. */
        PyObject *layout = PyTuple_GET_ITEM(found, 1);
        t->data = (char *)PyLong_AsUnsignedLongLong(PyTuple_GET_ITEM(found, 0));
        t->low = PyLong_AsLongLong(PyTuple_GET_ITEM(layout, 0));
        t->high = PyLong_AsLongLong(PyTuple_GET_ITEM(layout, 1));
        t->device_type = (int)PyLong_AsLong(PyTuple_GET_ITEM(layout, 2));
        t->device_id = (int)PyLong_AsLong(PyTuple_GET_ITEM(layout, 3));
        int fits = put(key, OF_OTHERS | alignment(t->data) << 16) && put(key, (uint64_t)layout);
        Py_DECREF(found);
        if (PyErr_Occurred()) { PyErr_Clear(); return 0; }
        if (!fits) return 0;
    }
    key->bytes += t->high - t->low;
    key->tensors++;
    return 1;
}

static int library_of(PyObject *object) {
    PyObject *type = (PyObject *)Py_TYPE(object);
    if (type == (PyObject *)&PyArray_Type) return OF_NUMPY;
    if (known.torch != NULL && (type == known.tensor || type == known.parameter)) return OF_TORCH;
    if (type == known.array) return OF_OTHERS;
    return 0;
}

typedef struct {
    PyObject *name;  /* interned; NULL where a parameter is no number of the kernel */
    int specials;    /* values that have code of their own */
    double *special;
} Parameter;

/* Add a number. One that kernels are given when they run counts by its type alone, where it has no code of its own. */
static int put_number(Key *key, PyObject *value, const Parameter *parameter) {
    uint64_t type, bits;
    if (PyFloat_CheckExact(value)) {
        double number = PyFloat_AS_DOUBLE(value);
        type = FLOAT_;
        memcpy(&bits, &number, 8);
    } else if (PyBool_Check(value)) {
        return put(key, value == Py_True ? TRUE_ : FALSE_);
    } else {
        int overflow;
        bits = (uint64_t)PyLong_AsLongLongAndOverflow(value, &overflow);
        if (overflow) return 0;
        type = INTEGER;
    }
    if (parameter == NULL || parameter->name == NULL) return put(key, type) && put(key, bits);
    double number = type == FLOAT_ ? PyFloat_AS_DOUBLE(value) : (double)(int64_t)bits;
    for (int i = 0; i < parameter->specials; i++)
        if (parameter->special[i] == number) return put(key, type) && put(key, bits);
    if (key->numbers >= MOST_NUMBERS) return 0;
    key->number[2 * key->numbers] = type;
    key->number[2 * key->numbers + 1] = bits;
    key->numbers++;
    return put(key, NUMBER | type << 8);
}

/* The one object that a string is in all keys, borrowed; NULL where there is no room to keep it. */
static PyObject *one_string(PyObject *string) {
    if (PyUnicode_CHECK_INTERNED(string)) return string;
    if (PyDict_GET_SIZE(known.interned) >= MOST_INTERNED) return NULL;
    Py_INCREF(string);
    PyUnicode_InternInPlace(&string);
    PyObject *kept = PyDict_SetDefault(known.interned, string, string);
    Py_DECREF(string);
    if (kept == NULL) PyErr_Clear();
    return kept == string ? string : NULL;
}

static int put_value(Key *key, PyObject *value, const Parameter *parameter, int written) {
    int library = library_of(value);
    if (library) return put_tensor(key, value, library, written);
    if (value == Py_None) return put(key, NONE_);
    if (PyFloat_CheckExact(value) || PyLong_CheckExact(value) || PyBool_Check(value)) return put_number(key, value, parameter);
    int tuple = PyTuple_CheckExact(value);
    if (tuple || PyList_CheckExact(value)) {
        Py_ssize_t count = PySequence_Fast_GET_SIZE(value);
        if (!put(key, (uint64_t)(tuple ? TUPLE_ : LIST_) | (uint64_t)count << 8)) return 0;
        for (Py_ssize_t i = 0; i < count && i < PySequence_Fast_GET_SIZE(value); i++) {
            int done = put_value(key, PySequence_Fast_GET_ITEM(value, i), NULL, written);
            if (done <= 0) return done;
        }
        return 1;
    }
    if (PyComplex_CheckExact(value)) {
        Py_complex c = PyComplex_AsCComplex(value);
        uint64_t bits[2];
        memcpy(bits, &c, 16);
        return put(key, COMPLEX_) && put(key, bits[0]) && put(key, bits[1]);
    }
    if (PyUnicode_CheckExact(value)) {
        PyObject *string = one_string(value);
        return string != NULL && put(key, PLAIN) && put(key, (uint64_t)string);
    }
    int plain = PySet_Contains(known.plain, (PyObject *)Py_TYPE(value));
    if (plain < 0) return -1;
    if (!plain && !PyType_Check(value)) return 0;
    if (PyDict_GET_SIZE(known.interned) >= MOST_INTERNED && !PyDict_Contains(known.interned, value)) return 0;
    PyObject *one = PyDict_SetDefault(known.interned, value, value);
    if (one == NULL) { PyErr_Clear(); return 0; }
    return put(key, PLAIN) && put(key, (uint64_t)one);
}

/* Where tensors overlap, how far they are from each other is part of the key: whoever writes one, writes the other. */
static int put_overlaps(Key *key) {
    for (int i = 1; i < key->tensors; i++) {
        Tensor *t = &key->tensor[i];
        for (int j = 0; j < i; j++) {
            Tensor *u = &key->tensor[j];
            if (t->data + t->low >= u->data + u->high || u->data + u->low >= t->data + t->high) continue;
            if (t->low == t->high || u->low == u->high) continue;
            if (!put(key, (uint64_t)i << 32 | (uint64_t)j) || !put(key, (uint64_t)(t->data - u->data))) return 0;
        }
    }
    return 1;
}

static uint64_t hash_of(const Key *key) {
    uint64_t h = 0x9E3779B97F4A7C15ull ^ (uint64_t)key->length;
    for (int i = 0; i < key->length; i++) {
        h = (h ^ key->words[i]) * 0xFF51AFD7ED558CCDull;
        h ^= h >> 32;
    }
    return h;
}

/* --- calls ---------------------------------------------------------------------------------------------------------- */

typedef struct { int32_t source; int64_t offset; } Place; /* source: 0 nothing, then tensors, results, scratch */
typedef struct {
    int kind, operands, words, first, parameter_at, block_at, stream_at, alone;
    uint64_t function, plan, control;
    uint64_t *template;
    Place *places; /* of the operands, and of the workspace */
    PyObject *launcher, *scalars;
} Launch;
enum { ON_CPU, ON_CUDA, BY_PYTHON, EXPECT };
typedef struct {
    int way, rank;
    int64_t nbytes, shape[MOST_RANK], strides[MOST_RANK];
    DLDataType dtype;
    PyObject *descr, *allocate;
} Result;
enum { NEW_NUMPY, NEW_TORCH, NEW_BY_PYTHON };

typedef struct {
    PyObject_HEAD
    int launches, results, like, cuda, returns, threads;
    int64_t scratch;
    Launch *launch;
    Result *result;
    int *returned; /* which source each returned tensor is */
    uint64_t latest[2 * MOST_NUMBERS];
    PyObject *renumber, *scratch_on, *rebuild;
} Call;

static void Call_dealloc(Call *self) {
    for (int i = 0; i < self->launches; i++) {
        free(self->launch[i].template);
        free(self->launch[i].places);
        Py_XDECREF(self->launch[i].launcher);
        Py_XDECREF(self->launch[i].scalars);
    }
    for (int i = 0; i < self->results; i++) {
        Py_XDECREF(self->result[i].descr);
        Py_XDECREF(self->result[i].allocate);
    }
    free(self->launch);
    free(self->result);
    free(self->returned);
    Py_XDECREF(self->renumber);
    Py_XDECREF(self->scratch_on);
    Py_XDECREF(self->rebuild);
    Py_TYPE(self)->tp_free((PyObject *)self);
}

static int64_t integer_at(PyObject *tuple, Py_ssize_t i) { return PyLong_AsLongLong(PyTuple_GET_ITEM(tuple, i)); }

static int read_words(PyObject *bytes, uint64_t **words, int *count) {
    *count = (int)(PyBytes_GET_SIZE(bytes) / 8);
    *words = malloc(PyBytes_GET_SIZE(bytes) + 8);
    if (*words == NULL) { PyErr_NoMemory(); return 0; }
    memcpy(*words, PyBytes_AS_STRING(bytes), PyBytes_GET_SIZE(bytes));
    return 1;
}

static int read_launch(Launch *launch, PyObject *given, int *threads) {
    /* (launcher, native, places, scalars), native one of
     * ("cpu", words, function, plan, control, alone), ("cuda", block, words at, pointer to them at, launch function),
     * ("python",), ("expect",) */
    PyObject *native = PyTuple_GET_ITEM(given, 1), *places = PyTuple_GET_ITEM(given, 2);
    const char *name = PyUnicode_AsUTF8(PyTuple_GET_ITEM(native, 0));
    launch->launcher = Py_NewRef(PyTuple_GET_ITEM(given, 0));
    launch->scalars = Py_NewRef(PyTuple_GET_ITEM(given, 3));
    Py_ssize_t count = PyTuple_GET_SIZE(places);
    launch->operands = (int)count - 1;
    launch->places = malloc(sizeof(Place) * (count + 1));
    if (launch->places == NULL) { PyErr_NoMemory(); return 0; }
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *place = PyTuple_GET_ITEM(places, i);
        launch->places[i].source = (int32_t)integer_at(place, 0);
        launch->places[i].offset = integer_at(place, 1);
    }
    if (!strcmp(name, "cpu")) {
        launch->kind = ON_CPU;
        if (!read_words(PyTuple_GET_ITEM(native, 1), &launch->template, &launch->words)) return 0;
        launch->parameter_at = launch->operands + 1;
        launch->function = (uint64_t)integer_at(native, 2);
        launch->plan = (uint64_t)integer_at(native, 3);
        launch->control = (uint64_t)integer_at(native, 4);
        launch->alone = (int)integer_at(native, 5);
        *threads |= !launch->alone;
    } else if (!strcmp(name, "cuda")) {
        launch->kind = ON_CUDA;
        if (!read_words(PyTuple_GET_ITEM(native, 1), &launch->template, &launch->words)) return 0;
        launch->first = (int)integer_at(native, 2);
        launch->parameter_at = launch->first + launch->operands + 1;
        launch->block_at = (int)integer_at(native, 3);
        launch->function = (uint64_t)integer_at(native, 4);
        launch->stream_at = launch->first - 1;
    } else {
        launch->kind = strcmp(name, "expect") ? BY_PYTHON : EXPECT;
    }
    return !PyErr_Occurred();
}

static int read_result(Result *result, PyObject *given) {
    /* (way, shape, strides or None, bytes, dtype, allocate): dtype (code, bits) of DLPack, or a NumPy dtype, or None */
    const char *way = PyUnicode_AsUTF8(PyTuple_GET_ITEM(given, 0));
    PyObject *shape = PyTuple_GET_ITEM(given, 1), *strides = PyTuple_GET_ITEM(given, 2), *dtype = PyTuple_GET_ITEM(given, 4);
    result->allocate = Py_NewRef(PyTuple_GET_ITEM(given, 5));
    result->nbytes = integer_at(given, 3);
    result->rank = (int)PyTuple_GET_SIZE(shape);
    result->way = NEW_BY_PYTHON;
    if (result->rank > MOST_RANK) return 1;
    for (int a = 0; a < result->rank; a++) {
        result->shape[a] = integer_at(shape, a);
        result->strides[a] = integer_at(strides, a);
    }
    if (result->nbytes >= SMALL_RESULT) return !PyErr_Occurred();
    if (!strcmp(way, "numpy")) {
        result->way = NEW_NUMPY;
        result->descr = Py_NewRef(dtype);
    } else if (!strcmp(way, "torch") && known.torch != NULL) {
        result->way = NEW_TORCH;
        result->dtype = (DLDataType){(uint8_t)integer_at(dtype, 0), (uint8_t)integer_at(dtype, 1), 1};
    }
    return !PyErr_Occurred();
}

static PyObject *Call_new(PyTypeObject *type, PyObject *args, PyObject *keywords) {
    static char *names[] = {"launches", "results", "returned", "like", "scratch", "scratch_on", "cuda", "renumber", "rebuild", NULL};
    PyObject *launches, *results, *returned, *scratch_on, *renumber, *rebuild;
    int like, cuda;
    long long scratch;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O!O!O!iLOiOO", names, &PyTuple_Type, &launches, &PyTuple_Type, &results,
                                     &PyTuple_Type, &returned, &like, &scratch, &scratch_on, &cuda, &renumber, &rebuild))
        return NULL;
    Call *self = (Call *)type->tp_alloc(type, 0);
    if (self == NULL) return NULL;
    self->like = like;
    self->cuda = cuda;
    self->scratch = scratch;
    self->scratch_on = Py_NewRef(scratch_on);
    self->renumber = Py_NewRef(renumber);
    self->rebuild = Py_NewRef(rebuild);
    memset(self->latest, 0, sizeof self->latest);
    self->launch = calloc(PyTuple_GET_SIZE(launches) + 1, sizeof(Launch));
    self->result = calloc(PyTuple_GET_SIZE(results) + 1, sizeof(Result));
    self->returned = calloc(PyTuple_GET_SIZE(returned) + 1, sizeof(int));
    if (self->launch == NULL || self->result == NULL || self->returned == NULL) { Py_DECREF(self); return PyErr_NoMemory(); }
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(launches); i++) {
        self->launches++;
        if (!read_launch(&self->launch[i], PyTuple_GET_ITEM(launches, i), &self->threads)) { Py_DECREF(self); return NULL; }
    }
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(results); i++) {
        self->results++;
        if (!read_result(&self->result[i], PyTuple_GET_ITEM(results, i))) { Py_DECREF(self); return NULL; }
    }
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(returned); i++) {
        self->returns++;
        self->returned[i] = (int)PyLong_AsLong(PyTuple_GET_ITEM(returned, i));
    }
    if (PyErr_Occurred()) { Py_DECREF(self); return NULL; }
    return (PyObject *)self;
}

static PyTypeObject CallType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "baracuda.native.calls.Call",
    .tp_basicsize = sizeof(Call),
    .tp_dealloc = (destructor)Call_dealloc,
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_doc = "What a call comes down to: results to allocate, scratch memory, launches.",
    .tp_new = Call_new,
};

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
    PyObject *made = PyObject_CallOneArg(r->allocate, like);
    if (made == NULL) return NULL;
    Key of_result;
    of_result.length = of_result.tensors = 0;
    of_result.bytes = 0;
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

static PyObject *pointers_of(const Launch *launch, char *const *address) {
    PyObject *list = PyList_New(launch->operands);
    for (int i = 0; list != NULL && i < launch->operands; i++) {
        const Place *p = &launch->places[i];
        PyObject *value = PyLong_FromUnsignedLongLong((uint64_t)(address[p->source] + p->offset));
        if (value == NULL) { Py_CLEAR(list); break; }
        PyList_SET_ITEM(list, i, value);
    }
    return list;
}

static int launch_by_python(const Launch *launch, PyObject *scalars, char *const *address, uint64_t stream) {
    PyObject *pointers = pointers_of(launch, address);
    if (pointers == NULL) return 0;
    const Place *w = &launch->places[launch->operands];
    PyObject *done = PyObject_CallMethod(launch->launcher, "launch", "OKKO", pointers,
                                         (unsigned long long)(address[w->source] + w->offset), (unsigned long long)stream,
                                         scalars);
    Py_DECREF(pointers);
    Py_XDECREF(done);
    return done != NULL;
}

/* New numbers for all launches: `call->renumber` checks them, and gives for each launch its parameters' words and its scalars. The
 * list that it gave, which holds what was replaced; NULL for an error. */
static PyObject *renumber(Call *call, const Key *key, PyObject *args, PyObject *keywords) {
    PyObject *found = PyObject_CallFunctionObjArgs(call->renumber, args, keywords, NULL);
    if (found == NULL) return NULL;
    for (int i = 0; i < call->launches; i++) {
        Launch *launch = &call->launch[i];
        PyObject *row = PyList_GET_ITEM(found, i), *words = PyTuple_GET_ITEM(row, 0);
        if (launch->kind <= ON_CUDA)
            memcpy(launch->template + launch->parameter_at, PyBytes_AS_STRING(words), (size_t)PyBytes_GET_SIZE(words));
        /* The scalars before go with the list, after all words are in place. */
        PyObject *before = launch->scalars;
        launch->scalars = Py_NewRef(PyTuple_GET_ITEM(row, 1));
        PyTuple_SET_ITEM(row, 1, before);
    }
    memcpy(call->latest, key->number, 16 * (size_t)key->numbers);
    return found;
}

/* Arguments as functions of Python take them. */
static int packed(PyObject *const *args, Py_ssize_t count, PyObject *names, PyObject **tuple, PyObject **keywords) {
    *tuple = PyTuple_New(count);
    *keywords = PyDict_New();
    if (*tuple == NULL || *keywords == NULL) { Py_CLEAR(*tuple); Py_CLEAR(*keywords); return 0; }
    for (Py_ssize_t i = 0; i < count; i++) PyTuple_SET_ITEM(*tuple, i, Py_NewRef(args[i]));
    for (Py_ssize_t i = 0; names != NULL && i < PyTuple_GET_SIZE(names); i++)
        if (PyDict_SetItem(*keywords, PyTuple_GET_ITEM(names, i), args[count + i])) {
            Py_CLEAR(*tuple);
            Py_CLEAR(*keywords);
            return 0;
        }
    return 1;
}

typedef void (*Execute)(uint64_t control, uint64_t *words, uint64_t plan);
typedef int (*CudaLaunch)(uint64_t *block);
enum { MOST_LAUNCH_WORDS = 2048, MOST_LAUNCHES = 64, MOST_SOURCES = MOST_TENSORS + 34 };

/* Run a call: its results; NULL and no error where the long way has to be taken. */
static PyObject *follow(Call *call, const Key *key, PyObject *const *args, Py_ssize_t count, PyObject *names) {
    char *address[MOST_SOURCES];
    PyObject *made[32], *scalars[MOST_LAUNCHES] = {NULL}, *answer = NULL, *memory = NULL, *rows = NULL;
    int allocated = 0, total = 0, own_scratch = 0;
    uint64_t stream = 0;
    if (call->results > 32 || call->launches > MOST_LAUNCHES) return NULL;
    if (call->cuda && known.found_wrong != NULL && *known.found_wrong) {
        PyObject *none = PyObject_CallNoArgs(known.raise_pending);
        if (none == NULL) return NULL;
        Py_DECREF(none);
    }
    PyObject *like = key->tensor[call->like].object;
    address[0] = NULL;
    for (int i = 0; i < key->tensors; i++) address[1 + i] = key->tensor[i].data;
    for (; allocated < call->results; allocated++) {
        made[allocated] = new_result(&call->result[allocated], like, &address[1 + key->tensors + allocated]);
        if (made[allocated] == NULL) goto done;
        if (alignment(address[1 + key->tensors + allocated]) < 16) { allocated++; goto done; }
    }
    char **scratch_at = &address[1 + key->tensors + call->results];
    *scratch_at = NULL;
    if (call->scratch && !call->cuda && call->scratch <= SMALL_SCRATCH && !scratch.taken) {
        own_scratch = scratch.taken = 1;
        *scratch_at = scratch_of(call->scratch);
        if (*scratch_at == NULL) { PyErr_NoMemory(); goto done; }
    } else if (call->scratch) {
        Result by_python = {.way = NEW_BY_PYTHON, .allocate = call->scratch_on};
        memory = new_result(&by_python, like, scratch_at);
        if (memory == NULL) goto done;
    }
    if (call->cuda) {
        const Tensor *t = &key->tensor[call->like];
        void *current;
        if (t->library == OF_TORCH) {
            if (known.torch->current_work_stream(DL_CUDA, t->device_id, &current)) goto done;
            stream = (uint64_t)current;
        } else {
            PyObject *handle = PyObject_CallOneArg(known.stream_of, like);
            if (handle == NULL) goto done;
            stream = PyLong_AsUnsignedLongLong(handle);
            Py_DECREF(handle);
        }
    } else if (call->threads) {
        PyObject *started = PyObject_CallNoArgs(known.start_threads);
        if (started == NULL) goto done;
        Py_DECREF(started);
    }
    /* From the numbers to the words nothing runs that may let go of the interpreter's lock: another thread brings others. */
    if (key->numbers && memcmp(call->latest, key->number, 16 * (size_t)key->numbers)) {
        PyObject *tuple, *keywords;
        if (!packed(args, count, names, &tuple, &keywords)) goto done;
        rows = renumber(call, key, tuple, keywords);
        Py_DECREF(tuple);
        Py_DECREF(keywords);
        if (rows == NULL) goto done;
    }
    uint64_t words[MOST_LAUNCH_WORDS];
    uint64_t *at[MOST_LAUNCHES];
    for (int i = 0; i < call->launches; i++) {
        Launch *launch = &call->launch[i];
        scalars[i] = Py_NewRef(launch->scalars);
        if (launch->kind > ON_CUDA) continue;
        if (total + launch->words > MOST_LAUNCH_WORDS) goto done;
        uint64_t *block = at[i] = words + total;
        total += launch->words;
        memcpy(block, launch->template, 8 * (size_t)launch->words);
        uint64_t *operands = block + launch->first;
        for (int j = 0; j <= launch->operands; j++)
            operands[j] = (uint64_t)(address[launch->places[j].source] + launch->places[j].offset);
        if (launch->kind == ON_CUDA) {
            block[launch->stream_at] = stream;
            block[launch->block_at] = (uint64_t)operands;
            block[3] = (uint64_t)(block + launch->block_at);
            block[1] = (uint64_t)(block + launch->stream_at);
        }
    }
    int brief = !call->cuda && !call->threads && key->bytes < BRIEF, status = 0;
    for (int i = 0; i < call->launches; i++) {
        Launch *launch = &call->launch[i];
        if (launch->kind == ON_CPU && brief) {
            ((Execute)launch->function)(launch->control, at[i], launch->plan);
        } else if (launch->kind == ON_CPU) {
            Py_BEGIN_ALLOW_THREADS
            ((Execute)launch->function)(launch->control, at[i], launch->plan);
            Py_END_ALLOW_THREADS
        } else if (launch->kind == ON_CUDA) {
            Py_BEGIN_ALLOW_THREADS
            status = ((CudaLaunch)launch->function)(at[i]);
            Py_END_ALLOW_THREADS
            if (status) {
                PyObject *failed = PyObject_CallMethod(launch->launcher, "failed", "i", status);
                Py_XDECREF(failed);
                goto done;
            }
        } else if (launch->kind == BY_PYTHON) {
            if (!launch_by_python(launch, scalars[i], address, stream)) goto done;
        } else if (!call->cuda) {
            if (*(address[launch->places[0].source] + launch->places[0].offset)) goto done;
        } else {
            PyObject *fine = PyObject_CallFunction(launch->launcher, "KK",
                                                   (unsigned long long)(address[launch->places[0].source] + launch->places[0].offset),
                                                   (unsigned long long)stream);
            if (fine == NULL) goto done;
            Py_DECREF(fine);
            if (fine != Py_True) goto done;
        }
    }
    if (call->returns == 1 && call->rebuild == Py_None) {
        int source = call->returned[0];
        answer = Py_NewRef(source == 0 ? Py_None : source <= key->tensors ? key->tensor[source - 1].object : made[source - 1 - key->tensors]);
    } else {
        PyObject *tuple = PyTuple_New(call->returns);
        for (int i = 0; tuple != NULL && i < call->returns; i++) {
            int source = call->returned[i];
            PyObject *object = source == 0 ? Py_None : source <= key->tensors ? key->tensor[source - 1].object : made[source - 1 - key->tensors];
            PyTuple_SET_ITEM(tuple, i, Py_NewRef(object));
        }
        if (tuple != NULL && call->rebuild != Py_None && call->rebuild != Py_True) {
            answer = PyObject_CallOneArg(call->rebuild, tuple);
            Py_DECREF(tuple);
        } else {
            answer = tuple;
        }
    }
done:
    if (own_scratch) scratch.taken = 0;
    for (int i = 0; i < call->launches; i++) Py_XDECREF(scalars[i]);
    Py_XDECREF(rows);
    Py_XDECREF(memory);
    for (int i = 0; i < allocated; i++) Py_DECREF(made[i]);
    return answer;
}

/* --- functions ------------------------------------------------------------------------------------------------------ */

typedef struct {
    uint64_t hash;
    int length, attempts;
    uint64_t *words;
    PyObject *call, *kept; /* call NULL: none could be made so far */
} Entry;

typedef struct Function {
    PyObject_HEAD
    struct Function *before, *after; /* in the ring of all functions */
    vectorcallfunc vectorcall;
    PyObject *function, *record, *weakrefs;
    Parameter *parameter; /* by position, then by name */
    int positions, named, entries;
    unsigned size;
    Entry *table;
} Function;

/* All functions, and how many calls they keep: calls keep code, so that there is an end to them. */
static Function ring = {.before = &ring, .after = &ring};
static Py_ssize_t calls_kept = 0;

static void clear_entries(Function *self) {
    Entry *table = self->table;
    unsigned size = self->size;
    for (unsigned i = 0; i < size; i++) calls_kept -= table[i].call != NULL;
    self->table = NULL;
    self->size = 0;
    self->entries = 0;
    for (unsigned i = 0; i < size; i++) {
        free(table[i].words);
        Py_XDECREF(table[i].call);
        Py_XDECREF(table[i].kept);
    }
    free(table);
}

/* Forget all calls of all functions. Letting go of one may run anything, so that each is looked for anew. */
static void forget_all(void) {
    for (Function *f = ring.after; f != &ring;) {
        if (f->size == 0) { f = f->after; continue; }
        Py_INCREF(f);
        clear_entries(f);
        Py_DECREF(f);
        f = ring.after;
    }
}

static Entry *entry_of(Function *self, const Key *key, uint64_t hash, int make) {
    if (make && (self->table == NULL || 2 * self->entries >= (int)self->size)) {
        unsigned size = self->size ? 2 * self->size : 8;
        if (self->entries >= MOST_KEPT) { clear_entries(self); size = 8; }
        Entry *table = calloc(size, sizeof(Entry));
        if (table == NULL) return NULL;
        for (unsigned i = 0; i < self->size; i++) {
            if (self->table[i].words == NULL) continue;
            unsigned at = (unsigned)self->table[i].hash & (size - 1);
            while (table[at].words != NULL) at = (at + 1) & (size - 1);
            table[at] = self->table[i];
        }
        free(self->table);
        self->table = table;
        self->size = size;
    }
    if (self->table == NULL) return NULL;
    unsigned at = (unsigned)hash & (self->size - 1);
    for (; self->table[at].words != NULL; at = (at + 1) & (self->size - 1)) {
        Entry *e = &self->table[at];
        if (e->hash == hash && e->length == key->length && !memcmp(e->words, key->words, 8 * (size_t)key->length)) return e;
    }
    if (!make) return NULL;
    Entry *e = &self->table[at];
    e->words = malloc(8 * (size_t)key->length + 8);
    if (e->words == NULL) return NULL;
    memcpy(e->words, key->words, 8 * (size_t)key->length);
    e->hash = hash;
    e->length = key->length;
    self->entries++;
    return e;
}

static const Parameter *named_parameter(const Function *self, PyObject *name) {
    for (int i = self->positions; i < self->positions + self->named; i++)
        if (self->parameter[i].name == name) return &self->parameter[i];
    return NULL;
}

static int key_of(const Function *self, Key *key, PyObject *const *args, Py_ssize_t count, PyObject *names) {
    key->length = key->tensors = key->numbers = 0;
    key->bytes = 0;
    put(key, (uint64_t)count);
    for (Py_ssize_t i = 0; i < count; i++) {
        int done = put_value(key, args[i], i < self->positions ? &self->parameter[i] : NULL, 0);
        if (done <= 0) return done;
    }
    Py_ssize_t more = names == NULL ? 0 : PyTuple_GET_SIZE(names);
    for (Py_ssize_t i = 0; i < more; i++) {
        PyObject *name = one_string(PyTuple_GET_ITEM(names, i));
        if (name == NULL || !put(key, KEYWORDS) || !put(key, (uint64_t)name)) return 0;
        int written = PyUnicode_GET_LENGTH(name) == 3 && !PyUnicode_CompareWithASCIIString(name, "out");
        int done = put_value(key, args[count + i], named_parameter(self, name), written);
        if (done <= 0) return done;
    }
    return key->tensors && put_overlaps(key);
}

static PyObject *Function_call(PyObject *callable, PyObject *const *args, size_t flags, PyObject *names) {
    Function *self = (Function *)callable;
    Py_ssize_t count = PyVectorcall_NARGS(flags);
    Key key;
    if (watchers || thread_watchers) return PyObject_Vectorcall(self->function, args, flags, names);
    int known_key = key_of(self, &key, args, count, names);
    if (known_key < 0) return NULL;
    if (!known_key) return PyObject_Vectorcall(self->function, args, flags, names);
    uint64_t hash = hash_of(&key);
    Entry *entry = entry_of(self, &key, hash, 0);
    PyObject *answer = NULL, *tuple = NULL, *keywords = NULL;
    if (entry != NULL && entry->call != NULL) {
        Call *call = (Call *)Py_NewRef(entry->call);
        answer = follow(call, &key, args, count, names);
        Py_DECREF(call);
        if (answer != NULL || PyErr_Occurred()) return answer;
        return PyObject_Vectorcall(self->function, args, flags, names);
    }
    if (entry != NULL && entry->attempts >= MOST_ATTEMPTS) return PyObject_Vectorcall(self->function, args, flags, names);
    /* record(function, arguments, keywords, tensors) gives (result, Call or None, what its key names) */
    PyObject *tensors = PyTuple_New(key.tensors);
    for (int i = 0; tensors != NULL && i < key.tensors; i++) PyTuple_SET_ITEM(tensors, i, Py_NewRef(key.tensor[i].object));
    if (tensors == NULL || !packed(args, count, names, &tuple, &keywords)) { Py_XDECREF(tensors); return NULL; }
    PyObject *found = PyObject_CallFunctionObjArgs(self->record, self->function, tuple, keywords, tensors, NULL);
    Py_DECREF(tuple);
    Py_DECREF(keywords);
    Py_DECREF(tensors);
    if (found == NULL) return NULL;
    PyObject *result, *call, *kept;
    if (!PyArg_ParseTuple(found, "OOO", &result, &call, &kept)) { Py_DECREF(found); return NULL; }
    if (calls_kept >= MOST_CALLS) forget_all();
    entry = entry_of(self, &key, hash, 1); /* the table may have changed meanwhile */
    if (entry != NULL) {
        entry->attempts++;
        if (PyObject_TypeCheck(call, &CallType)) {
            memcpy(((Call *)call)->latest, key.number, 16 * (size_t)key.numbers);
            calls_kept += entry->call == NULL;
            Py_XSETREF(entry->call, Py_NewRef(call));
        }
        Py_XSETREF(entry->kept, Py_NewRef(kept));
    }
    answer = Py_NewRef(result);
    Py_DECREF(found);
    return answer;
}

static int read_parameter(Parameter *parameter, PyObject *name, PyObject *specials) {
    if (name == Py_None) return 1;
    parameter->name = Py_NewRef(name);
    PyUnicode_InternInPlace(&parameter->name);
    PyObject *values = PyDict_GetItemWithError(specials, name);
    if (values == NULL) return !PyErr_Occurred();
    parameter->special = calloc(PyTuple_GET_SIZE(values) + 1, sizeof(double));
    if (parameter->special == NULL) { PyErr_NoMemory(); return 0; }
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(values); i++)
        parameter->special[parameter->specials++] = PyFloat_AsDouble(PyTuple_GET_ITEM(values, i));
    return !PyErr_Occurred();
}

static PyObject *Function_new(PyTypeObject *type, PyObject *args, PyObject *keywords) {
    static char *names[] = {"function", "record", "positions", "numbers", "specials", NULL};
    PyObject *function, *record, *positions, *numbers, *specials;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "OOO!O!O!", names, &function, &record, &PyTuple_Type, &positions, &PyTuple_Type,
                                     &numbers, &PyDict_Type, &specials))
        return NULL;
    Function *self = (Function *)type->tp_alloc(type, 0);
    if (self == NULL) return NULL;
    self->vectorcall = Function_call;
    self->before = ring.before;
    self->after = &ring;
    ring.before = ring.before->after = self;
    self->function = Py_NewRef(function);
    self->record = Py_NewRef(record);
    self->positions = (int)PyTuple_GET_SIZE(positions);
    self->named = (int)PyTuple_GET_SIZE(numbers);
    self->parameter = calloc((size_t)(self->positions + self->named) + 1, sizeof(Parameter));
    if (self->parameter == NULL) { Py_DECREF(self); return PyErr_NoMemory(); }
    for (int i = 0; i < self->positions + self->named; i++) {
        PyObject *name = i < self->positions ? PyTuple_GET_ITEM(positions, i) : PyTuple_GET_ITEM(numbers, i - self->positions);
        if (!read_parameter(&self->parameter[i], name, specials)) { Py_DECREF(self); return NULL; }
    }
    return (PyObject *)self;
}

static int Function_traverse(Function *self, visitproc visit, void *arg) {
    Py_VISIT(self->function);
    Py_VISIT(self->record);
    for (unsigned i = 0; i < self->size; i++) Py_VISIT(self->table[i].kept);
    return 0;
}

static int Function_clear(Function *self) {
    Py_CLEAR(self->function);
    Py_CLEAR(self->record);
    clear_entries(self);
    return 0;
}

static void Function_dealloc(Function *self) {
    PyObject_GC_UnTrack(self);
    if (self->weakrefs != NULL) PyObject_ClearWeakRefs((PyObject *)self);
    self->before->after = self->after;
    self->after->before = self->before;
    Function_clear(self);
    for (int i = 0; self->parameter != NULL && i < self->positions + self->named; i++) {
        Py_XDECREF(self->parameter[i].name);
        free(self->parameter[i].special);
    }
    free(self->parameter);
    Py_TYPE(self)->tp_free((PyObject *)self);
}

static PyObject *Function_getattro(PyObject *self, PyObject *name) {
    PyObject *found = PyObject_GenericGetAttr(self, name);
    if (found != NULL || !PyErr_ExceptionMatches(PyExc_AttributeError)) return found;
    PyErr_Clear();
    return PyObject_GetAttr(((Function *)self)->function, name);
}

static PyObject *Function_repr(PyObject *self) {
    PyObject *name = PyObject_GetAttrString(((Function *)self)->function, "__name__");
    if (name == NULL) return NULL;
    PyObject *said = PyUnicode_FromFormat("<function baracuda.%U>", name);
    Py_DECREF(name);
    return said;
}

static PyObject *Function_doc(PyObject *self, void *closure) {
    return PyObject_GetAttrString(((Function *)self)->function, "__doc__");
}

static PyObject *Function_module(PyObject *self, void *closure) {
    return PyUnicode_FromString("baracuda");
}

static PyObject *Function_forget(PyObject *self, PyObject *unused) {
    clear_entries((Function *)self);
    Py_RETURN_NONE;
}

static PyObject *Function_reduce(PyObject *self, PyObject *unused) {
    return PyObject_GetAttrString(((Function *)self)->function, "__name__");
}

static PyObject *Function_cached(PyObject *self, void *closure) {
    long calls = 0;
    for (unsigned i = 0; i < ((Function *)self)->size; i++) calls += ((Function *)self)->table[i].call != NULL;
    return PyLong_FromLong(calls);
}

static PyMethodDef Function_methods[] = {
    {"forget", Function_forget, METH_NOARGS, "Forget all calls."},
    {"__reduce__", Function_reduce, METH_NOARGS, "By its name."},
    {NULL}};
static PyMemberDef Function_members[] = {
    {"__wrapped__", T_OBJECT_EX, offsetof(Function, function), READONLY, "The function that is called where no call is known."},
    {NULL}};
static PyGetSetDef Function_getset[] = {
    {"__doc__", Function_doc, NULL, NULL, NULL},
    {"__module__", Function_module, NULL, NULL, NULL},
    {"cached_calls", Function_cached, NULL, "How many calls are known.", NULL},
    {NULL}};

static PyTypeObject FunctionType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "baracuda.native.calls.Function",
    .tp_basicsize = sizeof(Function),
    .tp_dealloc = (destructor)Function_dealloc,
    .tp_vectorcall_offset = offsetof(Function, vectorcall),
    .tp_call = PyVectorcall_Call,
    .tp_repr = Function_repr,
    .tp_getattro = Function_getattro,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_HAVE_GC,
    .tp_traverse = (traverseproc)Function_traverse,
    .tp_clear = (inquiry)Function_clear,
    .tp_weaklistoffset = offsetof(Function, weakrefs),
    .tp_methods = Function_methods,
    .tp_members = Function_members,
    .tp_getset = Function_getset,
    .tp_new = Function_new,
};

/* --- the module ----------------------------------------------------------------------------------------------------- */

static PyObject *configure(PyObject *module, PyObject *args, PyObject *keywords) {
    static char *names[] = {"plain", "start_threads", "stream_of", "array", "layout_of", NULL};
    PyObject *plain, *start, *stream_of, *array, *layout_of;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "OOOOO", names, &plain, &start, &stream_of, &array, &layout_of)) return NULL;
    Py_XSETREF(known.plain, Py_NewRef(plain));
    Py_XSETREF(known.start_threads, Py_NewRef(start));
    Py_XSETREF(known.stream_of, Py_NewRef(stream_of));
    Py_XSETREF(known.array, Py_NewRef(array));
    Py_XSETREF(known.layout_of, Py_NewRef(layout_of));
    Py_RETURN_NONE;
}

static PyObject *use_torch(PyObject *module, PyObject *args) {
    PyObject *capsule, *tensor, *parameter, *is_neg, *is_conj;
    if (!PyArg_ParseTuple(args, "OOOOO", &capsule, &tensor, &parameter, &is_neg, &is_conj)) return NULL;
    const DLPackExchangeAPI *api = PyCapsule_GetPointer(capsule, "dlpack_exchange_api");
    if (api == NULL) return NULL;
    if (api->header.version.major != 1 || api->dltensor_from_py_object_no_sync == NULL || api->current_work_stream == NULL)
        Py_RETURN_FALSE;
    Py_XSETREF(known.tensor, Py_NewRef(tensor));
    Py_XSETREF(known.parameter, Py_NewRef(parameter));
    Py_XSETREF(known.is_neg, Py_NewRef(is_neg));
    Py_XSETREF(known.is_conj, Py_NewRef(is_conj));
    known.torch = api;
    Py_RETURN_TRUE;
}

static PyObject *use_reports(PyObject *module, PyObject *args) {
    unsigned long long address;
    PyObject *raise_pending;
    if (!PyArg_ParseTuple(args, "KO", &address, &raise_pending)) return NULL;
    Py_XSETREF(known.raise_pending, Py_NewRef(raise_pending));
    known.found_wrong = (const volatile int64_t *)(uintptr_t)address;
    Py_RETURN_NONE;
}

static PyObject *watch(PyObject *module, PyObject *change) {
    long by = PyLong_AsLong(change);
    if (by == -1 && PyErr_Occurred()) return NULL;
    watchers += by;
    return PyLong_FromSsize_t(watchers);
}

static PyObject *watch_thread(PyObject *module, PyObject *change) {
    long by = PyLong_AsLong(change);
    if (by == -1 && PyErr_Occurred()) return NULL;
    thread_watchers += by;
    return PyLong_FromSsize_t(thread_watchers);
}

static PyMethodDef methods[] = {
    {"configure", (PyCFunction)(void (*)(void))configure, METH_VARARGS | METH_KEYWORDS, "Say what Python's side provides."},
    {"use_torch", use_torch, METH_VARARGS, "Read PyTorch's tensors through its DLPack exchange; whether that can be."},
    {"use_reports", use_reports, METH_VARARGS, "Look at a word of memory before each call on a GPU."},
    {"watch", watch, METH_O, "Add to the number of those who want to see every call in Python."},
    {"watch_thread", watch_thread, METH_O, "The same, of calls of this thread."},
    {NULL}};
static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "baracuda.native.calls", "Repeated calls of functions, without Python in between.", -1, methods};

PyMODINIT_FUNC PyInit_calls(void) {
    import_array();
    if (pthread_key_create(&ends_with_thread, free)) return PyErr_NoMemory();
    if (PyType_Ready(&CallType) < 0 || PyType_Ready(&FunctionType) < 0) return NULL;
    PyObject *module = PyModule_Create(&definition);
    known.interned = PyDict_New();
    if (module == NULL || known.interned == NULL) return NULL;
    if (PyModule_AddObjectRef(module, "Call", (PyObject *)&CallType) < 0
        || PyModule_AddObjectRef(module, "Function", (PyObject *)&FunctionType) < 0)
        return NULL;
    return module;
}
