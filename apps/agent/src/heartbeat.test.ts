/** The agent's side of heartbeats that say nothing new: the real loop, against a control plane that the test plays. */
import type { Heartbeat, HeartbeatRepeat, HeartbeatReply } from '@holdfast/core/model/agent-protocol.js';
import { asId, type DiskId } from '@holdfast/core/model/ids.js';
import { aDiskReport, aHeartbeat, testId } from '@holdfast/testkit/builders.js';
import { eventually } from '@holdfast/testkit/eventually.js';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { pino } from 'pino';
import { HeartbeatLoop } from './heartbeat.js';
import type { JsonAnswer } from './json-http.js';

const DISK = asId<DiskId>(testId(501));
const REPORT = testId(801);
const [FIRST, SECOND] = [testId(701), testId(702)];
const WISHES = { add: [], remove: [DISK] };

type Said = { whole: Heartbeat } | { repeat: HeartbeatRepeat };

let said: Said[];
let heard: HeartbeatReply[];
let current: Heartbeat;
/** How the control plane answers a whole report and a repeated one. */
let answers: { whole: () => Promise<JsonAnswer>; repeat: (repeat: HeartbeatRepeat) => Promise<JsonAnswer> };
let loop: HeartbeatLoop;

test('a report that the control plane has named is sent again only when it says something else', async () => {
  loop.start();
  await saidTimes(4);
  expect(kinds().slice(0, 4)).toEqual(['whole', 'repeat', 'repeat', 'repeat']);
  expect(said[1]).toMatchObject({ repeat: { reportId: REPORT, name: 'node-1', stamps: [] } });
  current = beat(FIRST, { availableBytes: 1 });
  await eventually(
    'the change is sent',
    async () => kinds(),
    (all) => all.lastIndexOf('whole') > 0,
  );
  expect(kinds().filter((kind) => kind === 'whole')).toHaveLength(2);
});

beforeEach(() => {
  [said, heard] = [[], []];
  current = beat(FIRST);
  answers = {
    whole: async () =>
      ok({ nodeId: testId(1), intervalMs: 1, disks: WISHES, stamps: confirmed(), reportId: REPORT }),
    repeat: async ({ stamps }) =>
      ok({
        isEnough: true,
        intervalMs: 1,
        stamps: stamps.map(({ diskId, stamp }) => ({ diskId, stampId: stamp.id })),
      }),
  };
  loop = new HeartbeatLoop({
    collect: async () => current,
    report: (whole) => {
      said.push({ whole });
      return answers.whole();
    },
    repeat: (repeat) => {
      said.push({ repeat });
      return answers.repeat(repeat);
    },
    heard: async (reply) => void heard.push(reply),
    log: pino({ level: 'silent' }),
  });
});
afterEach(() => loop.stop());

test('a control plane from before this hears whole reports only', async () => {
  answers.whole = async () => ok({ nodeId: testId(1), intervalMs: 1 });
  loop.start();
  await saidTimes(4);
  expect(new Set(kinds())).toEqual(new Set(['whole']));
});

test.each<[string, JsonAnswer]>([
  ['knows no repeats', { status: 404, body: {} }],
  ['does not believe the agent', { status: 401, body: { code: 'node.identity_refused' } }],
  ['wants all of it', { status: 200, body: { isEnough: false, intervalMs: 1, stamps: [] } }],
])('where the control plane %s, the whole report follows at once', async (_what, answer) => {
  answers.repeat = async () => answer;
  loop.start();
  await saidTimes(5);
  expect(kinds().slice(0, 5)).toEqual(['whole', 'repeat', 'whole', 'repeat', 'whole']);
  // The refused ones are no answers.
  expect(heard.every(({ reportId }) => reportId === REPORT)).toBe(true);
});

test('a control plane that fails is asked again, and not with the whole report at once', async () => {
  answers.repeat = async () => ({ status: 503, body: {} });
  loop.start();
  await saidTimes(4);
  expect(kinds().slice(0, 4)).toEqual(['whole', 'repeat', 'repeat', 'repeat']);
});

test('a report whose answer is lost ends the one before, although what it said is over', async () => {
  loop.start();
  await saidTimes(2);
  const { whole } = answers;
  answers.whole = async () => {
    current = beat(FIRST);
    answers.whole = whole;
    throw new Error('the answer is lost');
  };
  const before = said.length;
  current = beat(FIRST, { availableBytes: 1 });
  await eventually(
    'the lost one',
    async () => kinds().indexOf('whole', before),
    (at) => at >= 0,
  );
  const lost = kinds().indexOf('whole', before);
  await saidTimes(lost + 3);
  expect(kinds().slice(lost, lost + 3)).toEqual(['whole', 'whole', 'repeat']);
});

test('a stamp that advances goes with the repeats until it is confirmed, and wishes of disks are tried again', async () => {
  const { repeat } = answers;
  answers.repeat = async () => ok({ isEnough: true, intervalMs: 1, stamps: [] });
  loop.start();
  await saidTimes(2);
  current = beat(SECOND);
  await eventually(
    'the stamp is sent twice',
    async () => stampsSent(),
    (sent) => sent.length > 1,
  );
  answers.repeat = repeat;
  const at = said.length;
  await saidTimes(at + 4);
  expect(stampsSent().length).toBeLessThan(said.length - 1);
  expect(said.at(-1)).toMatchObject({ repeat: { stamps: [] } });
  expect(kinds().slice(1)).not.toContain('whole');
  expect(heard.at(-1)).toMatchObject({ disks: WISHES });
});

function beat(stampId: string, part: Partial<Parameters<typeof aDiskReport>[1]> = {}): Heartbeat {
  const stamp = { id: stampId, generation: 1, trail: [], isOpen: true, fileId: 'file' };
  return aHeartbeat('node-1', { disks: [aDiskReport(DISK, { stamp, ...part })] });
}

function confirmed() {
  return current.disks.map(({ diskId, stamp }) => ({ diskId, stampId: stamp?.id ?? null }));
}

function ok(body: unknown): JsonAnswer {
  return { status: 200, body };
}

function kinds(): string[] {
  return said.map((one) => ('whole' in one ? 'whole' : 'repeat'));
}

function stampsSent() {
  return said.filter((one) => 'repeat' in one && one.repeat.stamps.some(({ stamp }) => stamp.id === SECOND));
}

async function saidTimes(count: number): Promise<void> {
  await eventually(
    `${count} heartbeats`,
    async () => said.length,
    (times) => times >= count,
  );
}
