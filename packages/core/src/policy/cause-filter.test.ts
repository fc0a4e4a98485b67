import { describe, expect, test } from '@jest/globals';
import { parseFilter } from '../listing/filter.js';
import { VOLUME_FIELDS } from '../listing/list-fields.js';
import { causeFilter } from './cause-filter.js';

const uuid = (n: number) => `01a1fd5b-0000-7000-8000-${String(n).padStart(12, '0')}`;
const [first, second, disk] = [uuid(1), uuid(2), uuid(3)];
const node = (subjectId: string) => ({ kind: 'node', subjectId }) as const;
const FAILED_DISK = { kind: 'disk', subjectId: disk } as const;
const UNPLACED = { kind: 'placement', subjectId: null } as const;
const COPIES = { kind: 'copies', subjectId: null } as const;
const CAUSES = [node(second), UNPLACED, node(first), FAILED_DISK, COPIES];

describe('the filter of a cause', () => {
  test.each([
    {
      name: 'a node that serves or holds',
      of: node(first),
      want: `attachedNodeId=${first} OR (robustness!=healthy AND replicas.nodeId=${first} AND attachedNodeId!=${second})`,
    },
    {
      name: 'a later node, without what counts for the first',
      of: node(second),
      want: `attachedNodeId=${second} OR (robustness!=healthy AND replicas.nodeId=${second} AND attachedNodeId!=${first} AND replicas.nodeId!=${first})`,
    },
    {
      name: 'a disk, without what counts for a node',
      of: FAILED_DISK,
      want: `robustness!=healthy AND replicas.diskId=${disk} AND attachedNodeId!=${first} AND attachedNodeId!=${second} AND replicas.nodeId!=${first} AND replicas.nodeId!=${second}`,
    },
  ])('$name', ({ of, want }) => {
    expect(causeFilter(of, CAUSES)).toBe(want);
  });

  test.each([
    { name: 'copies without a place', of: UNPLACED, want: 'robustness!=healthy AND unplaced=true' },
    {
      name: 'anything else that is wrong with copies',
      of: COPIES,
      want: 'robustness!=healthy AND unplaced=false',
    },
  ])('$name', ({ of, want }) => {
    expect(causeFilter(of, [of])).toBe(want);
  });

  test('is one that the API reads, however many causes there are', () => {
    for (let count = 1; count <= 40; count += 1) {
      const causes = [...Array.from({ length: count }, (_, n) => node(uuid(n))), ...CAUSES];
      for (const cause of causes)
        expect(parseFilter(causeFilter(cause, causes), VOLUME_FIELDS)).toBeDefined();
    }
  });
});
