/* Repeated calls of functions: what a call's arguments look like as a key, and the launches that such a call comes down to.
 *
 * `Function` is a callable around a function of Python's. A call is looked up by the layouts of its tensors, the types of its
 * numbers and the values of all else. Where there is a `Call` for that, results are allocated and kernels launched from here;
 * where there is none the function is called, and `record` sees what it does. baracuda/frontends/call_cache.py has the same in
 * Python, for where this file was not compiled, and says what a call must be like for that.
 */
#include "operator.h"

static PyObject *configure(PyObject *module, PyObject *args, PyObject *keywords) {
    static char *names[] = {"plain", "start_threads", "stream_of", "preferred", NULL};
    PyObject *plain, *start, *stream_of, *preferred;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "OOOO!", names, &plain, &start, &stream_of, &PyContextVar_Type, &preferred))
        return NULL;
    Py_XSETREF(known.plain, Py_NewRef(plain));
    Py_XSETREF(known.start_threads, Py_NewRef(start));
    Py_XSETREF(known.stream_of, Py_NewRef(stream_of));
    Py_XSETREF(known.preferred, Py_NewRef(preferred));
    Py_RETURN_NONE;
}

static PyObject *use_arrays(PyObject *module, PyObject *args) {
    PyObject *array, *fields, *layout_of;
    if (!PyArg_ParseTuple(args, "O!O!O", &PyType_Type, &array, &PyTuple_Type, &fields, &layout_of)) return NULL;
    for (Py_ssize_t i = 0; i < FIELDS; i++) {
        PyObject *field = i < PyTuple_GET_SIZE(fields) ? PyTuple_GET_ITEM(fields, i) : Py_None;
        if (Py_TYPE(field) != &PyMemberDescr_Type) { PyErr_SetString(PyExc_TypeError, "fields: expected slots of arrays"); return NULL; }
        known.slot[i] = ((PyMemberDescrObject *)field)->d_member->offset;
    }
    Py_XSETREF(known.array, Py_NewRef(array));
    Py_XSETREF(known.layout_of, Py_NewRef(layout_of));
    Py_RETURN_NONE;
}

static PyObject *use_torch(PyObject *module, PyObject *args) {
    PyObject *capsule, *tensor, *parameter, *is_neg, *is_conj, *is_grad_enabled;
    if (!PyArg_ParseTuple(args, "OOOOOO", &capsule, &tensor, &parameter, &is_neg, &is_conj, &is_grad_enabled)) return NULL;
    const DLPackExchangeAPI *api = PyCapsule_GetPointer(capsule, "dlpack_exchange_api");
    if (api == NULL) return NULL;
    if (api->header.version.major != 1 || api->dltensor_from_py_object_no_sync == NULL || api->current_work_stream == NULL)
        Py_RETURN_FALSE;
    Py_XSETREF(known.tensor, Py_NewRef(tensor));
    Py_XSETREF(known.parameter, Py_NewRef(parameter));
    Py_XSETREF(known.is_neg, Py_NewRef(is_neg));
    Py_XSETREF(known.is_conj, Py_NewRef(is_conj));
    Py_XSETREF(known.is_grad_enabled, Py_NewRef(is_grad_enabled));
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
    {"memory", memory_of, METH_O, "Memory of a small array: an owner with an attribute `pointer`."},
    {"view", (PyCFunction)(void (*)(void))view_of, METH_FASTCALL, "Another view of an array's memory."},
    {"as_numpy", (PyCFunction)(void (*)(void))as_numpy, METH_FASTCALL, "NumPy's array of the memory of an array on the CPU."},
    {"configure", (PyCFunction)(void (*)(void))configure, METH_VARARGS | METH_KEYWORDS, "Say what Python's side provides."},
    {"use_arrays", use_arrays, METH_VARARGS, "Say what the type of arrays of our own is, where its fields are, and what gives an array its layout."},
    {"use_torch", use_torch, METH_VARARGS, "Read PyTorch's tensors through its DLPack exchange; whether that can be."},
    {"use_reports", use_reports, METH_VARARGS, "Look at a word of memory before each call on a GPU."},
    {"use_graphs", use_graphs, METH_VARARGS, "Say how programs on a GPU become graphs."},
    {"watch", watch, METH_O, "Add to the number of those who want to see every call in Python."},
    {"watch_thread", watch_thread, METH_O, "The same, of calls of this thread."},
    {NULL}};
static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "baracuda.native.calls", "Repeated calls of functions, without Python in between.", -1, methods};

PyMODINIT_FUNC PyInit_calls(void) {
    import_array();
    if (pthread_key_create(&ends_with_thread, free)) return PyErr_NoMemory();
    if (PyType_Ready(&CallType) < 0 || PyType_Ready(&FunctionType) < 0 || PyType_Ready(&MemoryType) < 0
        || PyType_Ready(&OperatorType) < 0)
        return NULL;
    PyObject *module = PyModule_Create(&definition);
    known.interned = PyDict_New();
    known.requires_grad = PyUnicode_InternFromString("requires_grad");
    if (module == NULL || known.interned == NULL || known.requires_grad == NULL) return NULL;
    if (PyModule_AddIntConstant(module, "INTERFACE", 7) < 0 || PyModule_AddObjectRef(module, "Call", (PyObject *)&CallType) < 0
        || PyModule_AddObjectRef(module, "Function", (PyObject *)&FunctionType) < 0
        || PyModule_AddObjectRef(module, "Operator", (PyObject *)&OperatorType) < 0)
        return NULL;
    return module;
}
