/** A report in SARIF 2.1.0, as CI systems read it. */
import type { InspectionReport, Severity } from '../inspection/report.js';

const LEVELS: Record<Severity, string> = { critical: 'error', warning: 'warning', info: 'note' };

type Result = { ruleId: string; severity: Severity; text: string; at: { file: string; line: number } };

export function sarifOf(report: InspectionReport): object {
  const results = resultsOf(report);
  return {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: {
          driver: {
            name: 'holdfast longhorn inspect',
            rules: [...new Set(results.map(({ ruleId }) => ruleId))].sort().map((id) => ({ id })),
          },
        },
        results: results.map(({ ruleId, severity, text, at }) => ({
          ruleId,
          level: LEVELS[severity],
          message: { text },
          locations: [
            {
              physicalLocation: {
                artifactLocation: { uri: encodeURI(at.file.replaceAll('\\', '/')) },
                region: { startLine: at.line },
              },
            },
          ],
        })),
      },
    ],
  };
}

function resultsOf({ volumes, findings, signatures, problems }: InspectionReport): Result[] {
  return [
    ...volumes.map(({ name, severity, says, at }) => ({
      ruleId: 'volume.not-in-order',
      severity,
      text: `volume ${name}: ${says}`,
      at,
    })),
    ...findings.map(({ code, severity, object, message, at }) => ({
      ruleId: code,
      severity,
      text: `${object}: ${message}`,
      at,
    })),
    ...signatures.flatMap(({ name, title, severity, advice, evidence }) =>
      evidence.map(({ object, message, at }) => ({
        ruleId: `signature.${name}`,
        severity,
        text: `${title}. ${object}: ${message}. ${advice}`,
        at,
      })),
    ),
    ...problems.map(({ file, line, message }) => ({
      ruleId: 'source.unread',
      severity: 'warning' as const,
      text: message,
      at: { file, line },
    })),
  ];
}
