"""A small runtime for tests of the target alone: speaks the control protocol and does nothing else."""

import atexit
import json
import os
import socket
import sys
import threading


def connect() -> None:
    path = os.environ.get("TOOLBREAK_CONNECT")
    if not path or not os.path.exists(path):
        return
    with open(path) as file:
        told = json.load(file)
    start(told)


def start(told: dict) -> None:
    s = socket.socket(socket.AF_UNIX)
    s.connect(told["address"])
    version = int(os.environ.get("STAND_IN_VERSION", told["version"]))
    hello = {
        "event": "hello", "version": version, "token": os.environ.get("STAND_IN_TOKEN", told["token"]), "runtime": "0.0.1",
        "language": "python", "languageVersion": "3.x", "pid": os.getpid(), "parentPid": os.getppid(),
        "process": f"{os.getpid()}-1", "name": os.path.basename(sys.orig_argv[-1]), "argv": sys.orig_argv,
        "cwd": os.getcwd(), "executable": sys.executable, "frameworks": [],
    }  # fmt: skip
    lock = threading.Lock()

    def send(message: dict) -> None:
        with lock:
            s.sendall(json.dumps(message).encode() + b"\n")

    send(hello)
    lines = s.makefile("rb")
    first = lines.readline()
    if not first or not json.loads(first).get("welcome"):
        return

    def serve() -> None:
        cancelled = set()
        for line in lines:
            message = json.loads(line)
            name, seq = message["request"], message["seq"]
            if name == "configure":
                states = [{"id": b["id"], "verified": True} for b in message["configuration"]["breakpoints"]]
                send({"re": seq, "ok": True, "body": {"breakpoints": states}})
            elif name == "evaluate" and message["expression"] == "never":
                pass
            elif name == "evaluate" and message["expression"] == "junk":
                with lock:
                    s.sendall(b"\xff\xfe junk\n[1,2]\n\n" + b'{"re": 99999, "ok": true}\n' + b'{"event": "held"}\n')
                send({"re": seq, "ok": True, "body": {"name": "", "value": "fine", "ref": 0, "editable": False}})
            elif name == "evaluate" and message["expression"] == "stop":
                with open(told["stopFile"], "rb") as file:
                    send({"re": seq, "ok": True, "body": {"value": str(file.read(1)[0])}})
            elif name == "evaluate":
                send({"re": seq, "ok": False, "error": {"message": "No such name.", "user": True}})
            elif name == "cancel":
                cancelled.add(message["target"])
                send({"re": message["target"], "ok": False, "error": {"message": "Cancelled.", "user": True}})
                send({"re": seq, "ok": True, "body": {}})
            else:
                send({"re": seq, "ok": True, "body": {}})
                if name == "detach":
                    s.close()
                    return

    threading.Thread(target=serve, daemon=True).start()
    atexit.register(lambda: send({"event": "bye"}))


connect()
