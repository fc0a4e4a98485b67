import type { ReplicaExportName } from '@holdfast/data-engine/protocol/export-names.js';
import { engineSecret, readerSecret, snapshotSecret } from '@holdfast/identity/copy-secret.js';
import { testId } from '@holdfast/testkit/builders.js';
import { describe, expect, test } from '@jest/globals';
import { admitsTo, copyUse, mayCommand } from './copy-access.js';

const KEY = 'the-key-of-one-copy';
const [REPLICA, LAYER, NODE, OTHER] = [testId(101), testId(601), testId(301), testId(302)];
const engine = engineSecret(KEY, { epoch: 7, nodeId: NODE });
const SECRETS = {
  engine,
  reader: readerSecret(engine, OTHER),
  snapshot: snapshotSecret(KEY, { snapshotId: LAYER, nodeId: OTHER }),
  none: KEY,
};
type Who = keyof typeof SECRETS;

const name = {
  copy: (secret: string, epoch = 7): ReplicaExportName => ({
    kind: 'replica',
    replicaId: REPLICA,
    epoch,
    secret,
  }),
  layer: (secret: string, epoch = 7): ReplicaExportName => {
    return { kind: 'layer', replicaId: REPLICA, layerId: LAYER, epoch, secret };
  },
  snapshot: (secret: string, layerId: string = LAYER): ReplicaExportName => {
    return { kind: 'snapshot', replicaId: REPLICA, layerId, secret };
  },
};

describe('what a secret of a copy admits to', () => {
  test.each<[Who, string[]]>([
    ['engine', ['copy', 'layer']],
    ['reader', ['layer']],
    ['snapshot', ['snapshot']],
    ['none', []],
  ])('%s connects to its exports at its epoch', (who, want) => {
    const secret = SECRETS[who];
    const names = { copy: name.copy(secret), layer: name.layer(secret), snapshot: name.snapshot(secret) };
    const open = Object.entries(names).flatMap(([kind, one]) => (admitsTo(KEY, one) ? [kind] : []));
    expect(open).toEqual(want);
    const others = [name.copy(secret, 8), name.layer(secret, 8), name.snapshot(secret, testId(602))];
    expect(others.filter((one) => admitsTo(KEY, one))).toEqual([]);
  });

  test.each<[Who, string[]]>([
    ['engine', ['open', 'record', 'hashes']],
    ['reader', ['hashes']],
    ['snapshot', []],
    ['none', []],
  ])('%s sends its commands at its epoch', (who, want) => {
    const use = copyUse(KEY, SECRETS[who], undefined);
    const names = ['open', 'record', 'hashes'] as const;
    expect(names.filter((one) => use !== undefined && mayCommand(use, one, 7))).toEqual(want);
    expect(names.filter((one) => use !== undefined && mayCommand(use, one, 8))).toEqual([]);
  });

  test('a node that was not meant is not admitted', () => {
    expect(copyUse(KEY, SECRETS.engine, NODE)).toBeDefined();
    expect(copyUse(KEY, SECRETS.engine, OTHER)).toBeUndefined();
    expect(copyUse(KEY, SECRETS.reader, NODE)).toBeUndefined();
    expect(admitsTo(KEY, name.copy(SECRETS.engine), OTHER)).toBe(false);
  });
});
