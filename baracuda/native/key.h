/* What a call's arguments look like as a key. */
#ifndef BARACUDA_KEY_H
#define BARACUDA_KEY_H
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

#include "dlpack.h"

static struct {
    const DLPackExchangeAPI *torch;          /* NULL until PyTorch is there */
    PyObject *tensor, *parameter;            /* its types */
    PyObject *is_neg, *is_conj;              /* their methods */
    PyObject *requires_grad;                 /* the name of what says that a tensor is differentiated */
    PyObject *is_grad_enabled;               /* says whether writes are recorded */
    PyObject *layout_of;                     /* the layout of an array of our own that has none yet */
    PyObject *plain;                         /* types whose values hash and hold nothing, as a frozenset */
    PyObject *interned;                      /* values of them: equal ones become one object */
    PyObject *start_threads;                 /* sees to it that the CPU's workers are there */
    PyObject *stream_of;                     /* the handle of the stream that a tensor's library works on */
    PyObject *array;                         /* the type of arrays of our own */
    Py_ssize_t slot[10];                     /* where its fields are, in the order of `enum Field` */
    PyObject *preferred;                     /* what says the preference of calls that are given none */
    const volatile int64_t *found_wrong;     /* not 0 once a device has found something wrong; NULL before any looks */
    PyObject *raise_pending;                 /* raises what it found */
} known;
/* While it is not 0, functions are called as they are: somebody watches. */
static Py_ssize_t watchers = 0;
static _Thread_local Py_ssize_t thread_watchers = 0;

enum { FEW_WORDS = 320, MOST_WORDS = 1 << 17, FEW_TENSORS = 40, MOST_TENSORS = 1 << 14, MOST_NUMBERS = 16, MOST_KEPT = 512,
       MOST_RANK = 32, MOST_ATTEMPTS = 3, MOST_INTERNED = 4096, MOST_CALLS = 4096, MOST_DEPTH = 64 };
enum { SMALL_RESULT = 64 * 1024, SMALL_SCRATCH = 16 << 20, BRIEF = 32 * 1024 };

enum Field { POINTER, SHAPE, STRIDES, ELEMENT, DEVICE, AVAILABLE, BEFORE, IS_READONLY, OWNER, LAYOUT, FIELDS };
enum { OF_NUMPY = 1, OF_TORCH, OF_OURS, NONE_, TRUE_, FALSE_, INTEGER, FLOAT_, COMPLEX_, NUMBER, TUPLE_, LIST_, PLAIN, KEYWORDS,
       PREFERRED };

typedef struct {
    PyObject *object;
    char *data;
    int64_t low, high; /* bytes from the first element's to where the memory begins and ends */
    int library, device_type, device_id;
} Tensor;

/* Words and tensors are in the key itself until there are many. */
typedef struct {
    uint64_t *words;
    Tensor *tensor;
    int length, room, tensors, tensor_room, numbers, depth, unrecorded; /* depth: of lists in lists; unrecorded: PyTorch records no writes */
    uint64_t number[2 * MOST_NUMBERS]; /* type and bits of each */
    int64_t bytes;                     /* that all tensors have together */
    uint64_t few_words[FEW_WORDS];
    Tensor few_tensors[FEW_TENSORS];
} Key;

static void begin_key(Key *key) {
    key->words = key->few_words;
    key->tensor = key->few_tensors;
    key->room = FEW_WORDS;
    key->tensor_room = FEW_TENSORS;
    key->length = key->tensors = key->numbers = key->depth = key->unrecorded = 0;
    key->bytes = 0;
}

/* What the last key of many words or tensors had in the heap: the next one takes it, where none has it already. */
typedef struct { void *memory; int room; } Spare;
static Spare spare_words, spare_tensors;

static void give_back(Spare *spare, void *memory, int room) {
    if (room > spare->room && (size_t)room * sizeof(Tensor) < SMALL_SCRATCH) {
        free(spare->memory);
        *spare = (Spare){memory, room};
    } else {
        free(memory);
    }
}

static void end_key(Key *key) {
    if (key->words != key->few_words) give_back(&spare_words, key->words, key->room);
    if (key->tensor != key->few_tensors) give_back(&spare_tensors, key->tensor, key->tensor_room);
}

/* Room for more than there is in `few`, in the heap: NULL, and nothing has changed, where there is none. */
static void *more_room(void *held, const void *few, size_t size, int *room, int count, int most, Spare *spare) {
    int larger = *room;
    while (larger < count) larger *= 4;
    if (count > most) return NULL;
    if (held == few && spare->room >= count) {
        void *taken = spare->memory;
        memcpy(taken, few, size * (size_t)*room);
        *room = spare->room;
        *spare = (Spare){NULL, 0};
        return taken;
    }
    void *grown = held == few ? malloc(size * (size_t)larger) : realloc(held, size * (size_t)larger);
    if (grown == NULL) return NULL;
    if (held == few) memcpy(grown, few, size * (size_t)*room);
    *room = larger;
    return grown;
}

