/**
 * Joins an engine's observation `o` to its volume `v`: of the epoch that the volume is attached at, and of the grant. A
 * database that lost its last commits grants an epoch twice; agents of older versions name no grant.
 */
export const OF_GRANT = `o.epoch = v.epoch AND coalesce(o.report->>'grantId' = v.grant_id::text, true)`;
