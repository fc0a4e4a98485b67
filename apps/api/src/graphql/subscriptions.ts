/** Subscriptions: the events of the log, as the streams of REST have them, with the same filters and limits. */
import { GraphQLBoolean, GraphQLID, GraphQLNonNull, GraphQLObjectType, GraphQLString } from 'graphql';
import { z } from 'zod';
import { assertAllowed } from '../access/authenticator.js';
import { invalidRequest } from '../http/validation.pipe.js';
import { clusterIdInPath } from '../resources/clusters/cluster.schemas.js';
import { type EventView, eventSchema, StreamQuery } from '../resources/events/event.schemas.js';
import type { ChangedResource, StreamSink } from '../resources/events/event-stream.js';
import type { EventStreams } from '../resources/events/event-streams.js';
import { type Fields, type GraphqlContext, nothingThere } from './fields.js';
import { loadersOf } from './loaders.js';
import { MessageQueue } from './message-queue.js';
import type { GraphqlTypes } from './zod-to-graphql.js';

/** One message of a stream: an event, a hint that an object changed, or a gap. */
export type StreamMessage = {
  readonly event: EventView | null;
  readonly change: { clusterId: string; kind: string; id: string } | null;
  readonly hasGap: boolean;
};

/** A reader that is further behind is disconnected; it resumes where it was. */
const WAITING_MAX = 5_000;

const given = z.object({ clusterId: clusterIdInPath.nullish(), after: z.string().max(64).nullish() });

export function subscriptionFields(types: GraphqlTypes, streams: EventStreams): Fields {
  return {
    events: {
      type: new GraphQLNonNull(messageType(types)),
      description: 'Events and changes as they happen, of one cluster or of all.',
      args: {
        clusterId: { type: GraphQLID, description: 'Left out: of all clusters.' },
        filter: {
          type: GraphQLString,
          description: 'Only these events, and no changes; in the grammar of lists.',
        },
        after: {
          type: GraphQLString,
          description: 'Id of the last event that was read; left out: from now on.',
        },
      },
      subscribe: (_source, args, context) => messagesOf(streams, args, context),
      resolve: (message, _args, context) => {
        // Fresh loaders: a stream lives for hours, and a loader caches its reads.
        Object.assign(context, { loaders: loadersOf(context.tenant), startedAt: context.tenant.now });
        return message;
      },
    },
  };
}

function messageType(types: GraphqlTypes): GraphQLObjectType {
  const changed = new GraphQLObjectType({
    name: 'ChangedObject',
    fields: {
      clusterId: { type: new GraphQLNonNull(GraphQLID) },
      kind: { type: new GraphQLNonNull(GraphQLString) },
      id: { type: new GraphQLNonNull(GraphQLString) },
    },
  });
  return new GraphQLObjectType({
    name: 'StreamMessage',
    fields: {
      event: { type: types.object(eventSchema), description: 'What happened; null in other messages.' },
      change: { type: changed, description: 'An object to read again; null in other messages.' },
      hasGap: {
        type: new GraphQLNonNull(GraphQLBoolean),
        description:
          'True: what happened after the event of `after` is no longer known; read everything again.',
      },
    },
  });
}

async function messagesOf(
  streams: EventStreams,
  args: Readonly<Record<string, unknown>>,
  { tenant: caller, lastEventId }: GraphqlContext,
): Promise<AsyncIterableIterator<StreamMessage>> {
  const tenant = assertAllowed(caller, 'event:read');
  const place = given.safeParse(args);
  if (!place.success) throw nothingThere();
  const query = StreamQuery.schema.safeParse({ filter: args.filter ?? undefined });
  if (!query.success) throw invalidRequest(query.error.issues, (path) => path.join('.'));
  const { clusterId, after } = place.data;
  const source = { clusterId: clusterId ?? undefined, filter: query.data.filter };
  const queue = new MessageQueue<StreamMessage>(WAITING_MAX);
  const end = await streams.open(tenant, { source, lastEventId: after ?? lastEventId }, () =>
    sinkInto(queue),
  );
  queue.onEnd(end);
  return queue;
}

const NOTHING: StreamMessage = { event: null, change: null, hasGap: false };

function sinkInto(queue: MessageQueue<StreamMessage>): StreamSink {
  return {
    event: (event) => queue.put({ ...NOTHING, event }),
    change: ({ clusterId, subject }: ChangedResource) =>
      queue.put({ ...NOTHING, change: { clusterId, ...subject } }),
    gap: () => queue.put({ ...NOTHING, hasGap: true }),
    // The connection has its own.
    keepAlive: () => undefined,
    end: () => queue.end(),
  };
}
