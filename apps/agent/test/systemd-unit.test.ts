// The unit for storage nodes on bare metal: its example's variables are the agent's, and systemd's own tools find nothing wrong.
import { execFileSync, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { repositoryRoot } from '@holdfast/testkit/local-stack.js';
import { expect, test } from '@jest/globals';
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
  const [, program] = /^ExecStart=\S+ --enable-source-maps (\S+)$/m.exec(UNIT) ?? [];
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
