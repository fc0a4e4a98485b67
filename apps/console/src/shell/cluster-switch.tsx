'use client';
import { useRouter } from 'next/navigation';
import { useClusterChoice } from '../api/use-cluster';
import { paths } from '../paths';
import { AddClusterButton } from '../shared/add-cluster';

/** The name of the cluster that is shown, the way to another one where there are several, and the way to a new one. */
export function ClusterSwitch() {
  const { cluster, clusters, choose } = useClusterChoice();
  const router = useRouter();

  /** Open dialogs belong to the previous cluster. */
  function change(clusterId: string) {
    choose(clusterId);
    router.push(paths.overview);
  }

  return (
    <div className="flex items-center gap-1">
      {clusters.length === 1 ? (
        <p className="text-xs text-muted">cluster {cluster.name}</p>
      ) : (
        <select
          aria-label="Cluster"
          value={cluster.id}
          onChange={(event) => change(event.target.value)}
          className="h-6 max-w-36 rounded border border-border bg-raised text-xs text-muted"
        >
          {clusters.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </select>
      )}
      <AddClusterButton isSmall />
    </div>
  );
}
