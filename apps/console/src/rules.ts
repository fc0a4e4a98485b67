/** The scheduler's rules and tiers as users read them. A name that is not here yet is shown as it is. */
const RULES: Record<string, string> = {
  'node-ready': 'Node answers',
  'node-schedulable': 'Node is not cordoned or being emptied',
  'node-allow-scheduling': 'Node takes replicas',
  'linked-clone-node': 'Node holds the clone source',
  'required-node': 'Node is the required one',
  topology: 'Node is in the required topology',
  'engine-available': 'Node has a data engine',
  'node-tags': 'Node has the wanted tags',
  'backing-image-node': 'Backing image may go to the node',
  'node-anti-affinity': 'Node holds no other copy',
  'zone-anti-affinity': 'Zone holds no other copy',
  'node-has-disk': 'Node has a disk',
  'reuse-disk': 'Disk holds the failed copy',
  'disk-ready': 'Disk is ready',
  'disk-allow-scheduling': 'Disk takes replicas',
  'linked-clone-disk': 'Disk holds the clone source',
  'disk-type': 'Disk is of the right type',
  'file-system-limit': 'File system takes so large a file',
  'disk-tags': 'Disk has the wanted tags',
  'backing-image-disk': 'Backing image may go to the disk',
  'free-space': 'Enough space stays free',
  'provisionable-space': 'Enough space is left to promise',
  'disk-anti-affinity': 'Disk holds no other copy',
};

const TIER_OUTCOMES: Record<string, string> = {
  won: 'Chosen',
  'no-node': 'No such node',
  'no-disk': 'None of their disks fits',
  'not-needed': 'Not needed',
};

export function ruleName(rule: string): string {
  return RULES[rule] ?? rule;
}

export function tierOutcome(outcome: string): string {
  return TIER_OUTCOMES[outcome] ?? outcome;
}

/** `NodeNotReady` as `node not ready`. */
export function reasonInWords(reason: string): string {
  return reason.replace(/(?<=[a-z])(?=[A-Z])/g, ' ').toLowerCase();
}
