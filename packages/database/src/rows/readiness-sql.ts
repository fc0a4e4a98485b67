/** Readiness of nodes and disks in SQL, and liveness of the agent of a node `n`. */

/** Content of the conditions of a node or disk that is ready. */
export const READY = `'[{"type": "Ready", "status": "True"}]'`;

/** As core's `isNodeReady` has it. */
export const NODE_READY = `n.conditions @> ${READY}`;

/** As core's `isUnanswering` has it. */
export const NODE_UNANSWERING = 'coalesce(n.unanswered_at >= n.last_heartbeat_at, false)';

/** The node is not ready or unreachable: its stored copies and engines are from before. */
export const NODE_SILENT = `(NOT ${NODE_READY} OR ${NODE_UNANSWERING})`;
