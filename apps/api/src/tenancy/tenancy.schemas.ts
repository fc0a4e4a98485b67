import type { OrganizationId, ProjectId, UserId } from '@holdfast/core/model/ids.js';
import { z } from 'zod';
import { ROLES } from '../auth/permissions.js';
import { dto } from '../platform/dto.js';
import { id, pageOf, time, uuid } from '../platform/schemas.js';

export const organizationSchema = z
  .object({ id: uuid, name: z.string(), createdAt: time })
  .meta({ id: 'Organization' });
export const projectSchema = z
  .object({ id: uuid, name: z.string(), version: z.int(), createdAt: time })
  .meta({ id: 'Project' });
export const memberSchema = z
  .object({ userId: uuid, email: z.string(), name: z.string(), role: z.enum(ROLES), createdAt: time })
  .meta({ id: 'Member' });

export class OrganizationPath extends dto(z.object({ organizationId: id<OrganizationId>() })) {}
export class OrganizationDto extends dto(organizationSchema) {}
export class OrganizationPage extends dto(pageOf(organizationSchema, 'OrganizationList')) {}

export class CreateProjectBody extends dto(z.strictObject({ name: z.string().trim().min(1).max(63) })) {}
export class ProjectPath extends dto(z.object({ projectId: id<ProjectId>() })) {}
export class ProjectDto extends dto(projectSchema) {}
export class ProjectPage extends dto(pageOf(projectSchema, 'ProjectList')) {}

export class MemberPath extends dto(z.object({ userId: id<UserId>() })) {}
export class MemberDto extends dto(memberSchema) {}
export class MemberPage extends dto(pageOf(memberSchema, 'MemberList')) {}

const auditEntrySchema = z
  .object({
    id: z.int(),
    actor: z.object({ kind: z.string(), id: z.string() }),
    action: z.string().describe('The method and the route.'),
    target: z.object({ kind: z.string(), id: z.string() }),
    requestId: z.string(),
    detail: z.record(z.string(), z.unknown()),
    at: time,
  })
  .meta({ id: 'AuditEntry' });

export class AuditPage extends dto(pageOf(auditEntrySchema, 'AuditList')) {}
