import { NOON, secondsAfterNoon } from '@holdfast/testkit/builders.js';
import { aFleet, aReplicaOn, type NodePart } from '@holdfast/testkit/fleet-builder.js';
import { attachedOn } from '@holdfast/testkit/lifecycle-builder.js';
import { aGrantedView } from '@holdfast/testkit/volume-view-builder.js';
import { describe, expect, test } from '@jest/globals';
import type { Robustness } from '../model/volume.js';
import { DETACHED } from '../model/volume-lifecycle.js';
import { causeOfStatus } from './status-cause.js';

const DEAD: NodePart = { ready: false };
const LOST_DISK: NodePart = { disks: { 'b-disk': { ready: false } } };
const NOW = secondsAfterNoon(100);
const BACK: NodePart = { returnedAt: secondsAfterNoon(50) };

type Case = {
  name: string;
  nodes: Partial<Record<'a' | 'b', NodePart>>;
  was?: Robustness;
  is: Robustness;
  detached?: boolean;
  /** Node whose copy the engine still uses. */
  used?: string;
  want: string | undefined;
};

/** A volume that node a serves, with copies on a, b and c; `a-disk` is the disk of node a. */
function causeIn({ nodes, was = 'healthy', is, detached = false, used = '' }: Case): string | undefined {
  const replicas = ['a', 'b', 'c'].map((name) =>
    aReplicaOn(`${name}-disk`, {
      mode: name === 'c' || name === used ? 'RW' : 'ERR',
      healthyAt: NOON,
    }),
  );
  const volume = { robustness: was, lifecycle: detached ? DETACHED : attachedOn('a'), createdAt: NOON };
  const fleet = aFleet({ a: {}, b: {}, c: {}, ...nodes });
  return causeOfStatus(aGrantedView({ volume, replicas, fleet }), is, NOW)?.id;
}

describe('the cause of a volume that', () => {
  test.each<Case>([
    { name: 'lost its serving node', nodes: { a: DEAD, b: DEAD }, is: 'unknown', want: 'a' },
    { name: 'lost the node of a copy', nodes: { b: DEAD }, is: 'degraded', want: 'b' },
    { name: 'lost the disk of a copy', nodes: { b: LOST_DISK }, is: 'degraded', want: 'b-disk' },
    {
      name: 'lost the disk of a copy and uses it',
      nodes: { b: LOST_DISK },
      used: 'b',
      is: 'degraded',
      want: undefined,
    },
    { name: 'lost a copy whose place is well', nodes: {}, is: 'degraded', want: undefined },
    { name: 'lost a node while detached', nodes: { a: DEAD }, detached: true, is: 'degraded', want: 'a' },
    { name: 'is served again', nodes: { a: BACK }, was: 'unknown', is: 'healthy', want: 'a' },
    {
      name: 'was rebuilt after a return',
      nodes: { b: BACK },
      was: 'degraded',
      is: 'healthy',
      want: undefined,
    },
    {
      name: 'has its copy back while detached',
      nodes: { b: BACK },
      was: 'degraded',
      detached: true,
      is: 'healthy',
      want: 'b',
    },
    {
      name: 'is new on a node that came back before',
      nodes: { b: { returnedAt: NOON } },
      was: 'unknown',
      detached: true,
      is: 'healthy',
      want: undefined,
    },
  ])('$name', (given) => {
    expect(causeIn(given)).toBe(given.want);
  });

  test('is whole long after the return of a node', () => {
    const longAgo = { ...BACK, returnedAt: secondsAfterNoon(-600) };
    const volume = {
      robustness: 'degraded',
      lifecycle: DETACHED,
      createdAt: secondsAfterNoon(-900),
    } as const;
    const view = aGrantedView({ volume, fleet: aFleet({ a: longAgo, b: {}, c: {} }) });
    expect(causeOfStatus(view, 'healthy', NOW)).toBeUndefined();
  });
});
