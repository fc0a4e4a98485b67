/** A drain's plan and status in words. */
import { formatBytes } from '@holdfast/core/model/bytes.js';
import type { DrainPlan, NodeDrain } from '../api/types';

export const POLICY_WORDS: Record<NodeDrain['policy'], string> = {
  'block-if-contains-last-replica': 'Unless it holds the last healthy copy of a volume',
  'allow-if-replica-is-stopped': 'Unless it holds the last healthy copy of a volume in use',
  'always-allow': 'At once, whatever it holds',
  'block-for-eviction': 'Once all its copies have been moved',
  'block-for-eviction-if-contains-last-replica': 'Once the last healthy copies on it have been moved',
};

/** Effects of a drain, a sentence each. */
export function planSentences(plan: DrainPlan): string[] {
  const { replicasToMove, replicasToStay, bytesToMove, time, copiesAtLowest } = plan;
  const moves =
    replicasToMove === 0
      ? 'No copy is moved.'
      : `${copies(replicasToMove)} with ${formatBytes(bytesToMove)} ${replicasToMove === 1 ? 'is' : 'are'} moved.`;
  return [
    moves,
    ...(replicasToStay === 0
      ? []
      : [`${copies(replicasToStay)} ${replicasToStay === 1 ? 'stays' : 'stay'} on it.`]),
    ...(time === null ? [] : [timeSentence(time)]),
    ...(copiesAtLowest === null ? [] : [lowestSentence(copiesAtLowest)]),
  ];
}

export function timeSentence({ lowSeconds, p90Seconds, basis }: NonNullable<DrainPlan['time']>): string {
  const by = basis === 'measured' ? 'as fast as the last rebuilds were' : 'at speeds that are assumed';
  return `That takes ${duration(lowSeconds)} to ${duration(p90Seconds)}, ${by}.`;
}

function lowestSentence(number: number): string {
  if (number === 0) return 'Some volume has no healthy copy that answers while the node is off.';
  return `Each volume keeps at least ${number === 1 ? '1 healthy copy' : `${number} healthy copies`} all the while.`;
}

function copies(number: number): string {
  return number === 1 ? '1 copy' : `${number} copies`;
}

function duration(seconds: number): string {
  if (seconds < 120) return `${seconds} s`;
  return seconds < 7_200 ? `${Math.round(seconds / 60)} min` : `${(seconds / 3_600).toFixed(1)} h`;
}

export function drainSentence({ state, waitingCount }: NodeDrain): string {
  if (state === 'drained') return 'Drained: it may be switched off.';
  const waits = waitingCount === 1 ? '1 thing' : `${waitingCount} things`;
  return state === 'blocked' ? `The drain waits for ${waits}.` : 'Being drained.';
}
