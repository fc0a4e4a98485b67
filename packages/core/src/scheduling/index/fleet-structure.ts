/**
 * The data of the fleet index: nodes in groups, disks in columns, and the plans of the kinds of requests seen. It
 * changes in two ways. Figures and states change in place, in the depth of a tournament. Where a node, a disk, tags or a
 * zone change, the node becomes ungrouped, and groups are assigned before the next decision.
 */
import { Bug } from '../../model/faults.js';
import { asId, compareIds, type DiskId, type NodeId } from '../../model/ids.js';
import { type StorageDisk, type StorageNode, zoneKey } from '../../model/node.js';
import type { ClusterSettings } from '../../model/setting.js';
import { beginCycle, type Check } from '../framework/framework.js';
import type { PlacementRequest } from '../framework/placement-request.js';
import { HOLDFAST_PROFILE } from '../placement/profile.js';
import { DiskColumns } from './columns.js';
import { DiskClasses, distinctTags } from './disk-classes.js';
import { diskEligibilityCheck, type FleetShell, nodeEligibilityCheck } from './eligibility.js';
import { type NodeEntry, unknownNode } from './node-entry.js';
import { NodeGroup } from './node-group.js';
import { RequestKeys } from './request-keys.js';
import { planRequest, type RequestPlan } from './request-plan.js';

/** Kinds of requests remembered. Beyond, all are forgotten and matched again: selectors are few in any real fleet. */
const PLANS_MAX = 256;

/** In the place of the id of a slot that is not in use. */
const NO_DISK = asId<DiskId>('');

export class FleetStructure {
  readonly columns: DiskColumns;
  /** By slot. */
  readonly diskIds: DiskId[] = [];
  readonly nodeBySlot: NodeEntry[] = [];
  private readonly slots = new Map<DiskId, number>();
  private readonly nodes = new Map<NodeId, NodeEntry>();
  private readonly groups = new Map<string, NodeGroup>();
  private readonly classes = new DiskClasses();
  private readonly plans = new Map<number, RequestPlan>();
  private readonly keys = new RequestKeys(() => this.plans.clear());
  /** Nodes whose group is not determined: they are new, or changed in what makes a group. */
  private readonly ungrouped = new Set<NodeEntry>();
  private lastSlot = 0;
  private isNodeOpen: Check<StorageNode>;
  private isDiskOpen: Check<StorageDisk>;

  constructor(
    private facts: FleetShell,
    diskCount: number,
  ) {
    this.columns = new DiskColumns(facts.settings, diskCount);
    this.isNodeOpen = nodeEligibilityCheck(facts);
    this.isDiskOpen = diskEligibilityCheck(facts);
  }

  get shell(): FleetShell {
    return this.facts;
  }

  get settings(): ClusterSettings {
    return this.facts.settings;
  }

  node(id: NodeId): NodeEntry | undefined {
    return this.nodes.get(id);
  }

  slot(id: DiskId): number | undefined {
    return this.slots.get(id);
  }

  /** As `slot`, faster for the disk that was chosen last: a placement is followed by its booking. */
  recentSlot(id: DiskId): number | undefined {
    return this.diskIds[this.lastSlot] === id ? this.lastSlot : this.slots.get(id);
  }

  /** Says which disk was chosen last. */
  remember(slot: number): void {
    this.lastSlot = slot;
  }

  /** Adds a node, or says what has become of it. */
  putNode(node: StorageNode): void {
    const entry = this.entry(node.id);
    const before = entry.facts;
    entry.facts = node;
    entry.zone = zoneKey(node);
    entry.evicting = node.evictionRequested;
    entry.open = this.isNodeOpen(node) === undefined;
    if (before === undefined || nodeKind(before) !== nodeKind(node)) this.ungrouped.add(entry);
    else this.refresh(entry);
  }

  /** The node's disks stay known, and take nothing. */
  removeNode(id: NodeId): void {
    const entry = this.nodes.get(id);
    if (entry?.facts === undefined) return;
    entry.facts = undefined;
    entry.open = false;
    this.ungrouped.add(entry);
  }

  /** Adds a disk, or says what has become of it. */
  putDisk(disk: StorageDisk): void {
    const known = this.slots.get(disk.id);
    const classId = this.classes.idOf(disk, known === undefined ? undefined : this.columns.classOf(known));
    const state = { open: this.isDiskOpen(disk) === undefined, evicting: disk.evictionRequested };
    if (known !== undefined && this.nodeBySlot[known]?.id === disk.nodeId) {
      const before = this.columns.classOf(known);
      const totalBefore = this.columns.total(known);
      this.columns.write(known, disk, state, classId);
      const isOtherKind =
        before !== classId || (this.tellsCapacities && totalBefore !== this.columns.total(known));
      this.changed(this.nodeOf(known), isOtherKind);
      return;
    }
    this.removeDisk(disk.id);
    const slot = this.columns.allocate();
    const entry = this.entry(disk.nodeId);
    this.slots.set(disk.id, slot);
    this.diskIds[slot] = disk.id;
    this.nodeBySlot[slot] = entry;
    this.columns.write(slot, disk, state, classId);
    entry.slots.push(slot);
    entry.slots.sort((a, b) => compareIds(this.diskIds[a] ?? '', this.diskIds[b] ?? ''));
    this.changed(entry, true);
  }

