// Proof that the tests find broken rules: plants faults in a copy of the repository, one at a time, and runs the suites that have to
// find each. Ends with the plain line `N found, M missed`.
// `node tools/mutants.mjs [--only <name|room>]… [--sample 12] [--seed 1] [--tier test|all] [--finder-only]
// [--suites-passed] [--json <file>]`: `--finder-only` tries no further suites where the one that should find a fault does not;
// `--suites-passed` does not run those suites without a fault first.
import fs from 'node:fs';
import { parseArgs } from 'node:util';
import { quietEnvironment, repositoryRoot } from './bootstrap.mjs';
import { chooseFaults, FAULTS, SIMULATED_FAULTS } from './mutants/fault-table.mjs';
import { isFound, runFaults } from './mutants/run-faults.mjs';

const { values } = parseArgs({
  options: {
    only: { type: 'string', multiple: true, default: [] },
    sample: { type: 'string' },
    seed: { type: 'string', default: '1' },
    tier: { type: 'string', default: 'test' },
    'finder-only': { type: 'boolean', default: false },
    'suites-passed': { type: 'boolean', default: false },
    json: { type: 'string' },
  },
});
if (!['test', 'all'].includes(values.tier)) fail(`--tier is test or all, not ${values.tier}`);

const faults = chooseFaults(FAULTS, {
  only: values.only,
  sample: values.sample === undefined ? undefined : wholeNumber('sample'),
  seed: wholeNumber('seed'),
  tier: values.tier,
});
if (faults.length === 0) fail('no fault has this name or room');
console.log(
  `${faults.length} of ${FAULTS.length} faults; ${SIMULATED_FAULTS.length} more are planted by the simulations' own suites`,
);
Object.assign(process.env, quietEnvironment);

const results = await runFaults(faults, {
  repositoryRoot,
  tier: values.tier,
  withRelated: !values['finder-only'],
  havePassed: values['suites-passed'],
  onResult: (result) => console.log(told(result)),
});
if (values.json !== undefined) fs.writeFileSync(values.json, `${JSON.stringify(results, undefined, 2)}\n`);
printTable(results);
const found = results.filter(isFound).length;
console.log(`${found} found, ${results.length - found} missed`);
process.exit(found === results.length ? 0 : 1);

function told({ name, room, verdict, by, seconds }) {
  return `${room}/${name}: ${verdict}${by === undefined ? '' : ` by ${by}`} in ${seconds} s`;
}

/** One line for each room, and one for each fault that was not found. */
function printTable(results) {
  console.log('\nroom          found   of  seconds');
  for (const room of new Set(results.map((result) => result.room))) {
    const ofRoom = results.filter((result) => result.room === room);
    const seconds = ofRoom.reduce((sum, result) => sum + result.seconds, 0);
    const cells = [ofRoom.filter(isFound).length, ofRoom.length, Math.round(seconds)];
    console.log(
      `${room.padEnd(12)}${cells.map((cell, at) => String(cell).padStart([7, 5, 9][at])).join('')}`,
    );
  }
  for (const result of results.filter((one) => !isFound(one))) console.log(told(result));
}

function wholeNumber(name) {
  if (!/^\d+$/.test(values[name])) fail(`--${name} is a whole number, not ${values[name]}`);
  return Number(values[name]);
}

function fail(message) {
  console.error(`holdfast: ${message}`);
  process.exit(2);
}
