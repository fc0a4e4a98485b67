/** Headers about a request's sender, from the console and from the gateway of the compose file. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { eventually } from '@holdfast/testkit/eventually.js';
import { afterAll, describe, expect, test } from '@jest/globals';
import { callerTeller } from '../tell-caller.mjs';

type Headers = Record<string, string>;
const CLAIMED = {
  'x-forwarded-for': '192.0.2.66',
  'x-forwarded-host': 'evil.example',
  'x-forwarded-proto': 'https',
  forwarded: 'for=192.0.2.66',
};

function told(peer: string, given: Headers, trusted?: string, secret?: string): Headers {
  const headers: Headers = { host: 'console.example', ...given };
  callerTeller(trusted, secret)({ headers, socket: { remoteAddress: peer } });
  return headers;
}

describe('the console', () => {
  test("tells the address and host of a browser's connection, whatever the browser claims", () => {
    expect(told('203.0.113.9', CLAIMED)).toEqual({
      host: 'console.example',
      'x-forwarded-for': '203.0.113.9',
      'x-forwarded-host': 'console.example',
      'x-forwarded-proto': 'http',
    });
  });

  test('adds itself to what a trusted proxy tells', () => {
    expect(told('::ffff:10.0.0.4', CLAIMED, '192.168.0.1 10.0.0.0/8')).toMatchObject({
      'x-forwarded-for': '192.0.2.66, ::ffff:10.0.0.4',
      'x-forwarded-host': 'evil.example',
      'x-forwarded-proto': 'https',
    });
  });

  test('sends the secret that it shares with the API, and none that a browser sends', () => {
    const claimed = { 'x-holdfast-console-secret': 'guessed' };
    expect(told('203.0.113.9', claimed, '', 'shared')).toMatchObject({
      'x-holdfast-console-secret': 'shared',
    });
    expect(told('203.0.113.9', claimed)).not.toHaveProperty('x-holdfast-console-secret');
  });

  test('does not start with a proxy that is no address', () => {
    expect(() => callerTeller('gateway')).toThrow('gateway');
  });
});

const hasHaproxy = spawnSync('haproxy', ['-v']).status === 0;
const GATEWAY = fileURLToPath(new URL('../../../infra/docker/haproxy.cfg', import.meta.url));

(hasHaproxy ? describe : describe.skip)(
  `the gateway${hasHaproxy ? '' : ' (left out: haproxy is not installed, Debian has it)'}`,
  () => {
    const started: ChildProcess[] = [];
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'holdfast-gateway-'));
    const echo = http.createServer(({ headers }, response) => response.end(JSON.stringify(headers)));
    afterAll(() => {
      for (const child of started) child.kill('SIGKILL');
      echo.close();
      fs.rmSync(folder, { recursive: true });
    });

    /** Runs HAProxy with the compose file's configuration before a server that answers with the headers it got. */
    async function through(trusted: string): Promise<Headers> {
      if (!echo.listening) await listen(echo);
      const port = await freePort();
      const config = fs
        .readFileSync(GATEWAY, 'utf8')
        .replace('bind :7400', `bind 127.0.0.1:${port}`)
        .replace(/ resolvers docker init-addr \S+/, '')
        .replaceAll(/api-[12]:7400/g, `127.0.0.1:${portOf(echo)}`);
      const file = path.join(folder, `${port}.cfg`);
      fs.writeFileSync(file, config);
      const env = { ...process.env, HOLDFAST_TRUSTED_PROXIES: trusted };
      started.push(spawn('haproxy', ['-db', '-f', file], { env, stdio: 'ignore' }));
      const ask = async () => {
        const answer = await fetch(`http://127.0.0.1:${port}/`, { headers: CLAIMED }).catch(() => undefined);
        return answer?.ok === true ? ((await answer.json()) as Headers) : undefined;
      };
      const headers = await eventually('the gateway answers', ask, (found) => found !== undefined);
      return headers ?? {};
    }

    test('tells the address that a user connects from, whatever the user claims', async () => {
      const headers = await through('172.30.74.2 172.30.74.3 ');
      expect(headers).toMatchObject({ 'x-forwarded-for': '127.0.0.1', 'x-forwarded-proto': 'http' });
      expect(Object.keys(headers)).not.toEqual(expect.arrayContaining(['x-forwarded-host']));
      expect(Object.keys(headers)).not.toEqual(expect.arrayContaining(['forwarded']));
    });

    test('adds the address of a trusted proxy to what that tells', async () => {
      const headers = await through('172.30.74.2 127.0.0.1');
      expect(headers).toMatchObject({
        'x-forwarded-for': '192.0.2.66, 127.0.0.1',
        'x-forwarded-host': 'evil.example',
        'x-forwarded-proto': 'https',
      });
    });
  },
);

function listen(server: http.Server | net.Server): Promise<void> {
  return new Promise((done) => server.listen(0, '127.0.0.1', done));
}

function portOf(server: http.Server | net.Server): number {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server does not listen');
  return address.port;
}

async function freePort(): Promise<number> {
  const server = net.createServer();
  await listen(server);
  const port = portOf(server);
  await new Promise((done) => server.close(done));
  return port;
}
