import { DRAIN_OUTCOMES } from '@holdfast/core/drain/plan-drain.js';
import { DRAIN_POLICIES, DRAIN_WAIT_REASONS } from '@holdfast/core/model/node-drain.js';
import { z } from 'zod';
import { dto } from '../../http/dto.js';
import { bytes, time, uuid } from '../../http/schemas.js';
import { timeRangeSchema } from '../rebuilds/time-range.schema.js';

const policy = z.enum(DRAIN_POLICIES);
const count = z.int().min(0);

const drainWaitSchema = z
  .object({
    volumeId: uuid.describe('Id of the volume that the drain waits for.'),
    volumeName: z.string().describe('Name of the volume, unique in its project.'),
    replicaId: uuid
      .nullable()
      .describe('Its replica on the node; null: the volume as a whole or its engine.'),
    reason: z.enum(DRAIN_WAIT_REASONS).describe('Stable code of the cause, for programs.'),
    message: z.string().describe('The cause for people.'),
    cures: z.array(z.string()).describe('Possible remedies; empty: no action of a user is needed.'),
  })
  .meta({ id: 'DrainWait' });

export const nodeDrainSchema = z
  .object({
    policy: policy.describe('Policy: the condition for switching the node off.'),
    requestedAt: time.describe('Time of the request for the drain.'),
    state: z
      .enum(['draining', 'blocked', 'drained'])
      .describe(
        '`draining`: replicas or engines are moving; `blocked`: the rest waits for a user or another node; ' +
          '`drained`: the node may be switched off.',
      ),
    since: time.describe('Begin of this state.'),
    progress: z
      .object({
        replicasToMove: count.describe('Number of replicas to move by the policy, moved ones included.'),
        replicasMoved: count.describe('Of these, already moved.'),
        bytesToMove: bytes.describe('Bytes of data in those replicas.'),
        bytesMoved: bytes.describe('Of these, already moved.'),
      })
      .describe('Progress of the drain.'),
    waitingCount: count.describe('Number of items that it waits for.'),
    waitingFor: z.array(drainWaitSchema).describe('The first 20 of them: blocked items before moving ones.'),
  })
  .meta({ id: 'NodeDrain' });

export class DrainBody extends dto(
  z.strictObject({
    policy: policy
      .optional()
      .describe(
        "Policy: the condition for switching the node off; left out: the cluster's setting `node-drain-policy`.",
      ),
  }),
) {}

const drainPlanVolumeSchema = z
  .object({
    volumeId: uuid.describe('Id of the volume.'),
    volumeName: z.string().describe('Name of the volume, unique in its project.'),
    outcome: z
      .enum(DRAIN_OUTCOMES)
      .describe(
        'Effect on its replicas on the node: `stays`; `moves`; `copied`: it stays and one more is built elsewhere; ' +
          '`blocked`: it can not be moved, or must not be switched off; `none`: it has only its engine there.',
      ),
    engine: z
      .enum(['elsewhere', 'running', 'detached'])
      .describe(
        'Its engine: not on the node; `running` there, which blocks the drain; `detached` because of the setting.',
      ),
    targetNodeIds: z
      .array(uuid)
      .describe('Expected target nodes of its replicas. Other volumes may take the space first.'),
    bytesToMove: bytes.describe('Bytes to copy for it.'),
    copiesNow: count.describe('Number of healthy copies on ready nodes.'),
    copiesAtLowest: count.describe('The lowest such number until the node is back.'),
    waitsUntil: time
      .nullable()
      .describe('Time until which copies that may come back delay its move; null: none does.'),
    blockers: z.array(drainWaitSchema).describe('Obstacles to the end of the drain, with remedies.'),
  })
  .meta({ id: 'DrainPlanVolume' });

export const drainPlanSchema = z
  .object({
    policy: policy.describe('The policy of the plan.'),
    isPossible: z.boolean().describe('True: the drain would end without action of a user.'),
    replicasToMove: count.describe('Number of replicas that are replaced elsewhere.'),
    replicasToStay: count.describe('Number of replicas that stay on the node.'),
    bytesToMove: bytes.describe('Bytes to copy.'),
    time: timeRangeSchema.nullable().describe('Duration of the copying; null: nothing is copied.'),
    copiesAtLowest: count
      .nullable()
      .describe('The lowest number of healthy copies of any volume; null: no volume.'),
    volumeCount: count.describe('Number of volumes with a replica or their engine on the node.'),
    volumes: z.array(drainPlanVolumeSchema).describe('The first 1000 of them, blocking ones first.'),
  })
  .meta({ id: 'DrainPlan' });

export class DrainPlanDto extends dto(drainPlanSchema) {}
