import { describe, expect, test } from '@jest/globals';
import {
  copyHealth,
  healthyCopies,
  isSilent,
  shownAddress,
  silentNodesOf,
  volumeHealth,
} from './silent-nodes.js';

type Volume = Parameters<typeof volumeHealth>[0];
type Copy = Volume['replicas'][number];

const SILENT = new Set(['n2']);
const NONE: ReadonlySet<string> = new Set();
const FULL_SINCE = '2026-01-01T12:00:00.000Z';

function aCopy(part: Partial<Copy> = {}): Copy {
  return { nodeId: 'n1', state: 'running', healthyAt: FULL_SINCE, ...part };
}

function aVolume(part: Partial<Volume> = {}): Volume {
  const replicas = ['n1', 'n2', 'n3'].map((nodeId) => aCopy({ nodeId }));
  return {
    attachedNodeId: 'n1',
    state: 'attached',
    robustness: 'healthy',
    numberOfReplicas: 3,
    replicas,
    ...part,
  };
}

/** Detached, with full copies on these nodes. */
function atRest(nodeIds: readonly string[], part: Partial<Volume> = {}): Volume {
  const replicas = nodeIds.map((nodeId) => aCopy({ nodeId, state: 'stopped' }));
  return aVolume({
    attachedNodeId: null,
    state: 'detached',
    numberOfReplicas: nodeIds.length,
    replicas,
    ...part,
  });
}

describe('a node', () => {
  test.each([
    ['ready', { Ready: 'True' }, false],
    ['ready, and closed', { Ready: 'True', Schedulable: 'False' }, false],
    ['ready, and unanswering', { Answering: 'False', Ready: 'True' }, true],
    ['not ready', { Ready: 'False' }, true],
    ['of which nothing was heard yet', {}, true],
  ] as const)('that is %s', (_what, statuses, want) => {
    const conditions = Object.entries(statuses).map(([type, status]) => ({ type, status }));
    expect(isSilent({ conditions })).toBe(want);
    expect([...silentNodesOf([{ id: 'n', conditions }])]).toEqual(want ? ['n'] : []);
  });
});

describe('while node 2 is silent', () => {
  test.each<[string, Volume, string, number | undefined]>([
    ['that it serves', aVolume({ attachedNodeId: 'n2' }), 'notServed', undefined],
    ['that it should let go', aVolume({ attachedNodeId: 'n2', state: 'detaching' }), 'notServed', undefined],
    ['that another node serves', aVolume(), 'healthy', 2],
    ['that another node serves, judged since', aVolume({ robustness: 'degraded' }), 'degraded', 2],
    ['at rest, with a copy on it', atRest(['n1', 'n2', 'n3']), 'degraded', 2],
    ['at rest, with its only copy on it', atRest(['n2']), 'unknown', 0],
    ['at rest, with enough other copies', atRest(['n1', 'n2', 'n3'], { numberOfReplicas: 2 }), 'healthy', 2],
    ['at rest, without a copy on it', atRest(['n1', 'n3']), 'healthy', 2],
    ['at rest, judged as lost', atRest(['n2'], { robustness: 'faulted' }), 'faulted', 0],
  ])('a volume %s is shown by what is known of it now', (_what, volume, health, copies) => {
    expect(volumeHealth(volume, SILENT)).toBe(health);
    expect(healthyCopies(volume, SILENT)).toBe(copies);
  });

  test('a volume is only until then other than it was judged', () => {
    expect(volumeHealth(aVolume({ attachedNodeId: 'n2' }), NONE)).toBe('healthy');
    expect(volumeHealth(atRest(['n1', 'n2', 'n3']), NONE)).toBe('healthy');
  });
});

describe('a copy', () => {
  test.each<[string, Partial<Copy>, string | null, string]>([
    ['without a place', { nodeId: null }, 'n1', 'notPlaced'],
    ['on a silent node', { nodeId: 'n2' }, 'n1', 'noAnswer'],
    ['on a silent node, failed', { nodeId: 'n2', state: 'failed' }, 'n1', 'noAnswer'],
    ['of a volume that a silent node serves', {}, 'n2', 'notKnown'],
    ['of a volume that a silent node serves, rebuilding', { state: 'rebuilding' }, 'n2', 'notKnown'],
    ['of a volume that a silent node serves, failed', { state: 'failed' }, 'n2', 'failed'],
    ['in use', {}, 'n1', 'healthy'],
    ['in use, failed', { state: 'failed' }, 'n1', 'failed'],
    ['in use, rebuilding', { state: 'rebuilding' }, 'n1', 'rebuilding'],
    ['at rest, full', { state: 'stopped' }, null, 'healthy'],
    ['at rest, never full', { state: 'stopped', healthyAt: null }, null, 'stopped'],
  ])('%s is shown by what is known of it now', (_what, part, attachedNodeId, want) => {
    expect(copyHealth(aCopy(part), { attachedNodeId }, SILENT)).toBe(want);
  });
});

describe('the address of a volume', () => {
  const endpoint = { nbdUri: 'nbd://127.0.0.1:7420/x' };
  test.each([
    ['that is served', { attachedNodeId: 'n1', endpoint }, { kind: 'address', nbdUri: endpoint.nbdUri }],
    ['that a silent node serves', { attachedNodeId: 'n2', endpoint }, { kind: 'silent' }],
    ['for a viewer', { attachedNodeId: 'n1', endpoint: { nbdUri: null } }, { kind: 'hidden' }],
    ['that is not attached', { attachedNodeId: null, endpoint: null }, { kind: 'none' }],
  ])('%s is offered only where it leads to it', (_what, volume, want) => {
    expect(shownAddress(volume, SILENT)).toEqual(want);
  });
});

test.each([
  ['being created', { state: 'creating' }, 'creating'],
  [
    'without a place for a copy',
    { state: 'creating', replicas: [aCopy(), aCopy({ nodeId: null })] },
    'notPlaced',
  ],
  ['that was whole before', { state: 'detached' }, 'unknown'],
] as const)('a volume %s is not told by the word for the others', (_what, part, want) => {
  expect(volumeHealth({ ...atRest(['n1', 'n3']), robustness: 'unknown', ...part }, NONE)).toBe(want);
});
