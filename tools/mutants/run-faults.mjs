// Run over planted faults: one after the other, each in the copy, with the suites that have to find it.
import fs from 'node:fs';
import path from 'node:path';
import { isLong, withFault } from './fault-table.mjs';
import { buildPackageOf, killRuns, relatedSuites, runSuites } from './jest-run.mjs';
import { makeCopy, removeCopy } from './repository-copy.mjs';

/** Time limits of one run: a fault may hang. */
const LIMITS = { finderMs: 180_000, relatedMs: 600_000, listMs: 120_000, buildMs: 60_000 };

/**
 * Plants each fault and reports on it when it is undone.
 *
 * @param options `repositoryRoot`; `tier`: `test` leaves long suites out; `withRelated`: whether suites that import the fault's file are
 *   tried after its finder; `havePassed`: the suites passed a moment ago, and are not run without a fault first; `limits` in
 *   milliseconds; `onResult` is called with each result
 * @returns `{ name, room, verdict, by, seconds }` of each fault. `verdict` is `found`, `timed out` (which counts as found), `missed`,
 *   `crashed` (no test ran: the fault is not one of a rule), or `unproven` (the suite fails without the fault, too)
 */
export async function runFaults(faults, options) {
  const limits = { ...LIMITS, ...options.limits };
  const copy = makeCopy(options.repositoryRoot);
  const undoSignals = cleanUpOnSignals(copy);
  try {
    const passing = options.havePassed ? undefined : await passingSuites(copy, faults, limits);
    const results = [];
    for (const fault of faults) {
      const result = await runFault(copy, fault, { ...options, limits, passing });
      results.push(result);
      options.onResult?.(result);
    }
    return results;
  } finally {
    undoSignals();
    removeCopy(copy);
  }
}

/** Suites that pass without any fault, of those that have to find one. Only such a suite's failure says something. */
async function passingSuites(copy, faults, { finderMs }) {
  const passing = new Set([...new Set(faults.map(({ foundBy }) => foundBy))].sort());
  const limitMs = finderMs * Math.max(1, passing.size);
  const { outcome, failed } = await runSuites(copy, [...passing], { limitMs, bail: false });
  if (outcome === 'timed out' || outcome === 'crashed')
    throw new Error(`the suites ${outcome} without a fault`);
  for (const suite of failed) passing.delete(suite);
  return passing;
}

async function runFault(copy, fault, options) {
  const { name, room, file, onDist } = fault;
  const target = path.join(copy, file);
  const original = fs.readFileSync(target, 'utf8');
  const build = () => (onDist ? buildPackageOf(copy, file, options.limits.buildMs) : undefined);
  try {
    fs.writeFileSync(target, withFault(original, fault));
    await build();
    return { name, room, ...(await judge(copy, fault, options)) };
  } finally {
    fs.writeFileSync(target, original);
    await build();
  }
}

async function judge(copy, fault, { limits, passing, tier, withRelated = true }) {
  const { foundBy } = fault;
  if (passing?.has(foundBy) === false) return { verdict: 'unproven', by: foundBy, seconds: 0 };
  const first = await runSuites(copy, [foundBy], { limitMs: limits.finderMs });
  if (first.outcome !== 'passed' || !withRelated) return verdictOf(first, foundBy);
  const related = (await relatedSuites(copy, fault.file, { limitMs: limits.listMs }))
    .filter((suite) => suite !== foundBy && (tier === 'all' || !isLong(suite)))
    .sort((a, b) => Number(isNear(b, fault)) - Number(isNear(a, fault)));
  if (related.length === 0) return verdictOf(first, foundBy);
  const further = await runSuites(copy, related, { limitMs: limits.relatedMs });
  return verdictOf({ ...further, seconds: first.seconds + further.seconds }, further.failed[0]);
}

/** Suites of the fault's own package are quick, and know the rule. */
function isNear(suite, { file }) {
  return suite.startsWith(`${file.split('/').slice(0, 2).join('/')}/`);
}

function verdictOf({ outcome, seconds }, suite) {
  const rounded = Math.round(seconds * 10) / 10;
  if (outcome === 'passed') return { verdict: 'missed', by: undefined, seconds: rounded };
  return { verdict: outcome === 'failed' ? 'found' : outcome, by: suite, seconds: rounded };
}

/** A signal ends the run of Jest and removes the copy. */
function cleanUpOnSignals(copy) {
  const handlers = ['SIGINT', 'SIGTERM', 'SIGHUP'].map((signal) => {
    const handler = () => {
      killRuns();
      removeCopy(copy);
      process.exit(130);
    };
    process.once(signal, handler);
    return { signal, handler };
  });
  return () => {
    for (const { signal, handler } of handlers) process.removeListener(signal, handler);
  };
}

/** Whether a result counts as found. */
export function isFound({ verdict }) {
  return verdict === 'found' || verdict === 'timed out';
}
