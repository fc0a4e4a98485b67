/** When a command stops waiting for a volume, because a user has to act first. */
import { NODE_UNANSWERING } from '@holdfast/core/policy/decide-attach.js';
import { COPIES_MISSING } from '@holdfast/core/policy/decide-salvage.js';
import { CliError, EXIT } from '../exit-codes.js';
import type { Volume } from '../types.js';

/**
 * True when a user has to act. Trouble with a cure waits for the user to apply it; other trouble passes once the worker
 * can go on.
 */
export function needsPerson({ attention }: Pick<Volume, 'attention'>): boolean {
  return attention !== null && attention.cures.length > 0;
}

/**
 * Copies that do not answer may do so in a moment, as on busy nodes: only a volume that counts as faulted waits for a user. A node that
 * has missed a heartbeat answers, or counts as dead, within `agent-heartbeat-timeout`.
 */
export function isAttachDecided(
  volume: Pick<Volume, 'state' | 'endpoint' | 'attention' | 'robustness'>,
): boolean {
  const { state, endpoint, attention, robustness } = volume;
  if (state === 'attached' && endpoint !== null) return true;
  if (attention?.code === NODE_UNANSWERING) return false;
  return needsPerson(volume) && (attention?.code !== COPIES_MISSING || robustness === 'faulted');
}

export function attentionError(volume: Volume): CliError {
  return new CliError(
    EXIT.conflict,
    volume.attention?.message ?? `${volume.name} is ${volume.state}`,
    volume.attention?.cures,
  );
}

/** Between two lines about the same wait: a user sees that the command is alive, and a log is not filled. */
const SAID_INTERVAL_MS = 5_000;

/** Reports on stderr why a volume waits while a command waits for it: at first, and then every few seconds. */
export function waitTeller(say: (text: string) => void, nowMs: () => number): (volume: Volume) => void {
  let said: { code: string; atMs: number } | undefined;
  return ({ name, attention }) => {
    if (attention === null) return;
    const atMs = nowMs();
    if (said?.code === attention.code && atMs - said.atMs < SAID_INTERVAL_MS) return;
    said = { code: attention.code, atMs };
    const seconds = Math.max(0, Math.round((atMs - Date.parse(attention.since)) / 1000));
    say(`${name} waits (${seconds} s): ${attention.message}`);
  };
}
