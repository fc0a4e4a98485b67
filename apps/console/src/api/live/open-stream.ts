export type LiveState = 'connecting' | 'live' | 'reconnecting';

/** The browser gives a stream up for good when it is refused, as while the API is being started again. */
const REOPEN_PAUSE_MS = 1_500;

export type StreamHandlers = {
  onState: (state: LiveState) => void;
  /** Ids of changed objects, in JSON. */
  onIds: (data: string) => void;
  onGap: () => void;
};

/** An event stream that is opened again also after it was refused. */
export function openStream(url: string, { onState, onIds, onGap }: StreamHandlers) {
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
    source.addEventListener('ids', (message: MessageEvent<string>) => onIds(message.data));
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
