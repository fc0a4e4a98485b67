/** Life of a host process: it ends when its agent does, and ignores the signals that are meant for the agent. */
import { leaveRoomForPayloads } from './heap-growth.js';

/** Time limit of the flush when the agent is gone. */
const FLUSH_MAX_MS = 2_000;

export function runAsHost(flush: () => Promise<void>): void {
  leaveRoomForPayloads();
  // A terminal sends these signals to the whole process group; the agent then stops its hosts in the right order.
  process.on('SIGINT', () => undefined);
  process.on('SIGTERM', () => undefined);
  process.on('disconnect', () => {
    setTimeout(() => process.exit(1), FLUSH_MAX_MS).unref();
    flush().then(
      () => process.exit(0),
      () => process.exit(1),
    );
  });
}
