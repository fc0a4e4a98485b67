/**
 * Pool of host processes of one kind. A host is started when there is no room for a volume in the others, and takes at
 * most k volumes, so that a native crash takes down no more than those k.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { MIB } from '@holdfast/core/model/bytes.js';
import { StorageFault } from '@holdfast/core/model/faults.js';
import { within } from '../within.js';
import { IpcPeer, type Methods } from './ipc-peer.js';

/**
 * Limit of one answer. A host answers within milliseconds, and a heartbeat, which waits for it, times out after 5 s.
 */
const ANSWER_MS_MAX = 2_000;

export class Host<Remote extends Methods, Local extends Methods> {
  /** Ids of the volumes, copies or tunnels in this host. */
  readonly residents = new Set<string>();
  /** Ids of the volumes whose engines run beside the copies of this host; as many as there may be copies. */
  readonly guests = new Set<string>();
  /** Calls without an answer yet, by name, and when they were made. */
  private readonly asked = new Map<string, { answer: Promise<unknown>; sinceMs: number }>();

  constructor(
    readonly peer: IpcPeer<Remote, Local>,
    readonly child: ChildProcess,
    /** Resource that its residents share, such as a disk; empty if none. */
    readonly shared: string,
  ) {}

  /**
   * Makes a call that a well host answers at once, and waits for the answer for a limited time. `undefined`: none came,
   * for instance because the process is stopped. While a call of the same name is unanswered, no second one is sent.
   */
  async ask<T>(question: string, call: () => Promise<T>): Promise<T | undefined> {
    const waiting = this.asked.get(question) ?? this.begin(question, call);
    const leftMs = Math.max(0, waiting.sinceMs + ANSWER_MS_MAX - performance.now());
    // The cast: calls of one name have one type of answer.
    return within(leftMs, waiting.answer as Promise<T | undefined>, () => undefined);
  }

  /** Age of the oldest overdue call, in milliseconds; 0 for a host that answers in time. */
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
  /** Entry file of the process, relative to this one. */
  entry: './engine-host.js' | './replica-host.js' | './tls-host.js';
  residentsMax: number;
  prepare: (peer: IpcPeer<Remote, Local>) => void;
  /** Called when a host has died, with its residents. */
  lost: (host: Pick<Host<Remote, Local>, 'residents' | 'guests'>, reason: string) => void;
};

/** Most hosts of one kind: more would exhaust a node's memory before anything else. */
const HOSTS_MAX = 256;

/**
 * For glibc's allocator; other libraries ignore it. With few arenas the memory of a burst of I/O returns to the system, but not below
 * 32 MiB: buffers come and go with each request, and the kernel would clear the same pages again for each.
 */
const MEMORY = {
  MALLOC_ARENA_MAX: '2',
  MALLOC_TRIM_THRESHOLD_: String(32 * MIB),
  MALLOC_MMAP_THRESHOLD_: String(32 * MIB),
};

/** How Node is started for a host. */
export const HOST_SETTINGS = {
  // Four threads keep a disk busy, and two more are for flushes, each of which holds one for as long as the disk
  // takes. With more threads each request wakes another one, which costs more than the request itself.
  env: { UV_THREADPOOL_SIZE: '6', ...MEMORY },
  // Data lives in buffers outside the heap; a small young generation keeps an idle host small.
  execArgv: ['--max-semi-space-size=4'],
};

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

  /** True if the engine of this volume may join the host, and now counts as its guest. */
  admitGuest(host: Host<Remote, Local>, volumeId: string): boolean {
    const isFull = host.guests.size >= this.options.residentsMax && !host.guests.has(volumeId);
    if (!this.hosts.has(host) || isFull || host.silentMs > 0) return false;
    host.guests.add(volumeId);
    return true;
  }

  /**
   * The host of the resident: its present one, else one with room, else a new one.
   *
   * @param shared the resource that it shares with all others in its host: a disk that hangs blocks a process's threads, and may
   * block its event loop, so copies on other disks are elsewhere
   */
  assignHost(resident: string, shared = ''): Host<Remote, Local> {
    const there = this.hostOf(resident);
    if (there !== undefined) return there;
    const hasRoom = (host: Host<Remote, Local>) =>
      host.shared === shared && host.residents.size < this.options.residentsMax && host.silentMs === 0;
    const host = this.all.find(hasRoom) ?? this.spawn(shared);
    host.residents.add(resident);
    return host;
  }

  leave(resident: string): void {
    this.hostOf(resident)?.residents.delete(resident);
  }

  /** Ends all hosts. They flush what they hold when their channel closes. */
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

  private spawn(shared: string): Host<Remote, Local> {
    if (this.stopping || this.hosts.size >= HOSTS_MAX) {
      throw new StorageFault('agent.refused', {
        publicMessage: 'the agent can start no more host processes',
      });
    }
    const child = fork(fileURLToPath(new URL(this.options.entry, import.meta.url)), {
      env: { ...process.env, ...HOST_SETTINGS.env },
      execArgv: HOST_SETTINGS.execArgv,
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    const host = new Host<Remote, Local>(new IpcPeer(child), child, shared);
    this.options.prepare(host.peer);
    this.hosts.add(host);
    child.on('error', () => child.kill('SIGKILL'));
    child.on('exit', (code, signal) => {
      this.hosts.delete(host);
      if (!this.stopping) this.options.lost(host, `its process ended with ${signal ?? code}`);
    });
    return host;
  }
}
