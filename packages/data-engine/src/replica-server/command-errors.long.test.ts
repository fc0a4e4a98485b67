/** Every command to a copy, each call that it makes on the disk, and each error of it. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { CommandMatrix, ROW_NAMES, TROUBLES } from '../../test/command-errors.js';
import { ReplicaNodes } from '../../test/replica-node.js';

const nodes = new ReplicaNodes();
const matrix = new CommandMatrix(nodes);

beforeAll(() => matrix.prepare());
afterAll(() => nodes.stop());

describe.each(ROW_NAMES)('%s', (name) => {
  test.each(TROUBLES)('keeps what was acknowledged where any call meets %s', async (trouble) => {
    const counted = await matrix.count(name);
    const breaches: string[] = [];
    const calls = trouble === 'EIO' ? counted.calls : counted.changes;
    for (let call = 1; call <= calls; call += 1)
      breaches.push(...(await matrix.cell(name, call, trouble, counted)));
    expect(breaches).toEqual([]);
  });
});
