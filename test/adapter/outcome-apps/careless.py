"""Passes secrets through everything that is recorded. All are made up; each holds the word CANARY. What is none says "visible"."""

import base64
import os
import sys
from dataclasses import dataclass, field

KEY = "sk-proj-CANARYa1aB2cD3eF4gH5iJ6kL7mN8oP9"
JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOjF9.CANARYb1aB2cD3eF4gH5"
GITHUB = "ghp_CANARYc1aB2cD3eF4gH5iJ6kL7"


@dataclass
class Account:
    user: str
    password: str
    nested: dict = field(default_factory=lambda: {"deep": [{"client_secret": "CANARYd-client"}]})


def login(user, *, password, api_key=KEY):  # BP: login
    return {"user": user, "auth_token": "CANARYe-token"}


def nested(settings):  # BP: nested
    return settings


def headers(pairs):  # BP: headers
    return pairs


def texts(*parts):  # BP: texts
    return list(parts)


def fail(account):  # BP: fail
    raise PermissionError(f"visible: {account.user} with Authorization: Bearer {JWT} and password=CANARYf-text")


def main():
    print("visible start")
    login("visible ada", password="CANARYg-word")
    login("visible", password=b"CANARYh-bytes".decode(), api_key=os.environ.get("OPENAI_API_KEY"))
    nested({"a": {"b": [{"db_password": "CANARYi-nested", "visible": 1}]}, "access_token": {"inner": "CANARYj-inner"}})
    headers([("Authorization", "Bearer CANARYk0123456789abc"), ("X-Api-Key", "CANARYl-header"), ("Accept", "visible/json")])
    texts(
        "postgres://ada:CANARYm-url@db.example.test/visible",
        "OPENAI_API_KEY=CANARYn-env\nREGION=visible\n",
        b"api_key=CANARYo-bytes visible",
        f"please use {KEY} or {GITHUB}, visible",
        '{"password": "CANARYp-json", "visible": 1}',
        "https://example.test/?api_key=CANARYq-query&visible=1",
    )
    try:
        fail(Account("visible ada", "CANARYr-field"))
    except PermissionError as error:
        print("caught:", error)
    print("key:", KEY, "visible")
    # A secret that is cut by two writes.
    for part in ("token is ghp_CANA", "RYs1aB2cD3eF4gH5iJ6kL7 and visible\n"):
        sys.stdout.write(part)
        sys.stdout.flush()
    print("error with", "password=CANARYt-stderr", "visible", file=sys.stderr)
    texts(base64.b64encode(b"visible").decode())


if __name__ == "__main__":
    main()
