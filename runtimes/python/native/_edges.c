/* The short way of the conditional edge behind a node. Part of `_nodes.c`. */

/* The one that was written last, of a run with these: an edge mostly leads where it led. */
static struct {
    PyObject *routes, *name, *encoded;
} last_route;

/* What `Writer.route` keeps of a route to this node. Borrowed; NULL: there is none yet. */
static PyObject *kept_route(PyObject *routes, PyObject *name)
{
    if (routes == last_route.routes && name == last_route.name)
        return last_route.encoded;
    PyObject *names_ = routes == NULL || !PyDict_CheckExact(routes) ? NULL : PyTuple_New(1);
    if (names_ == NULL || PyTuple_SetItem(names_, 0, shared(name))) {
        Py_DecRef(names_);
        return NULL;
    }
    PyObject *pair = PyDict_GetItemWithError(routes, names_);
    Py_DecRef(names_);
    PyObject *encoded = pair == NULL || !PyTuple_CheckExact(pair) || PyTuple_Size(pair) != 2 ? NULL : PyTuple_GetItem(pair, 1);
    if (encoded == NULL || Py_TYPE(encoded) != same_type)
        return NULL;
    PyObject *last[] = {last_route.routes, last_route.name, last_route.encoded};
    last_route.routes = shared(routes);
    last_route.name = shared(name);
    last_route.encoded = shared(encoded);
    for (size_t index = 0; index < sizeof last / sizeof *last; index++)
        Py_DecRef(last[index]);
    return encoded;
}

/* `_nodes.routed` of a conditional edge that chose one node that it chose before. 0: nothing was done. */
static int route(PyObject *ends, PyObject *chosen, PyObject *config)
{
    if (!is_prepared || Py_TYPE(chosen) != &PyUnicode_Type || !PyDict_CheckExact(config))
        return 0;
    int done = 0;
    PyObject *name = ends == Py_None ? shared(chosen) : item_of(ends, chosen), *configurable = item_of(config, named.configurable);
    PyObject *task_id = item_of(configurable, named.__pregel_task_id), *call = NULL, *number = NULL, *now = NULL, *routes = NULL, *encoded = NULL;
    Recording here = {0};
    if (name == NULL || Py_TYPE(name) != &PyUnicode_Type || task_id == NULL || Py_TYPE(task_id) != &PyUnicode_Type)
        goto done;
    call = item_of(given_by.newest, task_id);
    if (call == NULL || Py_TYPE(call) != in.call || slot(call, in.calls.number) == NULL)
        goto done;
    number = shared(slot(call, in.calls.number));
    if (!find_recording(&here) || (now = moment()) == NULL)
        goto done;
    routes = shared(slot(here.writer, at.writers._routes));
    encoded = shared(kept_route(routes, name));
    if (encoded != NULL && slot(here.writer, at.writers._routes) == routes && is_open(&here)) {
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
        done = finish_frames(&frames, NULL, 0, NULL);
        cursor->busy = 0;
    }
done:
    PyErr_Clear();
    leave_recording(&here);
    PyObject *rest[] = {name, configurable, task_id, call, number, routes, encoded, now};
    for (size_t index = 0; index < sizeof rest / sizeof *rest; index++)
        Py_DecRef(rest[index]);
    taken.routed += done;
    return done;
}
