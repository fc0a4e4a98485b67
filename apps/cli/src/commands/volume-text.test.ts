import { describe, expect, test } from '@jest/globals';
import { nodesNow } from '../nodes-now.js';
import type { Replica, Volume } from '../types.js';
import { createdLine, describeVolume, notedLines, unplacedLines, waitingLines } from './volume-text.js';

function aVolume(status: 'True' | 'False', message: string, type = 'Scheduled'): Volume {
  const condition = {
    type,
    status,
    reason: '',
    message,
    lastTransitionAt: '2026-01-01T00:00:00Z',
  };
  // The cast: the text uses nothing else of a volume.
  return { name: 'big', conditions: [condition] } as Volume;
}

describe('why a copy has no place', () => {
  test('is one sentence and where to read on, without the list of disks', () => {
    const volume = aVolume('False', '0 of 3 replicas have a place: no disk has room.\nnode-1/disk-1: full');
    expect(unplacedLines(volume)).toEqual([
      '0 of 3 replicas have a place: no disk has room.',
      '  holdfast volume explain big says more',
    ]);
  });

  test('is cut where there is no sentence yet', () => {
    const [line] = unplacedLines(aVolume('False', 'x'.repeat(3_000)));
    expect(line?.length).toBeLessThan(700);
  });

  test('is nothing when all have one', () => {
    expect(unplacedLines(aVolume('True', 'degraded'))).toEqual([]);
  });
});

test.each([
  ['all of which have a place', ['a', 'b'], 'pg: creating, copies on node a, node b'],
  ['one of which has none', ['a', null], 'pg: creating, 1 of 2 copies have a place'],
])('a new volume of two copies, %s, is told in one line', (_, nodeIds, want) => {
  const replicas = nodeIds.map((nodeId) => ({ nodeId }));
  // The cast: the line uses nothing else of a volume.
  const volume = { name: 'pg', state: 'creating', numberOfReplicas: 2, replicas } as Volume;
  expect(createdLine(volume, (id) => `node ${id}`)).toBe(want);
});

describe('what users should see although nothing is broken', () => {
  test.each([
    { type: 'TooManySnapshots', status: 'True', want: ['note'] },
    { type: 'OfflineRebuilding', status: 'True', want: ['note'] },
    { type: 'OfflineRebuilding', status: 'False', want: [] },
    { type: 'RebuildWaiting', status: 'True', want: ['note'] },
    { type: 'Scheduled', status: 'True', want: [] },
  ] as const)(
    'the message of the condition $type is shown while it is $status: $want',
    ({ type, status, want }) => {
      expect(notedLines(aVolume(status, 'note', type))).toEqual(want);
    },
  );
});

test('a hold is a reason of two conditions, and said once', () => {
  const held = [aVolume('True', 'held', 'RebuildsHeld'), aVolume('True', 'held', 'RebuildWaiting')];
  expect(notedLines({ conditions: held.flatMap(({ conditions }) => conditions) })).toEqual(['held']);
});

test('missing copies that are not in the queue are listed with their volume and the reason', () => {
  const seen = [aVolume('True', 'it waits', 'RebuildWaiting'), aVolume('False', '', 'RebuildWaiting')];
  expect(waitingLines(seen)).toEqual(['big: it waits']);
});

describe('a volume as text', () => {
  const URI = 'nbd://127.0.0.1:7420/big';

  function aCopy(nodeId: string, part: Partial<Replica> = {}): Replica {
    const copy = { id: `copy-on-${nodeId}`, nodeId, zone: 'z', mode: 'RW', state: 'running', ...part };
    // The cast: the text uses nothing else of a copy.
    return copy as Replica;
  }

  /** With copies on nodes 1 to 3, served by node 2. */
  function served(part: Partial<Volume> = {}): Volume {
    const replicas = ['n1', 'n2', 'n3'].map((nodeId) => aCopy(nodeId));
    return {
      ...aVolume('True', ''),
      robustness: 'healthy',
      state: 'attached',
      attachedNodeId: 'n2',
      numberOfReplicas: 3,
      size: 4096,
      writtenBytes: 0,
      endpoint: { nbdUri: URI },
      attention: null,
      verification: null,
      replicas,
      ...part,
    };
  }

  /** Lines by their first word, while these nodes do not answer. */
  function linesOf(volume: Volume, silent: readonly string[]): Record<string, string> {
    const nodes = ['n1', 'n2', 'n3'].map((id) => {
      const answering = { type: 'Answering', status: 'False' } as const;
      const conditions = [
        { type: 'Ready', status: 'True' } as const,
        ...(silent.includes(id) ? [answering] : []),
      ];
      return {
        id,
        name: `node-${id.slice(1)}`,
        conditions: conditions.map((one) => ({ ...NO_TEXT, ...one })),
      };
    });
    const text = describeVolume(volume, nodesNow(nodes), { output: 'table', headers: true, color: false });
    const lines = text.split('\n').map((line) => line.replaceAll(/ {2,}/g, '  ').split('  '));
    return Object.fromEntries(lines.map(([word = '', ...others]) => [word, others.join('  ')]));
  }
  const NO_TEXT = { reason: '', message: '', lastTransitionAt: '2026-01-01T00:00:00Z' };

  test('says that it is healthy, and where clients reach it', () => {
    expect(linesOf(served(), [])).toMatchObject({
      health: '✓ healthy',
      state: 'attached on node-2',
      address: URI,
      'py-on-n1': '✓ healthy  RW  node-1  z',
      'py-on-n2': '✓ healthy  RW  node-2  z',
    });
  });

  test('offers no address of a node that does not answer, and takes nothing that it said for true', () => {
    expect(linesOf(served(), ['n2'])).toMatchObject({
      health: '✕ not served',
      state: 'attached on node-2',
      address:
        'none now: node-2 does not answer; start its agent, or holdfast volume detach big --force and attach it elsewhere',
      'py-on-n1': '○ not known  -  node-1  z',
      'py-on-n2': '✕ no answer  -  node-2  z',
    });
  });

  test('shows the copy of a node that does not answer as that, while another node serves it', () => {
    const replicas = [aCopy('n2'), aCopy('n3', { mode: 'ERR', state: 'failed' })];
    expect(linesOf(served({ attachedNodeId: 'n2', replicas }), ['n3'])).toMatchObject({
      health: '✓ healthy',
      address: URI,
      'py-on-n2': '✓ healthy  RW  node-2  z',
      'py-on-n3': '✕ no answer  ERR  node-3  z',
    });
  });

  test.each([
    ['a viewer', { endpoint: { nbdUri: null } }, 'shown to those who may change volumes'],
    ['one that is not attached', { endpoint: null, attachedNodeId: null, state: 'detached' }, '-'],
  ] as const)('has no address for %s', (_what, part, want) => {
    expect(linesOf(served(part), []).address).toBe(want);
  });
});
