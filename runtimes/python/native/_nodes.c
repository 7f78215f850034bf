/*
 * The short way of a workflow's node: what `_node_step.NodeStep` and `_calls` do at its begin and at its end, where nothing about it is special.
 * Part of `_compiled.c`, whose values and frames it writes.
 *
 * Either all of it happens or nothing: what is not plain is answered before anything is changed, and Python code does the whole.
 */

/* Where the slots of Python's classes are in their objects: found by `slot_at`, which puts something there and looks where it is. */
static struct {
    PyTypeObject *call, *outer, *adapter, *task, *function, *segment, *part, *stopping, *writer, *settings, *states, *memo, *node_step, *kept, *pregel_task;
    struct {
        Py_ssize_t number, function, args, parent, task, started_ns, owner, adapter, state, state_before, attributes, back, told, recorded, ended, pending, changes;
    } calls;
    struct {
        Py_ssize_t busy, ended, function, number, pending, quiet, task;
    } outers;
    struct {
        Py_ssize_t args, channels, exploded, given, info, metadata, task;
    } adapters;
    struct {
        Py_ssize_t id, calls, innermost, known;
    } tasks;
    struct {
        Py_ssize_t id, before, after, generation;
    } functions;
    struct {
        Py_ssize_t known, kept, waiting;
    } segments;
    struct {
        Py_ssize_t root, serial, mark, size, sized, snapshot, used;
    } parts;
    struct {
        Py_ssize_t generation, special, stop_byte;
    } stops;
    struct {
        Py_ssize_t _routes, _states, ended, known, local, settings;
    } writers;
    struct {
        Py_ssize_t references, rules;
    } settings_;
    struct {
        Py_ssize_t _memo;
    } states_;
    struct {
        Py_ssize_t _held, clock, parts;
    } memos;
    struct {
        Py_ssize_t short_, steps;
    } node_steps;
    struct {
        Py_ssize_t changed, name, of;
    } kepts;
    struct {
        Py_ssize_t id, name, proc;
    } pregel_tasks;
} at;

/* What `prepare` was given, and names. */
static struct {
    PyObject *calls;    /* the names of the module `_calls` */
    PyObject *stopping; /* its `stopping` */
    PyObject *get, *set; /* of the context variable that holds the current call */
    PyObject *now;
    PyObject *decide; /* `_stops.decide` */
    PyObject *newest; /* `_node_call.newest` */
    PyObject *partial; /* functools.partial */
    PyTypeObject *last_value; /* LangGraph's channel that keeps the last value */
    PyTypeObject *snapshot;
    long sweep;
    Py_ssize_t heads, smallest;
} given_by;
static int is_prepared;

/* How often the short way was taken: for tests. */
static struct {
    long begun, finished, routed;
} taken;

#define EACH_NAME(X)                                                                                                                                           \
    X(_numbers) X(args) X(attached) X(configurable) X(decide) X(ends) X(invoke) X(langgraph_checkpoint_ns) X(langgraph_step) X(metadata) X(segment) X(writer)     \
        X(__pregel_read) X(__pregel_task_id) X(__toolbreak_kept__)
#define DECLARE(name) PyObject *name;
static struct {
    EACH_NAME(DECLARE)
} word;
static PyObject *told_task, *told_step, *told_namespace, *zero, *one, *two;

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

/* ---------------------------------------------------------------- what is recorded, and where */

/* Of the module `_calls`. Where a dict tells that it changed, it is not looked up in between. */
static struct {
    uint64_t version;
    PyObject *attached, *writer, *decide, *numbers; /* borrowed */
} now_there;

