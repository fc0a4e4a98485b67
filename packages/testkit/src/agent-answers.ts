/** Answers of agents, with every field: what their schemas are tried with. */
import {
  agentProblemSchema,
  checksumReplySchema,
  openReplicaReplySchema,
  replicaStateSchema,
  startEngineReplySchema,
} from '@holdfast/core/model/agent-protocol.js';
import { copyDescriptionSchema } from '@holdfast/core/model/copy-description.js';
import { ENGINE_COMMANDS } from '@holdfast/core/model/engine-commands.js';

/** A schema, as far as answers are tried with it. */
type Schema = { safeParse(value: unknown): { success: boolean; data?: unknown } };

const ID = '01a1fd5b-0000-7000-8000-000000000001';
const RECORD = { epoch: 1, dataGeneration: 1, members: [ID], durable: { epoch: 1, dataGeneration: 1 } };
const BYTES = { total: 1, compared: 1, skipped: 0, sent: 1, written: 1, verified: 1 };
const LAYER = { name: 'daily', method: 'delta', reason: 'it is behind', bytesSent: 1 };
const REPORT = {
  volumeId: ID,
  epoch: 1,
  grantId: ID,
  state: 'running',
  reason: 'text',
  record: RECORD,
  replicas: [{ replicaId: ID, mode: 'RW', reason: 'text' }],
  writtenBytes: 1,
  replicaTimeoutMs: 8_000,
  rebuilds: [
    {
      ...{ rebuildId: ID, replicaId: ID, state: 'failed', phase: 'copying', sourceReplicaIds: [ID] },
      ...{ bytes: BYTES, rateBytesPerSecond: 1, snapshots: [LAYER], error: { code: 'c', message: 'text' } },
    },
  ],
  fill: { fillId: ID, state: 'running', bytes: 1, error: 'text' },
};
const VOLUME = {
  ...{
    name: 'v',
    clusterId: ID,
    organizationId: ID,
    projectId: ID,
    numberOfReplicas: 2,
    dataLocality: 'disabled',
  },
  ...{ nodeSelector: ['tag'], diskSelector: ['tag'], topologyRequirement: [{ zone: 'a', region: 'r' }] },
  ...{ labels: { team: 'web' }, schedules: [{ name: 'hourly', cron: '0 * * * *', retain: 1 }] },
};

/** One valid answer of each kind, with every field. */
export const AGENT_ANSWERS: Record<string, readonly [Schema, unknown]> = {
  'an opened copy': [openReplicaReplySchema, { record: RECORD, clean: true, writtenBytes: 1 }],
  'a started engine': [
    startEngineReplySchema,
    { endpoint: { host: 'node-1', port: 7420, exportName: 'v', tls: false }, report: REPORT },
  ],
  'a checksum': [checksumReplySchema, { checksum: 'ab', writtenBytes: 1 }],
  'a state of a copy': [replicaStateSchema, { state: 'present', record: RECORD }],
  'a refusal': [agentProblemSchema, { code: 'engine.busy', message: 'text', newestEpoch: 1 }],
  'a description of a copy': [
    copyDescriptionSchema,
    {
      ...{ volumeId: ID, diskId: ID, sizeBytes: 1, epoch: 1, grantId: ID, isRebuildTarget: false },
      ...{ secret: 'a secret of a copy', volume: VOLUME },
    },
  ],
  'the layers of a volume': [
    ENGINE_COMMANDS.layers.reply,
    {
      ...{ sizeBytes: 1, busy: 'text', lastError: 'text', headParentId: ID, headBytes: 1 },
      layers: [
        {
          ...{
            id: ID,
            name: 'daily',
            origin: 'user',
            parentId: ID,
            sizeBytes: 1,
            removed: false,
            heldBytes: 1,
          },
          ...{ createdAt: '2026-01-01T00:00:00Z', checksums: [{ replicaId: ID, checksum: 'ab' }] },
        },
      ],
    },
  ],
};
