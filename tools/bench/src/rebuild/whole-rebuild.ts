// One more copy of a volume as a user sees it: from the request to the API until the volume is healthy with it. The scheduler, the
// queue, admission, the worker's calls and the reports of the agents are part of the time.
import crypto from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { secondsToCopy } from '@holdfast/agent/bench/plain-copy.js';
import { MIB } from '@holdfast/core/model/bytes.js';
import { LocalStack } from '@holdfast/testkit/local-stack.js';
import { connectNbd } from '@holdfast/testkit/nbd-workload.js';
import { report } from '../report.js';

const LOOK_MS = 20;
const TIMEOUT_MS = 120_000;

type Volume = {
  readonly id: string;
  readonly numberOfReplicas: number;
  readonly robustness: string;
  readonly endpoint: { readonly nbdUri: string } | null;
  readonly replicas: readonly { readonly mode: string | null }[];
};

/** @param sizeBytes of the volume, of which every byte is written */
export async function measureWholeRebuild(sizeBytes: number): Promise<void> {
  const stack = await LocalStack.start();
  try {
    const baseline = secondsToCopy(stack.home, sizeBytes);
    const volume = await filledVolume(stack, sizeBytes);
    const startedMs = performance.now();
    await call(stack, 'PATCH', `/volumes/${volume.id}`, { numberOfReplicas: 3 });
    await until(stack, volume.id, isWhole);
    const value = (performance.now() - startedMs) / 1000;
    report({
      bench: 'rebuild',
      case: `one more copy of ${sizeBytes / MIB} MiB, from the request to a healthy volume`,
      metric: 'time',
      value,
      unit: 's',
      baseline,
      better: 'lower',
    });
  } finally {
    await stack.destroy();
  }
}

async function filledVolume(stack: LocalStack, sizeBytes: number): Promise<Volume> {
  const spec = { name: 'rebuilt', size: sizeBytes, numberOfReplicas: 2 };
  const { id } = await call(stack, 'POST', '/volumes', spec);
  await until(stack, id, ({ robustness }) => robustness !== 'unknown');
  await call(stack, 'POST', `/volumes/${id}/attach`, { nodeId: stack.agent('node-1').nodeId });
  const { endpoint } = await until(stack, id, (volume) => volume.endpoint !== null);
  const client = await connectNbd(endpoint?.nbdUri ?? '');
  for (let at = 0; at < sizeBytes; at += MIB)
    await client.write(at, [crypto.randomBytes(MIB)], MIB, { fua: false });
  await client.flush();
  client.close();
  return until(stack, id, ({ robustness }) => robustness === 'healthy');
}

function isWhole({ robustness, numberOfReplicas, replicas }: Volume): boolean {
  return robustness === 'healthy' && replicas.filter(({ mode }) => mode === 'RW').length === numberOfReplicas;
}

async function until(stack: LocalStack, id: string, isThere: (volume: Volume) => boolean): Promise<Volume> {
  const deadlineMs = performance.now() + TIMEOUT_MS;
  for (;;) {
    const volume = await call(stack, 'GET', `/volumes/${id}`);
    if (isThere(volume)) return volume;
    if (performance.now() > deadlineMs) throw new Error(`the volume is still ${JSON.stringify(volume)}`);
    await sleep(LOOK_MS);
  }
}

async function call(stack: LocalStack, method: string, route: string, body?: object): Promise<Volume> {
  const answer = await stack.call<Volume>(method, route, body);
  if (answer.status >= 300) throw new Error(`${method} ${route}: ${JSON.stringify(answer.body)}`);
  return answer.body;
}