  removeDisk(id: DiskId): void {
    const slot = this.slots.get(id);
    if (slot === undefined) return;
    const entry = this.nodeOf(slot);
    entry.slots = entry.slots.filter((other) => other !== slot);
    this.slots.delete(id);
    this.diskIds[slot] = NO_DISK;
    this.columns.release(slot);
    this.changed(entry, true);
  }

  /** @param slot of the disk, as `slot` or `recentSlot` found it */
  book(slot: number | undefined, sizeBytes: number, writtenBytes: number): void {
    if (slot === undefined) throw new Bug('a disk is to be booked that the index does not have');
    this.columns.book(slot, sizeBytes, writtenBytes);
    const node = this.nodeOf(slot);
    if (this.isGrouped(node)) node.group?.refreshDisk(node, this.columns.classOf(slot));
  }

  useSettings(shell: FleetShell): void {
    this.facts = shell;
    this.isNodeOpen = nodeEligibilityCheck(shell);
    this.isDiskOpen = diskEligibilityCheck(shell);
    this.columns.useSettings(shell.settings);
    for (const entry of this.nodes.values()) {
      entry.open = entry.facts !== undefined && this.isNodeOpen(entry.facts) === undefined;
      this.ungrouped.add(entry);
    }
  }

  /** What requests of this kind may use, with every noted change taken in. */
  plan(request: PlacementRequest, now: Date): RequestPlan {
    if (this.ungrouped.size > 0) this.assignGroups();
    const key = this.keys.of(request);
    const known = this.plans.get(key);
    if (known !== undefined) return known;
    const cycle = beginCycle(request, { ...this.shell, nodes: [], disks: [] }, HOLDFAST_PROFILE, now);
    const plan = planRequest(cycle, this.groups.values(), this.classes);
    if (this.plans.size >= PLANS_MAX) this.plans.clear();
    this.plans.set(key, plan);
    return plan;
  }

  /** Bytes of the typed arrays; ids, entries and maps come on top. */
  get arrayBytes(): number {
    let sum = this.columns.bytes;
    for (const group of this.groups.values()) sum += group.bytes;
    return sum;
  }

  get allNodes(): Iterable<NodeEntry> {
    return this.nodes.values();
  }

  get allGroups(): Iterable<NodeGroup> {
    if (this.ungrouped.size > 0) this.assignGroups();
    return this.groups.values();
  }

  private entry(id: NodeId): NodeEntry {
    const known = this.nodes.get(id);
    if (known !== undefined) return known;
    const entry = unknownNode(id);
    this.nodes.set(id, entry);
    return entry;
  }

  diskId(slot: number): DiskId {
    const id = this.diskIds[slot];
    if (id === undefined) throw new Bug(`slot ${slot} of the index has no disk`);
    return id;
  }

  nodeOf(slot: number): NodeEntry {
    const entry = this.nodeBySlot[slot];
    if (entry === undefined) throw new Bug(`slot ${slot} of the index has no node`);
    return entry;
  }

  private changed(entry: NodeEntry, isOtherKind: boolean): void {
    if (isOtherKind) this.ungrouped.add(entry);
    else this.refresh(entry);
  }

  /** An ungrouped node is measured when it gets its group. */
  private refresh(entry: NodeEntry): void {
    if (this.isGrouped(entry)) entry.group?.refresh(entry);
  }

  private isGrouped(entry: NodeEntry): boolean {
    return this.ungrouped.size === 0 || !this.ungrouped.has(entry);
  }

  private assignGroups(): void {
    for (const entry of this.ungrouped) {
      const key = entry.facts === undefined ? undefined : this.groupKey(entry, entry.facts);
      const group = key === undefined || entry.facts === undefined ? undefined : this.group(key, entry.facts);
      if (entry.group !== group) entry.group?.remove(entry);
      // Also for a node that stays: its disks are others, or of another class.
      group?.add(entry);
    }
    for (const [key, group] of this.groups) if (group.size === 0) this.groups.delete(key);
    this.ungrouped.clear();
    this.plans.clear();
  }

  private group(key: string, sample: StorageNode): NodeGroup {
    const known = this.groups.get(key);
    if (known !== undefined) return known;
    const group = new NodeGroup(zoneKey(sample), sample, this.columns);
    this.groups.set(key, group);
    return group;
  }

  /** For α < 1 the score compares shares of capacities, so nodes are also told apart by theirs. */
  private get tellsCapacities(): boolean {
    return this.settings['balance-alpha'] !== 1;
  }

  private groupKey(entry: NodeEntry, facts: StorageNode): string {
    if (!this.tellsCapacities) return nodeKind(facts);
    const { columns } = this;
    const capacities = entry.slots.map((slot) => `${columns.classOf(slot)}:${columns.total(slot)}`).sort();
    return `${nodeKind(facts)} ${capacities.join(' ')}`;
  }
}

/** What of a node the filters ask for that stays the same for long. */
function nodeKind({ zone, region, tags }: StorageNode): string {
  return JSON.stringify([zone ?? null, region ?? null, distinctTags(tags)]);
}
