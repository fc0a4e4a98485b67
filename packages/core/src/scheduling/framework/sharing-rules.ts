/**
 * Rules that the tiers and the end of a decision hold beside the filters: what replicas of one volume may share, and that a
 * node needs a disk. They judge nodes together, or disks together, so they are no filters; users read of them as of one.
 */
import type { StorageDisk, StorageNode } from '../../model/node.js';
import type { VolumeSpec } from '../../model/volume.js';
import type { CureChange } from './cure-change.js';
import type { Rule } from './framework.js';

export const nodeAntiAffinityRule: Rule<StorageNode, 'NodeOccupied'> = {
  name: 'node-anti-affinity',
  description: 'Node holds no other copy',
  reasons: {
    NodeOccupied: {
      summary: 'node already holds a replica',
      refused: ['node holds a replica of it', 'nodes hold replicas of it'],
      cures: (_, { spec }) => sharingCures('node', spec),
    },
  },
};

export const zoneAntiAffinityRule: Rule<StorageNode, 'ZoneOccupied'> = {
  name: 'zone-anti-affinity',
  description: 'Zone holds no other copy',
  reasons: {
    ZoneOccupied: {
      summary: 'zone already holds a replica',
      refused: ['node is in a zone that holds a replica', 'nodes are in zones that hold a replica'],
      cures: (_, { spec }) => sharingCures('zone', spec),
    },
  },
};

export const nodeHasDiskRule: Rule<StorageNode, 'NodeWithoutDisk'> = {
  name: 'node-has-disk',
  description: 'Node has a disk',
  reasons: {
    NodeWithoutDisk: { summary: 'node without disk', refused: ['node has no disk', 'nodes have no disk'] },
  },
};

export const diskAntiAffinityRule: Rule<StorageDisk, 'DiskOccupied'> = {
  name: 'disk-anti-affinity',
  description: 'Disk holds no other copy',
  reasons: {
    DiskOccupied: {
      summary: 'disk already holds a replica',
      refused: ['disk holds a replica of it', 'disks hold replicas of it'],
      cures: (_, { spec }) => sharingCures('disk', spec),
    },
  },
};

const SHARING = {
  node: { field: 'replicaSoftAntiAffinity', setting: 'replica-soft-anti-affinity' },
  zone: { field: 'replicaZoneSoftAntiAffinity', setting: 'replica-zone-soft-anti-affinity' },
  disk: { field: 'replicaDiskSoftAntiAffinity', setting: 'replica-disk-soft-anti-affinity' },
} as const;

function sharingCures(domain: keyof typeof SHARING, spec: VolumeSpec): CureChange[] {
  const { field, setting } = SHARING[domain];
  const override = spec[field];
  if (override === 'enabled') return [];
  const cures: CureChange[] = [{ kind: 'set-override', field, from: override, to: 'enabled' }];
  // The setting says nothing to a volume that has its own answer.
  if (override === 'ignored') cures.push({ kind: 'set-setting', setting, from: false, to: true });
  return cures;
}
