/* Operators of arrays: methods that call a function of the library at once where its operands are arrays and plain numbers; or, of an
 * index made of integers and slices, make a view. */
#ifndef BARACUDA_OPERATOR_H
#define BARACUDA_OPERATOR_H
#include "function.h"

typedef struct {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    PyObject *function, *otherwise, *out; /* `function` None until it is known; `out` the names of keywords of a call in place */
    int reflected, in_place, indexing;
} Operator;

static int is_operand(PyObject *object) {
    return (PyObject *)Py_TYPE(object) == known.array || PyFloat_CheckExact(object) || PyLong_CheckExact(object) || PyBool_Check(object)
           || PyComplex_CheckExact(object);
}

static PyObject *Operator_call(PyObject *callable, PyObject *const *args, size_t flags, PyObject *names) {
    Operator *self = (Operator *)callable;
    Py_ssize_t count = PyVectorcall_NARGS(flags);
    if (self->indexing) {
        int own = names == NULL && count == 2 && (PyObject *)Py_TYPE(args[0]) == known.array;
        PyObject *view = own ? view_at(args[0], args[1]) : NULL;
        return view != NULL ? view : PyObject_Vectorcall(self->otherwise, args, flags, names);
    }
    if (self->function == Py_None || names != NULL || count < 1 || count > 2 || (PyObject *)Py_TYPE(args[0]) != known.array
        || (count == 2 && !is_operand(args[1])))
        return PyObject_Vectorcall(self->otherwise, args, flags, names);
    if (self->in_place && (PyObject *)Py_TYPE(args[1]) == known.array && *field_of(args[0], ELEMENT) != *field_of(args[1], ELEMENT))
        return PyObject_Vectorcall(self->otherwise, args, flags, names); /* which rounds to its own element */
    PyObject *operands[3] = {args[0], args[count - 1], args[0]};
    if (self->reflected) { operands[0] = args[1]; operands[1] = args[0]; }
    return PyObject_Vectorcall(self->function, operands, (size_t)count, self->in_place ? self->out : NULL);
}

static PyObject *Operator_new(PyTypeObject *type, PyObject *args, PyObject *keywords) {
    static char *names[] = {"otherwise", "reflected", "in_place", "indexing", NULL};
    PyObject *otherwise;
    int reflected = 0, in_place = 0, indexing = 0;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|ppp", names, &otherwise, &reflected, &in_place, &indexing)) return NULL;
    Operator *self = (Operator *)type->tp_alloc(type, 0);
    if (self == NULL) return NULL;
    self->vectorcall = Operator_call;
    self->function = Py_NewRef(Py_None);
    self->otherwise = Py_NewRef(otherwise);
    self->reflected = reflected;
    self->in_place = in_place;
    self->indexing = indexing;
    self->out = Py_BuildValue("(N)", PyUnicode_InternFromString("out"));
    if (self->out == NULL) { Py_DECREF(self); return NULL; }
    return (PyObject *)self;
}

static int Operator_traverse(Operator *self, visitproc visit, void *arg) {
    Py_VISIT(self->function);
    Py_VISIT(self->otherwise);
    return 0;
}

static int Operator_clear(Operator *self) {
    Py_CLEAR(self->function);
    Py_CLEAR(self->otherwise);
    Py_CLEAR(self->out);
    return 0;
}

static void Operator_dealloc(Operator *self) {
    PyObject_GC_UnTrack(self);
    Operator_clear(self);
    Py_TYPE(self)->tp_free((PyObject *)self);
}

static PyObject *Operator_get(PyObject *self, PyObject *object, PyObject *type) {
    return object == NULL || object == Py_None ? Py_NewRef(self) : PyMethod_New(self, object);
}

static PyMemberDef Operator_members[] = {
    {"function", T_OBJECT, offsetof(Operator, function), 0, "The function of the library, None until it is known."},
    {"__wrapped__", T_OBJECT, offsetof(Operator, otherwise), READONLY, "What is called with operands that are no arrays and plain numbers."},
    {NULL}};

static PyTypeObject OperatorType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "baracuda.native.calls.Operator",
    .tp_basicsize = sizeof(Operator),
    .tp_dealloc = (destructor)Operator_dealloc,
    .tp_vectorcall_offset = offsetof(Operator, vectorcall),
    .tp_call = PyVectorcall_Call,
    .tp_descr_get = Operator_get,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_METHOD_DESCRIPTOR,
    .tp_doc = "An operator of arrays.",
    .tp_traverse = (traverseproc)Operator_traverse,
    .tp_clear = (inquiry)Operator_clear,
    .tp_members = Operator_members,
    .tp_new = Operator_new,
};

#endif
