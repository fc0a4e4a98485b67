import http from 'node:http';
import { isLocalAgent, type LocalAgent } from '../connection.js';
import { CliError, EXIT } from '../exit-codes.js';
import { fieldOf } from '../json.js';

/** Time limit of an agent's start. It takes seconds; a very busy machine may need more. */
const START_TIMEOUT_MS = 120_000;

/** Has the running stack start an agent, and returns when its node is Ready. */
export function orderAgent(socketPath: string, name: string): Promise<LocalAgent> {
  return new Promise((resolve, reject) => {
    const path = `/agents/${encodeURIComponent(name)}/start`;
    const request = http.request(
      { socketPath, path, method: 'POST', timeout: START_TIMEOUT_MS },
      (response) => {
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (chunk: string) => {
          text += chunk;
        });
        response.on('end', () => {
          // The local stack answers with an agent, or with a message.
          const answer: unknown = JSON.parse(text);
          const message = fieldOf(answer, 'message');
          if (response.statusCode === 200 && isLocalAgent(answer)) resolve(answer);
          else reject(new CliError(EXIT.conflict, String(message ?? 'the local stack refused')));
        });
      },
    );
    request.once('timeout', () => request.destroy(new Error('it took too long')));
    request.once('error', (error) => {
      reject(
        new CliError(EXIT.unreachable, `the local stack does not answer: ${error.message}`, [
          'start it with `npm start`',
        ]),
      );
    });
    request.end();
  });
}
