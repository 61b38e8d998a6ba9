/* Which tensors of a call share memory. */
#ifndef BARACUDA_OVERLAPS_H
#define BARACUDA_OVERLAPS_H
#include "key.h"

typedef struct { char *low, *high; int64_t number; } Span;

/* Spans by where they begin: pairs of runs that are in order are merged until there is one. Lists of tensors are few runs. Gives
 * that of the two arrays, both of so many, in which they are. */
static Span *in_order(Span *span, Span *spare, int count) {
    for (int runs = 0; runs != 1;) {
        runs = 0;
        for (int begin = 0, middle, end; begin < count; begin = end, runs++) {
            for (middle = begin + 1; middle < count && span[middle - 1].low <= span[middle].low;) middle++;
            for (end = middle < count ? middle + 1 : count; end < count && span[end - 1].low <= span[end].low;) end++;
            for (int to = begin, i = begin, j = middle; to < end; to++)
                spare[to] = j >= end || (i < middle && span[i].low <= span[j].low) ? span[i++] : span[j++];
        }
        Span *merged = spare;
        spare = span;
        span = merged;
        if (count == 0) break;
    }
    return span;
}

static int by_value(const void *a, const void *b) {
    const uint64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* The same for many tensors: in the order of their addresses, each is compared with those alone that begin before it ends. */
static int put_many_overlaps(Key *key) {
    static Span *held; /* under the interpreter's lock, which nothing here lets go of */
    static int room_held;
    if (room_held < key->tensors) {
        free(held);
        held = malloc(2 * sizeof(Span) * (size_t)key->tensors);
        room_held = held == NULL ? 0 : key->tensors;
        if (held == NULL) return 0;
    }
    Span *span = held;
    int count = 0, found = 0, room = 0, done = 1;
    for (int i = 0; i < key->tensors; i++) {
        const Tensor *t = &key->tensor[i];
        if (t->low == t->high) continue;
        span[count++] = (Span){t->data + t->low, t->data + t->high, i};
    }
    span = in_order(held, held + key->tensors, count);
    uint64_t *pair = NULL;
    for (int i = 0; done && i < count; i++)
        for (int j = i + 1; j < count && span[j].low < span[i].high; j++) {
            if (found == room) {
                room = room ? 4 * room : 256;
                uint64_t *grown = room > MOST_WORDS ? NULL : realloc(pair, 8 * (size_t)room);
                if (grown == NULL) { done = 0; break; }
                pair = grown;
            }
            uint64_t a = (uint64_t)span[i].number, b = (uint64_t)span[j].number;
            pair[found++] = a > b ? a << 32 | b : b << 32 | a;
        }
    if (done && found) qsort(pair, (size_t)found, 8, by_value);
    for (int i = 0; done && i < found; i++) {
        const Tensor *t = &key->tensor[pair[i] >> 32], *u = &key->tensor[pair[i] & 0xFFFFFFFFu];
        done = put(key, pair[i]) && put(key, (uint64_t)(t->data - u->data));
    }
    free(pair);
    return done;
}

/* Where tensors overlap, how far they are from each other is part of the key: whoever writes one, writes the other. */
static int put_overlaps(Key *key) {
    if (key->tensors > FEW_TENSORS) return put_many_overlaps(key);
    for (int i = 1; i < key->tensors; i++) {
        Tensor *t = &key->tensor[i];
        for (int j = 0; j < i; j++) {
            Tensor *u = &key->tensor[j];
            if (t->data + t->low >= u->data + u->high || u->data + u->low >= t->data + t->high) continue;
            if (t->low == t->high || u->low == u->high) continue;
            if (!put(key, (uint64_t)i << 32 | (uint64_t)j) || !put(key, (uint64_t)(t->data - u->data))) return 0;
        }
    }
    return 1;
}

#endif
