/* Arrays' layouts, looked up, and views by integers and slices. */
#ifndef BARACUDA_VIEW_H
#define BARACUDA_VIEW_H
#include "key.h"

/* Layouts of arrays by shape, strides, element, device and whether they are read-only: the latest, and those before them. */
enum { LAYOUT_SLOTS = 8192, MOST_LAYOUTS_KEPT = 4096, MOST_LAYOUT_WORDS = 2 * MOST_RANK + 4 };
typedef struct { uint64_t hash; int length; uint64_t *words; PyObject *layout, *device; } LayoutEntry;
static struct { LayoutEntry *latest, *older; int count; } layouts;

static LayoutEntry *layout_entry(LayoutEntry *table, const uint64_t *words, int length, uint64_t hash) {
    unsigned at = (unsigned)hash & (LAYOUT_SLOTS - 1);
    for (; table[at].words != NULL; at = (at + 1) & (LAYOUT_SLOTS - 1))
        if (table[at].hash == hash && table[at].length == length && !memcmp(table[at].words, words, 8 * (size_t)length)) break;
    return &table[at];
}

static void forget_layouts(LayoutEntry *table) {
    for (int i = 0; table != NULL && i < LAYOUT_SLOTS; i++) {
        free(table[i].words);
        Py_XDECREF(table[i].layout);
        Py_XDECREF(table[i].device);
    }
    free(table);
}

/* The layout of an array, borrowed from the array, which keeps it; NULL for an error. */
static PyObject *layout_of_array(PyObject *array) {
    PyObject **place = field_of(array, LAYOUT);
    if (*place != NULL) return *place;
    PyObject *shape = *field_of(array, SHAPE), *strides = *field_of(array, STRIDES);
    Py_ssize_t rank = PyTuple_GET_SIZE(shape);
    uint64_t words[MOST_LAYOUT_WORDS], hash = 0x9E3779B97F4A7C15ull;
    int length = 0;
    if (rank <= MOST_RANK && PyTuple_GET_SIZE(strides) == rank) {
        words[length++] = (uint64_t)*field_of(array, ELEMENT); /* which lives as long as the process */
        words[length++] = (uint64_t)*field_of(array, DEVICE);
        words[length++] = *field_of(array, IS_READONLY) == Py_True;
        for (Py_ssize_t a = 0; a < rank; a++) words[length++] = (uint64_t)integer_at(shape, a);
        for (Py_ssize_t a = 0; a < rank; a++) words[length++] = (uint64_t)integer_at(strides, a);
        if (PyErr_Occurred()) return NULL;
        for (int i = 0; i < length; i++) {
            hash = (hash ^ words[i]) * 0xFF51AFD7ED558CCDull;
            hash ^= hash >> 32;
        }
    }
    for (int i = 0; length && i < 2; i++) {
        LayoutEntry *table = i ? layouts.older : layouts.latest;
        LayoutEntry *entry = table == NULL ? NULL : layout_entry(table, words, length, hash);
        if (entry != NULL && entry->words != NULL) return *place = Py_NewRef(entry->layout);
    }
    PyObject *layout = PyObject_CallOneArg(known.layout_of, array); /* which the array keeps */
    if (layout == NULL) return NULL;
    Py_DECREF(layout);
    if (*place == NULL) { PyErr_SetString(PyExc_RuntimeError, "an array has no layout"); return NULL; }
    if (!length || !PyTuple_CheckExact(*place)) return *place;
    if (layouts.latest == NULL || layouts.count >= MOST_LAYOUTS_KEPT) {
        LayoutEntry *gone = layouts.older;
        layouts.older = layouts.latest;
        layouts.latest = calloc(LAYOUT_SLOTS, sizeof(LayoutEntry));
        layouts.count = 0;
        forget_layouts(gone);
        if (layouts.latest == NULL) return *place;
    }
    LayoutEntry *entry = layout_entry(layouts.latest, words, length, hash);
    if (entry->words == NULL && (entry->words = malloc(8 * (size_t)length)) != NULL) {
        memcpy(entry->words, words, 8 * (size_t)length);
        entry->hash = hash;
        entry->length = length;
        entry->layout = Py_NewRef(*place);
        entry->device = Py_NewRef(*field_of(array, DEVICE)); /* so that its address stays its own */
        layouts.count++;
    }
    return *place;
}

/* A number of the array's less or more than it was; None stays None. */
static PyObject *moved(PyObject *number, int64_t by) {
    if (number == NULL || number == Py_None || by == 0) return Py_NewRef(number == NULL ? Py_None : number);
    return PyLong_FromLongLong(PyLong_AsLongLong(number) + by);
}

/* The extent or stride of an axis of a view: the base's own object where it is the same number. */
static PyObject *number_or(PyObject *same, int64_t value, int changed) {
    return changed ? PyLong_FromLongLong(value) : Py_NewRef(same);
}

