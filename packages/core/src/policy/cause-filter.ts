/** Filter of the list of volumes for those that a cause of risk counts. */
import type { RiskCauseKind } from './cluster-risk.js';

/** `subjectId`: none where the cause is no single object. */
type Cause = { readonly kind: RiskCauseKind; readonly subjectId?: string | null | undefined };

/** The API takes no filter with more comparisons. */
const COMPARISONS_MAX = 10;
const NOT_HEALTHY = 'robustness!=healthy';

/**
 * A volume counts for one cause: the node that serves it, else the first node, else the first disk that holds a copy of it, else a
 * copy without a place. With more causes than a filter has room for, volumes that count for another one are let through too.
 */
export function causeFilter({ kind, subjectId }: Cause, causes: readonly Cause[]): string {
  const id = subjectId ?? '';
  const nodes = idsOf(causes, 'node');
  const disks = idsOf(causes, 'disk');
  const before = (ids: readonly string[]) => ids.filter((one) => one < id);
  const elsewhere = [...not('attachedNodeId', nodes), ...not('replicas.nodeId', nodes)];
  switch (kind) {
    case 'node': {
      const others = nodes.filter((one) => one !== id);
      const held = [...not('attachedNodeId', others), ...not('replicas.nodeId', before(nodes))];
      const base = [NOT_HEALTHY, `replicas.nodeId=${id}`];
      const filter = (parts: readonly string[]) => `attachedNodeId=${id} OR (${parts.join(' AND ')})`;
      return bounded(filter([...base, ...held]), filter(base));
    }
    case 'disk':
      return all(
        [NOT_HEALTHY, `replicas.diskId=${id}`],
        [...elsewhere, ...not('replicas.diskId', before(disks))],
      );
    case 'placement':
      return all([NOT_HEALTHY, 'unplaced=true'], [...elsewhere, ...not('replicas.diskId', disks)]);
    default:
      return all([NOT_HEALTHY, 'unplaced=false'], [...elsewhere, ...not('replicas.diskId', disks)]);
  }
}

function all(base: readonly string[], more: readonly string[]): string {
  return bounded([...base, ...more].join(' AND '), base.join(' AND '));
}

function bounded(filter: string, shorter: string): string {
  return filter.split('=').length - 1 <= COMPARISONS_MAX ? filter : shorter;
}

function idsOf(causes: readonly Cause[], kind: RiskCauseKind): string[] {
  const ids = causes.filter((cause) => cause.kind === kind).map(({ subjectId }) => subjectId ?? '');
  return ids.sort();
}

function not(field: string, ids: readonly string[]): string[] {
  return ids.map((id) => `${field}!=${id}`);
}
