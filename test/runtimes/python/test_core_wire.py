"""Lines to the adapter, sent by threads of the app."""

import socket
import threading
import time
from types import SimpleNamespace

from toolbreak import _holds, _requests, _wire
from toolbreak._session import Session
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


def test_the_answer_to_a_release_is_out_before_the_app_goes_on(monkeypatch):
    server = socket.create_server(("127.0.0.1", 0))
    address = f"127.0.0.1:{server.getsockname()[1]}"
    session = Session({"address": address, "token": ""})
    session.wire = wire = Wire(address, 5)
    taken, _ = server.accept()
    taken.settimeout(0)
    heard = []

    def goes_on(_release):
        # The app may end here.
        try:
            heard.append(taken.recv(1000))
        except BlockingIOError:
            heard.append(b"")

    hold = SimpleNamespace(boundary="before", stop=SimpleNamespace(uncaught=False), release=goes_on)
    monkeypatch.setitem(_holds.holds, 7, hold)
    writes = threading.Event()

    def just_writing():
        with wire._lock:
            writes.set()
            while not wire._queue:
                pass

    other = threading.Thread(target=just_writing)
    other.start()
    try:
        assert writes.wait(60)
        _requests.handle(session, 3, {"request": "release", "seq": 3, "hold": 7})
        assert heard == [b'{"re":3,"ok":true,"body":{}}\n']
    finally:
        other.join()
        for each in (wire._socket, taken, server):
            each.close()


def test_who_waits_for_a_line_waits_for_that_one_alone(monkeypatch):
    server = socket.create_server(("127.0.0.1", 0))
    wire = Wire(f"127.0.0.1:{server.getsockname()[1]}", 5)
    taken, _ = server.accept()
    slept = []

    def another_thread(_seconds):
        """Writes what there is, and is at it again."""
        slept.append(True)
        wire._lock.release()
        wire._flush()
        wire._lock.acquire()
        wire.put({"event": "output"})

    monkeypatch.setattr(_wire.Real, "sleep", another_thread)
    try:
        with wire._lock:
            wire.send_before({"event": "first"}, 600)
        assert slept == [True]
        assert taken.recv(1000) == b'{"event":"first"}\n'
    finally:
        for each in (wire._socket, taken, server):
            each.close()