/* A view that begins some bytes on, of a shape with strides in elements. */
static PyObject *new_view(PyObject *array, int64_t offset, PyObject *shape, PyObject *strides, int readonly) {
    PyTypeObject *type = (PyTypeObject *)known.array;
    PyObject *made = type->tp_alloc(type, 0);
    if (made == NULL) return NULL;
    *field_of(made, POINTER) = moved(*field_of(array, POINTER), offset);
    *field_of(made, SHAPE) = Py_NewRef(shape);
    *field_of(made, STRIDES) = Py_NewRef(strides);
    *field_of(made, ELEMENT) = Py_NewRef(*field_of(array, ELEMENT));
    *field_of(made, DEVICE) = Py_NewRef(*field_of(array, DEVICE));
    *field_of(made, AVAILABLE) = moved(*field_of(array, AVAILABLE), -offset);
    *field_of(made, BEFORE) = moved(*field_of(array, BEFORE), offset);
    *field_of(made, IS_READONLY) = readonly ? Py_NewRef(Py_True) : Py_NewRef(*field_of(array, IS_READONLY));
    *field_of(made, OWNER) = Py_XNewRef(*field_of(array, OWNER));
    if (PyErr_Occurred()) Py_CLEAR(made);
    return made;
}

/* array[key], key made of integers, slices, ... and None: a view. NULL, without an error, for any other key and for a wrong one. */
static PyObject *view_at(PyObject *array, PyObject *key) {
    PyObject *shape = *field_of(array, SHAPE), *strides = *field_of(array, STRIDES);
    Py_ssize_t rank = PyTuple_GET_SIZE(shape), count = 1, used = 0, more = 0, ellipses = 0;
    PyObject *single = key, **items = &single;
    if (PyTuple_CheckExact(key)) { count = PyTuple_GET_SIZE(key); items = &PyTuple_GET_ITEM(key, 0); }
    for (Py_ssize_t i = 0; i < count; i++) {
        if (PyLong_CheckExact(items[i])) used++;
        else if (PySlice_Check(items[i])) { used++; more++; }
        else if (items[i] == Py_None) more++;
        else if (items[i] == Py_Ellipsis) ellipses++;
        else return NULL;
    }
    Py_ssize_t whole = rank - used, length = more + whole;
    if (whole < 0 || ellipses > 1 || length > MOST_RANK) return NULL;
    PyObject *layout = layout_of_array(array);
    if (layout == NULL) { PyErr_Clear(); return NULL; }
    int64_t itemsize = integer_at(layout, 5), start = 0;
    PyObject *extents = PyTuple_New(length), *steps = PyTuple_New(length), *made = NULL;
    Py_ssize_t axis = 0, at = 0;
    int empty = 0;
    if (extents == NULL || steps == NULL) goto failed;
    for (Py_ssize_t i = 0; i < count + !ellipses; i++) {
        PyObject *item = i < count ? items[i] : Py_Ellipsis;
        if (item == Py_Ellipsis) {
            for (Py_ssize_t k = 0; k < whole; k++, axis++, at++) {
                empty |= integer_at(shape, axis) == 0;
                PyTuple_SET_ITEM(extents, at, Py_NewRef(PyTuple_GET_ITEM(shape, axis)));
                PyTuple_SET_ITEM(steps, at, Py_NewRef(PyTuple_GET_ITEM(strides, axis)));
            }
        } else if (item == Py_None) {
            PyTuple_SET_ITEM(extents, at, PyLong_FromLong(1));
            PyTuple_SET_ITEM(steps, at++, PyLong_FromLong(0));
        } else {
            int64_t n = integer_at(shape, axis), step = integer_at(strides, axis);
            if (PySlice_Check(item)) {
                Py_ssize_t first, stop, by;
                if (PySlice_Unpack(item, &first, &stop, &by) < 0) { PyErr_Clear(); goto failed; }
                Py_ssize_t left = PySlice_AdjustIndices((Py_ssize_t)n, &first, &stop, by);
                if (left) start += first * step; else empty = 1;
                PyTuple_SET_ITEM(extents, at, number_or(PyTuple_GET_ITEM(shape, axis), left, left != n));
                PyTuple_SET_ITEM(steps, at++, number_or(PyTuple_GET_ITEM(strides, axis), by * step, by != 1));
            } else {
                int overflow;
                int64_t index = PyLong_AsLongLongAndOverflow(item, &overflow);
                if (overflow || index < -n || index >= n) goto failed;
                start += (index < 0 ? index + n : index) * step;
            }
            axis++;
        }
    }
    made = new_view(array, empty ? 0 : start * itemsize, extents, steps, 0);
failed:
    Py_XDECREF(extents);
    Py_XDECREF(steps);
    PyErr_Clear();
    return made;
}

/* view(array, first element, shape, strides, whether it may not be written): another view of an array's memory. */
static PyObject *view_of(PyObject *module, PyObject *const *args, Py_ssize_t count) {
    if (count != 5 || (PyObject *)Py_TYPE(args[0]) != known.array || !PyTuple_CheckExact(args[2]) || !PyTuple_CheckExact(args[3])) {
        PyErr_SetString(PyExc_TypeError, "expected an array, a number, two tuples and a truth value");
        return NULL;
    }
    PyObject *layout = layout_of_array(args[0]);
    int64_t offset = layout == NULL ? 0 : PyLong_AsLongLong(args[1]) * integer_at(layout, 5);
    return layout == NULL || PyErr_Occurred() ? NULL : new_view(args[0], offset, args[2], args[3], args[4] == Py_True);
}

#endif
