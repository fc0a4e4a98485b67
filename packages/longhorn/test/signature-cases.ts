/** For each signature what shows it, with a release that has the failure. */

type Case = { readonly version?: string; readonly objects?: readonly object[]; readonly log?: string };

const API = 'longhorn.io/v1beta2';

function longhorn(kind: string, name: string, parts: object = {}): object {
  return { apiVersion: API, kind, metadata: { name, namespace: 'longhorn-system' }, ...parts };
}

function kubernetes(kind: string, name: string, parts: object = {}, apiVersion = 'v1'): object {
  return { apiVersion, kind, metadata: { name, namespace: 'longhorn-system' }, ...parts };
}

const event = (reason: string, message = 'so it is') =>
  kubernetes('Event', `event-${reason}`, { reason, message, involvedObject: { kind: 'Volume', name: 'v' } });

const condition = (type: string, status: string, reason = '', message = '') => ({
  type,
  status,
  reason,
  message,
});

const ticket = (id: string, type: string, nodeID: string) => ({ [id]: { id, type, nodeID } });

const attachment = (tickets: object, answers: object = {}) =>
  longhorn('VolumeAttachment', 'v', {
    spec: { volume: 'v', attachmentTickets: tickets },
    status: { attachmentTicketStatuses: answers },
  });

const volume = (status: object, spec: object = {}) =>
  longhorn('Volume', 'v', { spec: { size: '1000', numberOfReplicas: 1, ...spec }, status });

const replica = (name: string, parts: object = {}) =>
  longhorn('Replica', name, {
    spec: {
      volumeName: 'v',
      nodeID: 'a',
      diskID: 'd',
      active: true,
      healthyAt: '2026-01-01T00:00:00Z',
      ...parts,
    },
    status: {},
  });

const setting = (name: string, value: string) => longhorn('Setting', name, { value });

export const HEALTHY: readonly object[] = [
  volume({
    state: 'attached',
    robustness: 'healthy',
    actualSize: 10,
    conditions: [condition('Scheduled', 'True')],
  }),
  replica('v-r-1'),
  longhorn('Engine', 'v-e-0', { spec: { volumeName: 'v', active: true, image: 'e:1' }, status: {} }),
  longhorn('Node', 'a', {
    spec: {},
    status: { conditions: [condition('Ready', 'True'), condition('Multipathd', 'True')] },
  }),
  longhorn('InstanceManager', 'im', { spec: { nodeID: 'a' }, status: { instanceReplicas: { 'v-r-1': {} } } }),
  longhorn('BackupTarget', 'default', { spec: { backupTargetURL: '' }, status: { available: false } }),
  attachment(ticket('csi', 'csi-attacher', 'a'), { csi: { satisfied: true } }),
  setting('priority-class', 'longhorn-critical'),
  event('Healthy'),
];

