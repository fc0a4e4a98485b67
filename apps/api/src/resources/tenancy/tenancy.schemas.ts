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
    createdAt: time.describe('Time of its creation.'),
  })
  .meta({ id: 'Organization' });
export const projectSchema = z
  .object({
    id: uuid.describe('Id of the project.'),
    name: z.string().describe('Unique in the organization.'),
    version,
    createdAt: time.describe('Time of its creation.'),
  })
  .meta({ id: 'Project' });
export const memberSchema = z
  .object({
    userId: uuid.describe('Id of the user.'),
    email: z.string().describe("E-mail address for the user's sign-in."),
    name: z.string().describe("The user's name, for people."),
    role: z.enum(ORGANIZATION_ROLES).describe("The user's role in the organization."),
    isServiceAccount: z
      .boolean()
      .describe('True: a service account, which has tokens and never signs in; its address has no mailbox.'),
    isManaged: z
      .boolean()
      .describe(
        "True: the user signs in by the organization's own provider, without a password, and belongs to this organization only.",
      ),
    version,
    createdAt: time.describe('Time at which the user joined the organization.'),
  })
  .meta({ id: 'Member' });

export class OrganizationPath extends dto(
  z.object({ organizationId: id<OrganizationId>().describe('Id of the organization.') }),
) {}
export class OrganizationDto extends dto(organizationSchema) {}
export class OrganizationPage extends dto(pageOf(organizationSchema, 'OrganizationList')) {}

const projectName = z.string().trim().min(1).max(63);

export class CreateProjectBody extends dto(
  z.strictObject({ name: projectName.describe('Unique in the organization; spaces around it are removed.') }),
) {}
export class PatchProjectBody extends dto(
  z.strictObject({
    name: projectName.optional().describe('Unique in the organization; left out: unchanged.'),
  }),
) {}
export class CreateOrganizationBody extends dto(
  z.strictObject({ name: projectName.describe('Unique on this server; spaces around it are removed.') }),
) {}
export class PatchOrganizationBody extends dto(
  z.strictObject({ name: projectName.optional().describe('Unique on this server; left out: unchanged.') }),
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
    role: z.enum(ORGANIZATION_ROLES).describe("The user's new role in the organization."),
  }),
) {}

export const projectMemberSchema = memberSchema
  .extend({ role: z.enum(PROJECT_ROLES).describe("The user's role in the project.") })
  .meta({ id: 'ProjectMember' });
export class ProjectMemberPath extends dto(ProjectPath.schema.extend(MemberPath.schema.shape)) {}
export class ProjectMemberDto extends dto(projectMemberSchema) {}
export class ProjectMemberPage extends dto(pageOf(projectMemberSchema, 'ProjectMemberList')) {}
export class PutProjectMemberBody extends dto(
  z.strictObject({ role: z.enum(PROJECT_ROLES).describe("The user's new role in the project.") }),
) {}

const INVITATION_HOURS_DEFAULT = 72;
const INVITATION_HOURS_MAX = 24 * 14;

export const invitationSchema = z
  .object({
    id: uuid.describe('Id of the invitation; not its secret.'),
    email: z.string().describe('E-mail address of the invited user.'),
    role: z.enum(ORGANIZATION_ROLES).describe("The invited user's role in the organization."),
    invitedBy: uuid.describe('Id of the user who created it.'),
    createdAt: time.describe('Time of its creation.'),
    expiresAt: time.describe('Expiry of the invitation.'),
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
      secret: z.string().describe('Secret with which the invited user accepts; shown in this answer only.'),
    })
    .meta({ id: 'NewInvitation' }),
) {}
export class CreateInvitationBody extends dto(
  z.strictObject({
    email: z.email().max(320).toLowerCase().describe('E-mail address of the user.'),
    role: z.enum(ORGANIZATION_ROLES).describe("The user's new role in the organization."),
    validHours: z
      .int()
      .min(1)
      .max(INVITATION_HOURS_MAX)
      .default(INVITATION_HOURS_DEFAULT)
      .describe('Lifetime of the invitation, in hours.'),
  }),
) {}
export class AcceptInvitationBody extends dto(
  z.strictObject({
    secret: z.string().min(1).max(512).describe('Secret of the invitation.'),
    name: z
      .string()
      .trim()
      .min(1)
      .max(128)
      .describe("The user's name, for people; an existing account keeps its own."),
    password: newPassword.describe("The account's password; for a new account, its new password."),
  }),
) {}
export class JoinBody extends dto(
  z.strictObject({
    secret: z.string().min(1).max(512).describe('Secret of the invitation.'),
  }),
) {}
export class OpenInvitationDto extends dto(
  z
    .object({
      organizationId: uuid.describe('Id of the inviting organization.'),
      organizationName: z.string().describe('Name of the inviting organization.'),
      email: z.string().describe('E-mail address of the account that may join.'),
      role: z.enum(ORGANIZATION_ROLES).describe("The invited user's role there."),
      expiresAt: time.describe('Expiry of the invitation.'),
      page: z.url().describe("URL of the console's page for joining, secret included."),
    })
    .meta({ id: 'OpenInvitation' }),
) {}
export class AcceptedDto extends dto(
  z
    .object({
      organizationId: uuid.describe('Id of the joined organization.'),
      userId: uuid.describe('Id of the user.'),
      email: z.string().describe('E-mail address to sign in with.'),
      role: z.enum(ORGANIZATION_ROLES).describe("The user's role there."),
    })
    .meta({ id: 'AcceptedInvitation' }),
) {}

export class PermissionsQuery extends dto(
  z.strictObject({
    action: z.enum(ACTIONS).optional().describe('One action; left out: all.'),
    projectId: id<ProjectId>().optional().describe('Id of the project; left out: anywhere.'),
  }),
) {}
export const accessSchema = z
  .object({
    action: z.enum(ACTIONS).describe('The permission, such as `volume:write`.'),
    allows: z.string().describe('Description of the action.'),
    isAllowed: z.boolean().describe("True: the caller's token allows it, in that project or anywhere."),
    projectIds: z
      .array(uuid)
      .nullable()
      .describe(
        'Ids of the projects where it is allowed; null: all of the organization. Empty: not allowed.',
      ),
    why: z.string().describe('The role or limit, or the missing role, that decides it.'),
    cures: z.array(z.string()).describe('Possible remedies; empty: it is allowed.'),
  })
  .meta({ id: 'Access' });
export class PermissionsDto extends dto(
  z
    .object({
      role: z.enum(ORGANIZATION_ROLES).describe('Effective role of the token in the organization.'),
      projectRoles: z
        .record(uuid, z.enum(PROJECT_ROLES))
        .describe('Further roles, by the id of the project.'),
      permissions: z.array(accessSchema).describe('The requested actions.'),
    })
    .meta({ id: 'Permissions' }),
) {}
