'use client';
import { useRouter } from 'next/navigation';
import { useClusterChoice } from '../api/use-cluster';
import { paths } from '../paths';

/** The name of the cluster that is shown, and the way to another one where there are several. */
export function ClusterSwitch() {
  const { cluster, clusters, choose } = useClusterChoice();
  const router = useRouter();
  if (clusters.length === 1) return <p className="text-xs text-muted">cluster {cluster.name}</p>;

  /** What is open belongs to the cluster before. */
  function change(clusterId: string) {
    choose(clusterId);
    router.push(paths.overview);
  }

  return (
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
  );
}
