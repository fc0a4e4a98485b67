import { formatBytes } from '../../model/bytes.js';
import type { RejectionReason, TierName } from '../framework.js';
import { tierInWords } from './ask-in-turn.js';
import { describeChange } from './describe-change.js';
import type { ComparedNumbers, FilterReport, NamedPlace, PlacementExplanation } from './explanation.js';
import { placeInWords } from './named-place.js';

/** How a count of refused nodes or disks reads: for one, and for several. */
const REFUSED: Record<RejectionReason, readonly [string, string]> = {
  NodeNotReady: ['node is not ready', 'nodes are not ready'],
  NodeCordoned: ['node is cordoned', 'nodes are cordoned'],
  NodeSchedulingDisabled: ['node takes no replicas', 'nodes take no replicas'],
  NodeEvicting: ['node is being emptied', 'nodes are being emptied'],
  NodeWithoutCloneSource: ['node lacks the clone source', 'nodes lack the clone source'],
  NodeNotRequired: ['node is not the one it is pinned to', 'nodes are not the one it is pinned to'],
  TopologyMismatch: ['node is outside the topology', 'nodes are outside the topology'],
  EngineUnavailable: ['node has no data engine', 'nodes have no data engine'],
  NodeTagsMissing: ['node does not match the node selector', 'nodes do not match the node selector'],
  NodeOccupied: ['node holds a replica of it', 'nodes hold replicas of it'],
  ZoneOccupied: ['node is in a zone that holds a replica', 'nodes are in zones that hold a replica'],
  NodeWithoutDisk: ['node has no disk', 'nodes have no disk'],
  DiskNotReady: ['disk is not ready', 'disks are not ready'],
  DiskSchedulingDisabled: ['disk takes no replicas', 'disks take no replicas'],
  DiskEvicting: ['disk is being emptied', 'disks are being emptied'],
  DiskNotReused: ['disk does not hold the failed replica', 'disks do not hold the failed replica'],
  DiskWithoutCloneSource: ['disk lacks the clone source', 'disks lack the clone source'],
  DiskTypeMismatch: ['disk is of the wrong type', 'disks are of the wrong type'],
  FileSystemLimit: ['disk can not hold so large a file', 'disks can not hold so large a file'],
  DiskTagsMissing: ['disk does not match the disk selector', 'disks do not match the disk selector'],
  InsufficientFreeSpace: ['disk has too little free space', 'disks have too little free space'],
  InsufficientProvisionableSpace: ['disk has too little left to give', 'disks have too little left to give'],
  DiskOccupied: ['disk holds a replica of it', 'disks hold replicas of it'],
};

type Asked = PlacementExplanation['asked'];

/** What the refused lack, where a number or a name says it: of the one that lacks least. */
const DETAILS: Partial<Record<RejectionReason, (asked: Asked, numbers: ComparedNumbers | null) => string>> = {
  NodeTagsMissing: ({ nodeSelector }) => selectorInWords(nodeSelector),
  DiskTagsMissing: ({ diskSelector }) => selectorInWords(diskSelector),
  DiskTypeMismatch: ({ dataEngine, diskType }) => `engine ${dataEngine} needs a ${diskType} disk`,
  FileSystemLimit: (_, numbers) => `files below ${bytesOf(numbers?.thresholdBytes)} only`,
  InsufficientFreeSpace: (_, numbers) => {
    const left = (numbers?.availableBytes ?? 0) - (numbers?.requiredBytes ?? 0);
    return `at most ${bytesOf(left)} would stay free, and more than ${bytesOf(numbers?.thresholdBytes)} must`;
  },
  InsufficientProvisionableSpace: (_, numbers) => `${bytesOf(numbers?.availableBytes)} at most`,
};

/** What is overdrawn has nothing. */
function bytesOf(bytes = 0): string {
  return formatBytes(Math.max(0, bytes));
}

function selectorInWords(selector: readonly string[]): string {
  return selector.length === 0 ? 'it is empty, and tagged ones are kept' : selector.join(', ');
}

function refusedInWords(asked: Asked, { reasons, rejections }: FilterReport): string[] {
  return reasons.map(({ reason, count }) => {
    const words = `${count} ${REFUSED[reason][count === 1 ? 0 : 1]}`;
    const closest = rejections.find((rejection) => rejection.reason === reason);
    const detail = DETAILS[reason]?.(asked, closest?.numbers ?? null);
    return detail === undefined ? words : `${words} (${detail})`;
  });
}

export function sentenceOfPlaced(place: NamedPlace, tier: TierName | null, candidates: number): string {
  const tierWords = tier === null ? '' : `, ${tierInWords(tier)}`;
  const choice = candidates === 1 ? 'the only disk that fits there' : `the best of ${candidates} disks there`;
  return `A replica would go to ${placeInWords(place)}${tierWords}; it is ${choice}.`;
}

export function sentenceOfUnplaced({
  asked,
  filters,
  cures,
  cureSearch,
}: Pick<PlacementExplanation, 'asked' | 'filters' | 'cures' | 'cureSearch'>): string {
  const refused = filters.flatMap((report) => refusedInWords(asked, report));
  const why = refused.length === 0 ? 'the cluster has no node' : refused.join(', ');
  const refusal = `No disk can take this replica of ${formatBytes(asked.sizeBytes)}: ${why}`;
  const [smallest] = cures;
  if (smallest !== undefined)
    return `${refusal}; the smallest cure is to ${smallest.changes.map(describeChange).join(' and to ')}.`;
  return cureSearch.tried === 0 ? `${refusal}.` : `${refusal}; no small change would help.`;
}
