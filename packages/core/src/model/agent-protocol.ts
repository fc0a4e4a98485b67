/**
 * Protocol between control plane and agents, and between an engine and replicas on other agents. How an agent joins: `agent-join.ts`.
 *
 * Control plane → agent: HTTP on the agent's control address, beyond the loopback over TLS with certificates on both
 * sides, `Authorization: Bearer <controlSecret>`; every call may be repeated. Agent → control plane: heartbeats and record
 * confirmations on the API, over TLS with the node's certificate.
 * Engine → replica: `Authorization: Bearer <replica secret>`, on the same control address. Data never goes over HTTP:
 * it goes over NBD.
 */
import { z } from 'zod';
import { volumeDescriptionSchema } from './copy-description.js';
import { copyRecord } from './copy-record.js';
import { STAMP_TRAIL_MAX } from './disk-stamp.js';
import type { DiskId, NodeId, ReplicaId, VolumeId } from './ids.js';
import {
  agentText,
  bytesField as bytes,
  counterField as counter,
  idField,
  nameField,
  uuidField as uuid,
} from './message-fields.js';
import { REBUILD_METHODS, REBUILD_PHASES } from './rebuild.js';

const replicaId = idField<ReplicaId>();
const volumeId = idField<VolumeId>();
const diskId = idField<DiskId>();
const nodeId = idField<NodeId>();

/** The most that a process id may be where it is stored; Linux gives none above 2^22. A refinement, as the released document has no such bound. */
const PID_MAX = 2 ** 31 - 1;
/** A day: far above what the setting may be. */
const REPLICA_TIMEOUT_MS_MAX = 24 * 3_600_000;
/** Stable codes are a few words. */
const CODE_CHARS_MAX = 64;
/** Users paste an address with it into a shell: letters, digits, and what names and ids are joined by. */
const EXPORT_NAME = /^[A-Za-z0-9._~-]{1,512}$/;

/**
 * Version of this protocol. It goes up with a change that a control plane from before it can not work with; a field that older
 * ones may overlook is none.
 */
export const AGENT_PROTOCOL_VERSION = 1;

export const protocolVersion = z
  .number()
  .int()
  .positive()
  .max(1_000_000)
  .optional()
  .describe("Version of the agent's protocol; left out by agents that predate the field.");

/** At most this many of anything in one message: far above what a node can hold, low enough to bound memory. */
const ITEMS_MAX = 10_000;

/** A pebibyte: more than a disk holds, and low enough that a node's disks can be added up. */
const diskBytes = bytes.max(2 ** 50);

const recordNumber = {
  epoch: counter.describe('Number of the attachment under which it was written; grows with each attach.'),
  dataGeneration: counter.describe('Grows with each change of the members within an epoch.'),
};

export const copyRecordSchema = z
  .object({
    ...recordNumber,
    members: z.array(replicaId).max(64).describe('Ids of the replicas that are current.'),
    durable: z
      .object(recordNumber)
      .optional()
      .describe(
        'The newest record that all of these members are known to have stored; left out: none is known.',
      ),
  })
  .transform(({ epoch, dataGeneration, members, durable }) =>
    copyRecord(epoch, dataGeneration, members, durable),
  );

/** A lower-case DNS label, or several. */
export const nodeNameSchema = z.string().regex(/^[a-z0-9]([a-z0-9.-]{0,61}[a-z0-9])?$/);

// ---- heartbeat: agent → POST {api}/agent/heartbeat ---------------------------------------------------------------

export const stampReportSchema = z
  .object({
    id: uuid.nullable().describe('Random id of the stamp that is on the disk; null: none has been stored.'),
    generation: counter.describe('Grows with each stamp; 0: none has been stored.'),
    trail: z.array(uuid).max(STAMP_TRAIL_MAX).describe('Ids of the stamps before it, the newest first.'),
    isOpen: z.boolean().describe('True: copies on the disk may have been written to since.'),
    fileId: z
      .string()
      .max(128)
      .optional()
      .describe("Inode and time of birth of the disk's identity file, which a copied file does not share."),
  })
  .describe('Which state of the disk this is. Left out by older agents.');

const answerMs = z.int().min(0).max(Number.MAX_SAFE_INTEGER);

