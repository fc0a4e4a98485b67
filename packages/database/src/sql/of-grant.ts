/**
 * Joins an engine's observation `o` to its volume `v`: of the epoch that the volume is attached at, and of the grant. A
 * database that lost its last commits grants an epoch twice; agents of older versions name no grant.
 */
export const OF_GRANT = `o.epoch = v.epoch AND coalesce(o.report->>'grantId' = v.grant_id::text, true)`;

/**
 * When an engine's observation `o` was last heard, of its node `n`: each heartbeat of a node deletes observations that it does not
 * report, so a present one was in the last heartbeat.
 */
export const REPORTED_AT = `CASE WHEN o.observed_at IS NOT NULL THEN GREATEST(o.observed_at, n.last_heartbeat_at) END`;
