'use client';
import { organizationApi } from '../../../../src/api/organization';
import { useWhoAmI } from '../../../../src/api/use-who-am-i';
import { useOrganizationList } from '../../../../src/organization/list-panel';
import { QuotaPanel } from '../../../../src/organization/quota-panel';
import { Loaded } from '../../../../src/shared/loaded';

/** Quotas of the organization and of each of its projects, with their usage. */
export default function QuotasPage() {
  const who = useWhoAmI();
  const projects = useOrganizationList('projects', organizationApi.projects);
  return (
    <>
      <Loaded query={who} what="the organization">
        {({ organizationId, organizationName }) => (
          <QuotaPanel
            title={`Quota of ${organizationName}`}
            owner={{ kind: 'organization', id: organizationId }}
          />
        )}
      </Loaded>
      <Loaded query={projects} what="the projects">
        {(data) => (
          <>
            {data.map(({ id, name }) => (
              <QuotaPanel key={id} title={`Quota of project ${name}`} owner={{ kind: 'project', id }} />
            ))}
          </>
        )}
      </Loaded>
    </>
  );
}
