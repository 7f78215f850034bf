/*
 * The short way of a workflow's node: what `_node_step.NodeStep` and `_calls` do at its begin and at its end, where nothing about it is special.
 * Part of `_compiled.c`, whose values and frames it writes.
 *
 * Either all of it happens or nothing: what is not plain is answered before anything is changed, and Python code does the whole.
 */

/* Where the slots of the classes are that only nodes have to do with. */
static struct {
    PyTypeObject *call, *outer, *adapter, *part, *states, *memo, *node_step, *kept, *pregel_task;
    struct {
        Py_ssize_t number, function, args, parent, task, started_ns, owner, adapter, state, state_before, back, tells, told, recorded, ended, pending, changes;
    } calls;
    struct {
        Py_ssize_t busy, ended, function, number, pending, quiet, task;
    } outers;
    struct {
        Py_ssize_t args, channels, exploded, given, had, info, metadata, task;
    } adapters;
    struct {
        Py_ssize_t copy, root, same, serial, mark, size, sized, snapshot, used;
    } parts;
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
} in;

/* What `prepare_nodes` was given, and names. */
static struct {
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

#define EACH_NODE_NAME(X)                                                                                                                                      \
    X(args) X(configurable) X(ends) X(invoke) X(langgraph_checkpoint_ns) X(langgraph_step) X(metadata) X(__pregel_read) X(__pregel_task_id)                     \
        X(__toolbreak_kept__)
static struct {
    EACH_NODE_NAME(DECLARE)
} named;

#include "_node_states.c"

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
    PyObject *read = item_of(configurable, named.__pregel_read);
    PyObject *args = read != NULL && (PyObject *)Py_TYPE(read) == given_by.partial ? PyObject_GetAttr(read, named.args) : NULL;
    PyObject *channels = args != NULL && PyTuple_CheckExact(args) && PyTuple_Size(args) > 1 ? PyTuple_GetItem(args, 1) : NULL;
    if (channels != NULL && !(PyDict_CheckExact(channels) && are_channels(channels)))
        channels = NULL;
    Py_IncRef(channels);
    Py_DecRef(args);
    Py_DecRef(read);
    return channels;
}

/* What `_state.copy_of` makes of a container, a new reference. NULL without an exception: it is none. */
static PyObject *copied(PyObject *value)
{
    return PyDict_CheckExact(value)              ? PyDict_Copy(value)
           : PyList_CheckExact(value)            ? PyList_GetSlice(value, 0, PyList_Size(value))
           : Py_TYPE(value) == &PySet_Type ? PySet_New(value)
                                                 : NULL;
}

/* `_state.copy_of` of the containers. Of those that did not change since, the copy is there already. */
static int copy_containers(Marked *marked)
{
    PyObject *key, *value;
    Py_ssize_t next = 0;
    for (Py_ssize_t index = 0; PyDict_Next(marked->fields, &next, &key, &value); index++) {
        PyObject *part = marked->parts[index], *kept = part == NULL ? NULL : slot(part, in.parts.copy);
        int is_kept = kept != NULL && kept != Py_None;
        PyObject *copy = is_kept ? shared(kept) : copied(value);
        if (copy == NULL && PyErr_Occurred())
            return 0;
        if (copy == NULL)
            continue;
        int failed = PyDict_SetItem(marked->fields, key, copy);
        /* What was allocated may have set something of the app free, whose code changed the value. */
        if (!failed && part != NULL && !is_kept && slot(part, in.parts.sized) != Py_None && is_same((Snapshot *)slot(part, in.parts.snapshot)))
            Py_DecRef(exchange(part, in.parts.copy, shared(copy)));
        Py_DecRef(copy);
        if (failed)
            return 0;
    }
    return 1;
}

/* `_state.copy_of` of a state that is not recorded. */
static int copy_unrecorded(Marked *marked, PyObject *fields)
{
    marked->fields = fields;
    if (fields == NULL || PyDict_Size(fields) > MOST_KEYS || !has_text_keys(fields))
        return 0;
    marked->count = PyDict_Size(fields);
    return copy_containers(marked);
}

