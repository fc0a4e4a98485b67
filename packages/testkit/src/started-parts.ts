import fs from 'node:fs';
import path from 'node:path';

/** Starts a part of a test's world (a server, a stack, a browser), and records for the run's summary how long that took. */
export async function startPart<T>(name: string, start: () => Promise<T>): Promise<T> {
  const startedAtMs = Date.now();
  try {
    return await start();
  } finally {
    const folder = process.env.HOLDFAST_TEST_RUN;
    if (folder !== undefined)
      fs.appendFileSync(path.join(folder, 'started-parts'), `${Date.now() - startedAtMs} ${name}\n`);
  }
}
