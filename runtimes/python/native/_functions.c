/*
 * The short way of a guarded function's call: what the `enter`, `leave` and `exit` that `_quick.py` makes do where all is plain, and `Guard.stash`.
 * Part of `_compiled.c`.
 *
 * Either all of it happens or nothing: what is special is answered before anything is changed, and the functions of `_quick.py` do the whole. Only the
 * frame of a start that takes a closer look is left to Python code behind it, since the call has its number by then. No
 * garbage is collected meanwhile, since that may run code of the app; what must be true is asked behind all that allocates all the same.
 */

/* Where the slots of the classes are that only functions have to do with. */
static struct {
    PyTypeObject *call, *short_call, *long_call, *root, *guard; /* `call`: of those that begin here */
    struct {
        Py_ssize_t args, back, busy, ended, frame, function, given, number, owner, parent, raised, recorded, segment, short_, shown, started_ns, stashed, task, token;
    } calls;
    struct {
        Py_ssize_t busy, task;
    } roots;
    struct {
        Py_ssize_t _function;
    } guards;
} fn;

static PyObject *roots_of_threads; /* `_calls._roots` */
static PyObject *nowhere;          /* `_call_types.nowhere` */
static PyObject *write_start;      /* records the start of a call that has none yet */
static PyObject *no_items;
#define EACH_CALL_NAME(X) X(busy) X(ended) X(frame) X(number) X(quiet) X(raised) X(root) X(stashed) X(task)
static struct {
    EACH_CALL_NAME(DECLARE)
} call_names;

static int are_functions_prepared;

/* How many calls began and ended this way: for tests. */
static struct {
    long begun, ended;
} short_calls;

typedef struct {
    PyObject_HEAD
    PyObject *guard, *live;         /* `live`: the guard's calls that run, by their frames */
    PyObject *enter, *leave, *exit; /* what `_quick.py` made */
    PyObject *names;                /* a tuple: the parameters */
    PyObject *keys;                 /* bytes: the names of those that are shown, encoded one behind the other */
    PyObject *shown;                /* a tuple: those */
    PyObject *harmless_in;          /* the rules by which no name says anything about its value */
    int is_method;                  /* the first parameter is not shown */
} Way;

static int way_traverse(Way *self, visitproc visit, void *with)
{
    PyObject *all[] = {(PyObject *)Py_TYPE(self), self->guard, self->live, self->enter, self->leave, self->exit, self->names, self->keys, self->shown, self->harmless_in};
    for (size_t index = 0; index < sizeof all / sizeof *all; index++)
        if (all[index] != NULL && visit(all[index], with))
            return 1;
    return 0;
}

static int way_clear(Way *self)
{
    PyObject **all[] = {&self->guard, &self->live, &self->enter, &self->leave, &self->exit, &self->names, &self->keys, &self->shown, &self->harmless_in};
    for (size_t index = 0; index < sizeof all / sizeof *all; index++) {
        PyObject *held = *all[index];
        *all[index] = NULL;
        Py_DecRef(held);
    }
    return 0;
}

static void way_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    way_clear((Way *)self);
    PyObject_GC_Del(self);
    Py_DecRef((PyObject *)type);
}

/* A mapped file for the next frame of this thread, and by which rules it is written. All are kept alive. */
typedef struct {
    PyObject *writer, *rules, *known;
} Open;

/* 0: nothing is recorded, or not by rules that compiled code knows. */
static int open_recording(Open *open)
{
    if (!look_there() || Py_TYPE(now_there.writer) != at.writer)
        return 0;
    PyObject *writer = now_there.writer, *settings = slot(writer, at.writers.settings), *known = slot(writer, at.writers.known);
    PyObject *rules = settings != NULL && Py_TYPE(settings) == at.settings ? slot(settings, at.settings_.rules) : NULL;
    if (known == NULL || rules == NULL || Py_TYPE(rules) != rules_type)
        return 0;
    open->writer = shared(writer);
    open->known = shared(known);
    open->rules = shared(rules);
    return 1;
}

/* Asked last: code of the app that an allocation set free may have run since. */
static int is_still_open(Open *open, PyObject *segment)
{
    return look_there() && now_there.writer == open->writer && slot(open->writer, at.writers.ended) == Py_False && slot(open->writer, at.writers.known) == open->known &&
           slot(segment, at.segments.known) == open->known && has_place(segment);
}

