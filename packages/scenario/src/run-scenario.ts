/** Running of a scenario on a driver: entries in their order, and what holds always or never at every look. */
import { isFault } from '@holdfast/core/model/faults.js';
import { type ScenarioDriver, ScenarioError, type StepOutcome } from './driver.js';
import type { Facts } from './facts.js';
import { History } from './history.js';
import { judge } from './judge.js';
import type { Check, Entry, Scenario } from './scenario.js';
import { Timeline } from './timeline.js';

export type ScenarioResult =
  | { readonly kind: 'passed'; readonly seconds: number }
  | {
      readonly kind: 'failed';
      /** Line of the entry that failed; `undefined` where it was none of them. */
      readonly line: number | undefined;
      readonly problems: readonly string[];
      readonly timeline: string;
    };

/** Not as expected. Thrown within a run only. */
class Unmet extends Error {
  constructor(
    readonly line: number | undefined,
    readonly problems: readonly string[],
  ) {
    super(problems.join('; '));
  }
}

/** So late an entry may begin after its time: a driver's pause is not exact. */
const LATE_SECONDS_MAX = 2;

export async function runScenario(scenario: Scenario, driver: ScenarioDriver): Promise<ScenarioResult> {
  const timeline = new Timeline();
  try {
    await driver.prepare(scenario);
    const run = new Run(driver, timeline, await driver.observe());
    for (const entry of scenario.entries) await run.entry(entry);
    await run.end(scenario.heals);
    return { kind: 'passed', seconds: driver.now() };
  } catch (error) {
    if (error instanceof Unmet) {
      return { kind: 'failed', line: error.line, problems: error.problems, timeline: timeline.text() };
    }
    const isExpected = error instanceof ScenarioError || isFault(error);
    if (!isExpected) throw error;
    return { kind: 'failed', line: undefined, problems: [error.message], timeline: timeline.text() };
  } finally {
    await driver.close();
  }
}

class Run {
  private readonly history: History;
  private readonly lasting: { kind: 'always' | 'never'; check: Check }[] = [];
  private facts: Facts;

  constructor(
    private readonly driver: ScenarioDriver,
    private readonly timeline: Timeline,
    start: Facts,
  ) {
    this.facts = start;
    this.history = new History(start);
    timeline.observe(0, start, []);
  }

  async entry(entry: Entry): Promise<void> {
    await this.waitFor(entry);
    switch (entry.kind) {
      case 'step':
        return this.step(entry);
      case 'expect':
        return this.expect(entry);
      default:
        this.lasting.push(...entry.checks.map((check) => ({ kind: entry.kind, check })));
        this.judgeLasting();
    }
  }

  async end(heals: number | undefined): Promise<void> {
    const unwell = heals === undefined ? [] : await this.driver.heal(heals);
    const findings = [...(await this.driver.findings()), ...unwell];
    await this.look(0);
    if (findings.length > 0) throw new Unmet(undefined, findings);
  }

  private async waitFor(entry: Entry): Promise<void> {
    const { line, when } = entry;
    const { at, after } = when;
    const from = this.driver.now();
    const mayBeLate = entry.kind === 'step' && entry.refused === 'maybe';
    if (at !== undefined && from > at + LATE_SECONDS_MAX && !mayBeLate) {
      throw new Unmet(line, [`its time, ${at} s, has passed: it is ${from.toFixed(1)} s`]);
    }
    const until = Math.max(at ?? from, from) + (after ?? 0);
    while (this.driver.now() < until) await this.look(until - this.driver.now());
  }

  private async step({ line, call, refused }: Extract<Entry, { kind: 'step' }>): Promise<void> {
    const asked = `${call.name} ${typeof call.ask === 'string' ? call.ask : JSON.stringify(call.ask)}`;
    this.timeline.note(this.driver.now(), `step ${asked}`);
    const outcome = await this.driver.act(call).catch((error: unknown): StepOutcome => {
      if (!(error instanceof ScenarioError)) throw error;
      if (refused !== 'maybe') throw new Unmet(line, [error.message]);
      return { kind: 'refused', code: 'maybe', message: error.message };
    });
    if (outcome.kind === 'refused') {
      this.timeline.note(this.driver.now(), `refused ${outcome.code}: ${outcome.message}`);
      if (refused === outcome.code || refused === 'any' || refused === 'maybe') return;
      throw new Unmet(line, [`${asked} was refused with ${outcome.code}: ${outcome.message}`]);
    }
    if (refused !== undefined && refused !== 'maybe')
      throw new Unmet(line, [`${asked} was not refused with ${refused}`]);
    await this.look(0);
  }

  private async expect(entry: Extract<Entry, { kind: 'expect' }>): Promise<void> {
    const { checks, within, for: lasting } = entry;
    const from = this.driver.now();
    await this.look(0);
    if (within !== undefined) return this.expectWithin(checks, from + within);
    this.require(checks);
    const until = from + (lasting ?? 0);
    while (this.driver.now() < until) {
      await this.look(until - this.driver.now());
      this.require(checks);
    }
  }

  private async expectWithin(checks: readonly Check[], until: number): Promise<void> {
    while (this.unmet(checks) !== undefined) {
      const left = until - this.driver.now();
      if (left <= 0) return this.require(checks);
      await this.look(left);
    }
  }

  private require(checks: readonly Check[]): void {
    const unmet = this.unmet(checks);
    if (unmet !== undefined) throw unmet;
  }

  private unmet(checks: readonly Check[]): Unmet | undefined {
    const wrong = checks.flatMap(({ line, expectation }) => {
      const problems = judge(expectation, this.facts, this.history);
      return problems.length === 0 ? [] : [{ line, problems }];
    });
    const [first] = wrong;
    return first === undefined
      ? undefined
      : new Unmet(
          first.line,
          wrong.flatMap(({ problems }) => problems),
        );
  }

  /** @param secondsMax how long may pass before; 0 for the present moment */
  private async look(secondsMax: number): Promise<void> {
    if (secondsMax > 0) await this.driver.pause(secondsMax);
    this.facts = await this.driver.observe();
    const events = this.history.add(this.facts);
    this.timeline.observe(this.driver.now(), this.facts, events);
    this.judgeLasting();
  }

  private judgeLasting(): void {
    for (const { kind, check } of this.lasting) {
      const problems = judge(check.expectation, this.facts, this.history);
      if (kind === 'always' && problems.length > 0) throw new Unmet(check.line, problems);
      if (kind === 'never' && problems.length === 0) {
        throw new Unmet(check.line, ['this was never to be so, and is']);
      }
    }
  }
}
