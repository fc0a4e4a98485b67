import type { DataEngine } from './node.js';
import { DRAIN_POLICIES } from './node-drain.js';

/** Fields of any setting's definition. */
type Common = {
  description: string;
  /** Set where Longhorn has no such setting. */
  isOurs?: true;
  /** Set where volumes of different data engines may have different values (`settings/engine-maps.ts`). */
  engines?: readonly DataEngine[];
  /** Set if Longhorn's map names some engines alone: the others have the default. */
  mayLeaveOut?: true;
  /** Set where a volume may answer for itself (`model/volume-overrides.ts`). */
  volume?: OfVolume;
  category: 'scheduling' | 'rebuild' | 'snapshot' | 'engine' | 'node' | 'orphan' | 'history';
};
/** How a volume answers a setting for itself. */
type OfVolume = {
  /** The field of the volume's spec. */
  field: string;
  /** Description of the field, for the API; how to follow the cluster is added. */
  description: string;
  /** The option of `volume set`, without dashes. */
  flag: string;
  /** For people, in the console. */
  title: string;
  /** Least number that a volume may say, where that is below its cluster's: -1 refuses what the cluster does. */
  min?: number;
  /** Its words for people, where they are not Yes and No, or a number means one. */
  words?: Readonly<Record<string, string>>;
};
type BooleanSetting = Common & { type: 'boolean'; default: boolean };
type IntegerSetting = Common & {
  type: 'integer';
  default: number;
  min: number;
  max: number;
  unit?: string;
  /** The word `unlimited` may be set, too; it reads as infinity. */
  mayBeUnlimited?: true;
};
type NumberSetting = Common & { type: 'number'; default: number; min: number; max: number };
type EnumSetting = Common & { type: 'enum'; default: string; options: readonly string[] };
/** A schedule, see `model/cron.ts`. */
type CronSetting = Common & { type: 'cron'; default: string };
/** Some of the options, in any order, with semicolons between them; empty for none. */
type ListSetting = Common & { type: 'list'; default: string; options: readonly string[] };
export type SettingDefinition =
  | BooleanSetting
  | IntegerSetting
  | NumberSetting
  | EnumSetting
  | CronSetting
  | ListSetting;

/** In place of a number, where a limit may be switched off. 0 never means that for a limit of rebuilds: it stops them. */
export const UNLIMITED = 'unlimited';

/** A year: longer waits are a typing error. */
const SECONDS_MAX = 365 * 24 * 3600;
/** Ten years. */
const DAYS_MAX = 3_650;

/**
 * Every cluster setting: its type, default, bounds and meaning. Names, defaults and bounds of those that Longhorn has
 * too are Longhorn's; the others say so.
 */
