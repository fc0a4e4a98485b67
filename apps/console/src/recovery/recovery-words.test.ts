import { describe, expect, test } from '@jest/globals';
import type { Recovery } from '../api/types';
import { isLost } from '../shared/use-lost-volumes';
import { blockOf, choiceOf, consentsTo } from './recovery-words';

const HERE = 'cluster-here';

function aRecovery(part: Partial<Recovery> = {}): Recovery {
  return {
    volumeId: 'v',
    name: 'orders',
    size: 4096,
    numberOfReplicas: 3,
    projectId: 'p-1',
    fromClusterId: HERE,
    isKnown: false,
    record: null,
    copies: [],
    missingReplicaIds: [],
    obstacle: null,
    ...part,
  };
}

const obstacle = (code: NonNullable<Recovery['obstacle']>['code']) => ({ code, why: 'so it is', cures: [] });

describe('what a user has to agree to', () => {
  test('is nothing where all copies are there and of this cluster', () => {
    expect(consentsTo(aRecovery(), HERE)).toEqual([]);
  });

  test('is each of what the API would refuse one after the other', () => {
    const item = aRecovery({
      obstacle: obstacle('Deleted'),
      fromClusterId: 'cluster-lost',
      missingReplicaIds: ['r-2'],
    });
    expect(consentsTo(item, HERE).map(({ name, value }) => [name, value])).toEqual([
      ['acceptsDeleted', 'on'],
      ['fromClusterId', 'cluster-lost'],
      ['acceptsMissing', 'on'],
    ]);
  });

  test('is not whose cluster it is where the volume is known here', () => {
    expect(consentsTo(aRecovery({ isKnown: true, fromClusterId: 'cluster-lost' }), HERE)).toEqual([]);
  });
});

describe('what is in the way', () => {
  test.each([
    ['Forked', 'Remove the one to give up, in the list of orphans.'],
    ['EnginesDiffer', 'Remove those that it is not to have, in the list of orphans.'],
    ['Deleted', undefined],
    ['MissingCopies', undefined],
  ] as const)('%s is cured elsewhere or in the dialog', (code, cure) => {
    expect(blockOf(aRecovery({ obstacle: obstacle(code) }))?.cure).toBe(cure);
  });

  test('copies that are left over from a volume that is well are no loss', () => {
    expect(isLost(aRecovery({ obstacle: obstacle('NotNeeded') }))).toBe(false);
    expect(isLost(aRecovery({ obstacle: obstacle('Deleted') }))).toBe(true);
  });
});

describe('the choice that a form makes', () => {
  function form(fields: Record<string, string>): FormData {
    const data = new FormData();
    for (const [name, value] of Object.entries(fields)) data.append(name, value);
    return data;
  }

  test('leaves to the copies what was not changed', () => {
    expect(choiceOf(form({ name: 'orders', projectId: 'p-1' }), aRecovery())).toEqual({
      acceptsDeleted: false,
      acceptsMissing: false,
    });
  });

  test('says what was changed and agreed to', () => {
    const filled = form({
      name: 'orders-2',
      projectId: 'p-2',
      fromClusterId: 'cluster-lost',
      acceptsMissing: 'on',
    });
    expect(choiceOf(filled, aRecovery())).toEqual({
      name: 'orders-2',
      projectId: 'p-2',
      fromClusterId: 'cluster-lost',
      acceptsDeleted: false,
      acceptsMissing: true,
    });
  });
});
