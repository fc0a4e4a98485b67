// Order of test suites: failed ones first, then longest first, so that no worker is left alone with a long one at the end. Jest
// knows how long suites take where it has run them before; elsewhere, as on a clean clone, it would go by the size of files.
import path from 'node:path';
import Sequencer from '@jest/test-sequencer';
import { LONG_SUITES } from './long-suites.mjs';

export default class LongestFirstSequencer extends Sequencer {
  sort(tests) {
    const failedFirst = (one, other) => Number(this.hasFailed(other)) - Number(this.hasFailed(one));
    return super
      .sort(tests)
      .toSorted((one, other) => failedFirst(one, other) || seconds(other) - seconds(one));
  }
}

function seconds({ path: file, duration, context }) {
  if (duration !== undefined) return duration / 1000;
  const name = path.relative(context.config.rootDir, file).replaceAll(path.sep, '/');
  return LONG_SUITES[name] ?? 0;
}