static void close_recording(Open *open)
{
    Py_DecRef(open->writer);
    Py_DecRef(open->rules);
    Py_DecRef(open->known);
}

/* Whether the names of the parameters say nothing about their values, as far as these rules know yet. */
static int has_harmless_names(Way *way, PyObject *rules)
{
    if (way->harmless_in == rules)
        return 1;
    PyObject *names_alone = PyDict_New();
    int fits = names_alone != NULL;
    for (Py_ssize_t index = 0; fits && index < PyTuple_Size(way->shown); index++)
        fits = PyDict_SetItem(names_alone, PyTuple_GetItem(way->shown, index), Py_None) == 0;
    for (Py_ssize_t index = 0; fits && index < PyTuple_Size(way->shown); index++)
        fits = is_harmless_key(PyTuple_GetItem(way->shown, index), names_alone, (Rules *)rules);
    Py_DecRef(names_alone);
    PyErr_Clear();
    if (fits) {
        PyObject *old = way->harmless_in;
        way->harmless_in = shared(rules);
        Py_DecRef(old);
    }
    return fits;
}

/* What a call is inside of: one that began this way or as `_quick.py` does it, one of a guarded function that began the long way, or what stands above the calls of a thread. */
enum { SHORT_CALL, LONG_CALL, THREAD_ROOT, NEITHER };

static int kind_of(PyObject *owner)
{
    PyTypeObject *type = Py_TYPE(owner);
    return type == fn.call || type == fn.short_call ? SHORT_CALL : type == fn.root ? THREAD_ROOT : type == fn.long_call ? LONG_CALL : NEITHER;
}

/* A new reference, or NULL. `place` and `at_root`: where it is in the slots of the first and of the last. No code of the app runs. */
static PyObject *attribute_of(PyObject *owner, int kind, PyObject *name, Py_ssize_t place, Py_ssize_t at_root)
{
    return kind == LONG_CALL ? PyObject_GetAttr(owner, name) : shared(slot(owner, kind == SHORT_CALL ? place : at_root));
}

#define OF_CALL(call, kind, name) attribute_of(call, kind, call_names.name, fn.calls.name, 0)
#define OF_OWNER(owner, kind, name) attribute_of(owner, kind, call_names.name, fn.calls.name, fn.roots.name)

/* Whether that attribute of a call is this. */
static int is_so(PyObject *value, PyObject *wanted)
{
    Py_DecRef(value);
    return value == wanted;
}

/* What is replaced is set free later, by who holds it as well. */
static void set_busy(PyObject *owner, int kind, PyObject *calls)
{
    if (kind == LONG_CALL)
        PyObject_SetAttr(owner, call_names.busy, calls);
    else
        Py_DecRef(exchange(owner, kind == SHORT_CALL ? fn.calls.busy : fn.roots.busy, shared(calls)));
}

/* The value of a call's number, its own or that of the one above it. */
static void add_number(Frames *frames, PyObject *number)
{
    if (frames->done == WRITTEN)
        frames->done = number != NULL && PyLong_CheckExact(number) ? put_int(&frames->out, number) : NOT_PLAIN;
}

/* The arguments as a dict; each key is encoded already. */
static void add_arguments(Frames *frames, Way *way, PyObject *const *shown)
{
    Py_ssize_t count = PyTuple_Size(way->shown);
    const char *key = PyBytes_AsString(way->keys);
    frames->out.left = frames->rules->items - count;
    if (frames->out.left < 0)
        frames->done = NOT_PLAIN;
    add_bytes(frames, "{", 1);
    for (Py_ssize_t index = 0; frames->done == WRITTEN && index < count; index++) {
        uint32_t size;
        memcpy(&size, key + 1, sizeof size);
        add_bytes(frames, key, 5 + (Py_ssize_t)size);
        key += 5 + size;
        if (frames->done == WRITTEN)
            frames->done = put_given(&frames->out, shown[index], 1);
    }
    add_bytes(frames, "0", 1);
}

