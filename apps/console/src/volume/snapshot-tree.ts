/** Layout of the snapshot tree: the volume on top, below it its parents, branches to the right of their origin. */

export type TreeNode = { id: string; parentId: string | null; createdAt: string };

export type TreeRow = {
  /** Undefined for the volume as it is now. */
  id: string | undefined;
  /** Counted from the left; 0 is the line that the volume stands on. */
  column: number;
  /** Nothing stands on it: its line ends here. */
  isTop: boolean;
  /** It stands on a snapshot of the column to its left: its line bends there. */
  joinsLeft: boolean;
  /** It stands on nothing. */
  isRoot: boolean;
};

/**
 * @param nodes in any order
 * @param headParentId what the volume stands on now; null for nothing
 */
export function layOutTree(nodes: readonly TreeNode[], headParentId: string | null): TreeRow[] {
  const known = new Set(nodes.map(({ id }) => id));
  const onHeadLine = new Set(lineOf(nodes, headParentId));
  const childrenOf = new Map<string | null, TreeNode[]>();
  for (const node of [...nodes].sort(byTime)) {
    // One whose parent is not shown is drawn as a root, not left out.
    const parentId = node.parentId !== null && known.has(node.parentId) ? node.parentId : null;
    childrenOf.set(parentId, [...(childrenOf.get(parentId) ?? []), node]);
  }

  // Built from the bottom up, so that a branch lies between its origin and the layers above it.
  const rows: TreeRow[] = [];
  const headRow = (isRoot: boolean): TreeRow => ({
    id: undefined,
    column: 0,
    isTop: true,
    joinsLeft: false,
    isRoot,
  });
  const visit = (node: TreeNode, column: number, place: Pick<TreeRow, 'joinsLeft' | 'isRoot'>): void => {
    const children = childrenOf.get(node.id) ?? [];
    const isUnderHead = node.id === headParentId;
    const straight = isUnderHead
      ? undefined
      : (children.find(({ id }) => onHeadLine.has(id)) ?? children.at(-1));
    rows.push({ id: node.id, column, isTop: straight === undefined && !isUnderHead, ...place });
    for (const branch of children) {
      if (branch !== straight) visit(branch, column + 1, { joinsLeft: true, isRoot: false });
    }
    if (straight !== undefined) visit(straight, column, { joinsLeft: false, isRoot: false });
    if (isUnderHead) rows.push(headRow(false));
  };
  const roots = childrenOf.get(null) ?? [];
  // The line of the volume comes last, and so on top.
  const ordered = [
    ...roots.filter(({ id }) => !onHeadLine.has(id)),
    ...roots.filter(({ id }) => onHeadLine.has(id)),
  ];
  for (const root of ordered) visit(root, 0, { joinsLeft: false, isRoot: true });
  if (!rows.some(({ id }) => id === undefined)) rows.push(headRow(true));
  return rows.reverse();
}

/** The snapshot and those it stands on. */
function lineOf(nodes: readonly TreeNode[], from: string | null): string[] {
  const line: string[] = [];
  // Bounded by the number of nodes, should an answer ever contain a circle.
  for (let at = from; at !== null && line.length < nodes.length; ) {
    const node = nodes.find(({ id }) => id === at);
    if (node === undefined) break;
    line.push(node.id);
    at = node.parentId;
  }
  return line;
}

function byTime(a: TreeNode, b: TreeNode): number {
  return Date.parse(a.createdAt) - Date.parse(b.createdAt) || (a.id < b.id ? -1 : 1);
}
