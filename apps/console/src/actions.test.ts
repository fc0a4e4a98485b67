import { refuse, unchanged } from '@holdfast/core/policy/decision.js';
import { describe, expect, test } from '@jest/globals';
import { actionFactsOf, detachWayOf, reasonOf } from './actions';

type Shown = Parameters<typeof actionFactsOf>[0];

const NOON = '2026-01-01T12:00:00.000Z';
const DETACHED: Shown = {
  id: 'v1',
  name: 'pg-data',
  state: 'detached',
  attachedNodeId: null,
  task: null,
  fill: null,
  verification: null,
  conditions: [],
  dataLocality: 'disabled' as const,
  replicas: [],
};
const REBUILT = {
  type: 'OfflineRebuilding',
  status: 'True',
  reason: '',
  message: '',
  lastTransitionAt: NOON,
} as const;
const READY = { ...REBUILT, type: 'Ready' };
const NODES = [
  { id: 'n1', name: 'node-1', conditions: [READY], drain: null },
  { id: 'n2', name: 'node-2', conditions: [], drain: null },
];
const aFill = (sourceVolumeId: string, snapshotId: string) => ({
  sourceVolumeId,
  snapshotId,
  bytes: 0,
  error: null,
  waitingFor: null,
});

describe('actionFactsOf', () => {
  test.each<{ name: string; shown: Partial<Shown>; want: object }>([
    {
      name: 'A detached volume is wanted and held nowhere.',
      shown: {},
      want: { attachment: undefined, attachedNodeId: undefined, isRepairing: false, task: undefined },
    },
    {
      name: 'An attached volume is wanted where it is.',
      shown: { state: 'attached', attachedNodeId: 'n1' },
      want: { attachment: { nodeId: 'n1' }, attachedNodeId: 'n1' },
    },
    {
      name: 'A volume that attaches is wanted before it has a node.',
      shown: { state: 'attaching' },
      want: { attachment: { nodeId: undefined }, attachedNodeId: undefined },
    },
    {
      name: 'A volume that detaches is held, and not wanted.',
      shown: { state: 'detaching', attachedNodeId: 'n1' },
      want: { attachment: undefined, attachedNodeId: 'n1' },
    },
    {
      name: 'A volume that is shown as deleting is being deleted.',
      shown: { state: 'deleting' },
      want: { isDeleting: true },
    },
    {
      name: 'A detached volume whose condition says so is being rebuilt.',
      shown: { conditions: [REBUILT] },
      want: { isRepairing: true },
    },
    {
      name: 'An attached volume is not the one that the worker rebuilds, whatever its condition still says.',
      shown: { state: 'attached', attachedNodeId: 'n1', conditions: [REBUILT] },
      want: { isRepairing: false },
    },
    {
      name: 'A clone is being filled until its filling is gone.',
      shown: { state: 'creating', fill: aFill('v9', 's9') },
      want: { isBeingFilled: true },
    },
    {
      name: 'A task is passed on with its snapshot.',
      shown: {
        task: {
          kind: 'revert',
          size: null,
          snapshotId: 's1',
          state: 'running',
          error: null,
          waitingFor: null,
          requestedAt: NOON,
        },
      },
      want: { task: { kind: 'revert', snapshotId: 's1' } },
    },
    {
      name: 'A holder that the list of nodes does not have yet counts as ready.',
      shown: { state: 'attached', attachedNodeId: 'n3' },
      want: { nodes: [{ id: 'n1' }, { id: 'n2' }, { id: 'n3', name: 'n3', isReady: true }] },
    },
    {
      name: 'A node without its condition is not ready.',
      shown: {},
      want: {
        nodes: [
          { id: 'n1', name: 'node-1', isReady: true },
          { id: 'n2', name: 'node-2', isReady: false },
        ],
      },
    },
  ])('$name', ({ shown, want }) => {
    expect(actionFactsOf({ ...DETACHED, ...shown }, { nodes: NODES, volumes: [] })).toMatchObject(want);
  });

  test('The snapshots that clones of this volume are filled from are needed.', () => {
    const volumes = [{ fill: aFill('v1', 's1') }, { fill: aFill('v2', 's2') }, { fill: null }];
    expect(actionFactsOf(DETACHED, { nodes: [], volumes }).clonedSnapshotIds).toEqual(['s1']);
  });
});

describe('reasonOf', () => {
  test.each([
    { name: 'What is allowed needs no reason.', decision: { kind: 'allow' as const }, want: undefined },
    {
      name: 'What is so already says so.',
      decision: unchanged('volume pg-data is attached already'),
      want: 'Volume pg-data is attached already.',
    },
    {
      name: 'A refusal is followed by what would help.',
      decision: refuse('node.not_ready', 'node node-1 is not ready', [
        'start its agent',
        'take another node',
      ]),
      want: 'Node node-1 is not ready. Start its agent, or take another node.',
    },
    {
      name: 'A refusal may have no cure.',
      decision: refuse('volume.deleting', 'volume pg-data is being deleted'),
      want: 'Volume pg-data is being deleted.',
    },
  ])('$name', ({ decision, want }) => {
    expect(reasonOf(decision)).toBe(want);
  });
});

describe('detachWayOf', () => {
  const way = (attachedNodeId: string | null, { silent = [] as string[] } = {}) => {
    const state = attachedNodeId === null ? 'detached' : 'attached';
    const volume: Shown = { ...DETACHED, state, attachedNodeId };
    return detachWayOf(volume, actionFactsOf(volume, { nodes: NODES, volumes: [] }), new Set(silent));
  };

  test.each([
    { name: 'is plain on a node that answers', got: way('n1'), force: false },
    {
      name: 'is by force as soon as the node is known to be silent',
      got: way('n1', { silent: ['n1'] }),
      force: true,
    },
    { name: 'is by force on a node that is not ready', got: way('n2'), force: true },
    { name: 'minds no other node', got: way('n1', { silent: ['n2'] }), force: false },
  ])('$name', ({ got, force }) => {
    expect(got).toEqual({ force, reason: undefined });
  });

  test('has a reason where there is nothing to let go', () => {
    expect(way(null, { silent: ['n1'] })).toEqual({
      force: false,
      reason: 'Volume pg-data is not attached.',
    });
  });
});
