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
    clusterId: uuid.describe('Id of its cluster.'),
    kind: z.enum(KINDS).describe('Kind of the operation.'),
    target: z
      .object({
        kind: z.enum(OPERATION_TARGETS).describe('Kind of the object.'),
        id: uuid.describe('Id of the object.'),
      })
      .describe('The object of the operation.'),
    volumeId: uuid.nullable().describe('Id of the affected volume; null: no single one.'),
    nodeId: uuid.nullable().describe('Id of the affected node; null: none.'),
    state: z.enum(OPERATION_STATES).describe('`queued` and `running` are under way; the others are final.'),
    steps: z
      .array(
        z.object({
          name: z.string().describe('Name of the step.'),
          state: z.enum(['done', 'current', 'pending']).describe('State of the step; `current`: under way.'),
        }),
      )
      .describe('Its steps, in order.'),
    progress: z
      .object({
        done: z.number().nullable().describe('Completed amount; null: unknown.'),
        total: z.number().nullable().describe('Total amount; null: unknown.'),
        unit: z.enum(PROGRESS_UNITS).describe('Unit of `done` and `total`.'),
      })
      .nullable()
      .describe('Its progress; null: not measurable.'),
    eta: z
      .object({
        p50: time.describe('Estimated end with a probability of 50 percent.'),
        p90: time.describe('Estimated end with a probability of 90 percent.'),
      })
      .nullable()
      .describe('Estimated end; null: unknown.'),
    message: z.string().describe('What it waits for, or the reason of its failure; empty: neither.'),
    cancellable: z.boolean().describe('True: it can be cancelled, with permission for its target.'),
    requestedAt: time.describe('Time of the request.'),
    startedAt: time.nullable().describe('Time of its start; null: it waits, or not recorded.'),
    finishedAt: time.nullable().describe('Time of its end; null: it is under way.'),
  })
  .meta({ id: 'Operation' });

/** Media type of an answer with the operation in place of the route's usual one. */
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
