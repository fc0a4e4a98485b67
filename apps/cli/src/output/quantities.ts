import { GIB, KIB, MIB, TIB } from '@holdfast/core/model/bytes.js';
import { CliError, EXIT } from '../exit-codes.js';

const UNITS: Record<string, number> = {
  '': 1,
  B: 1,
  K: KIB,
  M: MIB,
  G: GIB,
  T: TIB,
};

const SIZE = /^(-?\d+(?:\.\d+)?)\s*([KMGT]?)(i?B?)$/i;

/**
 * A size in bytes from `10Gi`, `10GiB`, `10G`, `1.5Ti` or plain bytes. All units are binary, as everywhere in Holdfast.
 */
export function parseSize(text: string): number {
  const match = SIZE.exec(text.trim());
  const factor = UNITS[(match?.[2] ?? '').toUpperCase()];
  const bytes = match === null || factor === undefined ? Number.NaN : Number(match[1]) * factor;
  if (!Number.isFinite(bytes)) {
    throw new CliError(EXIT.usage, `${text} is no size`, [
      'write bytes, or a number with Ki, Mi, Gi or Ti: 10Gi',
    ]);
  }
  // A fraction of a byte is left for the API to refuse: it names the rule.
  return bytes;
}

const DURATION = /^(\d+(?:\.\d+)?)(ms|s|m|h)$/;
const DURATION_MS: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

export function parseDurationMs(text: string): number {
  const match = DURATION.exec(text.trim());
  const factor = DURATION_MS[match?.[2] ?? ''];
  if (match === null || factor === undefined) {
    throw new CliError(EXIT.usage, `${text} is no duration`, ['write 500ms, 30s, 5m or 1h']);
  }
  return Number(match[1]) * factor;
}

/** A whole number from an argument. */
export function parseCount(text: string): number {
  if (!/^-?\d+$/.test(text.trim())) throw new CliError(EXIT.usage, `${text} is no whole number`);
  return Number(text);
}

/** The time since then, in its shortest form. */
export function age(at: string, now: Date): string {
  const seconds = Math.max(0, Math.round((now.getTime() - Date.parse(at)) / 1000));
  if (seconds < 120) return `${seconds}s`;
  if (seconds < 7200) return `${Math.floor(seconds / 60)}m`;
  if (seconds < 172_800) return `${Math.floor(seconds / 3600)}h`;
  return `${Math.floor(seconds / 86_400)}d`;
}
