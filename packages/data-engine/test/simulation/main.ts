/**
 * Command line of the simulation. Runs every n-th seed of a range and writes one line of JSON for each: `main.js
 * <first> <last> <step> <faultsMax> <any|folder|block> [fault ...]`, with all kinds of faults if none is named; `copy` as the only fault: lives of
 * a single copy, without an engine.
 */
import { hugePagesReady } from '../../src/disk/huge-pages.js';
import { simulateCopy } from './copy-run.js';
import { simulate } from './sim-run.js';
import { installSystem } from './sim-system.js';

/** Lines of a failed run's story that are printed. */
const LINES_MAX = 300;

const [first = 1, last = 1, step = 1, faultsMax = 1_000] = process.argv.slice(2, 6).map(Number);
const [disks = 'any', ...only] = process.argv.slice(6);
if (disks !== 'any' && disks !== 'folder' && disks !== 'block')
  throw new RangeError(`there are no disks of the kind ${disks}`);

const isOfCopy = only.length === 1 && only[0] === 'copy';

// Real time ends that wait: a seed that was the first of its process would be another run than later ones.
installSystem();
await hugePagesReady();
for (let seed = first; seed <= last; seed += step) {
  const { failure, story, events } = isOfCopy
    ? await simulateCopy(seed, disks)
    : await simulate(seed, { faultsMax, only, disks });
  const told = failure === undefined ? { failure: null } : { failure, story: story.slice(-LINES_MAX) };
  process.stdout.write(`${JSON.stringify({ seed, events, ...told })}\n`);
}
process.exit(0);
