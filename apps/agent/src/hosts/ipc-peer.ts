/**
 * One end of the channel between the agent and a host process: calls over Node's IPC. Both ends are this class.
 *
 * A call ends with a reply, or when the channel closes; nothing is retried here.
 */
import type { Socket } from 'node:net';
import { faultCodeOf, isFault, newestEpochOf, StorageFault } from '@holdfast/core/model/faults.js';

/** Maximum calls without a reply: far above what one host's volumes need at once. */
const PENDING_MAX = 10_000;

/** Parameters and result of each method; both travel as JSON. */
export type Methods = Record<string, { params: unknown; result: unknown }>;

type Frame =
  | { kind: 'call'; id: number; method: string; params: unknown }
  | { kind: 'reply'; id: number; result: unknown }
  | { kind: 'fault'; id: number; code: string; message: string; newestEpoch?: number | undefined };

/** The part that `process` in a child and `ChildProcess` in the parent have in common. */
export interface Channel {
  send?(message: unknown, handle: Socket | undefined, callback: (error: Error | null) => void): boolean;
  on(event: 'message', listener: (message: unknown, handle: unknown) => void): unknown;
  on(event: 'disconnect', listener: () => void): unknown;
}

type Pending = { resolve: (result: unknown) => void; reject: (error: Error) => void };
type Handler = (params: never, socket: Socket | undefined) => Promise<unknown>;

export class IpcPeer<Remote extends Methods, Local extends Methods> {
  private readonly pending = new Map<number, Pending>();
  private readonly handlers = new Map<string, Handler>();
  private nextId = 1;
  private open = true;

  constructor(private readonly channel: Channel) {
    channel.on('message', (message, handle) => this.receive(message, handle));
    channel.on('disconnect', () => this.fail());
  }

  handle<Name extends keyof Local & string>(
    method: Name,
    handler: (params: Local[Name]['params'], socket: Socket | undefined) => Promise<Local[Name]['result']>,
  ): void {
    this.handlers.set(method, handler);
  }

  /** Calls the other end. A socket that is passed along belongs to the other process afterwards. */
  call<Name extends keyof Remote & string>(
    method: Name,
    params: Remote[Name]['params'],
    socket?: Socket,
  ): Promise<Remote[Name]['result']> {
    if (!this.open || this.pending.size >= PENDING_MAX) return Promise.reject(hostGone());
    const id = this.nextId;
    this.nextId += 1;
    return new Promise((resolve, reject) => {
      this.pending.set(id, { resolve, reject });
      this.send({ kind: 'call', id, method, params }, socket, () => {
        this.pending.delete(id);
        reject(hostGone());
      });
    });
  }

  private receive(message: unknown, handle: unknown): void {
    // The cast: both ends of the channel are this class, in processes of the same build.
    const frame = message as Frame;
    if (frame.kind === 'call') {
      // The cast: Node types the handle loosely, and only sockets are ever sent.
      void this.answer(frame, handle as Socket | undefined);
      return;
    }
    const pending = this.pending.get(frame.id);
    if (pending === undefined) return;
    this.pending.delete(frame.id);
    if (frame.kind === 'reply') pending.resolve(frame.result);
    else pending.reject(toFault(frame.code, frame.message, frame.newestEpoch));
  }

  private async answer(
    { id, method, params }: Extract<Frame, { kind: 'call' }>,
    socket: Socket | undefined,
  ): Promise<void> {
    const handler = this.handlers.get(method);
    try {
      if (handler === undefined) throw new Error(`no handler for ${method}`);
      // The cast: the typed `call` on the other side made the parameters.
      this.send({ kind: 'reply', id, result: await handler(params as never, socket) });
    } catch (error) {
      // The sending process has released it: its client would wait on it for ever.
      socket?.destroy();
      const code = isFault(error) ? error.code : 'agent.refused';
      const message = error instanceof Error ? error.message : String(error);
      this.send({ kind: 'fault', id, code, message, newestEpoch: newestEpochOf(error) });
    }
  }

  private send(frame: Frame, socket?: Socket, failed: () => void = () => undefined): void {
    if (!this.open || this.channel.send === undefined) {
      failed();
      return;
    }
    this.channel.send(frame, socket, (error) => {
      if (error !== null) failed();
    });
  }

  private fail(): void {
    this.open = false;
    const waiting = [...this.pending.values()];
    this.pending.clear();
    for (const { reject } of waiting) reject(hostGone());
  }
}

/** A fault rebuilt from its code and text, in which form faults travel between processes. */
export function toFault(code: string, message: string, newestEpoch?: number): StorageFault {
  const context = newestEpoch === undefined ? {} : { context: { newest: newestEpoch } };
  return new StorageFault(faultCodeOf(code, 'agent.refused'), { publicMessage: message, ...context });
}

function hostGone(): StorageFault {
  return new StorageFault('agent.unreachable', { publicMessage: 'the host process is gone' });
}
