/* Programs: calls of any number of launches, whose words lie one behind the other and stay there from call to call. */
#ifndef BARACUDA_PROGRAM_H
#define BARACUDA_PROGRAM_H
#include "follow.h"

typedef struct { int32_t source; int64_t word, offset; } Patch; /* a word that is the address of a byte of a source */
/* Launches with some addresses as a graph of the driver's, once these have come often enough. */
enum { GRAPHS = 6, SEEN_BEFORE = 2, LEAST_OF_A_GRAPH = 4, FIRST_GRAPHS = 8 };
typedef struct { char **address; int seen; int64_t latest; void *instance; PyObject *graph; } Graph;
typedef struct Program {
    int64_t words, patches;
    int tail, no_graphs; /* tail: the first launch after the last value that is read; no_graphs: these cannot be a graph */
    int64_t calls, replayed, captured;
    Graph graph[GRAPHS];
    int busy;        /* whether a call works with the block: another one then takes a copy */
    uint64_t *block; /* the words of all launches; addresses that are the same in each call are in place */
    int64_t *at;     /* where the words of each launch begin */
    Patch *patch;
} Program;

static void free_program(Program *program) {
    if (program == NULL) return;
    for (int i = 0; i < GRAPHS; i++) {
        free(program->graph[i].address);
        Py_XDECREF(program->graph[i].graph);
    }
    free(program->block);
    free(program->at);
    free(program->patch);
    free(program);
}

/* Whether the launches of a new call could be laid out so. */
static int make_program(Call *call) {
    int64_t words = 0, places = 0;
    int tail = 0;
    for (int i = 0; i < call->launches; i++) {
        if (call->launch[i].kind == EXPECT) tail = i + 1;
        if (call->launch[i].kind > ON_CUDA) continue;
        words += call->launch[i].words;
        places += call->launch[i].operands + 1;
    }
    Program *p = call->program = calloc(1, sizeof(Program));
    if (p == NULL) { PyErr_NoMemory(); return 0; }
    p->tail = tail;
    p->no_graphs = call->launches - tail < LEAST_OF_A_GRAPH;
    p->words = words;
    p->block = malloc(8 * (size_t)(words + 1));
    p->at = calloc((size_t)call->launches + 1, sizeof(int64_t));
    p->patch = malloc(sizeof(Patch) * (size_t)(places + 1));
    if (p->block == NULL || p->at == NULL || p->patch == NULL) { PyErr_NoMemory(); return 0; }
    int64_t at = 0;
    for (int i = 0; i < call->launches; i++) {
        Launch *launch = &call->launch[i];
        if (launch->kind > ON_CUDA) continue;
        p->at[i] = at;
        memcpy(p->block + at, launch->template, 8 * (size_t)launch->words);
        free(launch->template); /* nothing changes it */
        launch->template = NULL;
        if (launch->kind == ON_CUDA) point_at_itself(launch, p->block + at);
        for (int j = 0; j <= launch->operands; j++) {
            const Place *place = &launch->places[j];
            if (place->source)
                p->patch[p->patches++] = (Patch){place->source, at + launch->first + j, place->offset};
            else
                p->block[at + launch->first + j] = (uint64_t)place->offset;
        }
        at += launch->words;
    }
    return 1;
}

/* A block that no other call works with: the program's own, or a copy. */
static uint64_t *take_block(Call *call) {
    Program *p = call->program;
    if (!p->busy) { p->busy = 1; return p->block; }
    uint64_t *block = malloc(8 * (size_t)(p->words + 1));
    if (block == NULL) { PyErr_NoMemory(); return NULL; }
    memcpy(block, p->block, 8 * (size_t)p->words); /* addresses in it are another call's, and all overwritten */
    for (int i = 0; call->cuda && i < call->launches; i++)
        if (call->launch[i].kind == ON_CUDA) point_at_itself(&call->launch[i], block + p->at[i]);
    return block;
}

/* The launches from one to another; whether they were made. Without an error the long way has to be taken. The interpreter's lock
 * is let go while what is launched needs no Python. */
static int launch_all(const Call *call, uint64_t *block, char *const *address, uint64_t stream, int begin, int end) {
    PyThreadState *released = NULL;
    const int64_t *at = call->program->at;
    int fine = 1;
    for (int i = begin; i < end && fine; i++) {
        const Launch *launch = &call->launch[i];
        if (launch->kind <= ON_CUDA) {
            if (released == NULL) released = PyEval_SaveThread();
            int status = 0;
            if (launch->kind == ON_CPU) ((Execute)launch->function)(launch->control, block + at[i], launch->plan);
            else status = ((CudaLaunch)launch->function)(block + at[i]);
            if (!status) continue;
            PyEval_RestoreThread(released);
            launch_failed(launch, status);
            return 0;
        }
        if (launch->kind == EXPECT && !call->cuda) { /* needs no lock */
            fine = expected(call, launch, address, stream);
            continue;
        }
        if (released != NULL) PyEval_RestoreThread(released);
        released = NULL;
        fine = launch->kind == BY_PYTHON ? launch_by_python(launch, launch->scalars, address, stream)
                                         : expected(call, launch, address, stream) > 0;
    }
    if (released != NULL) PyEval_RestoreThread(released);
    return fine;
}

/* Have launches go to a stream. */
static void put_stream(const Call *call, uint64_t *block, uint64_t stream) {
    for (int i = 0; call->cuda && i < call->launches; i++)
        if (call->launch[i].kind == ON_CUDA) block[call->program->at[i] + call->launch[i].stream_at] = stream;
}

#include "graph.h"

static PyObject *follow_program(Call *call, const Key *key) {
    Program *p = call->program;
    PyObject *answer = NULL;
    Ground g;
    uint64_t *block = NULL;
    if (!prepare(&g, call, key) || (block = take_block(call)) == NULL) goto done;
    for (int64_t i = 0; i < p->patches; i++) {
        const Patch *patch = &p->patch[i];
        block[patch->word] = (uint64_t)(g.address[patch->source] + patch->offset);
    }
    put_stream(call, block, g.stream);
    if (!launch_all(call, block, g.address, g.stream, 0, p->tail)) goto done;
    int replayed = call->cuda ? replay(call, key, &g, block) : 0;
    if (replayed < 0 || (!replayed && !launch_all(call, block, g.address, g.stream, p->tail, call->launches))) goto done;
    answer = answer_of(call, key, g.made);
done:
    if (block == p->block) p->busy = 0;
    else free(block);
    let_go(&g);
    return answer;
}

#endif
