/**
 * An upgrade of docker-compose.yml from an earlier version, container by container and under load, as docs/OPERATIONS.md has it: old
 * and new processes run beside each other, nothing is lost, and the old version does not start on what the new one has taken over.
 */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { MIB } from '@holdfast/core/model/bytes.js';
import { eventually } from '@holdfast/testkit/eventually.js';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { ComposedStack, type Volume } from '../compose/composed-stack.js';
import { BUILD_MS_MAX, makeImages, IMAGE as OLD_IMAGE } from '../compose/deployment-images.js';
import { DockerDaemon, type Started } from '../compose/docker-daemon.js';
import { SteadyRequests } from '../compose/steady-requests.js';
import { SteadyWriter } from '../compose/steady-writer.js';
import { commandsTold } from '../compose/told-commands.js';
import { checkOutFromVersion, FROM_COMMIT, whyNoHistory } from './from-version.js';

/** The earlier version's Dockerfile is always built whole. */
const BUILD_OLD_MS_MAX = 1_500_000;
const UPGRADE_MAX_MS = 1_200_000;
const STEP_MAX_MS = 180_000;
const NEW_IMAGE = 'holdfast:upgraded';
const repositoryRoot = fileURLToPath(new URL('../../../../', import.meta.url));
const noHistory = whyNoHistory();
const { daemon, reason }: Started =
  noHistory === undefined ? await DockerDaemon.start() : { reason: noHistory };
if (reason !== undefined) console.warn(`The upgrade of docker-compose.yml is not tested: ${reason}`);

(reason === undefined ? describe : describe.skip)(
  `an upgrade of docker-compose.yml from ${FROM_COMMIT.slice(0, 8)}${reason === undefined ? '' : ` (left out: ${reason})`}`,
  () => {
    let stack: ComposedStack | undefined;
    let oldRoot: string;

    beforeAll(async () => {
      if (daemon === undefined) return;
      oldRoot = fs.mkdtempSync(path.join(os.tmpdir(), 'holdfast-upgraded-from-'));
      checkOutFromVersion(oldRoot);
      await makeImages(daemon, NEW_IMAGE, () => build(daemon, NEW_IMAGE, repositoryRoot));
      // The commit never changes, and so its image does not.
      const kept = `holdfast:${FROM_COMMIT.slice(0, 8)}`;
      if ((await daemon.run('docker', ['images', '--quiet', kept])) === '')
        await build(daemon, kept, oldRoot);
      // Under this name the compose file of that version expects its image.
      await daemon.run('docker', ['tag', kept, OLD_IMAGE]);
    }, BUILD_MS_MAX + BUILD_OLD_MS_MAX);
    afterEach(async () => {
      await stack?.destroy();
      stack = undefined;
    }, STEP_MAX_MS);
    afterAll(async () => {
      await daemon?.stop();
      fs.rmSync(oldRoot, { recursive: true, force: true });
    }, STEP_MAX_MS);

    test.each<{ order: string[] }>([
      { order: ['api-1', 'worker-1', 'api-2', 'worker-2', 'agent-1', 'agent-2', 'agent-3', 'console'] },
      { order: ['worker-2', 'worker-1', 'api-2', 'console', 'api-1', 'agent-3', 'agent-2', 'agent-1'] },
    ])(
      'in the order $order nothing is lost, and there is no way back by starting the old version',
      async ({ order }) => {
        if (daemon === undefined) return;
        stack = await startOld(daemon);
        const users = new SteadyRequests(stack);
        const volume = await attached(stack, 'data');
        const writer = new SteadyWriter(() => served(stack, volume.id));
        users.start();
        writer.start();

        stack.upgradeFiles();
        await prepareDatabase(stack);
        const firstAgent = order.find((service) => service.startsWith('agent'));
        for (const service of order) {
          if (service === firstAgent)
            await stack.typed(commandsTold('From nodes that share one network'), oldRoot);
          await replace(stack, service);
          // Workers, APIs and agents of both versions do something together that concerns all of them.
          const { id } = await attached(stack, `with-new-${service}`);
          await stack.healthy(volume.id);
          await stack.inCluster('POST', `/volumes/${id}/detach`, {});
          console.log(
            `${service} replaced: a request waited ${Math.max(users.reads.take(), users.writes.take())} ms at most, a write ${writer.waits.take()} ms`,
          );
        }
        await writer.stop();
        await users.stop();
        console.log(
          `${users.answered} requests answered, ${users.repeated} of them repeated; ${writer.writes} writes acknowledged`,
        );
        expect(writer.writes).toBeGreaterThan(100);
        expect(await writer.wrongChunks()).toEqual([]);
        for (const service of order) expect(await imageOf(stack, service)).toBe(NEW_IMAGE);

        const finished = await stack.typed(commandsTold('The end of an upgrade'), oldRoot);
        expect(finished).toContain('the upgrade is finished');
        await stack.compose(['up', '-d', '--no-deps', 'agent-3'], { HOLDFAST_IMAGE: OLD_IMAGE });
        await eventually(
          'an old agent is refused with the reason',
          () => stack?.compose(['logs', '--no-color', 'agent-3']),
          (log) => log?.includes('the agent of node node-3 is of an older Holdfast') === true,
        );

        const back = stack.compose(['run', '--rm', '--no-deps', 'prepare'], { HOLDFAST_IMAGE: OLD_IMAGE });
        await expect(back).rejects.toThrow(/which this Holdfast does not know: it is of a newer one/);
      },
      UPGRADE_MAX_MS,
    );

    async function startOld(daemon: DockerDaemon): Promise<ComposedStack> {
      const started = await ComposedStack.prepare(daemon, oldRoot);
      stack = started;
      // A busy machine may start an API more slowly than that version's compose file waits for it.
      await succeeds('all services are up', () => started.compose(['up', '-d']));
      await succeeds('the first account is made', () => started.signUp());
      await succeeds('its owner signs in', () => started.signIn());
      await nodesAreReady(started);
      return started;
    }
  },
);

