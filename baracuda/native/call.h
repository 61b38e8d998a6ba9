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

typedef struct {
    PyObject_HEAD
    int launches, results, like, cuda, returns, threads;
    int64_t scratch;
    Launch *launch;
    Result *result;
    int *returned; /* which source each returned tensor is */
    uint64_t latest[2 * MOST_NUMBERS];
    PyObject *renumber, *scratch_on, *rebuild;
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

static PyObject *Call_new(PyTypeObject *type, PyObject *args, PyObject *keywords) {
    static char *names[] = {"launches", "results", "returned", "like", "scratch", "scratch_on", "cuda", "renumber", "rebuild",
                             "program", NULL};
    PyObject *launches, *results, *returned, *scratch_on, *renumber, *rebuild;
    int like, cuda, program = 0;
    long long scratch;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O!O!O!iLOiOO|p", names, &PyTuple_Type, &launches, &PyTuple_Type, &results,
                                     &PyTuple_Type, &returned, &like, &scratch, &scratch_on, &cuda, &renumber, &rebuild,
                                     &program))
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
    if (PyErr_Occurred() || (program && !make_program(self))) { Py_DECREF(self); return NULL; }
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

/* On CUDA: the addresses of words of its own that a block holds. */
static void point_at_itself(const Launch *launch, uint64_t *block) {
    block[launch->block_at] = (uint64_t)(block + launch->first);
    block[3] = (uint64_t)(block + launch->block_at);
    block[1] = (uint64_t)(block + launch->stream_at);
}

static void launch_failed(const Launch *launch, int status) {
    PyObject *failed = PyObject_CallMethod(launch->launcher, "failed", "i", status);
    Py_XDECREF(failed);
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
enum { FEW_LAUNCH_WORDS = 2048, MOST_LAUNCHES = 256, FEW_RESULTS = 32, FEW_SOURCES = FEW_TENSORS + FEW_RESULTS + 2 };

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

/* Whether a boolean that must be false for a call to go on is so; -1 for an error. */
static int expected(const Call *call, const Launch *launch, char *const *address, uint64_t stream) {
    char *at = address[launch->places[0].source] + launch->places[0].offset;
    if (!call->cuda) return !*at;
    PyObject *fine = PyObject_CallFunction(launch->launcher, "KK", (unsigned long long)at, (unsigned long long)stream);
    if (fine == NULL) return -1;
    Py_DECREF(fine);
    return fine == Py_True;
}

static PyObject *follow_program(Call *call, const Key *key);

/* Run a call: its results; NULL and no error where the long way has to be taken. */
static PyObject *follow(Call *call, const Key *key, PyObject *const *args, Py_ssize_t count, PyObject *names) {
    if (call->program != NULL) return follow_program(call, key);
    uint64_t few_words[FEW_LAUNCH_WORDS], *words = few_words, *at[MOST_LAUNCHES];
    PyObject *scalars[MOST_LAUNCHES], *answer = NULL, *rows = NULL;
    int held = 0, total = 0, needed = 0, status = 0;
    if (call->launches > MOST_LAUNCHES) return NULL;
    Ground g;
    if (!prepare(&g, call, key)) goto done;
    /* From the numbers to the words nothing runs that may let go of the interpreter's lock: another thread brings others. */
    if (key->numbers && memcmp(call->latest, key->number, 16 * (size_t)key->numbers)) {
        PyObject *tuple, *keywords;
        if (!packed(args, count, names, &tuple, &keywords)) goto done;
        rows = renumber(call, key, tuple, keywords);
        Py_DECREF(tuple);
        Py_DECREF(keywords);
        if (rows == NULL) goto done;
    }
    for (int i = 0; i < call->launches; i++) needed += call->launch[i].kind <= ON_CUDA ? call->launch[i].words : 0;
    if (needed > FEW_LAUNCH_WORDS) words = malloc(8 * (size_t)needed);
    if (words == NULL) { PyErr_NoMemory(); goto done; }
    for (; held < call->launches; held++) {
        Launch *launch = &call->launch[held];
        scalars[held] = Py_NewRef(launch->scalars);
        if (launch->kind > ON_CUDA) continue;
        uint64_t *block = at[held] = words + total;
        total += launch->words;
        memcpy(block, launch->template, 8 * (size_t)launch->words);
        uint64_t *operands = block + launch->first;
        for (int j = 0; j <= launch->operands; j++)
            operands[j] = (uint64_t)(g.address[launch->places[j].source] + launch->places[j].offset);
        if (launch->kind == ON_CUDA) {
            block[launch->stream_at] = g.stream;
            point_at_itself(launch, block);
        }
    }
    int brief = !call->cuda && !call->threads && key->bytes < BRIEF;
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
            if (status) { launch_failed(launch, status); goto done; }
        } else if (launch->kind == BY_PYTHON) {
            if (!launch_by_python(launch, scalars[i], g.address, g.stream)) goto done;
        } else if (expected(call, launch, g.address, g.stream) <= 0) {
            goto done;
        }
    }
    answer = answer_of(call, key, g.made);
done:
    let_go(&g);
    if (words != few_words) free(words);
    for (int i = 0; i < held; i++) Py_DECREF(scalars[i]);
    Py_XDECREF(rows);
    return answer;
}

#endif