const diskAnswersSchema = z.object({
  calls: z
    .int()
    .min(0)
    .max(Number.MAX_SAFE_INTEGER)
    .describe('Number of calls that ended in the last two minutes; at most 256 are kept.'),
  p50Ms: answerMs.describe('Median duration of a call, in milliseconds.'),
  p99Ms: answerMs.describe('99th percentile of the duration of a call, in milliseconds.'),
  maxMs: answerMs.describe('Duration of the slowest call, in milliseconds.'),
  oldestMs: answerMs.describe(
    'Waiting time of the oldest pending call, in milliseconds; 0: none, or at most two seconds.',
  ),
});

export const diskReportSchema = z.object({
  diskId: diskId.describe("Id from the disk's identity file, made when an agent first took the disk."),
  name: z.string().min(1).max(128).describe('Unique on the node.'),
  path: z
    .string()
    .max(4096)
    .describe('Where it is on the node: a folder, or the file or device of a block disk.'),
  type: z.enum(['filesystem', 'block']).describe('`filesystem`: a folder; `block`: a file or device.'),
  fileSystem: z
    .string()
    .max(32)
    .describe('Such as `ext4` or `xfs`; empty when unknown, and for block disks.'),
  maximumBytes: diskBytes.describe('Total size, in bytes.'),
  availableBytes: diskBytes.describe('Bytes that are free.'),
  ready: z.boolean().describe('True: it can be read and written.'),
  reason: agentText(128).describe('Stable code of why it is not ready; empty when it is.'),
  message: agentText(1024).describe('Why it is not ready, for people; empty when it is.'),
  directIo: z
    .boolean()
    .optional()
    .describe('False where the file system refuses direct I/O: data then goes through the page cache.'),
  onRootFileSystem: z
    .boolean()
    .optional()
    .describe(
      'True: its folder is on the root file system of the node; false: on another one. Left out by older agents.',
    ),
  copiesListed: z
    .boolean()
    .optional()
    .describe(
      'True: every readable copy on it is among the copies of this report. False while it is being scanned; left out by older agents: a missing copy then means nothing.',
    ),
  addedAs: diskId
    .optional()
    .describe('The id under which a user added it. Another disk than that was found at its path.'),
  stamp: stampReportSchema.optional(),
  answers: diskAnswersSchema.optional().describe('Its recent latencies. Left out by older agents.'),
});

export const replicaReportSchema = z.object({
  replicaId: replicaId.describe("Id of the copy's replica."),
  volumeId: volumeId.describe('Id of its volume.'),
  diskId: diskId.describe('Id of its disk.'),
  writtenBytes: bytes.describe('Bytes of it that hold data.'),
  record: copyRecordSchema
    .nullable()
    .describe('The record that it stores; null for a copy that never became a member.'),
  proof: z
    .string()
    .max(64)
    .optional()
    .describe(
      'Shows that the node has the copy: made of the key of the copy, for this node. Without it a disk that was on another node is not taken for moved.',
    ),
});

/** Progress of a rebuild in bytes, as agents report it and as users see it. */
export const rebuildBytesSchema = z
  .object({
    total: bytes.describe('Bytes that the target has to hold in the end.'),
    compared: bytes.describe('Bytes compared while copying, whether sent or skipped.'),
    skipped: bytes.describe('Bytes that the target had already.'),
    sent: bytes.describe('Bytes sent to the target.'),
    written: bytes.describe('Bytes that the target wrote.'),
    // Agents of earlier versions count them as compared once more.
    verified: bytes.default(0).describe('Bytes that the target has verified on its disk against the source.'),
  })
  .describe('Progress in bytes.');

export const rebuildReportSchema = z.object({
  rebuildId: uuid.describe('The rebuild.'),
  replicaId: replicaId.describe('Its target.'),
  state: z.enum(['running', 'succeeded', 'failed']).describe('Progress as the engine reports it.'),
  phase: z.enum(REBUILD_PHASES).describe('Its present step.'),
  paused: z
    .boolean()
    .optional()
    .describe('True: paused by request; user writes still reach the target. Left out: not paused.'),
  sourceReplicaIds: z
    .array(replicaId)
    .max(64)
    .optional()
    .describe(
      'The copies that it reads from now; empty: none yet. Left out by engines that do not report them.',
    ),
  bytes: rebuildBytesSchema,
  rateBytesPerSecond: bytes.describe('Present speed, in bytes per second.'),
  snapshots: z
    .array(
      z.object({
        name: nameField(256).describe('Name of the layer.'),
        method: z.enum(REBUILD_METHODS).describe('Transfer method of its data to the target.'),
        reason: agentText(1024).describe('Reason for that method, in a sentence.'),
        bytesSent: bytes.describe('Bytes sent of it.'),
      }),
    )
    .max(256)
    .describe("Transfer of each layer's data to the target, parents first."),
  error: z
    .object({
      code: agentText(CODE_CHARS_MAX).describe('Stable code of the failure.'),
      message: agentText(1024).describe('Error message for people.'),
    })
    .nullable()
    .describe('Why it failed; null: it has not.'),
});

