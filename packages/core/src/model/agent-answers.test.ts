/** Answers of agents: no field of any of them carries what its reader could not store, show or paste. */
import { describe, expect, test } from '@jest/globals';
import type { z } from 'zod';
import {
  agentProblemSchema,
  checksumReplySchema,
  openReplicaReplySchema,
  replicaStateSchema,
  startEngineReplySchema,
} from './agent-protocol.js';
import { copyDescriptionSchema } from './copy-description.js';
import { ENGINE_COMMANDS } from './engine-commands.js';

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

/** One lawful answer of each kind, with every field. */
const ANSWERS: Record<string, readonly [z.ZodType, unknown]> = {
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

const TEXTS = ['\u0000', 'a\u001b[2J', '\ud800', 'a\u202eb', 'a\nb', 'x'.repeat(100_000)];
const NUMBERS = [-1, 0.5, 2 ** 53, 2 ** 63, 1e308, Number.NaN];
/** What no line, terminal or column takes. */
const UNSAFE = /[\p{Cc}\p{Zl}\p{Zp}\p{Cs}\u202a-\u202e\u2066-\u2069]/u;
const CHARS_MAX = 4_096;

const CASES = Object.entries(ANSWERS).flatMap(([name, [schema, answer]]) =>
  placesOf(answer).map((at) => ({ name, field: at.join('.'), schema, answer, at })),
);

describe('a field of an agent’s answer', () => {
  test.each(CASES)('in $name, $field, is refused or made safe', ({ schema, answer, at }) => {
    expect(schema.safeParse(answer).success).toBe(true);
    const values = typeof valueAt(answer, at) === 'number' ? NUMBERS : TEXTS;
    const taken = values.flatMap((value) => {
      const parsed = schema.safeParse(replaced(answer, at, value));
      return parsed.success ? textsAndNumbers(parsed.data).filter((one) => !isSafe(one)) : [];
    });
    expect(taken).toEqual([]);
  });
});

test('a time that most programs can not read is none', () => {
  const [, answer] = ANSWERS['the layers of a volume'] ?? [];
  for (const time of ['+275760-09-13T00:00:00Z', '-000001-01-01T00:00:00Z', 'yesterday']) {
    const parsed = ENGINE_COMMANDS.layers.reply.parse(replaced(answer, ['layers', '0', 'createdAt'], time));
    expect(String(parsed.layers[0]?.createdAt)).toBe('Invalid Date');
  }
});

function isSafe(value: string | number): boolean {
  if (typeof value === 'number') return Number.isSafeInteger(value) && value >= 0;
  return value.length <= CHARS_MAX && !UNSAFE.test(value);
}

/** Ways to every text and number. */
function placesOf(value: unknown, at: readonly string[] = []): (readonly string[])[] {
  if (typeof value === 'string' || typeof value === 'number') return [at];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => placesOf(inner, [...at, key]));
}

function valueAt(value: unknown, at: readonly string[]): unknown {
  return at.reduce<unknown>((inner, key) => new Map(Object.entries(Object(inner))).get(key), value);
}

function replaced(value: unknown, [first, ...rest]: readonly string[], put: unknown): unknown {
  if (first === undefined) return put;
  if (Array.isArray(value))
    return value.map((one, at) => (String(at) === first ? replaced(one, rest, put) : one));
  const fields = new Map(Object.entries(Object(value)));
  return { ...Object(value), [first]: replaced(fields.get(first), rest, put) };
}

function textsAndNumbers(value: unknown): (string | number)[] {
  if (typeof value === 'string' || typeof value === 'number') return [value];
  if (typeof value !== 'object' || value === null || value instanceof Date) return [];
  return Object.values(value).flatMap(textsAndNumbers);
}
