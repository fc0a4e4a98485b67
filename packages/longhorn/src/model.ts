/**
 * A Longhorn cluster as it was read: plain facts in the words of this code, whatever the release wrote them. Names are ids, as in
 * Kubernetes; of a disk it is the UUID, since paths and nodes of a disk change. An empty text is a value that is not set.
 */
import type { DataEngine, DiskType } from '@holdfast/core/model/node.js';
import type { LonghornCondition } from './reading/fields.js';
import type { ReadProblem } from './reading/problem.js';

/** Position of an object in the source. */
export type Place = { readonly file: string; readonly line: number };

type Named = { readonly name: string; readonly at: Place };

export type LonghornDisk = {
  readonly nodeName: string;
  /** As users named it in the node's spec. */
  readonly name: string;
  /** Empty until Longhorn has seen the disk. */
  readonly uuid: string;
  readonly path: string;
  readonly type: DiskType;
  readonly fileSystem: string;
  readonly tags: readonly string[];
  readonly allowScheduling: boolean;
  readonly evictionRequested: boolean;
  /** Only the status knows it: it has been taken out of the spec. */
  readonly isMissingFromSpec: boolean;
  readonly reservedBytes: number;
  readonly maximumBytes: number;
  readonly availableBytes: number;
  readonly scheduledBytes: number;
  /** Nominal sizes by name of replica, and of backing images by theirs. */
  readonly scheduledReplicas: ReadonlyMap<string, number>;
  readonly scheduledBackingImages: ReadonlyMap<string, number>;
  readonly conditions: readonly LonghornCondition[];
};

export type LonghornNode = Named & {
  readonly zone: string;
  readonly region: string;
  readonly tags: readonly string[];
  readonly allowScheduling: boolean;
  readonly evictionRequested: boolean;
  readonly isDeleting: boolean;
  readonly isCordoned: boolean;
  readonly isV2Disabled: boolean;
  readonly conditions: readonly LonghornCondition[];
  readonly disks: readonly LonghornDisk[];
};

/** A volume's own answer to a setting; `ignored` follows the setting. */
export type OwnAnswer = 'ignored' | 'enabled' | 'disabled';

export type LonghornVolume = Named & {
  readonly sizeBytes: number;
  readonly actualBytes: number;
  readonly numberOfReplicas: number;
  readonly dataEngine: DataEngine;
  readonly image: string;
  readonly frontend: string;
  readonly accessMode: string;
  readonly nodeSelector: readonly string[];
  readonly diskSelector: readonly string[];
  readonly dataLocality: 'disabled' | 'best-effort' | 'strict-local';
  readonly replicaSoftAntiAffinity: OwnAnswer;
  readonly replicaZoneSoftAntiAffinity: OwnAnswer;
  readonly replicaDiskSoftAntiAffinity: OwnAnswer;
  readonly replicaAutoBalance: string;
  readonly topology: readonly { readonly zone: string; readonly region: string }[];
  readonly backingImage: string;
  /** Volume that this one shares blocks with; empty: none. */
  readonly linkedCloneOf: string;
  readonly isSharded: boolean;
  /** `attached`, `detached`, …; empty: it has no status yet. */
  readonly state: string;
  readonly robustness: string;
  readonly lastDegradedAt: string;
  /** Where its engine runs. */
  readonly nodeName: string;
  readonly claim: { readonly namespace: string; readonly name: string } | undefined;
  readonly conditions: readonly LonghornCondition[];
  readonly isDeleting: boolean;
};

export type LonghornReplica = Named & {
  readonly volumeName: string;
  readonly sizeBytes: number;
  readonly nodeName: string;
  readonly diskUuid: string;
  readonly diskPath: string;
  readonly healthyAt: string;
  readonly failedAt: string;
  readonly isActive: boolean;
  readonly evictionRequested: boolean;
  readonly isDeleting: boolean;
  readonly rebuildRetryCount: number;
  readonly hardNodeAffinity: string;
  readonly linkedCloneSource: string;
  readonly state: string;
  readonly conditions: readonly LonghornCondition[];
};

export type LonghornEngine = Named & {
  readonly volumeName: string;
  readonly nodeName: string;
  readonly isActive: boolean;
  readonly image: string;
  readonly state: string;
  /** `RW`, `WO` or `ERR` by name of replica. */
  readonly modes: ReadonlyMap<string, string>;
  readonly lastExpansionError: string;
};

export type LonghornSnapshot = Named & {
  readonly volumeName: string;
  readonly parent: string;
  readonly createdAt: string;
  readonly sizeBytes: number;
  readonly isRemoved: boolean;
  readonly isReady: boolean;
};

export type RecurringJob = Named & {
  readonly task: string;
  readonly cron: string;
  readonly retain: number;
  readonly groups: readonly string[];
};

export type AttachmentTicket = {
  readonly id: string;
  readonly type: string;
  readonly nodeName: string;
  readonly isSatisfied: boolean;
};

export type LonghornAttachment = Named & {
  readonly volumeName: string;
  readonly tickets: readonly AttachmentTicket[];
};

export type LonghornBackup = Named & {
  readonly volumeName: string;
  readonly snapshotName: string;
  readonly state: string;
  readonly createdAt: string;
  readonly sizeBytes: number;
};

export type LonghornOrphan = Named & {
  readonly type: string;
  readonly nodeName: string;
  readonly diskUuid: string;
  readonly dataName: string;
};

/** Deployment of an engine's image. */
export type EngineImage = Named & { readonly image: string; readonly deployedOn: ReadonlySet<string> };

export type InstanceManager = Named & {
  readonly nodeName: string;
  /** `aio`; up to 1.4 `engine` and `replica`. */
  readonly type: string;
  readonly dataEngine: DataEngine;
  readonly state: string;
};

export type BackingImage = Named & {
  readonly nodeSelector: readonly string[];
  readonly diskSelector: readonly string[];
};

/** A setting's text, and by engine where it differs (1.10 and later). */
export type SettingText = { readonly v1: string; readonly v2: string; readonly at: Place };

export type LonghornCluster = {
  readonly namespace: string;
  /** As the setting `current-longhorn-version` says; empty: it was not read. */
  readonly version: string;
  readonly apiVersions: readonly string[];
  readonly nodes: readonly LonghornNode[];
  readonly volumes: readonly LonghornVolume[];
  readonly replicas: readonly LonghornReplica[];
  readonly engines: readonly LonghornEngine[];
  readonly snapshots: readonly LonghornSnapshot[];
  readonly settings: ReadonlyMap<string, SettingText>;
  readonly recurringJobs: readonly RecurringJob[];
  readonly attachments: readonly LonghornAttachment[];
  readonly backups: readonly LonghornBackup[];
  readonly orphans: readonly LonghornOrphan[];
  readonly engineImages: readonly EngineImage[];
  readonly instanceManagers: readonly InstanceManager[];
  readonly backingImages: readonly BackingImage[];
  /** How many objects of each other kind there are. */
  readonly otherKinds: ReadonlyMap<string, number>;
  /** Number of unread files, since they hold no relevant objects. */
  readonly unreadFiles: number;
  readonly problems: readonly ReadProblem[];
  /** Problems beyond those that are listed. */
  readonly problemsLeftOut: number;
};
