/** An attach on a node that has just gone: it says what it waits for within seconds, and ends when the node counts as dead. */
import { eventually } from '@holdfast/testkit/eventually.js';
import { TestCluster } from '@holdfast/testkit/test-cluster.js';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';

/** A missed heartbeat shows after 2.5 s, and a look at a start that waits comes once a second; the rest is for a busy machine. */
const TOLD_MS_MAX = 6_000;
/** `agent-heartbeat-timeout`, ten seconds, with what follows from it. */
const ENDED_MS_MAX = 16_000;
/** Exit code of the CLI where the state of things says no. */
const CONFLICT = 6;

type Volume = { state: string; attention: { code: string; message: string; since: string } | null };
type Node = { lastHeartbeatAt: string };

let cluster: TestCluster;
beforeAll(async () => {
  cluster = await TestCluster.start();
  await cluster.cliJson('setting', 'set', 'agent-heartbeat-timeout', '10');
  // Their copies are elsewhere, or the copies on the silent node would be what is waited for.
  for (const name of ['stopped', 'killed', 'back'])
    await cluster.cliJson(
      'volume',
      'create',
      name,
      '--size',
      '16Mi',
      '--replicas',
      '2',
      '--topology',
      'zone=zone-a',
      'zone=zone-c',
    );
  const states = () => cluster.call<{ items: Volume[] }>('GET', '/volumes');
  await eventually('all are made', states, ({ body }) =>
    body.items.every(({ state }) => state === 'detached'),
  );
});
afterEach(() => signal('SIGCONT'));
afterAll(async () => cluster?.destroy());

const attach = (name: string) => cluster.cli('volume', 'attach', name, '--node', 'node-2');

test('a node that stands still: the reason is told while it counts as alive, and the command ends once it does not', async () => {
  await afterHeartbeat();
  signal('SIGSTOP');
  const beganMs = Date.now();
  const command = attach('stopped');
  const { attention } = await eventually(
    'the reason',
    () => volume('stopped'),
    (one) => one.attention !== null,
  );
  expect(Date.now() - beganMs).toBeLessThan(TOLD_MS_MAX);
  expect(attention).toMatchObject({
    code: 'NodeUnanswering',
    message: expect.stringMatching(/^node node-2 has not answered since 20/),
  });
  const { exitCode, stderr } = await command;
  expect(Date.now() - beganMs).toBeLessThan(ENDED_MS_MAX);
  expect(exitCode).toBe(CONFLICT);
  expect(stderr).toMatch(/^stopped waits \(\d+ s\): node node-2 has not answered since/m);
  expect(stderr).toMatch(/the volume is not attached: node node-2, which is to serve it, does not answer/);
});

test('one that goes on in time: the command goes on too, and prints the address', async () => {
  await eventually(
    'node-2 is ready',
    () => cluster.cli('node', 'get', 'node-2'),
    ({ stdout }) => /ready/.test(stdout),
  );
  await afterHeartbeat();
  signal('SIGSTOP');
  const command = attach('back');
  await eventually(
    'the reason',
    () => volume('back'),
    (one) => one.attention !== null,
  );
  signal('SIGCONT');
  const { exitCode, stdout } = await command;
  expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: expect.stringMatching(/^nbd:/) });
  expect(await volume('back')).toMatchObject({ state: 'attached', attention: null });
});

test('an agent that is killed: the command ends with the reason at once', async () => {
  await afterHeartbeat();
  cluster.killAgent('node-2');
  const beganMs = Date.now();
  const { exitCode, stderr } = await attach('killed');
  expect(Date.now() - beganMs).toBeLessThan(TOLD_MS_MAX);
  expect(exitCode).toBe(CONFLICT);
  expect(stderr).toMatch(/node-2.*(nothing listens|does not answer|not ready)/);
});

function signal(name: NodeJS.Signals): void {
  try {
    process.kill(-cluster.agent('node-2').pid, name);
  } catch {
    // It was killed, and is not there to go on.
  }
}

/** Just after a heartbeat, so that the node counts as alive for as long as it can. */
async function afterHeartbeat(): Promise<void> {
  const heardAt = async () =>
    (await cluster.call<Node>('GET', `/nodes/${cluster.agent('node-2').nodeId}`)).body.lastHeartbeatAt;
  const before = await heardAt();
  await eventually('the next heartbeat', heardAt, (at) => at !== before);
}

async function volume(name: string): Promise<Volume> {
  return cluster.cliJson<Volume>('volume', 'get', name);
}
