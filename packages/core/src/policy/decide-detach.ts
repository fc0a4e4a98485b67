import type { VolumeView } from '../model/views.js';
import { endpointOf, holderOf } from '../model/volume-lifecycle.js';
import type { ActionFacts } from './action-facts.js';
import { ALLOWED, type Decision, refuse, unchanged } from './decision.js';
import { refusalWhileFilling } from './refusals.js';

/**
 * May the volume be let go? Its engine is asked to stop, so its node has to answer.
 *
 * @param force do not wait for an engine on a node that may be dead: copies fence it off at the next attach
 */
export function decideDetach(facts: ActionFacts, force: boolean): Decision {
  const refusal = refusalWhileFilling(facts);
  if (refusal !== undefined) return refusal;
  const { id, name, attachment, attachedNodeId, isRepairing, nodes } = facts;
  // What the worker attached for a rebuild it detaches afterwards.
  if (isRepairing || (attachment === undefined && attachedNodeId === undefined)) {
    return unchanged(`volume ${name} is not attached`);
  }
  const holder = nodes.find((node) => node.id === attachedNodeId);
  if (force || attachedNodeId === undefined || holder?.isReady === true) return ALLOWED;
  const holderName = holder?.name ?? attachedNodeId;
  return refuse(
    'volume.holder_unreachable',
    `volume ${name} is attached on node ${holderName}, which does not answer`,
    [
      `start the agent on ${holderName}`,
      'detach with force, then attach on another node: at least half of its last copies have to answer there',
    ],
    { volumeId: id, holderNodeId: attachedNodeId },
  );
}

/** What a detachment means for those who use the volume, in sentences for a plan. */
export function detachNotes(
  { volume, fleet }: { readonly volume: Parameters<typeof holderOf>[0]; readonly fleet: Fleet },
  force: boolean,
): string[] {
  const endpoint = endpointOf(volume);
  const holderId = holderOf(volume);
  const node = fleet.nodes.find(({ id }) => id === holderId)?.name ?? 'its node';
  return [
    ...(endpoint === undefined
      ? []
      : [
          `its address ${endpoint.host}:${endpoint.port} on ${node} ends: clients that are connected lose it, and what they write gets errors`,
          'the next attachment has another address',
        ]),
    ...(force ? [`${node} is not waited for: what clients did not flush may be lost`] : []),
  ];
}

type Fleet = { readonly nodes: readonly Pick<VolumeView['fleet']['nodes'][number], 'id' | 'name'>[] };
