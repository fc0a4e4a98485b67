import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { eventually } from '@holdfast/testkit/eventually.js';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { ChildRegistry } from './leftovers.js';
import { SupervisedProcess, signalGroup } from './supervised-process.js';

const FOREVER = 'setInterval(() => {}, 1000)';
const STUBBORN = `process.on('SIGTERM', () => {}); ${FOREVER}`;

let home: string;
const running: SupervisedProcess[] = [];

beforeEach(() => {
  home = fs.mkdtempSync(path.join(os.tmpdir(), 'holdfast-processes-'));
});

afterEach(async () => {
  await Promise.all(running.splice(0).map((process) => process.stop(0)));
  fs.rmSync(home, { recursive: true, force: true });
});

function supervise(script: string, restart: 'always' | 'never', pids: number[] = []): SupervisedProcess {
  const supervised = new SupervisedProcess({
    name: 'test',
    args: ['-e', script],
    cwd: home,
    environment: () => ({ PATH: process.env.PATH ?? '' }),
    logFile: path.join(home, 'test.log'),
    restart,
    onSpawn: (pid) => pids.push(pid),
  });
  running.push(supervised);
  supervised.start();
  return supervised;
}

function isAlive(pid: number | undefined): boolean {
  return (
    pid !== undefined &&
    fs.existsSync(`/proc/${pid}`) &&
    !/\) Z /.test(fs.readFileSync(`/proc/${pid}/stat`, 'utf8'))
  );
}

test('one that dies is started again', async () => {
  const pids: number[] = [];
  supervise(FOREVER, 'always', pids);
  process.kill(pids[0] ?? 0, 'SIGKILL');
  await eventually(
    'a second one was started',
    () => pids.length,
    (count) => count === 2,
  );
  expect(isAlive(pids[1])).toBe(true);
});

test('one that must not be restarted stays dead, and can be started by hand', async () => {
  const pids: number[] = [];
  const supervised = supervise(FOREVER, 'never', pids);
  process.kill(pids[0] ?? 0, 'SIGKILL');
  await eventually(
    'it is gone',
    () => supervised.running,
    (isRunning) => !isRunning,
  );
  supervised.start();
  expect(pids).toHaveLength(2);
});

test('a process that ignores SIGTERM is killed after the grace time', async () => {
  const supervised = supervise(STUBBORN, 'always');
  const pid = supervised.pid;
  await eventually('it runs', () => isAlive(pid), Boolean);
  await supervised.stop(300);
  expect(isAlive(pid)).toBe(false);
});

test('processes of an earlier stack are ended by the next one, and unrelated ones are left alone', async () => {
  const left = supervise(FOREVER, 'never');
  const stranger = supervise(FOREVER, 'never');
  const first = new ChildRegistry(home);
  first.add(left.pid ?? 0);
  // A pid that now belongs to an unrelated process: the start time in the file is not this process's.
  const file = path.join(home, 'processes.json');
  const known: { pid: number; startTime: string }[] = JSON.parse(fs.readFileSync(file, 'utf8'));
  fs.writeFileSync(file, JSON.stringify([...known, { pid: stranger.pid, startTime: '1' }]));
  expect(await new ChildRegistry(home).endLeftovers()).toBe(1);
  await eventually(
    'it is gone',
    () => left.running,
    (isRunning) => !isRunning,
  );
  expect(isAlive(stranger.pid)).toBe(true);
  signalGroup(stranger.pid, 'SIGKILL');
});
