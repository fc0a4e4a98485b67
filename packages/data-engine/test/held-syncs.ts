/**
 * Holds or fails syncs (or other calls) on files under a folder, and counts them, so that a test can control what
 * happens while one is in flight. All other calls pass at once.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { type FileCall, FileTap } from './file-tap.js';

/** Milliseconds after which work that does not wait for a held sync has ended. */
const SOON_MS = 60;

type Held = { release: () => void; fail: (code: string) => void };

export class HeldSyncs {
  private readonly tap: FileTap;
  private readonly held: Held[] = [];
  private isHolding: (call: FileCall) => boolean = () => false;
  /** Paths of the syncs that have begun, and of the holes that were punched, in order. */
  readonly begun: string[] = [];
  readonly punched: string[] = [];

  constructor(folder: string) {
    this.tap = new FileTap(
      folder,
      () => undefined,
      (call) => this.take(call),
    );
    this.tap.install();
  }

  uninstall(): void {
    this.release();
    this.tap.uninstall();
  }

  /** From now on calls of this kind wait for `release` or `fail`. */
  hold(kind: FileCall['kind'] = 'sync'): void {
    this.isHolding = (call) => call.kind === kind;
  }

  /** Resolves when at least one call is held. */
  async caught(): Promise<void> {
    while (this.held.length === 0) await sleep(1);
  }

  /** Holds no further calls; the returned function releases those that are held. */
  letGo(): () => void {
    this.isHolding = () => false;
    const held = this.held.splice(0);
    return () => {
      for (const { release } of held) release();
    };
  }

  /** Releases the held calls, and holds no more. */
  release(): void {
    this.isHolding = () => false;
    for (const { release } of this.held.splice(0)) release();
  }

  /** Fails the held calls once, as the kernel reports an error. Later ones succeed. */
  fail(code = 'EIO'): void {
    this.isHolding = () => false;
    for (const { fail } of this.held.splice(0)) fail(code);
  }

  private take(call: FileCall): Promise<void> | undefined {
    if (call.kind === 'punch') this.punched.push(call.file.path);
    if (call.kind === 'sync') this.begun.push(call.file.path);
    if (!this.isHolding(call)) return undefined;
    return new Promise((resolve, reject) => {
      const fail = (code: string) => reject(Object.assign(new Error(`${code}: planted`), { code }));
      this.held.push({ release: resolve, fail });
    });
  }
}

/** The state of the work after a short wait: work that is not held has ended by then. */
export async function stateSoon(work: Promise<unknown>): Promise<'resolved' | 'rejected' | 'waiting'> {
  return Promise.race([
    work.then(
      () => 'resolved' as const,
      () => 'rejected' as const,
    ),
    sleep(SOON_MS).then(() => 'waiting' as const),
  ]);
}
