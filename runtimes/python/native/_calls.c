/*
 * What the short ways of calls share: where Python's classes keep what is read and written here, what is recorded and in which file, whether anything
 * may stop a call, and frames. Part of `_compiled.c`, whose values it writes; `_nodes.c` and `_functions.c` are the short ways themselves.
 */
#include <time.h>

/* Where the slots of Python's classes are in their objects: found by `slot_at`, which puts something there and looks where it is. */
static struct {
    PyTypeObject *task, *function, *segment, *stopping, *writer, *settings;
    struct {
        Py_ssize_t id, calls, innermost, known, parent;
    } tasks;
    struct {
        Py_ssize_t id, before, after, generation, known;
    } functions;
    struct {
        Py_ssize_t known, kept, waiting;
    } segments;
    struct {
        Py_ssize_t generation, special, stop_byte;
    } stops;
    struct {
        Py_ssize_t _routes, _states, ended, known, local, settings;
    } writers;
    struct {
        Py_ssize_t references, rules;
    } settings_;
} at;

/* What `prepare_calls` was ours. */
static struct {
    PyObject *calls;    /* the names of the module `_calls` */
    PyObject *stopping; /* its `stopping` */
    PyObject *current;  /* the context variable that holds the current call */
    PyObject *now;      /* time.monotonic_ns */
} ours;
static int are_calls_prepared;

