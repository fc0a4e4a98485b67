/** Result of a scenario in words: one line when it passed, else the difference, its position, and what led to it. */
import type { ScenarioResult } from './run-scenario.js';
import type { Scenario } from './scenario.js';

export function resultText(file: string, { title }: Scenario, result: ScenarioResult): string {
  if (result.kind === 'passed') return `passed  ${title} (${result.seconds.toFixed(1)} s)`;
  const at = result.line === undefined ? file : `${file}:${result.line}`;
  return [
    `FAILED  ${title}`,
    ...result.problems.map((problem) => `  ${at}: ${problem}`),
    ...(result.timeline === '' ? [] : ['  what led to it:', result.timeline]),
  ].join('\n');
}