/* `enter`, where nothing is special. NULL: nothing was done. Otherwise the call, a new reference, whose start is still to be recorded unless it is `written`. */
static PyObject *begin_call(Way *way, PyObject *const *args, Py_ssize_t count, int *written)
{
    PyObject *frame = (PyObject *)PyEval_GetFrame(), *guard = way->guard;
    if (frame == NULL || guard == NULL || Py_TYPE(guard) != fn.guard || count != PyTuple_Size(way->names))
        return NULL;
    PyObject *back = NULL, *owner = NULL, *call = NULL, *only = NULL, *given_ = NULL, *segment = NULL, *task = NULL, *number = NULL;
    PyObject *started = NULL, *calls = NULL, *innermost = NULL, *busy = NULL, *above = NULL, *function = slot(guard, fn.guards._function);
    Open open = {0};
    int begun = 0, kind, collects = PyGC_Disable();
    Py_IncRef(function);
    if (function == NULL || Py_TYPE(function) != at.function || !open_recording(&open) || !has_harmless_names(way, open.rules) || (back = current_call()) == NULL)
        goto done;
    /* Inside a framework's call there is more to ask. */
    owner = back == Py_None ? PyObject_GetAttr(roots_of_threads, call_names.root) : shared(back);
    kind = owner == NULL ? NEITHER : kind_of(owner);
    if (kind == NEITHER || (kind != THREAD_ROOT && (!is_so(OF_CALL(back, kind, ended), Py_False) || is_so(OF_CALL(back, kind, frame), Py_None))) ||
        (kind == LONG_CALL && !is_so(PyObject_GetAttr(back, call_names.quiet), Py_False)))
        goto done;

    PyObject *const *shown = args + way->is_method;
    call = PyType_GenericAlloc(fn.call, 0);
    only = PyList_New(1);
    given_ = PyTuple_New(count);
    for (Py_ssize_t index = 0; given_ != NULL && index < count; index++)
        PyTuple_SetItem(given_, index, shared(args[index]));
    PyObject *local = slot(open.writer, at.writers.local);
    segment = local == NULL ? NULL : segment_of(local, open.known);
    task = OF_OWNER(owner, kind, task);
    above = kind == THREAD_ROOT ? shared(zero) : OF_CALL(back, kind, number);
    if (above == NULL || call == NULL || only == NULL || given_ == NULL || segment == NULL || task == NULL || Py_TYPE(task) != at.task)
        goto done;
    PyList_SetItem(only, 0, shared(call));

    PyObject *running = slot(task, at.tasks.calls);
    busy = OF_OWNER(owner, kind, busy);
    if (busy == NULL || (busy != Py_None && (!PyList_CheckExact(busy) || PyList_Size(busy))) || slot(guard, fn.guards._function) != function ||
        slot(function, at.functions.known) != open.known || slot(task, at.tasks.known) != open.known || running == NULL ||
        (PyDict_Size(way->live) && PyDict_Contains(way->live, frame) != 0) || !is_still_open(&open, segment) || now_there.attached != Py_True ||
        !is_let_through(function, at.functions.before) || (calls = PyLong_FromLong(PyLong_AsLong(running) + 1)) == NULL ||
        (number = PyIter_Next(now_there.numbers)) == NULL || (started = moment()) == NULL)
        goto done;

    Cursor *cursor = (Cursor *)segment;
    Frames frames = {.cursor = cursor, .rules = (Rules *)open.rules, .done = WRITTEN};
    cursor->busy = 1;
    open_frame(&frames, 8);
    add_small(&frames, 3);
    add_number(&frames, number);
    add_number(&frames, above);
    add_number(&frames, slot(function, at.functions.id));
    add_number(&frames, slot(task, at.tasks.id));
    add_number(&frames, started);
    add_arguments(&frames, way, shown);
    add_bytes(&frames, "N", 1);
    close_frame(&frames);
    /* What is not plain, or has no room, is written by Python code: the call begins all the same. */
    begun = PyDict_SetItem(way->live, frame, call) == 0;
    if (!begun)
        frames.done = NOT_PLAIN;
    *written = finish_frames(&frames, NULL, 0, NULL);
    if (begun) {
        exchange(call, fn.calls.back, shared(back));
        exchange(call, fn.calls.busy, shared(Py_None));
        exchange(call, fn.calls.ended, shared(Py_False));
        exchange(call, fn.calls.frame, shared(frame));
        exchange(call, fn.calls.function, shared(function));
        /* Recorded, and nobody can ask for them: the app's own references alone keep them alive. */
        exchange(call, fn.calls.given, shared(*written && now_there.lets_go == Py_True ? no_items : given_));
        exchange(call, fn.calls.number, shared(number));
        exchange(call, fn.calls.owner, shared(owner));
        exchange(call, fn.calls.parent, shared(back));
        exchange(call, fn.calls.raised, shared(Py_None));
        exchange(call, fn.calls.recorded, shared(*written ? one : zero));
        exchange(call, fn.calls.segment, shared(*written ? segment : nowhere));
        exchange(call, fn.calls.short_, shared(Py_True));
        exchange(call, fn.calls.shown, shared(way->shown)); /* `args` is made of it where it is asked for. */
        exchange(call, fn.calls.started_ns, shared(started));
        exchange(call, fn.calls.stashed, shared(Py_None));
        exchange(call, fn.calls.task, shared(task));
        calls = exchange(task, at.tasks.calls, calls);
        innermost = exchange(task, at.tasks.innermost, shared(call));
        set_busy(owner, kind, only);
    }
    cursor->busy = 0;
    if (*written)
        note_large(frames.rules, frames.out.large);
    if (begun)
        exchange(call, fn.calls.token, set_current(call)); /* Without memory for that, `exit` ends the call. */
done:
    forget_error();
    if (collects)
        PyGC_Enable();
    close_recording(&open);
    PyObject *rest[] = {back, owner, only, given_, segment, task, number, started, calls, innermost, busy, above, function, begun ? NULL : call};
    for (size_t index = 0; index < sizeof rest / sizeof *rest; index++)
        Py_DecRef(rest[index]);
    short_calls.begun += begun;
    return begun ? call : NULL;
}

