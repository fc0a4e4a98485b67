/** Failures that show in a single object. */
import { conditionOf, conditions, entries, type Fields, flag, part, text, texts } from '../reading/fields.js';
import type { ObjectFields, Signature } from './signature.js';

export const OBJECT_SIGNATURES: readonly Signature[] = [
  {
    number: 2,
    name: 'pending-node',
    title: 'a detached volume waits for a node since an upgrade',
    severity: 'critical',
    releases: ['1.5.0-1.5.4'],
    advice:
      'clear status.pendingNodeID of the volume (kubectl edit --subresource=status): it keeps the volume from being attached.',
    source: 'longhorn/longhorn#7994',
    inObjects: {
      Volume: ({ status }) =>
        text(status, 'pendingNodeID') !== '' && text(status, 'state') === 'detached'
          ? `pendingNodeID is ${text(status, 'pendingNodeID')}, and the volume is detached`
          : undefined,
    },
  },
  {
    number: 3,
    name: 'ui-ticket',
    title: 'a request to attach from the UI outranks that of a pod',
    severity: 'critical',
    releases: ['>=1.5.0'],
    advice:
      'remove the ticket longhorn-ui from the VolumeAttachment: its priority of 1000 beats the 900 of csi-attacher.',
    source: 'longhorn/longhorn#8339',
    inObjects: {
      VolumeAttachment: ({ spec }) => {
        const tickets = entries(part(spec, 'attachmentTickets'));
        const ui = tickets.find(
          ([id, ticket]) => id === 'longhorn-ui' && text(ticket, 'type') === 'longhorn-api',
        );
        const pod = tickets.find(([, ticket]) => text(ticket, 'type') === 'csi-attacher');
        const [uiNode, podNode] = [ui, pod].map((one) => text(one?.[1] ?? {}, 'nodeID'));
        return ui && pod && uiNode !== podNode
          ? `longhorn-ui requests ${uiNode}, and a pod ${podNode}`
          : undefined;
      },
    },
  },
  {
    number: 4,
    name: 'stale-migration',
    title: 'a migration has ended for the spec and not for the status',
    severity: 'critical',
    releases: [],
    advice: 'let the volume be detached, and clear status.currentMigrationNodeID if it stays.',
    source: 'Longhorn KB: stuck live migration',
    inObjects: {
      Volume: ({ spec, status }) =>
        text(status, 'currentMigrationNodeID') !== '' && text(spec, 'migrationNodeID') === ''
          ? `currentMigrationNodeID is ${text(status, 'currentMigrationNodeID')}, and no migration is requested`
          : undefined,
    },
    inLines: /Failed to finalize the migration/,
  },
  {
    number: 5,
    name: 'unexpected-expansion',
    title: 'an engine was expanded by mistake, and refuses its own size',
    severity: 'critical',
    releases: ['1.3.2-1.3.3', '1.4.0-1.4.2', '1.5.0-1.5.0'],
    advice: 'upgrade; then expand the volume to the size that its replicas have, so that all agree.',
    source: 'Longhorn KB: unexpected expansion leads to degradation',
    inObjects: { Engine: ({ status }) => firstMatch(EXPANSION, text(status, 'lastExpansionError')) },
    inLines: /expected size \d+[^\n]*should not be smaller than the current size/,
  },
  {
    number: 12,
    name: 'multipath',
    title: 'multipathd may take the devices of volumes',
    severity: 'warning',
    releases: [],
    advice: 'add a blacklist for the devices of Longhorn to /etc/multipath.conf, and restart multipathd.',
    source: 'Longhorn KB: troubleshooting-volume-with-multipath',
    inObjects: { Node: ({ status }) => conditionIsNot(status, 'Multipathd') },
    inLines: /(?:mount|mkfs)[^\n]*\/dev\/longhorn\/[^\n]*(?:already mounted|apparently in use|[Bb]usy)/,
  },
  {
    number: 15,
    name: 'backup-lock',
    title: 'a backup waited for the lock of its volume',
    severity: 'info',
    releases: [],
    advice: 'nothing, if a later backup is complete: backups and deletions of one volume exclude each other.',
    source: 'Longhorn KB: failed to acquire lock',
    inObjects: {
      Backup: ({ status }) =>
        firstMatch(
          /failed to acquire lock/,
          Object.keys(part(status, 'messages'))
            .map((key) => text(part(status, 'messages'), key))
            .join('; '),
        ),
    },
  },
  {
    number: 16,
    name: 'backup-target',
    title: 'the backup target is unavailable',
    severity: 'critical',
    releases: [],
    advice: 'check address, export and credentials. Of NFS only the versions 4.0 to 4.2 are tried.',
    source: 'Longhorn documentation: set a backup target',
    inObjects: {
      BackupTarget: ({ spec, status }) =>
        text(spec, 'backupTargetURL') !== '' && !flag(status, 'available')
          ? conditionOf(conditions(status), 'Unavailable')?.message || 'it is not available'
          : undefined,
    },
  },
  {
    number: 19,
    name: 'backing-image-disk',
    title: 'a disk of a backing image has no file',
    severity: 'warning',
    releases: ['<=1.8.2', '1.9.0-1.9.1'],
    advice:
      'upgrade: names of backing image managers could collide. Until then delete the manager of that disk.',
    source: 'Longhorn release notes of 1.8.3 and 1.9.2',
    inObjects: {
      BackingImage: ({ spec, status }) => {
        const held = part(status, 'diskFileStatusMap');
        const missing = Object.keys(part(spec, 'diskFileSpecMap')).filter((uuid) => held[uuid] === undefined);
        return missing.length === 0 ? undefined : `no file on ${missing.slice(0, 5).join(', ')}`;
      },
    },
  },
  {
    number: 21,
    name: 'backing-image-source',
    title: 'the source of a backing image has no state',
    severity: 'warning',
    releases: ['<=1.9.2', '1.10.0-1.10.0'],
    isSuspect: true,
    advice: 'delete the pod of the BackingImageDataSource: the download starts again.',
    source: 'Longhorn release notes of 1.9.3 and 1.10.1',
    inObjects: {
      BackingImageDataSource: ({ status }) =>
        text(status, 'currentState') === '' ? 'its status says no state' : undefined,
    },
  },
  {
    number: 24,
    name: 'rebuild-fails-again',
    title: 'a replica fails to be rebuilt again and again',
    severity: 'warning',
    releases: [],
    advice:
      'turn off scheduling of that node or disk, so that the replica is made elsewhere; then look at the disk and the network of the node.',
    source: 'Longhorn KB: handling-persistent-replica-failures',
    inObjects: {
      Replica: ({ spec, status }) => {
        const failed = conditionOf(conditions(status), 'RebuildFailed');
        const tries = Number(spec.rebuildRetryCount ?? 0);
        return failed?.status === 'True' && tries >= TRIES_MIN
          ? `on ${text(spec, 'nodeID') || 'no node'}, ${tries} tries, last: ${failed.message || failed.reason}`
          : undefined;
      },
    },
  },
  {
    number: 25,
    name: 'space-of-snapshots',
    title: 'snapshots take more space than the volume has',
    severity: 'warning',
    releases: [],
    advice: 'delete snapshots, trim the file system, or add a recurring job of snapshot-delete.',
    source: 'Longhorn documentation: snapshot space management',
    inObjects: {
      Volume: ({ spec, status }) => {
        const [size, actual] = [Number(spec.size ?? 0), Number(status.actualSize ?? 0)];
        if (size > 0 && actual > size) return `${actual} bytes are used, of a volume of ${size}`;
        const many = conditionOf(conditions(status), 'TooManySnapshots');
        return many?.status === 'True' ? many.message || 'TooManySnapshots' : undefined;
      },
    },
  },
  {
    number: 26,
    name: 'node-disk-pressure',
    title: 'a node has disk pressure',
    severity: 'warning',
    releases: [],
    advice:
      'move data off the root disk of that node, or reserve more of it: Longhorn offers twice its size by default.',
    source: 'Longhorn documentation: best practices, storage over provisioning',
    inObjects: {
      Node: ({ status }) => {
        const ready = conditionOf(conditions(status), 'Ready');
        const pressure = conditionOf(conditions(status), 'DiskPressure');
        if (ready?.status === 'False' && ready.reason === 'KubernetesNodePressure')
          return ready.message || ready.reason;
        return pressure?.status === 'True' ? pressure.message || 'DiskPressure' : undefined;
      },
    },
  },
  {
    number: 30,
    name: 'resize-pending',
    title: 'a claim of several writers waits for its file system to be resized',
    severity: 'warning',
    releases: ['1.8.0-1.8.2', '1.9.0-1.9.0'],
    isSuspect: true,
    advice: 'upgrade: volumes with encryption and several writers were not resized in these releases.',
    source: 'Longhorn release notes of 1.8.3 and 1.9.1',
    inObjects: {
      PersistentVolumeClaim: ({ spec, status }) =>
        texts(spec, 'accessModes').includes('ReadWriteMany') &&
        conditionOf(conditions(status), 'FileSystemResizePending')?.status === 'True'
          ? 'FileSystemResizePending'
          : undefined,
    },
  },
  {
    number: 38,
    name: 'ownerless-ticket',
    title: 'a request to attach has no owner, and keeps a pod from its volume',
    severity: 'critical',
    releases: ['>=1.5.0'],
    advice: 'once nothing uses the volume, remove the ticket with the empty id: nothing else ends it.',
    source: 'longhorn/longhorn#13633',
    inObjects: { VolumeAttachment: ownerlessTicket },
  },
  {
    number: 39,
    name: 'snapshot-tickets',
    title: 'requests of the snapshot controller wait, and the volume is attached and detached in turns',
    severity: 'warning',
    releases: ['<=1.5.1', '1.9.2-1.10.2'],
    isSuspect: true,
    advice: 'check the replicas first; then delete the snapshots that wait, and last the tickets.',
    source: 'longhorn/longhorn#12728 and longhorn/longhorn#6652',
    inObjects: {
      VolumeAttachment: ({ spec, status }) => {
        const answers = part(status, 'attachmentTicketStatuses');
        const waiting = entries(part(spec, 'attachmentTickets')).filter(
          ([id, ticket]) =>
            text(ticket, 'type') === 'snapshot-controller' && !flag(part(answers, id), 'satisfied'),
        );
        return waiting.length === 0 ? undefined : `${waiting.length} tickets of snapshot-controller wait`;
      },
    },
  },
];