async function build(daemon: DockerDaemon, tag: string, folder: string): Promise<void> {
  const file = path.join(folder, 'infra/docker/Dockerfile');
  const args = ['build', '--quiet', '-f', file, '-t', tag, folder];
  await daemon.run('docker', args, {}, BUILD_OLD_MS_MAX);
}

function nodesAreReady(stack: ComposedStack): Promise<unknown> {
  const ask = () => stack.readyNodes().catch(() => []);
  return eventually('three nodes are ready', ask, ({ length }) => length === 3);
}

/** Tries until it succeeds, and fails with the last error. */
function succeeds(what: string, act: () => Promise<unknown>): Promise<unknown> {
  const trial = () =>
    act().then(
      () => 'done',
      (error: unknown) => String(error),
    );
  return eventually(what, trial, (outcome) => outcome === 'done');
}

function imageOf(stack: ComposedStack, service: string): Promise<string> {
  return stack.inspect(service, '{{.Config.Image}}');
}

/** Makes a volume with three copies and attaches it. What gets no good answer is asked again. */
async function attached(stack: ComposedStack, name: string): Promise<Volume> {
  const insist = async <T>(what: string, ask: () => Promise<T>) =>
    eventually(
      what,
      () => ask().catch(() => undefined),
      (answer) => answer !== undefined,
    );
  const spec = { name, size: 64 * MIB, numberOfReplicas: 3 };
  const key = { 'idempotency-key': `make-${name}` };
  const made = await insist('it is made', () => stack.inCluster<Volume>('POST', '/volumes', spec, key));
  const id = made?.id ?? '';
  await insist('it is to be attached', () => stack.inCluster('POST', `/volumes/${id}/attach`, {}));
  const isServed = async () => (await stack.volume(id)).state === 'attached' || undefined;
  await insist('it is attached', isServed);
  await stack.healthy(id);
  return stack.volume(id);
}

/** Address of the attached volume, once more when its node has a new container. */
async function served(stack: ComposedStack | undefined, id: string): Promise<string> {
  if (stack === undefined) throw new Error('the stack was started');
  return stack.nbdUri(id);
}

/** Runs the new version's migrations while all processes are of the old one. */
async function prepareDatabase(stack: ComposedStack): Promise<void> {
  await stack.compose(['up', '-d', '--no-deps', 'prepare'], { HOLDFAST_IMAGE: NEW_IMAGE });
  const state = await eventually(
    'the database is prepared',
    () => stack.inspect('prepare', '{{.State.Status}} {{.State.ExitCode}} {{.Config.Image}}'),
    (text) => text.startsWith('exited'),
  );
  expect(state).toBe(`exited 0 ${NEW_IMAGE}`);
  expect(await stack.compose(['logs', '--no-color', 'prepare'])).toMatch(/[1-9] migrations applied/);
}

/** Puts one container of the new version in the place of the old one's. */
async function replace(stack: ComposedStack, service: string): Promise<void> {
  await stack.compose(['up', '-d', '--no-deps', service], { HOLDFAST_IMAGE: NEW_IMAGE });
  await eventually(
    `${service} is well`,
    () => stack.inspect(service, '{{.State.Health.Status}}'),
    (health) => health === 'healthy',
  );
  await nodesAreReady(stack);
}
