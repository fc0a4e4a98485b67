/**
 * A machine that says nothing: all processes of a node stand still, so that its ports take connections and answer none. It is
 * shown with what follows from it long before it counts as lost, and is forgotten as soon as it goes on.
 */
import { eventually } from '@holdfast/testkit/eventually.js';
import { LocalStack } from '@holdfast/testkit/local-stack.js';
import { afterAll, beforeAll, expect, test } from '@jest/globals';

const STORY_TIMEOUT_MS = 120_000;
/** `agent-heartbeat-timeout` in seconds: nothing in this story takes as long. */
const TIMEOUT_SECONDS = 300;

type Risk = { causes: { kind: string; name: string; effects: Record<string, number> }[] };
type Node = { conditions: { type: string; status: string }[] };

let stack: LocalStack;
beforeAll(async () => {
  stack = await LocalStack.start();
  await stack.cliJson('setting', 'set', 'agent-heartbeat-timeout', String(TIMEOUT_SECONDS));
  for (const name of ['served', 'held'])
    await stack.cliJson('volume', 'create', name, '--size', '16Mi', '--replicas', '3');
  await stack.cliJson('volume', 'attach', 'served', '--node', 'node-2');
  const volumes = () => stack.call<{ items: { robustness: string }[] }>('GET', '/volumes');
  await eventually('both are healthy', volumes, ({ body }) =>
    body.items.every(({ robustness }) => robustness === 'healthy'),
  );
}, STORY_TIMEOUT_MS);

afterAll(async () => {
  signal('SIGCONT');
  await stack?.destroy();
}, STORY_TIMEOUT_MS);

const signal = (name: NodeJS.Signals) => void process.kill(-stack.agent('node-2').pid, name);

const causes = async () =>
  (await stack.call<Risk>('GET', '/risk')).body.causes.filter(({ kind }) => kind === 'node');

async function conditions(): Promise<string[]> {
  const { body } = await stack.call<Node>('GET', `/nodes/${stack.agent('node-2').nodeId}`);
  return body.conditions.map(({ type, status }) => `${type} ${status}`);
}

test(
  'it is one cause with its effects counted, while it is still ready',
  async () => {
    signal('SIGSTOP');
    const [cause] = await eventually('it is shown', causes, ({ length }) => length > 0, 60_000);
    expect(cause).toMatchObject({ name: 'node-2', effects: { notServed: 1, degraded: 1, unknown: 0 } });
    expect(await conditions()).toEqual(['Answering False', 'Ready True', 'Schedulable True']);
    const { stdout: nodes } = await stack.cli('node', 'list');
    expect(nodes).toMatch(/node-2 +✕ no answer/);
    const { stdout: risk } = await stack.cli('cluster', 'risk');
    expect(risk).toMatch(/node-2 does not answer for \d+s: 1 not served, 1 degraded/);
  },
  STORY_TIMEOUT_MS,
);

test(
  'once it goes on it is as before, and the log tells of no loss',
  async () => {
    signal('SIGCONT');
    await eventually('it is heard', causes, ({ length }) => length === 0, 60_000);
    expect(await conditions()).toEqual(['Ready True', 'Schedulable True']);
    const filter = encodeURIComponent('type=NodeNotReady');
    const { body } = await stack.call<{ items: unknown[] }>('GET', `/events?filter=${filter}`);
    expect(body.items).toEqual([]);
  },
  STORY_TIMEOUT_MS,
);
