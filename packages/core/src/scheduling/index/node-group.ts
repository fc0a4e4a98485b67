/**
 * Group of nodes that differ only by space for any request: same zone, region and tags (and, for α < 1, the same disks
 * by class and capacity). A request either wants the whole group or none of it.
 */
import { compareIds } from '../../model/ids.js';
import type { StorageNode, ZoneKey } from '../../model/node.js';
import type { DiskColumns } from './columns.js';
import { DiskClassView } from './disk-class-view.js';
import type { NodeEntry } from './node-entry.js';

/**
 * Views of one group that are kept: one per set of disk classes that requests ask for. More would make every booking
 * dearer; requests beyond are answered by the view of all classes, whose sums are only larger (`isExact` is false).
 */
const VIEWS_MAX = 8;

export class NodeGroup {
  /** Sorted by id. A new list after every change of members, because views keep the one they were built on. */
  nodes: readonly NodeEntry[] = [];
  private readonly members = new Set<NodeEntry>();
  private readonly views = new Map<string, DiskClassView>();
  private readonly viewList: DiskClassView[] = [];
  private isSorted = true;

  /** @param sample one of its nodes, by which the filters judge them all */
  constructor(
    readonly zone: ZoneKey,
    readonly sample: StorageNode,
    private readonly columns: DiskColumns,
  ) {}

  add(node: NodeEntry): void {
    this.members.add(node);
    node.group = this;
    this.forget();
  }

  remove(node: NodeEntry): void {
    this.members.delete(node);
    node.group = undefined;
    this.forget();
  }

  get size(): number {
    return this.members.size;
  }

  /** After a change of which nodes or disks there are: views are built anew when they are next asked for. */
  forget(): void {
    this.isSorted = false;
    this.views.clear();
    this.viewList.length = 0;
  }

  /** After a change of a node's state. */
  refresh(node: NodeEntry): void {
    for (const view of this.viewList) view.refresh(node);
  }

  /** After a change of the figures of one disk of a node. */
  refreshDisk(node: NodeEntry, classId: number): void {
    for (const view of this.viewList) if (view.wants(classId)) view.refresh(node);
  }

  /** The classes of all disks here, in order. */
  diskClasses(): number[] {
    const classes = new Set<number>();
    for (const { slots } of this.members) for (const slot of slots) classes.add(this.columns.classOf(slot));
    return [...classes].sort((a, b) => a - b);
  }

  /** @param wanted which of the group's disk classes the request may use; at least one */
  view(wanted: readonly number[]): DiskClassView {
    this.sort();
    const key = wanted.join(' ');
    const known = this.views.get(key);
    if (known !== undefined) return known;
    const all = this.diskClasses();
    // The last place is kept for the view of everything, which can stand in for any other.
    const isRoomLeft = this.views.size < VIEWS_MAX - 1 || wanted.length === all.length;
    if (!isRoomLeft) return this.view(all);
    const view = new DiskClassView(this.nodes, wanted, this.columns);
    this.views.set(key, view);
    this.viewList.push(view);
    return view;
  }

  get bytes(): number {
    let sum = 0;
    for (const view of this.viewList) sum += view.bytes;
    return sum;
  }

  get allViews(): readonly DiskClassView[] {
    return this.viewList;
  }

  private sort(): void {
    if (this.isSorted) return;
    this.nodes = [...this.members].sort((a, b) => compareIds(a.id, b.id));
    for (const [position, node] of this.nodes.entries()) node.position = position;
    this.isSorted = true;
  }
}
