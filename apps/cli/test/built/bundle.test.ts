/** The CLI's bundle: it starts about as fast as Node, and what is loaded on demand is there. */
import { execFile, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, describe, expect, test } from '@jest/globals';

const HOLDFAST = fileURLToPath(new URL('../../bin/holdfast.mjs', import.meta.url));
const run = promisify(execFile);
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'holdfast-bundle-'));
/** No endpoint, no home of a stack, no contexts: whatever asks an API fails. */
const env = { PATH: process.env.PATH, HOME: folder, XDG_CONFIG_HOME: folder, HOLDFAST_HOME: folder };
const holdfast = async (...args: string[]) =>
  (await run(process.execPath, [HOLDFAST, ...args], { env })).stdout;

afterAll(() => fs.rmSync(folder, { recursive: true }));

describe('help and completion', () => {
  /** Reports, as the program ends, which of Node's own modules for the network it has loaded. */
  const spy = path.join(folder, 'spy.cjs');
  fs.writeFileSync(
    spy,
    `process.on('exit', () => require('node:fs').writeFileSync(process.env.SPY_FILE, JSON.stringify(process.moduleLoadList)));`,
  );
  /** Node's `fetch` and what other clients of HTTP stand on. Not `net`, by which Node writes into a pipe. */
  const NETWORK = /NativeModule (internal\/deps\/undici\/undici|tls|http|https|_http_client|dns)$/;

  function networkModules(args: readonly string[]): string[] {
    const file = path.join(folder, 'loaded.json');
    const options = { env: { ...env, SPY_FILE: file }, encoding: 'utf8' as const };
    const { status, stderr } = spawnSync(process.execPath, ['--require', spy, HOLDFAST, ...args], options);
    if (status !== 0) throw new Error(stderr);
    return (JSON.parse(fs.readFileSync(file, 'utf8')) as string[]).filter((name) => NETWORK.test(name));
  }

  test.each([
    ['--help'],
    ['volume --help'],
    ['help what-if'],
    ['node drain --help'],
    ['completion bash'],
    ['completion words -- vol'],
    ['completion words -- volume cr'],
    ['completion words -- volume create x --rep'],
  ])('%s loads no client of HTTP', (line) => {
    expect(networkModules(line.split(' '))).toEqual([]);
  });
});

test('what is loaded on demand is in the bundle: each noun, and the library for YAML', async () => {
  for (const noun of (await holdfast('completion', 'words', '--', ''))
    .trim()
    .split('\n')
    .map((line) => line.split('\t')[0] ?? ''))
    expect(await holdfast(noun, '--help')).toContain(`Usage: holdfast ${noun}`);
  expect(await holdfast('context', 'list', '-o', 'yaml')).toBe('items: []\n');
  const question = path.join(folder, 'question.yaml');
  fs.writeFileSync(question, 'volumes: [{ size: 1Gi');
  await expect(
    holdfast('what-if', '-f', question, '--endpoint', 'http://127.0.0.1:1', '--token', 'x', '--cluster', 'c'),
  ).rejects.toMatchObject({
    stderr: expect.stringContaining('is neither YAML nor JSON'),
  });
});

test('a defect names the sources', async () => {
  const breaking = path.join(folder, 'breaking.cjs');
  fs.writeFileSync(breaking, `JSON.stringify = () => { throw new TypeError('broken on purpose'); };`);
  const args = ['--require', breaking, HOLDFAST, 'context', 'list', '-o', 'json'];
  await expect(run(process.execPath, args, { env })).rejects.toMatchObject({
    stderr: expect.stringMatching(/broken on purpose[\s\S]*apps\/cli\/src\/output\/format\.ts:\d+:\d+/),
  });
});
