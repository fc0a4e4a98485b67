import {
  cancelledBy,
  OPERATION_KINDS,
  OPERATION_STATES,
  OPERATION_TARGETS,
  type Operation,
  operationSteps,
  PROGRESS_UNITS,
  targetOfOperation,
} from '@holdfast/core/policy/operation.js';
import { z } from 'zod';
import { dto } from '../../http/dto.js';
import { isoOrNull, pageOf, time, uuid } from '../../http/schemas.js';
import { clusterIdInPath } from '../clusters/cluster.schemas.js';

const KINDS = Object.keys(OPERATION_KINDS);

export const operationSchema = z
  .object({
    id: z.string().describe('Id of the operation; it stays the same after its end.'),
    clusterId: uuid.describe('Id of the cluster that it works in.'),
    kind: z.enum(KINDS).describe('What is done.'),
    target: z
      .object({
        kind: z.enum(OPERATION_TARGETS).describe('Kind of the object.'),
        id: uuid.describe('Id of the object.'),
      })
      .describe('The object that it is done to.'),
    volumeId: uuid.nullable().describe('Id of the volume that it concerns; null: no single one.'),
    nodeId: uuid.nullable().describe('Id of the node that it concerns or works on; null: none.'),
    state: z
      .enum(OPERATION_STATES)
      .describe('`queued` and `running` are under way; the others are for good.'),
    steps: z
      .array(
        z.object({
          name: z.string().describe('Name of the step.'),
          state: z.enum(['done', 'current', 'pending']).describe('How far it is.'),
        }),
      )
      .describe('What it goes through, in order.'),
    progress: z
      .object({
        done: z.number().nullable().describe('How much is done; null: not known.'),
        total: z.number().nullable().describe('How much there is to do; null: not known.'),
        unit: z.enum(PROGRESS_UNITS).describe('What is counted.'),
      })
      .nullable()
      .describe('How far it is; null: there is nothing to count.'),
    eta: z
      .object({
        p50: time.describe('Half of such operations have ended by then.'),
        p90: time.describe('Nine of ten have.'),
      })
      .nullable()
      .describe('When it ends; null: that can not be told.'),
    message: z.string().describe('What it waits for, or why it has failed; empty: nothing to say.'),
    cancellable: z.boolean().describe('It can be cancelled, by whoever may do that to its target.'),
    requestedAt: time.describe('When it was asked for.'),
    startedAt: time.nullable().describe('When it began; null: it waits, or that is not recorded.'),
    finishedAt: time.nullable().describe('When it ended; null: it is under way.'),
  })
  .meta({ id: 'Operation' });

/** Of an answer that is the operation, where the route has another one as a rule. */
export const OPERATION_TYPE = 'application/vnd.holdfast.operation+json';

export class OperationDto extends dto(operationSchema) {}
export class OperationPage extends dto(pageOf(operationSchema, 'OperationList')) {}

const operationId = z
  .string()
  .max(120)
  .refine((text) => targetOfOperation(text) !== undefined, 'must be the id of an operation')
  .describe('Id of the operation.');

export class OperationPath extends dto(z.object({ clusterId: clusterIdInPath, operationId })) {}
export class AnyOperationPath extends dto(z.object({ operationId })) {}

export type OperationView = z.infer<typeof operationSchema>;
export type OperationEnd = { readonly p50: string; readonly p90: string };

export function operationView(operation: Operation, eta?: OperationEnd | null): OperationView {
  const { progress, requestedAt, startedAt, finishedAt } = operation;
  return {
    id: operation.id,
    clusterId: operation.clusterId,
    kind: operation.kind,
    target: { ...operation.target },
    volumeId: operation.volumeId ?? null,
    nodeId: operation.nodeId ?? null,
    state: operation.state,
    steps: operationSteps(operation),
    progress:
      progress === undefined
        ? null
        : { done: progress.done ?? null, total: progress.total ?? null, unit: progress.unit },
    eta: eta ?? null,
    message: operation.message,
    cancellable: cancelledBy(operation) !== undefined,
    requestedAt: requestedAt.toISOString(),
    startedAt: isoOrNull(startedAt),
    finishedAt: isoOrNull(finishedAt),
  };
}
