import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { resolveConnection } from './connection.js';
import { contextsFile, readContexts, removeContext, saveContext, writeContexts } from './contexts.js';

const A = { endpoint: 'https://a.test/api/v1', token: 'hft_a' };
const B = { endpoint: 'https://b.test/api/v1', token: 'hft_b', cluster: 'c-b' };

let folder: string;
let env: NodeJS.ProcessEnv;
beforeEach(() => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'holdfast-contexts-'));
  env = { XDG_CONFIG_HOME: folder };
  saveContext(env, 'a', A);
  saveContext(env, 'b', B);
});
afterEach(() => fs.rmSync(folder, { recursive: true }));

test('the one that was saved last is current, and only its user may read the file', () => {
  expect(readContexts(env)).toEqual({ current: 'b', contexts: { a: A, b: B } });
  expect(fs.statSync(contextsFile(env)).mode & 0o777).toBe(0o600);
});

test('a file that others may read is refused', () => {
  fs.chmodSync(contextsFile(env), 0o644);
  expect(() => readContexts(env)).toThrow('others may read');
});

test('a removed one is gone, and is current no more', () => {
  expect(removeContext(env, 'b')).toEqual(B);
  expect(readContexts(env)).toEqual({ current: undefined, contexts: { a: A } });
  expect(() => removeContext(env, 'b')).toThrow('there is no context b');
});

test.each<{ name: string; options?: object; variables?: NodeJS.ProcessEnv; apiUrl: string; token: string }>([
  { name: 'the current context', apiUrl: B.endpoint, token: 'hft_b' },
  { name: 'the named context', options: { context: 'a' }, apiUrl: A.endpoint, token: 'hft_a' },
  {
    name: 'the environment before the current context',
    variables: { HOLDFAST_ENDPOINT: 'https://e.test/api/v1', HOLDFAST_TOKEN: 'hft_e' },
    apiUrl: 'https://e.test/api/v1',
    token: 'hft_e',
  },
  {
    name: 'the endpoint of the command before everything else',
    options: { endpoint: 'https://f.test/api/v1', token: 'hft_f', context: 'a' },
    variables: { HOLDFAST_ENDPOINT: 'https://e.test/api/v1' },
    apiUrl: 'https://f.test/api/v1',
    token: 'hft_f',
  },
])('$name is used', ({ options = {}, variables = {}, apiUrl, token }) => {
  expect(resolveConnection(options, { ...env, ...variables })).toMatchObject({ apiUrl, token });
});

test("a context's cluster is used unless another one is named", () => {
  expect(resolveConnection({}, env).clusterId).toBe('c-b');
  expect(resolveConnection({ cluster: 'other' }, env).clusterId).toBe('other');
});

test('what is no context in the file is left out', () => {
  writeContexts(env, { current: 'a', contexts: { a: A } });
  const file = contextsFile(env);
  const text = fs.readFileSync(file, 'utf8').replace('"hft_a"', '7');
  fs.writeFileSync(file, text, { mode: 0o600 });
  expect(readContexts(env)).toEqual({ current: 'a', contexts: {} });
});
