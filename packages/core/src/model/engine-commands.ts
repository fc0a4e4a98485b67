/**
 * Commands of the control plane to the engine of an attached volume: one entry declares everything about a command.
 *
 * They travel by one route, `POST /v1/engines/{volumeId}/commands/{name}`, with the request as the body and `{ reply }` as the
 * answer. The agent checks the request, its caller checks the reply, and the processes between them pass both on unread. The effect
 * of a command is in the data engine's `engine-commands.ts`, and once more in the simulator's.
 *
 * Every command may be sent again: its answer may have been lost. Each entry says what makes the second one harmless.
 */
import { z } from 'zod';
import { rebuildOptionsSchema, replicaAddressSchema } from './agent-protocol.js';
import type { RebuildId, ReplicaId, SnapshotId, VolumeId } from './ids.js';
import {
  agentText,
  bytesField,
  counterField,
  idField,
  nameField,
  timeField,
  uuidField,
} from './message-fields.js';

/** Properties of a command that concern the processes that carry it. */
type Traits = {
  /**
   * How long the caller waits. `short`: the engine answers from memory. `long`: it waits for requests in flight on its copies, as a
   * start does.
   */
  readonly patience: 'short' | 'long';
  /** `changes`, or only `reads`: the loss of a read changes nothing, so the simulator loses none. */
  readonly effect: 'changes' | 'reads';
  /**
   * Answer if no engine of the volume runs: `refused` with `engine.not_found`, or `done` with null, if the end of the engine is the
   * end of what the command stops.
   */
  readonly withoutEngine: 'refused' | 'done';
};

type Declared = Traits & { readonly ask: z.ZodType<{ epoch: number }>; readonly reply: z.ZodType };

/** Every command names the attachment that it is about; an engine of another epoch refuses it (`engine.stale_epoch`). */
const attachment = z.object({ epoch: counterField });
const rebuild = attachment.extend({ rebuildId: idField<RebuildId>() });
const snapshot = attachment.extend({ snapshotId: idField<SnapshotId>() });
const nothing = z.null();

const snapshotName = nameField(256);
/** More copies than a volume may have. */
const SOURCES_MAX = 64;
/** In hex, or with the name of its method before it. */
const CHECKSUM_CHARS_MAX = 256;
const origin = z.enum(['user', 'system']);

const changing = { patience: 'long', effect: 'changes', withoutEngine: 'refused' } as const;

