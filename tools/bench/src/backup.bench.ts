/**
 * Benchmark of backups: an image, half random and half text, goes to a folder, beside `dd | zstd -1 -T1`, which neither encrypts nor looks for what
 * is there already; is backed up again with 1 % changed; and is restored beside `dd`. The same goes to an S3 server on this machine, whose requests
 * are counted. Where restic is installed, it does the same work. HOLDFAST_BENCH_MIB gives the image another size.
 */
import { execFile, execFileSync, spawnSync } from 'node:child_process';
import { randomFillSync } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { FileStore } from '@holdfast/backup/store/file-store.js';
import { FakeS3 } from '@holdfast/testkit/fake-s3.js';
import type { StepResult } from './backup/measured-step.js';
import { report } from './report.js';
import type { RunOptions } from './run-options.js';

const MIB = 1024 ** 2;
const FULL_MIB = 4096;
const QUICK_MIB = 512;
/** Runs of which the fastest counts, for both sides. */
const RUNS = 3;
const WORDS = 4000;
const MEMORY_BYTES_MAX = 512 * MIB;
const REQUESTS_MAX = 80;
const FIRST_READ_SECONDS_MAX = 1;
const STEP = fileURLToPath(new URL('./backup/measured-step.js', import.meta.url));

export async function run({ quick }: RunOptions): Promise<void> {
  const sizeMib = Number(process.env.HOLDFAST_BENCH_MIB ?? (quick ? QUICK_MIB : FULL_MIB));
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'holdfast-bench-backup-'));
  try {
    const image = path.join(folder, 'image');
    writeImage(image, sizeMib);
    const name = `${sizeMib} MiB`;
    full(folder, image, sizeMib, name);
    incremental(folder, image, sizeMib, name);
    restore(folder, image, sizeMib, name);
    firstRead(`${name}, from a folder`, step('first-read', path.join(folder, 'target')));
    await bucket(folder, image, name);
    restic(folder, image, sizeMib, name);
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
  }
}

function full(folder: string, image: string, sizeMib: number, name: string): void {
  const results: StepResult[] = [];
  const baselines: number[] = [];
  for (let index = 0; index < RUNS; index += 1) {
    const target = path.join(folder, 'target');
    fs.rmSync(target, { recursive: true, force: true });
    fs.mkdirSync(target);
    baselines.push(seconds(`dd if=${image} bs=1M status=none | zstd -q -1 -T1 -c > ${folder}/zst`));
    fs.rmSync(`${folder}/zst`);
    results.push(step('full', target, image));
  }
  const memory = Math.max(...results.map(({ memoryBytes }) => memoryBytes));
  const fastest = Math.min(...results.map((one) => one.seconds));
  report({
    bench: 'backup',
    case: `full, ${name}, to a folder; baseline: dd | zstd -1 -T1`,
    metric: 'throughput',
    value: sizeMib / fastest,
    unit: 'MiB/s',
    baseline: sizeMib / Math.min(...baselines),
    ratioTarget: 0.7,
  });
  atMost(`full, ${name}`, 'memory', memory / MIB, 'MiB', MEMORY_BYTES_MAX / MIB);
  atMost(`full, ${name}`, 'requests', results[0]?.requests ?? 0, 'requests', REQUESTS_MAX);
}

function incremental(folder: string, image: string, sizeMib: number, name: string): void {
  const changed = Array.from({ length: Math.ceil(sizeMib / 100) }, (_, index) => index * 100 * MIB);
  const file = fs.openSync(image, 'r+');
  for (const offset of changed) fs.writeSync(file, randomFillSync(Buffer.alloc(MIB)), 0, MIB, offset);
  fs.closeSync(file);
  const { seconds: took } = step('incremental', path.join(folder, 'target'), image, ...changed.map(String));
  atMost(`incremental, 1 % of ${name}`, 'time', took, 's', 2);
}

function restore(folder: string, image: string, sizeMib: number, name: string): void {
  const copy = path.join(folder, 'copy');
  const results: StepResult[] = [];
  const baselines: number[] = [];
  for (let index = 0; index < RUNS; index += 1) {
    baselines.push(seconds(`dd if=${image} of=${copy} bs=1M status=none conv=fsync`));
    fs.rmSync(copy);
    results.push(step('restore', path.join(folder, 'target'), copy));
    fs.rmSync(copy);
  }
  const fastest = Math.min(...results.map((one) => one.seconds));
  const memoryBytes = Math.max(...results.map((one) => one.memoryBytes));
  report({
    bench: 'backup',
    case: `restore, ${name}, from a folder; baseline: dd conv=fsync`,
    metric: 'throughput',
    value: sizeMib / fastest,
    unit: 'MiB/s',
    baseline: sizeMib / Math.min(...baselines),
    ratioTarget: 0.7,
  });
  atMost(`restore, ${name}`, 'memory', memoryBytes / MIB, 'MiB', MEMORY_BYTES_MAX / MIB);
}

