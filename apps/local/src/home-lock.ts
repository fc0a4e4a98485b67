import fs from 'node:fs';
import http from 'node:http';
import { controlSocketPath } from './control-socket.js';
import { makePrivateFolder } from './private-file.js';

/** Makes the home, and claims it for this stack. @throws Error when another stack runs in it */
export async function claimHome(home: string): Promise<void> {
  fs.mkdirSync(home, { recursive: true, mode: 0o755 });
  makePrivateFolder(`${home}/logs`);
  if (await answersOn(controlSocketPath(home))) {
    throw new Error(
      `a stack runs in ${home} already; stop it first, or use another HOLDFAST_HOME and HOLDFAST_PORT_BASE`,
    );
  }
}

function answersOn(socketPath: string): Promise<boolean> {
  return new Promise((resolve) => {
    const request = http.get({ socketPath, path: '/', timeout: 1_000 }, (response) => {
      response.resume();
      resolve(true);
    });
    request.once('error', () => resolve(false));
    request.once('timeout', () => {
      request.destroy();
      resolve(true);
    });
  });
}
