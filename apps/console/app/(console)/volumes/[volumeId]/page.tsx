'use client';
import { formatBytes } from '@holdfast/core/model/bytes.js';
import { decideChange } from '@holdfast/core/policy/decide-change.js';
import { Panel } from '@holdfast/ui/panel.js';
import Link from 'next/link';
import { use } from 'react';
import { reasonOf } from '../../../../src/actions';
import { useEvents, useVolume } from '../../../../src/api/queries';
import type { Volume } from '../../../../src/api/types';
import { useForbidden } from '../../../../src/api/use-access';
import { paths } from '../../../../src/paths';
import { CopyQuestionAs } from '../../../../src/shared/copy-question';
import { EventsList } from '../../../../src/shared/events-list';
import { LabelsPanel } from '../../../../src/shared/labels-panel';
import { Loaded } from '../../../../src/shared/loaded';
import { PageHeader } from '../../../../src/shared/page-header';
import { RobustnessBadge, StateBadge } from '../../../../src/shared/volume-badges';
import { AttentionBox } from '../../../../src/volume/attention-box';
import { ConnectPanel } from '../../../../src/volume/connect-panel';
import { ExplanationPanel } from '../../../../src/volume/explanation-panel';
import { PlacementPicture } from '../../../../src/volume/placement-picture';
import { RecurringPanel } from '../../../../src/volume/recurring-panel';
import { SnapshotsPanel } from '../../../../src/volume/snapshots-panel';
import { useActionFacts } from '../../../../src/volume/use-action-facts';
import { VerificationPanel } from '../../../../src/volume/verification-panel';
import { VolumeActions } from '../../../../src/volume/volume-actions';
import { VolumeRebuilds } from '../../../../src/volume/volume-rebuilds';
import { VolumeSettingsPanel } from '../../../../src/volume/volume-settings-panel';

export default function VolumePage({ params }: { params: Promise<{ volumeId: string }> }) {
  const { volumeId } = use(params);
  const volume = useVolume(volumeId);
  return (
    <>
      <p className="mb-1 text-xs text-muted">
        <Link href={paths.volumes} className="inline-flex min-h-6 items-center hover:underline">
          Volumes
        </Link>
        {' /'}
      </p>
      <Loaded query={volume} what="the volume" rows={6}>
        {(data) => <VolumeDetail volume={data} />}
      </Loaded>
    </>
  );
}

function VolumeDetail({ volume }: { volume: Volume }) {
  return (
    <>
      <title>{`${volume.name} · Holdfast`}</title>
      <PageHeader
        title={volume.name}
        subtitle={
          <span className="flex flex-wrap items-center gap-x-3 gap-y-1">
            <RobustnessBadge volume={volume} />
            <StateBadge volume={volume} />
            <span className="tabular-nums">
              {formatBytes(volume.size)}, {formatBytes(volume.writtenBytes)} written
            </span>
            <span>
              {volume.numberOfReplicas === 1 ? '1 copy wanted' : `${volume.numberOfReplicas} copies wanted`}
            </span>
          </span>
        }
        actions={<VolumeActions volume={volume} />}
      />
      <AttentionBox volume={volume} />
      <div className="grid items-start gap-4 xl:grid-cols-3">
        <div className="flex min-w-0 flex-col gap-4 xl:col-span-2">
          <Panel title="Where its copies are" hint="By zone, node and disk">
            <PlacementPicture volume={volume} />
          </Panel>
          <SnapshotsPanel volume={volume} />
          <ExplanationPanel volume={volume} />
          <VolumeStory volume={volume} />
        </div>
        <div className="flex min-w-0 flex-col gap-4">
          <ConnectPanel volume={volume} />
          <RecurringPanel volume={volume} />
          <VolumeRebuilds volume={volume} />
          <VerificationPanel volume={volume} />
          <VolumeLabels volume={volume} />
          <VolumeSettingsPanel volume={volume} />
        </div>
      </div>
    </>
  );
}

function VolumeLabels({ volume }: { volume: Volume }) {
  const forbidden = useForbidden(volume.projectId)('volume:write');
  const changing = reasonOf(decideChange(useActionFacts(volume)));
  return (
    <LabelsPanel
      of={volume.name}
      labels={volume.labels}
      path={`/clusters/${volume.clusterId}/volumes/${volume.id}`}
      disabledReason={forbidden ?? changing}
    />
  );
}

function VolumeStory({ volume }: { volume: Volume }) {
  const filter = `volumeId=${volume.id}`;
  const events = useEvents(filter);
  const question = { path: '/clusters/{clusterId}/events', query: { filter } };
  return (
    <Panel
      title="What happened"
      flush
      aside={<CopyQuestionAs of="what happened" question={question} isList />}
    >
      <Loaded query={events} what="the events">
        {(data) => <EventsList events={data} />}
      </Loaded>
    </Panel>
  );
}