/* Makes the call current that was it before this one. A token does half of the work, but only in the context that it is of. */
static void go_back(PyObject *call, PyObject *back)
{
    PyObject *token = Py_TYPE(call) == fn.call ? exchange(call, fn.calls.token, NULL) : NULL;
    int collects = PyGC_Disable();
    if (token == NULL || back != slot(call, fn.calls.parent) || PyContextVar_Reset(ours.current, token)) {
        forget_error();
        make_current(back);
    }
    if (collects)
        PyGC_Enable();
    Py_DecRef(token);
}

/* `leave`, where all is plain, and `exit`, where `value` is NULL. 0: nothing was done. */
static int end_call(Way *way, PyObject *value)
{
    PyObject *frame = (PyObject *)PyEval_GetFrame(), *call = current_call();
    PyObject *function = NULL, *owner = NULL, *task = NULL, *back = NULL, *segment = NULL, *calls = NULL, *busy = NULL, *innermost = NULL;
    PyObject *result = NULL, *arguments = NULL, *given_ = NULL, *stashed = NULL, *task_above = NULL;
    Open open = {0};
    long long ended;
    int done = 0, kind, kind_above, collects = PyGC_Disable();
    if (frame == NULL || call == NULL || kind_of(call) != SHORT_CALL || slot(call, fn.calls.frame) != frame || !open_recording(&open))
        goto done;
    result = shared(value != NULL ? value : slot(call, fn.calls.stashed));
    function = shared(slot(call, fn.calls.function));
    owner = shared(slot(call, fn.calls.owner));
    task = shared(slot(call, fn.calls.task));
    back = shared(slot(call, fn.calls.back));
    segment = shared(slot(call, fn.calls.segment));
    arguments = Py_TYPE(call) == fn.call ? NULL : PyDict_New();
    kind = owner == NULL ? NEITHER : kind_of(owner);
    kind_above = back == NULL ? NEITHER : back == Py_None ? THREAD_ROOT : kind_of(back);
    if (result == NULL || function == NULL || (arguments == NULL && Py_TYPE(call) != fn.call) || kind == NEITHER || task == NULL || Py_TYPE(task) != at.task || kind_above == NEITHER || segment == NULL ||
        Py_TYPE(segment) != at.segment)
        goto done;
    PyObject *running = slot(task, at.tasks.calls), *recorded = slot(call, fn.calls.recorded);
    busy = OF_OWNER(owner, kind, busy);
    task_above = kind_above == THREAD_ROOT ? NULL : OF_CALL(back, kind_above, task);
    long others = running == NULL ? 0 : PyLong_AsLong(running) - 1;
    if (slot(call, fn.calls.short_) != Py_True || slot(call, fn.calls.ended) != Py_False || slot(call, fn.calls.raised) != Py_None ||
        recorded == NULL || !PyLong_CheckExact(recorded) || PyLong_AsLong(recorded) != 1 || busy == NULL || !PyList_CheckExact(busy) || PyList_Size(busy) != 1 ||
        PyList_GetItem(busy, 0) != call || others < 0 || (others == 0 && slot(task, at.tasks.parent) != Py_None) ||
        (kind_above != THREAD_ROOT && !is_so(OF_CALL(back, kind_above, ended), Py_False)) || !is_still_open(&open, segment) || !is_let_through(function, at.functions.after) ||
        (calls = PyLong_FromLong(others)) == NULL || !look_at_clock(&ended))
        goto done;

    Cursor *cursor = (Cursor *)segment;
    Frames frames = {.cursor = cursor, .rules = (Rules *)open.rules, .done = WRITTEN};
    cursor->busy = 1;
    open_frame(&frames, 6);
    add_small(&frames, 4);
    add_number(&frames, slot(call, fn.calls.number));
    add_time(&frames, ended);
    add_small(&frames, 0);
    frames.out.left = frames.rules->items;
    if (frames.done == WRITTEN)
        frames.done = put_given(&frames.out, result, 0);
    add_bytes(&frames, "N", 1);
    close_frame(&frames);
    done = finish_frames(&frames, call, fn.calls.recorded, two);
    if (done) {
        Py_DecRef(exchange(call, fn.calls.ended, shared(Py_True)));
        set_busy(owner, kind, Py_None);
        calls = exchange(task, at.tasks.calls, calls);
        innermost = exchange(task, at.tasks.innermost, shared(task_above == task ? back : Py_None));
    }
    cursor->busy = 0;
    if (done) {
        note_large(frames.rules, frames.out.large);
        go_back(call, back);
        if (PyDict_DelItem(way->live, frame))
            PyErr_Clear(); /* It was let go of meanwhile, since the program ends. */
        /* What is replaced is set free behind all this: code of the app may run then. */
        arguments = exchange(call, fn.calls.args, arguments);
        given_ = exchange(call, fn.calls.given, shared(no_items));
        stashed = exchange(call, fn.calls.stashed, shared(Py_None));
        Py_DecRef(exchange(call, fn.calls.frame, shared(Py_None)));
        Py_DecRef(exchange(call, fn.calls.back, shared(Py_None)));
    }
done:
    forget_error();
    if (collects)
        PyGC_Enable();
    close_recording(&open);
    PyObject *rest[] = {call, result, function, owner, task, back, segment, calls, busy, task_above, innermost, arguments, given_, stashed};
    for (size_t index = 0; index < sizeof rest / sizeof *rest; index++)
        Py_DecRef(rest[index]);
    short_calls.ended += done;
    return done;
}

