'use client';
import { formatBytes } from '@holdfast/core/model/bytes.js';
import { StackedBar } from '@holdfast/ui/meter.js';
import { Panel } from '@holdfast/ui/panel.js';
import { useSomeDisks, useZones } from '../api/node-queries';
import type { Disk, Zone } from '../api/types';
import { Loaded } from './loaded';
import { NodeName } from './node-name';

const DISKS_SHOWN_MAX = 5;

export type Usage = { maximum: number; used: number; reserved: number; scheduled: number };

export function usageOf(disks: readonly Disk[]): Usage {
  const sum = (pick: (disk: Disk) => number) => disks.reduce((total, disk) => total + pick(disk), 0);
  return {
    maximum: sum((disk) => disk.storageMaximum),
    used: sum((disk) => Math.max(0, disk.storageMaximum - disk.storageAvailable)),
    reserved: sum((disk) => disk.storageReserved),
    scheduled: sum((disk) => disk.storageScheduled),
  };
}

/** The same of sums that the API made. */
export function usageOfSums(sums: readonly Zone['storage'][]): Usage {
  const sum = (pick: (storage: Zone['storage']) => number) =>
    sums.reduce((total, storage) => total + pick(storage), 0);
  return {
    maximum: sum(({ maximum }) => maximum),
    used: sum(({ maximum, available }) => Math.max(0, maximum - available)),
    reserved: sum(({ reserved }) => reserved),
    scheduled: sum(({ scheduled }) => scheduled),
  };
}

function shareOf(part: number, whole: number): number {
  return whole > 0 ? (100 * part) / whole : 0;
}

/** Answers: what is running out? */
export function CapacityPanel() {
  const zones = useZones();
  return (
    <Panel title="Capacity" hint="Space on the disks, in use and promised to volumes">
      <Loaded query={zones} what="the disks">
        {(data) =>
          data.every(({ disks }) => disks === 0) ? (
            <p className="text-sm text-muted">No disks yet. An agent brings its own when it first reports.</p>
          ) : (
            <Capacity zones={data} />
          )
        }
      </Loaded>
    </Panel>
  );
}

function Capacity({ zones }: { zones: readonly Zone[] }) {
  const total = usageOfSums(zones.map(({ storage }) => storage));
  const fullest = useSomeDisks({ sort: '-promisedPercent,name', limit: DISKS_SHOWN_MAX }).data ?? [];
  return (
    <div className="flex flex-col gap-4">
      <div>
        <div className="mb-1.5 flex items-baseline justify-between gap-2">
          <p className="text-base font-semibold tabular-nums">
            {formatBytes(total.maximum - total.used)}{' '}
            <span className="text-sm font-normal text-muted">free of {formatBytes(total.maximum)}</span>
          </p>
          <p className="text-xs tabular-nums text-muted">{formatBytes(total.scheduled)} promised</p>
        </div>
        <CapacityBar label="The whole cluster" usage={total} />
      </div>
      <ul className="flex flex-col gap-2.5">
        {fullest.map((disk) => (
          <DiskRow key={disk.id} disk={disk} />
        ))}
      </ul>
    </div>
  );
}

function DiskRow({ disk }: { disk: Disk }) {
  return (
    <li>
      <div className="mb-1 flex justify-between gap-2 text-xs">
        <span className="truncate text-muted">
          <NodeName id={disk.nodeId} /> / {disk.name}
        </span>
        <span className="tabular-nums text-muted">{promised(disk).toFixed(0)} % promised</span>
      </div>
      <CapacityBar label={disk.name} usage={usageOf([disk])} />
    </li>
  );
}

function promised(disk: Disk): number {
  return shareOf(disk.storageScheduled, disk.storageMaximum - disk.storageReserved);
}

/** Used, then promised but not written yet, then reserved. */
export function CapacityBar({ label, usage }: { label: string; usage: Usage }) {
  const { maximum, used, scheduled, reserved } = usage;
  const unwritten = Math.max(0, Math.min(scheduled, maximum) - used);
  const tone = shareOf(used, maximum) > 85 ? 'warn' : 'busy';
  const text = `${label}: ${formatBytes(used)} used, ${formatBytes(scheduled)} promised, ${formatBytes(reserved)} reserved of ${formatBytes(maximum)}`;
  return (
    <StackedBar
      label={text}
      total={maximum}
      segments={[
        { label: `${formatBytes(used)} used`, value: used, tone },
        { label: `${formatBytes(unwritten)} promised, not written yet`, value: unwritten, tone: 'promised' },
        { label: `${formatBytes(reserved)} reserved`, value: reserved, tone: 'reserve' },
      ]}
    />
  );
}
