import { decideAccess } from '@holdfast/access/decide-access.js';
import { ACTIONS, type Action, permissionOf } from '@holdfast/access/permissions.js';
import { Controller, Get, Query } from '@nestjs/common';
import type { z } from 'zod';
import type { UserActor } from '../../access/actor.js';
import { CurrentTenant } from '../../access/caller.js';
import { Route } from '../../access/route.decorator.js';
import type { Tenant } from '../../access/tenant.js';
import { type accessSchema, PermissionsDto, PermissionsQuery } from './tenancy.schemas.js';

type AccessView = z.infer<typeof accessSchema>;

@Controller('api/v1/me/permissions')
export class PermissionsController {
  @Get()
  @Route({
    access: 'organization:read',
    summary: "Explain the caller's permissions",
    answer: PermissionsDto,
  })
  get(@CurrentTenant() tenant: Tenant, @Query() query: PermissionsQuery) {
    return permissionsView(tenant.actor, query);
  }
}

export function permissionsView(actor: UserActor, { action, projectId }: PermissionsQuery) {
  const asked = action === undefined ? ACTIONS : [action];
  return {
    role: actor.role,
    projectRoles: Object.fromEntries(actor.projectRoles),
    permissions: asked.map((one) => accessView(actor, one, projectId)),
  };
}

function accessView(actor: UserActor, action: Action, projectId: PermissionsQuery['projectId']): AccessView {
  const { allows } = permissionOf(action);
  const access = decideAccess(actor, action);
  if (access.kind === 'refuse') {
    const { why, cures } = access;
    return { action, allows, isAllowed: false, projectIds: [], why, cures: [...cures] };
  }
  const { why } = access;
  const seen = bounded(access.projectIds, actor.limits.projectIds);
  const isThere = projectId === undefined || seen === undefined || seen.includes(projectId);
  if (isThere)
    return {
      action,
      allows,
      isAllowed: true,
      projectIds: seen === undefined ? null : [...seen],
      why,
      cures: [],
    };
  const cures = ['ask an admin of the project for a role there'];
  return { action, allows, isAllowed: false, projectIds: [], why: `${why}, and not in this project`, cures };
}

type Ids = readonly NonNullable<PermissionsQuery['projectId']>[] | undefined;

/** Intersection of both lists; `undefined` is all. */
function bounded(one: Ids, other: Ids): Ids {
  if (one === undefined || other === undefined) return one ?? other;
  return one.filter((id) => other.includes(id));
}
