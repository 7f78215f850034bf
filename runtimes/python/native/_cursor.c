/* Frames, written straight into the mapped file of a spool: what `_spool.py` does. */

#include "_crc.c"

/* The part of a `Segment` that appends: where in its mapped file the next frame begins. */
typedef struct {
    PyObject_HEAD
    unsigned char *memory;
    Py_ssize_t mapped;
    Py_ssize_t place;
    Py_ssize_t end;
    char busy;
} Cursor;

static PyObject *recorded_name;

/* How many of these are gone: what only borrows one asks whether that may have been it. */
static unsigned long cursors_gone;

static void cursor_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    cursors_gone++;
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DecRef((PyObject *)type);
}

/* A start has eight parts, among them the arguments, and an end six, among them the result; states and events have fewer. */
enum { START_PARTS = 8, ARGUMENTS = 6, END_PARTS = 6, RESULT = 4 };

/* Encodes a frame behind its head of 8 bytes at `place`; its length is not written. `large`: what is to be noted once the frame is there, or NULL. */
static int encode(Cursor *self, Rules *rules, PyObject *frame, Py_ssize_t taken, Py_ssize_t place, Py_ssize_t *size, PyObject **large)
{
    Py_ssize_t room = self->end - place - 8;
    Py_ssize_t largest = rules->largest - taken;
    if (room <= 0)
        return NO_ROOM;
    if (largest <= 0)
        return NOT_PLAIN;
    unsigned char *begin = self->memory + place + 8;
    Py_ssize_t count = PyTuple_Size(frame);
    Output out = {begin, begin + (room < largest ? room : largest), rules, rules->items, NULL, 0};
    int done = put_sized(&out, '(', count);
    for (Py_ssize_t at = 0; done == WRITTEN && at < count; at++) {
        out.left = rules->items;
        out.are_given = large != NULL && count == START_PARTS && at == ARGUMENTS;
        PyObject *part = PyTuple_GetItem(frame, at);
        done = large != NULL && count == END_PARTS && at == RESULT ? put_given(&out, part, 0) : put_value(&out, part, 0);
    }
    *size = out.next - begin;
    if (large != NULL && out.large != NULL)
        *large = out.large;
    if (done == NO_ROOM && room >= largest)
        return NOT_PLAIN;
    return done;
}

static void commit(Cursor *self, Py_ssize_t place, Py_ssize_t size)
{
    uint32_t *words = (uint32_t *)(self->memory + place);
    words[1] = crc_of(self->memory + place + 8, size);
    __atomic_store_n(words, (uint32_t)size, __ATOMIC_RELEASE);
}

static Py_ssize_t behind(Py_ssize_t place, Py_ssize_t size)
{
    return (place + 8 + size + 3) & -4;
}

/*
 * put(rules, call, recorded, frame, second=None, taken=0, notes=True) -> int: appends one frame, or two that belong together, and sets `call.recorded`.
 * Each may have the bytes of the rules without those that are `taken`. `notes`: large values are noted, and those that were are not plain. 0: done.
 * 1: not everything in them is plain, 2: there is no room, and nothing was written.
 */
static PyObject *cursor_put(Cursor *self, PyObject *args)
{
    PyObject *rules_, *call, *recorded, *frame, *second = Py_None;
    Py_ssize_t taken = 0;
    int notes = 1;
    if (!PyArg_ParseTuple(args, "O!OOO!|Onp", rules_type, &rules_, &call, &recorded, &PyTuple_Type, &frame, &second, &taken, &notes))
        return NULL;
    Rules *rules = (Rules *)rules_;
    if (second != Py_None && !PyTuple_CheckExact(second)) {
        PyErr_SetString(PyExc_TypeError, "second: a tuple or None");
        return NULL;
    }
    if (self->busy || self->memory == NULL)
        return PyLong_FromLong(NOT_PLAIN);
    if (self->end > self->mapped || self->place < 8 || self->place & 3)
        return PyLong_FromLong(NO_ROOM);
    self->busy = 1;
    Py_ssize_t place = self->place, size = 0, middle = 0, more = 0;
    PyObject *large = NULL;
    int done = encode(self, rules, frame, taken, place, &size, notes ? &large : NULL);
    if (done == WRITTEN && second != Py_None) {
        middle = behind(place, size);
        done = encode(self, rules, second, taken, middle, &more, notes ? &large : NULL);
    }
    if (done == WRITTEN) {
        /* A reader sees none of them before the length of the first. */
        if (second != Py_None)
            commit(self, middle, more);
        commit(self, place, size);
        self->place = second != Py_None ? behind(middle, more) : behind(place, size);
        if (call != Py_None && PyObject_SetAttr(call, recorded_name, recorded))
            PyErr_Clear();
        note_large(rules, large);
    } else if (place + 8 <= self->end) {
        /* What was begun must not be taken for the head of a frame by whoever writes a shorter one here. */
        Py_ssize_t last = self->end;
        Py_ssize_t touched = middle ? middle + 8 + more : place + 8 + size;
        memset(self->memory + place, 0, (touched < last ? touched : last) - place);
    }
    PyErr_Clear(); /* Of what is not plain only. */
    self->busy = 0;
    return PyLong_FromLong(done);
}

/* open(map): appends go into this writable buffer from now on. Its owner keeps it until `end` is 0. */
static PyObject *cursor_open(Cursor *self, PyObject *buffer)
{
    void *memory;
    Py_ssize_t size;
    if (PyObject_AsWriteBuffer(buffer, &memory, &size))
        return NULL;
    if ((size_t)memory & 3) {
        PyErr_SetString(PyExc_ValueError, "the buffer is not aligned");
        return NULL;
    }
    self->memory = memory;
    self->mapped = size;
    return none();
}

static PyMethodDef cursor_methods[] = {
    {"put", (PyCFunction)cursor_put, METH_VARARGS, "Appends one or two frames. 0: done, 1: not plain, 2: no room."},
    {"open", (PyCFunction)cursor_open, METH_O, "Appends go into this writable buffer from now on."},
    {NULL, NULL, 0, NULL},
};

static PyMemberDef cursor_members[] = {
    {"place", T_PYSSIZET, offsetof(Cursor, place), 0, NULL},
    {"end", T_PYSSIZET, offsetof(Cursor, end), 0, NULL},
    {"busy", T_BOOL, offsetof(Cursor, busy), 0, NULL},
    {NULL, 0, 0, 0, NULL},
};

static PyType_Slot cursor_slots[] = {{Py_tp_dealloc, cursor_dealloc}, {Py_tp_methods, cursor_methods}, {Py_tp_members, cursor_members}, {0, NULL}};
static PyType_Spec cursor_spec = {"toolbreak._compiled.Cursor", sizeof(Cursor), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, cursor_slots};
