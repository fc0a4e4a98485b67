'use client';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';

export type LiveState = 'connecting' | 'live' | 'reconnecting';

/** Many events may come at once (a node dies): what they touch is asked for again once per this long. */
const REFRESH_PAUSE_MS = 250;

/** Which lists an event's subject shows up in. */
const TOUCHES: Record<string, readonly string[]> = {
  cluster: ['clusters'],
  node: ['nodes', 'disks'],
  disk: ['disks', 'nodes'],
  volume: ['volumes', 'disks'],
  replica: ['volumes', 'disks'],
  rebuild: ['rebuilds', 'volumes'],
  snapshot: ['volumes'],
  setting: ['settings'],
};

/**
 * Keeps every panel current by the cluster's event stream. The browser resumes it by itself with `Last-Event-ID`, so
 * nothing that happened in between is missed; after a gap everything is asked for again.
 */
export function useLive(clusterId: string): LiveState {
  const queryClient = useQueryClient();
  const [state, setState] = useState<LiveState>('connecting');

  useEffect(() => {
    const source = new EventSource(`/api/v1/clusters/${clusterId}/events/stream`);
    const dirty = new Set<string>();
    let timer: ReturnType<typeof setTimeout> | undefined;
    let wasCut = false;

    const refresh = () => {
      timer = undefined;
      for (const key of dirty) void queryClient.invalidateQueries({ queryKey: [key] });
      dirty.clear();
    };
    const touch = (names: Iterable<string>) => {
      for (const name of names) dirty.add(name);
      timer ??= setTimeout(refresh, REFRESH_PAUSE_MS);
    };

    source.onopen = () => {
      if (wasCut) touch(['volumes', 'nodes', 'disks', 'rebuilds', 'events']);
      setState('live');
    };
    source.onerror = () => {
      wasCut = true;
      setState('reconnecting');
    };
    const onEvent = (message: MessageEvent<string>) => touch(['events', ...touchedBy(message.data)]);
    source.onmessage = onEvent;
    source.addEventListener('event', onEvent);
    source.addEventListener('gap', () => touch(['volumes', 'nodes', 'disks', 'rebuilds', 'events']));

    return () => {
      clearTimeout(timer);
      source.close();
    };
  }, [clusterId, queryClient]);

  return state;
}

function touchedBy(data: string): readonly string[] {
  const event: unknown = JSON.parse(data);
  const kind =
    typeof event === 'object' && event !== null && 'subject' in event ? subjectKind(event.subject) : '';
  return TOUCHES[kind] ?? [];
}

function subjectKind(subject: unknown): string {
  return typeof subject === 'object' && subject !== null && 'kind' in subject ? String(subject.kind) : '';
}
