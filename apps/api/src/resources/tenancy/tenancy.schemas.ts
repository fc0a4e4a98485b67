import { ACTIONS, ORGANIZATION_ROLES, PROJECT_ROLES } from '@holdfast/access/permissions.js';
import type { InvitationId, OrganizationId, ProjectId, UserId } from '@holdfast/core/model/ids.js';
import { z } from 'zod';
import { dto } from '../../http/dto.js';
import { id, pageOf, time, uuid, version } from '../../http/schemas.js';
import { newPassword } from '../sessions/session.schemas.js';

export const organizationSchema = z
  .object({
    id: uuid.describe('Id of the organization.'),
    name: z.string().describe("The organization's name, for people; unique on this server."),
    version,
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
    role: z.enum(ORGANIZATION_ROLES).describe('What the user may do in the organization.'),
    isServiceAccount: z
      .boolean()
      .describe(
        'True: a service account, which has tokens and never signs in; its address is of no mailbox.',
      ),
    isManaged: z
      .boolean()
      .describe(
        "True: the organization's sign-in provider vouches for the user, who has no password and belongs to this organization only.",
      ),
    version,
    createdAt: time.describe('When the user joined the organization.'),
  })
  .meta({ id: 'Member' });

export class OrganizationPath extends dto(
  z.object({ organizationId: id<OrganizationId>().describe('Id of the organization.') }),
) {}
export class OrganizationDto extends dto(organizationSchema) {}
export class OrganizationPage extends dto(pageOf(organizationSchema, 'OrganizationList')) {}

const projectName = z.string().trim().min(1).max(63);

export class CreateProjectBody extends dto(
  z.strictObject({ name: projectName.describe('Unique in the organization; spaces around it go.') }),
) {}
export class PatchProjectBody extends dto(
  z.strictObject({
    name: projectName.optional().describe('Unique in the organization; left out: as it is.'),
  }),
) {}
export class CreateOrganizationBody extends dto(
  z.strictObject({ name: projectName.describe('Unique on this server; spaces around it go.') }),
) {}
export class PatchOrganizationBody extends dto(
  z.strictObject({ name: projectName.optional().describe('Unique on this server; left out: as it is.') }),
) {}
export class ProjectPath extends dto(
  z.object({ projectId: id<ProjectId>().describe('Id of the project.') }),
) {}
export class ProjectDto extends dto(projectSchema) {}
export class ProjectPage extends dto(pageOf(projectSchema, 'ProjectList')) {}

export class MemberPath extends dto(z.object({ userId: id<UserId>().describe('Id of the user.') })) {}
export class MemberDto extends dto(memberSchema) {}
export class MemberPage extends dto(pageOf(memberSchema, 'MemberList')) {}
export class PatchMemberBody extends dto(
  z.strictObject({
    role: z.enum(ORGANIZATION_ROLES).describe('What the user is to be in the organization.'),
  }),
) {}

export const projectMemberSchema = memberSchema
  .extend({ role: z.enum(PROJECT_ROLES).describe('What the user may do in the project.') })
  .meta({ id: 'ProjectMember' });
export class ProjectMemberPath extends dto(ProjectPath.schema.extend(MemberPath.schema.shape)) {}
export class ProjectMemberDto extends dto(projectMemberSchema) {}
export class ProjectMemberPage extends dto(pageOf(projectMemberSchema, 'ProjectMemberList')) {}
export class PutProjectMemberBody extends dto(
  z.strictObject({ role: z.enum(PROJECT_ROLES).describe('What the user is to be in the project.') }),
) {}

const INVITATION_HOURS_DEFAULT = 72;
const INVITATION_HOURS_MAX = 24 * 14;

export const invitationSchema = z
  .object({
    id: uuid.describe('Id of the invitation; not its secret.'),
    email: z.string().describe('E-mail address of the user who may accept it.'),
    role: z.enum(ORGANIZATION_ROLES).describe('What the user will be in the organization.'),
    invitedBy: uuid.describe('Id of the user who made it.'),
    createdAt: time.describe('When it was made.'),
    expiresAt: time.describe('When it can be accepted no longer.'),
  })
  .meta({ id: 'Invitation' });
