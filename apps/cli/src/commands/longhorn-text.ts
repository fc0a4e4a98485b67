import type {
  Finding,
  InspectionReport,
  Severity,
  SignatureReport,
  VolumeReport,
} from '@holdfast/longhorn/inspection/report.js';
import { type OutputOptions } from '../output/format.js';
import { cellText } from '../output/printable.js';
import { paintTone, type Tone } from '../output/table.js';
import { plural } from './explanation-text.js';

const TONES: Record<Severity, Tone> = { critical: 'bad', warning: 'warn', info: 'plain' };
/** Of one rule; with `-o wide` all that the report holds. */
const REJECTIONS_SHOWN = 4;
const CURES_SHOWN = 5;
const EVIDENCE_SHOWN = 3;
const FINDINGS_SHOWN = 5;

/** The report for people: a screen of summary, then the worst first. Names come from strangers, so control characters are removed. */
export function inspectionText(report: InspectionReport, options: OutputOptions): string {
  return [
    ...summary(report, options),
    ...report.volumes.flatMap((volume) => ['', ...volumeLines(volume, options)]),
    ...titled(
      'Known failures',
      report.signatures.flatMap((signature) => signatureLines(signature, options)),
    ),
    ...titled('What contradicts itself', findingLines(report.findings, options)),
    ...titled('Risk', riskLines(report)),
    ...titled(
      'What could not be read',
      report.problems.map(({ file, line, message }) => `  ${cellText(file)}:${line}: ${cellText(message)}`),
    ),
    ...(report.problemsLeftOut > 0 ? [`  and ${report.problemsLeftOut} more`] : []),
    ...(report.leftOut > 0 ? ['', `${report.leftOut} more are left out`] : []),
  ].join('\n');
}

function summary(
  { cluster, summary: found, source, at, assumptions }: InspectionReport,
  options: OutputOptions,
): string[] {
  const { counts } = cluster;
  const counted = ['nodes', 'disks', 'volumes', 'replicas']
    .map((kind) => `${counts[kind] ?? 0} ${kind}`)
    .join(', ');
  const others = Object.values(cluster.otherKinds).reduce((sum, count) => sum + count, 0);
  const severities = (['critical', 'warning', 'info'] as const)
    .filter((severity) => found[severity] > 0)
    .map((severity) => paintTone(`${found[severity]} ${severity}`, TONES[severity], options.color));
  return [
    `${cellText(source)}: Longhorn ${cellText(cluster.version) || 'of unknown version'} in namespace ${cellText(cluster.namespace) || '-'}, as of ${at}`,
    `${counted}; ${plural(others, 'object')} of other kinds`,
    severities.length === 0
      ? 'Nothing was found.'
      : `Found: ${severities.join(', ')}; ${plural(found.volumesNotInOrder, 'volume')} not in order`,
    ...assumptions.map((assumption) => `Assumed: ${assumption}`),
  ];
}

function volumeLines(volume: VolumeReport, options: OutputOptions): string[] {
  const claim = volume.claim === null ? '' : ` (${cellText(volume.claim)})`;
  const since = volume.degradedSince === '' ? '' : ` since ${cellText(volume.degradedSince)}`;
  const title = `${volume.severity}: volume ${cellText(volume.name)}${claim}, ${cellText(volume.robustness) || 'unknown'}${since}`;
  const says = volume.longhornSays.map(
    ({ condition, reason, message }) =>
      `  Longhorn: ${[condition, reason, message]
        .filter((part) => part !== '')
        .map(cellText)
        .join(': ')}`,
  );
  return [
    paintTone(title, TONES[volume.severity], options.color),
    `  ${volume.says}`,
    ...says,
    ...(volume.agreement === null ? [] : [`  Compared: ${cellText(volume.agreement.sentence)}`]),
    ...placementLines(volume, options),
    `  at ${cellText(volume.at.file)}:${volume.at.line}`,
  ];
}

