import type { OrganizationId, ProjectId, UserId } from '@holdfast/core/model/ids.js';
import { z } from 'zod';
import { ROLES } from '../auth/permissions.js';
import { dto } from '../platform/dto.js';
import { id, pageOf, time, uuid, version } from '../platform/schemas.js';

export const organizationSchema = z
  .object({
    id: uuid.describe('Id of the organization.'),
    name: z.string().describe("The organization's name, for people."),
    createdAt: time.describe('When it was created.'),
  })
  .meta({ id: 'Organization' });
export const projectSchema = z
  .object({
    id: uuid.describe('Id of the project.'),
    name: z.string().describe('Unique in the organization.'),
    version,
    createdAt: time.describe('When it was created.'),
  })
  .meta({ id: 'Project' });
export const memberSchema = z
  .object({
    userId: uuid.describe('Id of the user.'),
    email: z.string().describe('E-mail address that the user signs in with.'),
    name: z.string().describe("The user's name, for people."),
    role: z.enum(ROLES).describe('What the user may do in the organization.'),
    createdAt: time.describe('When the user joined the organization.'),
  })
  .meta({ id: 'Member' });

export class OrganizationPath extends dto(
  z.object({ organizationId: id<OrganizationId>().describe('Id of the organization.') }),
) {}
export class OrganizationDto extends dto(organizationSchema) {}
export class OrganizationPage extends dto(pageOf(organizationSchema, 'OrganizationList')) {}

export class CreateProjectBody extends dto(
  z.strictObject({
    name: z.string().trim().min(1).max(63).describe('Unique in the organization; spaces around it go.'),
  }),
) {}
export class ProjectPath extends dto(
  z.object({ projectId: id<ProjectId>().describe('Id of the project.') }),
) {}
export class ProjectDto extends dto(projectSchema) {}
export class ProjectPage extends dto(pageOf(projectSchema, 'ProjectList')) {}

export class MemberPath extends dto(z.object({ userId: id<UserId>().describe('Id of the user.') })) {}
export class MemberDto extends dto(memberSchema) {}
export class MemberPage extends dto(pageOf(memberSchema, 'MemberList')) {}
