/** One trace over all processes, as a receiver of OTLP over HTTP hears of it. */
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { eventually } from '@holdfast/testkit/eventually.js';
import { LocalStack } from '@holdfast/testkit/local-stack.js';
import { afterAll, beforeAll, expect, test } from '@jest/globals';

const PARENT = '00f067aa0ba902b7';

type Span = { traceId: string; spanId: string; parentSpanId?: string; name: string };
type Heard = Span & { service: string };
type Attribute = { key: string; value: { stringValue?: string } };
type Export = {
  resourceSpans: { resource: { attributes: Attribute[] }; scopeSpans: { spans: Span[] }[] }[];
};

const heard: Heard[] = [];
const receiver = http.createServer((request, response) => void take(request, response));
let stack: LocalStack;

beforeAll(async () => {
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  // The cast: a TCP server that listens has such an address.
  const { port } = receiver.address() as AddressInfo;
  const OTEL_EXPORTER_OTLP_ENDPOINT = `http://127.0.0.1:${port}`;
  stack = await LocalStack.start({ env: { OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_BSP_SCHEDULE_DELAY: '200' } });
});
afterAll(async () => {
  await stack?.destroy();
  receiver.closeAllConnections();
  receiver.close();
});

/** The trace, once each of the services has told of it, and every span's parent is known but that of the caller's. */
const traceOf = (traceId: string) =>
  eventually(
    'a span of each process',
    async () => heard.filter((span) => span.traceId === traceId),
    (spans) =>
      new Set(spans.map(({ service }) => service)).size === 3 &&
      spans.every(
        ({ parentSpanId }) => parentSpanId === PARENT || spans.some((one) => one.spanId === parentSpanId),
      ),
  );

test.each<[string, string, (id: string) => [path: string, body: object]]>([
  ['a creation', 'a'.repeat(32), () => ['/volumes', { name: 'traced', size: 16 * 1024 * 1024 }]],
  ['an attachment', 'b'.repeat(32), (id) => [`/volumes/${id}/attach`, {}]],
])(
  '%s is one trace through api, worker and agent, each part below the one that led to it',
  async (_what, traceId, request) => {
    const { body: list } = await stack.call<{ items: { id: string }[] }>('GET', '/volumes');
    const [path, body] = request(list.items[0]?.id ?? '');
    expect((await post(path, body, traceId)).status).toBeLessThan(300);
    const spans = await traceOf(traceId);
    const parentOf = ({ parentSpanId }: Heard) => spans.find(({ spanId }) => spanId === parentSpanId);
    const asked = spans.filter(({ service }) => service === 'holdfast-api');
    expect(asked.map(({ parentSpanId }) => parentSpanId)).toEqual([PARENT]);
    const runs = spans.filter(({ name }) => name === 'reconcile volume');
    expect(runs.map(({ parentSpanId }) => parentSpanId)).toContain(asked[0]?.spanId);
    for (const taken of spans.filter(({ service }) => service === 'holdfast-agent')) {
      const caller = parentOf(taken);
      expect(caller).toMatchObject({ service: 'holdfast-worker' });
      expect(caller && parentOf(caller)?.name).toBe('reconcile volume');
    }
  },
);

test('a refusal and the audit log name the trace of their request', async () => {
  const traceId = 'c'.repeat(32);
  const { status, body } = await post('/volumes', { name: 'traced', size: 16 * 1024 * 1024 }, traceId);
  expect({ status, body }).toMatchObject({ status: 409, body: { traceId } });
  const entries = await fetch(`${stack.local.apiUrl}/audit?limit=50`, {
    headers: { authorization: `Bearer ${stack.local.token}` },
  });
  const { items } = (await entries.json()) as { items: { traceId: string }[] };
  expect(items.map((entry) => entry.traceId)).toEqual(
    expect.arrayContaining(['a'.repeat(32), 'b'.repeat(32)]),
  );
});

async function post(path: string, body: object, traceId: string) {
  const response = await fetch(`${stack.clusterUrl}${path}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${stack.local.token}`,
      'content-type': 'application/json',
      traceparent: `00-${traceId}-${PARENT}-01`,
    },
    body: JSON.stringify(body),
  });
  return { status: response.status, body: await response.json() };
}

async function take(request: http.IncomingMessage, response: http.ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  // The cast: the exporter keeps to OTLP's JSON.
  const { resourceSpans } = JSON.parse(Buffer.concat(chunks).toString('utf8')) as Export;
  for (const { resource, scopeSpans } of resourceSpans) {
    const service = resource.attributes.find(({ key }) => key === 'service.name')?.value.stringValue ?? '';
    heard.push(...scopeSpans.flatMap(({ spans }) => spans).map((span) => ({ ...span, service })));
  }
  response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
}
