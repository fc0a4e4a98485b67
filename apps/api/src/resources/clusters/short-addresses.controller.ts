import { StorageFault } from '@holdfast/core/model/faults.js';
import { asId, isId, type NodeId, type VolumeId } from '@holdfast/core/model/ids.js';
import { findClusterOf } from '@holdfast/database/queries/clusters.js';
import { All, Controller, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { CurrentTenant } from '../../access/caller.js';
import { Route } from '../../access/route.decorator.js';
import type { Tenant } from '../../access/tenant.js';

const SHORT = /^\/api\/v1\/(?<kind>nodes|volumes)\/(?<id>[^/?]+)(?<rest>.*)$/;

/**
 * Redirects `/volumes/{v}…` and `/nodes/{n}…` to their full addresses below their cluster, with the same method and body (308): a client
 * with only an id need not know the cluster. Access is checked at the full address.
 */
@Controller('api/v1')
export class ShortAddressesController {
  @All(['volumes/:id', 'volumes/:id/*', 'nodes/:id', 'nodes/:id/*'])
  @Route({ access: 'volume:read', summary: 'Resolve a volume or node id to its full address' })
  async sendOn(@CurrentTenant() tenant: Tenant, @Req() request: FastifyRequest, @Res() reply: FastifyReply) {
    const { kind = '', id = '', rest = '' } = SHORT.exec(request.url)?.groups ?? {};
    const clusterId = isId(id)
      ? await tenant.read((sql) => findClusterOf(sql, subjectOf(kind, id)))
      : undefined;
    if (clusterId === undefined) throw notFound(kind, id);
    await reply.redirect(`/api/v1/clusters/${clusterId}/${kind}/${id}${rest}`, 308);
  }
}

function subjectOf(kind: string, id: string) {
  return kind === 'nodes' ? { nodeId: asId<NodeId>(id) } : { volumeId: asId<VolumeId>(id) };
}

function notFound(kind: string, id: string): StorageFault {
  return kind === 'nodes'
    ? new StorageFault('node.not_found', { publicMessage: `there is no node ${id}` })
    : new StorageFault('volume.not_found', { publicMessage: `there is no volume ${id}` });
}
