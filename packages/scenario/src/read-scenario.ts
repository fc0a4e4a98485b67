/** Reading of a scenario file: YAML text to a scenario, or problems with their lines. */
import { isMap, isScalar, isSeq, LineCounter, type Node, parseDocument } from 'yaml';
import type { z } from 'zod';
import { EXPECTATIONS, type Expectation } from './expectations.js';
import { referenceProblems } from './references.js';
import {
  alwaysEntry,
  type Check,
  type Entry,
  expectEntry,
  frameSchema,
  neverEntry,
  type Scenario,
  stepEntry,
} from './scenario.js';
import { isStepName, STEPS, type StepCall, type StepName } from './steps.js';

/** Largest file that is read. The longest of our own have some KiB; a larger one is a mistake. */
export const FILE_BYTES_MAX = 1024 * 1024;

export type ScenarioProblem = { readonly line: number; readonly message: string };
export type ReadScenario =
  | { readonly kind: 'read'; readonly scenario: Scenario }
  | { readonly kind: 'wrong'; readonly problems: readonly ScenarioProblem[] };

type Path = readonly PropertyKey[];
type Lines = (path: Path, key?: string) => number;

/** Problems are listed once all of a kind are known: first those of the YAML, then of each part, then of names and times. */
export function readScenario(text: string): ReadScenario {
  if (Buffer.byteLength(text) > FILE_BYTES_MAX) {
    return wrong([{ line: 1, message: `the file is larger than ${FILE_BYTES_MAX} bytes` }]);
  }
  const counter = new LineCounter();
  const document = parseDocument(text, { lineCounter: counter });
  const ofYaml = document.errors.map(({ pos, message }) => ({
    line: counter.linePos(pos[0]).line,
    message: message.split('\n')[0] ?? message,
  }));
  if (ofYaml.length > 0) return wrong(ofYaml);
  const lines: Lines = (path, key) => lineAt(document.contents, path, key, counter);
  return build(document.toJS(), lines);
}

/** As `readScenario`, of a value that a program has made: all problems have line 1. */
export function scenarioOf(value: unknown): ReadScenario {
  return build(value, () => 1);
}

function build(value: unknown, lines: Lines): ReadScenario {
  const frame = frameSchema.safeParse(value);
  if (!frame.success) return wrong(problemsOf(frame.error, [], lines));
  const { scenario: title, steps, always, never, ...given } = frame.data;
  const problems: ScenarioProblem[] = [];
  const entries: Entry[] = [];
  for (const kind of ['always', 'never'] as const) {
    const said = { always, never }[kind];
    if (said === undefined) continue;
    entries.push({ kind, line: lines([kind]), when: {}, checks: checksOf(said, [kind], lines) });
  }
  for (const [index, raw] of steps.entries()) {
    const entry = readEntry(raw, ['steps', index], lines);
    if (Array.isArray(entry)) problems.push(...entry);
    else entries.push(entry);
  }
  if (problems.length > 0) return wrong(problems);
  const scenario: Scenario = { title, ...given, entries };
  const unknown = referenceProblems(scenario, (path) => lines(path));
  return unknown.length > 0 ? wrong(unknown) : { kind: 'read', scenario };
}

function wrong(problems: readonly ScenarioProblem[]): ReadScenario {
  return { kind: 'wrong', problems: [...problems].sort((a, b) => a.line - b.line) };
}

const ENTRY_KEYS: readonly string[] = ['at', 'after', 'within', 'for', 'refused'];

function readEntry(raw: unknown, path: Path, lines: Lines): Entry | ScenarioProblem[] {
  const line = lines(path);
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) {
    return [{ line, message: 'an entry is a step or an expectation, such as `nodeDown: n3`' }];
  }
  const acts = Object.keys(raw).filter((key) => !ENTRY_KEYS.includes(key));
  const [act, second] = acts;
  if (act === undefined) return [{ line, message: 'the entry says when, and not what' }];
  if (second !== undefined) return [{ line, message: `the entry says both ${act} and ${second}: write two` }];
  if (act === 'expect') return readExpect(raw, path, lines);
  if (act === 'always' || act === 'never') return readLasting(act, raw, path, lines);
  if (isStepName(act)) return readStep(act, raw, path, lines);
  const known = ['expect', 'always', 'never', ...Object.keys(STEPS)];
  return [{ line: lines(path, act), message: `unknown step ${act}; ${suggestion(act, known)}` }];
}

function readExpect(raw: object, path: Path, lines: Lines): Entry | ScenarioProblem[] {
  const found = expectEntry.safeParse(raw);
  if (!found.success) return problemsOf(found.error, path, lines, raw);
  const { at, after, within, for: lasting, expect } = found.data;
  const line = lines(path);
  if (within !== undefined && lasting !== undefined) {
    return [{ line, message: 'an expectation holds within a time or for a time, not both' }];
  }
  const checks = checksOf(expect, [...path, 'expect'], lines);
  return { kind: 'expect', line, when: { at, after }, checks, within, for: lasting };
}

