/** Disks that refuse calls on files: from a chosen call on, by a chosen error. */
import os from 'node:os';
import { getSystemErrorName } from 'node:util';
import { type FileCall, FileTap } from './file-tap.js';

/** Numbers of the kernel's. Node names them as far as it knows them; a native call answers with the number. */
const ERRORS = { ENOSPC: 28, EDQUOT: 122, EFBIG: 27, EROFS: 30, EIO: 5 } as const;
export type ErrorCode = keyof typeof ERRORS;
export const ERROR_CODES = Object.keys(ERRORS) as ErrorCode[];

/** The disks of a volume's copies, of which some refuse calls. */
export class RefusingDisks {
  /** Of each disk, the calls since the command has begun. */
  private readonly calls = new Map<string, number>();
  private refusal: { of: readonly string[]; from: number; code: ErrorCode } | undefined;
  private readonly tap = new FileTap(os.tmpdir(), (call) => this.begin(call));

  install(): void {
    this.tap.install();
  }

  uninstall(): void {
    this.tap.uninstall();
  }

  /** From that call on, these disks refuse what the error is about. */
  refuse(of: readonly string[], from: number, code: ErrorCode): void {
    this.calls.clear();
    this.refusal = { of, from, code };
  }

  /** @returns how many calls the disks were asked for at most */
  recover(): number {
    this.refusal = undefined;
    return Math.max(0, ...this.calls.values());
  }

  private begin(call: FileCall): undefined {
    const { refusal } = this;
    if (refusal === undefined) return undefined;
    const at = pathOf(call);
    // A block device of which not all is backed by space may refuse any write.
    const isOfDevice = refusal.of.includes(at) && call.kind === 'write';
    if (!isOfDevice && !isRefused(call, refusal.code)) return undefined;
    const disk = refusal.of.find((one) => at === one || at.startsWith(`${one}/`));
    if (disk === undefined) return undefined;
    const count = (this.calls.get(disk) ?? 0) + 1;
    this.calls.set(disk, count);
    if (count < refusal.from) return undefined;
    const code = getSystemErrorName(-ERRORS[refusal.code]);
    throw Object.assign(new Error(`${code}: refused, ${call.kind}`), { code, errno: -ERRORS[refusal.code] });
  }
}

/** A read-only file system refuses each change. Other errors meet calls that take space: an error of a sync would end the copy. */
function isRefused(call: FileCall, code: ErrorCode): boolean {
  if (code !== 'EROFS') return needsSpace(call);
  return call.kind === 'open' ? needsSpace(call) : call.kind !== 'read' && call.kind !== 'sync';
}

/** The exchange of two names, what overwrites in place, and what gives space back need none: a full disk makes them. */
function needsSpace(call: FileCall): boolean {
  if (call.kind === 'write') return isExtending(call.file.path);
  if (call.kind === 'open')
    return typeof call.flags === 'number' ? (call.flags & 0o100) !== 0 : call.flags === 'w';
  return call.kind === 'reserve' || call.kind === 'truncate';
}

function isExtending(file: string): boolean {
  return file.endsWith('.img');
}

function pathOf(call: FileCall): string {
  if ('file' in call) return call.file.path;
  return 'path' in call ? call.path : call.from;
}