/* ---------------------------------------------------------------- what the guard calls */

/* Whether the stack has room for a call from the function. The interpreter may run `enter` without one, and never `exit`. */
static int has_room(void)
{
    int left = Py_EnterRecursiveCall("") == 0;
    if (left)
        Py_LeaveRecursiveCall();
    forget_error();
    return left;
}

/* Whether the Python code that was to be called found no room on the stack: it lets no such error of its own out. Clears it. */
static int found_no_room(void)
{
    int found = PyErr_ExceptionMatches(PyExc_RecursionError);
    if (found)
        PyErr_Clear();
    return found;
}

/* Of a call whose start Python code is to record. Without memory for that they are made there. */
static void make_arguments(Way *way, PyObject *call, PyObject *const *args)
{
    PyObject *made = PyDict_New();
    int fits = made != NULL;
    for (Py_ssize_t index = 0; fits && index < PyTuple_Size(way->shown); index++)
        fits = PyDict_SetItem(made, PyTuple_GetItem(way->shown, index), args[index + way->is_method]) == 0;
    if (fits)
        made = exchange(call, fn.calls.args, made);
    forget_error();
    Py_DecRef(made);
}

/* enter(*values) -> bool: whether the body of the function runs. */
static PyObject *way_enter(Way *self, PyObject *const *args, Py_ssize_t count)
{
    int written = 0;
    PyObject *call = are_functions_prepared && has_room() ? begin_call(self, args, count, &written) : NULL;
    if (call != NULL) {
        if (!written)
            make_arguments(self, call, args);
        PyObject *answer = written ? NULL : PyObject_CallFunctionObjArgs(write_start, call, NULL);
        Py_DecRef(call);
        if (!written && answer == NULL && !found_no_room())
            return NULL;
        Py_DecRef(answer);
        return shared(Py_True);
    }
    PyObject *values = PyTuple_New(count);
    for (Py_ssize_t index = 0; values != NULL && index < count; index++)
        PyTuple_SetItem(values, index, shared(args[index]));
    PyObject *answer = values == NULL ? NULL : PyObject_Call(self->enter, values, NULL);
    Py_DecRef(values);
    return answer;
}