#define EACH_NAME(X) X(_numbers) X(attached) X(decide) X(lets_go) X(segment) X(writer)
#define DECLARE(name) PyObject *name;
static struct {
    EACH_NAME(DECLARE)
} word;
#define INTERN(name)                                                                                                                                           \
    if ((word.name = PyUnicode_InternFromString(#name)) == NULL)                                                                                               \
        return NULL;
static PyObject *zero, *one, *two;

static PyObject *slot(PyObject *object, Py_ssize_t place)
{
    return *(PyObject **)((char *)object + place);
}

/* Stores a new reference, and answers the one that was there. */
static PyObject *exchange(PyObject *object, Py_ssize_t place, PyObject *value)
{
    PyObject **held = (PyObject **)((char *)object + place);
    PyObject *old = *held;
    *held = value;
    return old;
}

static PyObject *shared(PyObject *object)
{
    Py_IncRef(object);
    return object;
}

/* -1: this class does not keep that attribute in a slot. */
static Py_ssize_t slot_at(PyTypeObject *type, const char *name)
{
    PyObject *size = PyObject_GetAttrString((PyObject *)type, "__basicsize__");
    PyObject *object = size == NULL ? NULL : PyType_GenericAlloc(type, 0);
    PyObject *sample = object == NULL ? NULL : PyList_New(0);
    Py_ssize_t found = -1, times = 0;
    PyObject *key = PyUnicode_FromString(name);
    /* Not by `setattr`: LangGraph's tasks refuse it. */
    if (sample != NULL && key != NULL && PyObject_GenericSetAttr(object, key, sample) == 0) {
        Py_ssize_t end = PyLong_AsSsize_t(size) - (Py_ssize_t)sizeof(PyObject *);
        for (Py_ssize_t place = sizeof(PyObject); place <= end; place += sizeof(PyObject *))
            if (slot(object, place) == sample) {
                found = place;
                times++;
            }
        PyObject_GenericSetAttr(object, key, NULL);
    }
    Py_DecRef(key);
    Py_DecRef(sample);
    Py_DecRef(object);
    Py_DecRef(size);
    PyErr_Clear();
    return times == 1 ? found : -1;
}

typedef struct {
    const char *name;
    Py_ssize_t *place;
} Slot;

static int find_slots(PyObject *classes, const char *name, PyTypeObject **type, const Slot *slots)
{
    PyObject *found = PyDict_GetItemString(classes, name);
    if (found == NULL || !PyType_Check(found))
        return 0;
    Py_IncRef(found);
    *type = (PyTypeObject *)found;
    for (; slots->name != NULL; slots++)
        if ((*slots->place = slot_at(*type, slots->name)) < 0)
            return 0;
    return 1;
}

/* Most often there is none: to ask is quicker than to clear. */
static void forget_error(void)
{
    if (PyErr_Occurred())
        PyErr_Clear();
}

/* ---------------------------------------------------------------- the current call, the time */

/* Not in the stable interface, and the same from Python 3.8 on to 3.14. One that lacked them would not load this file. */
extern int PyContextVar_Get(PyObject *variable, PyObject *otherwise, PyObject **value);
extern PyObject *PyContextVar_Set(PyObject *variable, PyObject *value);
extern int PyContextVar_Reset(PyObject *variable, PyObject *token);

/* A new reference; None where there is none. NULL with an exception. */
static PyObject *current_call(void)
{
    PyObject *call = NULL;
    return PyContextVar_Get(ours.current, NULL, &call) ? NULL : call;
}

/* A token that tells what it was before; NULL: there is no memory. */
static PyObject *set_in_context(PyObject *variable, PyObject *value)
{
    /* Up to 3.11 a collection in the middle of it may run code that sets it, too, and frees what it works on. */
    int collects = PyGC_Disable();
    PyObject *token = PyContextVar_Set(variable, value);
    if (collects)
        PyGC_Enable();
    return token;
}

/* set_variable(variable, value): `variable.set(value)`, and nothing is collected meanwhile. */
static PyObject *set_variable(PyObject *module, PyObject *args)
{
    PyObject *variable, *value;
    if (!PyArg_ParseTuple(args, "OO", &variable, &value))
        return NULL;
    return set_in_context(variable, value);
}

static PyObject *set_current(PyObject *call)
{
    return set_in_context(ours.current, call);
}

/* 0: there is no memory. */
static int make_current(PyObject *call)
{
    PyObject *token = set_current(call);
    Py_DecRef(token);
    return token != NULL;
}

/* `time.monotonic_ns()`. 0: it raised something. */
static int look_at_clock(long long *now)
{
#ifdef __linux__
    struct timespec parts;
    if (clock_gettime(CLOCK_MONOTONIC, &parts) == 0) {
        *now = parts.tv_sec * 1000000000LL + parts.tv_nsec;
        return 1;
    }
#endif
    PyObject *answer = PyObject_CallNoArgs(ours.now);
    *now = answer == NULL ? -1 : PyLong_AsLongLong(answer);
    Py_DecRef(answer);
    return !PyErr_Occurred();
}

static PyObject *moment(void)
{
    long long now;
    return look_at_clock(&now) ? PyLong_FromLongLong(now) : NULL;
}

/* ---------------------------------------------------------------- what is recorded, and where */

/* Of the module `_calls`. Where a dict tells that it changed, it is not looked up in between. */
static struct {
    uint64_t version;
    PyObject *attached, *writer, *decide, *lets_go, *numbers; /* borrowed */
} now_there;

static int look_there(void)
{
    uint64_t version = version_of(ours.calls);
    if (version && version == now_there.version)
        return now_there.writer != Py_None;
    now_there.attached = PyDict_GetItemWithError(ours.calls, word.attached);
    now_there.writer = PyDict_GetItemWithError(ours.calls, word.writer);
    now_there.decide = PyDict_GetItemWithError(ours.calls, word.decide);
    now_there.lets_go = PyDict_GetItemWithError(ours.calls, word.lets_go);
    now_there.numbers = PyDict_GetItemWithError(ours.calls, word._numbers);
    now_there.version = 0;
    if (now_there.attached == NULL || now_there.writer == NULL || now_there.decide == NULL || now_there.numbers == NULL)
        return 0;
    now_there.version = version;
    return now_there.writer != Py_None;
}

/* The file that this thread appended to last, and the `local` of the writer that it was found in. Both borrowed: a thread may end. */
static __thread struct {
    PyObject *local, *segment;
    unsigned long gone; /* `cursors_gone` */
} last_file;

/* A new reference; NULL: this thread has none yet. `known` is the writer's: the address of its `local` may have been that of another one's. */
static PyObject *segment_of(PyObject *local, PyObject *known)
{
    if (last_file.local == local && last_file.gone == cursors_gone && slot(last_file.segment, at.segments.known) == known &&
        ((Cursor *)last_file.segment)->end > 0)
        return shared(last_file.segment);
    last_file.local = NULL;
    PyObject *segment = PyObject_GetAttr(local, word.segment);
    if (segment != NULL && Py_TYPE(segment) == at.segment) {
        last_file.local = local;
        last_file.segment = segment;
        last_file.gone = cursors_gone;
        return segment;
    }
    PyErr_Clear();
    Py_DecRef(segment);
    return NULL;
}

/* Whether the next frame may be written there, as far as this file says. */
static int has_place(PyObject *segment)
{
    Cursor *cursor = (Cursor *)segment;
    PyObject *waiting = slot(segment, at.segments.waiting);
    return waiting != NULL && PyList_CheckExact(waiting) && PyList_Size(waiting) == 0 && !cursor->busy && cursor->memory != NULL &&
           cursor->end <= cursor->mapped && cursor->place >= 8 && !(cursor->place & 3);
}

/* ---------------------------------------------------------------- stops */

/* In the stable interface, as above. */
extern int PyObject_AsReadBuffer(PyObject *object, const void **buffer, Py_ssize_t *size);

/* The byte in which the adapter says that something is to stop, and whose it is: a mapping that nobody closes. */
static struct {
    PyObject *owner;
    const volatile unsigned char *byte;
} stop_byte;

/* Whether it is 0. `owner`: `Stopping.stop_byte`, bytes or a mapping. */
static int goes_on(PyObject *owner)
{
    if (owner == stop_byte.owner)
        return *stop_byte.byte == 0;
    const void *bytes = NULL;
    Py_ssize_t size = 0;
    if (owner == NULL || PyObject_AsReadBuffer(owner, &bytes, &size) || size < 1) {
        PyErr_Clear();
        return 0;
    }
    PyObject *last = stop_byte.owner;
    stop_byte.owner = shared(owner);
    stop_byte.byte = bytes;
    Py_DecRef(last);
    return *(const unsigned char *)bytes == 0;
}

/* Whether nothing stops a call of this function at the boundary whose breakpoints are at `dots_at`. */
static int is_let_through(PyObject *function, Py_ssize_t dots_at)
{
    PyObject *stops = ours.stopping, *generation = slot(stops, at.stops.generation), *own = slot(function, at.functions.generation);
    if (slot(stops, at.stops.special) != Py_False || slot(function, dots_at) != Py_None || generation == NULL || own == NULL ||
        (generation != own && PyLong_AsLong(generation) != PyLong_AsLong(own)))
        return 0;
    return goes_on(slot(stops, at.stops.stop_byte));
}

/* ---------------------------------------------------------------- frames */

typedef struct {
    Cursor *cursor;
    Rules *rules;
    Py_ssize_t taken;
    Py_ssize_t place[2], size[2];
    int count;
    Output out;
    unsigned char *begin;
    int done;
} Frames;

/* Begins the next frame, a tuple of `parts`. */
static void open_frame(Frames *frames, Py_ssize_t parts)
{
    Cursor *cursor = frames->cursor;
    Py_ssize_t place = frames->count ? behind(frames->place[frames->count - 1], frames->size[frames->count - 1]) : cursor->place;
    Py_ssize_t room = cursor->end - place - 8, largest = frames->rules->largest - frames->taken;
    frames->place[frames->count] = place;
    frames->size[frames->count] = 0;
    if (frames->done == WRITTEN && (room <= 0 || largest <= 0))
        frames->done = room <= 0 ? NO_ROOM : NOT_PLAIN;
    if (frames->done != WRITTEN)
        return;
    frames->begin = cursor->memory + place + 8;
    frames->out = (Output){frames->begin, frames->begin + (room < largest ? room : largest), frames->rules, frames->rules->items, NULL, 0};
    frames->done = put_sized(&frames->out, '(', parts);
}

static void add_small(Frames *frames, int number)
{
    if (frames->done == WRITTEN)
        frames->done = put_sized(&frames->out, 'i', number);
}

static void add_time(Frames *frames, long long ns)
{
    if (frames->done == WRITTEN)
        frames->done = put_number(&frames->out, ns);
}

static void add_value(Frames *frames, PyObject *value)
{
    frames->out.left = frames->rules->items;
    if (frames->done == WRITTEN)
        frames->done = put_value(&frames->out, value, 0);
}

static void add_bytes(Frames *frames, const char *bytes, Py_ssize_t size)
{
    if (frames->done == WRITTEN)
        frames->done = put_bytes(&frames->out, bytes, size);
}

static void add_text(Frames *frames, const char *text)
{
    Py_ssize_t size = strlen(text);
    if (frames->done == WRITTEN)
        frames->done = put_sized(&frames->out, 'u', size);
    add_bytes(frames, text, size);
}

static void close_frame(Frames *frames)
{
    if (frames->done == WRITTEN)
        frames->size[frames->count++] = frames->out.next - frames->begin;
}

/* Makes the frames be read, or takes back what there is of them. `recorded_at`: where the call keeps what is recorded of it. */
static int finish_frames(Frames *frames, PyObject *call, Py_ssize_t recorded_at, PyObject *recorded)
{
    Cursor *cursor = frames->cursor;
    if (frames->done == WRITTEN) {
        /* A reader sees none of them before the length of the first. */
        for (int each = frames->count - 1; each >= 0; each--)
            commit(cursor, frames->place[each], frames->size[each]);
        cursor->place = behind(frames->place[frames->count - 1], frames->size[frames->count - 1]);
        if (call != NULL)
            Py_DecRef(exchange(call, recorded_at, shared(recorded)));
    } else if (cursor->place + 8 <= cursor->end) {
        Py_ssize_t last = frames->count ? frames->place[1] : frames->place[0];
        Py_ssize_t touched = frames->out.next != NULL && frames->out.next > cursor->memory + last ? frames->out.next - cursor->memory : last;
        memset(cursor->memory + cursor->place, 0, (touched < cursor->end ? touched : cursor->end) - cursor->place);
    }
    forget_error();
    return frames->done == WRITTEN;
}

/* ---------------------------------------------------------------- what they need to know */

#define IN(group, name) {#name, &at.group.name}

/* prepare_calls(classes, calls, stopping, current, now) -> bool: False: these classes do not keep in slots what they should. */
static PyObject *prepare_calls(PyObject *module, PyObject *args)
{
    PyObject *classes;
    if (are_calls_prepared)
        return PyBool_FromLong(1);
    if (!PyArg_ParseTuple(args, "O!O!OOO", &PyDict_Type, &classes, &PyDict_Type, &ours.calls, &ours.stopping, &ours.current, &ours.now))
        return NULL;
    const Slot tasks[] = {IN(tasks, id), IN(tasks, calls), IN(tasks, innermost), IN(tasks, known), IN(tasks, parent), {NULL, NULL}};
    const Slot functions[] = {IN(functions, id), IN(functions, before), IN(functions, after), IN(functions, generation), IN(functions, known), {NULL, NULL}};
    const Slot segments[] = {IN(segments, known), IN(segments, kept), IN(segments, waiting), {NULL, NULL}};
    const Slot writers[] = {IN(writers, _routes), IN(writers, _states), IN(writers, ended), IN(writers, known), IN(writers, local), IN(writers, settings), {NULL, NULL}};
    const Slot settings[] = {IN(settings_, references), IN(settings_, rules), {NULL, NULL}};
    const Slot stops[] = {IN(stops, generation), IN(stops, special), IN(stops, stop_byte), {NULL, NULL}};
    if (!find_slots(classes, "Task", &at.task, tasks) || !find_slots(classes, "Function", &at.function, functions) ||
        !find_slots(classes, "Segment", &at.segment, segments) || !find_slots(classes, "Writer", &at.writer, writers) ||
        !find_slots(classes, "Settings", &at.settings, settings) || !find_slots(classes, "Stopping", &at.stopping, stops) ||
        (PyObject *)Py_TYPE(ours.stopping) != (PyObject *)at.stopping)
        return PyBool_FromLong(0);
    EACH_NAME(INTERN)
    zero = PyLong_FromLong(0);
    one = PyLong_FromLong(1);
    two = PyLong_FromLong(2);
    if (zero == NULL || one == NULL || two == NULL)
        return NULL;
    PyObject *things[] = {ours.calls, ours.stopping, ours.current, ours.now};
    for (size_t index = 0; index < sizeof things / sizeof *things; index++)
        Py_IncRef(things[index]);
    are_calls_prepared = 1;
    return PyBool_FromLong(1);
}
