import { MASK } from '../../../protocol/secrets';
import { isSecretName, maskText } from '../../common/masking';
import { DEEPEST, RecordedErrorValue } from './marshalWriter';
import type { SpanCall } from './otlpSpan';
import type { Json } from './plain';

/** Names of which is remembered whether they name a secret. */
const MOST_KNOWN = 10_000;

/** What came from elsewhere, nobody masked: the usual secrets are left out before anything is written, by their names and by their form. */
export class SpanMasker {
  private readonly known = new Map<string, boolean>();

  call(call: SpanCall): SpanCall {
    const { args, attributes, result, events } = call;
    return {
      ...call,
      args: this.value(args, 0),
      attributes: this.fields(attributes, 0),
      result: result instanceof RecordedErrorValue ? this.error(result) : this.value(result, 0),
      events: events.map((event) => ({ ...event, data: this.fields(event.data, 0) })),
    };
  }

  private error({ error }: RecordedErrorValue): RecordedErrorValue {
    return new RecordedErrorValue({ ...error, message: maskText(error.message), fields: this.fields(error.fields, 0) });
  }

  private fields(fields: { [key: string]: Json }, depth: number): { [key: string]: Json } {
    return Object.fromEntries(
      Object.entries(fields).map(([name, value]) => {
        const hides = value !== null && typeof value !== 'boolean' && this.isSecret(name);
        return [maskText(name), hides ? MASK : this.value(value, depth + 1)];
      }),
    );
  }

  private value(value: Json, depth: number): Json {
    if (typeof value === 'string') return maskText(value);
    if (typeof value !== 'object' || value === null) return value;
    // What is nested more deeply is not written.
    if (depth > DEEPEST) return value;
    return Array.isArray(value) ? value.map((item) => this.value(item, depth + 1)) : this.fields(value, depth);
  }

  private isSecret(name: string): boolean {
    let secret = this.known.get(name);
    if (secret === undefined) {
      secret = isSecretName(name);
      if (this.known.size < MOST_KNOWN) this.known.set(name, secret);
    }
    return secret;
  }
}
