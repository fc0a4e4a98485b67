import { createClient } from 'graphql-sse';

type Message = {
  event: { id: string; message: string; cluster: { name: string } | null } | null;
  change: { clusterId: string; kind: string; id: string } | null;
  hasGap: boolean;
};

export const SUBSCRIPTION = `subscription ($clusterId: ID, $filter: String, $after: String) {
  events(clusterId: $clusterId, filter: $filter, after: $after) {
    hasGap change { clusterId kind id } event { id message cluster { name } } } }`;

/** A subscription that keeps what it has got, and can be waited on. */
export function subscribeTo(port: number, variables: Record<string, unknown>, token: string) {
  const client = createClient({
    url: `http://127.0.0.1:${port}/graphql/stream`,
    headers: { authorization: `Bearer ${token}` },
    retryAttempts: 0,
  });
  const messages: Message[] = [];
  const waiting: (() => void)[] = [];
  const told = () => {
    for (const resolve of waiting.splice(0)) resolve();
  };
  const end: { isComplete: boolean } = { isComplete: false };
  const close = client.subscribe<{ events: Message }>(
    { query: SUBSCRIPTION, variables },
    {
      next: ({ data }) => {
        if (data) messages.push(data.events);
        told();
      },
      // The connection was cut.
      error: told,
      complete: () => {
        end.isComplete = true;
        told();
      },
    },
  );
  const until = async (isDone: () => boolean) => {
    while (!isDone()) await new Promise<void>((resolve) => waiting.push(resolve));
  };
  const events = () => messages.flatMap(({ event }) => event ?? []);
  return { messages, end, close, until, events };
}

export type Subscription = ReturnType<typeof subscribeTo>;
