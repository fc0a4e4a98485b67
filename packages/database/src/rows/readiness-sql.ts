/** Readiness of nodes and disks in SQL, and what is known of the agent of a node `n`. */

/** What the conditions of a node or disk that is ready contain. */
export const READY = `'[{"type": "Ready", "status": "True"}]'`;

/** As core's `isNodeReady` has it. */
export const NODE_READY = `n.conditions @> ${READY}`;

/** As core's `isUnanswering` has it. */
export const NODE_UNANSWERING = 'coalesce(n.unanswered_at >= n.last_heartbeat_at, false)';

/** The node is not ready, or its agent unanswering: what is stored of its copies and engines is from before. */
export const NODE_SILENT = `(NOT ${NODE_READY} OR ${NODE_UNANSWERING})`;
