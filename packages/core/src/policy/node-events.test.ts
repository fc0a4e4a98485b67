import { NOON } from '@holdfast/testkit/builders.js';
import { aNode } from '@holdfast/testkit/fleet-builder.js';
import { expect, test } from '@jest/globals';
import { nodeChangeEvents } from './node-events.js';

const OPEN = aNode('n1');
const WINDOW = { until: new Date(NOON.getTime() + 3_600_000), reason: '' };
const AWAY = aNode('n1', { maintenance: WINDOW });
const CORDONED = aNode('n1', { cordoned: true });

test.each([
  { name: 'a cordon', before: OPEN, after: CORDONED, want: ['NodeCordoned'] },
  { name: 'the end of a cordon', before: CORDONED, after: OPEN, want: ['NodeUncordoned'] },
  { name: 'a window that opens', before: OPEN, after: AWAY, want: ['NodeMaintenanceStarted'] },
  {
    name: 'a window that is prolonged',
    before: AWAY,
    after: aNode('n1', { maintenance: { ...WINDOW, until: new Date(NOON.getTime() + 7_200_000) } }),
    want: ['NodeMaintenanceChanged'],
  },
  { name: 'the same window', before: AWAY, after: aNode('n1', { maintenance: { ...WINDOW } }), want: [] },
  { name: 'the end of a window', before: AWAY, after: OPEN, want: ['NodeMaintenanceEnded'] },
  { name: 'a tag', before: CORDONED, after: { ...CORDONED, tags: ['ssd'] }, want: ['NodeChanged'] },
  {
    name: 'a wish to empty it',
    before: OPEN,
    after: aNode('n1', { evictionRequested: true }),
    want: ['NodeEvictionRequested'],
  },
])('$name is told once', ({ before, after, want }) => {
  const events = nodeChangeEvents(before, after, NOON);
  expect(events.map(({ type }) => type)).toEqual(want);
  for (const event of events) expect(event).toMatchObject({ subject: { kind: 'node', id: 'n1' }, at: NOON });
});
