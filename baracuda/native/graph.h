/* Programs on a GPU, from the last value on that is read on the host, as graphs of the driver's. Addresses are part of a graph, and
 * memory that is given back and asked for again is often the same: a program whose addresses have all been seen together before is
 * captured, and replayed when they come again. */
#ifndef BARACUDA_GRAPH_H
#define BARACUDA_GRAPH_H

static struct {
    PyObject *make; /* of a device and of what launches on a stream: (address of the instance, what keeps it), or None */
    int (*launch)(void *instance, void *stream);
    int (*is_capturing)(void *stream, int *status);
} graphs;

typedef struct { const Call *call; uint64_t *block; char *const *address; } Launching;

/* Launch on the stream that is being captured. */
static PyObject *launch_on(PyObject *capsule, PyObject *stream) {
    Launching *l = PyCapsule_GetPointer(capsule, NULL);
    uint64_t handle = l == NULL ? 0 : PyLong_AsUnsignedLongLong(stream);
    if (PyErr_Occurred()) return NULL;
    put_stream(l->call, l->block, handle);
    int fine = launch_all(l->call, l->block, l->address, handle, l->call->program->tail, l->call->launches);
    if (!fine && !PyErr_Occurred()) PyErr_SetString(PyExc_RuntimeError, "what was launched reads values on the host");
    return fine ? Py_NewRef(Py_None) : NULL;
}
static PyMethodDef launch_on_method = {"launch_on", launch_on, METH_O, "Launch on the stream that is being captured."};

/* Whether a graph could be made; -1 for an error. */
static int capture(Call *call, const Key *key, const Ground *g, uint64_t *block, Graph *graph) {
    Launching launching = {call, block, g->address};
    PyObject *capsule = PyCapsule_New(&launching, NULL, NULL), *made = NULL;
    PyObject *method = capsule == NULL ? NULL : PyCFunction_New(&launch_on_method, capsule);
    if (method != NULL) made = PyObject_CallFunction(graphs.make, "iO", key->tensor[call->like].device_id, method);
    Py_XDECREF(method);
    Py_XDECREF(capsule);
    if (made == NULL) return -1;
    if (made != Py_None) {
        graph->instance = (void *)(uintptr_t)PyLong_AsUnsignedLongLong(PyTuple_GET_ITEM(made, 0));
        graph->graph = Py_NewRef(PyTuple_GET_ITEM(made, 1));
    }
    Py_DECREF(made);
    return PyErr_Occurred() ? -1 : graph->graph != NULL;
}

/* The graph for these addresses; one without an instance where there is none yet. NULL where there is no memory. */
static Graph *graph_for(Program *p, char *const *address, size_t size) {
    Graph *oldest = &p->graph[0];
    for (int i = 0; i < GRAPHS; i++) {
        Graph *graph = &p->graph[i];
        if (graph->address != NULL && !memcmp(graph->address, address, size)) return graph;
        if (graph->latest < oldest->latest) oldest = graph;
    }
    if (oldest->address == NULL && (oldest->address = malloc(size)) == NULL) return NULL;
    memcpy(oldest->address, address, size);
    oldest->seen = 0;
    oldest->instance = NULL;
    PyObject *gone = oldest->graph;
    oldest->graph = NULL;
    Py_XDECREF(gone);
    return oldest;
}

/* Launch a program as a graph: 1 where that was done, 0 where its launches are to be made one by one, -1 for an error. */
static int replay(Call *call, const Key *key, const Ground *g, uint64_t *block) {
    Program *p = call->program;
    int capturing = 0, first = p->tail, status;
    if (graphs.make == NULL || p->no_graphs || block != p->block) return 0;
    while (first < call->launches && call->launch[first].kind != ON_CUDA) first++;
    if (first == call->launches) return 0;
    /* the driver's functions that a launch itself calls, for the context that is current */
    const uint64_t *own = block + p->at[first];
    void *current = NULL;
    ((int (*)(void **))(uintptr_t)own[5])(&current);
    if (current != (void *)(uintptr_t)own[2] || graphs.is_capturing((void *)(uintptr_t)g->stream, &capturing) || capturing) return 0;
    Graph *graph = graph_for(p, g->address, sizeof(char *) * (size_t)(key->tensors + call->results + 2));
    if (graph == NULL) return 0;
    graph->latest = ++p->calls;
    if (graph->graph == NULL) {
        if (graph->seen++ < SEEN_BEFORE || p->captured >= FIRST_GRAPHS + p->replayed / FIRST_GRAPHS) return 0;
        p->captured++;
        int made = capture(call, key, g, block, graph);
        if (made <= 0) {
            p->no_graphs = 1;
            put_stream(call, block, g->stream);
            return made;
        }
    }
    p->replayed++;
    void *instance = graph->instance;
    PyObject *held = Py_NewRef(graph->graph);
    Py_BEGIN_ALLOW_THREADS
    status = graphs.launch(instance, (void *)(uintptr_t)g->stream);
    Py_END_ALLOW_THREADS
    Py_DECREF(held);
    if (status) launch_failed(&call->launch[first], status);
    return status ? -1 : 1;
}

static PyObject *use_graphs(PyObject *module, PyObject *args) {
    PyObject *make;
    unsigned long long launch, is_capturing;
    if (!PyArg_ParseTuple(args, "OKK", &make, &launch, &is_capturing)) return NULL;
    graphs.launch = (int (*)(void *, void *))(uintptr_t)launch;
    graphs.is_capturing = (int (*)(void *, int *))(uintptr_t)is_capturing;
    Py_XSETREF(graphs.make, make == Py_None ? NULL : Py_NewRef(make));
    Py_RETURN_NONE;
}

#endif