export const engineReportSchema = z.object({
  volumeId: volumeId.describe('The volume that it serves.'),
  epoch: counter.describe('Number of the attachment that it was started for.'),
  grantId: uuid
    .optional()
    .describe(
      'The grant of that epoch that it was started with; left out by agents, and for control planes, that name none.',
    ),
  state: z
    .enum(['running', 'waiting-record', 'stopped'])
    .describe(
      '`waiting-record`: I/O waits until the control plane has recorded the members. `stopped`: fenced off or failed.',
    ),
  reason: agentText(1024).describe('Why it is stopped or waits; empty while it runs.'),
  record: copyRecordSchema.describe('The newest record that it has written to its copies.'),
  replicas: z
    .array(
      z.object({
        replicaId: replicaId.describe('The replica.'),
        mode: z
          .enum(['RW', 'WO', 'ERR'])
          .describe('`RW` read and written, `WO` written while it is rebuilt, `ERR` dropped.'),
        reason: agentText(1024).describe('Why it was dropped; empty when it was not.'),
      }),
    )
    .max(64)
    .describe('How it uses each of its copies.'),
  writtenBytes: bytes.describe('Bytes of the volume that hold data.'),
  replicaTimeoutMs: z
    .number()
    .int()
    .positive()
    .refine((ms) => ms <= REPLICA_TIMEOUT_MS_MAX, `must be at most ${REPLICA_TIMEOUT_MS_MAX}`)
    .optional()
    .describe('Milliseconds of silence after which it drops a copy; left out by older agents.'),
  rebuilds: z.array(rebuildReportSchema).max(64).describe('The rebuilds that it runs, or that ended in it.'),
  fill: z
    .object({
      fillId: uuid.describe('The request for it.'),
      state: z.enum(['running', 'succeeded', 'failed']).describe('State of the request to fill the volume.'),
      bytes: bytes.describe('Bytes written so far.'),
      error: agentText(1024).describe('Why it failed; empty when it has not.'),
    })
    .optional()
    .describe('The filling of a new volume from a snapshot of another one; left out: none was requested.'),
});