export class InvitationPath extends dto(
  z.object({ invitationId: id<InvitationId>().describe('Id of the invitation.') }),
) {}
export class InvitationDto extends dto(invitationSchema) {}
export class InvitationPage extends dto(pageOf(invitationSchema, 'InvitationList')) {}
export class NewInvitationDto extends dto(
  invitationSchema
    .extend({
      secret: z.string().describe('Give it to the user, who accepts with it; shown in this answer only.'),
    })
    .meta({ id: 'NewInvitation' }),
) {}
export class CreateInvitationBody extends dto(
  z.strictObject({
    email: z.email().max(320).toLowerCase().describe('E-mail address of the user.'),
    role: z.enum(ORGANIZATION_ROLES).describe('What the user is to be in the organization.'),
    validHours: z
      .int()
      .min(1)
      .max(INVITATION_HOURS_MAX)
      .default(INVITATION_HOURS_DEFAULT)
      .describe('Hours in which it can be accepted.'),
  }),
) {}
export class AcceptInvitationBody extends dto(
  z.strictObject({
    secret: z.string().min(1).max(512).describe('As the inviting user was shown it.'),
    name: z
      .string()
      .trim()
      .min(1)
      .max(128)
      .describe("The user's name, for people; an account keeps the one it has."),
    password: newPassword.describe("The account's password; of a new account: as it is to be."),
  }),
) {}
export class JoinBody extends dto(
  z.strictObject({
    secret: z.string().min(1).max(512).describe('As the inviting user was shown it.'),
  }),
) {}
export class OpenInvitationDto extends dto(
  z
    .object({
      organizationId: uuid.describe('Id of the organization that invites.'),
      organizationName: z.string().describe('What the inviting organization is called.'),
      email: z.string().describe('E-mail address of the account that may join.'),
      role: z.enum(ORGANIZATION_ROLES).describe('What its user will be there.'),
      expiresAt: time.describe('When it can be accepted no longer.'),
      page: z.url().describe('The page of the console on which its user joins, secret included.'),
    })
    .meta({ id: 'OpenInvitation' }),
) {}
export class AcceptedDto extends dto(
  z
    .object({
      organizationId: uuid.describe('Id of the organization that the user belongs to now.'),
      userId: uuid.describe('Id of the user.'),
      email: z.string().describe('E-mail address to sign in with.'),
      role: z.enum(ORGANIZATION_ROLES).describe('What the user may do there.'),
    })
    .meta({ id: 'AcceptedInvitation' }),
) {}

export class PermissionsQuery extends dto(
  z.strictObject({
    action: z.enum(ACTIONS).optional().describe('One action; left out: all.'),
    projectId: id<ProjectId>().optional().describe('What is in this project; left out: anywhere.'),
  }),
) {}
export const accessSchema = z
  .object({
    action: z.enum(ACTIONS).describe('What is to be done.'),
    allows: z.string().describe('What a user may do with it, in words.'),
    isAllowed: z.boolean().describe('Whether the token that asks may do it, in that project or anywhere.'),
    projectIds: z
      .array(uuid)
      .nullable()
      .describe(
        'The projects it is limited to; null: all of the organization. Empty where it is not allowed.',
      ),
    why: z.string().describe('The role, the limit or the lack of one that decides it.'),
    cures: z.array(z.string()).describe('What would allow it; empty where it is allowed.'),
  })
  .meta({ id: 'Access' });
export class PermissionsDto extends dto(
  z
    .object({
      role: z.enum(ORGANIZATION_ROLES).describe('What the token allows in the organization.'),
      projectRoles: z
        .record(uuid, z.enum(PROJECT_ROLES))
        .describe('What it allows beyond that, by the id of the project.'),
      permissions: z.array(accessSchema).describe('Every action that was asked about.'),
    })
    .meta({ id: 'Permissions' }),
) {}
