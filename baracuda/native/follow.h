/* Calls made again: words with addresses in place, and the launches. */
#ifndef BARACUDA_FOLLOW_H
#define BARACUDA_FOLLOW_H
#include "ground.h"
#include "numbers.h"

typedef void (*Execute)(uint64_t control, uint64_t *words, uint64_t plan);
typedef int (*CudaLaunch)(uint64_t *block);
enum { FEW_LAUNCH_WORDS = 2048, MOST_LAUNCHES = 256 };

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

/* Whether bytes that must be as expected for a call to go on are so; -1 for an error. */
static int expected(const Call *call, const Launch *launch, char *const *address, uint64_t stream) {
    char *at = address[launch->places[0].source] + launch->places[0].offset;
    if (!call->cuda) return !memcmp(at, &launch->plan, (size_t)launch->words);
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
    if (key->numbers && memcmp(call->latest, key->number, 16 * (size_t)key->numbers) && !renumber_here(call, key)) {
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
