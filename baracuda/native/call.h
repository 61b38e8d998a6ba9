/* What a call comes down to: results, scratch memory and launches. */
#ifndef BARACUDA_CALL_H
#define BARACUDA_CALL_H
#include "array.h"

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
    PyObject *descr, *allocate; /* descr: of NumPy; of an array of our own its fields, and what makes an owner of its memory */
} Result;
enum { NEW_NUMPY, NEW_TORCH, NEW_ARRAY, NEW_BY_PYTHON };

/* A number that C writes into the words of launches: within which bounds, and which. */
typedef struct { int launch, parameter, bits; } NumberWord; /* bits: of an integer; less than 0 of a float */
typedef struct { double low, high; int words; NumberWord *word; } NumberSlot;

typedef struct {
    PyObject_HEAD
    int launches, results, like, cuda, returns, threads;
    int64_t scratch;
    Launch *launch;
    Result *result;
    int *returned; /* which source each returned tensor is */
    uint64_t latest[2 * MOST_NUMBERS];
    PyObject *renumber, *scratch_on, *rebuild, *held;
    int slots;
    NumberSlot *slot; /* for each number of the key, `words` below 0 where Python writes it */
    struct Program *program; /* of a call of any number of launches; else NULL */
} Call;
static void free_program(struct Program *program);

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
    Py_XDECREF(self->held);
    for (int i = 0; i < self->slots; i++) free(self->slot[i].word);
    free(self->slot);
    free_program(self->program);
    Py_TYPE(self)->tp_free((PyObject *)self);
}

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
     * ("python",), ("expect", value, bytes of it) */
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
        if (launch->kind == EXPECT) {
            launch->plan = PyLong_AsUnsignedLongLong(PyTuple_GET_ITEM(native, 1));
            launch->words = (int)integer_at(native, 2);
        }
    }
    return !PyErr_Occurred();
}

static int read_result(Result *result, PyObject *given) {
    /* (way, shape, strides or None, bytes, dtype, allocate): dtype (code, bits) of DLPack, or a NumPy dtype, or what `new_array`
     * takes, or None */
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
    if (!strcmp(way, "array")) {
        result->way = NEW_ARRAY;
        result->descr = Py_NewRef(dtype);
    }
    if (result->nbytes >= SMALL_RESULT || result->way == NEW_ARRAY) return !PyErr_Occurred();
    if (!strcmp(way, "numpy")) {
        result->way = NEW_NUMPY;
        result->descr = Py_NewRef(dtype);
    } else if (!strcmp(way, "torch") && known.torch != NULL) {
        result->way = NEW_TORCH;
        result->dtype = (DLDataType){(uint8_t)integer_at(dtype, 0), (uint8_t)integer_at(dtype, 1), 1};
    }
    return !PyErr_Occurred();
}

static int make_program(Call *call);

static int read_slots(Call *call, PyObject *given) {
    /* of each number None, or (low, high, ((launch, parameter, bits), ...)) */
    call->slot = calloc(PyTuple_GET_SIZE(given) + 1, sizeof(NumberSlot));
    if (call->slot == NULL) { PyErr_NoMemory(); return 0; }
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(given); i++) {
        NumberSlot *slot = &call->slot[call->slots++];
        PyObject *row = PyTuple_GET_ITEM(given, i), *words = row == Py_None ? NULL : PyTuple_GET_ITEM(row, 2);
        slot->words = words == NULL ? -1 : (int)PyTuple_GET_SIZE(words);
        if (words == NULL) continue;
        slot->low = PyFloat_AsDouble(PyTuple_GET_ITEM(row, 0));
        slot->high = PyFloat_AsDouble(PyTuple_GET_ITEM(row, 1));
        slot->word = calloc((size_t)slot->words + 1, sizeof(NumberWord));
        if (slot->word == NULL) { PyErr_NoMemory(); return 0; }
        for (int j = 0; j < slot->words; j++) {
            PyObject *word = PyTuple_GET_ITEM(words, j);
            slot->word[j] = (NumberWord){(int)integer_at(word, 0), (int)integer_at(word, 1), (int)integer_at(word, 2)};
            if (slot->word[j].launch >= call->launches || call->launch[slot->word[j].launch].kind > ON_CUDA) slot->words = -1;
        }
    }
    return !PyErr_Occurred();
}

static PyObject *Call_new(PyTypeObject *type, PyObject *args, PyObject *keywords) {
    static char *names[] = {"launches", "results", "returned", "like", "scratch", "scratch_on", "cuda", "renumber", "rebuild",
                             "program", "numbers", "held", NULL};
    PyObject *launches, *results, *returned, *scratch_on, *renumber, *rebuild, *numbers = NULL, *held = NULL;
    int like, cuda, program = 0;
    long long scratch;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O!O!O!iLOiOO|pO!O", names, &PyTuple_Type, &launches, &PyTuple_Type, &results,
                                     &PyTuple_Type, &returned, &like, &scratch, &scratch_on, &cuda, &renumber, &rebuild,
                                     &program, &PyTuple_Type, &numbers, &held))
        return NULL;
    Call *self = (Call *)type->tp_alloc(type, 0);
    if (self == NULL) return NULL;
    self->like = like;
    self->cuda = cuda;
    self->scratch = scratch;
    self->scratch_on = Py_NewRef(scratch_on);
    self->renumber = Py_NewRef(renumber);
    self->rebuild = Py_NewRef(rebuild);
    self->held = Py_XNewRef(held);
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
    if (PyErr_Occurred() || (numbers != NULL && !read_slots(self, numbers)) || (program && !make_program(self))) { Py_DECREF(self); return NULL; }
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

#endif
