'use client';
import { PROJECT_ROLES, type ProjectRole } from '@holdfast/access/permissions.js';
import { Button } from '@holdfast/ui/button.js';
import { SelectField } from '@holdfast/ui/field.js';
import { Moment } from '@holdfast/ui/moment.js';
import type { Column } from '@holdfast/ui/table.js';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { organizationApi, type Project, type ProjectMember } from '../api/organization';
import { useForbidden } from '../api/use-access';
import { ConfirmButton } from './confirm-button';
import { FormDialog } from './form-dialog';
import { ListPanel, useOrganizationList } from './list-panel';
import { textIn } from './role-field';

type Props = { project: Pick<Project, 'id' | 'name'> };

/** Who has a role in the project beyond the one in the organization. */
export function ProjectMembersPanel({ project }: Props) {
  const members = useQuery({
    queryKey: ['organization', 'project-members', project.id],
    queryFn: () => organizationApi.projectMembers(project.id),
  });
  const forbidden = useForbidden()('project:manage');
  const [isAsked, setAsked] = useState(false);
  const columns: Column<ProjectMember>[] = [
    { header: 'Name', cell: ({ name }) => <span className="font-medium">{name}</span> },
    { header: 'E-mail', cell: ({ email }) => <span className="break-all text-muted">{email}</span> },
    { header: 'Role here', cell: ({ role }) => role },
    { header: 'Since', cell: ({ createdAt }) => <Moment at={createdAt} /> },
    {
      header: 'Actions',
      isHeaderHidden: true,
      align: 'right',
      cell: ({ userId, name }) => (
        <ConfirmButton
          label="Remove"
          of={name}
          question={`Take the role of ${name} in ${project.name}?`}
          consequence="The permissions of the role in the organization stay."
          done={`${name} has no role in ${project.name} any more.`}
          disabledReason={forbidden}
          run={() => organizationApi.removeProjectMember(project.id, userId)}
        />
      ),
    },
  ];
  return (
    <>
      <ListPanel
        title="Roles in this project"
        hint="In addition to roles in the organization"
        query={members}
        what="the roles in it"
        path={`/projects/${project.id}/members`}
        columns={columns}
        rowKey={({ userId }) => userId}
        empty={{ title: 'No further roles', body: 'Roles in the organization hold in its projects, too.' }}
        aside={
          <Button disabledReason={forbidden} onClick={() => setAsked(true)}>
            Give a role…
          </Button>
        }
      />
      {isAsked && <RoleDialog project={project} onClose={() => setAsked(false)} />}
    </>
  );
}

function RoleDialog({ project, onClose }: Props & { onClose: () => void }) {
  const members = useOrganizationList('members', organizationApi.members);
  return (
    <FormDialog
      title={`A role in ${project.name}`}
      description="A member who has one already gets the new one instead."
      submitLabel="Give role"
      done="The role is given."
      run={(form) => organizationApi.setProjectRole(project.id, textIn(form, 'userId'), projectRoleIn(form))}
      onClose={onClose}
    >
      {(errorAt) => (
        <>
          <SelectField label="Member" name="userId" error={errorAt('/userId')}>
            {(members.data ?? []).map(({ userId, name, role }) => (
              <option key={userId} value={userId}>
                {name}, {role} in the organization
              </option>
            ))}
          </SelectField>
          <SelectField label="Role here" name="role" error={errorAt('/role')}>
            {PROJECT_ROLES.map((role) => (
              <option key={role} value={role}>
                {role}
              </option>
            ))}
          </SelectField>
        </>
      )}
    </FormDialog>
  );
}

function projectRoleIn(form: FormData): ProjectRole {
  return PROJECT_ROLES.find((role) => role === form.get('role')) ?? 'viewer';
}
