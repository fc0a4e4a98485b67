import { StorageFault } from '@holdfast/core/model/faults.js';
import { portsOf } from '../nbd/ports.js';
import type { EngineDependencies, EngineSpec } from './engine-state.js';
import { openLink, type ReplicaLink } from './replica-link.js';

/** Quorum at attach: opens every copy that can be reached; at least half of the record's members must be. */
export async function openCurrent(
  spec: EngineSpec,
  dependencies: EngineDependencies,
): Promise<ReplicaLink[]> {
  const { connectData } = portsOf(dependencies);
  const { connectControl } = dependencies;
  const { epoch, grantId, replicaTimeoutMs } = spec;
  const opening = {
    epoch,
    grantId,
    mode: 'RW',
    connectControl,
    connectData,
    timeoutMs: replicaTimeoutMs,
  } as const;
  const attempts = await Promise.allSettled(spec.replicas.map((address) => openLink(address, opening)));
  const links = attempts.flatMap((attempt) => (attempt.status === 'fulfilled' ? [attempt.value] : []));
  const errors = attempts.flatMap((attempt) => (attempt.status === 'rejected' ? [attempt.reason] : []));
  const giveUp = (error: unknown) => {
    for (const { client } of links) client.close();
    return error;
  };
  const stale = errors.find((error) => error instanceof StorageFault && error.code === 'engine.stale_epoch');
  if (stale !== undefined) throw giveUp(stale);
  if (links.length === 0 || links.length * 2 < spec.record.members.length) {
    throw giveUp(
      new StorageFault('engine.no_replica', {
        publicMessage: `only ${links.length} of ${spec.record.members.length} copies can be reached`,
        cause: errors[0],
      }),
    );
  }
  return links;
}
