/** Cure: one change that could give a replica a place. A union by `kind`, plain data as the explanation that holds it. */
import type { DiskId, NodeId, ReplicaId } from '../../model/ids.js';
import type { DiskType, StorageDisk, StorageNode } from '../../model/node.js';
import type { SettingName } from '../../model/setting.js';
import type { SettingValue } from '../../settings/effective.js';
import { isNodeSwitch, type NodeSwitchKind } from './node-switches.js';

type OnNode = { readonly nodeId: NodeId; readonly nodeName: string };
type OnDisk = OnNode & { readonly diskId: DiskId; readonly diskName: string };

/** A disk that is yet to be bought. */
type NewDisk = {
  readonly diskType: DiskType;
  /** Null: any will do. */
  readonly fileSystem: 'xfs' | null;
  readonly diskTags: readonly string[];
  /** The smallest that would do. */
  readonly bytes: number;
};

export type OverrideField =
  | 'replicaSoftAntiAffinity'
  | 'replicaZoneSoftAntiAffinity'
  | 'replicaDiskSoftAntiAffinity';

export type CureChange =
  /** Nothing to do but wait: a failed replica stops holding its place then. */
  | { readonly kind: 'wait-until'; readonly at: string; readonly replicaId: ReplicaId }
  | ({ readonly kind: 'start-agent' } & OnNode)
  /** Undoes what a user wanted of the node (`node-switches.ts`). */
  | ({ readonly kind: NodeSwitchKind } & OnNode)
  | ({ readonly kind: 'repair-disk' } & OnDisk)
  | ({ readonly kind: 'enable-disk-scheduling' } & OnDisk)
  | ({ readonly kind: 'cancel-disk-eviction' } & OnDisk)
  | ({ readonly kind: 'tag-node'; readonly tags: readonly string[] } & OnNode)
  | ({ readonly kind: 'tag-disk'; readonly tags: readonly string[] } & OnDisk)
  /** Takes tags off the volume's selector. */
  | {
      readonly kind: 'remove-selector-tags';
      readonly selector: 'nodeSelector' | 'diskSelector';
      readonly tags: readonly string[];
    }
  /** Gives a volume without a selector one, where tagged places are kept for those that ask. */
  | {
      readonly kind: 'add-selector-tags';
      readonly selector: 'nodeSelector' | 'diskSelector';
      readonly tags: readonly string[];
    }
  /** Exactly so many bytes: with one less it does not fit. Either may be 0, not both. */
  | ({
      readonly kind: 'free-space';
      /** To be deleted on the file system. */
      readonly freeBytes: number;
      /** Nominal bytes of replicas to be moved off the disk. */
      readonly releaseBytes: number;
    } & OnDisk)
  | ({ readonly kind: 'lower-reserve'; readonly fromBytes: number; readonly toBytes: number } & OnDisk)
  | {
      readonly kind: 'set-override';
      readonly field: OverrideField;
      readonly from: 'ignored' | 'disabled';
      readonly to: 'enabled';
    }
  | {
      readonly kind: 'set-setting';
      readonly setting: SettingName;
      readonly from: SettingValue;
      readonly to: SettingValue;
    }
  | ({ readonly kind: 'add-disk' } & NewDisk & OnNode)
  | ({
      readonly kind: 'add-node';
      /** Null: any zone will do. Else a zone that no node of the cluster is in yet. */
      readonly zone: string | null;
      readonly tags: readonly string[];
    } & NewDisk);

/** A disk as a change names it. */
export function namesOf(node: StorageNode, disk: StorageDisk): OnDisk {
  return { nodeId: node.id, nodeName: node.name, diskId: disk.id, diskName: disk.name };
}

/**
 * How small a change is, smallest first: waiting, undoing a switch, a label, moving bytes, the volume's own rules, the
 * cluster's rules, hardware. Within `free-space` fewer bytes are smaller.
 */
const RANK: Record<Exclude<CureChange['kind'], NodeSwitchKind>, number> = {
  'wait-until': 0,
  'enable-disk-scheduling': 1,
  'cancel-disk-eviction': 1,
  'start-agent': 2,
  'repair-disk': 2,
  'tag-disk': 3,
  'tag-node': 3,
  'remove-selector-tags': 4,
  'add-selector-tags': 4,
  'free-space': 5,
  'lower-reserve': 6,
  'set-override': 7,
  'set-setting': 8,
  'add-disk': 9,
  'add-node': 10,
};

const NODE_SWITCH_RANK = RANK['enable-disk-scheduling'];

export function rankOfChange(change: CureChange): number {
  if (isNodeSwitch(change)) return NODE_SWITCH_RANK;
  // A node anywhere is easier to come by than one in a zone of its own.
  const isPicky = change.kind === 'add-node' && change.zone !== null;
  return RANK[change.kind] + (isPicky ? 1 : 0);
}
