"""Lines to the adapter, sent by threads of the app."""

import socket
import time

from toolbreak._wire import Wire


def test_a_line_that_waits_for_another_thread_calls_nothing_that_the_app_may_have_replaced(monkeypatch):
    server = socket.create_server(("127.0.0.1", 0))
    wire = Wire(f"127.0.0.1:{server.getsockname()[1]}", 5)
    taken, _ = server.accept()
    called = []
    # As tests of apps do, and libraries that switch tasks there.
    monkeypatch.setattr(time, "sleep", called.append)
    try:
        with wire._lock:  # Another thread is just writing.
            wire.send_before({"event": "output"})
        assert called == []
        wire.send({"event": "next"})
        assert taken.makefile("rb").readline() == b'{"event":"output"}\n'
    finally:
        for each in (wire._socket, taken, server):
            each.close()
