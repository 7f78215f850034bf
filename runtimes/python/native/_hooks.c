/*
 * What stands where LangGraph's own functions stood: the run of a task, a node among its steps, and the end of a conditional edge. Part of `_compiled.c`.
 *
 * Each does the short way of `_nodes.c` around what it stands for, and calls the Python function that does the same wherever something is special.
 * A signal handler of the app's runs in what they call, never between two of their own steps.
 */

static struct {
    PyObject *original, *instead, *routed;
} branches;

static struct {
    PyObject *instead, *failed, *left, *attempts, *lost, *write;
} steps_;

static int is_attached(void)
{
    look_there();
    return now_there.attached == Py_True;
}

/* In the stable interface from Python 3.12 on, and there in 3.11. */
#ifdef __APPLE__
#define IF_THERE __attribute__((weak_import))
#else
#define IF_THERE __attribute__((weak))
#endif
extern PyObject *PyObject_Vectorcall(PyObject *function, PyObject *const *args, size_t count, PyObject *names) IF_THERE;

/* Calls what takes keywords as `METH_FASTCALL` hands them over, with `first` before them, if there is one. */
static PyObject *call_with(PyObject *function, PyObject *first, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    if (first == NULL && PyObject_Vectorcall != NULL)
        return PyObject_Vectorcall(function, args, count, names);
    Py_ssize_t place = first != NULL;
    PyObject *all = PyTuple_New(count + place), *keywords = names == NULL ? NULL : PyDict_New(), *answer = NULL;
    int fits = all != NULL && (names == NULL || keywords != NULL) && (first == NULL || PyTuple_SetItem(all, 0, shared(first)) == 0);
    for (Py_ssize_t index = 0; fits && index < count; index++)
        fits = PyTuple_SetItem(all, index + place, shared(args[index])) == 0;
    for (Py_ssize_t index = 0; fits && names != NULL && index < PyTuple_Size(names); index++)
        fits = PyDict_SetItem(keywords, PyTuple_GetItem(names, index), args[count + index]) == 0;
    if (fits)
        answer = PyObject_Call(function, all, keywords);
    Py_DecRef(all);
    Py_DecRef(keywords);
    return answer;
}

/*
 * Calls `function(error, one, two)` for the error that is raised, as an `except` block does: what it raises has that error as its context, and
 * is raised instead. Otherwise the error is raised no more: it is put into `error`.
 */
static PyObject *handle(PyObject **error, PyObject *function, PyObject *one, PyObject *two)
{
    PyObject *type, *value, *trace, *last_type, *last_value, *last_trace;
    PyErr_Fetch(&type, &value, &trace);
    PyErr_NormalizeException(&type, &value, &trace);
    if (trace != NULL)
        PyException_SetTraceback(value, trace);
    PyErr_GetExcInfo(&last_type, &last_value, &last_trace);
    PyErr_SetExcInfo(type, shared(value), trace);
    PyObject *answer = PyObject_CallFunctionObjArgs(function, value, one, two, NULL);
    PyErr_SetExcInfo(last_type, last_value, last_trace);
    *error = value;
    return answer;
}

/* Raises it again, with the traceback that it has by now. Takes the reference. */
static PyObject *raise_again(PyObject *error)
{
    PyErr_Restore(shared((PyObject *)Py_TYPE(error)), error, PyException_GetTraceback(error));
    return NULL;
}

/* ---------------------------------------------------------------- the run of a task */

/* What the task runs, with our step in it: `_nodes._with_step`, where that is kept already. A new reference; NULL: Python code is to look. */
static PyObject *kept_of(PyObject *task, PyObject *proc)
{
    PyObject *kept = PyObject_GenericGetAttr(proc, named.__toolbreak_kept__), *changed = NULL;
    if (kept != NULL && Py_TYPE(kept) == in.kept) {
        PyObject *of = slot(kept, in.kepts.of), *name = slot(kept, in.kepts.name);
        if (of != NULL && PyWeakref_GetObject(of) == proc && name != NULL && name == slot(task, in.pregel_tasks.name))
            changed = slot(kept, in.kepts.changed);
        if (changed == Py_None)
            changed = NULL;
        Py_IncRef(changed);
    }
    Py_DecRef(kept);
    PyErr_Clear();
    return changed;
}

