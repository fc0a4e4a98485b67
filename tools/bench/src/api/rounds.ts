// Rounds in which the API and its baseline take turns, so that a machine that is slower for a while is slower for both.
import { median } from '@holdfast/data-engine/bench/median.js';
import { percentile, report } from '../report.js';
import { type Answer, type LoadResult, load } from './load.js';

export const CONNECTIONS = 16;
export const ROUNDS = 5;

/** One kind of request, to the API and to the bare server. */
export type Pair = {
  readonly name: string;
  readonly ports: { readonly api: number; readonly bare: number };
  readonly api: (index: number) => Buffer;
  readonly bare: (index: number) => Buffer;
  /** Requests of each in one round. */
  readonly count: number;
  readonly ratioTarget: number;
  readonly p99Target?: number;
  /** What every request is to be answered with. */
  readonly status: number;
  /** Told each of the API's answers in the rounds that count. */
  readonly onAnswer?: (answer: Answer) => void;
};

export async function measurePair(pair: Pair): Promise<void> {
  const rates = { api: [] as number[], bare: [] as number[] };
  // Answers themselves are not kept: clearing up around thousands of them held up this process, and was counted as the API's time.
  const times = { api: [] as number[], bare: [] as number[] };
  for (let round = 0; round <= ROUNDS; round += 1) {
    for (const side of ['bare', 'api'] as const) {
      const result = await load({
        port: pair.ports[side],
        connections: CONNECTIONS,
        count: pair.count,
        request: (index) => pair[side](round * pair.count + index),
        onAnswer: (answer) => {
          if (round === 0) return;
          times[side].push(answer.ms);
          if (side === 'api') pair.onAnswer?.(answer);
        },
      });
      requireStatus(`${pair.name} (${side})`, pair.status, result);
      // The first round warms both.
      if (round > 0) rates[side].push(result.perSecond);
    }
  }
  const row = { bench: 'api', case: pair.name };
  const { ratioTarget } = pair;
  report({
    ...row,
    metric: 'requests',
    value: median(rates.api),
    unit: '/s',
    baseline: median(rates.bare),
    ratioTarget,
  });
  times.api.sort(ascending);
  times.bare.sort(ascending);
  for (const share of [0.5, 0.99]) {
    const isTarget = share === 0.99 && pair.p99Target !== undefined;
    report({
      ...row,
      metric: `answer p${share * 100}`,
      value: percentile(times.api, share),
      unit: 'ms',
      baseline: percentile(times.bare, share),
      better: 'lower',
      ...(isTarget ? { target: pair.p99Target } : {}),
    });
  }
}

function requireStatus(what: string, wanted: number, { statuses }: LoadResult): void {
  for (const status of statuses.keys()) {
    if (status !== wanted) throw new Error(`${what} was answered ${status}`);
  }
}

const ascending = (a: number, b: number) => a - b;
