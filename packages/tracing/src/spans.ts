/**
 * Spans of a trace, and the propagation of a trace between processes, in W3C's form (`traceparent`).
 *
 * If tracing is off, which is the default, all of this does nothing and loads no more than OpenTelemetry's interface.
 */
import {
  type Attributes,
  context,
  isSpanContextValid,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import { formatTraceparent, parseTraceparent } from './traceparent.js';

const tracer = trace.getTracer('holdfast');

export type SpanOptions = {
  /** `server`: takes a call. `client`: makes one. `consumer`: processes a queue's job. */
  readonly kind: 'server' | 'client' | 'consumer';
  readonly attributes?: Attributes;
  /** Trace that this is a part of; left out: the present one, or a new one. */
  readonly traceparent?: string | undefined;
};

const KINDS = { server: SpanKind.SERVER, client: SpanKind.CLIENT, consumer: SpanKind.CONSUMER } as const;

/** Does the work within a span, which ends with it. An error that it throws is noted. */
export async function inSpan<T>(name: string, options: SpanOptions, work: () => Promise<T>): Promise<T> {
  const span = beginSpan(name, options);
  try {
    return await span.run(work);
  } catch (error) {
    span.failed(error instanceof Error ? error.message : String(error));
    throw error;
  } finally {
    span.end();
  }
}

/** A span that the caller ends. */
export type OpenSpan = {
  /** `undefined` where tracing is off. */
  readonly traceparent: string | undefined;
  run<T>(work: () => T): T;
  set(attributes: Attributes): void;
  failed(why: string): void;
  end(): void;
};

export function beginSpan(name: string, { kind, attributes = {}, traceparent }: SpanOptions): OpenSpan {
  const remote = parseTraceparent(traceparent);
  const parent = remote === undefined ? context.active() : trace.setSpanContext(context.active(), remote);
  const span = tracer.startSpan(name, { kind: KINDS[kind], attributes }, parent);
  return {
    traceparent: textOf(span),
    run: (work) => context.with(trace.setSpan(parent, span), work),
    set: (more) => void span.setAttributes(more),
    failed: (message) => void span.setStatus({ code: SpanStatusCode.ERROR, message }),
    end: () => span.end(),
  };
}

/** Header for another process, so that its work is part of the present trace. */
export function currentTraceparent(): string | undefined {
  return textOf(trace.getActiveSpan());
}

/** Fields of log lines about the present trace. */
export function traceOfLine(): { traceId?: string } {
  const traceId = parseTraceparent(currentTraceparent())?.traceId;
  return traceId === undefined ? {} : { traceId };
}

function textOf(span: Span | undefined): string | undefined {
  const known = span?.isRecording() === true ? span.spanContext() : undefined;
  return known !== undefined && isSpanContextValid(known) ? formatTraceparent(known) : undefined;
}
