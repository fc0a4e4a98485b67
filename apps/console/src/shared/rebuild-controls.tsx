'use client';
import { formatBytes, MIB } from '@holdfast/core/model/bytes.js';
import { Button } from '@holdfast/ui/button.js';
import { type ChangeEvent, useId } from 'react';
import { api } from '../api/client';
import { keys } from '../api/queries';
import type { Rebuild } from '../api/types';
import { useForbidden } from '../api/use-access';
import { useCluster } from '../api/use-cluster';
import { useAction } from './use-action';

/** Steps that users think in; any other limit can be set by the CLI and is shown here too. */
const LIMITS_BYTES = [10, 50, 100, 250].map((mebibytes) => mebibytes * MIB);
const NO_LIMIT = '';

/** A request, and the rebuild's state after it. */
type Act = { readonly became: string; readonly run: () => Promise<unknown> };

/** Pauses, resumes, slows or ends a rebuild. User writes reach the copy all the while. */
export function RebuildControls({ rebuild, name }: { rebuild: Rebuild; name: string }) {
  const cluster = useCluster();
  const limitId = useId();
  const forbidden = useForbidden()('rebuild:write');
  const act = useAction({
    run: ({ run }: Act) => run(),
    done: (_, { became }) => `The rebuild of ${name} ${became}.`,
    refusal: 'noted',
    stale: [keys.rebuilds(cluster.id)],
  });
  const limit = rebuild.bandwidthBytesPerSecond;
  const choices = limit === null || LIMITS_BYTES.includes(limit) ? LIMITS_BYTES : [limit, ...LIMITS_BYTES];

  function changeLimit({ target }: ChangeEvent<HTMLSelectElement>) {
    const next = target.value === NO_LIMIT ? null : Number(target.value);
    act.mutate({
      became: next === null ? 'has no limit of its own now' : `may send ${formatBytes(next)}/s`,
      run: () => api.limitRebuild(cluster.id, rebuild.id, next),
    });
  }

  return (
    <div className="flex flex-wrap items-center gap-2">
      {rebuild.paused ? (
        <Button
          aria-label={`Resume the rebuild of ${name}`}
          disabledReason={forbidden}
          onClick={() =>
            act.mutate({ became: 'goes on', run: () => api.resumeRebuild(cluster.id, rebuild.id) })
          }
        >
          Resume
        </Button>
      ) : (
        <Button
          aria-label={`Pause the rebuild of ${name}`}
          disabledReason={forbidden}
          onClick={() =>
            act.mutate({ became: 'is paused', run: () => api.pauseRebuild(cluster.id, rebuild.id) })
          }
        >
          Pause
        </Button>
      )}
      <Button
        variant="ghost"
        aria-label={`Cancel the rebuild of ${name}`}
        disabledReason={forbidden}
        onClick={() =>
          act.mutate({ became: 'is cancelled', run: () => api.cancelRebuild(cluster.id, rebuild.id) })
        }
      >
        Cancel
      </Button>
      <label htmlFor={limitId} className="ml-auto text-xs text-muted">
        At most
      </label>
      <select
        id={limitId}
        value={limit ?? NO_LIMIT}
        onChange={changeLimit}
        disabled={forbidden !== undefined}
        title={forbidden}
        className="h-8 rounded-md border border-border-strong bg-surface px-2 text-sm text-text disabled:cursor-not-allowed disabled:opacity-55"
      >
        <option value={NO_LIMIT}>as fast as it can</option>
        {choices.map((bytes) => (
          <option key={bytes} value={bytes}>
            {formatBytes(bytes)}/s
          </option>
        ))}
      </select>
    </div>
  );
}