/** A host name (RFC 1123) or an address: it comes to stand in URIs that users copy into a shell. */
const HOST =
  /^(?=.{1,253}$)[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?(\.[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*\.?$/;

const agentHost = z
  .string()
  .max(253)
  .refine((text) => HOST.test(text) || z.ipv6().safeParse(text).success, 'must be a host name or an address');

/** Arguments of a refinement: no two items have the same key. */
function eachOnce<Item>(keyOf: (item: Item) => string): [(items: readonly Item[]) => boolean, string] {
  return [(items) => new Set(items.map(keyOf)).size === items.length, 'must name each one once'];
}

/** HTTP, a host and a port, and nothing else: the control plane calls paths of its own below it. */
const agentUrl = z.string().max(300).refine(isPlainOrigin, 'must be http:// or https://, a host and a port');

function isPlainOrigin(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname, origin, username, password, pathname, search, hash } = new URL(text);
  const isPlain = [username, password, search, hash].every((part) => part === '') && pathname === '/';
  const isHost = HOST.test(hostname) || z.ipv6().safeParse(hostname.replace(/^\[|\]$/g, '')).success;
  return (protocol === 'http:' || protocol === 'https:') && isPlain && isHost && text.startsWith(origin);
}

export const heartbeatSchema = z.object({
  node: z
    .object({
      name: nodeNameSchema.describe(
        'Name that the agent has joined under: the first heartbeat makes the node.',
      ),
      zone: z.string().max(128).nullable().describe('Failure domain of the node; null: no label.'),
      region: z.string().max(128).nullable().describe('Larger failure domain; null: no label.'),
      bootId: uuid.describe('New at each start of the agent: no engine outlives it.'),
      controlUrl: agentUrl.describe("URL of the agent's control address, as reachable by the control plane."),
      controlSecret: z.string().min(16).max(256).describe('Bearer token for that address.'),
      nbdHost: agentHost.describe("Host name or address of the agent's NBD server."),
      nbdPort: z.number().int().min(1).max(65535).describe("TCP port of the agent's NBD server."),
      pid: z
        .number()
        .int()
        .positive()
        .refine((pid) => pid <= PID_MAX, `must be at most ${PID_MAX}`)
        .describe("The agent's process id."),
      version: z.string().max(64).describe("The agent's version."),
      protocol: protocolVersion,
    })
    .describe('The node, and how to reach its agent.'),
  disks: z
    .array(diskReportSchema)
    .max(256)
    .refine(...eachOnce(({ diskId }: { diskId: string }) => diskId))
    .describe('All disks of the node, each once.'),
  replicas: z
    .array(replicaReportSchema)
    .max(ITEMS_MAX)
    .refine(...eachOnce(({ replicaId }: { replicaId: string }) => replicaId))
    .describe('All copies on those disks, each once.'),
  engines: z
    .array(engineReportSchema)
    .max(ITEMS_MAX)
    .refine(...eachOnce(({ volumeId }: { volumeId: string }) => volumeId))
    .describe('All engines that the agent runs, each once.'),
});

export const heartbeatReplySchema = z.object({
  nodeId: nodeId.describe('Id of the node.'),
  intervalMs: z
    .number()
    .int()
    .positive()
    .describe('Milliseconds until the next regular heartbeat; a change is reported at once.'),
  disks: z
    .object({
      add: z
        .array(
          z.object({
            diskId: diskId.describe('Its id, unless a disk is found at the path.'),
            name: z.string().min(1).max(128).describe('Unique on the node.'),
            path: z.string().min(1).max(1024).describe('Path of the folder, file or device.'),
            type: z
              .enum(['filesystem', 'block'])
              .describe('`filesystem`: a folder; `block`: a file or device.'),
            isSetUp: z
              .boolean()
              .optional()
              .describe('True: it has been set up before, so that a place where no disk is gets none.'),
            sizeBytes: bytes.nullable().describe("Size in bytes; null: the agent's default for a new disk."),
          }),
        )
        .max(ITEMS_MAX)
        .describe('Disks that users added to the node.'),
      remove: z.array(diskId).max(ITEMS_MAX).describe('Disks to release, which hold no copy.'),
    })
    .optional()
    .describe('Requested changes of its disks; left out: none.'),
  stamps: z
    .array(
      z.object({
        diskId: diskId.describe('The disk.'),
        stampId: uuid.nullable().describe('Its last reported stamp; null: it has none.'),
      }),
    )
    .max(ITEMS_MAX)
    .optional()
    .describe(
      'Stamps of this report that are stored: copies on those disks may be written. Left out by control planes without stamps.',
    ),
  reportId: uuid
    .optional()
    .describe(
      "Id of this report. While the agent's report is unchanged, it may send this id instead (`POST /agent/heartbeat/repeat`). Left out: it has to report in full each time.",
    ),
});

// ---- repeated heartbeat: agent → POST {api}/agent/heartbeat/repeat ------------------------------------------------

/**
 * Stands for a heartbeat that says what the one before it said, but for stamps. Old control planes answer 404, and then the agent sends
 * all of it, as it does whenever the answer is that the control plane has to hear all of it.
 */
export const heartbeatRepeatSchema = z.object({
  reportId: uuid.describe('The report that still holds: the `reportId` of the answer to it.'),
  name: nodeNameSchema.describe('Name of the node.'),
  bootId: uuid.describe('Of this run of the agent.'),
  controlUrl: agentUrl.describe("URL of the agent's control address, as reachable by the control plane."),
  nbdHost: agentHost.describe("Host name or address of the agent's NBD server."),
  stamps: z
    .array(z.object({ diskId: diskId.describe('The disk.'), stamp: stampReportSchema }))
    .max(256)
    .refine(...eachOnce(({ diskId }: { diskId: string }) => diskId))
    .describe(
      'Stamps that the control plane has not confirmed yet; disks advance them while they are in use.',
    ),
});

export const heartbeatRepeatReplySchema = z.object({
  isEnough: z
    .boolean()
    .describe('False: nothing of it is stored. The agent has to send its full report at once.'),
  intervalMs: z
    .number()
    .int()
    .positive()
    .describe('Milliseconds until the next regular heartbeat; a change is reported at once.'),
  stamps: z
    .array(
      z.object({
        diskId: diskId.describe('The disk.'),
        stampId: uuid.nullable().describe('Its last reported stamp; null: it has none.'),
      }),
    )
    .max(256)
    .describe('Stamps that are stored: copies on those disks may be written to.'),
});

// ---- records: agent → POST {api}/agent/volumes/{volumeId}/record -------------------------------------------------

/** Asks Postgres to record smaller members before I/O continues. 200 when recorded, 409 `engine.stale_epoch` else. */
export const confirmRecordSchema = z.object({
  record: copyRecordSchema.describe('The record to store, with the members that stay.'),
  grantId: uuid
    .optional()
    .describe("The grant of the record's epoch that the engine serves; left out by older agents."),
});

// ---- control plane → agent ---------------------------------------------------------------------------------------

/** POST /v1/replicas. Makes the directory; the same replica twice is fine. */
export const createReplicaSchema = z.object({
  replicaId,
  volumeId,
  diskId,
  sizeBytes: bytes,
  secret: z.string().min(16).max(256),
  /** The record of a new volume's first copies; null for a replica that starts with a rebuild. */
  record: copyRecordSchema.nullable(),
  /** Stored with the copy, for a control plane that has lost its database; left out by older ones. */
  volume: volumeDescriptionSchema.optional(),
});

/**
 * POST /v1/replicas/{id}/open: fences the copy at `epoch` (stored before the answer; lower epochs are refused afterwards, and
 * connections opened at one are cut) and returns its state. 404 when there is no such directory.
 */
export const openReplicaSchema = z.object({
  epoch: counter,
  /** Which grant of that epoch: a copy serves one only. Absent from control planes that name none. */
  grantId: uuid.optional(),
  /** The volume as it is now, stored with the copy; left out by older control planes. */
  volume: volumeDescriptionSchema.optional(),
});
export const openReplicaReplySchema = z.object({
  /** Null for a copy that never became a member (made for a rebuild that has not finished). */
  record: copyRecordSchema.nullable(),
  /** False when regions may differ from the other copies after an unclean stop (its write-intent map is not empty). */
  clean: z.boolean(),
  writtenBytes: bytes,
});

/** Where an engine reaches one replica. */
export const replicaAddressSchema = z.object({
  replicaId,
  nodeId,
  controlUrl: z.string().url(),
  nbdHost: z.string(),
  nbdPort: z.number().int().min(1).max(65535),
  secret: z.string(),
});

/** PUT /v1/engines/{volumeId}: starts the engine of one attachment. The same grant twice answers as the first time. */
export const startEngineSchema = z.object({
  volumeName: z.string(),
  epoch: counter,
  /** Tells this grant of the epoch from another one, made by a database that had lost this one. */
  grantId: uuid.optional(),
  sizeBytes: bytes,
  /** Ends the export name, so that only clients which the control plane gave it to can open the volume. */
  attachmentSecret: z.string().min(16),
  /** The record that was found to be the highest; the engine writes a new one above it before it serves. */
  record: copyRecordSchema,
  /** The current copies; at least one. */
  replicas: z.array(replicaAddressSchema).min(1).max(64),
  replicaTimeoutMs: z.number().int().positive(),
});
export const startEngineReplySchema = z.object({
  /** `tls` if only clients with TLS are admitted; left out by agents without TLS. */
  endpoint: z.object({
    host: agentHost,
    port: z.number().int().min(1).max(65535),
    exportName: z.string().regex(EXPORT_NAME),
    tls: z.boolean().optional(),
  }),
  report: engineReportSchema,
});

/** DELETE /v1/engines/{volumeId}?epoch=…: flushes, marks the copies clean and stops. 200 also when there is none. */

export const rebuildOptionsSchema = z.object({
  /** Take out deleted layers, and those that earlier rebuilds have left behind, before the rebuild adds its own. */
  purgesFirst: z.boolean(),
  /** Leave out layers whose checksums are equal. */
  fastRebuild: z.boolean(),
  /** By which hash blocks are compared. */
  blockHash: z.enum(['sha512', 'blake3']),
  /** Current copies to read from at once. */
  sourcesMax: z.number().int().min(1).max(64),
  /** Null for no limit. */
  bandwidthBytesPerSecond: bytes.nullable(),
});

// Commands to a running engine: `engine-commands.ts`.

/** Reason why a copy may be deleted that calls itself the only current one. */
const removalReasonSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('superseded'), record: copyRecordSchema }),
  z.object({ kind: z.literal('given-up') }),
]);

