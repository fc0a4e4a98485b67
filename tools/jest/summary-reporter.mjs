// Jest reporter of a run's summary: the suites that took longest, what the run cost, and the counts, for the entry (tools/test.mjs),
// which ends its output with the plain line that scripts read: `N passed, M failed` (`, K skipped` when any).
import fs from 'node:fs';
import path from 'node:path';

const SLOWEST = 10;
const MEMORY_SAMPLE_MS = 1_000;
const MIB = 1024 * 1024;

export default class SummaryReporter {
  startedAt = Date.now();
  availableAtStart = availableBytes();
  availableMin = this.availableAtStart;

  onRunStart() {
    this.sampler = setInterval(() => {
      this.availableMin = Math.min(this.availableMin, availableBytes());
    }, MEMORY_SAMPLE_MS).unref();
  }

  onRunComplete(_contexts, results) {
    clearInterval(this.sampler);
    const summary = this.summaryOf(results);
    const file = process.env.HOLDFAST_TEST_SUMMARY;
    if (file === undefined) console.log(`${describe(summary)}\n${plainLine(summary)}`);
    else fs.writeFileSync(file, JSON.stringify(summary));
  }

  summaryOf(results) {
    const suites = results.testResults.map(({ testFilePath, perfStats: { start, end } }) => ({
      file: path.relative(process.cwd(), testFilePath),
      seconds: (end - start) / 1000,
    }));
    return {
      passed: results.numPassedTests,
      // A suite that could not be loaded ran no test, and is a failure all the same.
      failed: results.numFailedTests + results.numRuntimeErrorTestSuites,
      skipped: results.numPendingTests + results.numTodoTests,
      wallSeconds: (Date.now() - this.startedAt) / 1000,
      workerSeconds: suites.reduce((sum, { seconds }) => sum + seconds, 0),
      partsSeconds: startingSeconds(),
      // Of the whole machine, since most of the memory is that of processes which tests start.
      peakBytes: this.availableAtStart - this.availableMin,
      suites: suites.toSorted((one, other) => other.seconds - one.seconds),
    };
  }
}

/** One summary of several runs of Jest. */
export function sumOf(summaries) {
  const sum = (name) => summaries.reduce((total, summary) => total + summary[name], 0);
  const names = ['passed', 'failed', 'skipped', 'wallSeconds', 'workerSeconds', 'partsSeconds'];
  return {
    ...Object.fromEntries(names.map((name) => [name, sum(name)])),
    peakBytes: Math.max(...summaries.map(({ peakBytes }) => peakBytes)),
    suites: summaries.flatMap(({ suites }) => suites).toSorted((one, other) => other.seconds - one.seconds),
  };
}

export function describe({ wallSeconds, workerSeconds, partsSeconds, peakBytes, suites }) {
  const rows = suites
    .slice(0, SLOWEST)
    .map(({ file, seconds }) => `${seconds.toFixed(1).padStart(8)} s  ${file}`);
  return [
    `Longest of ${suites.length} suites:`,
    ...rows,
    `Time: ${wallSeconds.toFixed(0)} s; ${workerSeconds.toFixed(0)} worker-seconds, ${partsSeconds.toFixed(0)} of them starting parts; ` +
      `${(peakBytes / MIB).toFixed(0)} MiB of memory at most`,
  ].join('\n');
}

export function plainLine({ passed, failed, skipped }) {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
}

/** Seconds that suites waited for servers, stacks and browsers to start, as packages/testkit/src/started-parts.ts records them. */
function startingSeconds() {
  const file = path.join(process.env.HOLDFAST_TEST_RUN ?? '', 'started-parts');
  if (!fs.existsSync(file)) return 0;
  const lines = fs.readFileSync(file, 'utf8').trim().split('\n');
  return lines.reduce((sum, line) => sum + Number(line.split(' ')[0]) / 1000, 0);
}

function availableBytes() {
  const [, kibibytes] = /MemAvailable:\s+(\d+)/.exec(fs.readFileSync('/proc/meminfo', 'utf8')) ?? [];
  return Number(kibibytes) * 1024;
}
