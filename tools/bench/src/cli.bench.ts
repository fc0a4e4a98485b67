// Time from starting the CLI until it has printed a list of 50 volumes, against an API that answers at once. The baseline is what
// `node` itself needs to run an empty program.
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { Worker } from 'node:worker_threads';
import { repositoryRoot } from '@holdfast/testkit/local-stack.js';
import { percentile, report } from './report.js';
import type { RunOptions } from './run-options.js';

/** What a command may take beside Node's own start. */
const MORE_THAN_NODE_MS_MAX = 150;
const CLUSTER = '01a1fd5b-0000-7000-8000-000000000001';

/** In a thread of its own: this one waits for the programs that it starts. */
const SERVER = `
  const { parentPort } = require('node:worker_threads');
  const volume = (n) => ({ id: String(n), clusterId: '${CLUSTER}', name: 'volume-' + n, robustness: 'healthy', replicas: [],
    numberOfReplicas: 3, state: 'detached', attachedNodeId: null, size: 1073741824, writtenBytes: 0,
    createdAt: '2026-01-01T00:00:00Z', endpoint: null });
  const body = JSON.stringify({ items: Array.from({ length: 50 }, (_, n) => volume(n)), nextCursor: null });
  const server = require('node:http').createServer((request, response) => {
    response.setHeader('content-type', 'application/json');
    response.end(request.url.includes('/volumes') ? body : '{"items":[],"nextCursor":null}');
  });
  server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port));`;

export async function run({ quick }: RunOptions): Promise<void> {
  const server = new Worker(SERVER, { eval: true });
  const [port]: number[] = await once(server, 'message');
  const env = {
    PATH: process.env.PATH,
    HOLDFAST_ENDPOINT: `http://127.0.0.1:${port}/api/v1`,
    HOLDFAST_TOKEN: 'hf_bench',
    HOLDFAST_CLUSTER: CLUSTER,
  };
  const holdfast = path.join(repositoryRoot, 'apps', 'cli', 'bin', 'holdfast.mjs');
  const runs = quick ? 5 : 20;
  const nodeAlone = percentile(measure(runs, ['--eval', '0'], env), 0.5);
  for (const [name, args] of [
    ['volume list', ['volume', 'list']],
    ['help', ['--help']],
    ['completion', ['completion', 'words', '--', 'volume', 'cr']],
  ] as const) {
    const times = measure(runs, [holdfast, ...args], env);
    const row = { bench: 'cli', case: name, unit: 'ms', better: 'lower' } as const;
    const half = percentile(times, 0.5);
    const target = nodeAlone + MORE_THAN_NODE_MS_MAX;
    report({ ...row, metric: 'start p50', value: half, baseline: nodeAlone, target });
    report({ ...row, metric: 'start p90', value: percentile(times, 0.9) });
  }
  await server.terminate();
}

function measure(runs: number, args: readonly string[], env: NodeJS.ProcessEnv): number[] {
  const times = Array.from({ length: runs }, () => {
    const startedAt = performance.now();
    const { status, stderr } = spawnSync(process.execPath, args, { env, encoding: 'utf8' });
    if (status !== 0) throw new Error(`it ended with ${status}: ${stderr}`);
    return performance.now() - startedAt;
  });
  return times.sort((a, b) => a - b);
}
