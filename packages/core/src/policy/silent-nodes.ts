/**
 * What volumes, copies and addresses are shown as while nodes are silent: what is stored of them is from before, and no reader may
 * take it for true. One rule for every program that shows them; it reads what the API answers.
 */
import type { Condition } from '../model/condition.js';
import { isNodeReady } from '../model/node.js';
import type { ReplicaState } from '../model/replica.js';
import { robustnessAtRest } from '../model/robustness.js';
import type { Robustness } from '../model/volume.js';

/** Ids of nodes that do not answer. */
export type SilentNodes = ReadonlySet<string>;

type ShownNode = {
  readonly id: string;
  readonly conditions: readonly Pick<Condition, 'type' | 'status'>[];
};
type ServedVolume = { readonly attachedNodeId: string | null };
type ShownCopy = {
  readonly nodeId: string | null;
  readonly state: ReplicaState;
  /** When it became a full copy; null: it never was. */
  readonly healthyAt: string | null;
};
type ShownVolume = ServedVolume & {
  readonly state: string;
  /** As the worker has judged it last. */
  readonly robustness: Robustness;
  readonly numberOfReplicas: number;
  readonly replicas: readonly ShownCopy[];
};

/** Not ready, or unanswering: decisions wait until it is not ready, users are told at once. */
export function isSilent({ conditions }: Pick<ShownNode, 'conditions'>): boolean {
  const isUnanswering = conditions.some(({ type, status }) => type === 'Answering' && status === 'False');
  return isUnanswering || !isNodeReady({ conditions });
}

export function silentNodesOf(nodes: readonly ShownNode[]): SilentNodes {
  return new Set(nodes.filter(isSilent).map(({ id }) => id));
}

/** Is the node silent that serves the volume? Its clients wait, and what is known of its copies is from before. */
export function isNotServed({ attachedNodeId }: ServedVolume, silent: SilentNodes): boolean {
  return attachedNodeId !== null && silent.has(attachedNodeId);
}

/** `creating`: its first copies are being made; `notPlaced`: one of them has no place. What is `unknown` has been whole before. */
export type VolumeHealth = Robustness | 'notServed' | 'creating' | 'notPlaced';

/**
 * Health of a volume as far as it is known now. A silent node's volumes are judged one by one, which takes a while for thousands of
 * them; until then one that no engine serves is shown as it will be judged. An engine that answers knows its own copies better.
 */
export function volumeHealth(volume: ShownVolume, silent: SilentNodes): VolumeHealth {
  if (isNotServed(volume, silent)) return 'notServed';
  const { state, robustness, replicas, numberOfReplicas } = volume;
  if (robustness === 'unknown' && replicas.some(({ nodeId }) => nodeId === null)) return 'notPlaced';
  if (robustness === 'unknown' && state === 'creating') return 'creating';
  const isInUse = state === 'attached' || state === 'detaching';
  const isOnSilent = replicas.some(({ nodeId }) => nodeId !== null && silent.has(nodeId));
  if (robustness !== 'healthy' || isInUse || !isOnSilent) return robustness;
  return robustnessAtRest(healthyCopies(volume, silent) ?? 0, numberOfReplicas);
}

/** Copies that are known to be full now; `undefined`: that is not known of any. */
export function healthyCopies(
  volume: ServedVolume & Pick<ShownVolume, 'replicas'>,
  silent: SilentNodes,
): number | undefined {
  if (isNotServed(volume, silent)) return undefined;
  return volume.replicas.filter((copy) => copyHealth(copy, volume, silent) === 'healthy').length;
}

export type CopyHealth =
  | 'notPlaced'
  /** Its own node is silent. */
  | 'noAnswer'
  /** The engine that knew it is on a silent node. */
  | 'notKnown'
  | 'healthy'
  | Exclude<ReplicaState, 'running'>;

/** A stopped copy is fine as long as it is a full one. That a copy has failed is no news that an engine's silence could make old. */
export function copyHealth(copy: ShownCopy, volume: ServedVolume, silent: SilentNodes): CopyHealth {
  const { nodeId, state, healthyAt } = copy;
  if (nodeId === null) return 'notPlaced';
  if (silent.has(nodeId)) return 'noAnswer';
  if (state !== 'failed' && isNotServed(volume, silent)) return 'notKnown';
  const isHealthy = state === 'running' || (state === 'stopped' && healthyAt !== null);
  return isHealthy ? 'healthy' : state;
}

export type ShownAddress =
  | { readonly kind: 'address'; readonly nbdUri: string }
  /** `silent`: there is one, and it leads nowhere now. `hidden`: it is shown to those who may change volumes. `none`: not attached. */
  | { readonly kind: 'silent' | 'hidden' | 'none' };

/** Where clients reach a volume now. */
export function shownAddress(
  volume: ServedVolume & { readonly endpoint: { readonly nbdUri: string | null } | null },
  silent: SilentNodes,
): ShownAddress {
  if (isNotServed(volume, silent)) return { kind: 'silent' };
  if (volume.endpoint === null) return { kind: 'none' };
  const { nbdUri } = volume.endpoint;
  return nbdUri === null ? { kind: 'hidden' } : { kind: 'address', nbdUri };
}
