/** Check of the reference pages: they say what the product's tables say, and the tables say what the product does. */
import fs from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { EVENT_TYPES } from '../../packages/core/src/model/event-types.js';
import { SETTINGS, type SettingDefinition } from '../../packages/core/src/model/setting.js';
import { REFERENCE_PAGES } from './reference-pages.js';
import { repositoryRoot } from './run-tool.js';
import { sourceFiles } from './source-files.js';

const MODEL = path.join('packages', 'core', 'src', 'model');
const files = sourceFiles(['apps', 'packages', 'test']);
const product = files.filter(({ at }) => !isTest(at) && !at.startsWith(MODEL));
const SCENARIOS = path.join(repositoryRoot, 'scenarios');
/** Texts of suites, and of scenario files, whose settings are names without quotes: here they have some. */
const tests = [
  ...files.filter(({ at }) => isTest(at)),
  ...fs.readdirSync(SCENARIOS).map((name) => {
    const text = fs.readFileSync(path.join(SCENARIOS, name), 'utf8');
    return { at: name, text: text.replaceAll(/\b([a-z0-9-]+):/g, "'$1':") };
  }),
];

function isTest(at: string): boolean {
  return at.endsWith('.test.ts') || at.split(path.sep).includes('test') || at.includes('testkit');
}

function namesNowhere(names: readonly string[], where: readonly { text: string }[]): string[] {
  return names.filter((name) => !where.some(({ text }) => text.includes(`'${name}'`)));
}

/** `npm run docs` writes the pages anew, by this variable. */
test.each(Object.entries(REFERENCE_PAGES))('docs/%s is what its table says', (name, page) => {
  const file = path.join(repositoryRoot, 'docs', name);
  if (process.env.HOLDFAST_WRITE_PAGES === '1') fs.writeFileSync(file, page());
  expect(fs.readFileSync(file, 'utf8')).toBe(page());
});

test('every type of event is told by the product', () => {
  expect(namesNowhere(Object.keys(EVENT_TYPES), product)).toEqual([]);
});

test('every setting has a consumer and a test that turns it', () => {
  const names = Object.keys(SETTINGS);
  const asked = names.filter((name) => !isAsked(name));
  expect({ asked, turned: namesNowhere(names, tests) }).toEqual({ asked: [], turned: [] });
});

/** These set values; what is in effect they leave to the others. */
const SETTERS = [
  path.join('simulator', 'src', 'search'),
  path.join('simulator', 'src', 'scenario'),
  path.join('apps', 'console'),
];

test('a setting by data engine is read as volumes of one engine have it', () => {
  const names = [...definitions].filter(([, { engines }]) => engines !== undefined).map(([name]) => name);
  const readers = product.filter(({ at }) => !SETTERS.some((folder) => at.includes(folder)));
  const careless = readers
    .filter(({ text }) => names.some((name) => text.includes(`'${name}'`)))
    .filter(({ text }) => !/\bsettingsOf\b|\.ofEngine\b/.test(text));
  expect(careless.map(({ at }) => at)).toEqual([]);
});

const definitions = new Map<string, SettingDefinition>(Object.entries(SETTINGS));

/** By its name, or by the volume's field that follows it. */
function isAsked(name: string): boolean {
  const field = definitions.get(name)?.volume?.field;
  const asked = [`'${name}'`, ...(field === undefined ? [] : [`'${field}'`, `.${field}`])];
  return product.some(({ text }) => asked.some((one) => text.includes(one)));
}