/* stash(value) -> value: the function is about to return it, and may do more before it ends. `Guard.long_stash`. */
static PyObject *way_stash(Way *self, PyObject *value)
{
    PyObject *frame = (PyObject *)PyEval_GetFrame(), *call = frame == NULL ? NULL : PyDict_GetItemWithError(self->live, frame);
    Py_IncRef(call);
    PyErr_Clear();
    if (call != NULL && PyObject_SetAttr(call, call_names.stashed, value)) {
        Py_DecRef(call);
        return NULL;
    }
    Py_DecRef(call);
    return shared(value);
}

/* leave(value) -> value: the function is about to return it, and nothing of it runs after that. */
static PyObject *way_leave(Way *self, PyObject *value)
{
    if (are_functions_prepared && end_call(self, value))
        return shared(value);
    PyObject *answer = PyObject_CallFunctionObjArgs(self->leave, value, NULL);
    return answer == NULL && found_no_room() ? way_stash(self, value) : answer;
}

/* exit() -> bool: True where the function must not end as its body did. */
static PyObject *way_exit(Way *self, PyObject *nothing)
{
    PyObject *frame = (PyObject *)PyEval_GetFrame();
    if (frame != NULL && PyDict_Contains(self->live, frame) == 0)
        return shared(Py_False); /* `leave` has ended it. */
    PyErr_Clear();
    if (are_functions_prepared && end_call(self, NULL))
        return shared(Py_False);
    PyObject *answer = PyObject_CallNoArgs(self->exit);
    if (answer != NULL || !found_no_room())
        return answer;
    /* The app's own result or error goes on alone. */
    if (frame != NULL && PyDict_DelItem(self->live, frame))
        PyErr_Clear();
    return shared(Py_False);
}

/* failed(): the body raises, and the error is being handled. `Guard.long_failed`. */
static PyObject *way_failed(Way *self, PyObject *nothing)
{
    PyObject *frame = (PyObject *)PyEval_GetFrame(), *call = frame == NULL ? NULL : PyDict_GetItemWithError(self->live, frame);
    PyObject *type, *value, *trace;
    Py_IncRef(call);
    PyErr_Clear();
    PyErr_GetExcInfo(&type, &value, &trace);
    if (call != NULL && PyObject_SetAttr(call, call_names.raised, value == NULL ? Py_None : value))
        PyErr_Clear();
    Py_DecRef(type);
    Py_DecRef(value);
    Py_DecRef(trace);
    Py_DecRef(call);
    return shared(Py_None);
}

/* Way(guard, live, names, is_method, enter, leave, exit) */
static PyObject *way_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    PyObject *guard, *live, *names_, *enter, *leave, *exit;
    int is_method;
    if (has_keywords(keywords) || !PyArg_ParseTuple(args, "OO!O!pOOO", &guard, &PyDict_Type, &live, &PyTuple_Type, &names_, &is_method, &enter, &leave, &exit))
        return NULL;
    PyObject *shown = PyTuple_GetSlice(names_, is_method, PyTuple_Size(names_)), *keys = PyBytes_FromStringAndSize(NULL, 0);
    for (Py_ssize_t index = 0; shown != NULL && keys != NULL && index < PyTuple_Size(shown); index++) {
        Py_ssize_t size;
        const char *name = PyUnicode_AsUTF8AndSize(PyTuple_GetItem(shown, index), &size);
        PyObject *encoded = name == NULL ? NULL : PyBytes_FromStringAndSize(NULL, 5 + size);
        if (encoded == NULL) {
            Py_DecRef(keys);
            keys = NULL;
            break;
        }
        uint32_t word_ = (uint32_t)size;
        char *bytes = PyBytes_AsString(encoded);
        bytes[0] = 'u';
        memcpy(bytes + 1, &word_, 4);
        memcpy(bytes + 5, name, size);
        PyBytes_ConcatAndDel(&keys, encoded);
    }
    Way *self = shown == NULL || keys == NULL ? NULL : (Way *)PyType_GenericAlloc(type, 0);
    if (self == NULL) {
        Py_DecRef(shown);
        Py_DecRef(keys);
        return NULL;
    }
    self->guard = shared(guard);
    self->live = shared(live);
    self->names = shared(names_);
    self->enter = shared(enter);
    self->leave = shared(leave);
    self->exit = shared(exit);
    self->is_method = is_method;
    self->shown = shown;
    self->keys = keys;
    return (PyObject *)self;
}

