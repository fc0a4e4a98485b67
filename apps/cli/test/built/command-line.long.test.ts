/** The CLI as its users run it, against an API that is played: completion in a shell, raw calls, and watching. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import http from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { eventually } from '@holdfast/testkit/eventually.js';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

const HOLDFAST = fileURLToPath(new URL('../../bin/holdfast.mjs', import.meta.url));
const CLUSTER = '01a1fd5b-0000-7000-8000-000000000001';
const run = promisify(execFile);

let server: http.Server;
let env: NodeJS.ProcessEnv;
let names = ['pg-data', 'pg-logs', 'web'];
const streams = new Set<http.ServerResponse>();

beforeAll(async () => {
  server = http.createServer(answer);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  env = {
    PATH: process.env.PATH,
    HOLDFAST_ENDPOINT: `http://127.0.0.1:${address.port}/api/v1`,
    HOLDFAST_TOKEN: 'hf_secret',
    HOLDFAST_CLUSTER: CLUSTER,
    XDG_CACHE_HOME: fs.mkdtempSync(path.join(os.tmpdir(), 'holdfast-completion-')),
  };
});
afterAll(() => {
  for (const stream of streams) stream.destroy();
  server.close();
  fs.rmSync(env.XDG_CACHE_HOME ?? '', { recursive: true, force: true });
});

/** A list of nodes with these names, two to a page, and a stream of events. */
function answer(request: http.IncomingMessage, response: http.ServerResponse): void {
  const url = new URL(request.url ?? '', 'http://api.test');
  if (url.pathname.endsWith('/events/stream')) {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write('retry: 1000\n\n');
    streams.add(response);
    return;
  }
  const from = Number(url.searchParams.get('cursor') ?? 0);
  const items = names.slice(from, from + 2).map((name) => ({ id: name, name }));
  const nextCursor = from + 2 < names.length ? String(from + 2) : null;
  response.writeHead(url.pathname.endsWith('/nodes') ? 200 : 404, { 'content-type': 'application/json' });
  response.end(
    JSON.stringify(url.pathname.endsWith('/nodes') ? { items, nextCursor } : { detail: 'nothing' }),
  );
}

const holdfast = (...args: string[]) => run(process.execPath, [HOLDFAST, ...args], { env });

describe('completion in bash', () => {
  /** What the shell offers at the end of these words. */
  async function offered(...words: string[]): Promise<string[]> {
    const script = `holdfast() { "${process.execPath}" "${HOLDFAST}" "$@"; }
      source <(holdfast completion bash)
      COMP_WORDS=(holdfast "$@"); COMP_CWORD=$#
      _holdfast
      printf '%s\\n' "\${COMPREPLY[@]}"`;
    const { stdout } = await run('bash', ['-c', script, 'bash', ...words], { env });
    return stdout.split('\n').filter((word) => word !== '');
  }

  test.each([
    ['nouns', ['vol'], ['volume']],
    ['verbs of a noun', ['node', 'c'], ['cordon', 'cancel-drain']],
    ['options of a command', ['volume', 'create', 'x', '--rep'], ['--replicas']],
    ['options of all commands', ['node', 'list', '--dry'], ['--dry-run']],
    ['names of what is there', ['node', 'get', 'pg'], ['pg-data', 'pg-logs']],
    ['names behind an option with a value', ['--output', 'json', 'node', 'get', 'w'], ['web']],
    ['nothing behind the last argument', ['node', 'get', 'web', ''], []],
  ])('a user is offered %s', async (_, words, want) => {
    expect((await offered(...words)).sort()).toEqual([...want].sort());
  });

  test('runs nothing of what a name holds', async () => {
    const before = names;
    names = ['$(touch /tmp/holdfast-was-run)'];
    try {
      fs.rmSync(path.join(env.XDG_CACHE_HOME ?? '', 'holdfast'), { recursive: true, force: true });
      expect(await offered('node', 'get', '$')).toEqual(['$(touch /tmp/holdfast-was-run)']);
      expect(fs.existsSync('/tmp/holdfast-was-run')).toBe(false);
    } finally {
      names = before;
      fs.rmSync(path.join(env.XDG_CACHE_HOME ?? '', 'holdfast'), { recursive: true, force: true });
    }
  });
});

describe('a raw call', () => {
  test('prints the answer as it is, for the cluster where the path names none', async () => {
    const { stdout } = await holdfast('api', 'get', '/clusters/{clusterId}/nodes');
    expect(JSON.parse(stdout)).toEqual({
      items: [
        { id: 'pg-data', name: 'pg-data' },
        { id: 'pg-logs', name: 'pg-logs' },
      ],
      nextCursor: '2',
    });
  });

  test('reads all pages of a list as one', async () => {
    const { stdout } = await holdfast('api', 'GET', `clusters/${CLUSTER}/nodes`, '--paginate');
    expect(JSON.parse(stdout).items).toHaveLength(3);
  });

  test('ends with the code of a refusal', async () => {
    await expect(holdfast('api', 'GET', '/clusters')).rejects.toMatchObject({ code: 5 });
  });

  test('sends its token to the API only', async () => {
    await expect(holdfast('api', 'GET', '@elsewhere.test/')).rejects.toMatchObject({
      code: expect.any(Number),
    });
    await expect(holdfast('api', 'GET', '/../../outside')).rejects.toMatchObject({ code: 2 });
  });
});

test.each(['-V', '--version'])('%s prints the version, for which no API is asked', async (option) => {
  const { version } = JSON.parse(fs.readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  expect((await run(process.execPath, [HOLDFAST, option], { env: {} })).stdout).toBe(`${version}\n`);
});

test('the requests of a command are shown instead of its output', async () => {
  const { stdout } = await holdfast('node', 'list', '--curl', '-o', 'name');
  const lines = stdout.trim().split('\n');
  expect(lines).toHaveLength(2);
  for (const line of lines)
    expect(line).toMatch(/^curl -sS 'http.*nodes\?limit=200.*' -H "Authorization: Bearer \$HOLDFAST_TOKEN"$/);
});

test('a list that is watched is shown again when something has changed, and only then', async () => {
  const watching = spawn(process.execPath, [HOLDFAST, 'node', 'list', '--watch', '-o', 'name'], { env });
  let shown = '';
  watching.stdout.on('data', (text: Buffer) => {
    shown += text;
  });
  const before = names;
  try {
    await eventually(
      'it follows',
      () => streams.size,
      (count) => count > 0,
    );
    const tell = () => {
      for (const stream of streams) stream.write('event: change\ndata: {}\n\n');
    };
    tell();
    names = ['pg-data'];
    tell();
    await eventually(
      'the change is shown',
      () => shown,
      (text) => text.endsWith('web\npg-data\n'),
    );
    expect(shown).toBe('pg-data\npg-logs\nweb\npg-data\n');
  } finally {
    names = before;
    watching.kill('SIGINT');
    await once(watching, 'exit');
  }
});