const EXPANSION = /expected size \d+[^\n]*should not be smaller than the current size[^\n]*/;
/** As many failures as are no accident; at five Longhorn takes the replica back no more. */
const TRIES_MIN = 3;

function ownerlessTicket({ spec, status }: ObjectFields): string | undefined {
  const answers = part(status, 'attachmentTicketStatuses');
  const own = entries(part(spec, 'attachmentTickets')).find(
    ([id, ticket]) => text(ticket, 'type') === 'longhorn-api' && (id === '' || text(ticket, 'id') === ''),
  );
  if (own === undefined || !flag(part(answers, own[0]), 'satisfied')) return undefined;
  const refused = entries(answers).find(([, answer]) =>
    conditions(answer).some(({ reason }) => reason === 'AttachedWithIncompatibleParameters'),
  );
  return refused === undefined
    ? undefined
    : `the ticket without id holds ${text(own[1], 'nodeID')}, and ${refused[0]} is refused`;
}

function conditionIsNot(status: Fields, type: string): string | undefined {
  const found = conditionOf(conditions(status), type);
  if (found === undefined || found.status === 'True') return undefined;
  return `${type} is ${found.status}: ${found.message || found.reason}`;
}

function firstMatch(pattern: RegExp, value: string): string | undefined {
  return pattern.exec(value)?.[0];
}
