/** docker-compose.yml, built and run: a user's story across containers, and what each lost part costs. */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { MIB } from '@holdfast/core/model/bytes.js';
import { eventually } from '@holdfast/testkit/eventually.js';
import { outputOf } from '@holdfast/testkit/nbd-tools.js';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { BrowserVisit } from './browser-visit.js';
import { ACCOUNT, ComposedStack, type Volume } from './composed-stack.js';
import { BUILD_MS_MAX, IMAGE, makeImages } from './deployment-images.js';
import { DockerDaemon } from './docker-daemon.js';
import { inTurn } from './in-turn.js';
import { testRefusedDaemons } from './refused-daemons.js';
import { SteadyRequests } from './steady-requests.js';
import { SteadyWriter } from './steady-writer.js';
import { commandsTold } from './told-commands.js';

const STORY_MAX_MS = 180_000;
/** What docs/deployment.md says of the image's size, rounded up. */
const IMAGE_BYTES_MAX = 400 * 1000 * 1000;
/**
 * Milliseconds that a request, or a write of a volume, waits for its good answer at most while all that it needs is there: repeats and
 * hangs are part of that.
 */
const WHOLE = { requestMs: 5_000, writeMs: 5_000 };
const { daemon, reason } = await DockerDaemon.start();
if (reason !== undefined) console.warn(`The deployment of docker-compose.yml is not tested: ${reason}`);
const story = inTurn();

