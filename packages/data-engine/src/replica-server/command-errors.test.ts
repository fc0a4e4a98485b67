/** Every command to a copy, with every error of its disk calls: a slice of what `command-errors.long.test.ts` covers. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { CommandMatrix, ROW_NAMES, ROWS, TROUBLES } from '../../test/command-errors.js';
import { ReplicaNodes } from '../../test/replica-node.js';
import { COMMAND_TRAITS } from '../protocol/commands.js';

/** Of each command so many calls meet each trouble: for any more there is no time in a run of all suites. */
const CELLS = 1;

const nodes = new ReplicaNodes();
const matrix = new CommandMatrix(nodes);

beforeAll(() => matrix.prepare());
afterAll(() => nodes.stop());

test('each command of the protocol has a row', () => {
  expect(ROW_NAMES).toEqual(expect.arrayContaining(Object.keys(COMMAND_TRAITS)));
});

describe.each(ROW_NAMES)('%s', (name) => {
  test('keeps what was acknowledged, answers by a code, and can be repeated', async () => {
    const counted = await matrix.count(name);
    expect(counted.changes > 0).toBe(ROWS[name].isRead !== true);
    const breaches: string[] = [];
    for (const [index, trouble] of TROUBLES.entries()) {
      const calls = trouble === 'EIO' ? counted.calls : counted.changes;
      // Spread over the command, from another call on for each trouble.
      for (let cell = 0; cell < Math.min(CELLS, calls); cell += 1) {
        const call =
          1 + ((ROW_NAMES.indexOf(name) * 7 + index * 3 + Math.floor((cell * calls) / CELLS)) % calls);
        breaches.push(...(await matrix.cell(name, call, trouble, counted)));
      }
    }
    expect(breaches).toEqual([]);
  });
});
