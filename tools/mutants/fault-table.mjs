// Table of planted faults: rules of every room, each broken as a tired developer could break it, with the suite that finds it.
import { MUTANTS as DATA_PATH_MUTANTS } from '../../packages/data-engine/test/simulation/mutants.mjs';
import { MUTANTS as CONTROL_PLANE_MUTANTS } from '../../packages/simulator/test/mutants/mutants.mjs';
import { AGENT_FAULTS } from './faults/agent.mjs';
import { API_DOMAIN_FAULTS } from './faults/api-domain.mjs';
import { API_NODE_FAULTS } from './faults/api-nodes.mjs';
import { API_PLATFORM_FAULTS } from './faults/api-platform.mjs';
import { BACKUP_FAULTS } from './faults/backup.mjs';
import { CLI_FAULTS } from './faults/cli.mjs';
import { CONSOLE_FAULTS } from './faults/console.mjs';
import { CONTROL_FAULTS } from './faults/control.mjs';
import { CORE_FAULTS } from './faults/core.mjs';
import { CORE_POLICY_FAULTS } from './faults/core-policy.mjs';
import { CORE_SCHEDULING_FAULTS } from './faults/core-scheduling.mjs';
import { CORE_VOLUME_FAULTS } from './faults/core-volumes.mjs';
import { DATA_ENGINE_FAULTS } from './faults/data-engine.mjs';
import { COPY_FAULTS } from './faults/data-engine-copies.mjs';
import { DATABASE_FAULTS } from './faults/database.mjs';
import { WORKER_FAULTS } from './faults/worker.mjs';

/** Suites that only `npm run test:all` runs. */
const LONG_SUITE = /\.(long|night)\.test\.ts$/;

/**
 * `{ name, breaks, file, changes: [{ find, replace }], foundBy, onDist? }`: `breaks` says in one sentence which rule is broken,
 * `foundBy` is the suite that finds it. `onDist`: that suite starts built code, so the fault's package is built with it.
 */
export const FAULTS = Object.entries({
  agent: AGENT_FAULTS,
  api: [...API_DOMAIN_FAULTS, ...API_NODE_FAULTS, ...API_PLATFORM_FAULTS],
  backup: BACKUP_FAULTS,
  cli: CLI_FAULTS,
  console: CONSOLE_FAULTS,
  control: CONTROL_FAULTS,
  core: [...CORE_FAULTS, ...CORE_VOLUME_FAULTS, ...CORE_POLICY_FAULTS, ...CORE_SCHEDULING_FAULTS],
  'data-engine': [...DATA_ENGINE_FAULTS, ...COPY_FAULTS],
  database: DATABASE_FAULTS,
  worker: WORKER_FAULTS,
}).flatMap(([room, faults]) => faults.map((fault) => ({ room, ...fault })));

/** Faults that suites of their own plant and find, in simulations. */
export const SIMULATED_FAULTS = [...DATA_PATH_MUTANTS, ...CONTROL_PLANE_MUTANTS].map(({ name }) => name);

/** Whether only `npm run test:all` runs a suite. */
export function isLong(suite) {
  return LONG_SUITE.test(suite);
}

/**
 * The faults of one run, in the order of the table.
 *
 * @param only names of faults or rooms; none means all
 * @param sample how many of these are run at most; `undefined` means all
 * @param seed decides which are in the sample: the same seed and table give the same sample
 */
export function chooseFaults(faults, { only = [], sample, seed = 1, tier = 'test' }) {
  const chosen = faults
    .filter(({ name, room }) => only.length === 0 || only.includes(name) || only.includes(room))
    .filter(({ foundBy }) => tier === 'all' || !isLong(foundBy));
  if (sample === undefined || sample >= chosen.length) return chosen;
  const taken = new Set(shuffled(chosen, seed).slice(0, sample));
  return chosen.filter((fault) => taken.has(fault));
}

/** Fisher-Yates with a linear congruential generator. */
function shuffled(items, seed) {
  const result = [...items];
  let state = seed >>> 0;
  for (let last = result.length - 1; last > 0; last -= 1) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    const other = Math.floor((state / 2 ** 32) * (last + 1));
    [result[last], result[other]] = [result[other], result[last]];
  }
  return result;
}

/** The text with the fault in it. Throws where a text to find does not occur exactly once. */
export function withFault(text, { name, file, changes }) {
  return changes.reduce((changed, { find, replace }) => {
    const times = changed.split(find).length - 1;
    if (times !== 1) throw new Error(`${name}: this occurs ${times} times in ${file}: ${find}`);
    return changed.replace(find, () => replace);
  }, text);
}
