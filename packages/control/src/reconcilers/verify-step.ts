import {
  type CopyAnswer,
  concludeVerification,
  verifiableCopies,
  verificationProgress,
} from '@holdfast/core/lifecycle/conclude-verification.js';
import { verificationFollowed } from '@holdfast/core/lifecycle/follow-verification.js';
import type { StepOf } from '@holdfast/core/lifecycle/step.js';
import { MIB } from '@holdfast/core/model/bytes.js';
import { isFault } from '@holdfast/core/model/faults.js';
import type { Replica } from '@holdfast/core/model/replica.js';
import type { VolumeView } from '../ports/store.js';
import { agentOf, commitVolume, type ReconcilerPorts, type StepOutcome } from './reconciler-ports.js';
import { nodeOf } from './step-lookup.js';

/** Interval at which running verifications are queried. */
const LOOK_AGAIN_MS = 2_000;
/** The same for one begun by the schedule: many volumes may be waiting, and no user is. */
const SCHEDULED_LOOK_MS = 30_000;

/**
 * Has every copy read from end to end, and compares. The agents do that in the background: this step starts it or queries its
 * progress, and ends, so that verifications delay no other volume. A worker that dies changes nothing. The conclusion is committed
 * under the version of the volume that was read, so that an attach in between wins.
 */
export async function verifyCopies(
  ports: ReconcilerPorts,
  view: VolumeView,
  { replicaIds }: StepOf<'verify'>,
): Promise<StepOutcome> {
  const { volume } = view;
  const now = ports.clock.now();
  const isScheduled = volume.verification?.scheduled === true;
  const requestedAt = volume.verification?.requestedAt ?? now;
  const answers = await Promise.all(
    verifiableCopies(view.replicas).map(async (replica) => {
      const isAsked = replicaIds.includes(replica.id);
      return {
        replica,
        answer: isAsked ? await checksumOf(ports, view, replica, requestedAt) : ('silent' as const),
      };
    }),
  );
  const verification = concludeVerification(answers, requestedAt, now, isScheduled);
  if (verification === undefined) {
    const progress =
      volume.verification === undefined ? undefined : verificationProgress(answers, volume.verification);
    if (progress !== undefined) {
      await commitVolume(ports, view, [
        { kind: 'volume.patch', volumeId: volume.id, patch: { verification: progress } },
      ]);
    }
    await ports.queue.wake(
      { kind: 'volume', volumeId: volume.id },
      {
        delayMs: isScheduled ? SCHEDULED_LOOK_MS : LOOK_AGAIN_MS,
      },
    );
    return 'pause';
  }
  await commitVolume(
    ports,
    view,
    verificationFollowed(view, { ...volume.verification, ...verification }, answers, now),
  );
  return 'continue';
}

async function checksumOf(
  ports: ReconcilerPorts,
  view: VolumeView,
  replica: Replica,
  requestedAt: Date,
): Promise<CopyAnswer> {
  try {
    const agent = await agentOf(ports, nodeOf(view, replica).id);
    const { volume, fleet } = view;
    const mibPerSecond = fleet.settings['volume-verification-bandwidth-limit'];
    const isLimited = volume.verification?.scheduled === true && mibPerSecond > 0;
    const limit = isLimited ? mibPerSecond * MIB : undefined;
    const id = requestedAt.toISOString();
    return (await ports.agents.checksumReplica(agent, replica.id, id, limit)) ?? 'running';
  } catch (error) {
    if (!isFault(error)) throw error;
    // The reading continues there. An agent that stays silent soon counts as dead, and its copy is left out.
    return error.code === 'agent.unreachable' ? 'running' : { error: error.message };
  }
}
