import {
  ATTACHED,
  FILLING,
  NODES_WITHOUT_FIRST,
  REPAIRING,
  someActionFacts,
} from '@holdfast/testkit/action-facts.js';
import { describe, expect, test } from '@jest/globals';
import { asId, type NodeId } from '../model/ids.js';
import type { ActionFacts } from './action-facts.js';
import { decideDetach, detachNotes } from './decide-detach.js';

const NOT_ATTACHED = { kind: 'unchanged', why: 'volume pg-data is not attached' };

test.each<{ name: string; facts?: Partial<ActionFacts>; force?: boolean; want: object }>([
  { name: 'An attached volume may be detached.', facts: ATTACHED, want: { kind: 'allow' } },
  {
    name: 'A volume that is being attached may be detached before it has a node.',
    facts: { state: 'attaching', attachment: { nodeId: undefined } },
    want: { kind: 'allow' },
  },
  {
    name: 'A volume that is being detached may be detached again, with force for example.',
    facts: { state: 'detaching', attachedNodeId: 'n1' },
    force: true,
    want: { kind: 'allow' },
  },
  { name: 'Detaching a detached volume changes nothing.', want: NOT_ATTACHED },
  { name: "The worker's own attachment is not a user's to end.", facts: REPAIRING, want: NOT_ATTACHED },
  {
    name: 'A clone stays attached until it is filled, also with force.',
    facts: FILLING,
    force: true,
    want: { code: 'volume.busy' },
  },
  {
    name: 'A node that does not answer is not asked to stop its engine.',
    facts: { ...ATTACHED, nodes: NODES_WITHOUT_FIRST },
    want: {
      code: 'volume.holder_unreachable',
      why: 'volume pg-data is attached on node node-1, which does not answer',
      cures: [
        'start the agent on node-1',
        'detach with force, then attach on another node: at least half of its last copies have to answer there',
      ],
      context: { holderNodeId: 'n1' },
    },
  },
  {
    name: 'A node that is gone is not asked either.',
    facts: { ...ATTACHED, nodes: [] },
    want: { code: 'volume.holder_unreachable', why: expect.stringContaining('node n1,') },
  },
  {
    name: 'Force does not wait for a node that does not answer.',
    facts: { ...ATTACHED, nodes: NODES_WITHOUT_FIRST },
    force: true,
    want: { kind: 'allow' },
  },
])('$name', ({ facts, force = false, want }) => {
  expect(decideDetach(someActionFacts(facts), force)).toMatchObject(want);
});

describe('the plan of a detachment', () => {
  const node = { id: asId<NodeId>('01a1fd5b-0000-7000-8000-000000000001'), name: 'node-1' };
  const fleet = { nodes: [node] };
  const grant = { nodeId: node.id, bootId: undefined, secret: 'secret' };
  const request = { nodeId: node.id, requestedAt: new Date(0) };
  const endpoint = { host: '127.0.0.1', port: 7420, exportName: 'secret' };
  const attached = { lifecycle: { state: 'attached', request, grant, endpoint } } as const;

  test('says which address ends, without its secret', () => {
    const notes = detachNotes({ volume: attached, fleet }, false);
    expect(notes).toEqual([
      'its address 127.0.0.1:7420 on node-1 ends: clients that are connected lose it, and what they write gets errors',
      'the next attachment has another address',
    ]);
  });

  test('says with force what is not waited for', () => {
    expect(detachNotes({ volume: attached, fleet }, true)).toContain(
      'node-1 is not waited for: what clients did not flush may be lost',
    );
  });

  test('has nothing to say of a volume that is not served', () => {
    expect(detachNotes({ volume: { lifecycle: { state: 'detached' } }, fleet }, false)).toEqual([]);
  });
});
