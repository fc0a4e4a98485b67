/** Search for the signatures of known failures, object by object and log by log as they are read. */
import { lintAlerts } from '../alerts/lint-alerts.js';
import { alertRules } from '../alerts/read-rules.js';
import type { Finding, Severity } from '../inspection/report.js';
import type { LonghornCluster, Place } from '../model.js';
import { entries, part, text } from '../reading/fields.js';
import type { KubernetesObject } from '../reading/read-objects.js';
import { isInReleases } from '../releases.js';
import { CLUSTER_SIGNATURES } from './cluster-signatures.js';
import { LOG_SIGNATURES } from './log-signatures.js';
import { OBJECT_SIGNATURES } from './object-signatures.js';
import { type Evidence, type NotedFacts, placeOf, type Signature } from './signature.js';

export const SIGNATURES: readonly Signature[] = [
  ...CLUSTER_SIGNATURES,
  ...OBJECT_SIGNATURES,
  ...LOG_SIGNATURES,
].sort((a, b) => a.number - b.number);

/** Evidence that is kept of one signature; all of it is counted. */
const EVIDENCE_MAX = 20;
/** Of a line of a log, or of what an object says. */
const MESSAGE_CHARS_MAX = 400;

/** A signature that was found. */
export type SignatureFinding = {
  readonly number: number;
  readonly name: string;
  readonly title: string;
  readonly severity: Severity;
  readonly isSuspect: boolean;
  readonly advice: string;
  readonly source: string;
  readonly count: number;
  readonly evidence: readonly Evidence[];
};

type Found = { count: number; evidence: Evidence[] };

const ANY_LINE = new RegExp(
  SIGNATURES.flatMap(({ inLines }) => (inLines === undefined ? [] : [`(?:${inLines.source})`])).join('|'),
  'g',
);
const IN_OBJECTS = SIGNATURES.filter(({ inObjects }) => inObjects !== undefined);

export class SignatureScan {
  private readonly found = new Map<Signature, Found>();
  private readonly noted: NotedFacts = {
    alertRules: [],
    defaultPriorityClasses: [],
    managerImages: [],
    instances: [],
    waitingBackups: [],
  };

  addObject(object: KubernetesObject): void {
    const { type, json, name } = object;
    const [spec, status] = [part(json, 'spec'), part(json, 'status')];
    for (const signature of IN_OBJECTS) {
      const message = signature.inObjects?.[type]?.({ spec, status, json, name });
      if (message !== undefined)
        this.note(signature, { object: `${wordOf(type)} ${name}`, message, at: placeOf(object) });
    }
    if (type === 'Event') this.addEvent(object);
    else this.noteFacts(object, type);
  }

  /** A piece of a log that begins and ends with a line. */
  addLog(file: string, firstLine: number, piece: string): void {
    ANY_LINE.lastIndex = 0;
    let line = firstLine;
    let counted = 0;
    for (let match = ANY_LINE.exec(piece); match !== null; match = ANY_LINE.exec(piece)) {
      for (
        let at = piece.indexOf('\n', counted);
        at !== -1 && at < match.index;
        at = piece.indexOf('\n', counted)
      ) {
        line += 1;
        counted = at + 1;
      }
      const end = piece.indexOf('\n', match.index);
      const whole = piece.slice(counted, end === -1 ? piece.length : end);
      this.addLine(whole, { file, line }, `log ${shortName(file)}`);
      ANY_LINE.lastIndex = end === -1 ? piece.length : end + 1;
    }
  }

  finish(cluster: LonghornCluster, now: Date): SignatureFinding[] {
    for (const signature of SIGNATURES) {
      for (const evidence of signature.inCluster?.({ cluster, now, noted: this.noted }) ?? [])
        this.note(signature, evidence);
    }
    return SIGNATURES.filter(({ releases }) => isInReleases(cluster.version, releases)).flatMap(
      (signature) => {
        const found = this.found.get(signature);
        if (found === undefined) return [];
        const { number, name, title, severity, isSuspect = false, advice, source } = signature;
        return [
          {
            number,
            name,
            title,
            severity: isSuspect && severity === 'critical' ? 'warning' : severity,
            isSuspect,
            advice,
            source,
            ...found,
          },
        ];
      },
    );
  }

  /** Findings about the alerting rules, except those that a signature covers. */
  alertFindings(version: string): Finding[] {
    return [...lintAlerts(this.noted.alertRules, version).others];
  }

  private addEvent(object: KubernetesObject): void {
    const { json } = object;
    const [reason, message] = [text(json, 'reason'), text(json, 'message', 'note')];
    const about = part(json, 'involvedObject', 'regarding');
    const subject = part(json, 'involvedObject');
    const name = `${text(subject, 'kind') || text(about, 'kind') || 'event'} ${text(subject, 'name') || object.name}`;
    for (const signature of SIGNATURES) {
      if (signature.inEvents?.includes(reason) === true)
        this.note(signature, { object: name, message: `${reason}: ${message}`, at: placeOf(object) });
    }
    this.addLine(message, placeOf(object), name);
  }

  private addLine(line: string, at: Place, object: string): void {
    for (const signature of SIGNATURES) {
      if (signature.inLines?.test(line) === true) this.note(signature, { object, message: line.trim(), at });
    }
  }

  private noteFacts(object: KubernetesObject, type: string): void {
    const { json, name } = object;
    const at = placeOf(object);
    const [spec, status] = [part(json, 'spec'), part(json, 'status')];
    if (type === 'PriorityClass' && json.globalDefault === true)
      this.noted.defaultPriorityClasses.push({
        object: `priority class ${name}`,
        message: 'is the default of the cluster',
        at,
      });
    if (type === 'PrometheusRule') this.noted.alertRules.push(...alertRules(object));
    if (type === 'Pod' && name.startsWith('longhorn-manager')) this.noteImages(spec, name, at);
    if (type === 'InstanceManager') {
      for (const map of ['instances', 'instanceEngines', 'instanceReplicas']) {
        for (const [instance] of entries(part(status, map)))
          this.noted.instances.push({ name: instance, manager: name, at });
      }
    }
    if (type === 'Backup' && text(status, 'state') === 'Pending') {
      const message = [
        text(status, 'error'),
        ...entries(part(status, 'messages')).map(([key]) => text(part(status, 'messages'), key)),
      ].join(' ');
      this.noted.waitingBackups.push({ name, message, at, snapshot: text(spec, 'snapshotName') });
    }
  }

  private noteImages(spec: Readonly<Record<string, unknown>>, pod: string, at: Place): void {
    const containers = Array.isArray(spec.containers) ? spec.containers : [];
    for (const container of containers) {
      const image =
        typeof container === 'object' && container !== null && 'image' in container ? container.image : '';
      if (typeof image === 'string' && image.includes('longhorn-manager'))
        this.noted.managerImages.push({ image, pod, at });
    }
  }

  private note(signature: Signature, { object, message, at }: Evidence): void {
    let found = this.found.get(signature);
    if (found === undefined) {
      found = { count: 0, evidence: [] };
      this.found.set(signature, found);
    }
    found.count += 1;
    if (found.evidence.length < EVIDENCE_MAX)
      found.evidence.push({ object, message: message.slice(0, MESSAGE_CHARS_MAX), at });
  }
}

/** `VolumeAttachment` is `volume attachment`. */
function wordOf(type: string): string {
  return type.replaceAll(/(?<=[a-z])(?=[A-Z])/g, ' ').toLowerCase();
}

function shortName(file: string): string {
  return file.split(/[/\\]/).slice(-3).join('/');
}
