/**
 * Secrets that admit a node to one copy of a volume, each for one use.
 *
 * A copy and the control plane share a key, which neither gives away. A node's secret is derived from that key for one attachment, or
 * for one snapshot to clone: a new attachment has new secrets at every copy, without a file or a row that would have to change first,
 * and the copy's epoch voids older ones. An engine can derive from its own secret one with which a rebuild's target may read, and
 * nothing else.
 */
import crypto from 'node:crypto';

/**
 * Permission of a secret. `engine`: everything, at one epoch. `reader`: reading frozen layers at that epoch. `snapshot`: reading the
 * device as one snapshot has it. `nodeId`: the node that it was made for.
 */
export type CopyUse =
  | { readonly kind: 'engine'; readonly epoch: number; readonly nodeId: string }
  | { readonly kind: 'reader'; readonly epoch: number; readonly nodeId: string }
  | { readonly kind: 'snapshot'; readonly snapshotId: string; readonly nodeId: string };

/** Secret with which a volume's engine uses a copy. */
export function engineSecret(key: string, { epoch, nodeId }: { epoch: number; nodeId: string }): string {
  return signed(key, `engine.${epoch}.${nodeId}`);
}

/** Secret with which another node may read what the holder of an engine's secret may read. */
export function readerSecret(secret: string, nodeId: string): string {
  const { claim, mac } = splitMac(secret);
  const [, epoch = '', holderId = ''] = claim.split('.');
  const lent = `reader.${epoch}.${holderId}.${nodeId}`;
  return `${lent}.${macOf(mac, lent)}`;
}

/** Secret with which a node may read one snapshot of a copy, during any attachment. */
export function snapshotSecret(key: string, { snapshotId, nodeId }: Omit<SnapshotUse, 'kind'>): string {
  return signed(key, `snapshot.${snapshotId}.${nodeId}`);
}

/** Proof that a node has a copy, and so its key; of no use to another node. */
export function holderProof(key: string, nodeId: string): string {
  return macOf(key, `holder.${nodeId}`);
}

export function isHolderProof(key: string, nodeId: string, proof: string): boolean {
  return sameMac(proof, holderProof(key, nodeId));
}

type SnapshotUse = Extract<CopyUse, { kind: 'snapshot' }>;

/** @returns what the secret admits to; `undefined` where it was not made of this copy's key */
export function readCopySecret(key: string, secret: string): CopyUse | undefined {
  const { claim, mac } = splitMac(secret);
  const [kind, about = '', nodeId = '', readerId = ''] = claim.split('.');
  switch (kind) {
    case 'engine':
      return sameMac(mac, macOf(key, claim)) ? { kind, epoch: Number(about), nodeId } : undefined;
    case 'reader': {
      const holders = macOf(key, `engine.${about}.${nodeId}`);
      return sameMac(mac, macOf(holders, claim))
        ? { kind, epoch: Number(about), nodeId: readerId }
        : undefined;
    }
    case 'snapshot':
      return sameMac(mac, macOf(key, claim)) ? { kind, snapshotId: about, nodeId } : undefined;
    default:
      return undefined;
  }
}

function signed(key: string, claim: string): string {
  return `${claim}.${macOf(key, claim)}`;
}

function splitMac(secret: string): { claim: string; mac: string } {
  const at = secret.lastIndexOf('.');
  return { claim: secret.slice(0, Math.max(0, at)), mac: secret.slice(at + 1) };
}

function macOf(key: string, text: string): string {
  return crypto.createHmac('sha256', key).update(text).digest('base64url');
}

/** Compares in constant time, so that the duration does not reveal how much was right. */
function sameMac(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && crypto.timingSafeEqual(left, right);
}
