/** Calls between the agent and its host processes. Types only, so that a host loads no code for them. */
import type { ChecksumReply, EngineReport, StartEngine } from '@holdfast/core/model/agent-protocol.js';
import type { CopyRecord } from '@holdfast/core/model/copy-record.js';
import type { EngineCommandName } from '@holdfast/core/model/engine-commands.js';
import type { VolumeId } from '@holdfast/core/model/ids.js';
import type { Negotiated } from '@holdfast/data-engine/nbd/handshake-frames.js';
import type { CommandName } from '@holdfast/data-engine/protocol/commands.js';
import type { DescribedMetadata } from '../copy-description.js';

/** A client's connection after the handshake, which the agent has done. `rest`: bytes that followed it, in base64. */
export type HandedConnection = { negotiated: Negotiated; rest: string };

export type EngineHostMethods = {
  'start-engine': { params: { volumeId: VolumeId; engine: StartEngine }; result: EngineReport };
  'stop-engine': { params: { volumeId: string }; result: null };
  'fence-engine': { params: { volumeId: string }; result: null };
  'stop-engines': { params: null; result: null };
  /** One of the table of engine commands. Checked where it came from outside, so not here. */
  'engine-command': {
    params: { volumeId: string; name: EngineCommandName; ask: unknown };
    /** `sizeBytes`: the volume's size after the command, for clients that connect afterwards. */
    result: { reply: unknown; sizeBytes: number };
  };
  'engine-report': { params: { volumeId: string }; result: EngineReport };
  'engine-connection': { params: HandedConnection & { volumeId: string }; result: null };
};

/** A host of copies also runs engines of their volumes. */
export type ReplicaHostMethods = EngineHostMethods & {
  open: { params: { diskPath: string; replicaId: string }; result: null };
  /** One of the data engine's replica commands. Checked where it came from outside, so not here. */
  command: { params: { replicaId: string; name: CommandName; ask: unknown }; result: unknown };
  checksum: {
    params: { replicaId: string; bytesPerSecondMax?: number | undefined };
    result: ChecksumReply;
  };
  close: { params: { replicaId: string }; result: null };
  'close-all': { params: { graceMs: number }; result: null };
  reports: {
    params: null;
    result: { replicaId: string; writtenBytes: number; record: CopyRecord | null }[];
  };
  /** The stored metadata of an open copy. */
  metadata: { params: { replicaId: string }; result: DescribedMetadata };
  connection: { params: HandedConnection; result: null };
};

export type TlsHostMethods = {
  /**
   * Carries a connection whose client waits for the answer to STARTTLS. Returns when the connection has ended. The paths are
   * those of the plaintext sockets for users and for other nodes, where there are such.
   */
  tunnel: {
    params: { noZeroes: boolean; usersPath?: string | undefined; nodesPath?: string | undefined };
    result: null;
  };
};

/** Calls that an engine host makes to the agent. */
export type AgentMethods = {
  'confirm-record': {
    params: { volumeId: string; record: CopyRecord; grantId?: string | undefined };
    result: null;
  };
  'engine-changed': { params: { report: EngineReport }; result: null };
};

export type NoMethods = Record<string, never>;
