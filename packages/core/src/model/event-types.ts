/**
 * Registry of event types: meaning, severity and subject of each.
 *
 * An event takes its severity from here, so that a type is never a warning in one place and harmless in another. API, CLI and
 * docs/events.md describe events from this table.
 */

export type EventSeverity = 'info' | 'warning' | 'error';
export type EventSubjectKind =
  | 'cluster'
  | 'node'
  | 'disk'
  | 'volume'
  | 'replica'
  | 'rebuild'
  | 'snapshot'
  | 'setting'
  | 'orphan'
  | 'webhook'
  | 'alert';

export type EventDefinition = {
  readonly severity: EventSeverity;
  readonly subject: EventSubjectKind;
  /** Occasion, as the end of "Told when …". */
  readonly when: string;
};

const info = (subject: EventSubjectKind, when: string) => ({ severity: 'info', subject, when }) as const;
const warning = (subject: EventSubjectKind, when: string) =>
  ({ severity: 'warning', subject, when }) as const;
const error = (subject: EventSubjectKind, when: string) => ({ severity: 'error', subject, when }) as const;

export const EVENT_TYPES = {
  DatabaseRestored: warning(
    'cluster',
    "the control plane's database was restored from a backup of the named time",
  ),
  SettingChanged: info('setting', 'a setting of the cluster gets another value, or its default again'),

  NodeReady: info('node', "the node's agent is heard for the first time, or again"),
  NodeNotReady: error(
    'node',
    "the node's agent was not heard for `agent-heartbeat-timeout`, or its process is gone",
  ),
  NodeChanged: info('node', 'a user changes tags, zone, region or scheduling of the node'),
  NodeCordoned: warning('node', 'the node is cordoned'),
  NodeUncordoned: info('node', 'the node is uncordoned'),
  NodeEvictionRequested: warning('node', 'a user requests that every replica leave the node'),
  NodeEvictionCancelled: info('node', 'that wish is taken back'),
  NodeMaintenanceStarted: warning('node', 'a maintenance window of the node is opened'),
  NodeMaintenanceChanged: warning('node', 'the open maintenance window gets another end or reason'),
  NodeMaintenanceEnded: info('node', 'the maintenance window is over, or was ended'),
  NodeDrainStarted: warning('node', 'a user drains the node'),
  NodeDrainChanged: warning('node', 'a drain goes on under another policy'),
  NodeDrainBlocked: warning('node', 'a drain waits for a user or another node, for the reason that is named'),
  NodeDrainResumed: info('node', 'a drain goes on after such a wait'),
  NodeDrained: info('node', 'the node may be switched off under the policy of its drain'),
  NodeDrainCancelled: info('node', 'a drain is cancelled, or the node uncordoned'),
  NodeForgetRequested: warning(
    'node',
    'a user has declared the node gone for good: its certificate is revoked, and its copies are given up',
  ),
  NodeForgotten: info('node', 'the last reference to such a node is gone, and it is deleted'),
  NodeJoined: info('node', 'an agent has joined as the node, for the first time or with another key'),
  NodeIdentityRevoked: warning('node', "a user takes the certificate of the node's agent back"),
  AgentRefused: error(
    'node',
    "an agent reports under a living agent's name, is of a newer version than the control plane, or of one from before an upgrade that was finished",
  ),

  DiskReady: info('disk', 'the disk can be used again'),
  DiskNotReady: error('disk', 'the disk can not be used, for the reason that is named'),
  DiskAdded: info('disk', 'a user adds the disk to its node, and its agent is to set it up'),
  DiskRemoved: info('disk', 'the disk is removed from its node; its agent has released it or is gone'),
  DiskMoved: info('disk', 'the disk and its replicas are on another node from now on'),
  DiskDuplicated: error('disk', 'another node has a disk of the same identity, which is not used'),
  DiskAccepted: warning('disk', 'a user takes another state, or a copy, of the disk for the disk'),
  DiskSchedulable: info('disk', 'the disk takes new replicas again'),
  DiskUnschedulable: warning('disk', 'the disk takes no new replica, for the reason that is named'),
  DiskChanged: info('disk', 'a user changes tags, reserve or scheduling of the disk'),
  DiskEvictionRequested: warning('disk', 'a user requests that every replica leave the disk'),
  DiskEvictionCancelled: info('disk', 'that wish is taken back'),

  VolumeCreated: info('volume', 'a volume is created'),
  VolumeRecovered: warning('volume', 'a volume, or copies of it, are recovered from the copies on the disks'),
  VolumeChanged: info('volume', "a user changes the volume's settings"),
  VolumeScheduled: info('volume', 'every wanted replica has a place again'),
  VolumeUnscheduled: warning('volume', 'a wanted replica has no place'),
  VolumeAttaching: info('volume', 'a node is chosen for the engine'),
  VolumeAttached: info('volume', 'the engine serves; the address is named'),
  VolumeFailedOver: warning(
    'volume',
    'its engine is given up with a dead node, to be started elsewhere by its policy',
  ),
  VolumeDetached: info('volume', 'the engine has stopped, or its node is given up'),
  VolumeNodeForgotten: warning(
    'volume',
    'the node that served it, or was to serve it, is gone for good; its attachment continues elsewhere',
  ),
  VolumeDetachedFromCordonedNode: warning(
    'volume',
    'it is detached because its node is cordoned and a setting requires that',
  ),
  VolumeHealthy: info('volume', 'it has all its full copies again'),
  VolumeDegraded: warning('volume', 'it has fewer full copies than wanted'),
  VolumeFaulted: error('volume', 'it has no full copy that can be used'),
  VolumeUnknown: warning('volume', 'the node of its engine does not answer'),
  VolumeDeleted: info('volume', 'its last copy is deleted, and nothing is left of it'),
  VolumeCloned: info('volume', 'a clone holds all of its snapshot'),
  VolumeExpanded: info('volume', 'every copy has the larger size'),
  VolumeReverted: info('volume', "it holds the snapshot's content"),
  VolumePurged: info('volume', 'deleted layers are merged'),
  VolumeTaskFailed: warning('volume', 'a purge, a revert or an expansion failed'),
  VolumeTaskCancelled: info('volume', 'a user has cancelled its expansion'),
  VolumeSalvaged: warning('volume', 'it goes on with the copies that a user named'),
  SalvageRefused: warning('volume', 'the copies that a user named can not be gone on with'),
  EpochRaised: warning('volume', 'copies report a higher epoch than the database'),
  OfflineRebuildStarted: info('volume', 'a detached volume is attached without an address, to be rebuilt'),
  OfflineRebuildEnded: info('volume', 'that rebuild has ended, for the reason that is named'),
  AutoBalanceStopped: warning('volume', 'its copies oscillated, so its balancing is stopped'),
  AutoBalanceResumed: info('volume', 'it is balanced again, as a user wants'),
  LocalReplicaSchedulingFailed: warning('volume', 'the node of its engine can not have a copy'),
  LocalReplicaScheduled: info('volume', 'a copy may be placed on the node of its engine again'),
  VolumePlacementUnfit: warning(
    'volume',
    "a copy's place no longer matches the volume's selectors or topology",
  ),
  VolumePlacementFits: info('volume', 'all copies match its selectors and its topology again'),
  CopiesDiffer: error('volume', 'its copies differ without a majority: a person decides'),
  CopiesAccepted: warning('volume', 'of copies that differ it goes on with those that a user named'),
  TooManySnapshots: warning('volume', 'it has so many layers that a limit comes near'),
  RecurringSnapshotSkipped: warning('volume', 'a recurring snapshot was due and could not be taken'),
  SnapshotCheckFailed: warning('volume', 'hashes of a snapshot differ without a majority'),

  ReplicaAdded: info('replica', 'a further replica gets a place'),
  ReplicaMoved: info('replica', 'a copy has moved: its replacement is full, and the old one is gone'),
  ReplicaMoveCancelled: warning('replica', 'the move of a copy is given up, for the reason that is named'),
  ReplicaFailed: warning('replica', 'a copy is no longer a full copy, for the named reason'),
  ReplicaHealthy: info('replica', 'it has become a full copy'),
  ReplicaRemoved: info('replica', 'a replica is deleted, for the reason that is named'),

  RebuildQueued: info('rebuild', 'a rebuild waits for admission'),
  RebuildStarted: info('rebuild', 'it is admitted, and sent to the engine'),
  RebuildPaused: warning('rebuild', 'a user holds it up'),
  RebuildPreempted: info('rebuild', 'it is paused in favour of a volume on its last copy'),
  RebuildResumed: info(
    'rebuild',
    'it goes on: a user lets it, or there is room again after it was preempted',
  ),
  RebuildCancelled: warning(
    'rebuild',
    'a user cancels it, detaches its volume or attaches it on another node, or its target has to leave its place',
  ),
  RebuildSucceeded: info('rebuild', 'its target is a full copy'),
  RebuildFailed: warning('rebuild', 'it ended without that, for the reason that is named'),

  SnapshotCreated: info('snapshot', 'a user snapshot is taken'),
  SnapshotDeleted: info('snapshot', 'a user snapshot is deleted on every copy'),
  SnapshotFailed: warning('snapshot', 'a snapshot could not be taken'),
  SnapshotLost: error('snapshot', 'a user snapshot is gone although no request deleted it'),

  OrphanFound: warning('orphan', 'a copy without a replica is found on a disk'),
  OrphanRemoved: info('orphan', 'such data is deleted'),

  AlertFired: warning('alert', 'an alert of the severity warning fires, or its silence ends'),
  CriticalAlertFired: error('alert', 'an alert of the severity error fires, or its silence ends'),
  AlertResolved: info('alert', 'the cause of an announced alert is gone'),

  WebhookDisabled: error('webhook', 'it is disabled, because its receiver accepted no event for a long time'),
} as const satisfies Record<string, EventDefinition>;

export type EventType = keyof typeof EVENT_TYPES;