const DECLARED = {
  /**
   * Brings one replica up to date: joins it as WO, freezes the data to copy by a system snapshot, copies, verifies by content,
   * promotes it to RW. Answers at once; progress is in the engine's report. The same id twice is one rebuild; another while one runs
   * is refused (`engine.busy`).
   */
  'start-rebuild': {
    ...changing,
    ask: rebuild.extend({
      target: replicaAddressSchema,
      /** Sources in the order in which to read from them; the engine takes any RW copy when all of them are gone. */
      sourceReplicaIds: z.array(idField<ReplicaId>()).max(SOURCES_MAX),
      options: rebuildOptionsSchema.optional(),
    }),
    reply: nothing,
  },
  /** Sets how fast a rebuild goes, or that it waits. Stated as a whole, so that the second one changes nothing. */
  'tune-rebuild': {
    ...changing,
    patience: 'short',
    ask: rebuild.extend({
      paused: z.boolean(),
      /** Null for no limit. At least 1 MiB: below that a rebuild would look stuck. */
      bandwidthBytesPerSecond: z.number().int().min(1_048_576).max(Number.MAX_SAFE_INTEGER).nullable(),
    }),
    reply: nothing,
  },
  /** Ends a rebuild. Nothing happens where it has ended, or is not known. */
  'cancel-rebuild': { ...changing, patience: 'short', withoutEngine: 'done', ask: rebuild, reply: nothing },
  /**
   * Fills a new volume with the content of another volume's snapshot; the sources are copies of that one, tried in order. No client
   * may use the volume until the report says `succeeded`. The same fillId twice is one filling; after a failure it begins again.
   */
  fill: {
    ...changing,
    ask: attachment.extend({
      fillId: idField<VolumeId>(),
      snapshotId: idField<SnapshotId>(),
      sources: z.array(replicaAddressSchema).min(1).max(64),
    }),
    reply: nothing,
  },
  /** Drops one replica to ERR: its node drains, or the copy is to be removed. One that is dropped already stays so. */
  'drop-replica': {
    ...changing,
    ask: attachment.extend({ replicaId: idField<ReplicaId>(), reason: z.string() }),
    reply: nothing,
  },
  /** Sets the silence after which a copy is dropped, for an engine that was started under another setting. */
  'set-replica-timeout': {
    ...changing,
    patience: 'short',
    ask: attachment.extend({ replicaTimeoutMs: z.number().int().positive() }),
    reply: nothing,
  },
  /** The volume's layers, as one current copy holds them, with the checksums of all copies. */
  layers: {
    patience: 'short',
    effect: 'reads',
    withoutEngine: 'refused',
    ask: attachment,
    reply: z.object({
      sizeBytes: bytesField,
      /** Present operation on the layers; empty for none. */
      busy: agentText(1024),
      /** Why the last purge or hash failed; empty when it did not. */
      lastError: agentText(1024),
      /** The layer that the head stands on. */
      headParentId: idField<SnapshotId>().nullable(),
      /** Bytes written since the last snapshot. */
      headBytes: bytesField,
      /** Parents before their children. */
      layers: z
        .array(
          z.object({
            id: idField<SnapshotId>(),
            name: snapshotName,
            origin,
            parentId: idField<SnapshotId>().nullable(),
            sizeBytes: bytesField,
            createdAt: timeField,
            removed: z.boolean(),
            heldBytes: bytesField,
            /** Per copy; null where there is none, or where the files have changed since. */
            checksums: z
              .array(
                z.object({
                  replicaId: idField<ReplicaId>(),
                  checksum: nameField(CHECKSUM_CHARS_MAX).nullable(),
                }),
              )
              .max(64),
          }),
        )
        .max(250),
    }),
  },
  /** Takes a snapshot on all copies, and answers when it is taken. The same id twice is one snapshot. */
  'take-snapshot': {
    ...changing,
    ask: attachment.extend({
      snapshot: z.object({
        id: idField<SnapshotId>(),
        name: snapshotName,
        origin,
        /** Text, as copies store it: the text of one layer is the same on all copies. */
        createdAt: z.string().max(64),
      }),
    }),
    reply: nothing,
  },
  /** Marks a snapshot as deleted; a purge takes its layer out. Marked twice is marked. */
  'remove-snapshot': { ...changing, ask: snapshot, reply: nothing },
  /**
   * Hashes a snapshot on all copies, behind the answer: `layers` says how far it is. `force`: also where the files have
   * not changed since they were last hashed, to find what the disk did to them.
   */
  'hash-snapshot': { ...changing, ask: snapshot.extend({ force: z.boolean() }), reply: nothing },
  /**
   * Makes the volume read as it did when the snapshot was taken. `taskId` identifies the request: one that has been done is not done
   * again, however often it is sent.
   */
  revert: { ...changing, ask: snapshot.extend({ taskId: uuidField.optional() }), reply: nothing },
  /** Makes the volume larger. A size that it has already changes nothing. */
  expand: { ...changing, ask: attachment.extend({ sizeBytes: bytesField }), reply: nothing },
  /** Takes deleted layers out, behind the answer: `layers` says how far it is. */
  purge: { ...changing, ask: attachment, reply: nothing },
} satisfies Record<string, Declared>;

export type EngineCommandName = keyof typeof DECLARED;
/** Request of a command, as its sender makes it and its receiver gets it. */
export type EngineRequest<Name extends EngineCommandName> = z.output<(typeof DECLARED)[Name]['ask']>;
/** Reply of a command, as an engine makes it: ids and times may still be text. */
export type EngineAnswer<Name extends EngineCommandName> = z.input<(typeof DECLARED)[Name]['reply']>;
/** Reply of a command, as the control plane gets it. */
export type EngineReply<Name extends EngineCommandName> = z.output<(typeof DECLARED)[Name]['reply']>;

export type EngineCommand<Name extends EngineCommandName> = Traits & {
  readonly ask: z.ZodType<EngineRequest<Name>>;
  readonly reply: z.ZodType<EngineReply<Name>>;
};

export const ENGINE_COMMANDS: { readonly [Name in EngineCommandName]: EngineCommand<Name> } = DECLARED;

export function isEngineCommand(name: string): name is EngineCommandName {
  return Object.hasOwn(ENGINE_COMMANDS, name);
}

/** The body of an answer: the reply is checked by the schema of its command. */
export const engineAnswerSchema = z.object({ reply: z.unknown() });

/** Handlers of an engine: a record with one for each command. */
export type EngineHandlers<Engine> = {
  readonly [Name in EngineCommandName]: (
    engine: Engine,
    ask: EngineRequest<Name>,
  ) => EngineAnswer<Name> | Promise<EngineAnswer<Name>>;
};

export type VolumeLayers = EngineReply<'layers'>;
