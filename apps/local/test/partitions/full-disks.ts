/** Full disks, all of a volume's at once: what must still work, and that free space alone cures it. */
import { eventually } from '@holdfast/testkit/eventually.js';
import { connectNbd } from '@holdfast/testkit/nbd-workload.js';
import { AGENTS, type PartitionCluster } from './cluster.js';

const BLOCK_BYTES = 4096;
/** Most blocks that are written: more than the room that a copy keeps for its own metadata, so that some do not fit. */
const BLOCKS_MAX = 16_384;

type Volume = {
  state: string;
  robustness: string;
  endpoint: { nbdUri: string } | null;
  attention: { code: string; message: string; cures: string[] } | null;
};

export type FullDisksResult = {
  /** Error of the first write that had no room. */
  refused: string;
  attention: Volume['attention'];
  /** Robustness of the volume after a node died while all disks were full. */
  afterDeath: string;
  /** Blocks that were written and flushed before, and did not read back. */
  unreadable: number;
  /** Result of a write once there was room. */
  writeAfterwards: string;
  healed: string;
};

const all = Array.from({ length: AGENTS }, (_, agent) => agent);

export async function fillAllDisks(cluster: PartitionCluster): Promise<FullDisksResult> {
  const { stack } = cluster;
  const { id } = await stack.cliJson<{ id: string }>(
    'volume',
    'create',
    'full-disks',
    '--size',
    '128Mi',
    '--replicas',
    String(AGENTS),
  );
  const volume = async () => (await stack.call<Volume>('GET', `/volumes/${id}`)).body;
  await stack.call('POST', `/volumes/${id}/attach`, { nodeId: await cluster.nodeId(0) });
  const attached = await eventually('it is attached', volume, ({ state }) => state === 'attached');
  const before = Array.from({ length: 64 }, (_, block) => block);
  const first = await connectNbd(attached.endpoint?.nbdUri ?? '');
  for (const block of before)
    await first.write(block * BLOCK_BYTES, [contentOf(block)], BLOCK_BYTES, { fua: false });
  await first.flush();

  for (const agent of all) cluster.fillDisk(agent);
  const refused = await writeUntilRefused(first);
  first.close();
  const told = await eventually(
    'it says that the disks are full',
    volume,
    ({ attention }) => attention !== null,
  );
  cluster.signal(AGENTS - 1, 'SIGKILL');
  const degraded = await eventually(
    'the death of a node is recorded',
    volume,
    ({ robustness }) => robustness !== 'healthy',
  );
  const unreadable = await countUnreadable((await volume()).endpoint?.nbdUri ?? '', before);

  for (const agent of all) cluster.freeDisk(agent);
  const again = await eventually(
    'it is served',
    volume,
    ({ state, endpoint }) => state === 'attached' && endpoint !== null,
  );
  const writeAfterwards = await eventually(
    'a write is taken',
    () => tryWrite(again.endpoint?.nbdUri ?? ''),
    (outcome) => outcome === 'done',
  ).catch(String);
  cluster.startAgent(AGENTS - 1);
  const healed = await eventually('it is healthy', volume, ({ robustness }) => robustness === 'healthy');
  await stack.call('POST', `/volumes/${id}/detach`, {});
  await eventually('it is detached', volume, ({ state }) => state === 'detached');
  await cluster.deleteVolume('full-disks');
  return {
    refused,
    attention: told.attention,
    afterDeath: degraded.robustness,
    unreadable,
    writeAfterwards,
    healed: healed.robustness,
  };
}

type Client = Awaited<ReturnType<typeof connectNbd>>;

async function writeUntilRefused(client: Client): Promise<string> {
  for (let block = 64; block < BLOCKS_MAX; block += 1) {
    try {
      await client.write(block * BLOCK_BYTES, [contentOf(block)], BLOCK_BYTES, { fua: false });
    } catch (error) {
      return String(error);
    }
  }
  return 'never';
}

async function countUnreadable(nbdUri: string, blocks: readonly number[]): Promise<number> {
  const client = await connectNbd(nbdUri).catch(() => undefined);
  if (client === undefined) return blocks.length;
  let unreadable = 0;
  for (const block of blocks) {
    const bytes = await client.read(block * BLOCK_BYTES, BLOCK_BYTES).then(Buffer.concat, () => undefined);
    if (bytes?.equals(contentOf(block)) !== true) unreadable += 1;
  }
  client.close();
  return unreadable;
}

async function tryWrite(nbdUri: string): Promise<string> {
  try {
    const client = await connectNbd(nbdUri, 3_000);
    const block = BLOCKS_MAX + 1;
    await client.write(block * BLOCK_BYTES, [contentOf(block)], BLOCK_BYTES, { fua: true });
    client.close();
    return 'done';
  } catch (error) {
    return String(error);
  }
}

function contentOf(block: number): Buffer {
  return Buffer.alloc(BLOCK_BYTES, (block % 255) + 1);
}
