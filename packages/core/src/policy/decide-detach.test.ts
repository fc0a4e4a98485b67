import {
  ATTACHED,
  FILLING,
  NODES_WITHOUT_FIRST,
  REPAIRING,
  someActionFacts,
} from '@holdfast/testkit/action-facts.js';
import { expect, test } from '@jest/globals';
import type { ActionFacts } from './action-facts.js';
import { decideDetach } from './decide-detach.js';

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
      cures: ['detach with force, then attach on another node', 'start the agent on node-1'],
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
