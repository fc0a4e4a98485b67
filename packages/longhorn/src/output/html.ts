/** A report as one HTML file without scripts and without anything from elsewhere. Names come from strangers: all are escaped. */
import { formatBytes } from '@holdfast/core/model/bytes.js';
import type { InspectionReport, VolumeReport } from '../inspection/report.js';

export function htmlOf(report: InspectionReport): string {
  const { cluster, summary, source, at } = report;
  const counts = ['nodes', 'disks', 'volumes', 'replicas']
    .map((kind) => `${cluster.counts[kind] ?? 0} ${kind}`)
    .join(', ');
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>Longhorn inspection: ${escaped(source)}</title>
<style>${CSS}</style>
</head>
<body>
<main>
<h1>Longhorn ${escaped(cluster.version) || 'of unknown version'}</h1>
<p>${escaped(source)}, as of ${escaped(at)}: ${escaped(counts)}.</p>
<ul class="sums">
${(['critical', 'warning', 'info'] as const).map((severity) => `<li class="${severity}"><b>${summary[severity]}</b> ${severity}</li>`).join('\n')}
<li><b>${summary.volumesNotInOrder}</b> volumes not in order</li>
</ul>
${section('Topology', topology(report))}
${section('Volumes that are not in order', report.volumes.map(volume).join('\n'))}
${section('Known failures', report.signatures.map(signature).join('\n'))}
${section('What contradicts itself', findings(report))}
${section('Risk', risk(report))}
${section('What could not be read', list(report.problems.map(({ file, line, message }) => `${file}:${line}: ${message}`)))}
${section('Assumptions', list(report.assumptions))}
</main>
</body>
</html>
`;
}

const CSS = `
:root { color-scheme: light dark; --line: #8886; --bad: #c22; --warn: #a60; --soft: #8882; }
@media (prefers-color-scheme: dark) { :root { --bad: #f77; --warn: #fb4; } }
body { font: 15px/1.5 system-ui, sans-serif; margin: 0; }
main { max-width: 72rem; margin: 0 auto; padding: 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.2rem; border-bottom: 1px solid var(--line); } h3 { font-size: 1rem; margin: 1rem 0 .25rem; }
.sums { display: flex; gap: 1.5rem; flex-wrap: wrap; list-style: none; padding: 0; } .sums b { font-size: 1.3rem; }
.critical { color: var(--bad); } .warning { color: var(--warn); }
.zones { display: flex; flex-wrap: wrap; gap: 1rem; } .zone { border: 1px solid var(--line); border-radius: 6px; padding: .5rem .75rem; flex: 1 1 18rem; }
.node { margin: .5rem 0; } .bar { background: var(--soft); height: .6rem; border-radius: 3px; overflow: hidden; } .bar span { display: block; height: 100%; background: currentColor; opacity: .6; }
table { border-collapse: collapse; width: 100%; } td, th { text-align: left; vertical-align: top; padding: .25rem .5rem; border-bottom: 1px solid var(--line); overflow-wrap: anywhere; }
td.critical, td.warning, td.info, th { overflow-wrap: normal; white-space: nowrap; }
small { opacity: .75; overflow-wrap: anywhere; }`;

function section(title: string, body: string): string {
  return body === '' ? '' : `<section><h2>${escaped(title)}</h2>\n${body}\n</section>`;
}

function topology({ topology: zones }: InspectionReport): string {
  if (zones.length === 0) return '';
  const drawn = zones.map(({ zone, nodes }) => {
    const inside = nodes.map(({ name, isReady, takesReplicas, disks }) => {
      const state = isReady
        ? takesReplicas
          ? ''
          : ' <span class="warning">takes no replicas</span>'
        : ' <span class="critical">not ready</span>';
      return `<div class="node"><b>${escaped(name)}</b>${state}${disks.map(disk).join('')}</div>`;
    });
    return `<div class="zone"><h3>${escaped(zone) || 'no zone'}</h3>${inside.join('\n')}</div>`;
  });
  return `<div class="zones">${drawn.join('\n')}</div>`;
}

function disk({
  name,
  isReady,
  maximumBytes,
  availableBytes,
  scheduledBytes,
  replicas,
}: InspectionReport['topology'][number]['nodes'][number]['disks'][number]): string {
  const share = maximumBytes > 0 ? Math.round((100 * (maximumBytes - availableBytes)) / maximumBytes) : 0;
  const percent = Math.min(100, Math.max(0, share));
  const words = `${escaped(name)}${isReady ? '' : ', <span class="critical">not ready</span>'}: ${percent} % of ${formatBytes(maximumBytes)} used, ${formatBytes(scheduledBytes)} promised, ${replicas} replicas`;
  return `<div><small>${words}</small><div class="bar" role="img" aria-label="${percent} % used"><span style="width:${percent}%"></span></div></div>`;
}

function volume({
  name,
  claim,
  severity,
  robustness,
  says,
  longhornSays,
  placement,
  agreement,
  at,
}: VolumeReport): string {
  const rules = (placement?.rules ?? []).flatMap(({ name: rule, rejections }) =>
    rejections.map(
      ({ node, message }) =>
        `<tr><td>${escaped(rule)}</td><td>${escaped(node)}</td><td>${escaped(message)}</td></tr>`,
    ),
  );
  return `<article><h3 class="${severity}">${escaped(name)}${claim === null ? '' : ` (${escaped(claim)})`}: ${escaped(robustness) || 'unknown'}</h3>
<p>${escaped(says)}</p>
${list(longhornSays.map(({ condition, reason, message }) => `Longhorn: ${[condition, reason, message].filter((part) => part !== '').join(': ')}`))}
${agreement === null ? '' : `<p>${escaped(agreement.sentence)}</p>`}
${placement === null ? '' : `<p>${escaped(placement.sentence)}</p>`}
${rules.length === 0 ? '' : `<table><thead><tr><th scope="col">Rule</th><th scope="col">Node</th><th scope="col">Refusal</th></tr></thead><tbody>${rules.join('')}</tbody></table>`}
${placement === null || placement.cures.length === 0 ? '' : `<p>What would help, smallest first; each was tried:</p>${ordered(placement.cures)}`}
<small>${escaped(at.file)}:${at.line}</small></article>`;
}

function signature({
  name,
  title,
  severity,
  isSuspect,
  advice,
  source,
  count,
  evidence,
}: InspectionReport['signatures'][number]): string {
  return `<article><h3 class="${severity}">${escaped(name)}: ${escaped(title)}${isSuspect ? ' (suspected)' : ''}</h3>
${list(evidence.map(({ object, message, at }) => `${object}: ${message} (${at.file}:${at.line})`))}
${count > evidence.length ? `<p>and ${count - evidence.length} more</p>` : ''}
<p>${escaped(advice)} <small>${escaped(source)}</small></p></article>`;
}

function findings({ findings: all }: InspectionReport): string {
  if (all.length === 0) return '';
  const rows = all.map(
    ({ severity, code, object, message, at }) =>
      `<tr><td class="${severity}">${severity}</td><td>${escaped(code)}</td><td>${escaped(object)}</td><td>${escaped(message)} <small>${escaped(at.file)}:${at.line}</small></td></tr>`,
  );
  return `<table><thead><tr><th scope="col">Severity</th><th scope="col">Code</th><th scope="col">Object</th><th scope="col">What</th></tr></thead><tbody>${rows.join('\n')}</tbody></table>`;
}

function risk({ risk: found }: InspectionReport): string {
  if (found === null) return '';
  const places = (['nodes', 'zones', 'disks'] as const).flatMap((kind) =>
    found.lostWith[kind].map(({ name, count }) => `with ${kind.slice(0, -1)} ${name}: ${count} volumes`),
  );
  const rows = found.volumes.map(
    ({ name, healthy, wanted, lossPerYear, halvedBy }) =>
      `<tr><td>${escaped(name)}</td><td>${healthy} of ${wanted}</td><td>${lossPerYear.toExponential(1)}</td><td>${escaped(halvedBy.join('; '))}</td></tr>`,
  );
  return `<p>Chance that disks lose some volume within a year: ${found.anyLossPerYear.toExponential(1)}.</p>
${places.length === 0 ? '<p>No volume is lost with one node, zone or disk.</p>' : `<p>Lost:</p>${list(places)}`}
<table><thead><tr><th scope="col">Volume</th><th scope="col">Healthy replicas</th><th scope="col">Chance of loss in a year</th><th scope="col">Halved by</th></tr></thead><tbody>${rows.join('\n')}</tbody></table>
${list(found.assumptions.map((assumption) => `Assumed: ${assumption}`))}`;
}

function list(items: readonly string[]): string {
  return items.length === 0 ? '' : `<ul>${items.map((item) => `<li>${escaped(item)}</li>`).join('')}</ul>`;
}

function ordered(items: readonly string[]): string {
  return `<ol>${items.map((item) => `<li>${escaped(item)}</li>`).join('')}</ol>`;
}

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => ESCAPES[character] ?? character);
}
