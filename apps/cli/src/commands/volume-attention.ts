/** When a command stops waiting for a volume, because a user has to act first. */
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

/** Copies that do not answer may do so in a moment, as on busy nodes: only a volume that counts as faulted waits for a user. */
export function isAttachSettled(
  volume: Pick<Volume, 'state' | 'endpoint' | 'attention' | 'robustness'>,
): boolean {
  const { state, endpoint, attention, robustness } = volume;
  if (state === 'attached' && endpoint !== null) return true;
  return needsPerson(volume) && (attention?.code !== COPIES_MISSING || robustness === 'faulted');
}

export function attentionError(volume: Volume): CliError {
  return new CliError(
    EXIT.conflict,
    volume.attention?.message ?? `${volume.name} is ${volume.state}`,
    volume.attention?.cures,
  );
}
