/** A disk's state in words for people. */
import { formatBytes } from '@holdfast/core/model/bytes.js';
import { answerTimesText } from '@holdfast/core/model/disk-answers.js';
import { labelsText } from '../output/labels.js';
import type { Disk } from '../types.js';

/** A condition that does not make a disk bad: without direct I/O it works, at a cost. */
const DIRECT_IO = 'DirectIo';
/** As well: another node has a copy of it, which is not used. */
const UNIQUE = 'Unique';

export function directIoRefusal({ conditions }: Disk): string | undefined {
  return conditions.find(({ status, type }) => status === 'False' && type === DIRECT_IO)?.message;
}

export function diskStatus(disk: Disk): string {
  if (disk.removalRequestedAt !== null) return '… being taken off';
  const wrong = disk.conditions.find(
    ({ status, type }) => status === 'False' && type !== DIRECT_IO && type !== UNIQUE,
  );
  if (wrong?.reason === 'DiskPending') return '… being set up';
  if (wrong !== undefined) return `✕ ${wrong.reason}`;
  if (disk.evictionRequested) return '▲ evicting';
  if (!disk.allowScheduling) return '○ scheduling off';
  if (disk.conditions.some(({ status, type }) => status === 'False' && type === UNIQUE))
    return '▲ ready, DuplicateDisk';
  return directIoRefusal(disk) === undefined ? '✓ ready' : '▲ ready, no direct I/O';
}

export function describeDisk(disk: Disk, nodeName: string): string {
  const { answers, labels, tags } = disk;
  const notes = disk.conditions
    .filter(({ status }) => status === 'False')
    .map(({ type, message }) => `${type}: ${message}`);
  const rows: [string, string][] = [
    ['name', disk.name],
    ['id', disk.id],
    ['node', nodeName],
    ['status', diskStatus(disk)],
    ...notes.map((note): [string, string] => ['', note]),
    ['folder', disk.path],
    ['size', `${formatBytes(disk.storageMaximum)}, ${formatBytes(disk.storageAvailable)} free`],
    ['promised', `${formatBytes(disk.storageScheduled)}, ${formatBytes(disk.writtenBytes)} of it written`],
    ['answers', (answers === null ? undefined : answerTimesText(answers)) ?? 'not known'],
    ['tags', tags.join(',') || '-'],
    ['labels', labelsText(labels)],
  ];
  const width = Math.max(...rows.map(([label]) => label.length));
  return rows.map(([label, value]) => `${label.padEnd(width)}  ${value}`.trimEnd()).join('\n');
}
