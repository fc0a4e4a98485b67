/** The users of the test of docker-compose.yml would notice what they are there for: a write that is lost, and a hang. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { MIB } from '@holdfast/core/model/bytes.js';
import { eventually } from '@holdfast/testkit/eventually.js';
import { freePort } from '@holdfast/testkit/free-port.js';
import { hasPrograms } from '@holdfast/testkit/nbd-tools.js';
import { afterAll, afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { LongestWait } from './longest-wait.js';
import { SteadyWriter } from './steady-writer.js';

describe('the longest wait', () => {
  test('counts what still hangs from its start, and begins anew each time that it is asked', async () => {
    const waits = new LongestWait();
    let answer: () => void = () => undefined;
    const hanging = waits.during(() => new Promise<void>((resolve) => (answer = resolve)));
    const first = await eventually(
      'the hang is seen',
      () => waits.take(),
      (ms) => ms > 50,
    );
    answer();
    await hanging;
    expect(waits.take()).toBeGreaterThanOrEqual(first);
    expect(waits.take()).toBe(0);
  });
});

const withTools = hasPrograms('nbdkit', 'nbdcopy', 'qemu-io') ? describe : describe.skip;

withTools('a steady writer', () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'holdfast-steady-writer-'));
  const disk = path.join(folder, 'disk');
  let port: number;
  let server: ChildProcess;

  function serve(): void {
    const args = ['--foreground', '--ipaddr', '127.0.0.1', '--port', String(port), 'file', disk];
    server = spawn('nbdkit', args, { stdio: 'ignore' });
  }
  async function crash(): Promise<void> {
    const ended = once(server, 'exit');
    server.kill('SIGKILL');
    await ended;
  }

  beforeEach(async () => {
    port = await freePort();
    fs.writeFileSync(disk, '');
    fs.truncateSync(disk, 64 * MIB);
    serve();
  });
  afterEach(() => crash());
  afterAll(() => fs.rmSync(folder, { recursive: true }));

  test.each([
    { what: 'goes on after a server that crashed', loses: false },
    { what: 'notices a server that comes back with what it had before', loses: true },
  ])('$what', async ({ loses }) => {
    const writer = new SteadyWriter(async () => `nbd://127.0.0.1:${port}`);
    const written = (count: number) =>
      eventually(
        'it writes',
        () => writer.writes,
        (writes) => writes > count,
      );
    writer.start();
    await written(3);
    fs.copyFileSync(disk, `${disk}.before`);
    await written(writer.writes + 3);
    await crash();
    if (loses) fs.copyFileSync(`${disk}.before`, disk);
    const before = writer.writes;
    serve();
    await written(before + 3);
    await writer.stop();
    const wrong = await writer.wrongChunks();
    if (loses) expect(wrong.length).toBeGreaterThan(0);
    else expect(wrong).toEqual([]);
  });
});
