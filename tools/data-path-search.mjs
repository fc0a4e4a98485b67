// Search for broken promises in the simulated data path: `node tools/data-path-search.mjs --seeds 1..2000 [--mutant
// <name>] [--workers 2] [--all]`. Simulates a volume's engine, copies and disks, each seed another run of users and
// faults, until one breaks a promise. A failing run is made smaller: the fewest faults with which the same seed still
// fails. `--faults N` replays a seed with at most so many; `--only a,b` takes some kinds of faults only, and
// `--only copy` the lives of a single copy. Where a mutant is named, the default is the mutant's own kinds.
import { parseArgs } from 'node:util';
import { build, install, requireSupportedPlatform } from './bootstrap.mjs';

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '1..500' },
    mutant: { type: 'string' },
    workers: { type: 'string', default: '2' },
    faults: { type: 'string' },
    only: { type: 'string', default: '' },
    all: { type: 'boolean', default: false },
    'no-build': { type: 'boolean', default: false },
  },
});
const range = /^([1-9]\d{0,8})(?:\.\.([1-9]\d{0,8}))?$/.exec(values.seeds);
const isCount = (text) => text === undefined || /^\d{1,6}$/.test(text);
if (range === null || Number(range[2] ?? range[1]) < Number(range[1])) refuse('--seeds has to be N or N..M');
if (!/^[1-9]\d?$/.test(values.workers)) refuse('--workers has to be 1 to 99');
if (!isCount(values.faults)) refuse('--faults has to be a whole number');
const [first, last] = [Number(range[1]), Number(range[2] ?? range[1])];

requireSupportedPlatform();
if (!values['no-build']) {
  install({ output: 2 });
  build({ output: 2 });
}
const { compile, search } = await import('../packages/data-engine/test/simulation/runner.mjs');
const { MUTANTS } = await import('../packages/data-engine/test/simulation/mutants.mjs');
const mutant = MUTANTS.find(({ name }) => name === values.mutant);
if (values.mutant !== undefined && mutant === undefined)
  refuse(`there is no mutant ${values.mutant}; there are ${MUTANTS.map(({ name }) => name).join(', ')}`);

const folder = compile(mutant);
const disks = mutant?.disks ?? 'any';
const only = values.only === '' ? (mutant?.faults ?? []) : values.only.split(',');
const began = performance.now();
let done = 0;
const { seeds, failures } = await search({
  folder,
  first,
  last,
  workers: Number(values.workers),
  args: [values.faults ?? '1000', disks, ...only],
  isFinal: (result) => {
    done += 1;
    if (done % 200 === 0)
      console.error(`${done} seeds, ${((done * 1000) / (performance.now() - began)).toFixed(1)} a second`);
    if (result.failure !== null && values.all)
      console.log(`seed ${result.seed}: ${result.failure.split('\n')[0]}`);
    return result.failure !== null && !values.all;
  },
});
const [failed] = failures;
if (failed !== undefined && !values.all) await explain(failed);
console.log(`${seeds - failures.length} passed, ${failures.length} failed`);
process.exit(failures.length === 0 ? 0 : 1);

/** Finds the fewest faults with which the seed still fails, and prints that run. */
async function explain(failure) {
  let smallest = failure;
  for (let faults = 0; faults < 20; faults += 1) {
    const { failures: again } = await search({
      folder,
      first: failure.seed,
      last: failure.seed,
      workers: 1,
      args: [`${faults}`, disks, ...only],
    });
    if (again.length === 0) continue;
    smallest = again[0];
    console.log(
      `seed ${failure.seed} fails with ${faults} faults: replay with --seeds ${failure.seed} --faults ${faults}`,
    );
    break;
  }
  console.log(smallest.story.join('\n'));
  console.log(smallest.failure);
}

function refuse(message) {
  console.error(`data-path-search: ${message}`);
  process.exit(2);
}
