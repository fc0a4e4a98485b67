'use client';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { makeVolumePatcher } from './apply-changes';
import { type LiveState, openStream } from './open-stream';
import { makeRebuildPatcher } from './patch-rebuilds';
import { readIds } from './read-ids';
import { type ListKey, makeRefresher } from './refresher';

export type { LiveState };

const EVERYTHING: readonly ListKey[] = [
  'risk',
  'counts',
  'volumes',
  'nodes',
  'disks',
  'rebuilds',
  'orphans',
  'events',
  'alerts',
  'settings',
];

/** Lists in which a change appears, beside the rows of its volume. */
const TOUCHES: Readonly<Record<string, readonly ListKey[]>> = {
  event: ['events'],
  cluster: ['nodes', 'disks', 'settings'],
  node: ['risk', 'nodes', 'disks'],
  disk: ['risk', 'disks', 'nodes'],
  volume: ['risk', 'counts'],
  replica: ['risk', 'counts'],
  setting: ['settings'],
  orphan: ['orphans', 'disks'],
  alert: ['alerts'],
};

/**
 * Keeps every panel current by the ids of changed objects. `gap` is more than the server remembers. After a cut everything is read
 * again.
 */
export function useLive(clusterId: string): LiveState {
  const queryClient = useQueryClient();
  const [state, setState] = useState<LiveState>('connecting');

  useEffect(() => {
    const refresher = makeRefresher(queryClient);
    const volumes = makeVolumePatcher(queryClient, clusterId, refresher);
    const rebuilds = makeRebuildPatcher(queryClient, clusterId, refresher);
    const stream = openStream(`/api/v1/clusters/${clusterId}/events/stream?as=ids`, {
      onState: setState,
      onIds: (data) => {
        for (const { kind, ids } of readIds(data)) {
          refresher.soon(TOUCHES[kind] ?? []);
          if (kind === 'volume') touch(ids, volumes.touch, 'volumes');
          // Named by the volume whose copies are rebuilt.
          if (kind === 'rebuild') touch(ids, rebuilds.touch, 'rebuilds');
        }
      },
      onGap: () => refresher.soon(EVERYTHING),
    });
    /** More than can be named: their whole list is read. */
    function touch(ids: readonly string[] | null, one: (id: string) => void, list: ListKey): void {
      if (ids === null) refresher.soon([list]);
      else ids.forEach(one);
    }
    return () => {
      stream.close();
      refresher.stop();
      volumes.stop();
      rebuilds.stop();
    };
  }, [clusterId, queryClient]);

  return state;
}
