/**
 * Audit entries for mutations that are refused as a whole: for a token that is used from another address, or over a quota of requests.
 * Refusals of a field are recorded by the field (`audited-mutations.ts`).
 */
import type { FastifyRequest } from 'fastify';
import { type DocumentNode, Kind, OperationTypeNode, parse } from 'graphql';
import type { RefusedWrites } from '../access/refused-writes.js';
import type { Tenant } from '../access/tenant.js';
import { codeOf } from '../http/send-problem.js';

/** Records the refusal of a request whose body was not parsed yet. A body without a query requests no change. */
export function noteRefusedRequest(refused: RefusedWrites, { tenant, body }: FastifyRequest, error: unknown) {
  const document = tenant === undefined ? undefined : documentOf(body);
  if (tenant !== undefined && document !== undefined) noteRefusedMutation(refused, tenant, document, error);
}

export function noteRefusedMutation(
  refused: RefusedWrites,
  tenant: Tenant,
  { definitions }: DocumentNode,
  error: unknown,
): void {
  const isMutation = definitions.some(
    (each) => each.kind === Kind.OPERATION_DEFINITION && each.operation === OperationTypeNode.MUTATION,
  );
  if (isMutation) refused.note({ ...tenant.auditEntry(), reason: codeOf(error) });
}

function documentOf(body: unknown): DocumentNode | undefined {
  if (typeof body !== 'object' || body === null || !('query' in body)) return undefined;
  if (typeof body.query !== 'string') return undefined;
  try {
    return parse(body.query);
  } catch {
    return undefined;
  }
}
