/**
 * A machine that says nothing: all processes of a node stand still, so that its ports take connections and answer none. It is
 * shown with what follows from it long before it counts as lost, and is forgotten as soon as it goes on.
 */
import { eventually } from '@holdfast/testkit/eventually.js';
import { TestCluster } from '@holdfast/testkit/test-cluster.js';
import { afterAll, beforeAll, expect, test } from '@jest/globals';

/** `agent-heartbeat-timeout` in seconds: nothing in this story takes as long. */
const TIMEOUT_SECONDS = 300;

type Risk = { causes: { kind: string; name: string; effects: Record<string, number> }[] };
type Node = { conditions: { type: string; status: string }[] };

let cluster: TestCluster;
beforeAll(async () => {
  cluster = await TestCluster.start();
  await cluster.cliJson('setting', 'set', 'agent-heartbeat-timeout', String(TIMEOUT_SECONDS));
  for (const name of ['served', 'held'])
    await cluster.cliJson('volume', 'create', name, '--size', '16Mi', '--replicas', '3');
  await cluster.cliJson('volume', 'attach', 'served', '--node', 'node-2');
  const volumes = () => cluster.call<{ items: { robustness: string }[] }>('GET', '/volumes');
  await eventually('both are healthy', volumes, ({ body }) =>
    body.items.every(({ robustness }) => robustness === 'healthy'),
  );
});

afterAll(async () => {
  signal('SIGCONT');
  await cluster?.destroy();
});

const signal = (name: NodeJS.Signals) => void process.kill(-cluster.agent('node-2').pid, name);

const causes = async () =>
  (await cluster.call<Risk>('GET', '/risk')).body.causes.filter(({ kind }) => kind === 'node');

async function conditions(): Promise<string[]> {
  const { body } = await cluster.call<Node>('GET', `/nodes/${cluster.agent('node-2').nodeId}`);
  return body.conditions.map(({ type, status }) => `${type} ${status}`);
}

test('it is one cause with its effects counted, while it is still ready', async () => {
  signal('SIGSTOP');
  const [cause] = await eventually('it is shown', causes, ({ length }) => length > 0);
  expect(cause).toMatchObject({ name: 'node-2', effects: { notServed: 1, degraded: 1, unknown: 0 } });
  expect(await conditions()).toEqual(['Answering False', 'Ready True', 'Schedulable True']);
  const { stdout: nodes } = await cluster.cli('node', 'list');
  expect(nodes).toMatch(/node-2 +✕ no answer/);
  const { stdout: risk } = await cluster.cli('cluster', 'risk');
  expect(risk).toMatch(/node-2 does not answer for \d+s: 1 not served, 1 degraded/);
  expect(await text('cluster', 'list', '--columns', 'nodes,not served,degraded')).toMatch(/^ *2\/3 1 1$/m);
});

/** A command's text, with single spaces. */
async function text(...command: string[]): Promise<string> {
  const { stdout } = await cluster.cli(...command);
  return stdout.replaceAll(/ +/g, ' ');
}

test('what it served is no longer shown as served, and no copy on it as healthy', async () => {
  const list = await text('volume', 'list', '-o', 'wide');
  expect(list).toMatch(/^held ▲ degraded 2\/3 detached - /m);
  expect(list).toMatch(/^served ✕ not served \?\/3 attached node-2 /m);
  expect(list).not.toContain('nbd:');

  const served = await text('volume', 'get', 'served');
  expect(served).toMatch(/^health ✕ not served$/m);
  expect(served).toMatch(/^address none now: node-2 does not answer; .*detach served --force/m);
  expect(served).toMatch(/✕ no answer - node-2 /);
  expect(served.match(/○ not known - node-[13] /g)).toHaveLength(2);
  const held = await text('volume', 'get', 'held');
  expect(held).toMatch(/✕ no answer - node-2 /);
  expect(held.match(/✓ healthy - node-[13] /g)).toHaveLength(2);

  // Whoever asks for the address again is warned. Scripts get neither it nor what was known before.
  const { stdout, stderr } = await cluster.cli('volume', 'attach', 'served');
  expect(stdout).toMatch(/^nbd:/);
  expect(stderr).toMatch(/the address leads nowhere now: node-2 does not answer/);
  expect(await cluster.cliJson('volume', 'get', 'served')).toMatchObject({
    robustness: 'unknown',
    endpoint: { nbdUri: null },
  });
});

test('one volume is shown by its own nodes, and a token that may read none shows volumes all the same', async () => {
  expect(await text('volume', 'get', 'served', '--curl')).toContain('/nodes?filter=id');
  const { token } = await cluster.cliJson<{ token: string }>(
    ...['token', 'create', 'volumes-only', '--action', 'volume:read'],
  );
  const { apiUrl, clusterId } = cluster.local;
  const as = ['--endpoint', apiUrl, '--token', token, '--cluster', clusterId];
  for (const command of [['list'], ['get', 'served']]) {
    const { exitCode, stdout, stderr } = await cluster.cli('volume', ...command, ...as);
    expect({ exitCode, stderr }).toMatchObject({
      exitCode: 0,
      stderr: expect.stringContaining('judged last'),
    });
    expect(stdout).toMatch(/✓ healthy/);
  }
});

test('once it goes on it is as before, and the log tells of no loss', async () => {
  signal('SIGCONT');
  await eventually('it is heard', causes, ({ length }) => length === 0);
  expect(await conditions()).toEqual(['Ready True', 'Schedulable True']);
  const filter = encodeURIComponent('type=NodeNotReady');
  const { body } = await cluster.call<{ items: unknown[] }>('GET', `/events?filter=${filter}`);
  expect(body.items).toEqual([]);
  expect(await text('volume', 'list')).toMatch(/^served ✓ healthy 3\/3 attached node-2 /m);
  expect(await text('volume', 'get', 'served')).toMatch(/^address nbd:/m);
});
