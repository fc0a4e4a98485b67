'use client';
import { formatBytes, GIB } from '@holdfast/core/model/bytes.js';
import { Button } from '@holdfast/ui/button.js';
import { TextField } from '@holdfast/ui/field.js';
import { Moment } from '@holdfast/ui/moment.js';
import type { Column } from '@holdfast/ui/table.js';
import { useState } from 'react';
import { useForbidden } from '../../../../src/api/use-access';
import { useCluster } from '../../../../src/api/use-cluster';
import { type Grant, type ReceivedGrant, webhooksApi } from '../../../../src/api/webhooks';
import { ConfirmButton } from '../../../../src/organization/confirm-button';
import { FormDialog } from '../../../../src/organization/form-dialog';
import { ListPanel, useOrganizationList } from '../../../../src/organization/list-panel';
import { textIn } from '../../../../src/organization/role-field';

/** Which organizations may place volumes in this cluster, and in whose clusters this one may. */
export default function GrantsPage() {
  const cluster = useCluster();
  const given = useOrganizationList(`grants ${cluster.id}`, () => webhooksApi.grants(cluster.id));
  const received = useOrganizationList('received-grants', webhooksApi.receivedGrants);
  const forbidden = useForbidden()('grant:write');
  const [isAsked, setAsked] = useState(false);
  const columns: Column<Grant>[] = [
    {
      header: 'To organization',
      cell: ({ organizationId }) => <code className="font-mono text-xs break-all">{organizationId}</code>,
    },
    ...USE_COLUMNS,
    {
      header: 'Actions',
      isHeaderHidden: true,
      align: 'right',
      cell: ({ id, organizationId }) => (
        <ConfirmButton
          label="End"
          of={`the grant to ${organizationId}`}
          question="End this grant?"
          consequence="It can be ended only when the organization has no volume here."
          done="The grant has ended."
          disabledReason={forbidden}
          run={() => webhooksApi.endGrant(cluster.id, id)}
        />
      ),
    },
  ];
  return (
    <>
      <ListPanel
        title={`Given: who may use ${cluster.name}`}
        query={given}
        what="the grants"
        columns={columns}
        rowKey={({ id }) => id}
        empty={{ title: 'No other organization may place volumes here' }}
        aside={
          <Button variant="primary" disabledReason={forbidden} onClick={() => setAsked(true)}>
            New grant…
          </Button>
        }
      />
      <ListPanel
        title="Received: clusters of other organizations that this one may use"
        query={received}
        what="the received grants"
        path="/grants"
        columns={RECEIVED_COLUMNS}
        rowKey={({ id }) => id}
        empty={{ title: 'No grant was received' }}
      />
      {isAsked && <GrantDialog onClose={() => setAsked(false)} />}
    </>
  );
}

function GrantDialog({ onClose }: { onClose: () => void }) {
  const cluster = useCluster();
  return (
    <FormDialog
      title={`Let an organization use ${cluster.name}`}
      description="Its volumes are placed here, within these limits. Empty: no limit."
      submitLabel="Grant"
      done="The grant is made."
      run={(form) =>
        webhooksApi.createGrant(cluster.id, {
          organizationId: textIn(form, 'organizationId'),
          provisionedBytes: numberIn(form, 'sizeGib', GIB),
          volumes: numberIn(form, 'volumes', 1),
        })
      }
      onClose={onClose}
    >
      {(errorAt) => (
        <>
          <TextField
            label="Id of the organization"
            name="organizationId"
            required
            error={errorAt('/organizationId')}
          />
          <div className="grid grid-cols-2 gap-3">
            <TextField
              label="GiB at most"
              name="sizeGib"
              type="number"
              min={0}
              step="any"
              error={errorAt('/provisionedBytes')}
            />
            <TextField
              label="Volumes at most"
              name="volumes"
              type="number"
              min={0}
              error={errorAt('/volumes')}
            />
          </div>
        </>
      )}
    </FormDialog>
  );
}

function numberIn(form: FormData, name: string, factor: number): number | null {
  const text = textIn(form, name);
  return text === '' ? null : Math.round(Number(text) * factor);
}

const USE_COLUMNS: Column<Pick<Grant, 'limits' | 'used' | 'createdAt'>>[] = [
  {
    header: 'Size',
    align: 'right',
    cell: ({ limits, used }) =>
      `${formatBytes(used.provisionedBytes)} of ${limits.provisionedBytes === null ? 'any' : formatBytes(limits.provisionedBytes)}`,
  },
  {
    header: 'Volumes',
    align: 'right',
    cell: ({ limits, used }) => `${used.volumes} of ${limits.volumes ?? 'any'}`,
  },
  { header: 'Since', cell: ({ createdAt }) => <Moment at={createdAt} /> },
];

const RECEIVED_COLUMNS: Column<ReceivedGrant>[] = [
  { header: 'Cluster', cell: ({ clusterName }) => <span className="font-medium">{clusterName}</span> },
  ...USE_COLUMNS,
];
