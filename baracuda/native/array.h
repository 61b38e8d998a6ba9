/* Arrays of our own: new ones, NumPy's arrays of their memory, and their operators. */
#ifndef BARACUDA_ARRAY_H
#define BARACUDA_ARRAY_H
#include "view.h"

/* Memory of a small array on the CPU, in one block with the object that owns it. */
typedef struct { PyObject_VAR_HEAD char *data; } Memory;
static PyMemberDef Memory_members[] = {{"pointer", T_ULONGLONG, offsetof(Memory, data), READONLY, "Its address."}, {NULL}};
static PyTypeObject MemoryType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "baracuda.native.calls.Memory",
    .tp_basicsize = sizeof(Memory),
    .tp_itemsize = 1,
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_doc = "Memory of a small array.",
    .tp_members = Memory_members,
};

static PyObject *new_memory(int64_t nbytes) {
    int64_t step = nbytes < 256 ? 16 : 64; /* what vectors are loaded from */
    Memory *memory = PyObject_NewVar(Memory, &MemoryType, nbytes + step);
    if (memory == NULL) return NULL;
    uint64_t first = (uint64_t)(memory + 1);
    memory->data = (char *)((first + step - 1) & ~(uint64_t)(step - 1));
    return (PyObject *)memory;
}

/* An array of new memory. `fields`: shape, strides, element, device, bytes, 0, whether read-only, what makes an owner of memory with an attribute
 * `pointer` (None: memory of its own), layout. */
static PyObject *new_array(PyObject *fields, int64_t nbytes, char **data) {
    PyObject *make = PyTuple_GET_ITEM(fields, 7), *owner, *pointer;
    if (make == Py_None) {
        owner = new_memory(nbytes);
        if (owner == NULL) return NULL;
        *data = ((Memory *)owner)->data;
        pointer = PyLong_FromVoidPtr(*data);
    } else {
        owner = PyObject_CallNoArgs(make);
        if (owner == NULL) return NULL;
        pointer = PyObject_GetAttrString(owner, "pointer");
        *data = pointer == NULL ? NULL : (char *)PyLong_AsUnsignedLongLong(pointer);
    }
    PyTypeObject *type = (PyTypeObject *)known.array;
    PyObject *made = pointer == NULL || PyErr_Occurred() ? NULL : type->tp_alloc(type, 0);
    if (made == NULL) {
        Py_XDECREF(pointer);
        Py_DECREF(owner);
        return NULL;
    }
    *field_of(made, POINTER) = pointer;
    for (int i = SHAPE; i <= IS_READONLY; i++) *field_of(made, i) = Py_NewRef(PyTuple_GET_ITEM(fields, i - SHAPE));
    *field_of(made, OWNER) = owner;
    *field_of(made, LAYOUT) = Py_NewRef(PyTuple_GET_ITEM(fields, 8));
    return made;
}

/* memory(bytes): memory of a small array. */
static PyObject *memory_of(PyObject *module, PyObject *nbytes) {
    int64_t count = PyLong_AsLongLong(nbytes);
    return PyErr_Occurred() ? NULL : new_memory(count);
}

/* as_numpy(array, dtype): NumPy's array of the memory of an array on the CPU, which it keeps. */
static PyObject *as_numpy(PyObject *module, PyObject *const *args, Py_ssize_t count) {
    if (count != 2 || (PyObject *)Py_TYPE(args[0]) != known.array || !PyArray_DescrCheck(args[1])) {
        PyErr_SetString(PyExc_TypeError, "expected an array and a dtype");
        return NULL;
    }
    PyObject *array = args[0], *shape = *field_of(array, SHAPE), *strides = *field_of(array, STRIDES);
    npy_intp extents[MOST_RANK], steps[MOST_RANK];
    Py_ssize_t rank = PyTuple_GET_SIZE(shape);
    if (rank > MOST_RANK) { PyErr_SetString(PyExc_ValueError, "more axes than NumPy has"); return NULL; }
    PyArray_Descr *descr = (PyArray_Descr *)args[1];
    for (Py_ssize_t a = 0; a < rank; a++) {
        extents[a] = (npy_intp)integer_at(shape, a);
        steps[a] = (npy_intp)(integer_at(strides, a) * PyDataType_ELSIZE(descr));
    }
    char *data = (char *)PyLong_AsUnsignedLongLong(*field_of(array, POINTER));
    if (PyErr_Occurred()) return NULL;
    int flags = NPY_ARRAY_ALIGNED | (*field_of(array, IS_READONLY) == Py_True ? 0 : NPY_ARRAY_WRITEABLE);
    Py_INCREF(descr);
    PyObject *made = PyArray_NewFromDescr(&PyArray_Type, descr, (int)rank, extents, steps, data, flags, NULL);
    if (made == NULL) return NULL;
    PyArray_UpdateFlags((PyArrayObject *)made, NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_F_CONTIGUOUS);
    if (PyArray_SetBaseObject((PyArrayObject *)made, Py_NewRef(array))) { Py_DECREF(made); return NULL; }
    return made;
}

#endif
