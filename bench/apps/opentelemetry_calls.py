"""Row 3's reference: the same function with an OpenTelemetry SDK span and a batch processor that exports nowhere."""

import sys

from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult
from timing import per_call, report


class Nowhere(SpanExporter):
    def export(self, spans):
        return SpanExportResult.SUCCESS


provider = TracerProvider()
provider.add_span_processor(BatchSpanProcessor(Nowhere()))
trace.set_tracer_provider(provider)
tracer = trace.get_tracer("bench")


def work(number: int, text: str) -> dict:
    with tracer.start_as_current_span("work") as span:
        span.set_attribute("number", number)
        span.set_attribute("text", text)
        result = {"number": number, "text": text}
        span.set_attribute("result", str(result))
        return result


def loop(calls: int) -> None:
    for number in range(calls):
        work(number, "abc")


if __name__ == "__main__":
    name, calls = sys.argv[1], int(sys.argv[2])
    report(name, per_call(lambda: loop(calls), calls))