/* `NodeCall.attributes`: of each its name, and that as it is written. */
enum { TOLD = 3 };
static struct {
    PyObject *name, *written;
} told_as[TOLD];

static const char *const told_names[TOLD] = {"langgraph.task.id", "langgraph.step", "langgraph.checkpoint_ns"};

static int prepare_told(void)
{
    for (int index = 0; index < TOLD; index++) {
        const char *name = told_names[index];
        uint32_t size = (uint32_t)strlen(name);
        told_as[index].name = PyUnicode_InternFromString(name);
        PyObject *written = told_as[index].written = PyBytes_FromStringAndSize(NULL, 5 + size);
        if (told_as[index].name == NULL || written == NULL)
            return 0;
        char *bytes = PyBytes_AsString(written);
        bytes[0] = 'u';
        memcpy(bytes + 1, &size, 4);
        memcpy(bytes + 5, name, size);
    }
    return 1;
}

/* Names and values in turn, of those that are there. */
static PyObject *pairs_of(PyObject **values)
{
    Py_ssize_t count = 0, at = 0;
    for (int index = 0; index < TOLD; index++)
        count += values[index] != NULL;
    PyObject *pairs = PyTuple_New(2 * count);
    for (int index = 0; pairs != NULL && index < TOLD; index++)
        if (values[index] != NULL) {
            PyTuple_SetItem(pairs, at++, shared(told_as[index].name));
            PyTuple_SetItem(pairs, at++, shared(values[index]));
        }
    return pairs;
}

/* Which of these names are harmless under which rules; they stay so. */
static struct {
    Rules *rules;
    int is_harmless[TOLD];
} told_under;

static int may_be_told(Rules *rules, int index)
{
    if (rules != told_under.rules) {
        PyObject *last = (PyObject *)told_under.rules;
        memset(told_under.is_harmless, 0, sizeof told_under.is_harmless);
        told_under.rules = (Rules *)shared((PyObject *)rules);
        Py_DecRef(last);
    }
    if (!told_under.is_harmless[index])
        told_under.is_harmless[index] = PySet_Contains(rules->harmless, told_as[index].name) == 1;
    return told_under.is_harmless[index];
}

/* The attributes of a node's call: no dict is made of them before somebody asks for it. */
static void add_told(Frames *frames, PyObject **values)
{
    add_bytes(frames, "{", 1);
    for (int index = 0; index < TOLD; index++)
        if (values[index] != NULL) {
            if (frames->done == WRITTEN && !may_be_told(frames->rules, index))
                frames->done = NOT_PLAIN;
            add_bytes(frames, PyBytes_AsString(told_as[index].written), PyBytes_Size(told_as[index].written));
            add_value(frames, values[index]);
        }
    add_bytes(frames, "0", 1);
}

/*
 * `_calls.begin` for the node `(function, workflow, info, key)`, with all that `NodeCall` knows of it. Answers the call, whose frames are written if its
 * `recorded` is 1 (where nothing is recorded it is 0), and puts it into the list `made`, if there is one. NULL, without an exception: nothing was done.
 */
