/** Lifecycles of volumes that a node holds, so that a test names the node and what differs. */
import { asId, type NodeId } from '@holdfast/core/model/ids.js';
import type { CopiesSurvey, SalvageRequest } from '@holdfast/core/model/salvage.js';
import type {
  AttachmentRequest,
  EngineGrant,
  VolumeEndpoint,
  VolumeLifecycle,
} from '@holdfast/core/model/volume-lifecycle.js';
import { NOON } from './builders.js';

export const AN_ENDPOINT: VolumeEndpoint = { host: '127.0.0.1', port: 7420, exportName: 'pg-data.secret' };

/** A user's request for an attachment, without a wish where. */
export const ON_ANY_NODE: AttachmentRequest = { nodeId: undefined, requestedAt: NOON };

/** The worker's own, to rebuild missing copies. */
export const TO_REPAIR: AttachmentRequest = { ...ON_ANY_NODE, purpose: 'rebuild' };

type Held = { bootId?: string | undefined; secret?: string; request?: AttachmentRequest };

export function attachingOn(
  nodeId: string,
  held: Held & { survey?: CopiesSurvey; salvage?: SalvageRequest } = {},
): VolumeLifecycle {
  const { request = ON_ANY_NODE, survey, salvage } = held;
  return { state: 'attaching', request, grant: aGrant(nodeId, held), survey, salvage };
}

export function attachedOn(nodeId: string, held: Held = {}): VolumeLifecycle {
  const grant = aGrant(nodeId, held);
  return { state: 'attached', request: held.request ?? ON_ANY_NODE, grant, endpoint: AN_ENDPOINT };
}

export function detachingFrom(nodeId: string, held: Held & { isForced?: boolean } = {}): VolumeLifecycle {
  const { isForced = false, request } = held;
  return { state: 'detaching', grant: aGrant(nodeId, held), isForced, request };
}

export function aGrant(nodeId: string, { bootId, secret = 'an-attachment-secret' }: Held = {}): EngineGrant {
  return { nodeId: asId<NodeId>(nodeId), bootId, secret };
}
