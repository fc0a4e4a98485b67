/** `holdfast simulate` as a program: its lines, its exit codes, and what it says of files that are no scenarios. */
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { repositoryRoot } from '@holdfast/testkit/local-stack.js';
import { afterAll, expect, test } from '@jest/globals';

const CLI = path.join(repositoryRoot, 'apps/cli/bin/holdfast.mjs');
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'holdfast-simulate-'));

afterAll(() => fs.rmSync(folder, { recursive: true, force: true }));

function simulate(...texts: string[]) {
  const files = texts.map((text, index) => {
    const file = path.join(folder, `${index + 1}.yaml`);
    fs.writeFileSync(file, text);
    return file;
  });
  const { status, stdout, stderr } = spawnSync(process.execPath, [CLI, 'simulate', ...files], {
    encoding: 'utf8',
  });
  return { status, stdout, stderr };
}

const story = (...steps: string[]) =>
  [
    'scenario: s',
    'volumes: [{ name: v, attached: n1 }]',
    'steps:',
    ...steps.map((step) => `  - ${step}`),
  ].join('\n');

test('one that passes and one that fails are counted in the last line', () => {
  const good = story('expect: { volume: v, state: attached }');
  const bad = story('nodeDown: n3', 'for: 5s\n    expect: { volume: v, robustness: healthy }');
  const { status, stdout } = simulate(good, bad);
  expect(status).toBe(3);
  expect(stdout.trim().split('\n').at(-1)).toBe('1 passed, 1 failed');
  expect(stdout).toMatch(/2\.yaml:6: volume v: robustness is degraded, not healthy/);
  expect(stdout).toMatch(/0\.5 s {2}event ReplicaFailed: the replica on n3 failed/);
});

test('nothing is run when one of the files is no scenario', () => {
  const { status, stdout, stderr } = simulate(story('write: v'), story('write: v', 'wirte: v'));
  expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
  expect(stderr).toMatch(/2\.yaml:5: unknown step wirte; did you mean write\?/);
});

test('a file of 10 MB is refused before it is read', () => {
  const { status, stderr } = simulate(`scenario: ${'x'.repeat(10_000_000)}`);
  expect(status).toBe(2);
  expect(stderr).toMatch(/1\.yaml:1: the file is larger than 1048576 bytes/);
});

test.each([
  {
    name: 'the last full copy is deleted',
    step: 'deleteReplica: { volume: v, on: n1 }',
    before: [
      'patchVolume: { volume: v, numberOfReplicas: 1 }',
      'within: 30s\n    expect: { volume: v, copies: { total: 1 } }',
    ],
    want: /replica\.last_healthy_copy|has no replica on n1/,
  },
  {
    name: 'a maintenance window that ends when it begins',
    step: 'startMaintenance: { node: n1, for: 0s }',
    before: [],
    want: /was refused with request\.invalid/,
  },
  {
    name: 'a node emptied that takes new replicas',
    step: 'patchNode: { node: n1, evictionRequested: true }',
    before: [],
    want: /was refused with request\.invalid/,
  },
])('a step that the product refuses fails the scenario at its line: $name', ({ step, before, want }) => {
  const { status, stdout } = simulate(story(...before, step));
  expect(status).toBe(3);
  expect(stdout).toMatch(want);
});
