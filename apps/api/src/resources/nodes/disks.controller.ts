import { acceptDisk } from '@holdfast/control/use-cases/accept-disk.js';
import { addDisk } from '@holdfast/control/use-cases/add-disk.js';
import { patchDisk } from '@holdfast/control/use-cases/patch-disk.js';
import { removeDisk } from '@holdfast/control/use-cases/remove-disk.js';
import { StorageFault } from '@holdfast/core/model/faults.js';
import { findDisk, findNode, listDisks } from '@holdfast/database/queries/nodes.js';
import { countOrphansOn } from '@holdfast/database/queries/orphans.js';
import { Body, Controller, Delete, Get, Param, Patch, Post, Query, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { CurrentTenant } from '../../access/caller.js';
import { Route } from '../../access/route.decorator.js';
import type { Tenant } from '../../access/tenant.js';
import { etagOf, IfMatch } from '../../http/request.js';
import { ListQuery, pageView } from '../../http/schemas.js';
import { diskRemoval, placeChange } from '../dry-runs/planned-effects.js';
import { CreateDiskBody, DiskDto, DiskPage, DiskPath, NodePath, PatchDiskBody } from './node.schemas.js';
import { type DiskView, diskView } from './node.view.js';
import { nodeNotFound } from './read-node.js';

@Controller('api/v1/clusters/:clusterId/nodes/:nodeId/disks')
export class DisksController {
  @Get()
  @Route({
    access: 'node:read',
    summary: "List a node's disks",
    answer: DiskPage,
    refuses: ['node.not_found'],
  })
  async list(@CurrentTenant() tenant: Tenant, @Param() path: NodePath, @Query() query: ListQuery) {
    return tenant.read(async (sql) => {
      if ((await findNode(sql, path)) === undefined) throw nodeNotFound(path);
      const page = await listDisks(sql, path, query);
      return pageView(page, diskView);
    });
  }

  @Post()
  @Route({
    access: 'node:write',
    summary: 'Add a disk to a node; its agent sets it up, and reports the result in the condition `Ready`',
    answer: DiskDto,
    status: 201,
    refuses: ['cluster.not_found', 'node.not_found', 'disk.exists'],
  })
  async create(
    @CurrentTenant() tenant: Tenant,
    @Param() path: NodePath,
    @Body() { size, storageReserved, name, ...body }: CreateDiskBody,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<DiskView> {
    const disk = { ...body, name, sizeBytes: size, storageReservedBytes: storageReserved };
    const diskId = await addDisk(tenant.ports, { ...path, disk });
    void reply.header('location', `/api/v1/clusters/${path.clusterId}/nodes/${path.nodeId}/disks/${diskId}`);
    return this.get(tenant, { ...path, diskId }, reply);
  }

  @Get(':diskId')
  @Route({ access: 'node:read', summary: 'Read a disk', answer: DiskDto, refuses: ['disk.not_found'] })
  async get(
    @CurrentTenant() tenant: Tenant,
    @Param() path: DiskPath,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<DiskView> {
    const found = await tenant.read((sql) => findDisk(sql, path));
    if (found === undefined) {
      throw new StorageFault('disk.not_found', { publicMessage: `there is no disk ${path.diskId}` });
    }
    void reply.header('etag', etagOf(found.version));
    return diskView(found);
  }

  @Patch(':diskId')
  @Route({
    access: 'node:write',
    summary: 'Change the settings of a disk',
    dryRun: placeChange,
    answer: DiskDto,
    refuses: ['cluster.not_found', 'disk.not_found', 'disk.last_ready'],
  })
  async patch(
    @CurrentTenant() tenant: Tenant,
    @Param() path: DiskPath,
    @Body() { storageReserved, ...body }: PatchDiskBody,
    @IfMatch() ifVersion: number | undefined,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<DiskView> {
    await this.get(tenant, path, reply);
    const { clusterId, diskId } = path;
    const patch = { ...body, storageReservedBytes: storageReserved };
    await patchDisk(tenant.ports, { clusterId, diskId, patch, ifVersion });
    return this.get(tenant, path, reply);
  }

  @Post(':diskId/accept')
  @Route({
    access: 'node:write',
    summary:
      'Accept a duplicate disk, or one that was set back, as the true one; writes since its state are lost',
    answer: DiskDto,
    status: 202,
    refuses: ['cluster.not_found', 'disk.not_found', 'disk.in_use'],
  })
  async accept(
    @CurrentTenant() tenant: Tenant,
    @Param() path: DiskPath,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<DiskView> {
    await this.get(tenant, path, reply);
    const { clusterId, diskId } = path;
    await acceptDisk(tenant.ports, { clusterId, diskId });
    return this.get(tenant, path, reply);
  }

  @Delete(':diskId')
  @Route({
    access: 'node:write',
    summary: 'Remove an empty disk from its node; the data at its path stays',
    dryRun: diskRemoval,
    status: 204,
    refuses: ['cluster.not_found', 'disk.not_found', 'disk.in_use'],
  })
  async delete(
    @CurrentTenant() tenant: Tenant,
    @Param() path: DiskPath,
    @IfMatch() ifVersion: number | undefined,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<void> {
    await this.get(tenant, path, reply);
    const { clusterId, diskId } = path;
    const orphans = await tenant.read((sql) => countOrphansOn(sql, diskId));
    await removeDisk(tenant.ports, { clusterId, diskId, orphans, ifVersion });
  }
}