/* run_with_retry(task, ...), with the tuple `(original, instead, failed)`: what `_nodes.wrap_run` makes of LangGraph's function. */
static PyObject *run_with_retry(PyObject *functions, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    PyObject *original = PyTuple_GetItem(functions, 0);
    if (is_prepared && !is_attached())
        return call_with(original, NULL, args, count, names);
    PyObject *task = is_prepared && count ? args[0] : NULL;
    PyObject *proc = task != NULL && Py_TYPE(task) == in.pregel_task ? slot(task, in.pregel_tasks.proc) : NULL;
    PyObject *changed = proc == NULL ? NULL : kept_of(task, proc);
    PyObject *id = changed == NULL ? NULL : slot(task, in.pregel_tasks.id);
    if (id == NULL || Py_TYPE(id) != &PyUnicode_Type || slot(task, in.pregel_tasks.proc) != proc) {
        Py_DecRef(changed);
        return call_with(PyTuple_GetItem(functions, 1), NULL, args, count, names);
    }
    Py_IncRef(task);
    Py_IncRef(id);
    exchange(task, in.pregel_tasks.proc, changed); /* The reference that it had is in `proc` now. */
    PyObject *result = call_with(original, NULL, args, count, names), *error;
    if (result == NULL) {
        PyObject *noted = handle(&error, PyTuple_GetItem(functions, 2), task, proc);
        if (noted != NULL)
            raise_again(error);
        else
            Py_DecRef(error);
        Py_DecRef(noted);
    } else {
        Py_DecRef(exchange(task, in.pregel_tasks.proc, shared(proc)));
        if (PyDict_GetItemWithError(given_by.newest, id) != NULL)
            PyDict_DelItem(given_by.newest, id);
        PyErr_Clear();
    }
    Py_DecRef(proc);
    Py_DecRef(id);
    Py_DecRef(task);
    return result;
}

static PyMethodDef run_definition = {"run_with_retry", (PyCFunction)(void (*)(void))run_with_retry, METH_FASTCALL | METH_KEYWORDS, "Runs a task of LangGraph's, its node as a call."};

/* run_hook(original, instead, failed): a function that does what `instead` does. `failed(error, task, proc)` hears of a task's error. */
static PyObject *run_hook(PyObject *module, PyObject *args)
{
    PyObject *original, *instead, *failed;
    return PyArg_UnpackTuple(args, "run_hook", 3, 3, &original, &instead, &failed) ? PyCFunction_NewEx(&run_definition, args, NULL) : NULL;
}

/* ---------------------------------------------------------------- a node among its steps */

/* `NodeStep.invoke(input, config)`. */
static PyObject *invoke_step(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    PyObject *known = slot(self, in.node_steps.short_), *steps = slot(self, in.node_steps.steps), *call = NULL;
    if (count == 2 && (names == NULL || PyTuple_Size(names) == 0) && known != NULL && known != Py_None && steps != NULL && PyList_CheckExact(steps) &&
        PyList_Size(steps) == 1 && is_attached()) {
        Py_IncRef(known);
        call = begin(known, args[0], args[1], NULL);
        Py_DecRef(known);
    }
    if (call == NULL)
        return call_with(steps_.instead, self, args, count, names);
    PyObject *step = shared(PyList_GetItem(steps, 0)), *result = NULL, *answer = NULL, *error;
    int again = 0;
    if (PyLong_AsLong(slot(call, in.calls.recorded)) != 1 && !is_unrecorded() && (answer = PyObject_CallFunctionObjArgs(steps_.write, call, NULL)) == NULL)
        goto done;
    Py_DecRef(answer);
    answer = NULL;
    result = PyObject_CallMethodObjArgs(step, named.invoke, args[0], args[1], NULL);
    if (result == NULL) {
        answer = handle(&error, steps_.failed, call, NULL);
        again = answer == Py_False;
        if (answer == Py_None)
            raise_again(error);
        else
            Py_DecRef(error);
        if (answer != NULL && PyTuple_CheckExact(answer))
            result = shared(PyTuple_GetItem(answer, 0));
    } else if (!finish(call, result)) {
        answer = PyObject_CallFunctionObjArgs(steps_.left, self, call, args[1], result, NULL);
        Py_DecRef(result);
        result = answer;
        answer = NULL;
    }
    if (again) {
        PyObject *keywords = PyDict_New();
        result = keywords == NULL ? NULL : PyObject_CallFunctionObjArgs(steps_.attempts, self, call, args[1], keywords, Py_False, NULL);
        Py_DecRef(keywords);
    }
done:
    Py_DecRef(answer);
    Py_DecRef(step);
    if (result == NULL) {
        /* Mostly it has ended. Not where a signal handler raised in our Python code. */
        answer = handle(&error, steps_.lost, call, NULL);
        if (answer != NULL)
            raise_again(error);
        else
            Py_DecRef(error);
        Py_DecRef(answer);
    }
    Py_DecRef(call);
    return result;
}

