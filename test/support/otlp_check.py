"""Reads OTLP JSON lines with OpenTelemetry's own message types and says what is in them, as JSON: `otlp_check.py FILE`.

Fails for anything that these types do not know, and for a `gen_ai.` name that the semantic conventions do not have.
"""

from __future__ import annotations

import base64
import json
import sys
from typing import Any

from google.protobuf import json_format
from opentelemetry.proto.trace.v1.trace_pb2 import TracesData
from opentelemetry.semconv._incubating.attributes import gen_ai_attributes

NAMES = {value for name, value in vars(gen_ai_attributes).items() if name.isupper() and isinstance(value, str)}


def ids_as_protobuf(data: Any) -> None:
    """OTLP writes ids as hexadecimal digits, where protobuf's own JSON has base64."""
    for resource in data["resourceSpans"]:
        for scope in resource["scopeSpans"]:
            for span in scope["spans"]:
                for name, size in (("traceId", 16), ("spanId", 8), ("parentSpanId", 8)):
                    if name in span:
                        raw = bytes.fromhex(span[name])
                        assert len(raw) == size, (name, span[name])
                        span[name] = base64.b64encode(raw).decode()


def plain(value: Any) -> Any:
    kind = value.WhichOneof("value")
    if kind == "array_value":
        return [plain(item) for item in value.array_value.values]
    return getattr(value, kind) if kind else None


def attributes(given: Any) -> dict[str, Any]:
    for entry in given:
        assert not entry.key.startswith("gen_ai.") or entry.key in NAMES, entry.key
    return {entry.key: plain(entry.value) for entry in given}


def main() -> None:
    found: dict[str, Any] = {"lines": 0, "resources": [], "spans": []}
    with open(sys.argv[1], encoding="utf-8") as file:
        for line in file:
            data = json.loads(line)
            ids_as_protobuf(data)
            message = json_format.ParseDict(data, TracesData(), ignore_unknown_fields=False)
            found["lines"] += 1
            for resource in message.resource_spans:
                found["resources"].append(attributes(resource.resource.attributes))
                for scope in resource.scope_spans:
                    for span in scope.spans:
                        found["spans"].append(
                            {
                                "trace": span.trace_id.hex(),
                                "id": span.span_id.hex(),
                                "parent": span.parent_span_id.hex(),
                                "name": span.name,
                                "kind": span.kind,
                                "start": str(span.start_time_unix_nano),
                                "end": str(span.end_time_unix_nano),
                                "status": span.status.code,
                                "message": span.status.message,
                                "attributes": attributes(span.attributes),
                                "events": [
                                    {"name": event.name, **attributes(event.attributes)} for event in span.events
                                ],
                            }
                        )
    json.dump(found, sys.stdout)


main()
