import { isFault } from '@holdfast/core/model/faults.js';
import { describe, expect, test } from '@jest/globals';
import { effectiveSettings } from '../settings/effective.js';
import { resolveVolumeSpec, type VolumeSpecInput } from './volume-spec.js';

const SETTINGS = effectiveSettings({ 'default-replica-count': 2 });

/** The fields that are refused. */
function wrongFields(input: Partial<VolumeSpecInput>, name = 'pg-data'): string[] {
  try {
    resolveVolumeSpec(name, { sizeBytes: 4096, ...input }, SETTINGS);
    return [];
  } catch (error) {
    if (!isFault(error, 'request.invalid')) throw error;
    return (error.details.errors ?? []).map(({ pointer }) => pointer);
  }
}

describe('resolveVolumeSpec', () => {
  test.each<{ name: string; input: Partial<VolumeSpecInput>; wrong: string[] }>([
    { name: 'one block', input: {}, wrong: [] },
    { name: 'size 0', input: { sizeBytes: 0 }, wrong: ['/size'] },
    { name: 'a negative size', input: { sizeBytes: -4096 }, wrong: ['/size'] },
    { name: 'a size that is no multiple of a block', input: { sizeBytes: 4097 }, wrong: ['/size'] },
    { name: 'a size of 2^53', input: { sizeBytes: 2 ** 53 }, wrong: ['/size'] },
    { name: 'the largest size', input: { sizeBytes: 2 ** 53 - 4096 }, wrong: [] },
    { name: 'no replica', input: { numberOfReplicas: 0 }, wrong: ['/numberOfReplicas'] },
    { name: '20 replicas', input: { numberOfReplicas: 20 }, wrong: [] },
    { name: '21 replicas', input: { numberOfReplicas: 21 }, wrong: ['/numberOfReplicas'] },
    {
      name: 'strict-local with two',
      input: { dataLocality: 'strict-local', numberOfReplicas: 2 },
      wrong: ['/numberOfReplicas'],
    },
    { name: 'an empty tag', input: { nodeSelector: [''] }, wrong: ['/nodeSelector'] },
    { name: 'too many tags', input: { diskSelector: Array(33).fill('x') }, wrong: ['/diskSelector'] },
    {
      name: 'several at once',
      input: { sizeBytes: 1, numberOfReplicas: 99 },
      wrong: ['/size', '/numberOfReplicas'],
    },
  ])('the wrong fields of a spec with $name are $wrong', ({ input, wrong }) => {
    expect(wrongFields(input)).toEqual(wrong);
  });

  test.each(['', '-a', 'a-', 'A', 'a b', 'a/b', 'a'.repeat(64)])('the name %p is refused', (name) => {
    expect(wrongFields({}, name)).toEqual(['/name']);
  });

  test('what is left out comes from the settings', () => {
    expect(resolveVolumeSpec('a', { sizeBytes: 4096 }, SETTINGS)).toMatchObject({
      numberOfReplicas: 2,
      dataEngine: 'v1',
      dataLocality: 'disabled',
      replicaSoftAntiAffinity: 'ignored',
    });
  });
});
