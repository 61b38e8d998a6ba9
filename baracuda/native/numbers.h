/* Calls whose numbers change. */
#ifndef BARACUDA_NUMBERS_H
#define BARACUDA_NUMBERS_H
#include "call.h"

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

static double value_of(const Key *key, int k) {
    double number;
    if (key->number[2 * k] == INTEGER) return (double)(int64_t)key->number[2 * k + 1];
    memcpy(&number, &key->number[2 * k + 1], 8);
    return number;
}

static uint64_t word_of(double number, uint64_t bits, int as) {
    if (as > 0) return as == 64 ? bits : bits & (((uint64_t)1 << as) - 1);
    uint64_t word = 0;
    float single = (float)number;
    if (as == -32) memcpy(&word, &single, 4); else memcpy(&word, &number, 8);
    return word;
}

/* New numbers where they are kernels' as they are; whether that was all there was to do. */
static int renumber_here(Call *call, const Key *key) {
    if (call->slots != key->numbers) return 0;
    for (int k = 0; k < key->numbers; k++) {
        if (!memcmp(&call->latest[2 * k], &key->number[2 * k], 16)) continue;
        const NumberSlot *slot = &call->slot[k];
        double number = value_of(key, k);
        if (slot->words < 0 || !(slot->low <= number && number <= slot->high)) return 0;
        int whole = key->number[2 * k] == INTEGER;
        for (int j = 0; whole && j < slot->words; j++) /* beyond, it may be rounded twice */
            if (slot->word[j].bits < 0 && (number > 0x1p53 || number < -0x1p53)) return 0;
    }
    for (int k = 0; k < key->numbers; k++) {
        if (!memcmp(&call->latest[2 * k], &key->number[2 * k], 16)) continue;
        const NumberSlot *slot = &call->slot[k];
        double number = value_of(key, k);
        for (int j = 0; j < slot->words; j++) {
            Launch *launch = &call->launch[slot->word[j].launch];
            launch->template[launch->parameter_at + slot->word[j].parameter] = word_of(number, key->number[2 * k + 1], slot->word[j].bits);
        }
    }
    memcpy(call->latest, key->number, 16 * (size_t)key->numbers);
    return 1;
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

#endif
