// Full rebuild of real data, both ends on this machine, against a plain copy of the same files by dd.
import { execFileSync } from 'node:child_process';
import crypto from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { BenchStack, MIB, report, rounded, timed } from './stack.mjs';

const quick = process.argv.includes('--quick');
const sizeBytes = (quick ? 256 : 1024) * MIB;
const TARGET_MB_S = 150;

const stack = await BenchStack.start(3);
try {
  const { volumeId, client } = await stack.volume(sizeBytes, 2);
  const pieces = Array.from({ length: 16 }, () => crypto.randomBytes(MIB));
  await timed(sizeBytes / MIB, 8, (i) => client.write(i * MIB, [pieces[i % 16]], MIB, { fua: false }));
  await client.flush();

  const baseline = copyByDd();
  const seconds = await rebuild(volumeId);
  const value = rounded(sizeBytes / 1e6 / seconds);
  report({
    bench: 'rebuild',
    case: `full, ${sizeBytes / MIB} MiB`,
    metric: 'throughput',
    value,
    unit: 'MB/s',
    baseline: rounded(baseline),
    ratio: rounded(value / baseline),
    target: TARGET_MB_S,
    met: value >= TARGET_MB_S,
  });
} finally {
  await stack.stop();
}

/** MB/s of dd with the same flush at its end. */
function copyByDd() {
  const folder = path.join(stack.agents[1].disk, 'replicas');
  const [replica] = fs.readdirSync(folder);
  const image = fs.readdirSync(path.join(folder, replica)).find((name) => name.endsWith('.img'));
  const copy = path.join(stack.folder, 'copy.img');
  const startedMs = performance.now();
  execFileSync('dd', [`if=${path.join(folder, replica, image)}`, `of=${copy}`, 'bs=1M', 'conv=fdatasync'], {
    stdio: 'ignore',
  });
  const seconds = (performance.now() - startedMs) / 1000;
  fs.rmSync(copy);
  return sizeBytes / 1e6 / seconds;
}

async function rebuild(volume) {
  const target = await stack.replica(volume, sizeBytes, 2, crypto.randomUUID(), null);
  const rebuildId = crypto.randomUUID();
  const startedMs = performance.now();
  await stack.call(0, 'POST', `/v1/engines/${volume}/rebuilds`, {
    rebuildId,
    epoch: 1,
    target,
    sourceReplicaId: null,
  });
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, 25));
    const run = stack.beat(0).engines[0]?.rebuilds[0];
    if (run?.state === 'failed') throw new Error(JSON.stringify(run.error));
    if (run?.state === 'succeeded') return (performance.now() - startedMs) / 1000;
  }
}