/**
 * POST /v1/replicas/{id}/remove-orphan: removes a copy that the control plane does not know, if it is still in the reported state: on
 * that disk, of that volume, with that record. 200 also when there is none.
 */
export const removeOrphanSchema = z.object({
  volumeId,
  diskId,
  record: copyRecordSchema.nullable(),
  because: removalReasonSchema.optional(),
});

/**
 * Body of POST /v1/replicas/{id}/checksum, or none. With a `verification` the checksum is made in the background, and a repeat with
 * the same verification returns the progress; without one the answer comes when it is done.
 */
export const checksumSchema = z.object({
  verification: z.string().min(1).max(128).optional(),
  /** Read no faster, and one after another with others that have a limit. Agents of older versions read as fast as they can. */
  bytesPerSecondMax: z.number().int().positive().optional(),
});

/** POST /v1/replicas/{id}/checksum: reads the whole copy as a client would see it. Refused while it is attached. */
export const checksumReplySchema = z.object({
  /** Equal for equal bytes: BLAKE3 over the BLAKE3 hashes of the device's pieces of 4 MiB, hex (docs/design/layers-and-disks.md). */
  checksum: z.string().regex(/^[0-9a-f]{1,128}$/),
  writtenBytes: bytes,
  /** The record that the copy stores; null: it is no member. Left out by agents of older versions, as is `clean`. */
  record: copyRecordSchema.nullable().optional(),
  /** False: writes were in flight when it stopped, and other copies may lack them. */
  clean: z.boolean().optional(),
});

