'use client';
import { Button } from '@holdfast/ui/button.js';
import { TextField } from '@holdfast/ui/field.js';
import { Moment } from '@holdfast/ui/moment.js';
import type { Column } from '@holdfast/ui/table.js';
import Link from 'next/link';
import { useState } from 'react';
import { organizationApi, type Project } from '../../../../src/api/organization';
import { useForbidden } from '../../../../src/api/use-access';
import { ConfirmButton } from '../../../../src/organization/confirm-button';
import { FormDialog } from '../../../../src/organization/form-dialog';
import { ListPanel, useOrganizationList } from '../../../../src/organization/list-panel';
import { textIn } from '../../../../src/organization/role-field';
import { paths } from '../../../../src/paths';

/** The organization's projects: volumes belong to one, and so do roles in it. */
export default function ProjectsPage() {
  const projects = useOrganizationList('projects', organizationApi.projects);
  const forbidden = useForbidden()('project:write');
  const [isAsked, setAsked] = useState(false);
  const columns: Column<Project>[] = [
    {
      header: 'Name',
      cell: ({ id, name }) => (
        <Link
          href={paths.project(id)}
          className="inline-flex min-h-6 items-center font-medium hover:underline"
        >
          {name}
        </Link>
      ),
    },
    { header: 'Created', cell: ({ createdAt }) => <Moment at={createdAt} /> },
    {
      header: 'Actions',
      isHeaderHidden: true,
      align: 'right',
      cell: ({ id, name }) => (
        <ConfirmButton
          label="Delete"
          of={name}
          question={`Delete project ${name}?`}
          consequence="Only a project without volumes can be deleted. Roles in it end."
          done={`${name} is deleted.`}
          disabledReason={forbidden}
          run={() => organizationApi.deleteProject(id)}
        />
      ),
    },
  ];
  return (
    <>
      <ListPanel
        title="Projects"
        hint="Volumes belong to one; members may have further roles in it"
        query={projects}
        what="the projects"
        columns={columns}
        rowKey={({ id }) => id}
        empty={{ title: 'No projects yet', body: 'A volume needs one.' }}
        aside={
          <Button variant="primary" disabledReason={forbidden} onClick={() => setAsked(true)}>
            New project…
          </Button>
        }
      />
      {isAsked && (
        <FormDialog
          title="New project"
          description="Its name is unique in the organization."
          submitLabel="Create project"
          done="The project is created."
          run={(form) => organizationApi.createProject(textIn(form, 'name'))}
          onClose={() => setAsked(false)}
        >
          {(errorAt) => <TextField label="Name" name="name" required error={errorAt('/name')} />}
        </FormDialog>
      )}
    </>
  );
}
