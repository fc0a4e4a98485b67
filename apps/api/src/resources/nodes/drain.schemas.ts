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
    volumeId: uuid.describe('The volume that is waited for.'),
    volumeName: z.string().describe('What the volume is called.'),
    replicaId: uuid
      .nullable()
      .describe('Its replica on the node; null: the volume as a whole or its engine.'),
    reason: z.enum(DRAIN_WAIT_REASONS).describe('Stable code of the cause, for programs.'),
    message: z.string().describe('The cause for people.'),
    cures: z.array(z.string()).describe('What would end it; empty where it ends without a user.'),
  })
  .meta({ id: 'DrainWait' });

export const nodeDrainSchema = z
  .object({
    policy: policy.describe('When the node may be switched off.'),
    requestedAt: time.describe('When the drain was asked for.'),
    state: z
      .enum(['draining', 'blocked', 'drained'])
      .describe(
        '`draining`: replicas or engines are on their way; `blocked`: what is left waits for a user or another node; ' +
          '`drained`: the node may be switched off.',
      ),
    since: time.describe('Since when it is in this state.'),
    progress: z
      .object({
        replicasToMove: count.describe(
          'Replicas that the policy wants moved, those that have been included.',
        ),
        replicasMoved: count.describe('Of these, how many have been moved.'),
        bytesToMove: bytes.describe('Bytes that those hold.'),
        bytesMoved: bytes.describe('Of these, how many have been moved.'),
      })
      .describe('How much of it is done.'),
    waitingCount: count.describe('How many things it waits for.'),
    waitingFor: z
      .array(drainWaitSchema)
      .describe('The first 20 of them: what is blocked before what is on its way.'),
  })
  .meta({ id: 'NodeDrain' });

export class DrainBody extends dto(
  z.strictObject({
    policy: policy
      .optional()
      .describe(
        "When the node may be switched off; left out: as the cluster's setting `node-drain-policy` says.",
      ),
  }),
) {}

const drainPlanVolumeSchema = z
  .object({
    volumeId: uuid.describe('Id of the volume.'),
    volumeName: z.string().describe('What the volume is called.'),
    outcome: z
      .enum(DRAIN_OUTCOMES)
      .describe(
        'What becomes of its replicas on the node: `stays`; `moves`; `copied`: one more is made elsewhere and it stays; ' +
          '`blocked`: it can not be moved, or must not be switched off; `none`: it has none there, only its engine.',
      ),
    engine: z
      .enum(['elsewhere', 'running', 'detached'])
      .describe(
        'Its engine: not on the node; `running` there, which blocks the drain; `detached` by the setting.',
      ),
    targetNodeIds: z
      .array(uuid)
      .describe('Where its replicas are expected to go. Other volumes may take the room first.'),
    bytesToMove: bytes.describe('Bytes that are copied for it.'),
    copiesNow: count.describe('Healthy copies on ready nodes.'),
    copiesAtLowest: count.describe('The fewest of them from now until the node is back.'),
    waitsUntil: time
      .nullable()
      .describe('Until when copies that may come back hold its move up; null: none does.'),
    blockers: z.array(drainWaitSchema).describe('What keeps the drain from ending, and how that is cured.'),
  })
  .meta({ id: 'DrainPlanVolume' });

export const drainPlanSchema = z
  .object({
    policy: policy.describe('The policy that the plan is for.'),
    isPossible: z.boolean().describe('Would it end without a user doing anything?'),
    replicasToMove: count.describe('Replicas that are replaced elsewhere.'),
    replicasToStay: count.describe('Replicas that stay on the node.'),
    bytesToMove: bytes.describe('Bytes that are copied.'),
    time: timeRangeSchema.nullable().describe('How long the copying takes; null: nothing is copied.'),
    copiesAtLowest: count
      .nullable()
      .describe('The fewest healthy copies that any of the volumes comes to; null: there is no volume.'),
    volumeCount: count.describe('Volumes with a replica or their engine on the node.'),
    volumes: z
      .array(drainPlanVolumeSchema)
      .describe('The first 1000 of them, those that block the drain before the others.'),
  })
  .meta({ id: 'DrainPlan' });

export class DrainPlanDto extends dto(drainPlanSchema) {}
