/**
 * Benchmark of backups: an image, half random and half text, goes to a folder, beside `dd | zstd -1 -T1`, which neither encrypts nor looks for what
 * is there already; is backed up again with 1 % changed; and is restored beside `dd`. HOLDFAST_BENCH_MIB gives the image another size.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { randomFillSync } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
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
  const baseline = seconds(`dd if=${image} of=${copy} bs=1M status=none conv=fsync`);
  fs.rmSync(copy);
  const { seconds: took, memoryBytes } = step('restore', path.join(folder, 'target'), copy);
  report({
    bench: 'backup',
    case: `restore, ${name}, from a folder; baseline: dd conv=fsync`,
    metric: 'throughput',
    value: sizeMib / took,
    unit: 'MiB/s',
    baseline: sizeMib / baseline,
    ratioTarget: 0.7,
  });
  atMost(`restore, ${name}`, 'memory', memoryBytes / MIB, 'MiB', MEMORY_BYTES_MAX / MIB);
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