static PyMethodDef way_methods[] = {
    {"enter", (PyCFunction)(void (*)(void))way_enter, METH_FASTCALL, "Whether the body of the function runs."},
    {"leave", (PyCFunction)way_leave, METH_O, "The function is about to return this, and nothing of it runs after that."},
    {"exit", (PyCFunction)way_exit, METH_NOARGS, "True where the function must not end as its body did."},
    {"stash", (PyCFunction)way_stash, METH_O, "The function is about to return this."},
    {"failed", (PyCFunction)way_failed, METH_NOARGS, "The body raises."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot way_slots[] = {
    {Py_tp_new, way_new}, {Py_tp_dealloc, way_dealloc}, {Py_tp_traverse, way_traverse}, {Py_tp_clear, way_clear}, {Py_tp_methods, way_methods}, {0, NULL},
};
static PyType_Spec way_spec = {"toolbreak._compiled.Way", sizeof(Way), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC, way_slots};

/*
 * prepare_functions(classes, roots, nowhere, write) -> bool: makes `Way` take its short ways, behind `prepare_calls`. `write(call)` records the start of a
 * call that has none yet. False: these classes do not keep in slots what they should.
 */
static PyObject *prepare_functions(PyObject *module, PyObject *args)
{
    PyObject *classes, *roots, *nowhere_, *write;
    if (are_functions_prepared)
        return PyBool_FromLong(1);
    if (!are_calls_prepared)
        return PyBool_FromLong(0);
    if (!PyArg_ParseTuple(args, "O!OOO", &PyDict_Type, &classes, &roots, &nowhere_, &write))
        return NULL;
#define FN(group, name) {#name, &fn.group.name}
    const Slot calls[] = {FN(calls, args), FN(calls, back), FN(calls, busy), FN(calls, ended), FN(calls, frame), FN(calls, function), FN(calls, given),
                          FN(calls, number), FN(calls, owner), FN(calls, parent), FN(calls, raised), FN(calls, recorded), FN(calls, segment),
                          {"short", &fn.calls.short_}, FN(calls, started_ns), FN(calls, stashed), FN(calls, task), {NULL, NULL}};
    const Slot own[] = {FN(calls, shown), FN(calls, token), {NULL, NULL}};
    const Slot roots_[] = {FN(roots, busy), FN(roots, task), {NULL, NULL}};
    const Slot guards[] = {FN(guards, _function), {NULL, NULL}}, none[] = {{NULL, NULL}};
    if (!find_slots(classes, "ShortCall", &fn.short_call, calls) || !find_slots(classes, "PlainCall", &fn.call, own) || !find_slots(classes, "Call", &fn.long_call, none) || !find_slots(classes, "Root", &fn.root, roots_) || !find_slots(classes, "Guard", &fn.guard, guards))
        return PyBool_FromLong(0);
#undef INTERN
#define INTERN(name)                                                                                                                                           \
    if ((call_names.name = PyUnicode_InternFromString(#name)) == NULL)                                                                                         \
        return NULL;
    EACH_CALL_NAME(INTERN)
    if ((no_items = PyTuple_New(0)) == NULL)
        return NULL;
    roots_of_threads = shared(roots);
    nowhere = shared(nowhere_);
    write_start = shared(write);
    are_functions_prepared = 1;
    return PyBool_FromLong(1);
}

/* calls_taken() -> (begun, ended): how often. */
static PyObject *calls_taken(PyObject *module, PyObject *nothing)
{
    return Py_BuildValue("(ll)", short_calls.begun, short_calls.ended);
}
