/**
 * Inputs of an imported cluster: what Longhorn's scheduler reads of a volume and Holdfast has no counterpart of.
 *
 * A request without them is one of our own, and every rule behaves as if they were absent.
 */
import type { DiskId, NodeId } from '../../model/ids.js';

/** Where a healthy replica lies that a linked clone's replica may share blocks with. */
export type CloneSource = { readonly nodeId: NodeId; readonly diskId: DiskId };

export type BackingImageSelectors = {
  readonly nodeSelector: readonly string[];
  readonly diskSelector: readonly string[];
};

export type LonghornInputs = {
  /** The replica's own size; the space formulas take the volume's, the balance takes this one. */
  readonly replicaSizeBytes: number;
  /** Since when the volume is degraded; `undefined` when it is not. */
  readonly degradedAt: Date | undefined;
  /** The volume's effective auto-balance. */
  readonly autoBalance: 'disabled' | 'least-effort' | 'best-effort';
  /** Its selectors apply beside the volume's. */
  readonly backingImage: BackingImageSelectors | undefined;
  /** The only places for a linked clone; `undefined` when it is none. */
  readonly cloneSources: readonly CloneSource[] | undefined;
};