export const SETTINGS = {
  'replica-soft-anti-affinity': {
    type: 'boolean',
    default: false,
    category: 'scheduling',
    description: 'Two replicas of one volume may share a node when no better node exists.',
    volume: {
      field: 'replicaSoftAntiAffinity',
      description: 'May copies share a node when no better one exists?',
      flag: 'soft-anti-affinity',
      title: 'Copies may share a node',
    },
  },
  'replica-zone-soft-anti-affinity': {
    type: 'boolean',
    default: true,
    category: 'scheduling',
    description: 'Two replicas of one volume may share a zone when no unused zone has room.',
    volume: {
      field: 'replicaZoneSoftAntiAffinity',
      description: 'May copies share a zone when no unused zone has room?',
      flag: 'zone-soft-anti-affinity',
      title: 'Copies may share a zone',
    },
  },
  'replica-disk-soft-anti-affinity': {
    type: 'boolean',
    default: true,
    category: 'scheduling',
    description: 'Two replicas of one volume may share a disk as a last resort.',
    volume: {
      field: 'replicaDiskSoftAntiAffinity',
      description: 'May copies share a disk as a last resort?',
      flag: 'disk-soft-anti-affinity',
      title: 'Copies may share a disk',
    },
  },
  'storage-over-provisioning-percentage': {
    type: 'integer',
    default: 100,
    min: 0,
    max: 10_000,
    unit: '%',
    category: 'scheduling',
    description: 'Nominal replica bytes a disk may hold, as a share of its maximum less its reserve.',
  },
  'storage-minimal-available-percentage': {
    type: 'integer',
    default: 25,
    min: 0,
    max: 100,
    unit: '%',
    category: 'scheduling',
    description: 'A disk whose free space is at or below this share of its maximum takes no new replica.',
  },
  'allow-empty-node-selector-volume': {
    type: 'boolean',
    default: true,
    category: 'scheduling',
    description: 'A volume without node selector may use tagged nodes too.',
  },
  'allow-empty-disk-selector-volume': {
    type: 'boolean',
    default: true,
    category: 'scheduling',
    description: 'A volume without disk selector may use tagged disks too.',
  },
  'disable-scheduling-on-cordoned-node': {
    type: 'boolean',
    default: true,
    category: 'scheduling',
    description: 'A cordoned node takes no new replica.',
  },
  'node-drain-policy': {
    type: 'enum',
    default: 'block-if-contains-last-replica',
    options: DRAIN_POLICIES,
    category: 'node',
    description:
      'When a drained node may be switched off, if the request names no policy: unless it holds the last healthy copy of a volume (block-if-contains-last-replica), or of one in use (allow-if-replica-is-stopped); at once (always-allow); once all its replicas have been replaced elsewhere (block-for-eviction), or those that are the last healthy copy (block-for-eviction-if-contains-last-replica).',
  },
  'detach-manually-attached-volumes-when-cordoned': {
    type: 'boolean',
    default: false,
    category: 'node',
    description:
      'Detach the volumes whose engine is on a cordoned node, so that they do not block its drain.',
  },
  'allow-volume-creation-with-degraded-availability': {
    type: 'boolean',
    default: true,
    category: 'scheduling',
    description: 'A detached volume with at least one placed replica counts as scheduled and may attach.',
  },
  'balance-alpha': {
    type: 'number',
    default: 1,
    min: 0,
    max: 1,
    category: 'scheduling',
    description: 'Weight of absolute free bytes against the free share in the balance score.',
    isOurs: true,
  },
  'replica-disk-choice': {
    type: 'enum',
    default: 'spread',
    options: ['spread', 'pack'],
    category: 'scheduling',
    description:
      'Which disk of the chosen node takes a replica: spread takes the emptiest, pack the fullest that fits, which keeps room for large volumes.',
    isOurs: true,
    volume: {
      field: 'replicaDiskChoice',
      description:
        'Which disk of the chosen node: the emptiest (`spread`), or the fullest that still holds it (`pack`).',
      flag: 'disk-choice',
      title: 'Disk of a node',
      words: { spread: 'The emptiest', pack: 'The fullest' },
    },
  },
  'replica-auto-balance': {
    type: 'enum',
    default: 'disabled',
    options: ['disabled', 'least-effort', 'best-effort'],
    category: 'scheduling',
    description: 'Moves replicas of healthy attached volumes to spread them better.',
    volume: {
      field: 'replicaAutoBalance',
      description: 'How much copies are moved to spread them evenly.',
      flag: 'auto-balance',
      title: 'Balance copies automatically',
      words: { disabled: 'No', 'least-effort': 'Least effort', 'best-effort': 'Best effort' },
    },
  },
  'replica-auto-balance-disk-pressure-percentage': {
    type: 'integer',
    default: 90,
    min: 0,
    max: 100,
    unit: '%',
    category: 'scheduling',
    description:
      'Used share of a disk from which balancing moves a replica to another disk of the node. 0 is off.',
  },
  'replica-auto-balance-margin': {
    type: 'integer',
    default: 2,
    min: 2,
    max: 20,
    category: 'scheduling',
    description:
      'How many more copies of a volume a node or zone must hold than another one before best-effort balancing moves one.',
    isOurs: true,
  },
  'replica-auto-balance-disk-margin-percentage': {
    type: 'integer',
    default: 10,
    min: 0,
    max: 100,
    unit: '%',
    category: 'scheduling',
    description:
      'How much less the target must be used, with the replica on it, than the disk under pressure that it leaves.',
    isOurs: true,
  },
  'replica-auto-balance-cool-down': {
    type: 'integer',
    default: 30,
    min: 0,
    max: SECONDS_MAX,
    unit: 's',
    category: 'scheduling',
    description:
      'How long balancing leaves a volume alone after it has moved a copy of it; also how long free space may take to be reported.',
    isOurs: true,
  },
  'replica-auto-balance-bytes-in-flight': {
    type: 'integer',
    default: 1_024,
    min: 1,
    max: 1_048_576,
    unit: 'GiB',
    category: 'scheduling',
    description:
      'Bytes that balancing may have under way in the cluster at once. A single larger volume moves alone.',
    isOurs: true,
  },
  'replica-auto-balance-node-settling-time': {
    type: 'integer',
    default: 60,
    min: 0,
    max: SECONDS_MAX,
    unit: 's',
    category: 'scheduling',
    description:
      'How long a node that was not ready must have been ready again before balancing moves copies to it or from it.',
    isOurs: true,
  },
  'replica-relocate-on-selector-change': {
    type: 'boolean',
    default: false,
    category: 'scheduling',
    description:
      'Move copies whose node or disk no longer matches the selectors or the topology of their volume; false: only report them.',
    isOurs: true,
  },
  'default-replica-count': {
    type: 'integer',
    default: 3,
    min: 1,
    max: 20,
    engines: ['v1', 'v2'],
    category: 'scheduling',
    description: 'Replicas of a volume that is created without a count.',
  },
  'default-data-locality': {
    type: 'enum',
    default: 'disabled',
    options: ['disabled', 'best-effort', 'strict-local'],
    category: 'scheduling',
    description: 'Data locality of a volume that is created without one.',
  },
  'replica-replenishment-wait-interval': {
    type: 'integer',
    default: 600,
    min: 0,
    max: SECONDS_MAX,
    unit: 's',
    category: 'rebuild',
    description: 'How long to wait for a failed replica to return before a new one is built elsewhere.',
  },
  'concurrent-replica-rebuild-per-node-limit': {
    type: 'integer',
    default: 5,
    min: 0,
    max: 100,
    mayBeUnlimited: true,
    category: 'rebuild',
    description: 'Rebuilds that may write to one node at once. 0 stops new rebuilds.',
  },
  'concurrent-rebuild-source-per-node-limit': {
    type: 'integer',
    default: 5,
    min: 0,
    max: 100,
    mayBeUnlimited: true,
    category: 'rebuild',
    description: 'Rebuilds that may read from one node at once. 0 stops new rebuilds.',
    isOurs: true,
  },
  'concurrent-rebuild-per-cluster-limit': {
    type: 'integer',
    default: 100,
    min: 0,
    max: 10_000,
    mayBeUnlimited: true,
    category: 'rebuild',
    description: 'Rebuilds that may run in the whole cluster at once. 0 stops new rebuilds.',
    isOurs: true,
  },
  'fast-replica-rebuild-enabled': {
    type: 'boolean',
    default: true,
    engines: ['v1', 'v2'],
    category: 'rebuild',
    description: 'Skip snapshots whose recorded checksums agree on both sides.',
  },
  'auto-cleanup-system-generated-snapshot': {
    type: 'boolean',
    default: true,
    category: 'snapshot',
    description: 'Purge the layers that rebuilds leave as soon as a volume has all its copies again.',
  },
  'disable-snapshot-purge': {
    type: 'boolean',
    default: false,
    category: 'snapshot',
    description: 'Refuse every purge. Deleted snapshots stay on disk until this is false again.',
  },
  'snapshot-data-integrity': {
    type: 'enum',
    default: 'fast-check',
    options: ['disabled', 'enabled', 'fast-check'],
    engines: ['v1', 'v2'],
    category: 'snapshot',
    description:
      'Automatic hashing of user snapshots. enabled reads them even if nothing has changed since; disabled: only on request.',
    volume: {
      field: 'snapshotDataIntegrity',
      description:
        'Which snapshots are hashed in the background: none (`disabled`), all in full (`enabled`), or those that changed since they were last hashed (`fast-check`).',
      flag: 'snapshot-data-integrity',
      title: 'Hash snapshots automatically',
      words: { disabled: 'No', enabled: 'In full', 'fast-check': 'What changed' },
    },
  },
  'snapshot-data-integrity-immediate-check-after-snapshot-creation': {
    type: 'boolean',
    default: false,
    engines: ['v1', 'v2'],
    category: 'snapshot',
    description: 'Hash a user snapshot as soon as it has been taken.',
  },
  'snapshot-data-integrity-cronjob': {
    type: 'cron',
    default: '0 0 */7 * *',
    engines: ['v1', 'v2'],
    category: 'snapshot',
    description:
      'When the user snapshots of attached volumes are hashed again, in UTC. The default is days 1, 8, 15, 22 and 29.',
  },
  'scheduled-volume-verification': {
    type: 'boolean',
    default: false,
    category: 'snapshot',
    description:
      'The copies of detached volumes are compared on a schedule, and a copy that most contradict is failed.',
  },
  'volume-verification-cronjob': {
    type: 'cron',
    default: '0 3 * * 0',
    category: 'snapshot',
    description:
      'When that comparison is due, in UTC; each volume begins within an hour. A volume that is attached then is compared once it is detached.',
  },
  'volume-verification-bandwidth-limit': {
    type: 'integer',
    default: 50,
    min: 0,
    max: 100_000,
    unit: 'MiB/s',
    category: 'snapshot',
    description: 'Bandwidth of all scheduled comparisons on one node. 0 is no limit.',
  },
  'snapshot-heavy-task-concurrent-limit': {
    type: 'integer',
    default: 5,
    min: 0,
    max: 1_000,
    mayBeUnlimited: true,
    category: 'snapshot',
    description:
      'Volumes with a copy on a node that may be purged, filled or automatically hashed at once; the others wait for admission. 0 is no limit.',
  },
  'snapshot-count-warning-threshold': {
    type: 'integer',
    default: 100,
    min: 2,
    max: 250,
    category: 'snapshot',
    description:
      'Layers from which on a volume shows TooManySnapshots; fewer where it may have fewer snapshots.',
  },
  'offline-replica-rebuilding': {
    type: 'boolean',
    default: false,
    category: 'rebuild',
    description:
      'Attach a detached, degraded volume without an address, rebuild its missing copies, and detach it again.',
    volume: {
      field: 'offlineRebuilding',
      description: 'Rebuild missing copies while it is detached, too?',
      flag: 'offline-rebuilding',
      title: 'Rebuild when not in use',
    },
  },
  'snapshot-max-count': {
    type: 'integer',
    default: 250,
    min: 2,
    max: 250,
    category: 'snapshot',
    description:
      'User snapshots a volume may have. More than 239 are never taken: the rest of 250 layers is kept for rebuilds.',
    volume: {
      field: 'snapshotMaxCount',
      description: 'User snapshots it may have.',
      flag: 'snapshot-max-count',
      title: 'Snapshots at most',
    },
  },
  'recurring-job-max-retention': {
    type: 'integer',
    default: 100,
    min: 1,
    max: 250,
    category: 'snapshot',
    description: 'Snapshots that one recurring snapshot of a volume may keep.',
  },
  'replica-rebuilding-bandwidth-limit': {
    type: 'integer',
    default: 0,
    min: 0,
    max: 100_000,
    unit: 'MiB/s',
    engines: ['v1', 'v2'],
    mayLeaveOut: true,
    category: 'rebuild',
    description:
      "Bandwidth of all rebuilds that write to one node; they share it. 0 is no limit. With a map, the rebuilds of each data engine share that engine's limit.",
    volume: {
      field: 'replicaRebuildingBandwidthLimit',
      description:
        "Bandwidth of a rebuild of it in MiB per second, in place of its share of its node's limit.",
      flag: 'rebuilding-bandwidth-limit',
      title: 'Rebuild at most (MiB/s)',
      min: 1,
    },
  },
  'replica-rebuild-concurrent-sync-limit': {
    type: 'integer',
    default: 1,
    min: 1,
    max: 5,
    engines: ['v1'],
    category: 'rebuild',
    description: 'Full copies that one rebuild reads from at once.',
    volume: {
      field: 'rebuildConcurrentSyncLimit',
      description: 'Full copies that one rebuild of it reads from at once.',
      flag: 'rebuild-concurrent-sync-limit',
      title: 'Sources of a rebuild at once',
    },
  },
  'rebuild-block-hash': {
    type: 'enum',
    default: 'sha512',
    options: ['sha512', 'blake3'],
    category: 'rebuild',
    description: 'How a rebuild compares blocks; BLAKE3 costs less CPU.',
    isOurs: true,
  },
  'engine-replica-timeout': {
    type: 'integer',
    default: 8,
    min: 8,
    max: 30,
    unit: 's',
    engines: ['v1', 'v2'],
    category: 'engine',
    description: 'How long an engine waits for a replica that has I/O outstanding before it drops it.',
  },
  'volume-failover-delay': {
    type: 'integer',
    default: 0,
    min: 0,
    max: SECONDS_MAX,
    unit: 's',
    category: 'engine',
    description:
      "How long the node of a volume's engine must have been not ready until the volume is attached elsewhere automatically. 0 leaves it to its users.",
    isOurs: true,
    volume: {
      field: 'failoverDelay',
      description:
        "Seconds for which its engine's node must have been not ready until it is attached elsewhere automatically; -1: never.",
      flag: 'failover-delay',
      title: 'Failover when its node is dead for (s)',
      min: -1,
      words: { '-1': 'Never' },
    },
  },
  'agent-heartbeat-timeout': {
    type: 'integer',
    default: 10,
    min: 5,
    max: 300,
    unit: 's',
    category: 'node',
    description:
      'Silence after which a node counts as not ready. A node whose agent refuses connections does at once.',
    isOurs: true,
  },
  'stale-replica-timeout': {
    type: 'integer',
    default: 2880,
    min: 0,
    max: SECONDS_MAX / 60,
    unit: 'min',
    category: 'rebuild',
    description: 'Age at which a failed replica is removed once the volume has its full count. 0 keeps it.',
  },
  'orphan-resource-auto-deletion': {
    type: 'list',
    default: '',
    options: ['replica-data', 'instance'],
    category: 'orphan',
    description:
      "Which orphans are removed automatically, separated by semicolons. replica-data: copies without a replica, except those of another cluster. instance, a value of Longhorn's, is accepted and removes nothing: an engine left on an unreachable node can write nothing once its volume is attached elsewhere, and ends when its agent is started again.",
  },
  'orphan-resource-auto-deletion-grace-period': {
    type: 'integer',
    default: 300,
    min: 0,
    max: SECONDS_MAX,
    unit: 's',
    category: 'orphan',
    description: 'How long an orphan must have been seen before it is removed automatically.',
  },
  'event-retention-days': {
    type: 'integer',
    default: 30,
    min: 1,
    max: DAYS_MAX,
    unit: 'days',
    category: 'history',
    description: 'Age at which events are deleted.',
    isOurs: true,
  },
  'rebuild-retention-days': {
    type: 'integer',
    default: 30,
    min: 1,
    max: DAYS_MAX,
    unit: 'days',
    category: 'history',
    description: 'Age at which rebuilds and other operations that have ended are deleted.',
    isOurs: true,
  },
  'audit-retention-days': {
    type: 'integer',
    default: 0,
    min: 0,
    max: DAYS_MAX,
    unit: 'days',
    category: 'history',
    description:
      'Age at which audit entries are deleted. 0 keeps them. An organization keeps them as long as any of its clusters requires.',
    isOurs: true,
  },
} as const satisfies Record<string, SettingDefinition>;

export type SettingName = keyof typeof SETTINGS;

type ValueOf<D extends SettingDefinition> = D extends { type: 'boolean' }
  ? boolean
  : D extends { type: 'enum'; options: readonly (infer Option)[] }
    ? Option
    : D extends { type: 'cron' | 'list' }
      ? string
      : number;

/** The effective value of every setting of one cluster. */
export type ClusterSettings = SettingValues & {
  /** Values for volumes of one engine, if the cluster sets them. */
  readonly ofEngine?: { readonly [Engine in DataEngine]?: Partial<SettingValues> };
};

type SettingValues = { readonly [Name in SettingName]: ValueOf<(typeof SETTINGS)[Name]> };
