import { describe, expect, test } from '@jest/globals';
import { layOutTree, type TreeNode } from './snapshot-tree';

/** `b<a` is a snapshot b that stands on a; they were taken in the order given. */
function nodes(text: string): TreeNode[] {
  return text
    .split(' ')
    .filter(Boolean)
    .map((part, index) => {
      const [id = '', parentId = null] = part.split('<');
      return { id, parentId, createdAt: new Date(index * 1000).toISOString() };
    });
}

/** One row each: indented by its column, `^` where its line ends, `\` where it bends, `_` where it begins. */
function drawn(text: string, head: string | null): string[] {
  return layOutTree(nodes(text), head).map(
    ({ id = 'now', column, isTop, joinsLeft, isRoot }) =>
      `${'| '.repeat(column)}${id}${isTop ? '^' : ''}${joinsLeft ? '\\' : ''}${isRoot ? '_' : ''}`,
  );
}

describe('layOutTree', () => {
  test.each<{ name: string; tree: string; head: string | null; rows: string[] }>([
    { name: 'no snapshot', tree: '', head: null, rows: ['now^_'] },
    { name: 'a chain', tree: 'a b<a', head: 'b', rows: ['now^', 'b', 'a_'] },
    { name: 'a branch, after a revert', tree: 'a b<a', head: 'a', rows: ['now^', '| b^\\', 'a_'] },
    {
      name: 'a branch with a branch, below newer snapshots',
      tree: 'a b<a c<b d<b e<a',
      head: 'e',
      rows: ['now^', 'e', '| d^', '| | c^\\', '| b\\', 'a_'],
    },
    { name: 'a parent that is not shown', tree: 'b<a c<b', head: 'c', rows: ['now^', 'c', 'b_'] },
    { name: 'a circle', tree: 'a<b b<a', head: 'b', rows: ['now^_'] },
  ])('the rows are drawn of $name', ({ tree, head, rows }) => {
    expect(drawn(tree, head)).toEqual(rows);
  });
});
