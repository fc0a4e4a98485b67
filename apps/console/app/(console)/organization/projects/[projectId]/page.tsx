'use client';
import { useQuery } from '@tanstack/react-query';
import { use } from 'react';
import { organizationApi } from '../../../../../src/api/organization';
import { ProjectMembersPanel } from '../../../../../src/organization/project-members-panel';
import { QuotaPanel } from '../../../../../src/organization/quota-panel';
import { paths } from '../../../../../src/paths';
import { Breadcrumbs } from '../../../../../src/shared/breadcrumbs';
import { Loaded } from '../../../../../src/shared/loaded';

/** One project: roles of its members, and usage of its quota. */
export default function ProjectPage({ params }: { params: Promise<{ projectId: string }> }) {
  const { projectId } = use(params);
  const project = useQuery({
    queryKey: ['organization', 'projects', projectId],
    queryFn: () => organizationApi.project(projectId),
  });
  return (
    <>
      <Breadcrumbs trail={[{ href: paths.projects, label: 'Projects' }]} />
      <Loaded query={project} what="the project">
        {({ id, name }) => (
          <>
            <h2 className="text-base font-semibold">{name}</h2>
            <ProjectMembersPanel project={{ id, name }} />
            <QuotaPanel title={`Quota of ${name}`} owner={{ kind: 'project', id }} />
          </>
        )}
      </Loaded>
    </>
  );
}
