/** Bundles of each generation, dumps and archives, written of objects: with the kit's mangling where the kit writes them. */
import fs from 'node:fs';
import path from 'node:path';
import type { Json } from './longhorn-objects.js';

export const FORMS = [
  'longhorn-bundle',
  'kit-bundle',
  'harvester-bundle',
  'kubectl-yaml',
  'kubectl-json',
  'kubectl-documents',
] as const;
export type Form = (typeof FORMS)[number];

/** @returns the folder or file that was written */
export function writeForm(folder: string, form: Form, lists: ReadonlyMap<string, readonly Json[]>): string {
  switch (form) {
    case 'longhorn-bundle':
      return writeOldBundle(path.join(folder, 'longhorn-support-bundle_uid_2024-01-01T00-00-00Z'), lists);
    case 'kit-bundle':
      return writeKitBundle(path.join(folder, 'supportbundle_uid_2026-01-01T00-00-00Z'), lists, []);
    case 'harvester-bundle':
      return writeKitBundle(path.join(folder, 'supportbundle_named_2026-01-01T00-00-00Z'), lists, [
        'harvester-system',
      ]);
    case 'kubectl-json':
      return writeFile(
        path.join(folder, 'dump.json'),
        JSON.stringify(listOf([...lists.values()].flat()), null, 2),
      );
    case 'kubectl-yaml':
      return writeFile(path.join(folder, 'dump.yaml'), yamlOf(listOf([...lists.values()].flat())));
    case 'kubectl-documents':
      return writeFile(
        path.join(folder, 'dump.yaml'),
        [...lists.values()]
          .flat()
          .map((object) => yamlOf(object))
          .join('---\n'),
      );
  }
}

function listOf(items: readonly Json[]): Json {
  return { apiVersion: 'v1', kind: 'List', metadata: { resourceVersion: '' }, items };
}

/** Typed lists, whose items do not repeat their kind. */
function writeOldBundle(top: string, lists: ReadonlyMap<string, readonly Json[]>): string {
  for (const [plural, items] of lists) {
    const [first] = items;
    if (first === undefined) continue;
    const file = plural === 'kubernetes/nodes' ? 'kubernetes/nodes' : `longhorn/${plural}`;
    const bare = items.map(({ kind: _kind, apiVersion: _version, ...rest }) => rest);
    const list = {
      apiVersion: first.apiVersion,
      kind: `${String(first.kind)}List`,
      metadata: {},
      items: bare,
    };
    writeFile(path.join(top, 'yamls', `${file}.yaml`), yamlOf(list));
  }
  writeFile(path.join(top, 'yamls', 'kubernetes', 'services.yaml'), 'items: []\n');
  writeFile(path.join(top, 'logs', 'longhorn-manager-1', 'longhorn-manager.log'), 'level=info\n');
  return top;
}

function writeKitBundle(
  top: string,
  lists: ReadonlyMap<string, readonly Json[]>,
  more: readonly string[],
): string {
  writeFile(path.join(top, 'metadata.yaml'), 'bundlename: supportbundle\nbundleversion: 0.1.0\n');
  writeFile(path.join(top, 'bundleGenerationError.log'), 'the server does not allow this method\n');
  for (const [plural, items] of lists) {
    const [first] = items;
    if (first === undefined) continue;
    const folder =
      plural === 'kubernetes/nodes' ? 'cluster/v1' : `namespaced/longhorn-system/${String(first.apiVersion)}`;
    writeFile(
      path.join(top, 'yamls', folder, `${plural.replace('kubernetes/', '')}.yaml`),
      mangledYaml(items),
    );
  }
  for (const namespace of more)
    writeFile(path.join(top, 'yamls/namespaced', namespace, 'v1/pods.yaml'), '{ not: [read');
  writeFile(path.join(top, 'logs/longhorn-system/manager/manager.log'), 'level=info\n');
  return top;
}

/** What the kit does: replaces text in the JSON of the list, reads numbers as doubles, and writes YAML of that. */
export function mangledYaml(items: readonly Json[]): string {
  const json = JSON.stringify(listOf(items))
    .replaceAll(/("[a-zA-Z]*":)null,/g, '$1"null",')
    .replaceAll(/(\\"[a-zA-Z]*\\":)null,/g, '$1\\"null\\",')
    .replaceAll('""', '"null"');
  return yamlOf(JSON.parse(json), { exponents: true });
}

type Style = { readonly exponents: boolean };

/** YAML as Go's libraries write it: lists stand under their key without indentation. */
function yamlOf(value: Json, style: Style = { exponents: false }): string {
  return `${linesOf(value, style).join('\n')}\n`;
}

function linesOf(value: unknown, style: Style): string[] {
  if (Array.isArray(value)) {
    return value.flatMap((item) => indented(linesOf(item, style), '- ', '  '));
  }
  if (typeof value !== 'object' || value === null) return [scalar(value, style)];
  return Object.entries(value).flatMap(([key, item]) => {
    const lines = linesOf(item, style);
    const isList = Array.isArray(item) && item.length > 0;
    const isMap =
      typeof item === 'object' && item !== null && !Array.isArray(item) && Object.keys(item).length > 0;
    const name = /^[A-Za-z][\w./-]*$/.test(key) ? key : JSON.stringify(key);
    if (isList) return [`${name}:`, ...lines];
    if (isMap) return [`${name}:`, ...lines.map((line) => `  ${line}`)];
    return [`${name}: ${empty(item) ?? scalar(item, style)}`];
  });
}

function empty(item: unknown): string | undefined {
  if (Array.isArray(item)) return '[]';
  return typeof item === 'object' && item !== null ? '{}' : undefined;
}

function indented(lines: readonly string[], first: string, others: string): string[] {
  return lines.map((line, index) => `${index === 0 ? first : others}${line}`);
}

function scalar(value: unknown, { exponents }: Style): string {
  if (typeof value !== 'number' || !exponents || Math.abs(value) < 1e6) return JSON.stringify(value);
  return value.toExponential().replace(/e\+(\d)$/, 'e+0$1');
}

export function writeFile(file: string, text: string): string {
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.writeFileSync(file, text);
  return file;
}
