import { Body, Controller, Delete, Get, Param, Put, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { CurrentTenant } from '../../access/caller.js';
import { Route } from '../../access/route.decorator.js';
import type { Tenant } from '../../access/tenant.js';
import { IfMatch, tagged } from '../../http/request.js';
import { ClusterPath } from '../clusters/cluster.schemas.js';
import { noteOnly } from '../dry-runs/planned-effects.js';
import { readSetting, readSettings, type SettingView } from './read-settings.js';
import { PutSettingBody, SettingDto, SettingPage, SettingPath } from './setting.schemas.js';
import { resetSetting, setSetting } from './write-setting.js';

@Controller('api/v1/clusters/:clusterId/settings')
export class SettingsController {
  /** All of them at once: there are a few dozen. */
  @Get()
  @Route({
    access: 'setting:read',
    summary: 'List settings with definition, value and default',
    answer: SettingPage,
    refuses: ['cluster.not_found'],
  })
  async list(@CurrentTenant() tenant: Tenant, @Param() { clusterId }: ClusterPath) {
    return { items: await readSettings(tenant, clusterId), nextCursor: null };
  }

  @Get(':name')
  @Route({
    access: 'setting:read',
    summary: 'Read a setting',
    answer: SettingDto,
    refuses: ['cluster.not_found', 'setting.not_found'],
  })
  async get(
    @CurrentTenant() tenant: Tenant,
    @Param() { clusterId, name }: SettingPath,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<SettingView> {
    return tagged(reply, await readSetting(tenant, clusterId, name));
  }

  @Put(':name')
  @Route({
    access: 'setting:write',
    summary: 'Set a setting',
    dryRun: noteOnly('all volumes of the cluster are reconciled'),
    answer: SettingDto,
    refuses: ['cluster.not_found', 'setting.not_found', 'setting.invalid'],
  })
  async put(
    @CurrentTenant() tenant: Tenant,
    @Param() path: SettingPath,
    @Body() { value }: PutSettingBody,
    @IfMatch() ifVersion: number | undefined,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    return tagged(reply, await setSetting(tenant, path, value, ifVersion));
  }

  @Delete(':name')
  @Route({
    access: 'setting:write',
    summary: 'Reset a setting to its default',
    dryRun: noteOnly('all volumes of the cluster are reconciled'),
    answer: SettingDto,
    refuses: ['cluster.not_found', 'setting.not_found'],
  })
  async delete(
    @CurrentTenant() tenant: Tenant,
    @Param() path: SettingPath,
    @IfMatch() ifVersion: number | undefined,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    return tagged(reply, await resetSetting(tenant, path, ifVersion));
  }
}
