import type { FastifyReply } from 'fastify';

/** Address of the operation: the `Location` of the answer that started it. */
export function operationAddress(key: object, operationId: string): string {
  const { clusterId }: { clusterId?: unknown } = key;
  const cluster = clusterId === undefined ? '' : `/clusters/${String(clusterId)}`;
  return `/api/v1${cluster}/operations/${operationId}`;
}

/** The answer with the address of the started operation, if any. */
export function begun<View>(
  reply: FastifyReply,
  view: View,
  { key, operation }: { key: object; operation: string | undefined },
): View {
  if (operation !== undefined) void reply.header('location', operationAddress(key, operation));
  return view;
}
