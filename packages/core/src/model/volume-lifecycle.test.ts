import { NOON } from '@holdfast/testkit/builders.js';
import {
  aGrant,
  attachedOn,
  attachingOn,
  detachingFrom,
  ON_ANY_NODE,
  TO_REPAIR,
} from '@holdfast/testkit/lifecycle-builder.js';
import { describe, expect, test } from '@jest/globals';
import {
  afterCreation,
  afterDeletion,
  afterNewSecret,
  afterReboot,
  afterRelease,
  afterRequest,
  afterStop,
  DETACHED,
  isDetachForced,
  type VolumeLifecycle,
} from './volume-lifecycle.js';

const CREATING: VolumeLifecycle = { state: 'creating', request: undefined };
const WAITING: VolumeLifecycle = { state: 'attaching', request: ON_ANY_NODE, grant: undefined };
const DELETING: VolumeLifecycle = { state: 'deleting', requestedAt: NOON, grant: aGrant('n1') };
const EACH = [
  CREATING,
  DETACHED,
  WAITING,
  attachingOn('n1'),
  attachedOn('n1'),
  detachingFrom('n1'),
  DELETING,
];

type Row = { before: VolumeLifecycle; after: VolumeLifecycle };

describe('a request to attach', () => {
  test.each<Row>([
    { before: CREATING, after: { state: 'creating', request: TO_REPAIR } },
    { before: DETACHED, after: { state: 'attaching', request: TO_REPAIR, grant: undefined } },
    { before: WAITING, after: { state: 'attaching', request: TO_REPAIR, grant: undefined } },
    { before: attachedOn('n1'), after: attachedOn('n1', { request: TO_REPAIR }) },
    { before: detachingFrom('n1'), after: detachingFrom('n1', { request: TO_REPAIR }) },
    { before: DELETING, after: DELETING },
  ])('of a volume that is $before.state leaves it $after.state', ({ before, after }) => {
    expect(afterRequest(before, TO_REPAIR)).toEqual(after);
  });
});

describe('a wish to have it detached', () => {
  test.each<Row>([
    { before: { state: 'creating', request: ON_ANY_NODE }, after: CREATING },
    { before: DETACHED, after: DETACHED },
    { before: WAITING, after: DETACHED },
    { before: attachingOn('n1'), after: detachingFrom('n1') },
    { before: attachedOn('n1'), after: detachingFrom('n1') },
    { before: detachingFrom('n1', { request: ON_ANY_NODE }), after: detachingFrom('n1') },
    { before: DELETING, after: DELETING },
  ])('of a volume that is $before.state leaves it $after.state', ({ before, after }) => {
    expect(afterRelease(before, false)).toEqual(after);
  });

  test('by force once is by force until the engine has stopped', () => {
    const forced = afterRelease(attachedOn('n1'), true);
    expect(forced).toEqual(detachingFrom('n1', { isForced: true }));
    expect(afterRelease(forced, false)).toEqual(forced);
    expect(afterRequest(forced, ON_ANY_NODE)).toMatchObject({ isForced: true });
  });
});

test.each<Row>([
  { before: detachingFrom('n1'), after: DETACHED },
  { before: detachingFrom('n1', { request: ON_ANY_NODE }), after: WAITING },
  { before: DELETING, after: { state: 'deleting', requestedAt: NOON, grant: undefined } },
])('an engine that has stopped leaves a volume that was $before.state $after.state', ({ before, after }) => {
  expect(afterStop(before)).toEqual(after);
});

test('creation ends as what was asked for meanwhile, and only once', () => {
  expect(afterCreation(CREATING)).toEqual(DETACHED);
  expect(afterCreation({ state: 'creating', request: ON_ANY_NODE })).toEqual(WAITING);
  for (const lifecycle of EACH.slice(1)) expect(afterCreation(lifecycle)).toBe(lifecycle);
});

test('a restart of the holder takes the address away, and nothing else', () => {
  expect(afterReboot(attachedOn('n1', { bootId: 'old' }))).toEqual(attachingOn('n1', { bootId: 'old' }));
  for (const lifecycle of EACH.filter(({ state }) => state !== 'attached'))
    expect(afterReboot(lifecycle)).toBe(lifecycle);
});

test('a new secret is for a grant whose engine has not started', () => {
  expect(afterNewSecret(attachingOn('n1'), 'new')).toEqual(attachingOn('n1', { secret: 'new' }));
  expect(afterNewSecret(attachedOn('n1'), 'new')).toEqual(attachedOn('n1'));
});

test('a deletion keeps the grant, whose engine is stopped without waiting for it', () => {
  for (const lifecycle of EACH) {
    const after = afterDeletion(lifecycle, NOON);
    const isHeld = 'grant' in lifecycle && lifecycle.grant !== undefined;
    expect(isDetachForced({ lifecycle: after })).toBe(isHeld);
  }
});