/** From opening the repository to the bytes, as a volume that is restored while it is read has to wait for them. */
function firstRead(name: string, { seconds: took }: StepResult): void {
  atMost(`first read of a backup, ${name}`, 'time', took, 's', FIRST_READ_SECONDS_MAX);
}

async function bucket(folder: string, image: string, name: string): Promise<void> {
  const root = path.join(folder, 'bucket');
  fs.mkdirSync(root);
  const server = await FakeS3.start(new FileStore(root));
  try {
    // Not waited for synchronously: the server is in this process.
    const stepOf = async (...args: readonly string[]): Promise<StepResult> => {
      const [kind = '', ...more] = args;
      const { stdout } = await promisify(execFile)(process.execPath, [STEP, kind, server.endpoint, ...more]);
      return JSON.parse(stdout);
    };
    await stepOf('full', image);
    atMost(`full, ${name}, to S3`, 'requests', server.requests.length, 'requests', REQUESTS_MAX);
    firstRead(`${name}, from S3`, await stepOf('first-read'));
    const before = server.requests.length;
    const copy = path.join(folder, 'copy');
    const { memoryBytes } = await stepOf('restore', copy);
    fs.rmSync(copy);
    report({
      bench: 'backup',
      case: `restore, ${name}, from S3`,
      metric: 'requests',
      value: server.requests.length - before,
      unit: 'requests',
      better: 'lower',
    });
    atMost(`restore, ${name}, from S3`, 'memory', memoryBytes / MIB, 'MiB', MEMORY_BYTES_MAX / MIB);
  } finally {
    await server.stop();
    fs.rmSync(root, { recursive: true });
  }
}

/** Its figures are the baseline of ours, which are measured once more beside it. */
function restic(folder: string, image: string, sizeMib: number, name: string): void {
  if (spawnSync('restic', ['version']).status !== 0) {
    console.log('restic is not installed: nothing is compared with it.');
    return;
  }
  const target = path.join(folder, 'beside-restic');
  fs.mkdirSync(target);
  const call = `RESTIC_PASSWORD=bench restic -q --no-cache -r ${folder}/restic`;
  seconds(`${call} init`);
  const beside = {
    full: seconds(`${call} backup ${image}`),
    restore: seconds(`${call} restore latest --target ${folder}/restic-copy`),
  };
  fs.rmSync(`${folder}/restic-copy`, { recursive: true });
  const copy = path.join(folder, 'copy');
  const ours = { full: step('full', target, image), restore: step('restore', target, copy) };
  for (const kind of ['full', 'restore'] as const)
    report({
      bench: 'backup',
      case: `${kind}, ${name}, a folder; baseline: restic`,
      metric: 'throughput',
      value: sizeMib / ours[kind].seconds,
      unit: 'MiB/s',
      baseline: sizeMib / beside[kind],
    });
}

function atMost(name: string, metric: string, value: number, unit: string, target: number): void {
  report({ bench: 'backup', case: name, metric, value, unit, target, better: 'lower' });
}

function step(...args: readonly string[]): StepResult {
  return JSON.parse(execFileSync(process.execPath, [STEP, ...args], { encoding: 'utf8' }));
}

function seconds(command: string): number {
  const begin = process.hrtime.bigint();
  const { status } = spawnSync('bash', ['-o', 'pipefail', '-c', command]);
  if (status !== 0) throw new Error(`${command} failed: zstd and dd are needed`);
  return Number(process.hrtime.bigint() - begin) / 1e9;
}

/** Every second block is random, the others are of words; no two are alike. */
function writeImage(file: string, sizeMib: number): void {
  const words = Array.from({ length: WORDS }, () => randomWord());
  const pieces = Array.from({ length: 4096 }, () => textOf(words, 4096));
  const handle = fs.openSync(file, 'w');
  for (let block = 0; block < sizeMib; block += 1) {
    const bytes = Buffer.alloc(MIB);
    if (block % 2 === 0) randomFillSync(bytes);
    else
      for (let at = 0; at < MIB; at += 4096)
        pieces[Math.floor(Math.random() * pieces.length)]?.copy(bytes, at);
    fs.writeSync(handle, bytes);
  }
  fs.fsyncSync(handle);
  fs.closeSync(handle);
}

function randomWord(): string {
  return Array.from({ length: 2 + Math.floor(Math.random() * 8) }, () =>
    String.fromCharCode(97 + Math.floor(Math.random() * 26)),
  ).join('');
}

function textOf(words: readonly string[], lengthBytes: number): Buffer {
  let text = '';
  // Few words are frequent, as in any language.
  while (text.length < lengthBytes) text += `${words[Math.floor(Math.random() ** 3 * words.length)]} `;
  return Buffer.from(text.slice(0, lengthBytes));
}
