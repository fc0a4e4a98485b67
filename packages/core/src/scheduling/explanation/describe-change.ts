import { formatBytes } from '../../model/bytes.js';
import { quotedTitle } from '../../model/volume-overrides.js';
import type { CureChange } from '../framework/cure-change.js';
import { isNodeSwitch, NODE_SWITCHES } from '../framework/node-switches.js';

/** What to do, as the beginning of a sentence. */
export function describeChange(change: CureChange): string {
  if (isNodeSwitch(change)) return NODE_SWITCHES[change.kind].text(change.nodeName);
  switch (change.kind) {
    case 'wait-until':
      return `wait until ${change.at}, when failed replica ${change.replicaId} gives its place up`;
    case 'start-agent':
      return `start the agent on node ${change.nodeName}`;
    case 'repair-disk':
      return `repair disk ${change.diskName} of node ${change.nodeName}`;
    case 'enable-disk-scheduling':
      return `allow scheduling on disk ${change.diskName} of node ${change.nodeName}`;
    case 'cancel-disk-eviction':
      return `cancel the eviction of disk ${change.diskName} of node ${change.nodeName}`;
    case 'tag-node':
      return `tag node ${change.nodeName} with ${change.tags.join(', ')}`;
    case 'tag-disk':
      return `tag disk ${change.diskName} of node ${change.nodeName} with ${change.tags.join(', ')}`;
    case 'remove-selector-tags':
      return `remove ${change.tags.join(', ')} from the volume's ${selectorName(change.selector)}`;
    case 'add-selector-tags':
      return `add ${change.tags.join(', ')} to the volume's ${selectorName(change.selector)}`;
    case 'free-space':
      return describeFreeing(change);
    case 'lower-reserve':
      return `lower the reserve of disk ${change.diskName} of node ${change.nodeName} to ${exactBytes(change.toBytes)}`;
    case 'set-override':
      return `set ${quotedTitle(change.field)} of the volume to ${change.to}`;
    case 'set-setting':
      return `set ${change.setting} to ${change.to} (it is ${change.from})`;
    case 'add-disk':
      return `add ${newDisk(change)} to node ${change.nodeName}`;
    case 'add-node': {
      const where = change.zone === null ? '' : ' in a new zone';
      return `add a node${where}${tagged(change.tags)} with ${newDisk(change)}`;
    }
  }
}

function newDisk(change: Extract<CureChange, { kind: 'add-disk' | 'add-node' }>): string {
  const { diskType, fileSystem, diskTags, bytes } = change;
  const type = fileSystem === null ? diskType : `${diskType} (${fileSystem})`;
  return `a ${type} disk of at least ${exactBytes(bytes)}${tagged(diskTags)}`;
}

function describeFreeing(change: Extract<CureChange, { kind: 'free-space' }>): string {
  const { freeBytes, releaseBytes, diskName, nodeName } = change;
  const free = `free at least ${exactBytes(freeBytes)} on disk ${diskName} of node ${nodeName}`;
  const release = `move replicas of at least ${exactBytes(releaseBytes)} off `;
  if (releaseBytes === 0) return free;
  if (freeBytes === 0) return `${release}disk ${diskName} of node ${nodeName}`;
  return `${free} and ${release}it`;
}

function selectorName(selector: 'nodeSelector' | 'diskSelector'): string {
  return selector === 'nodeSelector' ? 'node selector' : 'disk selector';
}

function tagged(tags: readonly string[]): string {
  return tags.length === 0 ? '' : ` tagged ${tags.join(', ')}`;
}

/** A rounded figure alone would be off by more than the byte that decides. */
function exactBytes(bytes: number): string {
  const figure = formatBytes(bytes);
  const isRounded = figure.includes('.');
  return isRounded ? `${figure} (${bytes} bytes)` : figure;
}
