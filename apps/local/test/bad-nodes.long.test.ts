/** Nodes and deployments that are set up wrongly: each is told why, and the control plane has nothing of them. */
import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { AGENT_PROTOCOL_VERSION } from '@holdfast/core/model/agent-protocol.js';
import { eventually } from '@holdfast/testkit/eventually.js';
import { makeForeignDisk } from '@holdfast/testkit/foreign-disk.js';
import { TestCluster } from '@holdfast/testkit/test-cluster.js';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { LoneAgent } from './lone-agent.js';

/** Makes a program's clock go ten minutes late. Certificates are judged by the machine's own clock all the same. */
const LATE_CLOCK = `
  const { now } = Date;
  globalThis.Date = class extends Date {
    constructor(...of) { of.length === 0 ? super(now() - 600_000) : super(...of); }
    static now() { return now() - 600_000; }
  };`;

/** Loads an agent as a build of a newer Holdfast would be: the one number that such a build raises is one higher. */
const NEWER_BUILD = `
  import { register } from 'node:module';
  const hooks = \`
    export async function load(url, context, next) {
      const loaded = await next(url, context);
      if (!url.endsWith('/core/dist/model/agent-protocol.js')) return loaded;
      const source = String(loaded.source);
      const raised = source.replace(/(AGENT_PROTOCOL_VERSION = )(\\\\d+)/, (_, name, version) => name + (Number(version) + 1));
      if (raised === source) throw new Error('the version of the protocol was not found');
      return { ...loaded, source: raised };
    }\`;
  register('data:text/javascript,' + encodeURIComponent(hooks));`;

type Named = { items: { name: string }[] };
type Event = { type: string; message: string };

let cluster: TestCluster;
beforeAll(async () => {
  cluster = await TestCluster.start();
});
afterAll(() => cluster?.destroy());

async function joinToken(): Promise<string> {
  const { status, body } = await cluster.call<{ token: string }>('POST', '/join-tokens', {});
  expect(status).toBe(201);
  return body.token;
}

const nodeNames = async () =>
  (await cluster.call<Named>('GET', '/nodes')).body.items.map(({ name }) => name).sort();

function start(name: string, environment: NodeJS.ProcessEnv, prepare?: (disk: string) => Promise<unknown>) {
  const place = { HOLDFAST_API_URL: cluster.local.apiUrl, HOLDFAST_NODE_NAME: name };
  return LoneAgent.start({ ...place, ...environment }, prepare);
}

describe('an agent that may not join says why, and there is no node of it', () => {
  test.each<{ what: string; setUp: () => Promise<NodeJS.ProcessEnv>; says: string }>([
    {
      what: 'a wrong authority, which its token names',
      setUp: async () => {
        const [secret, fingerprint = ''] = (await joinToken()).split('.');
        return { HOLDFAST_AGENT_TOKEN: `${secret}.${[...fingerprint].reverse().join('')}` };
      },
      says: 'is not the control plane that made the join token',
    },
    {
      what: 'a clock ten minutes late',
      setUp: async () => ({
        HOLDFAST_AGENT_TOKEN: await joinToken(),
        NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(LATE_CLOCK)}`,
      }),
      says: "600 seconds behind the control plane's",
    },
  ])('$what', async ({ setUp, says }) => {
    const before = await nodeNames();
    const agent = await start('node-9', await setUp());
    try {
      await agent.says(says);
      expect(agent.hasJoined).toBe(false);
      expect(await nodeNames()).toEqual(before);
    } finally {
      await agent.stop();
    }
  });
});

test('an agent of a newer version is told to wait for the control plane, and its token lets in one of this version', async () => {
  const token = await joinToken();
  const newer = await start('node-7', {
    HOLDFAST_AGENT_TOKEN: token,
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(NEWER_BUILD)}`,
  });
  let fitting: LoneAgent | undefined;
  try {
    await newer.says(
      `the agent of node node-7 speaks version ${AGENT_PROTOCOL_VERSION + 1} of the agents' protocol`,
    );
    await newer.says('upgrade the APIs and workers first');
    expect(newer.hasJoined).toBe(false);
    expect(await nodeNames()).not.toContain('node-7');
    await newer.stop();
    fitting = await start('node-7', { HOLDFAST_AGENT_TOKEN: token });
    await eventually('it has joined', nodeNames, (names) => names.includes('node-7'));
  } finally {
    await newer.stop();
    await fitting?.stop();
  }
});

test('a disk of another cluster is told of with that cluster, and its copies are left alone; its node has used up the token', async () => {
  await cluster.cliJson('setting', 'set', 'orphan-resource-auto-deletion-grace-period', '0');
  await cluster.cliJson('setting', 'set', 'orphan-resource-auto-deletion', 'replica-data');
  let theirs = { replicaId: '', clusterId: '' };
  const token = await joinToken();
  const agent = await start('node-8', { HOLDFAST_AGENT_TOKEN: token }, async (disk) => {
    theirs = await makeForeignDisk(disk);
  });
  let second: LoneAgent | undefined;
  try {
    const found = await eventually(
      'the copy is told of',
      async () => (await cluster.cliJson<{ items: Event[] }>('event', 'list')).items,
      (events) => events.some(({ type }) => type === 'OrphanFound'),
    );
    expect(found.find(({ type }) => type === 'OrphanFound')?.message).toContain(
      `volume theirs of the cluster ${theirs.clusterId}; if that cluster lives, put the disk back`,
    );
    const { items } = await cluster.cliJson<{ items: { obstacle: { code: string } | null }[] }>('recover');
    expect(items.map(({ obstacle }) => obstacle?.code)).toEqual(['OtherCluster']);

    second = await start('node-9', { HOLDFAST_AGENT_TOKEN: token });
    await second.says('the join token was used 1 times, as often as it may be');
    expect(second.hasJoined).toBe(false);
    expect(await nodeNames()).toEqual(['node-1', 'node-2', 'node-3', 'node-7', 'node-8']);
    expect(agent.onDisk).toContain(theirs.replicaId);
  } finally {
    await agent.stop();
    await second?.stop();
  }
});

describe('a process of a deployment without its secrets ends with the names of what is missing', () => {
  test.each([
    { main: 'local/dist/prepare.js', names: ['DATABASE_URL', 'HOLDFAST_DATABASE_API_PASSWORD'] },
    { main: 'api/dist/main.js', names: ['DATABASE_URL', 'DATABASE_SYSTEM_URL'] },
    { main: 'worker/dist/main.js', names: ['DATABASE_SYSTEM_URL'] },
    { main: 'agent/dist/main.js', names: ['HOLDFAST_API_URL', 'HOLDFAST_NODE_NAME'] },
  ])('started as $main with none of them', ({ main, names }) => {
    const file = fileURLToPath(new URL(`../../${main}`, import.meta.url));
    const { status, stderr } = spawnSync(process.execPath, [file], {
      env: { PATH: process.env.PATH, HOLDFAST_AGENT_TOKEN: randomUUID() },
      encoding: 'utf8',
    });
    expect(status).toBe(2);
    for (const name of names) expect(stderr).toContain(name);
    expect(stderr).not.toContain('    at ');
  });
});
