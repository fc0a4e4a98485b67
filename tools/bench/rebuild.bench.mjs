// A full rebuild of real data through a whole local stack, beside `dd` copying as much from file to file on the same
// disk with direct I/O.
import { spawnSync } from 'node:child_process';
import crypto from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { eventually } from '../../packages/testkit/dist/eventually.js';
import { LocalStack } from '../../packages/testkit/dist/local-stack.js';
import { connectNbd } from '../../packages/testkit/dist/nbd-workload.js';
import { report } from './report.mjs';

const MIB = 1024 * 1024;
const WRITE_DEPTH = 4;

export async function run({ quick }) {
  const mebibytes = quick ? 256 : 1024;
  const stack = await LocalStack.start();
  try {
    const baseline = copyRate(stack.home, mebibytes);
    const volume = await fill(stack, mebibytes);
    const rebuild = await loseAndRegain(stack, volume);
    const tookSeconds = (Date.parse(rebuild.finishedAt) - Date.parse(rebuild.startedAt)) / 1000;
    const rate = (mebibytes * MIB) / 1e6 / tookSeconds;
    report({
      bench: 'rebuild',
      case: `full, ${mebibytes} MiB`,
      metric: 'rate',
      value: rate,
      unit: 'MB/s',
      baseline,
      target: 150,
    });
    report({
      bench: 'rebuild',
      case: `full, ${mebibytes} MiB`,
      metric: 'sent',
      value: rebuild.bytes.sent / MIB,
      unit: 'MiB',
    });
  } finally {
    await stack.destroy();
  }
}

function copyRate(directory, mebibytes) {
  const [from, to] = ['dd-from', 'dd-to'].map((name) => path.join(directory, name));
  const file = fs.openSync(from, 'w');
  for (let written = 0; written < mebibytes; written += 16) fs.writeSync(file, crypto.randomBytes(16 * MIB));
  fs.fsyncSync(file);
  fs.closeSync(file);
  const startedAt = performance.now();
  const copy = (flags) =>
    spawnSync('dd', [`if=${from}`, `of=${to}`, 'bs=4M', 'conv=fdatasync', ...flags], { stdio: 'ignore' });
  // Where the file system has no direct I/O, the copy is a buffered one.
  if (copy(['iflag=direct', 'oflag=direct']).status !== 0) copy([]);
  const tookSeconds = (performance.now() - startedAt) / 1000;
  for (const name of [from, to]) fs.rmSync(name);
  return (mebibytes * MIB) / 1e6 / tookSeconds;
}

async function fill(stack, mebibytes) {
  const size = String((mebibytes + 64) * MIB);
  await stack.cliJson('volume', 'create', 'bench', '--size', size, '--replicas', '3');
  const volume = await stack.cliJson('volume', 'attach', 'bench', '--node', 'node-1');
  const client = await connectNbd(volume.endpoint.nbdUri);
  let next = 0;
  const writer = async () => {
    while (next < mebibytes) {
      const offset = next++ * MIB;
      await client.write(offset, [crypto.randomBytes(MIB)], MIB, { fua: false });
    }
  };
  await Promise.all(Array.from({ length: WRITE_DEPTH }, writer));
  await client.flush();
  client.close();
  return volume;
}

async function loseAndRegain(stack, volume) {
  stack.killAgent('node-2');
  const read = async () => (await stack.call('GET', `/volumes/${volume.id}`)).body;
  await eventually('degraded', read, (answer) => answer.robustness === 'degraded');
  await stack.cli('local', 'start-agent', 'node-2');
  await eventually('healthy', read, (answer) => answer.robustness === 'healthy', 300_000);
  const { items } = (await stack.call('GET', '/rebuilds')).body;
  return items.find((rebuild) => rebuild.volumeId === volume.id && rebuild.state === 'succeeded');
}
