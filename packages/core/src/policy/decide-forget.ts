/**
 * Decides about forgetting a node that is gone for good: what would be lost with it, and whether the user has accepted that.
 *
 * A volume loses nothing while so many of the copies that its last record names are elsewhere that an engine may start on them.
 * Copies on nodes that do not answer count: these nodes may come back. Copies on other nodes that are being forgotten do not.
 */
import { compareIds, type NodeId, type ReplicaId, type VolumeId } from '../model/ids.js';
import { isNodeReady, type StorageNode } from '../model/node.js';
import { isHealthy, type Replica } from '../model/replica.js';
import type { FleetView, NodeVolumes } from '../model/views.js';
import { isRestored, type Volume } from '../model/volume.js';
import { nodeById } from '../model/volume-facts.js';
import { ALLOWED, type Decision, refuse, unchanged } from './decision.js';

type CopiesOf = { readonly volume: Volume; readonly replicas: readonly Replica[] };

/**
 * What a volume loses. `all`: no other copy of it is left. `newest`: other copies are left, too few to be sure that they have all
 * acknowledged writes, so that it goes on with a salvage only.
 */
export type LossKind = 'all' | 'newest';
export type ForgetLoss = { readonly volumeId: VolumeId; readonly name: string; readonly kind: LossKind };

/** @returns `undefined`: the volume can do without what the node holds of it */
export function lossOf(
  nodeId: NodeId,
  { volume, replicas }: CopiesOf,
  fleet: FleetView,
): LossKind | undefined {
  const filled = replicas.filter((replica) => replica.intent !== 'remove' && wasEverFull(replica));
  const here = filled.filter((replica) => replica.nodeId === nodeId);
  const elsewhere = filled.filter(
    (replica) => replica.nodeId !== nodeId && nodeById(fleet, replica.nodeId)?.forget === undefined,
  );
  if (here.length === 0) return undefined;
  if (elsewhere.length === 0) return 'all';
  const members: readonly ReplicaId[] = volume.record?.members ?? [];
  const isCurrent = (replica: Replica) =>
    isHealthy(replica) && (members.length === 0 || members.includes(replica.id));
  if (!here.some((replica) => isHealthy(replica) || members.includes(replica.id))) return undefined;
  const left = elsewhere.filter(isCurrent).length;
  const isSure = left > 0 && left * 2 >= members.length && !isRestored(volume);
  return isSure ? undefined : 'newest';
}

function wasEverFull({ healthyAt, lastHealthyAt }: Replica): boolean {
  return healthyAt !== undefined || lastHealthyAt !== undefined;
}

/** All losses on the node, by the volumes' names. */
export function forgetLosses(nodeId: NodeId, { fleet, volumes }: NodeVolumes): ForgetLoss[] {
  return volumes
    .flatMap((view): ForgetLoss[] => {
      const kind = lossOf(nodeId, view, fleet);
      return kind === undefined ? [] : [{ volumeId: view.volume.id, name: view.volume.name, kind }];
    })
    .sort(
      (a, b) => a.name.localeCompare(b.name, 'en', { numeric: true }) || compareIds(a.volumeId, b.volumeId),
    );
}

/** Is the node gone, as far as it can be known? One whose agent runs is drained instead. */
export function decideGone(
  node: Parameters<typeof isNodeReady>[0] & Pick<StorageNode, 'name'>,
): Decision<'node.in_use'> {
  if (!isNodeReady(node)) return ALLOWED;
  return refuse('node.in_use', `the agent of node ${node.name} still runs, so the node is not gone`, [
    `drain it and wait until it is drained, then stop its agent: holdfast node drain ${node.name}`,
    'stop its agent, and wait until the node is shown as not answering',
  ]);
}

/** @param accepted volumes of which the user accepts the loss */
export function decideForget(
  node: StorageNode,
  view: NodeVolumes,
  accepted: readonly VolumeId[],
): Decision<'node.in_use' | 'node.holds_only_copy'> {
  const gone = decideGone(node);
  if (gone.kind === 'refuse') return gone;
  const known = node.forget?.acceptedLosses ?? [];
  const open = forgetLosses(node.id, view).filter(
    ({ volumeId }) => ![...known, ...accepted].includes(volumeId),
  );
  if (open.length > 0) return lossRefusal(node.name, open);
  const isNews = node.forget === undefined || accepted.some((id) => !known.includes(id));
  return isNews ? { kind: 'allow' } : unchanged(`node ${node.name} is being forgotten`);
}

function lossRefusal(node: string, losses: readonly ForgetLoss[]) {
  const names = losses.map(({ name }) => name).join(' ');
  return refuse(
    'node.holds_only_copy',
    `node ${node} can't be forgotten without a loss: ${lossText(losses)}`,
    [
      `start the agent of ${node}, or of another node that holds a copy of them`,
      `accept the loss by naming them: holdfast node forget ${node} --lose ${names}`,
    ],
  );
}

/** Names in one sentence; a refusal that names more is longer than a screen. */
const NAMES_MAX = 20;

/** What is lost, as the end of a sentence. */
export function lossText(losses: readonly ForgetLoss[]): string {
  const all = losses.filter(({ kind }) => kind === 'all');
  const newest = losses.filter(({ kind }) => kind === 'newest');
  return [
    ...(all.length === 0 ? [] : [`it holds the only copy of ${namesOf(all)}`]),
    ...(newest.length === 0
      ? []
      : [
          `too few other copies are left to be sure that the newest writes of ${namesOf(newest)} are elsewhere, ` +
            'so that each goes on with a salvage only',
        ]),
  ].join('; ');
}

function namesOf(losses: readonly ForgetLoss[]): string {
  const names = losses.slice(0, NAMES_MAX).map(({ name }) => name);
  const more = losses.length - names.length;
  return more > 0 ? `${names.join(', ')} and ${more} more` : names.join(', ');
}

/** For a plan: what becomes of the volumes that the node serves or has copies of. */
export function forgetNotes(nodeId: NodeId, view: NodeVolumes): string[] {
  const losses = forgetLosses(nodeId, view);
  return [
    ...(losses.length === 0 ? ['no data is lost'] : [lossText(losses)]),
    'its certificate is revoked, so that its agent is not heard again, and what is stored on the machine never counts again',
    'it is deleted when no volume refers to it any more',
  ];
}