static PyMethodDef step_definition = {"invoke", (PyCFunction)(void (*)(void))invoke_step, METH_FASTCALL | METH_KEYWORDS, "Runs the node as a call."};

/*
 * step_hook(instead, failed, left, attempts, lost, write): a method of `NodeStep` that does what `instead` does. `failed(error, call)` hears of the
 * node's error and answers None, to raise it, a tuple with what is answered instead, or False, to run it again: `attempts(step, call, config, {}, False)`.
 * `left(step, call, config, result)` ends a call that compiled code does not end, `lost(error, call)` what is left of one; `write(call)` records the
 * start of one that had no room.
 */
static PyObject *step_hook(PyObject *module, PyObject *args)
{
    if (!is_prepared) {
        PyErr_SetString(PyExc_RuntimeError, "prepare_nodes comes first");
        return NULL;
    }
    if (!PyArg_UnpackTuple(args, "step_hook", 6, 6, &steps_.instead, &steps_.failed, &steps_.left, &steps_.attempts, &steps_.lost, &steps_.write))
        return NULL;
    Py_IncRef(args); /* Its items are needed as long as there is the method. */
    return PyDescr_NewMethod(in.node_step, &step_definition);
}

/* ---------------------------------------------------------------- the end of a conditional edge */

/* `BranchSpec._finish(writer, input, result, config)`. */
static PyObject *finish_branch(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    if (!is_prepared || count != 4 || (names != NULL && PyTuple_Size(names)))
        return call_with(branches.instead, self, args, count, names);
    if (is_attached() && !is_unrecorded()) {
        PyObject *ends = PyObject_GetAttr(self, named.ends);
        if (ends == NULL)
            return NULL;
        int done = route(ends, args[2], args[3]);
        Py_DecRef(ends);
        PyObject *answer = done ? NULL : PyObject_CallFunctionObjArgs(branches.routed, self, args[2], args[3], NULL);
        if (!done && answer == NULL)
            return NULL;
        Py_DecRef(answer);
    }
    return PyObject_CallFunctionObjArgs(branches.original, self, args[0], args[1], args[2], args[3], NULL);
}

static PyMethodDef branch_definition = {"_finish", (PyCFunction)(void (*)(void))finish_branch, METH_FASTCALL | METH_KEYWORDS, "Notes where an edge leads."};

/* branch_hook(owner, original, instead, routed): a method of this class that does what `instead` does; `routed(branch, result, config)` notes any route. */
static PyObject *branch_hook(PyObject *module, PyObject *args)
{
    PyObject *owner;
    if (!PyArg_ParseTuple(args, "O!OOO", &PyType_Type, &owner, &branches.original, &branches.instead, &branches.routed))
        return NULL;
    Py_IncRef(args);
    return PyDescr_NewMethod((PyTypeObject *)owner, &branch_definition);
}

/* nodes_taken() -> (begun, finished, routed): how often. */
static PyObject *nodes_taken(PyObject *module, PyObject *nothing)
{
    return Py_BuildValue("(lll)", taken.begun, taken.finished, taken.routed);
}

static PyMethodDef functions_of_module[] = {
    {"prepare_calls", prepare_calls, METH_VARARGS, "Comes before all others that prepare something."},
    {"set_variable", set_variable, METH_VARARGS, "Sets a context variable, and nothing is collected meanwhile."},
    {"prepare_functions", prepare_functions, METH_VARARGS, "Makes `Way` take its short ways."},
    {"calls_taken", calls_taken, METH_NOARGS, "How many calls of functions began and ended the short way."},
    {"secret_places", secret_places, METH_VARARGS, "Where in a text or bytes a secret may begin."},
    {"prepare_nodes", prepare_nodes, METH_VARARGS, "Makes all of these work."},
    {"begin_node", begin_node, METH_VARARGS, "Begins the call of a workflow's node. None: nothing was done."},
    {"finish_node", finish_node, METH_VARARGS, "Ends it. False: nothing was done."},
    {"run_hook", run_hook, METH_VARARGS, "Stands where LangGraph's `run_with_retry` stood."},
    {"step_hook", step_hook, METH_VARARGS, "Stands where `NodeStep.invoke` stood."},
    {"branch_hook", branch_hook, METH_VARARGS, "Stands where LangGraph's `BranchSpec._finish` stood."},
    {"call_soon", call_soon, METH_O, "Has a function called when what runs has returned."},
    {"told_items", told_items, METH_VARARGS, "Says of a list's items that they are the same, as long as they are."},
    {"nodes_taken", nodes_taken, METH_NOARGS, "How many calls began, ended and were routed the short way."},
    {NULL, NULL, 0, NULL},
};
