/** Check of the commands that write generated files: they write all of them, and a run that fails destroys none. */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { RECORDING_SUITES, WRITING_SUITES } from '../docs.mjs';
import { replaceByOutput } from '../openapi.mjs';
import { sourceFiles } from './source-files.js';

const BEFORE = '{"openapi":"3.1.0","paths":{"/before":{}}}';
let folder: string;
let file: string;

beforeEach(() => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'holdfast-openapi-'));
  file = path.join(folder, 'openapi.json');
  fs.writeFileSync(file, BEFORE);
});

afterEach(() => fs.rmSync(folder, { recursive: true }));

test.each([
  { name: 'fails', script: 'process.stdout.write("{"); process.exit(1)' },
  { name: 'fails without a word', script: 'process.exit(1)' },
  { name: 'prints nothing', script: '' },
  { name: 'prints a part', script: 'process.stdout.write("{\\"openapi\\":")' },
  { name: 'prints a document without paths', script: 'process.stdout.write("{\\"openapi\\":\\"3.1.0\\"}")' },
])('a printing process that $name leaves the document as it was', ({ script }) => {
  expect(() => replaceByOutput(file, ['--eval', script])).toThrow();
  expect([fs.readFileSync(file, 'utf8'), fs.readdirSync(folder)]).toEqual([BEFORE, ['openapi.json']]);
});

test('a whole document replaces the one before, and an equal one is no change', () => {
  const after = BEFORE.replace('before', 'after');
  const print = ['--eval', `process.stdout.write(${JSON.stringify(after)})`];
  expect([replaceByOutput(file, print), fs.readFileSync(file, 'utf8')]).toEqual([true, after]);
  expect([replaceByOutput(file, print), fs.readdirSync(folder)]).toEqual([false, ['openapi.json']]);
});

test('`npm run docs` runs each suite that writes a page or a schema', () => {
  const writing = sourceFiles(['apps', 'packages', 'tools'])
    .filter(
      ({ at, text }) => at.endsWith('.test.ts') && /process\.env\.HOLDFAST_WRITE_(?:PAGES|SCHEMA)/.test(text),
    )
    .map(({ at }) => at);
  expect(Object.keys({ ...WRITING_SUITES, ...RECORDING_SUITES }).toSorted()).toEqual(writing.toSorted());
});
