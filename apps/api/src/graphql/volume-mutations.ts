/** GraphQL mutations of volumes: thin over the service that REST uses, with the same schemas and the same refusals. */
import type { GraphQLObjectType } from 'graphql';
import { z } from 'zod';
import type { Tenant } from '../access/tenant.js';
import { ClusterPath } from '../resources/clusters/cluster.schemas.js';
import type { VolumeKey } from '../resources/volumes/read-volume.js';
import {
  CloneBody,
  CreateVolumeBody,
  PatchVolumeBody,
  VolumePath,
  verificationSchema,
  volumeSchema,
} from '../resources/volumes/volume.schemas.js';
import { verificationView, volumeView } from '../resources/volumes/volume.view.js';
import type { VolumesService } from '../resources/volumes/volumes.service.js';
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
        volumeView(await volumes.create(tenant, clusterId, input), tenant.actor),
    }),
    deleteVolume: field(volume, {
      access: WRITE,
      args: ids('clusterId', 'volumeId'),
      schema: VolumePath.schema,
      resolve: async (tenant, key) => volumeView(await volumes.delete(tenant, key, undefined), tenant.actor),
    }),
    verifyVolume: field(types.object(verificationSchema), {
      access: WRITE,
      args: ids('clusterId', 'volumeId'),
      schema: VolumePath.schema,
      resolve: async (tenant, key) => verificationView(await volumes.verify(tenant, key)),
    }),
    ...volumeChanges(types, volume, volumes),
  };
}

function volumeChanges(types: GraphqlTypes, volume: GraphQLObjectType, volumes: VolumesService): Fields {
  return {
    patchVolume: change(types, volume, 'PatchVolumeInput', PatchVolumeBody, (tenant, key, input) =>
      volumes.patch(tenant, key, input, undefined),
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
      return volumeView(await act(tenant, { clusterId, volumeId }, body), tenant.actor);
    },
  });
}
