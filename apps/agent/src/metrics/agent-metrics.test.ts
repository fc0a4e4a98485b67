import { asId, type DiskId } from '@holdfast/core/model/ids.js';
import { aDiskReport, aHeartbeat } from '@holdfast/testkit/builders.js';
import { afterEach, expect, test } from '@jest/globals';
import Fastify, { type FastifyInstance } from 'fastify';
import { AgentMetrics } from './agent-metrics.js';

const TOKEN = 'a-token-of-the-operator';
let server: FastifyInstance;
afterEach(() => server?.close());

function serve(token?: string): AgentMetrics {
  const metrics = new AgentMetrics();
  server = Fastify();
  metrics.serve(server, token);
  return metrics;
}

test('tells of the last heartbeat', async () => {
  const metrics = serve();
  metrics.noteHeartbeat(aHeartbeat('node-1'));
  metrics.noteHeartbeat(aHeartbeat('node-1', { replicas: [] }));
  const { body, headers } = await server.inject('/metrics');
  expect(headers['content-type']).toBe('text/plain; version=0.0.4; charset=utf-8');
  expect(body).toContain('holdfast_agent_heartbeats_total 2\n');
  expect(body).toContain('holdfast_agent_replicas 0\n');
  expect(body).toContain('holdfast_process_cpu_seconds_total ');
});

test('tells how disks answer, of the slowest ones only', async () => {
  const metrics = serve();
  const heartbeat = aHeartbeat('node-1');
  const disk = aDiskReport(asId<DiskId>('disk'));
  const answers = { calls: 9, p50Ms: 1, p99Ms: 20, maxMs: 3_000, oldestMs: 0 };
  const disks = Array.from({ length: 70 }, (_, at) => ({
    ...disk,
    name: `disk-${at}`,
    answers: { ...answers, oldestMs: at === 69 ? 2_500 : 0 },
  }));
  metrics.noteHeartbeat({ ...heartbeat, disks });
  const { body } = await server.inject('/metrics');
  expect(body).toContain('holdfast_agent_disk_answer_seconds{disk="disk-69",quantile="0.99"} 0.02\n');
  expect(body).toContain('holdfast_agent_disk_answer_seconds{disk="disk-0",quantile="1"} 3\n');
  expect(body).toContain('holdfast_agent_disk_oldest_call_seconds{disk="disk-69"} 2.5\n');
  expect(body.match(/^holdfast_agent_disk_answer_seconds\{/gm)).toHaveLength(3 * 64);
  metrics.noteHeartbeat({ ...heartbeat, disks: [] });
  expect((await server.inject('/metrics')).body).not.toMatch(/^holdfast_agent_disk_answer_seconds\{/m);
});

test.each([
  { from: 'another machine', remoteAddress: '10.0.0.7', headers: {}, token: undefined, status: 403 },
  {
    from: 'a holder of the token',
    remoteAddress: '10.0.0.7',
    headers: { authorization: `Bearer ${TOKEN}` },
    token: TOKEN,
    status: 200,
  },
  { from: 'this machine', remoteAddress: '127.0.0.1', headers: {}, token: undefined, status: 200 },
  {
    from: 'a proxy on this machine',
    remoteAddress: '127.0.0.1',
    headers: { 'x-forwarded-for': '10.0.0.7' },
    token: undefined,
    status: 403,
  },
  {
    from: 'a proxy that names its caller as the standard says',
    remoteAddress: '127.0.0.1',
    headers: { forwarded: 'for=10.0.0.7' },
    token: undefined,
    status: 403,
  },
  {
    from: 'this machine, where a token is set',
    remoteAddress: '127.0.0.1',
    headers: {},
    token: TOKEN,
    status: 403,
  },
])('a request from $from is answered with $status', async ({ remoteAddress, headers, token, status }) => {
  serve(token);
  expect((await server.inject({ url: '/metrics', remoteAddress, headers })).statusCode).toBe(status);
});