static PyObject *begin(PyObject *node, PyObject *given, PyObject *config, PyObject *made)
{
    if (!is_prepared || !PyTuple_CheckExact(node) || PyTuple_Size(node) != 4 || !PyDict_CheckExact(given) || !PyDict_CheckExact(config))
        return NULL;
    PyObject *function = PyTuple_GetItem(node, 0), *workflow = PyTuple_GetItem(node, 1), *info = PyTuple_GetItem(node, 2), *key = PyTuple_GetItem(node, 3);
    PyObject *configurable = item_of(config, named.configurable), *metadata = item_of(config, named.metadata);
    PyObject *task_id = item_of(configurable, named.__pregel_task_id), *channels = channels_of(configurable);
    PyObject *above = current_call(), *busy = NULL, *task = NULL, *above_number = NULL;
    PyObject *call = NULL, *adapter = NULL, *had = NULL, *empty = NULL, *only = NULL, *pairs = NULL, *tells[TOLD] = {0}, *number = NULL, *started = NULL, *told = NULL;
    PyObject *inner = NULL, *calls = NULL;
    Marked before = {0};
    Recording here = {0};
    int begun = 0, unrecorded = is_unrecorded();
    if (task_id == NULL || Py_TYPE(task_id) != &PyUnicode_Type || channels == NULL || metadata == NULL || !PyDict_CheckExact(metadata) ||
        above == NULL || Py_TYPE(above) != in.outer || slot(above, in.outers.function) != workflow || slot(above, in.outers.quiet) != Py_False ||
        slot(above, in.outers.ended) != Py_False || slot(above, in.outers.pending) != Py_None)
        goto done;
    busy = slot(above, in.outers.busy);
    task = slot(above, in.outers.task);
    above_number = slot(above, in.outers.number);
    Py_IncRef(busy);
    Py_IncRef(task);
    Py_IncRef(above_number);
    if (busy == NULL || (busy != Py_None && (!PyList_CheckExact(busy) || PyList_Size(busy))) || task == NULL || Py_TYPE(task) != at.task ||
        above_number == NULL || slot(function, at.functions.before) != Py_None)
        goto done;
    if (!unrecorded && (!find_recording(&here) || slot(task, at.tasks.known) != here.known || PySet_Contains(here.known, slot(function, at.functions.id)) != 1))
        goto done;

    /* All that is allocated, first: it may set something of the app free, whose code runs then. */
    if (unrecorded ? !copy_unrecorded(&before, PyDict_Copy(given)) : !mark(&before, PyDict_Copy(given), &here) || !copy_containers(&before))
        goto done;
    had = PyDict_Copy(given);
    empty = PyDict_New();
    adapter = PyType_GenericAlloc(in.adapter, 0);
    call = PyType_GenericAlloc(in.call, 0);
    only = PyList_New(1);
    tells[0] = shared(task_id);
    tells[1] = item_of(metadata, named.langgraph_step);
    tells[2] = item_of(metadata, named.langgraph_checkpoint_ns);
    if (had == NULL || empty == NULL || adapter == NULL || call == NULL || only == NULL)
        goto done;
    PyList_SetItem(only, 0, shared(call));
    told = PyLong_FromLong(1 + (tells[1] != NULL) + (tells[2] != NULL));
    pairs = pairs_of(tells);
    if (pairs == NULL)
        goto done;
    calls = slot(task, at.tasks.calls) == NULL ? NULL : PyLong_FromLong(PyLong_AsLong(slot(task, at.tasks.calls)) + 1);
    if (told == NULL || calls == NULL || slot(above, in.outers.busy) != busy || (busy != Py_None && PyList_Size(busy)) ||
        slot(above, in.outers.ended) != Py_False || is_unrecorded() != unrecorded || !passes(function, at.functions.before) || PyErr_Occurred() || (number = PyIter_Next(now_there.numbers)) == NULL)
        goto done;

    exchange(adapter, in.adapters.args, shared(empty));
    exchange(adapter, in.adapters.channels, shared(channels));
    exchange(adapter, in.adapters.exploded, shared(Py_False));
    exchange(adapter, in.adapters.given, shared(given));
    exchange(adapter, in.adapters.had, shared(had));
    exchange(adapter, in.adapters.info, shared(info));
    exchange(adapter, in.adapters.metadata, shared(metadata));
    exchange(adapter, in.adapters.task, shared(task_id));
    exchange(call, in.calls.function, shared(function));
    exchange(call, in.calls.args, shared(empty));
    exchange(call, in.calls.parent, shared(above));
    exchange(call, in.calls.back, shared(above));
    exchange(call, in.calls.task, shared(task));
    exchange(call, in.calls.owner, shared(above));
    exchange(call, in.calls.adapter, shared(adapter));
    exchange(call, in.calls.state, shared(given));
    exchange(call, in.calls.state_before, shared(before.fields));
    exchange(call, in.calls.tells, shared(pairs));
    exchange(call, in.calls.told, shared(told));
    exchange(call, in.calls.recorded, shared(zero));
    exchange(call, in.calls.ended, shared(Py_False));
    exchange(call, in.calls.pending, shared(key));
    exchange(call, in.calls.changes, shared(Py_None));

    exchange(call, in.calls.number, shared(number));
    exchange(call, in.calls.started_ns, shared(zero));

    calls = exchange(task, at.tasks.calls, calls);
    inner = exchange(task, at.tasks.innermost, shared(call));
    only = exchange(above, in.outers.busy, only);
    started = make_current(call) ? moment() : NULL;
    if (started == NULL || PyDict_SetItem(given_by.newest, task_id, call) || (made != NULL && PyList_Append(made, call))) {
        /* There is no memory. */
        PyErr_Clear();
        Py_DecRef(exchange(task, at.tasks.calls, shared(calls)));
        Py_DecRef(exchange(task, at.tasks.innermost, shared(inner)));
        Py_DecRef(exchange(above, in.outers.busy, shared(only)));
        make_current(above);
        goto done;
    }
    begun = 1;
    Py_DecRef(exchange(call, in.calls.started_ns, shared(started)));

    if (!unrecorded && is_open(&here)) {
        Cursor *cursor = (Cursor *)here.segment;
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
        add_told(&frames, tells);
        close_frame(&frames);
        open_frame(&frames, 5);
        add_small(&frames, 5);
        add_value(&frames, number);
        add_value(&frames, started);
        add_text(&frames, "before");
        add_state(&frames, &before);
        close_frame(&frames);
        int written = finish_frames(&frames, call, in.calls.recorded, one);
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
    PyObject *rest[] = {configurable, metadata, task_id, channels, above, busy, task, above_number, adapter, had, empty, only, pairs, number, started, told, inner, calls, tells[0], tells[1], tells[2]};
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
    return none();
}

/* ---------------------------------------------------------------- its end */

/* `_state.overwritten`, of values that are no parts. A new reference; NULL: Python code is to decide. */
static PyObject *overwritten(PyObject *had, PyObject *result, PyObject *channels)
{
    PyObject *after = PyDict_Copy(had), *key, *value;
    Py_ssize_t next = 0;
    int fits = after != NULL && has_text_keys(after) && are_channels(channels);
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

/* The state after, and the end. 0: neither is written. */
static int write_end(Recording *here, Marked *after, PyObject *call, PyObject *result, PyObject *ended)
{
    Cursor *cursor = (Cursor *)here->segment;
    Frames frames = {.cursor = cursor, .rules = (Rules *)here->rules, .taken = after->size + given_by.heads, .done = WRITTEN};
    PyObject *number = slot(call, in.calls.number);
    cursor->busy = 1;
    open_frame(&frames, 5);
    add_small(&frames, 5);
    add_value(&frames, number);
    add_value(&frames, ended);
    add_text(&frames, "after");
    add_state(&frames, after);
    close_frame(&frames);
    open_frame(&frames, 6);
    add_small(&frames, 4);
    add_value(&frames, number);
    add_value(&frames, ended);
    add_small(&frames, 0);
    add_value(&frames, result);
    add_bytes(&frames, "N", 1);
    close_frame(&frames);
    int done = finish_frames(&frames, call, in.calls.recorded, two);
    cursor->busy = 0;
    return done;
}

/* Ends a call of `begin` that returned, as `_boundaries.leave` and `handed_over` do. 0: nothing was done. */
static int finish(PyObject *call, PyObject *result)
{
    if (!is_prepared || Py_TYPE(call) != in.call || !PyDict_CheckExact(result) || slot(call, in.calls.ended) != Py_False)
        return 0;
    PyObject *recorded = slot(call, in.calls.recorded), *adapter = slot(call, in.calls.adapter), *task = slot(call, in.calls.task);
    PyObject *above = slot(call, in.calls.parent), *function = slot(call, in.calls.function), *number = slot(call, in.calls.number);
    PyObject *told = slot(call, in.calls.told);
    int unrecorded = is_unrecorded();
    if (recorded == NULL || !PyLong_CheckExact(recorded) || PyLong_AsLong(recorded) != !unrecorded || adapter == NULL || Py_TYPE(adapter) != in.adapter || task == NULL ||
        above == NULL || Py_TYPE(above) != in.outer || slot(call, in.calls.back) != above || slot(call, in.calls.owner) != above || function == NULL || number == NULL ||
        told == NULL || PyLong_AsSsize_t(told) < 0) /* One more was set since. */
        return 0;
    PyObject *had = slot(adapter, in.adapters.had), *channels = slot(adapter, in.adapters.channels);
    if (had == NULL || !PyDict_CheckExact(had) || channels == NULL || !PyDict_CheckExact(channels))
        return 0;

    int done = 0;
    PyObject *now_current = NULL, *busy = NULL, *empty = NULL, *calls = NULL, *innermost = NULL, *ended = NULL;
    Marked after = {0};
    Recording here = {0};
    /* All that is allocated, first. */
    if (!unrecorded && (!find_recording(&here) || !mark(&after, overwritten(had, result, channels), &here) || (ended = moment()) == NULL))
        goto done;
    PyObject *args = slot(call, in.calls.args);
    empty = args != NULL && PyDict_CheckExact(args) && PyDict_Size(args) == 0 ? shared(args) : PyDict_New();
    PyObject *inner = slot(task, at.tasks.calls);
    calls = empty == NULL || inner == NULL ? NULL : PyLong_FromLong(PyLong_AsLong(inner) - 1);
    if (calls == NULL || PyErr_Occurred())
        goto done;
    now_current = current_call();
    busy = slot(above, in.outers.busy);
    Py_IncRef(busy);
    if (now_current != call || slot(above, in.outers.ended) != Py_False || slot(call, in.calls.ended) != Py_False || slot(call, in.calls.adapter) != adapter ||
        slot(adapter, in.adapters.had) != had || slot(call, in.calls.task) != task || busy == NULL || !PyList_CheckExact(busy) ||
        PyList_Size(busy) != 1 || PyList_GetItem(busy, 0) != call || is_unrecorded() != unrecorded || !passes(function, at.functions.after) || (!unrecorded && !is_open(&here)))
        goto done;

    done = unrecorded || write_end(&here, &after, call, result, ended);
    if (done) {
        /* What is replaced is set free behind all this. */
        recorded = NULL;
        innermost = exchange(task, at.tasks.innermost, shared(slot(above, in.outers.task) == task ? above : Py_None));
        calls = exchange(task, at.tasks.calls, calls);
        Py_DecRef(exchange(call, in.calls.ended, shared(Py_True)));
        PyList_SetSlice(busy, 0, 1, NULL);
        make_current(above);
        PyErr_Clear();
        PyObject *parts[] = {
            exchange(call, in.calls.args, shared(empty)),      exchange(call, in.calls.back, shared(Py_None)),          exchange(call, in.calls.state, shared(Py_None)),
            exchange(call, in.calls.changes, shared(Py_None)), exchange(call, in.calls.state_before, shared(Py_None)),
        };
        for (size_t index = 0; index < sizeof parts / sizeof *parts; index++)
            Py_DecRef(parts[index]);
        if (!unrecorded)
            note_written(&after, &here);
    }
done:
    PyErr_Clear();
    forget_marks(&after);
    leave_recording(&here);
    PyObject *rest[] = {now_current, busy, empty, calls, innermost, ended};
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

#include "_edges.c"

/* ---------------------------------------------------------------- what they need to know */

/*
 * prepare_nodes(classes, decide, newest, partial, last_value, snapshot, sweep, heads, smallest) -> bool: makes what is here work, and the hooks, behind
 * `prepare_calls`. `classes`: those whose slots they use, by their names here. False: these classes do not keep in slots what they should, and
 * Python code does all of it.
 */
static PyObject *prepare_nodes(PyObject *module, PyObject *args)
{
    PyObject *classes;
    if (is_prepared)
        return PyBool_FromLong(1);
    if (!are_calls_prepared)
        return PyBool_FromLong(0);
    if (!PyArg_ParseTuple(args, "O!OO!OO!O!lnn", &PyDict_Type, &classes, &given_by.decide, &PyDict_Type, &given_by.newest, &given_by.partial, &PyType_Type,
                          &given_by.last_value, &PyType_Type, &given_by.snapshot, &given_by.sweep, &given_by.heads, &given_by.smallest))
        return NULL;
#define OF(group, name) {#name, &in.group.name}
    const Slot calls[] = {OF(calls, number), OF(calls, function), OF(calls, args), OF(calls, parent), OF(calls, task), OF(calls, started_ns), OF(calls, owner),
                          OF(calls, adapter), OF(calls, state), OF(calls, state_before), OF(calls, back), OF(calls, tells), OF(calls, told),
                          OF(calls, recorded), OF(calls, ended), OF(calls, pending), OF(calls, changes), {NULL, NULL}};
    const Slot adapters[] = {OF(adapters, args), OF(adapters, channels), OF(adapters, exploded), OF(adapters, given), OF(adapters, had), OF(adapters, info),
                             OF(adapters, metadata), OF(adapters, task), {NULL, NULL}};
    const Slot parts[] = {OF(parts, copy), OF(parts, root), OF(parts, serial), OF(parts, same), OF(parts, mark), OF(parts, size), OF(parts, sized), OF(parts, snapshot), OF(parts, used), {NULL, NULL}};
    const Slot outers[] = {OF(outers, busy), OF(outers, ended), OF(outers, function), OF(outers, number), OF(outers, pending), OF(outers, quiet), OF(outers, task),
                           {NULL, NULL}};
    const Slot states[] = {OF(states_, _memo), {NULL, NULL}};
    const Slot memos[] = {OF(memos, _held), OF(memos, clock), OF(memos, parts), {NULL, NULL}};
    const Slot node_steps[] = {{"short", &in.node_steps.short_}, OF(node_steps, steps), {NULL, NULL}};
    const Slot kepts[] = {OF(kepts, changed), OF(kepts, name), OF(kepts, of), {NULL, NULL}};
    const Slot pregel_tasks[] = {OF(pregel_tasks, id), OF(pregel_tasks, name), OF(pregel_tasks, proc), {NULL, NULL}};
    if (!find_slots(classes, "StepCall", &in.call, calls) || !find_slots(classes, "NodeCall", &in.adapter, adapters) ||
        !find_slots(classes, "Part", &in.part, parts) || !find_slots(classes, "OuterCall", &in.outer, outers) ||
        !find_slots(classes, "StateEncoder", &in.states, states) || !find_slots(classes, "Memo", &in.memo, memos) ||
        !find_slots(classes, "NodeStep", &in.node_step, node_steps) || !find_slots(classes, "Kept", &in.kept, kepts))
        return PyBool_FromLong(0);
    /* Without slots under Python 3.10: the run of a task is left to Python code there. */
    if (!find_slots(classes, "PregelExecutableTask", &in.pregel_task, pregel_tasks))
        in.pregel_task = NULL;
#undef INTERN
#define INTERN(name)                                                                                                                                           \
    if ((named.name = PyUnicode_InternFromString(#name)) == NULL)                                                                                              \
        return NULL;
    EACH_NODE_NAME(INTERN)
    if (!prepare_told())
        return NULL;
    PyObject *things[] = {given_by.decide, given_by.newest, given_by.partial, (PyObject *)given_by.last_value, (PyObject *)given_by.snapshot};
    for (size_t index = 0; index < sizeof things / sizeof *things; index++)
        Py_IncRef(things[index]);
    is_prepared = 1;
    return PyBool_FromLong(1);
}
