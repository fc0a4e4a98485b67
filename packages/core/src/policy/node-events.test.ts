import { NOON } from '@holdfast/testkit/builders.js';
import { aNode } from '@holdfast/testkit/fleet-builder.js';
import { expect, test } from '@jest/globals';
import { nodeChangeEvents } from './node-events.js';

const OPEN = aNode('n1');
const CORDONED = aNode('n1', { cordoned: true });

test.each([
  { name: 'a cordon', before: OPEN, after: CORDONED, want: ['NodeCordoned'] },
  { name: 'the end of a cordon', before: CORDONED, after: OPEN, want: ['NodeUncordoned'] },
  { name: 'a change of something else', before: CORDONED, after: { ...CORDONED, tags: ['ssd'] }, want: [] },
])('$name is told once', ({ before, after, want }) => {
  const events = nodeChangeEvents(before, after, NOON);
  expect(events.map(({ type }) => type)).toEqual(want);
  for (const event of events) expect(event).toMatchObject({ subject: { kind: 'node', id: 'n1' }, at: NOON });
});
