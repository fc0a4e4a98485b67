import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { makePrivateFolder, openPrivateLog, readJson, writeJsonPrivately } from './private-file.js';
import { ensureSecrets } from './secrets.js';

let home: string;
beforeEach(() => {
  home = fs.mkdtempSync(path.join(os.tmpdir(), 'holdfast-home-'));
});
afterEach(() => fs.rmSync(home, { recursive: true, force: true }));

test('what is written is read back, and only its owner may read it', () => {
  const file = path.join(home, 'deep', 'a.json');
  writeJsonPrivately(file, { a: 1 });
  expect(readJson(file)).toEqual({ a: 1 });
  expect(fs.statSync(file).mode & 0o777).toBe(0o600);
  expect(fs.readdirSync(path.dirname(file))).toEqual(['a.json']);
});

test('logs are for their owner only, those too that an older version made', () => {
  const folder = path.join(home, 'logs');
  fs.mkdirSync(folder, { mode: 0o755 });
  const file = path.join(folder, 'api.log');
  fs.writeFileSync(file, 'old\n', { mode: 0o644 });
  makePrivateFolder(folder);
  const log = openPrivateLog(file);
  fs.writeSync(log, 'new\n');
  fs.closeSync(log);
  expect(fs.readFileSync(file, 'utf8')).toBe('old\nnew\n');
  expect([folder, file].map((at) => fs.statSync(at).mode & 0o777)).toEqual([0o700, 0o600]);
});

test('a file that is not there is nothing, one that is broken is an error that names it', () => {
  expect(readJson(path.join(home, 'none.json'))).toBeUndefined();
  const broken = path.join(home, 'broken.json');
  fs.writeFileSync(broken, '{"a":');
  expect(() => readJson(broken)).toThrow(/broken\.json/);
});

test('secrets are made once and then stay', () => {
  const first = ensureSecrets(home);
  expect(ensureSecrets(home)).toEqual(first);
  expect(new Set(Object.values(first)).size).toBe(Object.keys(first).length);
  for (const secret of Object.values(first)) expect(secret.length).toBeGreaterThanOrEqual(32);
});
