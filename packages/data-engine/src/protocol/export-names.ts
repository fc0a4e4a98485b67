/**
 * NBD export names of a copy, for its engine and for rebuild targets.
 *
 * They begin with `@`, which no volume's name does, end in the copy's secret, and carry the epoch of the connection:
 * once the copy was opened at a higher one, the connection is cut.
 */
import { isId } from '@holdfast/core/model/ids.js';

/**
 * What a name selects. A `snapshot` is the device as it read when a layer was frozen. It never changes, so it has no
 * epoch: it is served even while its volume is attached, detached or taken over.
 */
export type ReplicaExportName =
  | { kind: 'snapshot'; replicaId: string; layerId: string; secret: string }
  | { kind: 'replica'; replicaId: string; epoch: number; secret: string }
  | { kind: 'layer'; replicaId: string; layerId: string; epoch: number; secret: string };

export function formatExportName(name: ReplicaExportName): string {
  if (name.kind === 'snapshot') return `@snapshot.${name.replicaId}.${name.layerId}.${name.secret}`;
  const layer = name.kind === 'layer' ? `.${name.layerId}` : '';
  return `@${name.kind}.${name.replicaId}${layer}.${name.epoch}.${name.secret}`;
}

export function parseExportName(text: string): ReplicaExportName | undefined {
  const [kind, replicaId = '', ...rest] = text.split('.');
  if (!isId(replicaId)) return undefined;
  if (kind === '@replica') {
    const [epoch = '', ...secret] = rest;
    return isEpoch(epoch)
      ? { kind: 'replica', replicaId, epoch: Number(epoch), secret: secret.join('.') }
      : undefined;
  }
  if (kind === '@snapshot') {
    const [layerId = '', ...secret] = rest;
    return isId(layerId) ? { kind: 'snapshot', replicaId, layerId, secret: secret.join('.') } : undefined;
  }
  if (kind === '@layer') {
    const [layerId = '', epoch = '', ...secret] = rest;
    if (!isId(layerId) || !isEpoch(epoch)) return undefined;
    return { kind: 'layer', replicaId, layerId, epoch: Number(epoch), secret: secret.join('.') };
  }
  return undefined;
}

function isEpoch(text: string): boolean {
  return /^\d{1,15}$/.test(text);
}
