/** Common NBD tools on a volume with three real copies: their output, exit codes, and the bytes. */
import crypto from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { hasPrograms, outputOf, runTool } from '@holdfast/testkit/nbd-tools.js';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { MIB, modes, SIZE, useClusters } from './engine-cluster.js';
import { ServedVolume } from './served-volume.js';

let volume: ServedVolume;
let folder: string;
let copiesInUse: () => string[];
let finish: () => Promise<Set<string>>;

// Runs before the clusters' own hook, which stops the copies that are checked here.
afterEach(async () => {
  // No copy may be dropped by anything a tool does, and all three must be equal.
  expect(copiesInUse()).toEqual(['RW', 'RW', 'RW']);
  expect((await finish()).size).toBe(1);
  fs.rmSync(folder, { recursive: true });
});
const clusters = useClusters();
beforeEach(async () => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'holdfast-tools-'));
  const cluster = await clusters.cluster(3);
  const engine = await cluster.start(1);
  volume = await ServedVolume.start(engine);
  copiesInUse = () => modes(engine);
  finish = async () => {
    await volume.stop();
    await engine.stop();
    return cluster.checksums();
  };
});

function file(name: string, bytes?: Buffer): string {
  const found = path.join(folder, name);
  if (bytes !== undefined) fs.writeFileSync(found, bytes);
  return found;
}

function holds(name: string, expected: Buffer): void {
  expect({ same: fs.readFileSync(file(name)).equals(expected) }).toEqual({ same: true });
}

/** An image with data, written zeros, and holes, in runs of odd lengths. */
function image(): Buffer {
  const bytes = Buffer.alloc(SIZE);
  crypto.randomFillSync(bytes, 0, 5 * MIB + 512);
  crypto.randomFillSync(bytes, 20 * MIB - 4096, 12288);
  crypto.randomFillSync(bytes, SIZE - 1024, 1024);
  return bytes;
}

(hasPrograms('nbdinfo', 'nbdcopy') ? describe : describe.skip)('libnbd', () => {
  test('nbdinfo tells what the server can do, its list shows no export, and its map what is held', async () => {
    const client = await volume.connect();
    await client.write(MIB, [Buffer.alloc(8192, 1)], 8192, { fua: false });
    await client.writeZeroes(4 * MIB, 4096, { fua: false, mayPunch: false });
    client.close();
    const info = JSON.parse(await outputOf('nbdinfo', '--json', volume.uri));
    expect(info).toMatchObject({ protocol: 'newstyle-fixed', TLS: false, structured: true });
    expect(info.exports[0]).toMatchObject({
      'export-size': SIZE,
      is_read_only: false,
      can_multi_conn: true,
      can_flush: true,
      can_fua: true,
      can_trim: true,
      can_zero: true,
      can_df: true,
      block_size_minimum: 1,
      block_size_preferred: 4096,
      block_size_maximum: 32 * MIB,
      contexts: ['base:allocation'],
    });
    expect(await outputOf('nbdinfo', '--size', volume.uri)).toBe(`${SIZE}\n`);
    expect(await runTool('nbdinfo', ['--can', 'multi-conn', volume.uri])).toMatchObject({ code: 0 });
    expect(await runTool('nbdinfo', ['--is', 'read-only', volume.uri])).toMatchObject({ code: 2 });
    const listed = await outputOf('nbdinfo', '--list', `nbd://127.0.0.1:${volume.port}`);
    expect(listed).not.toContain('export=');
    const map = JSON.parse(await outputOf('nbdinfo', '--map', '--json', volume.uri));
    const held = map.filter(({ type }: { type: number }) => type === 0);
    expect(held.map(({ offset, length }: Record<string, number>) => [offset, length])).toEqual([
      [MIB, 8192],
      [4 * MIB, 4096],
    ]);
    expect(await runTool('nbdinfo', ['--size', `${volume.uri}x`])).toMatchObject({ code: 1, stdout: '' });
  });

  test('nbdcopy over four connections brings an image there and back, and leaves holes', async () => {
    const bytes = image();
    await outputOf('nbdcopy', '--flush', '--connections=4', file('there', bytes), volume.uri);
    await outputOf('nbdcopy', '--connections=4', volume.uri, file('back'));
    holds('back', bytes);
    const totals = JSON.parse(await outputOf('nbdinfo', '--map', '--totals', '--json', volume.uri));
    const hole = totals.find(({ type }: { type: number }) => type === 3);
    expect(hole?.size).toBeGreaterThan(50 * MIB);

    // Zeros over data: written as such, or trimmed away.
    await outputOf('nbdcopy', '--connections=4', '--destination-is-zero', file('there', bytes), volume.uri);
    bytes.fill(0, 0, 3 * MIB);
    await outputOf('nbdcopy', '--connections=4', '--requests=64', file('there', bytes), volume.uri);
    await outputOf('nbdcopy', '--synchronous', volume.uri, file('back'));
    holds('back', bytes);
  });
});

