/** docker-compose.yml, built and run: a user's story across containers, and what each lost part costs. */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { MIB } from '@holdfast/core/model/bytes.js';
import { eventually } from '@holdfast/testkit/eventually.js';
import { outputOf } from '@holdfast/testkit/nbd-tools.js';
import { connectNbd, NbdWorkload } from '@holdfast/testkit/nbd-workload.js';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ComposedStack, type Volume } from './composed-stack.js';
import { BUILD_MS_MAX, IMAGE, makeImages } from './deployment-images.js';
import { DockerDaemon } from './docker-daemon.js';
import { inTurn } from './in-turn.js';
import { testRefusedDaemons } from './refused-daemons.js';
import { commandsTold } from './told-commands.js';

const STORY_MAX_MS = 180_000;
/** What README says of the image's size, rounded up. */
const IMAGE_BYTES_MAX = 400 * 1000 * 1000;
const { daemon, reason } = await DockerDaemon.start();
if (reason !== undefined) console.warn(`The deployment of docker-compose.yml is not tested: ${reason}`);
const story = inTurn();
const IN_CI = process.env.CI === 'true';

(reason === undefined ? describe : describe.skip)(
  `the deployment of docker-compose.yml${reason === undefined ? '' : ` (left out: ${reason})`}`,
  () => {
    let stack: ComposedStack;
    let id: string;
    /** Where an operator types commands. */
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'holdfast-operator-'));

    beforeAll(async () => {
      if (daemon === undefined) return;
      stack = await ComposedStack.prepare(daemon);
      await makeImages(daemon, IMAGE, () => stack.compose(['build', '--quiet'], {}, BUILD_MS_MAX));
      await stack.compose(['up', '-d']);
    }, BUILD_MS_MAX);
    afterAll(async () => {
      await stack?.destroy();
      await daemon?.stop();
      fs.rmSync(folder, { recursive: true });
    }, STORY_MAX_MS);

    test('a start without its secrets is refused by the name of what is missing', async () => {
      const config = stack.daemon.run('docker-compose', ['-p', 'no-secrets', 'config'], {
        HOLDFAST_POSTGRES_PASSWORD: '',
      });
      await expect(config).rejects.toThrow(/set a password/);
    });

    test('the image is small, and has an ordinary user, no compiler, no npm and no sources', async () => {
      const size = await stack.daemon.run('docker', ['image', 'inspect', '--format', '{{.Size}}', IMAGE]);
      console.log(`the image takes ${Math.round(Number(size) / 1e6)} MB`);
      expect(Number(size)).toBeLessThan(IMAGE_BYTES_MAX);
      const run = (...command: string[]) => stack.daemon.run('docker', ['run', '--rm', IMAGE, ...command]);
      expect((await run('id', '-un')).trim()).toBe('holdfast');
      const left = await run(
        'sh',
        '-c',
        "which npm gcc make; find /opt/holdfast/apps /opt/holdfast/packages -path '*/src/*.ts' -o -name '*.test.*' | head; true",
      );
      expect(left).toBe('');
    });

    test(
      'the one-time link makes the first account, all nodes are ready, and a volume holds what nbdcopy wrote',
      story('a volume is made', async () => {
        await stack.signUp();
        await eventually(
          'three nodes are ready',
          () => stack.readyNodes(),
          ({ length }) => length === 3,
          STORY_MAX_MS,
        );
        const made = { name: 'data', size: 256 * MIB, numberOfReplicas: 3 };
        id = (await stack.inCluster<Volume>('POST', '/volumes', made)).id;
        await stack.inCluster('POST', `/volumes/${id}/attach`, {});
        await stack.healthy(id);
        const image = `${stack.daemon.downloads}/image`;
        await outputOf('dd', 'if=/dev/urandom', `of=${image}`, 'bs=1M', 'count=256');
        await outputOf('nbdcopy', '--flush', image, await stack.nbdUri(id));
        await outputOf('nbdcopy', await stack.nbdUri(id), `${image}.back`);
        await outputOf('cmp', image, `${image}.back`);
      }),
      STORY_MAX_MS,
    );

    // A request may fail for as long as its part is away: the limits are what docs/OPERATIONS.md promises.
    test.each([
      { service: 'api-1', refusedMsMax: 5_000 },
      { service: 'worker-1', refusedMsMax: 1_000 },
      { service: 'redis', refusedMsMax: 1_000 },
      { service: 'postgres', refusedMsMax: 30_000 },
    ])(
      '$service crashes: requests fail for $refusedMsMax ms at most, and volumes go on being made',
      story('a part crashes', async ({ service, refusedMsMax }) => {
        const refusals = watchRefusals();
        await stack.crash(service);
        await stack.wellAgain(service);
        const longestMs = await refusals.stop();
        console.log(`${service} crashed: requests failed for ${longestMs} ms`);
        expect(longestMs).toBeLessThan(refusedMsMax);
        const { id: other } = await stack.inCluster<Volume>('POST', '/volumes', {
          name: `after-${service}`,
          size: 16 * MIB,
        });
        await eventually(
          'it is made',
          () => stack.volume(other),
          ({ state }) => state === 'detached',
          60_000,
        );
      }),
      STORY_MAX_MS,
    );

    test.each(['crashes', 'is cut off its network'] as const)(
      'a storage container %s under load, and nothing is lost',
      story('a storage container is lost', async (how) => {
        const { attachedNodeId } = await stack.volume(id);
        const { items } = await stack.inCluster<{ items: { id: string; name: string }[] }>('GET', '/nodes');
        const victim = items.find((node) => node.id !== attachedNodeId)?.name.replace('node', 'agent') ?? '';
        const client = await connectNbd(await stack.nbdUri(id));
        const workload = new NbdWorkload(client, 512);
        workload.start(4);
        await workload.flush();
        if (how === 'crashes') await stack.crash(victim);
        else await stack.storageNetwork('disconnect', victim);
        await eventually(
          'a copy is missed',
          () => stack.volume(id),
          ({ robustness }) => robustness !== 'healthy',
          60_000,
        );
        await workload.flush();
        if (how !== 'crashes') await stack.storageNetwork('connect', victim);
        await stack.healthy(id, 150_000);
        await workload.stop();
        expect(workload.errors).toEqual([]);
        expect(await workload.wrongChunks(client)).toEqual([]);
        await client.close();
      }),
      STORY_MAX_MS,
    );

    test(
      'a fourth node joins by a token, which is good for no fifth',
      story('a fourth node joins', async () => {
        const { token } = await stack.inCluster<{ token: string }>('POST', '/join-tokens', {});
        await stack.compose(['up', '-d', '--no-deps', 'agent-4'], { HOLDFAST_JOIN_TOKEN: token });
        await eventually(
          'it is ready',
          () => stack.readyNodes(),
          (names) => names.includes('node-4'),
          90_000,
        );
        const again = [
          'run',
          '-d',
          '--no-deps',
          '-e',
          'HOLDFAST_NODE_NAME=node-5',
          '-e',
          'HOLDFAST_STATE_DIR=/tmp/state',
          'agent-4',
        ];
        const fifth = (await stack.compose(again, { HOLDFAST_JOIN_TOKEN: token })).trim();
        const log = () => stack.daemon.run('docker', ['logs', fifth]);
        await eventually(
          'it is told why',
          log,
          (text) => text.includes('the join token was used 1 times'),
          60_000,
        );
        await stack.daemon.run('docker', ['rm', '-f', fifth]);
        expect(await stack.readyNodes()).not.toContain('node-5');
      }),
      STORY_MAX_MS,
    );

    test(
      'the command line of the image, and a backup that is made and read while all goes on, as docs/OPERATIONS.md has them',
      story('a backup is made', async () => {
        const [, ...alias] = commandsTold('Where commands are typed');
        expect(await stack.typed(alias, folder)).toContain('node-1');
        const told = await stack.typed(commandsTold('Backups of a deployment'), folder);
        expect(told.match(/^schema .*$/gm)).toHaveLength(2);
        const [file = ''] = fs.readdirSync(path.join(folder, 'backups'));
        expect(fs.statSync(path.join(folder, 'backups', file)).mode & 0o077).toBe(0);
        await expect(stack.typed(commandsTold('Backups of a deployment').slice(1), folder)).rejects.toThrow(
          /is there already; a backup replaces no file/,
        );
      }),
      STORY_MAX_MS,
    );

    test(
      'the backup is restored into a new database by the commands of docs/OPERATIONS.md, and volumes are served from the newest bytes',
      story('a backup is restored', async () => {
        await stack.inCluster('POST', '/volumes', { name: 'since-the-backup', size: 16 * MIB });
        const image = `${stack.daemon.downloads}/image`;
        await outputOf('dd', 'if=/dev/urandom', `of=${image}`, 'bs=1M', 'count=16');
        await outputOf('nbdcopy', '--flush', image, await stack.nbdUri(id));
        await stack.typed(commandsTold('Restore of a deployment'), folder);
        await succeeds('it lets users sign in', () => stack.signIn());
        const names = (await stack.inCluster<{ items: { name: string }[] }>('GET', '/volumes')).items;
        expect(names.map(({ name }) => name)).toContain('data');
        expect(names.map(({ name }) => name)).not.toContain('since-the-backup');
        await stack.healthy(id);
        await outputOf('nbdcopy', await stack.nbdUri(id), `${image}.back`);
        await outputOf('cmp', '--bytes', String(16 * MIB), image, `${image}.back`);
      }),
      STORY_MAX_MS,
    );

    (IN_CI ? test.skip : test)(
      `without a backup volumes are recovered by the commands of docs/OPERATIONS.md${IN_CI ? ' (left out in CI for its half minute)' : ''}`,
      story('volumes are recovered', async () => {
        await stack.typed(commandsTold('Recovery of a deployment'), folder);
        await succeeds('the first account is made anew', () => stack.signUp());
        const alias = commandsTold('Where commands are typed').filter((line) => line.startsWith('alias '));
        const plan = async () =>
          JSON.parse(await stack.typed([...alias, 'holdfast recover -o json'], folder)) as {
            items: { name: string; fromClusterId: string; copies: unknown[] }[];
          };
        const found = await eventually(
          'all copies have said what they store',
          plan,
          ({ items }) => items.some(({ name, copies }) => name === 'data' && copies.length === 3),
          90_000,
        );
        const cluster = found.items.find(({ name }) => name === 'data')?.fromClusterId ?? '';
        await stack.typed(
          [...alias, `holdfast recover --from-cluster ${cluster} data`, 'holdfast volume attach data'],
          folder,
        );
        await stack.healthy(id);
        const image = `${stack.daemon.downloads}/image`;
        await outputOf('nbdcopy', await stack.nbdUri(id), `${image}.back`);
        await outputOf('cmp', '--bytes', String(16 * MIB), image, `${image}.back`);
      }),
      2 * STORY_MAX_MS,
    );

    /** Tries until it does. */
    async function succeeds(what: string, attempt: () => Promise<void>): Promise<void> {
      const isDone = () =>
        attempt().then(
          () => true,
          () => false,
        );
      await eventually(what, isDone, (done) => done, STORY_MAX_MS);
    }

    /** Asks the APIs' one address five times a second, and counts the longest time without a good answer. */
    function watchRefusals(): { stop(): Promise<number> } {
      let isStopped = false;
      let longestMs = 0;
      const watching = (async () => {
        let failingSinceMs: number | undefined;
        while (!isStopped || failingSinceMs !== undefined) {
          const startedMs = performance.now();
          const isGood = await stack.inCluster('GET', '/volumes').then(
            () => true,
            () => false,
          );
          if (isGood) failingSinceMs = undefined;
          else failingSinceMs ??= startedMs;
          if (failingSinceMs !== undefined)
            longestMs = Math.max(longestMs, performance.now() - failingSinceMs);
          await sleep(200);
        }
      })();
      return {
        stop: async () => {
          isStopped = true;
          await watching;
          return Math.round(longestMs);
        },
      };
    }
  },
);

// After the other one has ended.
(reason === undefined ? describe : describe.skip)(
  'no Docker daemon is started on a machine',
  testRefusedDaemons,
);
