// Partition runs, `node tools/partition-run.mjs --seeds 1..5 --minutes 3`: a stack whose agents have networks of their
// own, under load, with faults chosen by each seed for so many minutes. Each run ends with the proof that nothing that
// was flushed was lost and that no read was wrong. Needs root and iproute2. Builds first. Each night runs
// one seed for a short while, and some for longer.
import { parseArgs } from 'node:util';
import { runSuite } from './run-suite.mjs';

/** Most seeds of one call: more are a mistake in the range, since each takes minutes. */
const SEEDS_MAX = 1_000;

const { values } = parseArgs({
  options: { seeds: { type: 'string', default: '1' }, minutes: { type: 'string', default: '3' } },
});
const range = /^([1-9]\d{0,8})(?:\.\.([1-9]\d{0,8}))?$/.exec(values.seeds);
const first = Number(range?.[1]);
const last = Number(range?.[2] ?? range?.[1]);
if (range === null || last < first || last - first >= SEEDS_MAX) {
  console.error('--seeds has to be a number, or two as in 1..5');
  process.exit(2);
}
if (!/^\d{1,3}(\.\d{1,2})?$/.test(values.minutes) || Number(values.minutes) === 0) {
  console.error('--minutes has to be a number above 0');
  process.exit(2);
}

const seeds = Array.from({ length: last - first + 1 }, (_, index) => first + index);
runSuite('apps/local/test/partitions/partitions.night.test.ts', {
  HOLDFAST_PARTITION_SEEDS: seeds.join(','),
  HOLDFAST_PARTITION_MINUTES: values.minutes,
  HOLDFAST_PARTITION_LOG: '1',
});