export const SHOWN: Readonly<Record<string, Case | readonly Case[]>> = {
  'second-engine': [
    {
      version: 'v1.4.2',
      objects: ['a', 'b'].map((node) =>
        longhorn('Engine', `v-e-${node}`, { spec: { volumeName: 'v', active: true, nodeID: node } }),
      ),
    },
    { version: 'v1.5.1', log: 'time=1 msg="found the second active engine v-e-1 besides v-e-0"\n' },
  ],
  'pending-node': { version: 'v1.5.3', objects: [volume({ state: 'detached', pendingNodeID: 'a' })] },
  'ui-ticket': {
    version: 'v1.5.1',
    objects: [
      attachment({ ...ticket('longhorn-ui', 'longhorn-api', 'a'), ...ticket('csi-1', 'csi-attacher', 'b') }),
    ],
  },
  'stale-migration': [
    { objects: [volume({ currentMigrationNodeID: 'b' })] },
    { log: 'level=warning msg="Failed to finalize the migration"\n' },
  ],
  'unexpected-expansion': {
    version: 'v1.4.1',
    objects: [
      longhorn('Engine', 'v-e-0', {
        spec: { volumeName: 'v' },
        status: {
          lastExpansionError:
            'the expected size 1073741824 should not be smaller than the current size 2147483648',
        },
      }),
    ],
  },
  'not-scheduled': {
    objects: [volume({ conditions: [condition('Scheduled', 'False', 'ReplicaSchedulingFailure')] })],
  },
  'detached-unexpectedly': [
    { objects: [event('DetachedUnexpectedly')] },
    { log: 'msg="Engine of volume v dead unexpectedly, setting v.Status.Robustness to faulted"\n' },
    { log: '[1.0] EXT4-fs (sdb): Remounting filesystem read-only\n' },
  ],
  'iscsi-sessions-lost': { log: '[1.0]  connection1:0: detected conn error (1020)\n' },
  'priority-class': {
    objects: [
      kubernetes('PriorityClass', 'everything', { globalDefault: true }, 'scheduling.k8s.io/v1'),
      setting('priority-class', ''),
    ],
  },
  'iscsi-interface-stale': { log: 'iscsiadm: cannot make connection to 10.0.0.1: No route to host\n' },
  'selinux-iscsiadm': { log: 'avc:  denied  { dac_override } for  pid=1 comm="iscsiadm" capability=1\n' },
  multipath: [
    {
      objects: [
        longhorn('Node', 'a', {
          status: { conditions: [condition('Multipathd', 'False', 'MultipathdIsRunning')] },
        }),
      ],
    },
    { log: 'mount: /var/x: /dev/longhorn/v already mounted or mount point busy.\n' },
  ],
  'rebuild-corruption': {
    version: 'v1.2.4',
    objects: [
      event(
        'FailedMount',
        "'fsck' found errors on device but could not correct them: UNEXPECTED INCONSISTENCY; RUN fsck MANUALLY",
      ),
    ],
  },
  'xfs-features': {
    version: 'v1.8.0',
    log: 'XFS (sdb): Superblock has unknown read-only compatible features (0x8) enabled.\n',
  },
  'backup-lock': {
    objects: [
      longhorn('Backup', 'b', {
        status: {
          state: 'Error',
          messages: { error: 'failed to acquire lock backupstore/…/lock when performing backup' },
        },
      }),
    ],
  },
  'backup-target': {
    objects: [
      longhorn('BackupTarget', 'default', {
        spec: { backupTargetURL: 'nfs://nas/x' },
        status: {
          available: false,
          conditions: [condition('Unavailable', 'True', 'Unavailable', 'cannot mount')],
        },
      }),
    ],
  },
  'webhook-unreachable': {
    version: 'v1.6.0',
    log: 'msg="failed to check endpoint https://longhorn-admission-webhook.longhorn-system.svc:9502/v1/healthz"\n',
  },
  'backing-image-eviction-panic': {
    version: 'v1.7.2',
    log: 'github.com/longhorn/x.(*NodeController).syncBackingImageEvictionRequested(0x0)\n',
  },
  'backing-image-disk': {
    version: 'v1.8.1',
    objects: [
      longhorn('BackingImage', 'i', {
        spec: { diskFileSpecMap: { d1: {}, d2: {} } },
        status: { diskFileStatusMap: { d1: {} } },
      }),
    ],
  },
  'backing-image-size': { log: 'failed: the file size 1000 is not a multiple of 512\n' },
  'backing-image-source': {
    version: 'v1.9.1',
    objects: [longhorn('BackingImageDataSource', 'i', { spec: { nodeID: 'a' }, status: {} })],
  },
  'orphaned-instance': {
    objects: [
      replica('v-r-1'),
      longhorn('InstanceManager', 'im', {
        spec: { nodeID: 'a' },
        status: { instanceReplicas: { 'gone-r-1': {} } },
      }),
    ],
  },
  'orphaned-data': {
    version: 'v1.6.0',
    objects: [
      longhorn('Orphan', 'o', {
        spec: { nodeID: 'a', orphanType: 'replica', parameters: { DataName: 'v-12345678' } },
      }),
    ],
  },
  'rebuild-fails-again': {
    objects: [
      longhorn('Replica', 'v-r-1', {
        spec: { volumeName: 'v', nodeID: 'a', rebuildRetryCount: 4 },
        status: { conditions: [condition('RebuildFailed', 'True', 'General', 'failed to sync')] },
      }),
    ],
  },
  'space-of-snapshots': [
    { objects: [volume({ actualSize: 5000 })] },
    { objects: [volume({ conditions: [condition('TooManySnapshots', 'True', 'TooManySnapshots')] })] },
  ],
  'node-disk-pressure': {
    objects: [
      kubernetes('Node', 'a', {
        status: { conditions: [condition('DiskPressure', 'True', 'KubeletHasDiskPressure')] },
      }),
    ],
  },
  'degraded-long': {
    objects: [
      volume({
        robustness: 'degraded',
        lastDegradedAt: '2026-10-01T00:00:00Z',
        conditions: [condition('Scheduled', 'True')],
      }),
    ],
  },
  'drain-blocked': {
    objects: [
      volume({ state: 'attached' }),
      replica('v-r-1'),
      longhorn('Node', 'a', { spec: {}, status: {} }),
      kubernetes('Node', 'a', { spec: { unschedulable: true } }),
    ],
  },
  'nfs-kernel': { log: 'E1 kubelet: mount.nfs: Protocol not supported\n' },
  'resize-pending': {
    version: 'v1.8.1',
    objects: [
      kubernetes('PersistentVolumeClaim', 'c', {
        spec: { accessModes: ['ReadWriteMany'] },
        status: { conditions: [condition('FileSystemResizePending', 'True')] },
      }),
    ],
  },
  'cron-missed': {
    objects: [
      event(
        'FailedNeedsStart',
        'Cannot determine if job needs to be started: Too many missed start time (> 100)',
      ),
    ],
  },
  'etcd-space': { log: 'etcdserver: mvcc: database space exceeded\n' },
  'half-upgraded': [
    {
      version: 'v1.9.1',
      objects: [
        kubernetes('Pod', 'longhorn-manager-x', {
          spec: { containers: [{ image: 'longhornio/longhorn-manager:v1.8.2' }] },
        }),
      ],
    },
    {
      objects: ['a', 'b'].map((image) =>
        longhorn('Engine', `v-e-${image}`, { spec: { volumeName: image, active: true, image } }),
      ),
    },
  ],
  'snapshot-corrupted': { version: 'v1.6.0', objects: [event('FailedSnapshotDataIntegrityCheck')] },
  'v2-engine-events': { version: 'v1.12.0', objects: [event('ShardFailed')] },
  'alert-never-fires': {
    version: 'v1.11.0',
    objects: [
      kubernetes(
        'PrometheusRule',
        'longhorn',
        {
          spec: {
            groups: [
              { name: 'g', rules: [{ alert: 'VolumeFaulted', expr: 'longhorn_volume_robustness == 3' }] },
            ],
          },
        },
        'monitoring.coreos.com/v1',
      ),
    ],
  },
  'backup-ticket': {
    version: 'v1.7.2',
    objects: [
      attachment(ticket('b', 'backup-controller', 'a')),
      longhorn('Backup', 'b', {
        spec: { snapshotName: 's' },
        status: { state: 'Pending', messages: { error: 'snapshot s not found' } },
      }),
    ],
  },
  'ownerless-ticket': {
    version: 'v1.9.0',
    objects: [
      attachment(
        { '': { id: '', type: 'longhorn-api', nodeID: 'a' }, ...ticket('csi-1', 'csi-attacher', 'a') },
        {
          '': { satisfied: true },
          'csi-1': {
            satisfied: false,
            conditions: [condition('Satisfied', 'False', 'AttachedWithIncompatibleParameters')],
          },
        },
      ),
    ],
  },
  'snapshot-tickets': {
    version: 'v1.10.1',
    objects: [attachment(ticket('s', 'snapshot-controller', 'a'), { s: { satisfied: false } })],
  },
};
