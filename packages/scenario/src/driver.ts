/** Driver of a scenario: the cluster that it is run on, simulated or real. */
import type { Facts } from './facts.js';
import type { Scenario } from './scenario.js';
import type { StepCall } from './steps.js';

/** Outcome of a step. A refusal is an answer of the product, not an error of the run. */
export type StepOutcome =
  | { readonly kind: 'done' }
  | { readonly kind: 'refused'; readonly code: string; readonly message: string };

export type Given = Pick<Scenario, 'cluster' | 'settings' | 'volumes' | 'chance'>;

export interface ScenarioDriver {
  /** Makes the given true: cluster, settings and volumes. The scenario's time begins when it is. */
  prepare(given: Given): Promise<void>;
  /** Seconds since the start. */
  now(): number;
  /** Lets a short time pass, at most so many seconds. */
  pause(secondsMax: number): Promise<void>;
  observe(): Promise<Facts>;
  /** @throws ScenarioError when the scenario names objects that do not exist, or steps that this driver can't do */
  act(call: StepCall): Promise<StepOutcome>;
  /** Repairs all faults, and lets time pass until every volume is healthy; one that is not by then is a finding. */
  heal(secondsMax: number): Promise<readonly string[]>;
  /** Violations that happened, whatever the scenario expects. */
  findings(): Promise<readonly string[]>;
  /** Restores everything that the scenario changed. Called once, however the run ended. */
  close(): Promise<void>;
}

/** The scenario can't be run as it is written. */
export class ScenarioError extends Error {
  override readonly name = 'ScenarioError';
}
