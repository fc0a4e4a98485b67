/**
 * A report without names: nodes, zones, disks, volumes, claims, tags, addresses and ids become numbered words, the same one everywhere, so
 * that it can be given away and still be talked about.
 */
import path from 'node:path';
import type { InspectionReport } from '../inspection/report.js';
import type { LonghornCluster } from '../model.js';

/** A name, and what names are made of beside letters and digits. */
const TOKEN = /[A-Za-z0-9][A-Za-z0-9._-]*[A-Za-z0-9]|[A-Za-z0-9]/g;
const ADDRESS = /\b(?:\d{1,3}\.){3}\d{1,3}\b|\b[0-9a-f]{1,4}(?::[0-9a-f]{0,4}){3,}\b/gi;
const UUID = /\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/gi;

/** Fields whose texts are words of this code or of Longhorn, and never a name. */
const KEPT: ReadonlySet<string> = new Set([
  'schema',
  'severity',
  'code',
  'version',
  'at',
  'advice',
  'source',
  'title',
  'condition',
  'state',
  'robustness',
  'reason',
  'asks',
  'degradedSince',
]);

export function redacted(report: InspectionReport, cluster: LonghornCluster): InspectionReport {
  const names = new Names(cluster);
  const root = report.source;
  const walk = (value: unknown, key: string): unknown => {
    if (typeof value === 'string') {
      if (key === 'file') return names.file(value, root);
      return KEPT.has(key) ? value : names.inText(value);
    }
    if (Array.isArray(value)) return value.map((item) => walk(item, key));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, walk(item, name)]));
  };
  const signatures = report.signatures.map((signature) => ({
    ...signature,
    // A line of a log may name anything.
    evidence: signature.evidence.map((one) =>
      one.object.startsWith('log ') ? { ...one, object: 'log', message: 'a line that is left out' } : one,
    ),
  }));
  const named = (name: string, value: unknown) => (name === 'source' ? 'redacted' : walk(value, name));
  // The form stays: of texts only texts are made. `name` of a signature and of a rule is a word of this code.
  const whole = Object.fromEntries(
    Object.entries({ ...report, signatures }).map(([name, value]) => [name, named(name, value)]),
  );
  return { ...report, ...whole };
}

class Names {
  private readonly words = new Map<string, string>();
  private readonly counts = new Map<string, number>();
  private readonly files = new Map<string, string>();

  constructor({
    nodes,
    volumes,
    replicas,
    engines,
    namespace,
    snapshots,
    backups,
    orphans,
    backingImages,
    instanceManagers,
  }: LonghornCluster) {
    for (const { name, zone, region, tags, disks } of nodes) {
      this.add('node', name);
      this.add('zone', zone);
      this.add('region', region);
      for (const tag of tags) this.add('tag', tag);
      for (const disk of disks) {
        this.add('disk', disk.name);
        for (const tag of disk.tags) this.add('tag', tag);
      }
    }
    for (const { name, claim, nodeSelector, diskSelector } of volumes) {
      this.add('volume', name);
      this.add('namespace', claim?.namespace ?? '');
      this.add('claim', claim?.name ?? '');
      for (const tag of [...nodeSelector, ...diskSelector]) this.add('tag', tag);
    }
    for (const { name } of replicas) this.add('replica', name);
    for (const { name } of engines) this.add('engine', name);
    for (const { name } of snapshots) this.add('snapshot', name);
    for (const { name } of backups) this.add('backup', name);
    for (const { name, dataName } of orphans) {
      this.add('orphan', name);
      this.add('folder', dataName);
    }
    for (const { name } of backingImages) this.add('image', name);
    for (const { name } of instanceManagers) this.add('manager', name);
    this.add('namespace', namespace);
  }

  inText(text: string): string {
    return text
      .replaceAll(UUID, (id) => this.add('id', id))
      .replaceAll(ADDRESS, (address) => this.add('address', address))
      .replaceAll(TOKEN, (token) => this.words.get(token) ?? token);
  }

  /** A path within the source: its folders are those of the kit, and its last names may be of pods and nodes. */
  file(file: string, root: string): string {
    const inside = path.relative(root, file).replaceAll('\\', '/');
    if (!/\/(?:logs|nodes)\//.test(`/${inside}`))
      return this.inText(inside === '' ? 'source' : inside.replace(/^[^/]*bundle_[^/]*\//, ''));
    const known = this.files.get(file) ?? `log-${this.files.size + 1}`;
    this.files.set(file, known);
    return known;
  }

  private add(kind: string, name: string): string {
    if (name === '') return name;
    const known = this.words.get(name);
    if (known !== undefined) return known;
    const count = (this.counts.get(kind) ?? 0) + 1;
    this.counts.set(kind, count);
    const word = `${kind}-${count}`;
    this.words.set(name, word);
    return word;
  }
}
