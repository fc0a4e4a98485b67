import {
  ATTACHED,
  FILLING,
  NODES_WITHOUT_FIRST,
  READY_NODES,
  REPAIRING,
  someActionFacts,
} from '@holdfast/testkit/action-facts.js';
import { expect, test } from '@jest/globals';
import type { ActionFacts } from './action-facts.js';
import { decideAttach } from './decide-attach.js';

const CLOSED_NODES = READY_NODES.map((node) => ({ ...node, isClosed: node.id === 'n1' }));

test.each<{ name: string; facts?: Partial<ActionFacts>; on?: string; want: object }>([
  { name: 'A detached volume may be attached.', want: { kind: 'allow' } },
  { name: 'A detached volume may be attached on a ready node.', on: 'n2', want: { kind: 'allow' } },
  {
    name: 'A volume that is being made or let go is attached after that.',
    facts: { state: 'detaching', attachedNodeId: 'n1' },
    on: 'n2',
    want: { kind: 'allow' },
  },
  {
    name: 'A volume that is being deleted is not attached.',
    facts: { isDeleting: true, state: 'deleting' },
    want: { code: 'volume.deleting', why: 'volume pg-data is being deleted' },
  },
  {
    name: 'A volume with strict locality is served where its copy is.',
    facts: { servingNodeIds: ['n1'] },
    on: 'n1',
    want: { kind: 'allow' },
  },
  {
    name: 'A volume with strict locality is not served anywhere else.',
    facts: { servingNodeIds: ['n1'] },
    on: 'n2',
    want: {
      code: 'volume.strict_local',
      why: 'volume pg-data has strict data locality, and its copy is on node-1, not on node-2',
      cures: ['attach it on node-1', 'set dataLocality to best-effort or disabled'],
    },
  },
  {
    name: 'A volume with strict locality whose copy has no place yet may be attached anywhere.',
    facts: { servingNodeIds: [] },
    on: 'n2',
    want: { kind: 'allow' },
  },
  {
    name: 'A clone is not attached before it is filled.',
    facts: FILLING,
    want: { code: 'volume.busy', cures: ['wait until it is detached', 'delete it'] },
  },
  {
    name: 'A node of another cluster is not found.',
    on: 'n9',
    want: { code: 'node.not_found', why: 'the cluster has no node n9' },
  },
  {
    name: 'A node that is not ready does not serve a volume.',
    facts: { nodes: NODES_WITHOUT_FIRST },
    on: 'n1',
    want: {
      code: 'node.not_ready',
      why: 'node node-1 is not ready',
      cures: ['start the agent on node-1', 'attach on another node'],
    },
  },
  {
    name: 'A cordoned node that volumes are detached from serves none.',
    facts: { nodes: CLOSED_NODES },
    on: 'n1',
    want: {
      code: 'node.cordoned',
      why: 'node node-1 is cordoned, and volumes are detached from cordoned nodes',
      cures: ['attach on another node', 'uncordon node-1', expect.stringContaining('detach-manually')],
    },
  },
  {
    name: 'What a node serves already is not attached anew, cordoned or not.',
    facts: { ...ATTACHED, nodes: CLOSED_NODES },
    on: 'n1',
    want: { kind: 'unchanged' },
  },
  {
    name: 'A user takes over what the worker rebuilds.',
    facts: REPAIRING,
    on: 'n2',
    want: { kind: 'allow' },
  },
  {
    name: 'Attaching again changes nothing.',
    facts: ATTACHED,
    want: { kind: 'unchanged', why: 'volume pg-data is attached already' },
  },
  {
    name: 'Attaching again on the same node changes nothing.',
    facts: { ...ATTACHED, state: 'attaching' },
    on: 'n1',
    want: { kind: 'unchanged', why: 'volume pg-data is being attached already' },
  },
  {
    name: 'Before a node is granted, the one that was asked for counts.',
    facts: { ...ATTACHED, state: 'attaching', attachedNodeId: undefined },
    on: 'n2',
    want: { code: 'volume.attached_elsewhere' },
  },
  {
    name: 'A request for any node may become one for a certain node.',
    facts: { state: 'attaching', attachment: { nodeId: undefined } },
    on: 'n2',
    want: { kind: 'allow' },
  },
  {
    name: 'A volume that another node serves is detached from there first.',
    facts: ATTACHED,
    on: 'n2',
    want: {
      code: 'volume.attached_elsewhere',
      why: 'volume pg-data is attached on node node-1, which is alive',
      cures: ['detach the volume from node-1 first'],
      context: { holderNodeId: 'n1', holderIsAlive: true },
    },
  },
  {
    name: 'A volume whose node is silent is detached by force first.',
    facts: { ...ATTACHED, nodes: NODES_WITHOUT_FIRST },
    on: 'n2',
    want: {
      code: 'volume.attached_elsewhere',
      why: 'volume pg-data is attached on node node-1, which is not answering',
      cures: [expect.stringContaining('force'), 'start the agent on node-1'],
      context: { holderIsAlive: false },
    },
  },
])('$name', ({ facts, on, want }) => {
  expect(decideAttach(someActionFacts(facts), on)).toMatchObject(want);
});
