import { describe, expect, test } from '@jest/globals';
import { beginSpan, currentTraceparent, inSpan, traceOfLine } from './spans.js';
import { startTracing } from './start-tracing.js';
import { formatTraceparent, parseTraceparent } from './traceparent.js';

const [TRACE, SPAN] = ['4bf92f3577b34da6a3ce929d0e0e4736', '00f067aa0ba902b7'];
const TEXT = `00-${TRACE}-${SPAN}-01`;

describe('the header of a trace', () => {
  test('is read and written in the same form', () => {
    const parsed = parseTraceparent(TEXT);
    expect(parsed).toEqual({ traceId: TRACE, spanId: SPAN, traceFlags: 1, isRemote: true });
    expect(parsed && formatTraceparent(parsed)).toBe(TEXT);
  });

  test.each([
    ['nothing', undefined],
    ['another text', 'x'],
    ['capitals', TEXT.toUpperCase()],
    ['a trace of zeroes', `00-${'0'.repeat(32)}-${SPAN}-01`],
    ['a span of zeroes', `00-${TRACE}-${'0'.repeat(16)}-01`],
    ['the version that is none', `ff-${TRACE}-${SPAN}-01`],
    ['more than a header', `${TEXT}-more`],
  ])('of %s names no trace', (_what, text) => {
    expect(parseTraceparent(text)).toBeUndefined();
  });
});

describe('where tracing is off', () => {
  test.each([
    {},
    { OTEL_EXPORTER_OTLP_ENDPOINT: '' },
    { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9', OTEL_SDK_DISABLED: 'true' },
    { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9', OTEL_TRACES_EXPORTER: 'none' },
  ])('as by %j, work is done without a span, and nothing is told of a trace', async (environment) => {
    const tracing = await startTracing('test', environment);
    const told = await inSpan('work', { kind: 'server', traceparent: TEXT }, async () => {
      return [currentTraceparent(), traceOfLine()];
    });
    expect(told).toEqual([undefined, {}]);
    expect(beginSpan('work', { kind: 'client' }).traceparent).toBeUndefined();
    await tracing.stop();
  });
});

test('where tracing is on, what is done within a span is told of as part of its trace', async () => {
  // Nothing listens there: spans are lost, and the work is not.
  const tracing = await startTracing('test', { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' });
  const told = await inSpan('work', { kind: 'server', traceparent: TEXT }, async () => {
    await Promise.resolve();
    return currentTraceparent();
  });
  expect(told).toMatch(new RegExp(`^00-${TRACE}-[0-9a-f]{16}-01$`));
  expect(told).not.toBe(TEXT);
  const failing = inSpan('work', { kind: 'client' }, () => Promise.reject(new Error('it failed')));
  await expect(failing).rejects.toThrow('it failed');
  await tracing.stop();
});
