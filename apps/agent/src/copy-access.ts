/** Permissions of a copy's secrets: which commands, and which of its exports. */
import type { CommandName } from '@holdfast/data-engine/protocol/commands.js';
import type { ReplicaExportName } from '@holdfast/data-engine/protocol/export-names.js';
import { type CopyUse, readCopySecret } from '@holdfast/identity/copy-secret.js';

/** Commands that the target of a rebuild sends to its sources, beside reads of layers. */
const READING: ReadonlySet<CommandName> = new Set(['hashes', 'block-hashes', 'range-sums']);

/**
 * Permission of a secret at a copy with this key.
 *
 * @param caller the node that its certificate names; `undefined` on the loopback, where there is none
 * @returns `undefined` for a wrong secret, and for one that was made for another node
 */
export function copyUse(key: string, secret: string, caller: string | undefined): CopyUse | undefined {
  const use = readCopySecret(key, secret);
  return use === undefined || (caller !== undefined && caller !== use.nodeId) ? undefined : use;
}

/** A secret is for one epoch: with an old one a caller can't raise the epoch, and so fence off who came after it. */
export function mayCommand(use: CopyUse, name: CommandName, epoch: number): boolean {
  if (use.kind === 'snapshot' || use.epoch !== epoch) return false;
  return use.kind === 'engine' || READING.has(name);
}

/** @param caller as for `copyUse` */
export function admitsTo(key: string, name: ReplicaExportName, caller?: string): boolean {
  const use = copyUse(key, name.secret, caller);
  switch (use?.kind) {
    case 'engine':
      return name.kind !== 'snapshot' && name.epoch === use.epoch;
    case 'reader':
      return name.kind === 'layer' && name.epoch === use.epoch;
    case 'snapshot':
      return name.kind === 'snapshot' && name.layerId === use.snapshotId;
    default:
      return false;
  }
}
