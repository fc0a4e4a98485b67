/** What every host process does: it lives exactly as long as its agent, and leaves signals to it. */

/** How long a host may take to flush when its agent is gone. */
const FLUSH_MAX_MS = 2_000;

export function runAsHost(flush: () => Promise<void>): void {
  // A terminal sends these to the whole process group; the agent then stops its hosts in the right order.
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
