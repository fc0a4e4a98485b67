import type { ClusterId } from '@holdfast/core/model/ids.js';
import { SETTINGS } from '@holdfast/core/settings/definitions.js';
import { definitionOf, parseSettingValue } from '@holdfast/core/settings/effective.js';
import { findSettingOverrides } from '@holdfast/database/queries/clusters.js';
import { changeSetting } from '@holdfast/database/settings.js';
import { Body, Controller, Delete, Get, Param, Put } from '@nestjs/common';
import type { z } from 'zod';
import { ClusterPath } from '../clusters/cluster.schemas.js';
import { clusterNotFound } from '../clusters/require-cluster.js';
import { CurrentTenant } from '../platform/request.js';
import { Route } from '../platform/route.decorator.js';
import type { Tenant } from '../platform/tenant.js';
import {
  PutSettingBody,
  SettingDto,
  SettingPage,
  SettingPath,
  type settingSchema,
} from './setting.schemas.js';

type SettingView = z.infer<typeof settingSchema>;

@Controller('api/v1/clusters/:clusterId/settings')
export class SettingsController {
  /** All of them at once: there are a few dozen. */
  @Get()
  @Route({
    access: 'setting:read',
    summary: 'List settings with definition, value and default',
    answer: SettingPage,
  })
  async list(@CurrentTenant() tenant: Tenant, @Param() { clusterId }: ClusterPath) {
    const overrides = await this.overrides(tenant, clusterId);
    const items = Object.keys(SETTINGS).map((name) => settingView(name, overrides));
    return { items, nextCursor: null };
  }

  @Get(':name')
  @Route({ access: 'setting:read', summary: 'Read a setting', answer: SettingDto })
  async get(
    @CurrentTenant() tenant: Tenant,
    @Param() { clusterId, name }: SettingPath,
  ): Promise<SettingView> {
    return settingView(name, await this.overrides(tenant, clusterId));
  }

  @Put(':name')
  @Route({ access: 'setting:write', summary: 'Set a setting', answer: SettingDto })
  async put(
    @CurrentTenant() tenant: Tenant,
    @Param() path: SettingPath,
    @Body() { value }: PutSettingBody,
  ): Promise<SettingView> {
    return this.change(tenant, path, parseSettingValue(path.name, value));
  }

  @Delete(':name')
  @Route({ access: 'setting:write', summary: 'Go back to the default', answer: SettingDto })
  async delete(@CurrentTenant() tenant: Tenant, @Param() path: SettingPath): Promise<SettingView> {
    definitionOf(path.name);
    return this.change(tenant, path, undefined);
  }

  private async change(
    tenant: Tenant,
    { clusterId, name }: SettingPath,
    value: unknown,
  ): Promise<SettingView> {
    const found = await tenant.write((sql) =>
      changeSetting(sql, clusterId, { name, value, now: tenant.now }),
    );
    if (!found) throw clusterNotFound(clusterId);
    return settingView(name, await this.overrides(tenant, clusterId));
  }

  private async overrides(tenant: Tenant, clusterId: ClusterId): Promise<Record<string, unknown>> {
    const overrides = await tenant.read((sql) => findSettingOverrides(sql, clusterId));
    if (overrides === undefined) throw clusterNotFound(clusterId);
    return overrides;
  }
}

function settingView(name: string, overrides: Readonly<Record<string, unknown>>): SettingView {
  const definition = definitionOf(name);
  const { default: byDefault, type, category, description } = definition;
  const isDefault = !Object.hasOwn(overrides, name);
  return {
    name,
    value: isDefault ? byDefault : parseSettingValue(name, overrides[name]),
    default: byDefault,
    isDefault,
    definition: {
      type,
      category,
      description,
      ...('min' in definition ? { min: definition.min, max: definition.max } : {}),
      ...('unit' in definition && definition.unit !== undefined ? { unit: definition.unit } : {}),
      ...('options' in definition ? { options: [...definition.options] } : {}),
    },
  };
}
