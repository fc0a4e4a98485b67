/** A drain in words: its plan, and its reasons for waiting. */
import { formatBytes } from '@holdfast/core/model/bytes.js';
import type { DrainPlan, DrainWait } from '../types.js';

/** Obstacles come first; volumes that need nothing are only counted. */
export function planText(nodeName: string, plan: DrainPlan, nodeNames: ReadonlyMap<string, string>): string {
  const { volumes, copiesAtLowest } = plan;
  const blocked = volumes.filter(({ blockers }) => blockers.length > 0);
  const moved = volumes.filter(({ outcome }) => outcome === 'moves' || outcome === 'copied');
  return [
    `drain of ${nodeName} with policy ${plan.policy}: ${plan.isPossible ? 'possible' : `blocked by ${count(blocked.length, 'volume')}`}`,
    `  moves ${count(plan.replicasToMove, 'replica')}, ${formatBytes(plan.bytesToMove)}; ${plan.replicasToStay} stay`,
    ...(plan.time === null ? [] : [`  takes ${timeText(plan.time)}`]),
    ...(copiesAtLowest === null
      ? []
      : [`  leaves each volume ${count(copiesAtLowest, 'healthy copy', 'healthy copies')} at the fewest`]),
    ...moved.map((volume) => `  ${movesText(volume, nodeNames)}`),
    ...blocked.flatMap(({ blockers }) => waitLines(blockers).map((line) => `  ${line}`)),
  ].join('\n');
}

function movesText(
  { volumeName, outcome, bytesToMove, targetNodeIds, waitsUntil }: DrainPlan['volumes'][number],
  nodeNames: ReadonlyMap<string, string>,
): string {
  const targets = targetNodeIds.map((id) => nodeNames.get(id) ?? id).join(', ');
  const until = waitsUntil === null ? '' : `, not before ${waitsUntil.slice(0, 16).replace('T', ' ')} UTC`;
  const verb = outcome === 'copied' ? 'is copied' : 'moves';
  return `${volumeName} ${verb} to ${targets === '' ? 'no node yet' : targets}, ${formatBytes(bytesToMove)}${until}`;
}

export function waitLines(waits: readonly DrainWait[]): string[] {
  return waits.flatMap(({ reason, message, cures }) => [
    `waiting: ${message} (${reason})`,
    ...cures.map((cure) => `  cure: ${cure}`),
  ]);
}

export function timeText({ lowSeconds, p90Seconds, basis }: NonNullable<DrainPlan['time']>): string {
  const by = basis === 'measured' ? 'by the last rebuilds' : 'assumed: too few rebuilds were measured';
  return `${duration(lowSeconds)} to ${duration(p90Seconds)} (${by})`;
}

function duration(seconds: number): string {
  if (seconds < 120) return `${seconds} s`;
  if (seconds < 7_200) return `${Math.round(seconds / 60)} min`;
  return `${(seconds / 3_600).toFixed(1)} h`;
}

function count(number: number, one: string, several = `${one}s`): string {
  return `${number} ${number === 1 ? one : several}`;
}
