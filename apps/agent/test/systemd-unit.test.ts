// The unit for storage nodes on bare metal: its example's variables are the agent's, and systemd's own tools find nothing wrong.
import { execFileSync, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { repositoryRoot } from '@holdfast/testkit/local-stack.js';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { readConfig } from '../src/config.js';

const FOLDER = path.join(repositoryRoot, 'infra/systemd');
const UNIT = fs.readFileSync(path.join(FOLDER, 'holdfast-agent.service'), 'utf8');
const TOOL = 'systemd-analyze';
/** Systemd's own measure of what a service could do to its machine, from 0 to 10; "OK" ends at 2. */
const EXPOSURE_MAX = 2;

const hasTool = spawnSync(TOOL, ['--version']).status === 0;
/** Without systemd on the machine these are counted as skipped, not passed. */
const withTool = hasTool ? test : test.skip;

test('the example of its variables is one that an agent takes', () => {
  const text = fs.readFileSync(path.join(FOLDER, 'agent.env.example'), 'utf8');
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  const variables = Object.fromEntries(lines.map((line) => line.split(/=(.*)/s)));
  const config = readConfig(variables);
  expect(config.disks).toHaveLength(2);
  const agent = fs.readFileSync(path.join(repositoryRoot, 'apps/agent/src/config.ts'), 'utf8');
  expect(Object.keys(variables).filter((name) => !agent.includes(`${name}:`))).toEqual([]);
});

test('what it starts is there once the repository is built', () => {
  const [, program] = /^ExecStart=\S+ (\S+)$/m.exec(UNIT) ?? [];
  expect(program).toBe('apps/agent/dist/main.js');
});

withTool('systemd finds nothing wrong with it', () => {
  const run = spawnSync(TOOL, ['verify', installed(UNIT)], { encoding: 'utf8' });
  expect([run.status, run.stdout, run.stderr]).toEqual([0, '', '']);
  const wrong = spawnSync(TOOL, ['verify', installed(UNIT.replace('KillMode=mixed', 'KillMod=mixed'))], {
    encoding: 'utf8',
  });
  expect(wrong.stderr).toContain('KillMod');
});

withTool('it can do little to the machine', () => {
  const text = execFileSync(TOOL, ['security', '--offline=true', installed(UNIT)], { encoding: 'utf8' });
  const [, exposure] = /Overall exposure level for holdfast-agent\.service: ([\d.]+)/.exec(text) ?? [];
  expect(Number(exposure)).toBeLessThanOrEqual(EXPOSURE_MAX);
});

describe('the line of docs/OPERATIONS.md that stores a join token', () => {
  let folder: string;
  beforeEach(() => {
    folder = fs.mkdtempSync(path.join(os.tmpdir(), 'holdfast-unit-'));
  });
  afterEach(() => fs.rmSync(folder, { recursive: true }));

  /** Runs it with another program in the place of the command line, another folder, and the group of this user. */
  function stored(npx: string) {
    const page = fs.readFileSync(path.join(repositoryRoot, 'docs/OPERATIONS.md'), 'utf8');
    const [, line = ''] = /^# (.*npx holdfast node join-token.*)$/m.exec(page) ?? [];
    const here = line.replace('/etc/holdfast', folder).replace('-g holdfast', `-g ${process.getgid?.()}`);
    const { status } = spawnSync('bash', ['-c', `npx() { ${npx}; }\n${here}`]);
    return { status, files: fs.readdirSync(folder) };
  }

  test('stores it for its group', () => {
    expect(stored('echo hfj_token')).toEqual({ status: 0, files: ['join-token'] });
    const file = path.join(folder, 'join-token');
    expect(fs.readFileSync(file, 'utf8')).toBe('hfj_token\n');
    expect(fs.statSync(file).mode & 0o777).toBe(0o640);
  });

  test('stores nothing where none could be made', () => {
    expect(stored('echo refused >&2; return 6')).toEqual({ status: 6, files: [] });
  });
});

/** As on a machine where its program and folder are there. */
function installed(unit: string): string {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'holdfast-unit-'));
  const file = path.join(folder, 'holdfast-agent.service');
  const there = unit
    .replace('/usr/bin/node', process.execPath)
    .replace(/^WorkingDirectory=.*$/m, `WorkingDirectory=${folder}`)
    .replace(/^Documentation=.*\n/m, '');
  fs.writeFileSync(file, there);
  return file;
}