static int look_there(void)
{
    uint64_t version = version_of(given_by.calls);
    if (version && version == now_there.version)
        return now_there.writer != Py_None;
    now_there.attached = PyDict_GetItemWithError(given_by.calls, word.attached);
    now_there.writer = PyDict_GetItemWithError(given_by.calls, word.writer);
    now_there.decide = PyDict_GetItemWithError(given_by.calls, word.decide);
    now_there.numbers = PyDict_GetItemWithError(given_by.calls, word._numbers);
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

typedef struct {
    PyObject *writer, *rules, *known, *memo, *parts, *segment;
    long clock; /* of the state to be written */
} Recording;

/* 0: this thread has no file that is this recording's. */
static int find_recording(Recording *here)
{
    if (!look_there() || Py_TYPE(now_there.writer) != at.writer)
        return 0;
    PyObject *writer = here->writer = shared(now_there.writer);
    PyObject *settings = slot(writer, at.writers.settings), *states = slot(writer, at.writers._states), *local = slot(writer, at.writers.local);
    PyObject *known = slot(writer, at.writers.known);
    if (settings == NULL || Py_TYPE(settings) != at.settings || states == NULL || Py_TYPE(states) != at.states || local == NULL || known == NULL ||
        Py_TYPE(known) != &PySet_Type || slot(settings, at.settings_.references) != Py_True)
        return 0;
    PyObject *rules = slot(settings, at.settings_.rules), *memo = slot(states, at.states_._memo);
    if (rules == NULL || Py_TYPE(rules) != rules_type || memo == NULL || Py_TYPE(memo) != at.memo)
        return 0;
    PyObject *parts = slot(memo, at.memos.parts), *clock = slot(memo, at.memos.clock);
    if (parts == NULL || !PyDict_CheckExact(parts) || clock == NULL || !PyLong_CheckExact(clock))
        return 0;
    here->rules = shared(rules);
    here->known = shared(known);
    here->memo = shared(memo);
    here->parts = shared(parts);
    here->clock = PyLong_AsLong(clock) + 1;
    if (here->clock <= 0)
        return 0;
    here->segment = segment_of(local, known);
    return here->segment != NULL;
}

/* Asked last: code of the app that an allocation set free may have run since. */
static int is_open(Recording *here)
{
    Cursor *cursor = (Cursor *)here->segment;
    PyObject *waiting = slot(here->segment, at.segments.waiting);
    return look_there() && now_there.writer == here->writer && slot(here->segment, at.segments.known) == here->known &&
           slot(here->writer, at.writers.known) == here->known && slot(here->writer, at.writers.ended) == Py_False && waiting != NULL &&
           PyList_CheckExact(waiting) && PyList_Size(waiting) == 0 && !cursor->busy && cursor->memory != NULL && cursor->end <= cursor->mapped &&
           cursor->place >= 8 && !(cursor->place & 3);
}

static void leave_recording(Recording *here)
{
    PyObject *all[] = {here->writer, here->rules, here->known, here->memo, here->parts, here->segment};
    for (size_t index = 0; index < sizeof all / sizeof *all; index++)
        Py_DecRef(all[index]);
}

/* ---------------------------------------------------------------- stops */

/* Whether nothing can stop a call of this function at the boundary whose breakpoints are at `dots_at`: `_stops.decide`. */
static int is_let_through(PyObject *function, Py_ssize_t dots_at)
{
    PyObject *stops = given_by.stopping, *generation = slot(stops, at.stops.generation), *own = slot(function, at.functions.generation);
    if (now_there.decide == Py_None)
        return 1;
    if (now_there.decide != given_by.decide || slot(stops, at.stops.special) != Py_False || slot(function, dots_at) != Py_None || generation == NULL ||
        own == NULL || PyLong_AsLong(generation) != PyLong_AsLong(own))
        return 0;
    PyObject *byte = PyObject_GetItem(slot(stops, at.stops.stop_byte), zero);
    int is_zero = byte != NULL && PyLong_CheckExact(byte) && PyLong_AsLong(byte) == 0;
    Py_DecRef(byte);
    return is_zero;
}

/* ---------------------------------------------------------------- states */

#define MOST_KEYS 64

/* A copy of a state, and which of its values are in the file already, by their place in it. */
typedef struct {
    PyObject *fields;
    PyObject *parts[MOST_KEYS];
    Py_ssize_t count;
    Py_ssize_t size; /* bytes that the marks stand for */
} Marked;

static void forget_marks(Marked *marked)
{
    for (Py_ssize_t index = 0; index < marked->count; index++)
        Py_DecRef(marked->parts[index]);
    Py_DecRef(marked->fields);
}

static int is_number(PyObject *value)
{
    PyTypeObject *type = Py_TYPE(value);
    return type == &PyLong_Type || value == Py_None || type == &PyBool_Type || type == &PyFloat_Type;
}

/* Whether no code of the app is asked anything when keys are looked up. */
static int has_text_keys(PyObject *dict)
{
    PyObject *key, *value;
    Py_ssize_t next = 0;
    while (PyDict_Next(dict, &next, &key, &value))
        if (Py_TYPE(key) != &PyUnicode_Type)
            return 0;
    return 1;
}

/* Whether it may be written as it stands; what is too large, or not plain, is found when it is written. */
static int is_writable(PyObject *value)
{
    PyTypeObject *type = Py_TYPE(value);
    return type == &PyUnicode_Type ? PyUnicode_GetLength(value) < given_by.smallest : type == &PyList_Type || type == &PyDict_Type || type == &PyTuple_Type;
}

/* `StateEncoder.plain`: whether every value of `fields` is plain and small, or in the file and the same. Takes the reference. */
static int mark(Marked *marked, PyObject *fields, Recording *here)
{
    marked->fields = fields;
    marked->count = marked->size = 0;
    if (fields == NULL || PyDict_Size(fields) > MOST_KEYS || !has_text_keys(fields))
        return 0;
    PyObject *kept = slot(here->segment, at.segments.kept), *key, *value;
    Py_ssize_t next = 0;
    if (kept == NULL || !PySet_Check(kept))
        return 0;
    while (PyDict_Next(fields, &next, &key, &value)) {
        PyObject *part = NULL;
        if (!is_number(value)) {
            PyObject *id = PyLong_FromVoidPtr(value);
            part = id == NULL ? NULL : PyDict_GetItemWithError(here->parts, id);
            Py_DecRef(id);
            if (part == NULL || Py_TYPE(part) != at.part || slot(part, at.parts.root) != value) {
                if (!is_writable(value))
                    return 0;
                part = NULL;
            }
        }
        if (part != NULL) {
            PyObject *sized = slot(part, at.parts.sized), *snapshot = slot(part, at.parts.snapshot), *size = slot(part, at.parts.size);
            PyObject *serial = slot(part, at.parts.serial), *stands = slot(part, at.parts.mark);
            if (serial == NULL || PySet_Contains(kept, serial) != 1 || stands == NULL || Py_TYPE(stands) != same_type || sized == NULL || size == NULL ||
                snapshot == NULL || (sized != Py_None && Py_TYPE(snapshot) != given_by.snapshot))
                return 0;
            marked->size += PyLong_AsSsize_t(size);
        }
        Py_IncRef(part);
        marked->parts[marked->count++] = part;
    }
    for (Py_ssize_t index = 0; index < marked->count; index++) {
        PyObject *part = marked->parts[index];
        if (part == NULL || slot(part, at.parts.sized) == Py_None)
            continue;
        if (!is_same((Snapshot *)slot(part, at.parts.snapshot)))
            return 0;
    }
    return 1;
}

/* `Memo.sweep`. */
static void sweep_parts(Recording *here)
{
    PyObject *keys = PyDict_Keys(here->parts);
    for (Py_ssize_t index = 0; keys != NULL && index < PyList_Size(keys); index++) {
        PyObject *key = PyList_GetItem(keys, index), *part = PyDict_GetItemWithError(here->parts, key);
        if (part == NULL || Py_TYPE(part) != at.part || PyLong_AsLong(slot(part, at.parts.used)) >= here->clock - given_by.sweep)
            continue;
        PyObject *snapshot = slot(part, at.parts.snapshot), *held = slot(here->memo, at.memos._held);
        Py_ssize_t size = snapshot != NULL && Py_TYPE(snapshot) == given_by.snapshot ? ((Snapshot *)snapshot)->size : 0;
        PyObject *left = held == NULL ? NULL : PyLong_FromSsize_t(PyLong_AsSsize_t(held) - size);
        if (left == NULL || slot(here->memo, at.memos.parts) != here->parts) {
            Py_DecRef(left);
            break;
        }
        held = exchange(here->memo, at.memos._held, left);
        PyDict_DelItem(here->parts, key);
        Py_DecRef(held);
    }
    Py_DecRef(keys);
    PyErr_Clear();
}

/* `StateEncoder.written`. */
static void note_written(Marked *first, Recording *here)
{
    PyObject *clock = PyLong_FromLong(here->clock);
    if (clock != NULL) {
        for (Py_ssize_t index = 0; index < first->count; index++)
            if (first->parts[index] != NULL)
                Py_DecRef(exchange(first->parts[index], at.parts.used, shared(clock)));
        clock = exchange(here->memo, at.memos.clock, clock);
    }
    Py_DecRef(clock);
    if (here->clock % given_by.sweep == 0)
        sweep_parts(here);
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
    frames->out = (Output){frames->begin, frames->begin + (room < largest ? room : largest), frames->rules, frames->rules->items};
    frames->done = put_sized(&frames->out, '(', parts);
}

static void add_small(Frames *frames, int number)
{
    if (frames->done == WRITTEN)
        frames->done = put_sized(&frames->out, 'i', number);
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

static void add_state(Frames *frames, Marked *marked)
{
    frames->out.left = frames->rules->items;
    if (frames->done == WRITTEN)
        frames->done = put_fields(&frames->out, marked->fields, 1, marked->parts, at.parts.mark, given_by.smallest);
}

static void close_frame(Frames *frames)
{
    if (frames->done == WRITTEN)
        frames->size[frames->count++] = frames->out.next - frames->begin;
}

/* Makes the frames be read, or takes back what there is of them. */
static int finish_frames(Frames *frames, PyObject *call, PyObject *recorded)
{
    Cursor *cursor = frames->cursor;
    if (frames->done == WRITTEN) {
        /* A reader sees none of them before the length of the first. */
        for (int each = frames->count - 1; each >= 0; each--)
            commit(cursor, frames->place[each], frames->size[each]);
        cursor->place = behind(frames->place[frames->count - 1], frames->size[frames->count - 1]);
        if (call != NULL)
            Py_DecRef(exchange(call, at.calls.recorded, shared(recorded)));
    } else if (cursor->place + 8 <= cursor->end) {
        Py_ssize_t last = frames->count ? frames->place[1] : frames->place[0];
        Py_ssize_t touched = frames->out.next != NULL && frames->out.next > cursor->memory + last ? frames->out.next - cursor->memory : last;
        memset(cursor->memory + cursor->place, 0, (touched < cursor->end ? touched : cursor->end) - cursor->place);
    }
    PyErr_Clear();
    return frames->done == WRITTEN;
}

/* ---------------------------------------------------------------- its begin */

/* A new reference, or NULL. A key of the app's own class may be asked whether it is this one; what it does then is over when this answers. */
static PyObject *item_of(PyObject *dict, PyObject *key)
{
    PyObject *found = dict != NULL && PyDict_CheckExact(dict) ? PyDict_GetItemWithError(dict, key) : NULL;
    Py_IncRef(found);
    return found;
}

/* `_node_call._channels`, a new reference; NULL where it is not what LangGraph puts there. */
static PyObject *channels_of(PyObject *configurable)
{
    PyObject *read = item_of(configurable, word.__pregel_read);
    PyObject *args = read != NULL && (PyObject *)Py_TYPE(read) == given_by.partial ? PyObject_GetAttr(read, word.args) : NULL;
    PyObject *channels = args != NULL && PyTuple_CheckExact(args) && PyTuple_Size(args) > 1 ? PyTuple_GetItem(args, 1) : NULL;
    if (channels != NULL && !(PyDict_CheckExact(channels) && has_text_keys(channels)))
        channels = NULL;
    Py_IncRef(channels);
    Py_DecRef(args);
    Py_DecRef(read);
    return channels;
}

/* `_state.copy_of` of the containers. */
static int copy_containers(Marked *marked)
{
    PyObject *key, *value;
    Py_ssize_t next = 0;
    while (PyDict_Next(marked->fields, &next, &key, &value)) {
        PyObject *copied = NULL;
        if (PyDict_CheckExact(value))
            copied = PyDict_Copy(value);
        else if (PyList_CheckExact(value))
            copied = PyList_GetSlice(value, 0, PyList_Size(value));
        else if (Py_TYPE(value) == &PySet_Type)
            copied = PySet_New(value);
        else
            continue;
        int failed = copied == NULL || PyDict_SetItem(marked->fields, key, copied);
        Py_DecRef(copied);
        if (failed)
            return 0;
    }
    return 1;
}

/* 0: there is no memory. */
static int copy_item(PyObject *to, PyObject *name, PyObject *from, PyObject *key)
{
    PyObject *value = item_of(from, key);
    int done = value == NULL || PyDict_SetItem(to, name, value) == 0;
    Py_DecRef(value);
    return done;
}

/*
 * `_calls.begin` for the node `(function, workflow, info, key)`, with all that `NodeCall` knows of it. Answers the call, whose frames are written if its
 * `recorded` is 1, and puts it into the list `made`, if there is one. NULL, without an exception: nothing was done.
 */
static PyObject *begin(PyObject *node, PyObject *given, PyObject *config, PyObject *made)
{
    if (!is_prepared || !PyTuple_CheckExact(node) || PyTuple_Size(node) != 4 || !PyDict_CheckExact(given) || !PyDict_CheckExact(config))
        return NULL;
    PyObject *function = PyTuple_GetItem(node, 0), *workflow = PyTuple_GetItem(node, 1), *info = PyTuple_GetItem(node, 2), *key = PyTuple_GetItem(node, 3);
    PyObject *configurable = item_of(config, word.configurable), *metadata = item_of(config, word.metadata);
    PyObject *task_id = item_of(configurable, word.__pregel_task_id), *channels = channels_of(configurable);
    PyObject *above = PyObject_CallNoArgs(given_by.get), *busy = NULL, *task = NULL, *above_number = NULL;
    PyObject *call = NULL, *adapter = NULL, *empty = NULL, *attributes = NULL, *only = NULL, *number = NULL, *started = NULL, *told = NULL, *token = NULL;
    PyObject *inner = NULL, *calls = NULL;
    Marked before = {0};
    Recording here = {0};
    int begun = 0;
    if (task_id == NULL || Py_TYPE(task_id) != &PyUnicode_Type || channels == NULL || metadata == NULL || !PyDict_CheckExact(metadata) ||
        above == NULL || Py_TYPE(above) != at.outer || slot(above, at.outers.function) != workflow || slot(above, at.outers.quiet) != Py_False ||
        slot(above, at.outers.ended) != Py_False || slot(above, at.outers.pending) != Py_None)
        goto done;
    busy = slot(above, at.outers.busy);
    task = slot(above, at.outers.task);
    above_number = slot(above, at.outers.number);
    Py_IncRef(busy);
    Py_IncRef(task);
    Py_IncRef(above_number);
    if (busy == NULL || (busy != Py_None && (!PyList_CheckExact(busy) || PyList_Size(busy))) || task == NULL || Py_TYPE(task) != at.task ||
        above_number == NULL || !find_recording(&here) || slot(task, at.tasks.known) != here.known ||
        PySet_Contains(here.known, slot(function, at.functions.id)) != 1 || slot(function, at.functions.before) != Py_None)
        goto done;

    /* All that is allocated, first: it may set something of the app free, whose code runs then. */
    if (!mark(&before, PyDict_Copy(given), &here) || !copy_containers(&before))
        goto done;
    empty = PyDict_New();
    attributes = PyDict_New();
    adapter = PyType_GenericAlloc(at.adapter, 0);
    call = PyType_GenericAlloc(at.call, 0);
    only = PyList_New(1);
    if (empty == NULL || attributes == NULL || adapter == NULL || call == NULL || only == NULL || PyDict_SetItem(attributes, told_task, task_id) ||
        !copy_item(attributes, told_step, metadata, word.langgraph_step) ||
        !copy_item(attributes, told_namespace, metadata, word.langgraph_checkpoint_ns))
        goto done;
    PyList_SetItem(only, 0, shared(call));
    told = PyLong_FromSsize_t(PyDict_Size(attributes));
    calls = slot(task, at.tasks.calls) == NULL ? NULL : PyLong_FromLong(PyLong_AsLong(slot(task, at.tasks.calls)) + 1);
    if (told == NULL || calls == NULL || slot(above, at.outers.busy) != busy || (busy != Py_None && PyList_Size(busy)) ||
        slot(above, at.outers.ended) != Py_False || !look_there() || !is_let_through(function, at.functions.before) || PyErr_Occurred() || (number = PyIter_Next(now_there.numbers)) == NULL)
        goto done;

    exchange(adapter, at.adapters.args, shared(empty));
    exchange(adapter, at.adapters.channels, shared(channels));
    exchange(adapter, at.adapters.exploded, shared(Py_False));
    exchange(adapter, at.adapters.given, shared(given));
    exchange(adapter, at.adapters.info, shared(info));
    exchange(adapter, at.adapters.metadata, shared(metadata));
    exchange(adapter, at.adapters.task, shared(task_id));
    exchange(call, at.calls.function, shared(function));
    exchange(call, at.calls.args, shared(empty));
    exchange(call, at.calls.parent, shared(above));
    exchange(call, at.calls.back, shared(above));
    exchange(call, at.calls.task, shared(task));
    exchange(call, at.calls.owner, shared(above));
    exchange(call, at.calls.adapter, shared(adapter));
    exchange(call, at.calls.state, shared(given));
    exchange(call, at.calls.state_before, shared(before.fields));
    exchange(call, at.calls.attributes, shared(attributes));
    exchange(call, at.calls.told, shared(told));
    exchange(call, at.calls.recorded, shared(zero));
    exchange(call, at.calls.ended, shared(Py_False));
    exchange(call, at.calls.pending, shared(key));
    exchange(call, at.calls.changes, shared(Py_None));

    exchange(call, at.calls.number, shared(number));
    exchange(call, at.calls.started_ns, shared(zero));

    calls = exchange(task, at.tasks.calls, calls);
    inner = exchange(task, at.tasks.innermost, shared(call));
    only = exchange(above, at.outers.busy, only);
    token = PyObject_CallFunctionObjArgs(given_by.set, call, NULL);
    started = token == NULL ? NULL : PyObject_CallNoArgs(given_by.now);
    if (started == NULL || PyDict_SetItem(given_by.newest, task_id, call) || (made != NULL && PyList_Append(made, call))) {
        /* There is no memory. */
        PyErr_Clear();
        Py_DecRef(exchange(task, at.tasks.calls, shared(calls)));
        Py_DecRef(exchange(task, at.tasks.innermost, shared(inner)));
        Py_DecRef(exchange(above, at.outers.busy, shared(only)));
        Py_DecRef(PyObject_CallFunctionObjArgs(given_by.set, above, NULL));
        goto done;
    }
    begun = 1;
    Py_DecRef(exchange(call, at.calls.started_ns, shared(started)));

    Cursor *cursor = (Cursor *)here.segment;
    if (is_open(&here)) {
        Frames frames = {.cursor = cursor, .rules = (Rules *)here.rules, .taken = before.size + given_by.heads, .done = WRITTEN};
        cursor->busy = 1;
        open_frame(&frames, 8);
        add_small(&frames, 3);
        add_value(&frames, number);
        add_value(&frames, above_number);
        add_value(&frames, slot(function, at.functions.id));
        add_value(&frames, slot(task, at.tasks.id));
        add_value(&frames, started);
        add_bytes(&frames, "{0", 2);
        add_value(&frames, attributes);
        close_frame(&frames);
        open_frame(&frames, 5);
        add_small(&frames, 5);
        add_value(&frames, number);
        add_value(&frames, started);
        add_text(&frames, "before");
        add_state(&frames, &before);
        close_frame(&frames);
        int written = finish_frames(&frames, call, one);
        cursor->busy = 0;
        if (written)
            note_written(&before, &here);
    }
done:
    PyErr_Clear();
    if (!begun) {
        Py_DecRef(call);
        call = NULL;
    }
    forget_marks(&before);
    leave_recording(&here);
    PyObject *rest[] = {configurable, metadata, task_id, channels, above, busy, task, above_number, adapter, empty, attributes, only, number, started, told, token, inner, calls};
    for (size_t index = 0; index < sizeof rest / sizeof *rest; index++)
        Py_DecRef(rest[index]);
    taken.begun += call != NULL;
    return call;
}

/*
 * begin_node(node, given, config, made) -> StepCall | None: `begin`. The call is also put into the list `made`, where it is found by whom a signal
 * handler's exception kept from getting the answer.
 */
static PyObject *begin_node(PyObject *module, PyObject *args)
{
    PyObject *node, *given, *config, *made;
    if (!PyArg_ParseTuple(args, "OOOO!", &node, &given, &config, &PyList_Type, &made))
        return NULL;
    PyObject *call = begin(node, given, config, made);
    if (call != NULL)
        return call;
    Py_RETURN_NONE;
}

/* ---------------------------------------------------------------- its end */

/* `_state.overwritten`, of values that are no parts. A new reference; NULL: Python code is to decide. */
static PyObject *overwritten(PyObject *given, PyObject *result, PyObject *channels)
{
    PyObject *after = PyDict_Copy(given), *key, *value;
    Py_ssize_t next = 0;
    int fits = after != NULL && has_text_keys(after) && has_text_keys(channels);
    while (fits && PyDict_Next(result, &next, &key, &value)) {
        if (Py_TYPE(key) != &PyUnicode_Type) {
            fits = 0;
            break;
        }
        PyObject *channel = PyDict_GetItemWithError(channels, key);
        if (channel == NULL)
            fits = PyDict_Contains(after, key) == 0;
        else
            fits = Py_TYPE(channel) == given_by.last_value &&
                   (is_number(value) || (Py_TYPE(value) == &PyUnicode_Type && PyUnicode_GetLength(value) < given_by.smallest)) &&
                   PyDict_SetItem(after, key, value) == 0;
    }
    if (fits && !PyErr_Occurred())
        return after;
    PyErr_Clear();
    Py_DecRef(after);
    return NULL;
}

/* Ends a call of `begin` that returned, as `_boundaries.leave` and `handed_over` do. 0: nothing was done. */
static int finish(PyObject *call, PyObject *result)
{
    if (!is_prepared || Py_TYPE(call) != at.call || !PyDict_CheckExact(result) || slot(call, at.calls.ended) != Py_False)
        return 0;
    PyObject *recorded = slot(call, at.calls.recorded), *adapter = slot(call, at.calls.adapter), *task = slot(call, at.calls.task);
    PyObject *above = slot(call, at.calls.parent), *function = slot(call, at.calls.function), *number = slot(call, at.calls.number);
    PyObject *attributes = slot(call, at.calls.attributes), *told = slot(call, at.calls.told);
    if (recorded == NULL || !PyLong_CheckExact(recorded) || PyLong_AsLong(recorded) != 1 || adapter == NULL || Py_TYPE(adapter) != at.adapter || task == NULL ||
        above == NULL || Py_TYPE(above) != at.outer || slot(call, at.calls.back) != above || slot(call, at.calls.owner) != above || function == NULL || number == NULL ||
        attributes == NULL || !PyDict_CheckExact(attributes) || told == NULL || PyLong_AsSsize_t(told) != PyDict_Size(attributes))
        return 0;
    PyObject *given = slot(adapter, at.adapters.given), *channels = slot(adapter, at.adapters.channels);
    if (given == NULL || !PyDict_CheckExact(given) || channels == NULL || !PyDict_CheckExact(channels))
        return 0;

    int done = 0;
    PyObject *now_current = NULL, *busy = NULL, *empty = NULL, *calls = NULL, *innermost = NULL, *ended = NULL, *token = NULL;
    Marked after = {0};
    Recording here = {0};
    /* All that is allocated, first. */
    if (!find_recording(&here) || !mark(&after, overwritten(given, result, channels), &here) || (empty = PyDict_New()) == NULL ||
        (ended = PyObject_CallNoArgs(given_by.now)) == NULL)
        goto done;
    PyObject *inner = slot(task, at.tasks.calls);
    calls = inner == NULL ? NULL : PyLong_FromLong(PyLong_AsLong(inner) - 1);
    if (calls == NULL || PyErr_Occurred())
        goto done;
    now_current = PyObject_CallNoArgs(given_by.get);
    Cursor *cursor = (Cursor *)here.segment;
    busy = slot(above, at.outers.busy);
    Py_IncRef(busy);
    if (now_current != call || slot(above, at.outers.ended) != Py_False || slot(call, at.calls.ended) != Py_False || slot(call, at.calls.adapter) != adapter ||
        slot(adapter, at.adapters.given) != given || slot(call, at.calls.task) != task || busy == NULL || !PyList_CheckExact(busy) ||
        PyList_Size(busy) != 1 || PyList_GetItem(busy, 0) != call || !is_let_through(function, at.functions.after) || !is_open(&here))
        goto done;

    Frames frames = {.cursor = cursor, .rules = (Rules *)here.rules, .taken = after.size + given_by.heads, .done = WRITTEN};
    cursor->busy = 1;
    open_frame(&frames, 5);
    add_small(&frames, 5);
    add_value(&frames, number);
    add_value(&frames, ended);
    add_text(&frames, "after");
    add_state(&frames, &after);
    close_frame(&frames);
    open_frame(&frames, 6);
    add_small(&frames, 4);
    add_value(&frames, number);
    add_value(&frames, ended);
    add_small(&frames, 0);
    add_value(&frames, result);
    add_bytes(&frames, "N", 1);
    close_frame(&frames);
    done = finish_frames(&frames, call, two);
    if (done) {
        /* What is replaced is set free behind all this. */
        recorded = NULL;
        innermost = exchange(task, at.tasks.innermost, shared(slot(above, at.outers.task) == task ? above : Py_None));
        calls = exchange(task, at.tasks.calls, calls);
        Py_DecRef(exchange(call, at.calls.ended, shared(Py_True)));
        PyList_SetSlice(busy, 0, 1, NULL);
    }
    cursor->busy = 0;
    if (done) {
        token = PyObject_CallFunctionObjArgs(given_by.set, above, NULL);
        PyErr_Clear();
        PyObject *parts[] = {
            exchange(call, at.calls.args, shared(empty)),       exchange(call, at.calls.back, shared(Py_None)),          exchange(call, at.calls.state, shared(Py_None)),
            exchange(call, at.calls.changes, shared(Py_None)), exchange(call, at.calls.state_before, shared(Py_None)),
        };
        for (size_t index = 0; index < sizeof parts / sizeof *parts; index++)
            Py_DecRef(parts[index]);
        note_written(&after, &here);
    }
done:
    PyErr_Clear();
    forget_marks(&after);
    leave_recording(&here);
    PyObject *rest[] = {now_current, busy, empty, calls, innermost, ended, token};
    for (size_t index = 0; index < sizeof rest / sizeof *rest; index++)
        Py_DecRef(rest[index]);
    taken.finished += done;
    return done;
}

/* finish_node(call, result) -> bool: `finish`. */
static PyObject *finish_node(PyObject *module, PyObject *args)
{
    PyObject *call, *result;
    return PyArg_UnpackTuple(args, "finish_node", 2, 2, &call, &result) ? PyBool_FromLong(finish(call, result)) : NULL;
}

/* ---------------------------------------------------------------- an edge */

/* `_nodes.routed` of a conditional edge that chose one node that it chose before. 0: nothing was done. */
static int route(PyObject *ends, PyObject *chosen, PyObject *config)
{
    if (!is_prepared || Py_TYPE(chosen) != &PyUnicode_Type || !PyDict_CheckExact(config))
        return 0;
    int done = 0;
    PyObject *name = ends == Py_None ? shared(chosen) : item_of(ends, chosen), *configurable = item_of(config, word.configurable);
    PyObject *task_id = item_of(configurable, word.__pregel_task_id), *call = NULL, *number = NULL, *names = NULL, *now = NULL, *routes = NULL, *encoded = NULL;
    Recording here = {0};
    if (name == NULL || Py_TYPE(name) != &PyUnicode_Type || task_id == NULL || Py_TYPE(task_id) != &PyUnicode_Type)
        goto done;
    call = item_of(given_by.newest, task_id);
    if (call == NULL || Py_TYPE(call) != at.call || slot(call, at.calls.number) == NULL)
        goto done;
    number = shared(slot(call, at.calls.number));
    names = PyTuple_New(1);
    if (names == NULL || PyTuple_SetItem(names, 0, shared(name)) || !find_recording(&here) || (now = PyObject_CallNoArgs(given_by.now)) == NULL)
        goto done;
    routes = slot(here.writer, at.writers._routes);
    encoded = routes == NULL || !PyDict_CheckExact(routes) ? NULL : PyDict_GetItemWithError(routes, names);
    encoded = encoded == NULL || !PyTuple_CheckExact(encoded) || PyTuple_Size(encoded) != 2 ? NULL : PyTuple_GetItem(encoded, 1);
    if (encoded != NULL && Py_TYPE(encoded) == same_type && is_open(&here)) {
        Cursor *cursor = (Cursor *)here.segment;
        Frames frames = {.cursor = cursor, .rules = (Rules *)here.rules, .done = WRITTEN};
        cursor->busy = 1;
        open_frame(&frames, 5);
        add_small(&frames, 6);
        add_value(&frames, now);
        add_text(&frames, "route");
        add_value(&frames, number);
        add_value(&frames, encoded);
        close_frame(&frames);
        done = finish_frames(&frames, NULL, NULL);
        cursor->busy = 0;
    }
done:
    PyErr_Clear();
    leave_recording(&here);
    PyObject *rest[] = {name, configurable, task_id, call, number, names, now};
    for (size_t index = 0; index < sizeof rest / sizeof *rest; index++)
        Py_DecRef(rest[index]);
    taken.routed += done;
    return done;
}

/* ---------------------------------------------------------------- what they need to know */

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

#define IN(group, name) {#name, &at.group.name}

/*
 * prepare(classes, things) -> bool: makes what is here work, and the hooks. `classes`: those whose slots they use, by their names here; `things`:
 * what else they need. False: these classes do not keep in slots what they should, and Python code does all of it.
 */
static PyObject *prepare_nodes(PyObject *module, PyObject *args)
{
    PyObject *classes;
    if (is_prepared)
        Py_RETURN_TRUE;
    if (!PyArg_ParseTuple(args, "O!O!OOOOOO!OO!O!lnn", &PyDict_Type, &classes, &PyDict_Type, &given_by.calls, &given_by.stopping, &given_by.get, &given_by.set,
                          &given_by.now, &given_by.decide, &PyDict_Type, &given_by.newest, &given_by.partial, &PyType_Type, &given_by.last_value, &PyType_Type,
                          &given_by.snapshot, &given_by.sweep, &given_by.heads, &given_by.smallest))
        return NULL;
    const Slot calls[] = {IN(calls, number), IN(calls, function), IN(calls, args), IN(calls, parent), IN(calls, task), IN(calls, started_ns), IN(calls, owner),
                          IN(calls, adapter), IN(calls, state), IN(calls, state_before), IN(calls, attributes), IN(calls, back), IN(calls, told),
                          IN(calls, recorded), IN(calls, ended), IN(calls, pending), IN(calls, changes), {NULL, NULL}};
    const Slot adapters[] = {IN(adapters, args), IN(adapters, channels), IN(adapters, exploded), IN(adapters, given), IN(adapters, info),
                             IN(adapters, metadata), IN(adapters, task), {NULL, NULL}};
    const Slot tasks[] = {IN(tasks, id), IN(tasks, calls), IN(tasks, innermost), IN(tasks, known), {NULL, NULL}};
    const Slot functions[] = {IN(functions, id), IN(functions, before), IN(functions, after), IN(functions, generation), {NULL, NULL}};
    const Slot segments[] = {IN(segments, known), IN(segments, kept), IN(segments, waiting), {NULL, NULL}};
    const Slot parts[] = {IN(parts, root), IN(parts, serial), IN(parts, mark), IN(parts, size), IN(parts, sized), IN(parts, snapshot), IN(parts, used), {NULL, NULL}};
    const Slot outers[] = {IN(outers, busy), IN(outers, ended), IN(outers, function), IN(outers, number), IN(outers, pending), IN(outers, quiet), IN(outers, task),
                           {NULL, NULL}};
    const Slot writers[] = {IN(writers, _routes), IN(writers, _states), IN(writers, ended), IN(writers, known), IN(writers, local), IN(writers, settings), {NULL, NULL}};
    const Slot settings[] = {IN(settings_, references), IN(settings_, rules), {NULL, NULL}};
    const Slot states[] = {IN(states_, _memo), {NULL, NULL}};
    const Slot memos[] = {IN(memos, _held), IN(memos, clock), IN(memos, parts), {NULL, NULL}};
    const Slot node_steps[] = {{"short", &at.node_steps.short_}, IN(node_steps, steps), {NULL, NULL}};
    const Slot kepts[] = {IN(kepts, changed), IN(kepts, name), IN(kepts, of), {NULL, NULL}};
    const Slot pregel_tasks[] = {IN(pregel_tasks, id), IN(pregel_tasks, name), IN(pregel_tasks, proc), {NULL, NULL}};
    const Slot stops[] = {IN(stops, generation), IN(stops, special), IN(stops, stop_byte), {NULL, NULL}};
    if (!find_slots(classes, "StepCall", &at.call, calls) || !find_slots(classes, "NodeCall", &at.adapter, adapters) ||
        !find_slots(classes, "Task", &at.task, tasks) || !find_slots(classes, "Function", &at.function, functions) ||
        !find_slots(classes, "Segment", &at.segment, segments) || !find_slots(classes, "Part", &at.part, parts) ||
        !find_slots(classes, "OuterCall", &at.outer, outers) || !find_slots(classes, "Writer", &at.writer, writers) ||
        !find_slots(classes, "Settings", &at.settings, settings) || !find_slots(classes, "StateEncoder", &at.states, states) ||
        !find_slots(classes, "Memo", &at.memo, memos) || !find_slots(classes, "Stopping", &at.stopping, stops) ||
        !find_slots(classes, "NodeStep", &at.node_step, node_steps) || !find_slots(classes, "Kept", &at.kept, kepts) || (PyObject *)Py_TYPE(given_by.stopping) != (PyObject *)at.stopping)
        Py_RETURN_FALSE;
    /* Without slots under Python 3.10: the run of a task is left to Python code there. */
    if (!find_slots(classes, "PregelExecutableTask", &at.pregel_task, pregel_tasks))
        at.pregel_task = NULL;
#define INTERN(name)                                                                                                                                           \
    if ((word.name = PyUnicode_InternFromString(#name)) == NULL)                                                                                               \
        return NULL;
    EACH_NAME(INTERN)
    told_task = PyUnicode_InternFromString("langgraph.task.id");
    told_step = PyUnicode_InternFromString("langgraph.step");
    told_namespace = PyUnicode_InternFromString("langgraph.checkpoint_ns");
    zero = PyLong_FromLong(0);
    one = PyLong_FromLong(1);
    two = PyLong_FromLong(2);
    if (told_task == NULL || told_step == NULL || told_namespace == NULL || zero == NULL || one == NULL || two == NULL)
        return NULL;
    PyObject *things[] = {given_by.calls, given_by.stopping, given_by.get, given_by.set, given_by.now, given_by.decide, given_by.newest, given_by.partial,
                          (PyObject *)given_by.last_value, (PyObject *)given_by.snapshot};
    for (size_t index = 0; index < sizeof things / sizeof *things; index++)
        Py_IncRef(things[index]);
    is_prepared = 1;
    Py_RETURN_TRUE;
}
