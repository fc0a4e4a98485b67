'use client';
import { type QueryClient, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';

export type LiveState = 'connecting' | 'live' | 'reconnecting';

/** Many events may come at once (a node dies): what they touch is asked for again once per this long. */
const REFRESH_PAUSE_MS = 250;
/** The browser gives a stream up for good when it is refused, as while the API is being started again. */
const REOPEN_PAUSE_MS = 1_500;

const EVERYTHING = [
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
] as const;

/** Which lists a subject shows up in. */
const TOUCHES: Record<string, readonly string[]> = {
  cluster: ['nodes', 'disks', 'settings'],
  node: ['risk', 'nodes', 'disks'],
  disk: ['risk', 'disks', 'nodes'],
  volume: ['risk', 'counts', 'volumes', 'disks', 'settings'],
  replica: ['counts', 'volumes', 'disks'],
  rebuild: ['risk', 'rebuilds', 'volumes'],
  snapshot: ['volumes'],
  orphan: ['orphans', 'disks'],
};

/**
 * Keeps every panel current by the cluster's event stream. `event` is something that happened, `change` a state that
 * moved without one, `gap` more than the server remembers. After a cut everything is asked for again.
 */
export function useLive(clusterId: string): LiveState {
  const queryClient = useQueryClient();
  const [state, setState] = useState<LiveState>('connecting');

  useEffect(() => {
    const refresh = makeRefresher(queryClient);
    const stream = openStream(`/api/v1/clusters/${clusterId}/events/stream`, {
      onState: setState,
      onEvent: (data) => refresh.soon(['events', ...touchedBy(data)]),
      onChange: (data) => refresh.soon(touchedBy(data)),
      onGap: () => refresh.soon(EVERYTHING),
    });
    return () => {
      stream.close();
      refresh.stop();
    };
  }, [clusterId, queryClient]);

  return state;
}

/**
 * Collects what is to be asked for again, and asks for all of it at once after a short pause. What is being asked for already is
 * left to end first, and asked for once more then: with a stream of events a list would never arrive otherwise.
 */
function makeRefresher(queryClient: QueryClient) {
  const dirty = new Set<string>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const run = () => {
    timer = undefined;
    for (const key of dirty) {
      if (queryClient.isFetching({ queryKey: [key] }) > 0) continue;
      dirty.delete(key);
      void queryClient.invalidateQueries({ queryKey: [key] });
    }
    if (dirty.size > 0) timer = setTimeout(run, REFRESH_PAUSE_MS);
  };
  return {
    soon(keys: Iterable<string>) {
      for (const key of keys) dirty.add(key);
      timer ??= setTimeout(run, REFRESH_PAUSE_MS);
    },
    stop() {
      clearTimeout(timer);
    },
  };
}

type StreamHandlers = {
  onState: (state: LiveState) => void;
  onEvent: (data: string) => void;
  onChange: (data: string) => void;
  onGap: () => void;
};

/** An event stream that is opened again also after it was refused. */
function openStream(url: string, { onState, onEvent, onChange, onGap }: StreamHandlers) {
  let source: EventSource;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let wasCut = false;

  const open = () => {
    source = new EventSource(url);
    source.onopen = () => {
      if (wasCut) onGap();
      wasCut = false;
      onState('live');
    };
    source.onerror = () => {
      wasCut = true;
      onState('reconnecting');
      // The browser reopens streams that were cut, and not those that were refused.
      if (source.readyState === EventSource.CLOSED) timer = setTimeout(open, REOPEN_PAUSE_MS);
    };
    source.addEventListener('event', (message: MessageEvent<string>) => onEvent(message.data));
    source.addEventListener('change', (message: MessageEvent<string>) => onChange(message.data));
    source.addEventListener('gap', onGap);
  };

  open();
  return {
    close() {
      clearTimeout(timer);
      source.close();
    },
  };
}

function touchedBy(data: string): readonly string[] {
  const message: unknown = JSON.parse(data);
  const subject =
    typeof message === 'object' && message !== null && 'subject' in message ? message.subject : null;
  const kind =
    typeof subject === 'object' && subject !== null && 'kind' in subject ? String(subject.kind) : '';
  return TOUCHES[kind] ?? [];
}