/* Whether there is room for so many words more. */
static int room_for(Key *key, int count) {
    if (key->length + count <= key->room) return 1;
    void *grown = more_room(key->words, key->few_words, 8, &key->room, key->length + count, MOST_WORDS, &spare_words);
    if (grown != NULL) key->words = grown;
    return grown != NULL;
}

/* Whether one more word could be added. */
static inline int put(Key *key, uint64_t word) {
    if (key->length >= key->room && !room_for(key, 1)) return 0;
    key->words[key->length++] = word;
    return 1;
}

static int64_t integer_at(PyObject *tuple, Py_ssize_t i) { return PyLong_AsLongLong(PyTuple_GET_ITEM(tuple, i)); }

static inline PyObject **field_of(PyObject *array, enum Field field) { return (PyObject **)((char *)array + known.slot[field]); }

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

static PyObject *layout_of_array(PyObject *array);

/* Add a tensor to a key: 1 if it is there, 0 if only the long way can tell, -1 for an error. */
static int put_tensor(Key *key, PyObject *object, int library, int written) {
    if (key->tensors >= key->tensor_room) {
        void *grown = more_room(key->tensor, key->few_tensors, sizeof(Tensor), &key->tensor_room, key->tensors + 1, MOST_TENSORS,
                                &spare_tensors);
        if (grown == NULL) return 0;
        key->tensor = grown;
    }
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
        if (rank > MOST_RANK || !room_for(key, 2 * rank + 2)) return 0;
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
        if (d.dtype.lanes != 1 || d.dtype.bits < 8 || !room_for(key, 2 * d.ndim + 2)) return 0;
        /* Views that PyTorch negates or conjugates when they are read have the memory of their base. */
        for (int i = 0; i < (d.dtype.code == DL_COMPLEX ? 2 : 1); i++) {
            PyObject *lazy = PyObject_CallOneArg(i ? known.is_conj : known.is_neg, object);
            if (lazy == NULL) { PyErr_Clear(); return 0; }
            Py_DECREF(lazy);
            if (lazy != Py_False) return 0;
        }
        if (written) {
            PyObject *differentiated = PyObject_GetAttr(object, known.requires_grad);
            if (differentiated == NULL) { PyErr_Clear(); return 0; }
            Py_DECREF(differentiated);
            if (differentiated != Py_False && !key->unrecorded) {
                PyObject *enabled = PyObject_CallNoArgs(known.is_grad_enabled);
                if (enabled == NULL) { PyErr_Clear(); return 0; }
                Py_DECREF(enabled);
                if (enabled != Py_False) return 0;
                key->unrecorded = 1;
            }
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
        PyObject *layout = layout_of_array(object);
        if (layout == NULL) { PyErr_Clear(); return 0; }
        /* layout = (low, high, device type, device id, whether it may not be written, bytes of an element): one object for equal
         * ones, which is kept. */
        if (written && integer_at(layout, 4)) return 0;
        t->data = (char *)PyLong_AsUnsignedLongLong(*field_of(object, POINTER));
        t->low = integer_at(layout, 0);
        t->high = integer_at(layout, 1);
        t->device_type = (int)integer_at(layout, 2);
        t->device_id = (int)integer_at(layout, 3);
        if (PyErr_Occurred()) { PyErr_Clear(); return 0; }
        if (!put(key, OF_OURS | alignment(t->data) << 16) || !put(key, (uint64_t)layout)) return 0;
    }
    key->bytes += t->high - t->low;
    key->tensors++;
    return 1;
}

static int library_of(PyObject *object) {
    PyObject *type = (PyObject *)Py_TYPE(object);
    if (type == (PyObject *)&PyArray_Type) return OF_NUMPY;
    if (known.torch != NULL && (type == known.tensor || type == known.parameter)) return OF_TORCH;
    if (type == known.array) return OF_OURS;
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
        if (key->depth >= MOST_DEPTH || !put(key, (uint64_t)(tuple ? TUPLE_ : LIST_) | (uint64_t)count << 8)) return 0;
        key->depth++;
        for (Py_ssize_t i = 0; i < count && i < PySequence_Fast_GET_SIZE(value); i++) {
            int done = put_value(key, PySequence_Fast_GET_ITEM(value, i), NULL, written);
            if (done <= 0) return done;
        }
        key->depth--;
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

/* The preference of calls that are given none, where one is set: equal ones are one object, which whoever keeps the key holds. */
static int put_preferred(Key *key) {
    PyObject *preferred;
    if (PyContextVar_Get(known.preferred, Py_None, &preferred) < 0) return -1;
    Py_DECREF(preferred);
    return preferred == Py_None || (put(key, PREFERRED) && put(key, (uint64_t)preferred));
}

static uint64_t hash_of(const Key *key) {
    uint64_t h = 0x9E3779B97F4A7C15ull ^ (uint64_t)key->length;
    for (int i = 0; i < key->length; i++) {
        h = (h ^ key->words[i]) * 0xFF51AFD7ED558CCDull;
        h ^= h >> 32;
    }
    return h;
}

#endif
