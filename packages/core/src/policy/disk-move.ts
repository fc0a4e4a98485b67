/** Events about disks that are found on another node, or twice. */
import type { DiskNews } from './disk-events.js';

export function diskMovedNews(disk: string, from: string, to: string): DiskNews {
  return {
    type: 'DiskMoved',
    message: `disk ${disk} is on node ${to} now, it was on ${from}; its replicas are there too`,
  };
}

/** What the row of the disk that is in use says of a second one. */
export function duplicatedMessage(node: string, path: string): string {
  return `node ${node} has a disk of the same identity at ${path}, which is not used`;
}

export function diskDuplicatedNews(disk: string, node: string, path: string): DiskNews {
  return { type: 'DiskDuplicated', message: `disk ${disk}: ${duplicatedMessage(node, path)}` };
}
