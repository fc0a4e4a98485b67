/**
 * Objects by their ids alone, as Relay specifies it: `node(id:)`. Ids are unique over all kinds, so an id in any answer is a global one.
 * The kind's own field reads the object, with its checks.
 */
import { isId } from '@holdfast/core/model/ids.js';
import { type AddressOfId, findKinds, type KindOfId } from '@holdfast/database/queries/kinds-by-id.js';
import { GraphQLID, GraphQLList, GraphQLNonNull } from 'graphql';
import { z } from 'zod';
import { invalidRequest } from '../http/validation.pipe.js';
import { type Field, type Fields, type GraphqlContext, nothingThere } from './fields.js';
import { IDS_MAX } from './limits.js';
import { NODE_INTERFACE } from './zod-to-graphql.js';

type Reader = { readonly type: string; readonly field: string; readonly id: string };

/** The field that reads an object of each kind, and the name of its id argument. */
const READERS: Readonly<Record<KindOfId, Reader>> = {
  organization: { type: 'Organization', field: 'organization', id: 'organizationId' },
  project: { type: 'Project', field: 'project', id: 'projectId' },
  token: { type: 'Token', field: 'token', id: 'tokenId' },
  invitation: { type: 'Invitation', field: 'invitation', id: 'invitationId' },
  webhook: { type: 'Webhook', field: 'webhook', id: 'webhookId' },
  cluster: { type: 'Cluster', field: 'cluster', id: 'clusterId' },
  node: { type: 'StorageNode', field: 'storageNode', id: 'nodeId' },
  disk: { type: 'Disk', field: 'disk', id: 'diskId' },
  volume: { type: 'Volume', field: 'volume', id: 'volumeId' },
  replica: { type: 'Replica', field: 'replica', id: 'replicaId' },
  snapshot: { type: 'Snapshot', field: 'snapshot', id: 'snapshotId' },
  rebuild: { type: 'Rebuild', field: 'rebuild', id: 'rebuildId' },
  orphan: { type: 'Orphan', field: 'orphan', id: 'orphanId' },
  cluster_grant: { type: 'Grant', field: 'grant', id: 'grantId' },
  alert: { type: 'Alert', field: 'alert', id: 'alertId' },
  silence: { type: 'Silence', field: 'silence', id: 'silenceId' },
};

/** Types whose objects are found by id. */
export const GLOBAL_TYPES: ReadonlySet<string> = new Set(Object.values(READERS).map(({ type }) => type));

/** @param queries all other fields, which read objects of each kind */
export function globalIdQueries(queries: Fields): Fields {
  return {
    node: {
      type: NODE_INTERFACE,
      description: 'Any object, by its id alone.',
      args: { id: { type: new GraphQLNonNull(GraphQLID) } },
      resolve: async (source, { id }, context, info) => {
        const [address] = await addressesOf(context, [String(id)]);
        return readObject(queries, address)(source, context, info);
      },
    },
    nodesById: {
      type: new GraphQLNonNull(new GraphQLList(NODE_INTERFACE)),
      description: `Up to ${IDS_MAX} objects of any kinds, in the order of their ids; null for what is not there.`,
      args: { ids: { type: new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(GraphQLID))) } },
      resolve: async (source, given, context, info) => {
        const parsed = z.object({ ids: z.array(z.string()).max(IDS_MAX) }).safeParse(given);
        if (!parsed.success) throw invalidRequest(parsed.error.issues, (path) => path.join('.'));
        const { ids } = parsed.data;
        const addresses = await addressesOf(context, ids);
        const byId = new Map(addresses.map((address) => [address.id, address]));
        return ids.map((id) => readObject(queries, byId.get(id.toLowerCase()))(source, context, info));
      },
    },
  };
}

async function addressesOf({ tenant }: GraphqlContext, ids: readonly string[]): Promise<AddressOfId[]> {
  const known = ids.filter((id) => isId(id));
  return known.length === 0 ? [] : tenant.read((sql) => findKinds(sql, known));
}

type Resolve = NonNullable<Field['resolve']>;
type Read = (
  source: Parameters<Resolve>[0],
  context: GraphqlContext,
  info: Parameters<Resolve>[3],
) => Promise<object>;

/** The answer of the kind's own field, with the name of its type. */
function readObject(queries: Fields, address: AddressOfId | undefined): Read {
  return async (source, context, info) => {
    if (address === undefined) throw nothingThere();
    const { type, field, id } = READERS[address.kind];
    const { clusterId, nodeId, volumeId } = address;
    const parents = Object.entries({ clusterId, nodeId, volumeId }).filter(([, value]) => value !== null);
    const given = { ...Object.fromEntries(parents), [id]: address.id };
    const found: unknown = await queries[field]?.resolve?.(source, given, context, info);
    if (typeof found !== 'object' || found === null) throw nothingThere();
    return { ...found, __typename: type };
  };
}