export const verificationReplySchema = z.union([checksumReplySchema, z.object({ running: z.literal(true) })]);

/** GET /v1/replicas/{id}: what there is of a copy now. */
export const replicaStateSchema = z.discriminatedUnion('state', [
  z.object({ state: z.literal('absent') }),
  /** It is on a disk and can't be read. */
  z.object({ state: z.literal('unreadable') }),
  z.object({ state: z.literal('present'), record: copyRecordSchema.nullable() }),
]);

/**
 * DELETE /v1/replicas/{id} removes the directory if the copy is still what the caller expects; 200 also when there is
 * none, 409 `agent.refused` when it is something else by now. Without a body only a copy goes that never became a member
 * of its volume, or that can't be read.
 */
export const removeReplicaSchema = z.object({
  expected: replicaStateSchema,
  /** 409 `replica.only_current` without it, where the copy names itself the only member. Control planes of older versions leave it out. */
  because: removalReasonSchema.optional(),
});

/** Any refusal: HTTP status as the fault's kind says, and this body. `code` is one of FAULTS. */
export const agentProblemSchema = z.object({
  code: agentText(CODE_CHARS_MAX),
  /** Shown to tenants. */
  message: agentText(500),
  /** With `engine.stale_epoch`: the highest epoch that the refusing copy or engine knows. */
  newestEpoch: counter.optional(),
});

export type StampReport = z.infer<typeof stampReportSchema>;
export type DiskReport = z.infer<typeof diskReportSchema>;
export type ReplicaReport = z.infer<typeof replicaReportSchema>;
export type RebuildReport = z.infer<typeof rebuildReportSchema>;
export type EngineReport = z.infer<typeof engineReportSchema>;
export type Heartbeat = z.infer<typeof heartbeatSchema>;
export type HeartbeatReply = z.infer<typeof heartbeatReplySchema>;
export type HeartbeatRepeat = z.infer<typeof heartbeatRepeatSchema>;
export type HeartbeatRepeatReply = z.infer<typeof heartbeatRepeatReplySchema>;
export type CreateReplica = z.infer<typeof createReplicaSchema>;
export type OpenReplica = z.infer<typeof openReplicaSchema>;
export type OpenReplicaReply = z.infer<typeof openReplicaReplySchema>;
export type ReplicaAddress = z.infer<typeof replicaAddressSchema>;
export type StartEngine = z.infer<typeof startEngineSchema>;
export type StartEngineReply = z.infer<typeof startEngineReplySchema>;
export type RebuildOptions = z.infer<typeof rebuildOptionsSchema>;
export type RemoveOrphan = z.infer<typeof removeOrphanSchema>;
export type ReplicaState = z.infer<typeof replicaStateSchema>;
export type ChecksumReply = z.infer<typeof checksumReplySchema>;
