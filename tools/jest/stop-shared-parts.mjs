// After a Jest run: has the keeper end what the suites shared, and waits for it.
import { once } from 'node:events';

/** Longer than a stack and a browser take to end. */
const STOP_MS_MAX = 60_000;

export default async function stopSharedParts() {
  const keeper = globalThis.holdfastKeeper;
  if (keeper.exitCode !== null || keeper.signalCode !== null) return;
  keeper.ref();
  const ended = once(keeper, 'exit');
  const last = setTimeout(() => keeper.kill('SIGKILL'), STOP_MS_MAX);
  keeper.disconnect();
  await ended;
  clearTimeout(last);
}
