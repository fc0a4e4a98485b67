// Order of test suites. Failed ones first. Then long ones, longest first, so that no worker is left alone with one at the end; and
// beside them short ones: a long suite mostly waits for real processes and real time, a short one computes, and only a few of
// those that wait may do so at once, since some hold a process to a deadline of seconds (docs/adr/0266).
//
// Jest knows how long suites take where it has run them before; elsewhere, as on a clean clone, a list says it.
import path from 'node:path';
import Sequencer from '@jest/test-sequencer';
import { LONG_SUITES } from './long-suites.mjs';

/** From here on a suite is long. */
const LONG_SECONDS = 40;
/** Long suites that run at once. */
const LONG_AT_ONCE = 2;
/**
 * Suites that make networks and take them away, and suites with a browser: Chromium ends all its requests, over the loopback too,
 * whenever a network of the machine comes or goes.
 */
const CHANGES_NETWORKS = /\/(compose|upgrade|partitions)\//;
const HAS_BROWSER = /\/console[^/]*\.test\.ts$/;
/** What a suite takes that Jest has not timed and the list does not name. */
const UNKNOWN_SECONDS = 5;

export default class PairedSequencer extends Sequencer {
  constructor(options) {
    super(options);
    this.workers = options.globalConfig.maxWorkers;
  }

  sort(tests) {
    const inOrder = super.sort(tests).toSorted((one, other) => seconds(other) - seconds(one));
    const failed = inOrder.filter((test) => this.hasFailed(test));
    const others = inOrder.filter((test) => !this.hasFailed(test));
    return [...paired(failed, this.workers), ...paired(others, this.workers)];
  }
}

/** The order in which workers would take the suites if each took as long as is known: Jest hands them out one by one. */
function paired(tests, workers) {
  const long = tests.filter((test) => seconds(test) >= LONG_SECONDS);
  const short = tests.filter((test) => seconds(test) < LONG_SECONDS);
  const ordered = [];
  let running = Array.from({ length: workers }, () => ({ endsAt: 0, isLong: false, test: undefined }));
  while (long.length > 0 || short.length > 0) {
    running = running.toSorted((one, other) => one.endsAt - other.endsAt);
    const [{ endsAt: now }, ...rest] = running;
    const beside = rest.filter(({ endsAt }) => endsAt > now);
    const longOnes = beside.filter(({ isLong }) => isLong).length;
    const mayBeLong = longOnes < LONG_AT_ONCE || short.length === 0;
    const test = take(long.length > 0 && mayBeLong ? long : short, beside);
    ordered.push(test);
    running = [{ endsAt: now + seconds(test), isLong: seconds(test) >= LONG_SECONDS, test }, ...rest];
  }
  return ordered;
}

/** The first that does not disturb what runs meanwhile; the first of all where each does. */
function take(tests, beside) {
  const index = tests.findIndex((test) => !beside.some((other) => disturbs(test, other.test)));
  return tests.splice(Math.max(0, index), 1)[0];
}

function disturbs({ path: one }, { path: other }) {
  const isEither = (first, second) => CHANGES_NETWORKS.test(first) && HAS_BROWSER.test(second);
  return isEither(one, other) || isEither(other, one);
}

function seconds({ path: file, duration, context }) {
  if (duration !== undefined) return duration / 1000;
  const name = path.relative(context.config.rootDir, file).replaceAll(path.sep, '/');
  return LONG_SUITES[name] ?? UNKNOWN_SECONDS;
}
