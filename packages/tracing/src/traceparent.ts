/** The header `traceparent` of W3C's Trace Context: version, trace, span, flags. */
import type { SpanContext } from '@opentelemetry/api';

const FORM = /^[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;
const ZEROES = /^0+$/;

/** @returns `undefined` for an invalid one, as the specification requires: a new trace begins then */
export function parseTraceparent(text: string | undefined): SpanContext | undefined {
  const [, traceId = '', spanId = '', flags = ''] = FORM.exec(text ?? '') ?? [];
  if (traceId === '' || ZEROES.test(traceId) || ZEROES.test(spanId) || text?.startsWith('ff') === true)
    return undefined;
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true };
}

export function formatTraceparent({ traceId, spanId, traceFlags }: SpanContext): string {
  return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`;
}
