import { spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { eventually } from '@holdfast/testkit/eventually.js';
import { freePort } from '@holdfast/testkit/free-port.js';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { AGENT_MAIN, AgentCluster, type AgentProcess } from './agents.js';
import { FakeApi } from './fake-api.js';

const cluster = new AgentCluster();
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'holdfast-identity-'));

beforeAll(() => cluster.start(1));
afterAll(async () => {
  await cluster.stop();
  fs.rmSync(folder, { recursive: true });
});

function agentOne(): AgentProcess {
  const [agent] = cluster.agents;
  if (agent === undefined) throw new Error('an agent was started');
  return agent;
}

type Stored = { certificatePem: string; keyPem: string };

function storedBy(agent: AgentProcess): Stored {
  return JSON.parse(fs.readFileSync(path.join(agent.stateDirectory, 'identity/identity.json'), 'utf8'));
}

describe('the identity of an agent', () => {
  test('is made once, survives a restart without a token, and is readable by its owner only', async () => {
    const agent = agentOne();
    expect(cluster.api.joined).toEqual(['node-1']);
    const before = storedBy(agent);
    await agent.stop();
    await agent.start({ HOLDFAST_AGENT_TOKEN: undefined });
    expect(cluster.api.joined).toEqual(['node-1']);
    expect(storedBy(agent)).toEqual(before);
    for (const name of ['identity', 'identity/identity.json']) {
      const { mode } = fs.statSync(path.join(agent.stateDirectory, name));
      expect(mode & 0o077).toBe(0);
    }
  });

  test('is renewed with the same key when half of its life is over, and heartbeats go on', async () => {
    const agent = await cluster.add('node-2');
    cluster.api.certificateLifeMs = 6_000;
    await agent.start();
    const before = storedBy(agent);
    cluster.api.certificateLifeMs = 3_600_000;
    await eventually(
      'a renewed certificate',
      async () => storedBy(agent),
      ({ certificatePem }) => certificatePem !== before.certificatePem,
    );
    expect(storedBy(agent).keyPem).toBe(before.keyPem);
    cluster.api.heartbeats.delete('node-2');
    await cluster.api.until('node-2', () => true);
    await agent.stop();
  });

  test('that the control plane does not know any more is asked for anew', async () => {
    cluster.api.heartbeatCode = 'node.identity_refused';
    cluster.api.heartbeatStatus = 401;
    const before = cluster.api.joined.length;
    try {
      await eventually(
        'another certificate',
        async () => cluster.api.joined.length,
        (count) => count > before,
      );
    } finally {
      cluster.api.heartbeatStatus = 200;
    }
    cluster.api.heartbeats.delete('node-1');
    await cluster.api.until('node-1', () => true);
  });
});

describe('an agent says why it can not join', () => {
  test.each<[string, (other: FakeApi) => string | undefined, string]>([
    ['a token of another control plane', () => cluster.api.joinToken, 'is not the control plane that made'],
    ['a token without a fingerprint', () => 'hfj_secret', 'it must end in the fingerprint'],
    ['no token', () => undefined, 'HOLDFAST_AGENT_TOKEN must be a join token'],
  ])('in one line: %s', async (name, tokenFor, says) => {
    await expectRefusal(says, path.join(folder, name.replaceAll(' ', '-')), tokenFor);
  });

  test('nor go on: an agent that has joined meets a control plane of another authority', async () => {
    const home = path.join(folder, 'joined');
    fs.cpSync(path.join(agentOne().stateDirectory, 'identity'), path.join(home, 'state/identity'), {
      recursive: true,
    });
    const says = 'shows a certificate of another authority than this agent trusts';
    await expectRefusal(says, home, () => undefined);
  });
});

/** Starts an agent against a control plane of its own, and waits for the line that says why that does not hear it. */
async function expectRefusal(
  says: string,
  home: string,
  tokenFor: (other: FakeApi) => string | undefined,
): Promise<void> {
  const other = new FakeApi();
  const apiUrl = await other.start();
  const child = spawn(process.execPath, [AGENT_MAIN], {
    env: {
      PATH: process.env.PATH,
      HOLDFAST_API_URL: apiUrl,
      HOLDFAST_AGENT_TOKEN: tokenFor(other),
      HOLDFAST_NODE_NAME: 'node-9',
      HOLDFAST_DISKS: path.join(home, 'disk'),
      HOLDFAST_DISK_SIZE: '1Gi',
      HOLDFAST_CONTROL_PORT: String(await freePort()),
      HOLDFAST_NBD_PORT: String(await freePort()),
      HOLDFAST_STATE_DIR: path.join(home, 'state'),
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let log = '';
  child.stdout.on('data', (chunk: Buffer) => {
    log += chunk.toString();
  });
  try {
    await eventually(
      'a line of the log',
      async () => log,
      (text) => text.includes(says),
    );
    expect(other.heartbeats.size).toBe(0);
  } finally {
    child.kill('SIGKILL');
    await other.stop();
  }
}
