'use client';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { applyEvent, makeVolumePatcher } from './live/apply-changes';
import { type LiveState, openStream } from './live/open-stream';
import { makeRebuildPatcher } from './live/patch-rebuilds';
import { type ListKey, makeRefresher } from './live/refresher';
import type { ClusterEvent } from './types';

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

/** Which lists a subject shows up in, beside the rows of its volume. */
const TOUCHES: Record<string, readonly ListKey[]> = {
  cluster: ['nodes', 'disks', 'settings'],
  node: ['risk', 'nodes', 'disks'],
  disk: ['risk', 'disks', 'nodes'],
  volume: ['risk', 'counts'],
  replica: ['risk', 'counts'],
  setting: ['settings'],
  orphan: ['orphans', 'disks'],
  alert: ['alerts'],
};

type Change = { readonly subject: { readonly kind: string; readonly id: string } };

/**
 * Keeps every panel current by the cluster's event stream. `event` is something that happened, `change` a state that
 * moved without one, `gap` more than the server remembers. After a cut everything is asked for again.
 */
export function useLive(clusterId: string): LiveState {
  const queryClient = useQueryClient();
  const [state, setState] = useState<LiveState>('connecting');

  useEffect(() => {
    const refresher = makeRefresher(queryClient);
    const volumes = makeVolumePatcher(queryClient, clusterId, refresher);
    const rebuilds = makeRebuildPatcher(queryClient, clusterId, refresher);
    const stream = openStream(`/api/v1/clusters/${clusterId}/events/stream`, {
      onState: setState,
      onEvent: (data) => {
        const event = readMessage(data, isEvent);
        if (event === undefined) return;
        applyEvent(queryClient, clusterId, { event, refresher });
        refresher.soon(TOUCHES[event.subject.kind] ?? []);
        if (event.subject.kind === 'rebuild') refresher.soon(['risk']);
        if (event.subject.kind === 'rebuild' && event.volumeId !== null) rebuilds.touch(event.volumeId);
        if (event.volumeId !== null) volumes.touch(event.volumeId);
      },
      onChange: (data) => {
        const change = readMessage(data, hasSubject);
        if (change === undefined) return;
        refresher.soon(TOUCHES[change.subject.kind] ?? []);
        if (change.subject.kind === 'volume') volumes.touch(change.subject.id);
        // Progress is told of the volume whose copies are rebuilt.
        if (change.subject.kind === 'rebuild') rebuilds.touch(change.subject.id);
      },
      onGap: () => refresher.soon(EVERYTHING),
    });
    return () => {
      stream.close();
      refresher.stop();
      volumes.stop();
      rebuilds.stop();
    };
  }, [clusterId, queryClient]);

  return state;
}

function readMessage<Message>(
  data: string,
  isOne: (value: unknown) => value is Message,
): Message | undefined {
  const value: unknown = JSON.parse(data);
  return isOne(value) ? value : undefined;
}

function hasSubject(value: unknown): value is Change {
  if (typeof value !== 'object' || value === null || !('subject' in value)) return false;
  const { subject } = value;
  return typeof subject === 'object' && subject !== null && 'kind' in subject && 'id' in subject;
}

/** The API's own messages: what has the fields that are read has all of them. */
function isEvent(value: unknown): value is ClusterEvent {
  return hasSubject(value) && 'effects' in value && 'causeId' in value && 'volumeId' in value;
}
