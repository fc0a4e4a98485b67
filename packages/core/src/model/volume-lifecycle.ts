/**
 * Lifecycle of a volume: its state with everything that belongs to it, as one value.
 *
 * Fields that a state has no use for can't be stored with it: an address without an engine, a forced detach without a holder. A step
 * that grants, starts or stops an engine replaces the value as a whole, so none can forget a part of it.
 */
import type { NodeId } from './ids.js';
import type { CopiesSurvey, SalvageRequest } from './salvage.js';

/** Request for an attachment. `nodeId` undefined: on any node that holds a copy. */
export type AttachmentRequest = {
  nodeId: NodeId | undefined;
  requestedAt: Date;
  /** `rebuild`: the worker's own attachment, to rebuild missing copies; absent: a user's. */
  purpose?: 'rebuild' | undefined;
};

/**
 * The running engine's address. The export name ends in the attachment's secret. With `tls`, only clients that use TLS are admitted.
 */
export type VolumeEndpoint = { host: string; port: number; exportName: string; tls?: boolean | undefined };

/** Leave for one node to run the volume's engine. The epoch that came with it stays with the volume when the grant ends. */
export type EngineGrant = {
  nodeId: NodeId;
  /** The life (boot) of the agent that it was given to: in another one its engine is gone. */
  bootId: string | undefined;
  /** Secret part of the engine's export name. */
  secret: string;
};

/** Start of an engine, from its grant until it serves. */
type Start = {
  grant: EngineGrant;
  /** Set while too few current copies answer for it to go on. */
  survey: CopiesSurvey | undefined;
  /** Asked for, and neither done nor refused yet. */
  salvage: SalvageRequest | undefined;
};

export type VolumeLifecycle =
  /** Its first copies are being made; an attachment may be requested meanwhile. */
  | { state: 'creating'; request: AttachmentRequest | undefined }
  | { state: 'detached' }
  /** Without a grant it waits for a node; with one, for the engine's start. */
  | { state: 'attaching'; request: AttachmentRequest; grant: undefined }
  | ({ state: 'attaching'; request: AttachmentRequest } & Start)
  | { state: 'attached'; request: AttachmentRequest; grant: EngineGrant; endpoint: VolumeEndpoint }
  /**
   * Its engine is being stopped. Forced: the holder may be dead and is not waited for. A request is for the attachment that
   * follows.
   */
  | { state: 'detaching'; grant: EngineGrant; isForced: boolean; request: AttachmentRequest | undefined }
  /** For good. An engine that it still has is stopped as by a forced detach. */
  | { state: 'deleting'; requestedAt: Date; grant: EngineGrant | undefined };

export type VolumeState = VolumeLifecycle['state'];

type WithLifecycle = { readonly lifecycle: VolumeLifecycle };

export const DETACHED = { state: 'detached' } as const satisfies VolumeLifecycle;

/** The attachment that is wanted; `undefined`: neither a user nor the worker wants one. */
export function requestOf({ lifecycle }: WithLifecycle): AttachmentRequest | undefined {
  return lifecycle.state === 'detached' || lifecycle.state === 'deleting' ? undefined : lifecycle.request;
}

export function grantOf({ lifecycle }: WithLifecycle): EngineGrant | undefined {
  return lifecycle.state === 'creating' || lifecycle.state === 'detached' ? undefined : lifecycle.grant;
}

/** The node whose engine serves the volume, or should; it counts from the grant until its engine has stopped. */
export function holderOf(volume: WithLifecycle): NodeId | undefined {
  return grantOf(volume)?.nodeId;
}

export function endpointOf({ lifecycle }: WithLifecycle): VolumeEndpoint | undefined {
  return lifecycle.state === 'attached' ? lifecycle.endpoint : undefined;
}

/** Is its engine given up without waiting for the holder? */
export function isDetachForced({ lifecycle }: WithLifecycle): boolean {
  if (lifecycle.state === 'deleting') return lifecycle.grant !== undefined;
  return lifecycle.state === 'detaching' && lifecycle.isForced;
}

/** The start that is under way. */
export function startOf({ lifecycle }: WithLifecycle): Start | undefined {
  return lifecycle.state === 'attaching' && lifecycle.grant !== undefined ? lifecycle : undefined;
}

export function surveyOf(volume: WithLifecycle): CopiesSurvey | undefined {
  return startOf(volume)?.survey;
}

export function salvageOf(volume: WithLifecycle): SalvageRequest | undefined {
  return startOf(volume)?.salvage;
}

export function isDeleting({ lifecycle }: WithLifecycle): boolean {
  return lifecycle.state === 'deleting';
}

/** Is it attached only to be rebuilt? To users it is detached meanwhile. */
export function isRepairing(volume: WithLifecycle): boolean {
  return requestOf(volume)?.purpose === 'rebuild';
}

