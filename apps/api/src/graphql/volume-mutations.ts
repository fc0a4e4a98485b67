/** GraphQL mutations of volumes: thin over the service that REST uses, with the same schemas and the same refusals. */
import type { GraphQLObjectType } from 'graphql';
import { z } from 'zod';
import { ClusterPath } from '../clusters/cluster.schemas.js';
import type { Tenant } from '../platform/tenant.js';
import { RevertBody } from '../snapshots/snapshot.schemas.js';
import { SalvageBody } from '../volumes/salvage.schemas.js';
import {
  AttachBody,
  CloneBody,
  CreateVolumeBody,
  DetachBody,
  ExpandBody,
  PatchVolumeBody,
  VolumePath,
  verificationSchema,
  volumeSchema,
} from '../volumes/volume.schemas.js';
import { verificationView, volumeView } from '../volumes/volume.view.js';
import type { VolumeKey, VolumesService } from '../volumes/volumes.service.js';
import { type Field, type Fields, field, ids, withInput } from './fields.js';
import type { GraphqlTypes } from './zod-to-graphql.js';

const WRITE = 'volume:write' as const;

type FoundVolume = Awaited<ReturnType<VolumesService['get']>>;
type BodyClass<Body extends z.ZodObject> = { readonly schema: Body };

export function volumeMutations(types: GraphqlTypes, volumes: VolumesService): Fields {
  const volume = types.object(volumeSchema);
  return {
    createVolume: field(volume, {
      access: WRITE,
      args: withInput(types.input(CreateVolumeBody.schema, 'CreateVolumeInput'), 'clusterId'),
      schema: z.object({ ...ClusterPath.schema.shape, input: CreateVolumeBody.schema }),
      resolve: async (tenant, { clusterId, input }) =>
        volumeView(await volumes.create(tenant, clusterId, input), tenant.actor.role),
    }),
    deleteVolume: field(volume, {
      access: WRITE,
      args: ids('clusterId', 'volumeId'),
      schema: VolumePath.schema,
      resolve: async (tenant, key) =>
        volumeView(await volumes.delete(tenant, key, undefined), tenant.actor.role),
    }),
    verifyVolume: field(types.object(verificationSchema), {
      access: WRITE,
      args: ids('clusterId', 'volumeId'),
      schema: VolumePath.schema,
      resolve: async (tenant, key) => verificationView(await volumes.verify(tenant, key, () => true)),
    }),
    ...volumeChanges(types, volume, volumes),
  };
}

function volumeChanges(types: GraphqlTypes, volume: GraphQLObjectType, volumes: VolumesService): Fields {
  return {
    patchVolume: change(types, volume, 'PatchVolumeInput', PatchVolumeBody, (tenant, key, input) =>
      volumes.patch(tenant, key, input, undefined),
    ),
    attachVolume: change(types, volume, 'AttachVolumeInput', AttachBody, (tenant, key, { nodeId }) =>
      volumes.attach(tenant, key, nodeId ?? undefined, undefined),
    ),
    detachVolume: change(types, volume, 'DetachVolumeInput', DetachBody, (tenant, key, { force }) =>
      volumes.detach(tenant, key, force, undefined),
    ),
    expandVolume: change(types, volume, 'ExpandVolumeInput', ExpandBody, (tenant, key, { size }) =>
      volumes.expand(tenant, key, size, undefined),
    ),
    revertVolume: change(types, volume, 'RevertVolumeInput', RevertBody, (tenant, key, { snapshotId }) =>
      volumes.revert(tenant, key, snapshotId),
    ),
    salvageVolume: change(types, volume, 'SalvageVolumeInput', SalvageBody, (tenant, key, { replicaIds }) =>
      volumes.salvage(tenant, key, replicaIds, undefined),
    ),
    cloneVolume: change(types, volume, 'CloneVolumeInput', CloneBody, (tenant, key, input) =>
      volumes.clone(tenant, key, input),
    ),
  };
}

/** An action on one volume with a body, which answers with a volume. */
function change<Body extends z.ZodObject>(
  types: GraphqlTypes,
  volume: GraphQLObjectType,
  inputName: string,
  { schema: input }: BodyClass<Body>,
  act: (tenant: Tenant, key: VolumeKey, input: z.output<Body>) => Promise<FoundVolume>,
): Field {
  return field(volume, {
    access: WRITE,
    args: withInput(types.input(input, inputName), 'clusterId', 'volumeId'),
    schema: z.object({ ...VolumePath.schema.shape, input }),
    resolve: async (tenant, given) => {
      // The schema of this field is the path's and the body's, which the compiler can't follow through the type of the body.
      const { clusterId, volumeId } = given as VolumeKey;
      const { input: body } = given as { input: z.output<Body> };
      return volumeView(await act(tenant, { clusterId, volumeId }, body), tenant.actor.role);
    },
  });
}
