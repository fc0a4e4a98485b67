/** Running of entries, on a driver whose one volume changes at set times. */
import { describe, expect, test } from '@jest/globals';
import type { ScenarioDriver, StepOutcome } from './driver.js';
import type { Facts, VolumeFacts } from './facts.js';
import { readScenario } from './read-scenario.js';
import { runScenario } from './run-scenario.js';

const VOLUME: VolumeFacts = {
  name: 'v',
  state: 'attached',
  robustness: 'healthy',
  attachedTo: 'n1',
  hasEndpoint: true,
  sizeBytes: 1,
  numberOfReplicas: 1,
  attention: null,
  task: null,
  conditions: [],
  replicas: [],
  snapshots: [],
  rebuilds: [],
  namedVictim: null,
  missingWrites: 0,
};

/** Degraded from 10 s to 20 s. A write is refused; else steps do nothing. */
class ScriptedDriver implements ScenarioDriver {
  private atSeconds = 0;
  async prepare(): Promise<void> {}
  now(): number {
    return this.atSeconds;
  }
  async pause(secondsMax: number): Promise<void> {
    this.atSeconds += Math.min(0.5, secondsMax);
  }
  async observe(): Promise<Facts> {
    const isDegraded = this.atSeconds >= 10 && this.atSeconds < 20;
    const volumes: VolumeFacts[] = [{ ...VOLUME, robustness: isDegraded ? 'degraded' : 'healthy' }];
    return { volumes, nodes: [], disks: [], events: [] };
  }
  async act({ name }: { name: string }): Promise<StepOutcome> {
    return name === 'write' ? { kind: 'refused', code: 'volume.busy', message: 'no' } : { kind: 'done' };
  }
  async findings(): Promise<string[]> {
    return [];
  }
  async heal(): Promise<string[]> {
    return [];
  }
  async close(): Promise<void> {}
}

async function run(...steps: string[]) {
  const head = ['scenario: s', 'volumes: [{ name: v }]', 'steps:'];
  const read = readScenario([...head, ...steps.map((step) => `  - ${step}`)].join('\n'));
  if (read.kind === 'wrong') throw new Error(JSON.stringify(read.problems));
  const result = await runScenario(read.scenario, new ScriptedDriver());
  return result.kind === 'passed' ? 'passed' : `${result.line}: ${result.problems.join('; ')}`;
}

describe('an expectation', () => {
  test.each([
    { steps: ['expect: { volume: v, robustness: healthy }'], want: 'passed' },
    { steps: ['at: 15s\n    expect: { volume: v, robustness: degraded }'], want: 'passed' },
    { steps: ['within: 12s\n    expect: { volume: v, robustness: degraded }'], want: 'passed' },
    {
      steps: ['within: 5s\n    expect: { volume: v, robustness: degraded }'],
      want: '5: volume v: robustness is healthy, not degraded',
    },
    { steps: ['for: 9s\n    expect: { volume: v, robustness: healthy }'], want: 'passed' },
    {
      steps: ['for: 11s\n    expect: { volume: v, robustness: healthy }'],
      want: '5: volume v: robustness is degraded, not healthy',
    },
    {
      steps: ['always: { volume: v, robustness: healthy }', '{ at: 30s, purge: v }'],
      want: '4: volume v: robustness is degraded, not healthy',
    },
    {
      steps: ['never: { volume: v, robustness: degraded }', '{ at: 30s, purge: v }'],
      want: '4: this was never to be so, and is',
    },
    { steps: ['{ at: 30s, purge: v }', 'always: { volume: v, robustness: healthy }'], want: 'passed' },
    { steps: ['write: v'], want: '4: write v was refused with volume.busy: no' },
    { steps: ['{ write: v, refused: volume.busy }'], want: 'passed' },
    { steps: ['{ purge: v, refused: any }'], want: '4: purge v was not refused with any' },
    {
      steps: ['within: 15s\n    expect: { volume: v, robustness: degraded }', '{ at: 5s, purge: v }'],
      want: '6: its time, 5 s, has passed: it is 10.0 s',
    },
  ])('steps $steps end in: $want', async ({ steps, want }) => {
    expect(await run(...steps)).toBe(want);
  });
});
