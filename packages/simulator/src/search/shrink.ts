/**
 * Shrinking of a failing scenario: removes steps, volumes, nodes and randomness as long as it still fails. Any failure counts: the
 * rest is a mistake worth studying, whichever it is.
 */
import { scenarioOf } from '@holdfast/scenario/read-scenario.js';
import type { ScenarioValue, StepValue } from './generate.js';

export type Shrunk = { readonly value: ScenarioValue; readonly runs: number };

/** Runs that shrinking may take: seconds, for scenarios that run in milliseconds. */
const RUNS_MAX = 400;

export async function shrink(
  failing: ScenarioValue,
  fails: (value: ScenarioValue) => Promise<boolean>,
): Promise<Shrunk> {
  let value = failing;
  let runs = 0;
  const tries = async (smaller: ScenarioValue): Promise<boolean> => {
    if (runs >= RUNS_MAX) return false;
    // A step may name an object that only a removed step makes: then it is no scenario.
    if (scenarioOf(smaller).kind === 'wrong') return false;
    runs += 1;
    if (!(await fails(smaller))) return false;
    value = smaller;
    return true;
  };
  await tries({ ...value, chance: { effects: 0, lostWakeUps: 0, doubles: 0 } });
  await shrinkSteps(() => value, tries);
  for (const { name } of [...value.volumes]) await tries(withoutVolume(value, name));
  for (const { name } of [...value.cluster.nodes].reverse()) {
    if (value.cluster.nodes.length > 1) await tries(withoutNode(value, name));
  }
  await shrinkSteps(() => value, tries);
  for (const setting of Object.keys(value.settings)) {
    const { [setting]: _, ...settings } = value.settings;
    await tries({ ...value, settings });
  }
  return { value, runs };
}

/** Halves, quarters and so on of the steps are left out, from the end: what comes after the failure goes first. */
async function shrinkSteps(
  current: () => ScenarioValue,
  tries: (value: ScenarioValue) => Promise<boolean>,
): Promise<void> {
  for (
    let size = Math.ceil(current().steps.length / 2);
    size >= 1;
    size = size === 1 ? 0 : Math.ceil(size / 2)
  ) {
    for (let end = current().steps.length; end > 0; end -= size) {
      const { steps } = current();
      const kept = [...steps.slice(0, Math.max(0, end - size)), ...steps.slice(end)];
      if (kept.length > 0 && kept.length < steps.length) await tries({ ...current(), steps: kept });
    }
  }
}

function withoutVolume(value: ScenarioValue, name: string): ScenarioValue {
  const steps = value.steps.filter((step) => !mentions(step, (text) => text === name));
  return withSteps({ ...value, volumes: value.volumes.filter((one) => one.name !== name) }, steps);
}

function withoutNode(value: ScenarioValue, name: string): ScenarioValue {
  const steps = value.steps.filter(
    (step) => !mentions(step, (text) => text === name || text.startsWith(`${name}/`)),
  );
  const volumes = value.volumes.map(({ attached, ...volume }) =>
    attached === name || attached === undefined ? volume : { ...volume, attached },
  );
  const nodes = value.cluster.nodes.filter((one) => one.name !== name);
  return withSteps({ ...value, cluster: { nodes }, volumes }, steps);
}

/** A file has at least one step: a wait of no time stands for none. */
function withSteps(value: ScenarioValue, steps: StepValue[]): ScenarioValue {
  return { ...value, steps: steps.length > 0 ? steps : [{ at: 0, refused: 'maybe', workerDown: 0 }] };
}

function mentions(said: unknown, isName: (text: string) => boolean): boolean {
  if (typeof said === 'string') return isName(said);
  return (
    typeof said === 'object' && said !== null && Object.values(said).some((part) => mentions(part, isName))
  );
}
