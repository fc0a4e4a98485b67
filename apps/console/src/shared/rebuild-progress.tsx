'use client';
import { formatBytes } from '@holdfast/core/model/bytes.js';
import { Badge } from '@holdfast/ui/badge.js';
import { Meter } from '@holdfast/ui/meter.js';
import type { Tone } from '@holdfast/ui/tone.js';
import Link from 'next/link';
import type { Rebuild } from '../api/types';
import { paths } from '../paths';
import { sentence } from '../sentence';
import { REBUILD_STATE } from '../states';
import { RebuildControls } from './rebuild-controls';
import { RebuildSnapshots } from './rebuild-snapshots';

type Props = {
  rebuild: Rebuild;
  names: { volume: string; node: string };
  /** On pages where users act, and not only look. */
  withControls?: boolean;
};

/** One rebuild as users want to know it: of what, to where, how far, how fast, and safe by when. */
export function RebuildProgress({ rebuild, names, withControls = false }: Props) {
  const { tone } = REBUILD_STATE[rebuild.state];
  const look = lookOf(rebuild);
  return (
    <div className="flex flex-col gap-1.5">
      <div className="flex flex-wrap items-baseline justify-between gap-x-3">
        <p className="min-w-0 truncate text-sm">
          <Link href={paths.volume(rebuild.volumeId)} className="font-medium hover:underline">
            {names.volume}
          </Link>
          <span className="text-muted"> → {names.node}</span>
        </p>
        <Badge tone={look.tone} quiet>
          {look.word}
        </Badge>
      </div>
      {rebuild.state === 'queued' ? (
        <p className="text-xs text-muted">
          {[placeText(rebuild), priorityText(rebuild), ...etaText(rebuild)].join(' · ')}
          {rebuild.waitingFor !== '' && <span className="block">{sentence(rebuild.waitingFor)}</span>}
        </p>
      ) : (
        <>
          <Meter label={`Rebuild of ${names.volume}`} percent={rebuild.percent} tone={tone} />
          <p className="text-xs tabular-nums text-muted">
            {workText(rebuild)}
            <span className="block empty:hidden">{paceText(rebuild)}</span>
          </p>
          <RebuildSnapshots rebuild={rebuild} />
        </>
      )}
      {withControls && <RebuildControls rebuild={rebuild} name={names.volume} />}
    </div>
  );
}

/** More specific than the state: progress, or that it is paused by a user or by its volume. */
function lookOf({ state, paused, phase, waitingReason }: Rebuild): { tone: Tone; word: string } {
  const isActive = state === 'running' || state === 'queued';
  if (isActive && paused) return { tone: 'idle', word: 'Paused' };
  if (state === 'running') return { tone: 'busy', word: phase.charAt(0).toUpperCase() + phase.slice(1) };
  if (state === 'queued' && waitingReason?.startsWith('Volume') === true)
    return { tone: 'warn', word: 'Blocked' };
  return REBUILD_STATE[state];
}

/** One that was preempted has done a part already. */
function placeText({ queuePosition, percent }: Rebuild): string {
  const place = queuePosition === null ? 'Waiting' : `Place ${queuePosition} in the queue`;
  return percent > 0 ? `${place}, ${Math.floor(percent)} % done` : place;
}

/** Fewest full copies first: the reason for its place beside when it was queued. */
function priorityText({ priority }: Rebuild): string {
  return `priority ${priority}: ${priority === 1 ? 'the last full copy' : `${priority} full copies`}`;
}

/** Bytes compared, already present, sent, written and verified, of all that the target has to hold. */
function workText({ bytes: { compared, skipped, sent, written, verified, total } }: Rebuild): string {
  const parts = [
    ...(compared > 0 ? [`${formatBytes(compared)} compared`] : []),
    ...(skipped > 0 ? [`${formatBytes(skipped)} skipped`] : []),
    `${formatBytes(sent)} sent`,
    ...(written > 0 ? [`${formatBytes(written)} written`] : []),
    ...(verified > 0 ? [`${formatBytes(verified)} verified`] : []),
    `of ${formatBytes(total)}`,
  ];
  return parts.join(' · ');
}

/** Present rate, and estimated end. Nothing for one that has ended. */
function paceText(rebuild: Rebuild): string {
  if (rebuild.state !== 'running') return '';
  const rate = [`${formatBytes(rebuild.rateBytesPerSecond)}/s in the last 10 s`];
  return [...(rebuild.rateBytesPerSecond > 0 ? rate : []), ...etaText(rebuild)].join(' · ');
}

function formatSeconds(seconds: number): string {
  return seconds < 120 ? `${seconds} s` : `${Math.round(seconds / 60)} min`;
}

/** A clock time, and how much later it may get. */
function etaText(rebuild: Rebuild): string[] {
  if (rebuild.eta === null) return [];
  const clock = new Date(rebuild.eta.p50).toLocaleTimeString([], {
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
  });
  const laterSeconds = Math.round((Date.parse(rebuild.eta.p90) - Date.parse(rebuild.eta.p50)) / 1000);
  return [`safe by ${clock}${laterSeconds > 0 ? `, at most ${formatSeconds(laterSeconds)} later` : ''}`];
}
