/** Headers with the number of remaining requests (draft-ietf-httpapi-ratelimit-headers). */
import type { FastifyReply } from 'fastify';
import type { PermitLeases } from './permit-leases.js';

export type NamedQuota = { readonly name: 'organization' | 'project'; readonly leases: PermitLeases };

/** The remaining number is an upper bound: other api processes may have answered requests since this one's last lease. */
export function tellQuotas(reply: FastifyReply, quotas: readonly NamedQuota[]): void {
  if (quotas.length === 0) return;
  const policies = quotas.map(
    ({ name, leases: { quota } }) => `"${name}";q=${quota.limit};w=${Math.round(quota.windowMs / 1000)}`,
  );
  const standings = quotas.flatMap(({ name, leases }) => {
    const standing = leases.standing();
    if (standing === undefined) return [];
    return [`"${name}";r=${standing.left};t=${Math.ceil(standing.endsInMs / 1000)}`];
  });
  void reply.header('ratelimit-policy', policies.join(', '));
  if (standings.length > 0) void reply.header('ratelimit', standings.join(', '));
}
