import type { DataLink } from '../src/nbd/data-link.js';
import { type NbdWrite, tellWhenEnded, writeBy } from '../src/nbd/export.js';

type Put = (write: NbdWrite) => Promise<void>;

/**
 * Puts something between an engine and a copy's connection: it is given each write, and what would have sent it.
 *
 * @returns lets writes go to the copy as before
 */
export function changeWrites(
  client: DataLink,
  act: (write: NbdWrite, put: Put) => Promise<void>,
): () => void {
  const beginWrite = client.beginWrite.bind(client);
  const put: Put = (write) => writeBy({ beginWrite }, write);
  // The casts: these are the connection's own methods, which the ones set here hide.
  const own = client as { write?: DataLink['write']; beginWrite?: DataLink['beginWrite'] };
  own.beginWrite = (write, listener, tag) => tellWhenEnded(act(write, put), listener, tag);
  own.write = (offset, payload, lengthBytes, options) =>
    act({ offset, payload, lengthBytes, ...options }, put);
  return () => {
    delete own.beginWrite;
    delete own.write;
  };
}
