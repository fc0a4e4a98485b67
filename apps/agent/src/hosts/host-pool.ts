/**
 * Host processes of one kind: started when the first volume needs one, each for at most k volumes, so that a native
 * crash takes down no more than those k.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { StorageFault } from '@holdfast/core/model/faults.js';
import { within } from '../within.js';
import { IpcPeer, type Methods } from './ipc-peer.js';

/** A host answers within milliseconds; a heartbeat, which waits for it, is given up after five seconds. */
const ANSWER_MS_MAX = 2_000;

export class Host<Remote extends Methods, Local extends Methods> {
  /** What lives in it, by id. */
  readonly residents = new Set<string>();
  /** Questions that wait for their answers, and since when. */
  private readonly asked = new Map<string, { answer: Promise<unknown>; sinceMs: number }>();

  constructor(
    readonly peer: IpcPeer<Remote, Local>,
    readonly child: ChildProcess,
  ) {}

  /**
   * Asks something that a host answers at once. `undefined` when it does not, for instance because its process is
   * stopped: it is then not asked the same again before it has answered.
   */
  async ask<T>(question: string, call: () => Promise<T>): Promise<T | undefined> {
    const waiting = this.asked.get(question) ?? this.begin(question, call);
    const leftMs = Math.max(0, waiting.sinceMs + ANSWER_MS_MAX - performance.now());
    // The cast: one question is always asked by the same call.
    return within(leftMs, waiting.answer as Promise<T | undefined>, () => undefined);
  }

  /** For how long it has not answered what it answers at once; 0 for a host that is well. */
  get silentMs(): number {
    const oldestMs = Math.min(...[...this.asked.values()].map(({ sinceMs }) => sinceMs));
    const waitedMs = performance.now() - oldestMs;
    return waitedMs > ANSWER_MS_MAX ? waitedMs : 0;
  }

  private begin(question: string, call: () => Promise<unknown>) {
    const answer = call().finally(() => this.asked.delete(question));
    const waiting = { answer, sinceMs: performance.now() };
    this.asked.set(question, waiting);
    return waiting;
  }
}

export type HostPoolOptions<Remote extends Methods, Local extends Methods> = {
  /** The entry file, beside this one. */
  entry: './engine-host.js' | './replica-host.js' | './tls-host.js';
  residentsMax: number;
  prepare: (peer: IpcPeer<Remote, Local>) => void;
  /** A host has died; what lived in it is gone. */
  lost: (residents: ReadonlySet<string>, reason: string) => void;
};

/** More processes than this on one node would exhaust its memory before anything else. */
const HOSTS_MAX = 256;

export class HostPool<Remote extends Methods, Local extends Methods> {
  private readonly hosts = new Set<Host<Remote, Local>>();
  private stopping = false;

  constructor(private readonly options: HostPoolOptions<Remote, Local>) {}

  get all(): readonly Host<Remote, Local>[] {
    return [...this.hosts];
  }

  hostOf(resident: string): Host<Remote, Local> | undefined {
    return this.all.find(({ residents }) => residents.has(resident));
  }

  /** Gives the resident a place: the one it has, one in a host with room, or in a new host. */
  settle(resident: string): Host<Remote, Local> {
    const there = this.hostOf(resident);
    if (there !== undefined) return there;
    const hasRoom = ({ residents, silentMs }: Host<Remote, Local>) =>
      residents.size < this.options.residentsMax && silentMs === 0;
    const host = this.all.find(hasRoom) ?? this.spawn();
    host.residents.add(resident);
    return host;
  }

  leave(resident: string): void {
    this.hostOf(resident)?.residents.delete(resident);
  }

  /** Ends all hosts; they flush what they hold when their channel closes. */
  async stop(): Promise<void> {
    this.stopping = true;
    await Promise.all(
      this.all.map(
        ({ child }) =>
          new Promise<void>((resolve) => {
            child.once('exit', () => resolve());
            if (child.connected) child.disconnect();
          }),
      ),
    );
  }

  private spawn(): Host<Remote, Local> {
    if (this.stopping || this.hosts.size >= HOSTS_MAX) {
      throw new StorageFault('agent.refused', {
        publicMessage: 'the agent can start no more host processes',
      });
    }
    const child = fork(fileURLToPath(new URL(this.options.entry, import.meta.url)), {
      // Four threads keep a disk busy, and two more are for flushes, which hold one for as long as the disk takes. With
      // more of them each request wakes another thread, which costs more than the request itself.
      // Fewer memory arenas keep what a burst of I/O has used from staying with the process.
      env: { ...process.env, UV_THREADPOOL_SIZE: '6', MALLOC_ARENA_MAX: '2' },
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      // Data lives in buffers outside the heap; a small young generation keeps an idle host small.
      execArgv: ['--max-semi-space-size=4'],
    });
    const host = new Host<Remote, Local>(new IpcPeer(child), child);
    this.options.prepare(host.peer);
    this.hosts.add(host);
    child.on('error', () => child.kill('SIGKILL'));
    child.on('exit', (code, signal) => {
      this.hosts.delete(host);
      if (!this.stopping) this.options.lost(host.residents, `its process ended with ${signal ?? code}`);
    });
    return host;
  }
}