function readLasting(
  kind: 'always' | 'never',
  raw: object,
  path: Path,
  lines: Lines,
): Entry | ScenarioProblem[] {
  const found = (kind === 'always' ? alwaysEntry : neverEntry).safeParse(raw);
  if (!found.success) return problemsOf(found.error, path, lines, raw);
  const { at, after } = found.data;
  const said = 'always' in found.data ? found.data.always : found.data.never;
  return { kind, line: lines(path), when: { at, after }, checks: checksOf(said, [...path, kind], lines) };
}

function readStep(step: StepName, raw: object, path: Path, lines: Lines): Entry | ScenarioProblem[] {
  const found = stepEntry(step).safeParse(raw);
  if (!found.success) return problemsOf(found.error, path, lines);
  const { at, after, refused } = found.data;
  // The schema of this step has just parsed it.
  const call = { name: step, ask: Reflect.get(found.data, step) } as StepCall;
  return { kind: 'step', line: lines(path), when: { at, after }, call, refused };
}

function checksOf(said: Expectation | readonly Expectation[], path: Path, lines: Lines): Check[] {
  if (!isList(said)) return [{ line: lines(path), expectation: said }];
  return said.map((expectation, index) => ({ line: lines([...path, index]), expectation }));
}

function isList(said: Expectation | readonly Expectation[]): said is readonly Expectation[] {
  return Array.isArray(said);
}

/** Zod's issues as problems. Of a union of expectations only what the named subject's own schema says is of use. */
function problemsOf(error: z.ZodError, path: Path, lines: Lines, raw?: unknown): ScenarioProblem[] {
  return error.issues.flatMap((issue) => {
    const at = [...path, ...issue.path];
    if (issue.code === 'unrecognized_keys') {
      return issue.keys.map((key) => ({ line: lines(at, key), message: `${key} is not known here` }));
    }
    const better =
      issue.code === 'invalid_union' ? expectationProblems(valueAt(raw, issue.path), at, lines) : [];
    if (better.length > 0) return better;
    const where = issue.path.map(String).join('.');
    if (where === '')
      return [{ line: lines(at), message: 'the file is no scenario: write its name and its steps' }];
    return [{ line: lines(at), message: `${where}: ${issueText(issue)}` }];
  });
}

/** A union's own message says nothing; that of its first member with a text of ours does. */
function issueText(issue: z.core.$ZodIssue): string {
  if (issue.code !== 'invalid_union') return issue.message;
  const texts = issue.errors.flat().map(({ message }) => message);
  return texts.find((text) => text.startsWith('write ')) ?? texts[0] ?? issue.message;
}

function expectationProblems(value: unknown, path: Path, lines: Lines): ScenarioProblem[] {
  if (Array.isArray(value)) {
    return value.flatMap((one, index) => expectationProblems(one, [...path, index], lines));
  }
  if (typeof value !== 'object' || value === null) return [];
  const subject = Object.entries(EXPECTATIONS).find(([key]) => Object.hasOwn(value, key));
  if (subject === undefined) {
    const message = `an expectation is about one of ${Object.keys(EXPECTATIONS).join(', ')}`;
    return [{ line: lines(path), message }];
  }
  const found = subject[1].safeParse(value);
  return found.success ? [] : problemsOf(found.error, path, lines);
}

function valueAt(value: unknown, path: Path): unknown {
  return path.reduce<unknown>(
    (inner, key) => (typeof inner === 'object' && inner !== null ? Reflect.get(inner, key) : undefined),
    value,
  );
}

function lineAt(contents: Node | null, path: Path, key: string | undefined, counter: LineCounter): number {
  let found: unknown = contents;
  let offset = contents?.range?.[0] ?? 0;
  for (const part of [...path, ...(key === undefined ? [] : [key])]) {
    const next = childOf(found, part);
    if (next === undefined) break;
    found = next.value;
    offset = next.offset;
  }
  return counter.linePos(offset).line;
}

function childOf(parent: unknown, part: PropertyKey): { value: unknown; offset: number } | undefined {
  if (isMap(parent)) {
    const pair = parent.items.find(({ key }) => isScalar(key) && key.value === part);
    const offset = isScalar(pair?.key) ? pair.key.range?.[0] : undefined;
    return offset === undefined ? undefined : { value: pair?.value, offset };
  }
  if (!isSeq<Node>(parent) || typeof part !== 'number') return undefined;
  const item = parent.items[part];
  return item?.range == null ? undefined : { value: item, offset: item.range[0] };
}

function suggestion(word: string, known: readonly string[]): string {
  const near = known.filter((one) => distance(one.toLowerCase(), word.toLowerCase()) <= 2);
  return near.length > 0 ? `did you mean ${near.join(' or ')}?` : `known are ${known.join(', ')}`;
}

/** Number of letters to change, insert or leave out between the two. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (const [i, letter] of [...a].entries()) {
    const next = [i + 1];
    for (const [j, other] of [...b].entries()) {
      const changed = (row[j] ?? 0) + (letter === other ? 0 : 1);
      next.push(Math.min(changed, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
