import { aHeartbeat } from '@holdfast/testkit/builders.js';
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