function placementLines({ placement }: VolumeReport, options: OutputOptions): string[] {
  if (placement === null) return [];
  const shown = options.output === 'wide' ? Number.POSITIVE_INFINITY : REJECTIONS_SHOWN;
  return [
    `  Why: ${cellText(placement.sentence)}`,
    ...placement.rules.flatMap(({ name, rejected, rejections }) => [
      `    ${name} refused ${rejected}:`,
      ...rejections
        .slice(0, shown)
        .map(({ node, message }) => `      ${cellText(node)}: ${cellText(message)}`),
      ...(rejected > Math.min(shown, rejections.length)
        ? [`      and ${rejected - Math.min(shown, rejections.length)} more`]
        : []),
    ]),
    ...(placement.cures.length === 0 ? [] : ['  What would help, smallest first; each was tried:']),
    ...placement.cures.slice(0, CURES_SHOWN).map((cure, index) => `    ${index + 1}. ${cellText(cure)}`),
  ];
}

function signatureLines(
  { severity, name, title, isSuspect, count, evidence, advice, source }: SignatureReport,
  options: OutputOptions,
): string[] {
  const shown = options.output === 'wide' ? evidence : evidence.slice(0, EVIDENCE_SHOWN);
  const tone = paintTone(severity, TONES[severity], options.color);
  return [
    `  ${tone} ${name}: ${title}${isSuspect ? ' (suspected)' : ''}`,
    ...shown.map(
      ({ object, message, at }) =>
        `      ${cellText(object)}: ${cellText(message)} (${cellText(at.file)}:${at.line})`,
    ),
    ...(count > shown.length ? [`      and ${count - shown.length} more`] : []),
    `    Advice: ${advice}`,
    `    Source: ${source}`,
  ];
}

/** Of one code a few, unless all are asked for: one cause often has hundreds. */
function findingLines(findings: readonly Finding[], options: OutputOptions): string[] {
  const seen = new Map<string, number>();
  for (const { code } of findings) seen.set(code, (seen.get(code) ?? 0) + 1);
  const shown = new Map<string, number>();
  return findings.flatMap((finding) => {
    const count = (shown.get(finding.code) ?? 0) + 1;
    shown.set(finding.code, count);
    if (options.output === 'wide' || count <= FINDINGS_SHOWN) return [findingLine(finding, options)];
    const left = (seen.get(finding.code) ?? 0) - FINDINGS_SHOWN;
    return count === FINDINGS_SHOWN + 1 ? [`  and ${left} more of ${finding.code}`] : [];
  });
}

function findingLine({ severity, code, object, message, at }: Finding, options: OutputOptions): string {
  const tone = paintTone(severity, TONES[severity], options.color);
  return `  ${tone} ${code} ${cellText(object)}: ${cellText(message)} (${cellText(at.file)}:${at.line})`;
}

const PLACES_SHOWN = 5;

function riskLines({ risk }: InspectionReport): string[] {
  if (risk === null) return [];
  const { lostWith } = risk;
  const places = (['node', 'zone', 'disk'] as const).flatMap((kind) =>
    lostWith[`${kind}s`]
      .slice(0, PLACES_SHOWN)
      .map(
        ({ name, count, volumes }) =>
          `  with ${kind} ${cellText(name)} ${plural(count, 'volume')} would be lost: ${volumes.slice(0, PLACES_SHOWN).map(cellText).join(', ')}${count > PLACES_SHOWN ? ', …' : ''}`,
      ),
  );
  return [
    ...(places.length === 0 ? ['  no volume is lost with one node, zone or disk'] : places),
    ...risk.nodesLostAtOnce
      .filter(({ nodes }) => nodes > 1)
      .map(
        ({ nodes, lossChance }) =>
          `  if ${nodes} nodes fail at once, some volume is lost with a chance of ${percent(lossChance)}`,
      ),
    `  disks alone lose some volume within a year with a chance of ${percent(risk.anyLossPerYear)}`,
    ...risk.volumes
      .slice(0, PLACES_SHOWN)
      .map(
        ({ name, healthy, wanted, lossPerYear, halvedBy }) =>
          `    ${cellText(name)} (${healthy} of ${wanted} replicas): ${percent(lossPerYear)}${halvedBy.length === 0 ? '' : `; halved by ${halvedBy.join(', or ')}`}`,
      ),
    ...risk.assumptions.map((assumption) => `  Assumed: ${assumption}`),
  ];
}

function percent(chance: number): string {
  const value = chance * 100;
  return value === 0
    ? '0 %'
    : value >= 0.01
      ? `${value.toFixed(value >= 10 ? 0 : 2)} %`
      : `${value.toExponential(1)} %`;
}

function titled(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : ['', `${title}:`, ...lines];
}