(hasPrograms('qemu-img', 'qemu-io') ? describe : describe.skip)('QEMU', () => {
  test('qemu-img converts, compares, maps and benches', async () => {
    const bytes = image();
    file('raw', bytes);
    await outputOf(
      'qemu-img',
      'convert',
      '-n',
      '-f',
      'raw',
      '-O',
      'raw',
      '-m',
      '8',
      '-W',
      file('raw'),
      volume.uri,
    );
    const same = ['compare', '-f', 'raw', '-F', 'raw', file('raw'), volume.uri];
    expect(await outputOf('qemu-img', ...same)).toContain('Images are identical.');
    const info = JSON.parse(await outputOf('qemu-img', 'info', '--output=json', '-f', 'raw', volume.uri));
    expect(info).toMatchObject({ 'virtual-size': SIZE, format: 'raw' });
    const map = JSON.parse(await outputOf('qemu-img', 'map', '--output=json', '-f', 'raw', volume.uri));
    expect(map[0]).toMatchObject({ start: 0, data: true, zero: false });
    expect(map.some(({ data, zero }: Record<string, boolean>) => !data && zero)).toBe(true);
    const last = map.at(-1);
    expect(last.start + last.length).toBe(SIZE);

    await outputOf('qemu-img', 'convert', '-f', 'raw', '-O', 'qcow2', volume.uri, file('qcow2'));
    expect(await outputOf('qemu-img', 'compare', file('qcow2'), file('raw'))).toContain(
      'Images are identical.',
    );

    const bench = ['bench', '-f', 'raw', '-c', '2000', '-d', '16', '-s', '4k'];
    expect(await outputOf('qemu-img', ...bench, volume.uri)).toContain('Run completed');
    const writes = ['-w', '--pattern', '85', '--flush-interval', '64', '-o', String(40 * MIB)];
    expect(await outputOf('qemu-img', ...bench, ...writes, volume.uri)).toContain('Run completed');
    const differs = await runTool('qemu-img', same);
    expect(differs).toMatchObject({ code: 1, stdout: expect.stringContaining(`offset ${40 * MIB}`) });
  });

  test('qemu-io finds each pattern where it was put, and zeros where it was taken away', async () => {
    const commands = [
      'write -P 1 0 1M',
      'write -f -P 2 1M 64k',
      'write -P 3 4097 1000',
      'write -z 128k 64k',
      'write -z -u 256k 64k',
      'discard 512k 128k',
      'aio_write -P 4 8M 2M',
      'aio_write -P 5 10M 2M',
      'aio_flush',
      'flush',
      'read -P 1 0 4097',
      'read -P 3 4097 1000',
      'read -P 1 8k 120k',
      'read -P 0 128k 64k',
      'read -P 0 256k 64k',
      'read -P 0 512k 128k',
      'read -P 1 640k 384k',
      'read -P 2 1M 64k',
      'read -P 4 8M 2M',
      'read -P 5 10M 2M',
      'readv -P 5 10M 512 4096 512',
      `write -P 6 ${SIZE - 512} 512`,
      `read -P 6 ${SIZE - 512} 512`,
    ];
    const run = (lines: string[]) =>
      outputOf('qemu-io', '-f', 'raw', volume.uri, ...lines.flatMap((line) => ['-c', line]));
    const output = await run(commands);
    expect(output).not.toMatch(/failed|error/i);
    expect(output.match(/^(read|wrote|discard) /gm)).toHaveLength(commands.length - 2);
    // Counter-check: the tool does detect a wrong byte.
    const wrong = await runTool('qemu-io', ['-f', 'raw', '-c', 'read -P 9 0 4k', volume.uri]);
    expect(wrong.stdout).toContain('Pattern verification failed');
  });
});

(hasPrograms('fio') ? describe : describe.skip)('fio', () => {
  test.each<{ name: string; jobs?: number; options: string[] }>([
    { name: 'small writes', options: ['--bs=4k', '--rw=randwrite', '--iodepth=16', '--size=6m'] },
    {
      name: 'sizes of all kinds, read and written',
      options: ['--bsrange=512-256k', '--rw=randrw', '--size=12m'],
    },
    {
      name: 'overwriting, with flushes',
      options: ['--bs=64k', '--rw=write', '--loops=2', '--fsync=8', '--size=8m'],
    },
    // One request at a time: at a higher depth fio has a trim and the write after it in flight at once, and the last
    // one counts. With `trim_percentage` it fails an assertion of its own. It does both with nbdkit as the server
    // too.
    { name: 'blocks trimmed and written', options: ['--bs=4k', '--rw=trimwrite', '--size=4m'] },
    {
      name: 'blocks trimmed and written by chance',
      // Of several such jobs fio lets only the first one write.
      jobs: 1,
      options: ['--bs=16k', '--rw=randtrimwrite', '--size=6m'],
    },
  ])('verifies $name by crc32c', async ({ jobs = 3, options }) => {
    const output = await outputOf(
      'fio',
      '--ioengine=nbd',
      `--uri=${volume.uri}`,
      '--name=job',
      `--numjobs=${jobs}`,
      '--offset_increment=16m',
      '--verify=crc32c',
      '--verify_fatal=1',
      '--verify_state_save=0',
      '--randseed=7',
      '--output-format=json',
      ...options,
    );
    const report = JSON.parse(output.slice(output.indexOf('{')));
    expect(report.jobs).toHaveLength(jobs);
    const trims = options.some((option) => option.includes('trim'));
    for (const { error, write, read, trim } of report.jobs) {
      expect(error).toBe(0);
      expect(trim.total_ios > 0).toBe(trims);
      expect(write.total_ios).toBeGreaterThan(0);
      expect(read.total_ios).toBeGreaterThan(0);
    }
  });

  test('trims a volume that is full, sixteen requests at a time, and all of it is free again', async () => {
    const fio = (...options: string[]) =>
      outputOf('fio', '--ioengine=nbd', `--uri=${volume.uri}`, '--name=job', '--randseed=7', ...options);
    await fio('--rw=write', '--bs=1m', '--size=16m');
    const isHeld = async () => {
      const map = JSON.parse(await outputOf('qemu-img', 'map', '--output=json', volume.uri));
      return map.some(({ data, start }: { data: boolean; start: number }) => data && start < 16 * MIB);
    };
    expect(await isHeld()).toBe(true);
    await fio('--rw=randtrim', '--bs=64k', '--size=16m', '--iodepth=16');
    expect(await isHeld()).toBe(false);
  });
});
