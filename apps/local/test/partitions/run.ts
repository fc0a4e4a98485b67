/** One run: a volume under load, faults by seed for some minutes, and then the proof. */
import { eventually } from '@holdfast/testkit/eventually.js';
import { SeededRandom } from '@holdfast/testkit/seeded-random.js';
import { AGENTS, type PartitionCluster } from './cluster.js';
import { sowFaults } from './faults.js';
import { checkHistory } from './history.js';
import { PartitionWorkload } from './workload.js';

export type RunResult = {
  /** Broken promises, a sentence each; empty for a good run. */
  findings: string[];
  figures: Record<string, number>;
};

export async function runPartitions(
  cluster: PartitionCluster,
  { seed, minutes, say }: { seed: number; minutes: number; say: (line: string) => void },
): Promise<RunResult> {
  const random = new SeededRandom(seed);
  const name = `partitions-${seed}`;
  const { id } = await cluster.stack.cliJson<{ id: string }>(
    'volume',
    'create',
    name,
    '--size',
    '64Mi',
    '--replicas',
    String(AGENTS),
  );
  const first = await cluster.nodeId(random.below(AGENTS));
  await cluster.stack.call('POST', `/volumes/${id}/attach`, { nodeId: first });
  await eventually(
    'it is attached',
    () => cluster.stack.call<{ state: string }>('GET', `/volumes/${id}`),
    ({ body }) => body.state === 'attached',
  );
  const suspects = new Set<number>();
  const chooseNode = () => {
    const all = Array.from({ length: AGENTS }, (_, agent) => agent);
    const well = all.filter((agent) => !suspects.has(agent));
    return random.pick(well.length > 0 ? well : all);
  };
  // A generator of its own, or the load would change which faults there are.
  const workload = new PartitionWorkload(cluster, id, new SeededRandom(seed + 1_000_000), chooseNode);
  workload.start();
  const untilMs = performance.now() + minutes * 60_000;
  const holder = async () => cluster.agentOf((await workload.volume())?.attachedNodeId);
  await sowFaults(cluster, random, { untilMs, suspects, holder, say });
  say('all is healed');
  await cluster.healAll();
  await eventually(
    'it is attached',
    () => workload.volume(),
    (volume) => volume?.state === 'attached',
  );
  await workload.stop();
  const healthy = eventually(
    'every copy is a full one again',
    () => workload.volume(),
    (volume) => volume?.robustness === 'healthy' && volume.state === 'attached',
  );
  await healthy;
  await workload.readAll();
  await cluster.stack.cliJson('volume', 'detach', name);
  const verified = await cluster.stack.cliJson<{ equal: boolean }>('volume', 'verify', name);
  const findings = [...checkHistory(workload.history), ...workload.torn];
  if (!verified.equal) findings.push('the copies differ');
  await cluster.deleteVolume(name);
  return { findings, figures: figuresOf(workload) };
}

function figuresOf({
  writes,
  reads,
  flushes,
  takeoversMs,
  history,
}: PartitionWorkload): Record<string, number> {
  const sorted = takeoversMs.map(Math.round).sort((a, b) => a - b);
  return {
    writes,
    reads,
    flushes,
    attachments: history.filter(({ kind }) => kind === 'attached').length,
    takeovers: sorted.length,
    takeoverMsMedian: sorted[Math.floor(sorted.length / 2)] ?? 0,
    takeoverMsMax: sorted.at(-1) ?? 0,
  };
}
