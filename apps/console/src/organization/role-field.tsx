import { ORGANIZATION_ROLES, type OrganizationRole } from '@holdfast/access/permissions.js';
import { SelectField } from '@holdfast/ui/field.js';

const ROLE_WORDS = {
  member: 'Member: only their project roles',
  viewer: 'Viewer: sees everything, changes nothing',
  operator: 'Operator: volumes, snapshots, rebuilds',
  admin: 'Admin: nodes, settings, members, projects',
  owner: 'Owner: everything',
} satisfies Record<OrganizationRole, string>;

type Props = { value?: OrganizationRole; without?: OrganizationRole; error: string | undefined };

/** Choice of a role in the organization, with its permissions. */
export function RoleField({ value = 'viewer', without, error }: Props) {
  return (
    <SelectField label="Role" name="role" defaultValue={value} error={error}>
      {ORGANIZATION_ROLES.filter((role) => role !== without).map((role) => (
        <option key={role} value={role}>
          {ROLE_WORDS[role]}
        </option>
      ))}
    </SelectField>
  );
}

/** The role of a form with that field. */
export function roleIn(form: FormData): OrganizationRole {
  return ORGANIZATION_ROLES.find((role) => role === form.get('role')) ?? 'member';
}

export function textIn(form: FormData, name: string): string {
  return String(form.get(name) ?? '').trim();
}
