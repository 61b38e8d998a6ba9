/* A function whose calls are kept. */
#ifndef BARACUDA_FUNCTION_H
#define BARACUDA_FUNCTION_H
#include "overlaps.h"
#include "program.h"

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
    int positions, named, entries, writes, most; /* most: calls that it keeps, where that is its own affair; else 0 */
    unsigned size;
    Py_ssize_t followed;
    Entry *table;
} Function;

/* All functions, and how many calls they keep: calls keep code, so that there is an end to them. One of many tensors counts as
 * several. */
static Function ring = {.before = &ring, .after = &ring};
static Py_ssize_t calls_kept = 0;

static int weight_of(const Entry *entry) { return 1 + entry->length / FEW_WORDS; }

static void clear_entries(Function *self) {
    Entry *table = self->table;
    unsigned size = self->size;
    for (unsigned i = 0; i < size; i++)
        if (table[i].call != NULL && !self->most) calls_kept -= weight_of(&table[i]);
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
        if (f->size == 0 || f->most) { f = f->after; continue; }
        Py_INCREF(f);
        clear_entries(f);
        Py_DECREF(f);
        f = ring.after;
    }
}

static Entry *entry_of(Function *self, const Key *key, uint64_t hash, int make) {
    if (make && (self->table == NULL || 2 * self->entries >= (int)self->size)) {
        unsigned size = self->size ? 2 * self->size : 8;
        if (self->entries >= (self->most ? self->most : MOST_KEPT)) { clear_entries(self); size = 8; }
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
    put(key, (uint64_t)count);
    int preferred = put_preferred(key);
    if (preferred <= 0) return preferred;
    for (Py_ssize_t i = 0; i < count; i++) {
        int done = put_value(key, args[i], i < self->positions ? &self->parameter[i] : NULL, self->writes);
        if (done <= 0) return done;
    }
    Py_ssize_t more = names == NULL ? 0 : PyTuple_GET_SIZE(names);
    for (Py_ssize_t i = 0; i < more; i++) {
        PyObject *name = one_string(PyTuple_GET_ITEM(names, i));
        if (name == NULL || !put(key, KEYWORDS) || !put(key, (uint64_t)name)) return 0;
        int written = self->writes || (PyUnicode_GET_LENGTH(name) == 3 && !PyUnicode_CompareWithASCIIString(name, "out"));
        int done = put_value(key, args[count + i], named_parameter(self, name), written);
        if (done <= 0) return done;
    }
    return key->tensors && put_overlaps(key);
}

static PyObject *call_by_key(Function *self, Key *key, PyObject *const *args, size_t flags, PyObject *names) {
    Py_ssize_t count = PyVectorcall_NARGS(flags);
    int known_key = key_of(self, key, args, count, names);
    if (known_key < 0) return NULL;
    if (!known_key) return PyObject_Vectorcall(self->function, args, flags, names);
    uint64_t hash = hash_of(key);
    Entry *entry = entry_of(self, key, hash, 0);
    PyObject *answer = NULL, *tuple = NULL, *keywords = NULL;
    if (entry != NULL && entry->call != NULL) {
        Call *call = (Call *)Py_NewRef(entry->call);
        answer = follow(call, key, args, count, names);
        Py_DECREF(call);
        self->followed += answer != NULL;
        if (answer != NULL || PyErr_Occurred()) return answer;
        return PyObject_Vectorcall(self->function, args, flags, names);
    }
    if (entry != NULL && entry->attempts >= MOST_ATTEMPTS) return PyObject_Vectorcall(self->function, args, flags, names);
    /* record(function, arguments, keywords, tensors) gives (result, Call or None, what its key names) */
    PyObject *tensors = PyTuple_New(key->tensors);
    for (int i = 0; tensors != NULL && i < key->tensors; i++) PyTuple_SET_ITEM(tensors, i, Py_NewRef(key->tensor[i].object));
    if (tensors == NULL || !packed(args, count, names, &tuple, &keywords)) { Py_XDECREF(tensors); return NULL; }
    PyObject *found = PyObject_CallFunctionObjArgs(self->record, self->function, tuple, keywords, tensors, NULL);
    Py_DECREF(tuple);
    Py_DECREF(keywords);
    Py_DECREF(tensors);
    if (found == NULL) return NULL;
    PyObject *result, *call, *kept;
    if (!PyArg_ParseTuple(found, "OOO", &result, &call, &kept)) { Py_DECREF(found); return NULL; }
    if (calls_kept >= MOST_CALLS) forget_all();
    entry = entry_of(self, key, hash, 1); /* the table may have changed meanwhile */
    if (entry != NULL) {
        entry->attempts++;
        if (PyObject_TypeCheck(call, &CallType)) {
            memcpy(((Call *)call)->latest, key->number, 16 * (size_t)key->numbers);
            if (entry->call == NULL && !self->most) calls_kept += weight_of(entry);
            Py_XSETREF(entry->call, Py_NewRef(call));
        }
        Py_XSETREF(entry->kept, Py_NewRef(kept));
    }
    answer = Py_NewRef(result);
    Py_DECREF(found);
    return answer;
}

static PyObject *Function_call(PyObject *callable, PyObject *const *args, size_t flags, PyObject *names) {
    Function *self = (Function *)callable;
    if (watchers || thread_watchers) return PyObject_Vectorcall(self->function, args, flags, names);
    Key key;
    begin_key(&key);
    PyObject *answer = call_by_key(self, &key, args, flags, names);
    end_key(&key);
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
    static char *names[] = {"function", "record", "positions", "numbers", "specials", "writes", "most", NULL};
    PyObject *function, *record, *positions, *numbers, *specials;
    int writes, most = 0;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "OOO!O!O!p|i", names, &function, &record, &PyTuple_Type, &positions, &PyTuple_Type,
                                     &numbers, &PyDict_Type, &specials, &writes, &most))
        return NULL;
    Function *self = (Function *)type->tp_alloc(type, 0);
    if (self == NULL) return NULL;
    self->vectorcall = Function_call;
    self->before = ring.before;
    self->after = &ring;
    ring.before = ring.before->after = self;
    self->function = Py_NewRef(function);
    self->record = Py_NewRef(record);
    self->writes = writes;
    self->most = most;
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
    {"followed", T_PYSSIZET, offsetof(Function, followed), READONLY, "How many calls were made again."},
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

#endif
