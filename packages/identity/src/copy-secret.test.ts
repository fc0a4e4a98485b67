import { describe, expect, test } from '@jest/globals';
import { engineSecret, readCopySecret, readerSecret, snapshotSecret } from './copy-secret.js';

const KEY = 'the-key-of-one-copy';
const [NODE, OTHER] = ['node-one', 'node-two'];
const SNAPSHOT = 'a-snapshot';

describe('the secrets of a copy', () => {
  test('say what they were made for, to the copy whose key they are of', () => {
    const engine = engineSecret(KEY, { epoch: 7, nodeId: NODE });
    expect(readCopySecret(KEY, engine)).toEqual({ kind: 'engine', epoch: 7, nodeId: NODE });
    expect(readCopySecret(KEY, readerSecret(engine, OTHER))).toEqual({
      kind: 'reader',
      epoch: 7,
      nodeId: OTHER,
    });
    const clone = snapshotSecret(KEY, { snapshotId: SNAPSHOT, nodeId: NODE });
    expect(readCopySecret(KEY, clone)).toEqual({ kind: 'snapshot', snapshotId: SNAPSHOT, nodeId: NODE });
  });

  test('are others for every epoch and every node', () => {
    const made = [1, 2].flatMap((epoch) =>
      [NODE, OTHER].map((nodeId) => engineSecret(KEY, { epoch, nodeId })),
    );
    expect(new Set(made.map((secret) => secret.split('.').at(-1))).size).toBe(4);
  });

  const engine = engineSecret(KEY, { epoch: 7, nodeId: NODE });
  const reader = readerSecret(engine, OTHER);
  test.each<[string, string]>([
    ['the key itself', KEY],
    ['nothing', ''],
    ['that of another copy', engineSecret('another-key', { epoch: 7, nodeId: NODE })],
    ['one with a later epoch written into it', engine.replace('.7.', '.8.')],
    ['one with another node written into it', engine.replace(NODE, OTHER)],
    ['one that was lent, with another reader written into it', reader.replace(OTHER, 'node-three')],
    ['one that was lent, made into an engine’s', engineOf(reader)],
    ['one that was lent once more', readerSecret(reader, 'node-three')],
    ['one without its end', engine.slice(0, -1)],
  ])('%s admits to nothing', (_what, secret) => {
    expect(readCopySecret(KEY, secret)).toBeUndefined();
  });

  function engineOf(lent: string): string {
    const [, epoch, holder, , mac] = lent.split('.');
    return `engine.${epoch}.${holder}.${mac}`;
  }
});