(reason === undefined ? describe : describe.skip)(
  `the deployment of docker-compose.yml${reason === undefined ? '' : ` (left out: ${reason})`}`,
  () => {
    let stack: ComposedStack;
    let id: string;
    let visit: BrowserVisit | undefined;
    let users: SteadyRequests;
    let writer: SteadyWriter;
    /** None where the API does not say. */
    const ready = () => stack.readyNodes().catch((): string[] => []);
    /** Where an operator types commands. */
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'holdfast-operator-'));

    beforeAll(async () => {
      if (daemon === undefined) return;
      stack = await ComposedStack.prepare(daemon);
      await makeImages(daemon, IMAGE, () => stack.compose(['build', '--quiet'], {}, BUILD_MS_MAX));
      await stack.compose(['up', '-d']);
      visit = await BrowserVisit.begin();
    }, BUILD_MS_MAX);
    afterAll(async () => {
      await visit?.end();
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
      'the one-time link makes the first account in the console, all nodes are ready, and a volume holds what nbdcopy wrote',
      story('a volume is made', async () => {
        if (visit === undefined) await stack.signUp();
        else await visit.makeFirstAccount(await stack.firstLink(), ACCOUNT);
        await succeeds('an API lets the user sign in', () => stack.signIn());
        await eventually('three nodes are ready', ready, ({ length }) => length === 3);
        const made = { name: 'data', size: 256 * MIB, numberOfReplicas: 3 };
        id = (await stack.inCluster<Volume>('POST', '/volumes', made)).id;
        await stack.inCluster('POST', `/volumes/${id}/attach`, {});
        await stack.healthy(id);
        const image = `${stack.daemon.downloads}/image`;
        await outputOf('dd', 'if=/dev/urandom', `of=${image}`, 'bs=1M', 'count=256');
        await outputOf('nbdcopy', '--flush', image, await stack.nbdUri(id));
        await outputOf('nbdcopy', await stack.nbdUri(id), `${image}.back`);
        await outputOf('cmp', image, `${image}.back`);
        await visit?.seeHealthy('data');
        expect(visit?.errors ?? []).toEqual([]);
      }),
      STORY_MAX_MS,
    );

    // Two users of the API and one of a volume go on from here to the end of the losses. How long they wait is what README and
    // docs/OPERATIONS.md say of each.
    test(
      'users begin, who go on through all that follows',
      story('users begin', async () => {
        users = new SteadyRequests(stack);
        writer = new SteadyWriter(() => stack.nbdUri(id));
        users.start();
        writer.start();
        await eventually(
          'they get on',
          () => Math.min(writer.writes, users.answered),
          (count) => count > 10,
        );
        waited('nothing is lost yet', WHOLE);
      }),
      STORY_MAX_MS,
    );

    test.each([
      { service: 'api-1', limits: WHOLE },
      { service: 'worker-1', limits: WHOLE },
      { service: 'redis', limits: WHOLE },
      { service: 'postgres', limits: { ...WHOLE, requestMs: 30_000 } },
    ])(
      '$service crashes: a request waits for $limits.requestMs ms at most, and a write of a volume as ever',
      story('a part crashes', async ({ service, limits }) => {
        await stack.crash(service);
        await stack.wellAgain(service);
        waited(`${service} crashed`, limits);
        const { id: other } = await stack.inCluster<Volume>('POST', '/volumes', {
          name: `after-${service}`,
          size: 16 * MIB,
        });
        await eventually(
          'it is made',
          () => stack.volume(other),
          ({ state }) => state === 'detached',
        );
      }),
      STORY_MAX_MS,
    );

    test.each(['crashes', 'is cut off its network'] as const)(
      'a storage container %s under load: requests are answered as ever, and a write waits until its copy is given up',
      story('a storage container is lost', async (how) => {
        const { attachedNodeId } = await stack.volume(id);
        const { items } = await stack.inCluster<{ items: { id: string; name: string }[] }>('GET', '/nodes');
        const victim = items.find((node) => node.id !== attachedNodeId)?.name.replace('node', 'agent') ?? '';
        const failed = await stack.copiesFailed(id);
        if (how === 'crashes') await stack.crash(victim);
        else await stack.ownNetwork('disconnect', victim);
        await eventually(
          'a copy is missed',
          () => stack.copiesFailed(id),
          (count) => count > failed,
        );
        const before = writer.writes;
        await eventually(
          'writes go on without it',
          () => writer.writes - before,
          (count) => count > 10,
        );
        if (how !== 'crashes') {
          const others = ['node-1', 'node-2', 'node-3'].filter(
            (name) => name !== victim.replace('agent', 'node'),
          );
          await eventually('that node alone is not heard', ready, (names) => names.join() === others.join());
          await stack.ownNetwork('connect', victim);
        }
        await stack.healthy(id);
        waited(`${victim} ${how}`, { ...WHOLE, writeMs: 15_000 });
      }),
      STORY_MAX_MS,
    );

    test(
      'the container that serves the volume is lost for good: attached elsewhere, it goes on with what was written',
      story('the serving node is lost', async () => {
        const { attachedNodeId } = await stack.volume(id);
        const { items } = await stack.inCluster<{ items: { id: string; name: string }[] }>('GET', '/nodes');
        const victim = items.find((node) => node.id === attachedNodeId)?.name.replace('node', 'agent') ?? '';
        const other = items.find((node) => node.id !== attachedNodeId)?.id;
        await stack.kill(victim);
        await stack.inCluster('POST', `/volumes/${id}/detach`, { force: true });
        await stack.inCluster('POST', `/volumes/${id}/attach`, { nodeId: other });
        const before = writer.writes;
        await eventually(
          'writes go on there',
          () => writer.writes - before,
          (count) => count > 10,
        );
        expect((await stack.volume(id)).attachedNodeId).toBe(other);
        await stack.startAgain(victim);
        await stack.healthy(id);
        waited(`${victim}, which served it, was lost`, { ...WHOLE, writeMs: 60_000 });
      }),
      STORY_MAX_MS,
    );

    test(
      'a fourth node joins by a token, which is good for no fifth',
      story('a fourth node joins', async () => {
        const { token } = await stack.inCluster<{ token: string }>('POST', '/join-tokens', {});
        await stack.compose(['up', '-d', '--no-deps', 'agent-4'], { HOLDFAST_JOIN_TOKEN: token });
        await eventually('it is ready', ready, (names) => names.includes('node-4'));
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
        await eventually('it is told why', log, (text) => text.includes('the join token was used 1 times'));
        await stack.daemon.run('docker', ['rm', '-f', fifth]);
        expect(await stack.readyNodes()).not.toContain('node-5');
        waited('a fourth node joined', WHOLE);
      }),
      STORY_MAX_MS,
    );

    test(
      'nothing is lost: each acknowledged write is there, on each copy, and each request and job was done',
      story('all is looked at', async () => {
        await writer.stop();
        await users.stop();
        console.log(
          `${writer.writes} writes acknowledged, ${users.answered} requests answered, ${users.repeated} repeated`,
        );
        expect(writer.writes).toBeGreaterThan(200);
        expect(await writer.wrongChunks()).toEqual([]);
        // Copies that are equal all answer as the one that was read.
        await stack.inCluster('POST', `/volumes/${id}/detach`, {});
        await eventually(
          'it is detached',
          () => stack.volume(id),
          ({ state }) => state === 'detached',
        );
        await stack.inCluster('POST', `/volumes/${id}/verify`, {});
        const { verification } = await eventually(
          'its copies are compared',
          () => stack.volume(id),
          (volume) => volume.verification?.state === 'done',
        );
        expect(verification).toMatchObject({ equal: true });
        await stack.inCluster('POST', `/volumes/${id}/attach`, {});
        await stack.healthy(id);
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

    test(
      'without a backup volumes are recovered by the commands of docs/OPERATIONS.md',
      story('volumes are recovered', async () => {
        await stack.typed(commandsTold('Recovery of a deployment'), folder);
        await succeeds('the first account is made anew', async () => {
          await stack.signUp();
          await stack.signIn();
        });
        const alias = commandsTold('Where commands are typed').filter((line) => line.startsWith('alias '));
        const plan = async () =>
          JSON.parse(await stack.typed([...alias, 'holdfast recover -o json'], folder)) as {
            items: { name: string; fromClusterId: string; copies: unknown[] }[];
          };
        const found = await eventually('all copies have said what they store', plan, ({ items }) =>
          items.some(({ name, copies }) => name === 'data' && copies.length === 3),
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
      await eventually(what, isDone, (done) => done);
    }

    /** Tells how long users have waited at most since this was asked last, and holds that to limits. */
    function waited(what: string, { requestMs, writeMs }: typeof WHOLE): void {
      const [read, change, write] = [users.reads.take(), users.writes.take(), writer.waits.take()];
      console.log(
        `${what}: a request that reads waited ${read} ms, one that changes ${change} ms, a write ${write} ms`,
      );
      expect(Math.max(read, change)).toBeLessThan(requestMs);
      expect(write).toBeLessThan(writeMs);
    }
  },
);

// After the other one has ended.
(reason === undefined ? describe : describe.skip)(
  'no Docker daemon is started on a machine',
  testRefusedDaemons,
);