/** After a request to attach. A volume that is being created or detached finishes that first. */
export function afterRequest(lifecycle: VolumeLifecycle, request: AttachmentRequest): VolumeLifecycle {
  if (lifecycle.state === 'deleting') return lifecycle;
  return lifecycle.state === 'detached'
    ? { state: 'attaching', request, grant: undefined }
    : { ...lifecycle, request };
}

/** After the wish to have it detached. An engine that was granted has to be stopped first; one forced detach is enough. */
export function afterRelease(lifecycle: VolumeLifecycle, isForced: boolean): VolumeLifecycle {
  switch (lifecycle.state) {
    case 'creating':
      return { ...lifecycle, request: undefined };
    case 'detached':
    case 'deleting':
      return lifecycle;
    case 'attaching':
    case 'attached': {
      const { grant } = lifecycle;
      return grant === undefined ? DETACHED : { state: 'detaching', grant, isForced, request: undefined };
    }
    case 'detaching':
      return { ...lifecycle, isForced: lifecycle.isForced || isForced, request: undefined };
  }
}

/** After its holder was given up for another node: as a forced detach and an attach on any node that holds a copy. */
export function afterFailover(lifecycle: VolumeLifecycle, requestedAt: Date): VolumeLifecycle {
  if ((lifecycle.state !== 'attached' && lifecycle.state !== 'attaching') || lifecycle.grant === undefined) {
    return lifecycle;
  }
  const { grant } = lifecycle;
  return { state: 'detaching', grant, isForced: true, request: { nodeId: undefined, requestedAt } };
}

/**
 * After nodes were declared gone for good: their attachments are given up without waiting for them, and a user's attachment continues
 * on any other node. The same value if none is concerned.
 */
export function afterForgetting(
  lifecycle: VolumeLifecycle,
  isForgotten: (nodeId: NodeId) => boolean,
): VolumeLifecycle {
  const asked = requestOf({ lifecycle });
  const isAskedThere = asked?.nodeId !== undefined && isForgotten(asked.nodeId);
  const request = asked !== undefined && isAskedThere ? { ...asked, nodeId: undefined } : asked;
  const grant = grantOf({ lifecycle });
  if (grant === undefined || !isForgotten(grant.nodeId))
    return isAskedThere && request !== undefined ? afterRequest(lifecycle, request) : lifecycle;
  if (lifecycle.state === 'detaching')
    return lifecycle.isForced && !isAskedThere ? lifecycle : { ...lifecycle, isForced: true, request };
  if (lifecycle.state !== 'attached' && lifecycle.state !== 'attaching') return lifecycle;
  const goesOn = request?.purpose === 'rebuild' ? undefined : request;
  return { state: 'detaching', grant, isForced: true, request: goesOn };
}

/** After a node was granted it. A salvage that was requested in the start before is for this one. */
export function afterGrant(
  lifecycle: VolumeLifecycle,
  request: AttachmentRequest,
  grant: EngineGrant,
): VolumeLifecycle {
  return { state: 'attaching', request, grant, survey: undefined, salvage: salvageOf({ lifecycle }) };
}

/** After a change of the start that is under way; in any other state there is none to change. */
export function afterStartChange(lifecycle: VolumeLifecycle, part: Partial<Start>): VolumeLifecycle {
  if (lifecycle.state !== 'attaching' || lifecycle.grant === undefined) return lifecycle;
  return { ...lifecycle, ...part };
}

/** After the grant was given anew under a higher epoch, before any engine was started: the old export name lets no client in. */
export function afterNewSecret(lifecycle: VolumeLifecycle, secret: string): VolumeLifecycle {
  const start = startOf({ lifecycle });
  return start === undefined ? lifecycle : afterStartChange(lifecycle, { grant: { ...start.grant, secret } });
}

/** After its engine has stopped, or is sure to be fenced off by the next epoch. */
export function afterStop(lifecycle: VolumeLifecycle): VolumeLifecycle {
  switch (lifecycle.state) {
    case 'deleting':
      return { ...lifecycle, grant: undefined };
    case 'detaching': {
      const { request } = lifecycle;
      return request === undefined ? DETACHED : { state: 'attaching', request, grant: undefined };
    }
    default:
      return lifecycle;
  }
}

/** After every copy that can be made now has been made. */
export function afterCreation(lifecycle: VolumeLifecycle): VolumeLifecycle {
  if (lifecycle.state !== 'creating') return lifecycle;
  const { request } = lifecycle;
  return request === undefined ? DETACHED : { state: 'attaching', request, grant: undefined };
}

/** After the holder's agent was restarted: its engines are gone. The old `bootId` stays, so that a new grant is planned. */
export function afterReboot(lifecycle: VolumeLifecycle): VolumeLifecycle {
  if (lifecycle.state !== 'attached') return lifecycle;
  const { request, grant } = lifecycle;
  return { state: 'attaching', request, grant, survey: undefined, salvage: undefined };
}

export function afterDeletion(lifecycle: VolumeLifecycle, requestedAt: Date): VolumeLifecycle {
  return { state: 'deleting', requestedAt, grant: grantOf({ lifecycle }) };
}
