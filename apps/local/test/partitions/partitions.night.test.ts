/**
 * A search for the night, by seed: a whole stack whose agents have networks of their own, while links are cut, packets lost, processes
 * stopped and killed, and disks filled. `node tools/partition-run.mjs --seeds 1..5 --minutes 3` runs more of it.
 */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { PartitionCluster } from './cluster.js';
import { fillAllDisks } from './full-disks.js';
import { networkObstacle } from './network.js';
import { runPartitions } from './run.js';
import { measureTakeovers, type Takeover } from './takeovers.js';

const SEEDS = (process.env.HOLDFAST_PARTITION_SEEDS ?? '5').split(',').map(Number);
/** Minutes with faults. A stack is started before them, and a volume heals after them. */
const MINUTES = Number(process.env.HOLDFAST_PARTITION_MINUTES ?? 1);
const AROUND_MS = 480_000;
/**
 * Limit of a takeover. The promise is ten seconds, a quiet machine takes five to six, and this one runs other suites
 * too.
 */
const TAKEOVER_MS_MAX = 30_000;
/** Whether each fault is printed when it begins. */
const isTold = process.env.HOLDFAST_PARTITION_LOG === '1';

const obstacle = networkObstacle();
if (obstacle !== undefined && process.env.CI !== undefined)
  throw new Error(`the partitions can not be run: ${obstacle}`);
const name = obstacle === undefined ? 'partitions' : `partitions (left out: ${obstacle})`;

describe(name, () => {
  let cluster: PartitionCluster | undefined;

  beforeAll(async () => {
    if (obstacle === undefined) cluster = await PartitionCluster.start();
  });

  afterAll(() => cluster?.destroy());

  (obstacle === undefined ? test : test.skip)(
    'with all disks full a node that dies is noticed, reads go on, and room cures it without a restart',
    async () => {
      if (cluster === undefined) throw new Error('the cluster did not start');
      const result = await fillAllDisks(cluster);
      expect(result).toMatchObject({
        refused: expect.stringMatching(/full|space/i),
        attention: { code: 'DisksFull', message: expect.stringContaining('disk-1') },
        afterDeath: 'degraded',
        unreadable: 0,
        writeAfterwards: 'done',
        healed: 'healthy',
      });
      expect(result.attention?.cures.join()).not.toMatch(/salvage/);
    },
    AROUND_MS,
  );

  (obstacle === undefined ? test : test.skip).each(SEEDS)(
    'seed %d: nothing that was flushed is lost, every read fits, and the volume heals',
    async (seed) => {
      if (cluster === undefined) throw new Error('the cluster did not start');
      const lines: string[] = [];
      const beganMs = performance.now();
      const say = (line: string) => {
        lines.push(`${Math.round(performance.now() - beganMs)} ms: ${line}`);
        if (isTold) process.stderr.write(`${lines.at(-1)}\n`);
      };
      try {
        const { findings, figures } = await runPartitions(cluster, { seed, minutes: MINUTES, say });
        console.log(`seed ${seed}: ${JSON.stringify(figures)}`);
        expect(figures.writes).toBeGreaterThan(0);
        expect(findings).toEqual([]);
      } catch (error) {
        console.log(`seed ${seed}:\n${lines.join('\n')}\n${cluster.stack.logs()}`);
        throw error;
      }
    },
    AROUND_MS + MINUTES * 60_000,
  );

  (obstacle === undefined ? test : test.skip)(
    'a takeover by force waits for no node, whatever one does, and ends the reads of the engine before',
    async () => {
      if (cluster === undefined) throw new Error('the cluster did not start');
      const { stack } = cluster;
      const measured = await measureTakeovers(cluster).catch((error: unknown) => {
        console.log(stack.logs());
        throw error;
      });
      console.log(JSON.stringify(measured));
      const isBad = ({ tookMs, isReadStale }: Takeover) => isReadStale || tookMs > TAKEOVER_MS_MAX;
      expect(measured.filter(isBad)).toEqual([]);
    },
    AROUND_MS,
  );
});
